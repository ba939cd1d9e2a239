package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// callWords are the kinds of call, as the fault language has them.
var callWords = []string{"position", "latest", "fetch", "offset-commit", "get", "put", "write",
	"read"}

func TestNearest(t *testing.T) {
	kinds := callWords
	for word, want := range map[string]string{
		"wirte": "write", "writ": "write", "writes": "write", "WRITE": "write", "red": "read",
		"gte": "get", "puts": "put", "pat": "put",
		"offset_commit": "offset-commit", "offsetcommit": "offset-commit",
		"commit": "", "x": "", "": "", "acknowledgement": "",
	} {
		require.Equal(t, want, Nearest(word, kinds), word)
	}
	require.Empty(t, Nearest("op/1", nil))
}

// Of several at one distance, the first: so the message does not change from run to run.
func TestNearest_tie(t *testing.T) {
	require.Equal(t, "op/0", Nearest("op/7", []string{"sink/7", "op/0", "op/1"}))
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "abd", 1},
		{"abc", "ac", 1},
		{"ab", "ba", 1}, {"ca", "abc", 3}, {"kitten", "sitting", 3}, {"abcd", "badc", 2},
	} {
		require.Equal(t, c.want, distance(c.a, c.b, 100), "%s %s", c.a, c.b)
		require.Equal(t, c.want, distance(c.b, c.a, 100), "%s %s", c.b, c.a)
	}
}

// A word of any length costs nothing: only names about as long are compared.
func TestDistance_limit(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	require.Equal(t, 5, distance(long, "write", 5))
	require.Empty(t, Nearest(long, callWords))
}

func TestNearest_flags(t *testing.T) {
	names := []string{"mode", "seed", "records"}
	require.Equal(t, "seed", Nearest("sede", names))
	require.Equal(t, "records", Nearest("record", names))
	require.Empty(t, Nearest("xyz", names))
	require.Empty(t, Nearest("", names))
}
