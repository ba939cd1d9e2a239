package scenarios

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Text that is made to be expensive costs little more than its size: neither the parser nor the
// search for the place of a problem may stall.
func TestYAML_HostileTexts(t *testing.T) {
	for _, unit := range []string{"[", "- ", "a: [\n", "'", "a: b: ", "- x\n"} {
		for _, size := range []int{1 << 10, locateMax - 16, 4 * locateMax} {
			r := &reader{file: "f"}
			text := strings.Repeat(unit, size/len(unit)) + "\n\t@x"
			began := time.Now()
			require.Nil(t, r.document([]byte(text), 1))
			require.Error(t, r.err)
			assert.Less(t, time.Since(began), 20*time.Second, "%q times %d", unit, size)
			t.Logf("%q to %d bytes: %v", unit, size, time.Since(began))
		}
	}
}

// Columns count characters, and lines those of the whole file.
func TestYAML_Places(t *testing.T) {
	text := "Prose.\n\n" + minimal("input: [é, 😀, {a: b}]\n")
	_, err := Parse(testLibrary(), "f.sim", []byte(text))
	assert.EqualError(t, err, `f.sim:7:15: line of input is a mapping, expected text`)

	_, err = Parse(testLibrary(), "f.sim", []byte(minimal("faults: [\"é\", x]\n")))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "f.sim:5:11: ")
}
