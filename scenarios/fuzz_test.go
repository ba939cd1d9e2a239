package scenarios

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the bytes are, reading them ends with a scenario or a complaint that has a place in the
// file; and what was read is written as it is read back.
func FuzzParseScenario(f *testing.F) {
	lib := testLibrary()
	for _, name := range []string{"bad.txt", "format.txt"} {
		for _, c := range readCases(f, name) {
			f.Add([]byte(c.input))
		}
	}
	everything, err := os.ReadFile("testdata/everything.sim")
	require.NoError(f, err)
	f.Add(everything)
	for _, text := range hard {
		f.Add([]byte(minimal("input: [" + text + "]\n")))
		f.Add([]byte(minimal("input: {section: in}\n-- in --\n" + text + "\n")))
		f.Add([]byte(text + "\n" + minimal("name: "+quote(text, true)+"\n")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(lib, "dir/test.sim", data)
		if err != nil {
			requirePlace(t, err, data)
			return
		}
		text := Format(lib, s)
		again, err := Parse(lib, "dir/test.sim", text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, withoutLines(s), withoutLines(again))
		require.Equal(t, string(text), string(Format(lib, again)))
	})
}

// requirePlace checks that a complaint is one line about a place that is in the file.
func requirePlace(t *testing.T, err error, data []byte) {
	t.Helper()
	var bad *FileError
	require.ErrorAs(t, err, &bad)
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	require.GreaterOrEqual(t, bad.Line, 1)
	require.LessOrEqual(t, bad.Line, len(lines)+1, "%v", err)
	require.GreaterOrEqual(t, bad.Col, 1)
	if bad.Line <= len(lines) {
		require.LessOrEqual(t, bad.Col, len(lines[bad.Line-1])+1, "%v", err)
	}
	require.NotContains(t, err.Error(), "\n")
}

// The reader of YAML never panics, whatever the parser makes of the text, and what quote writes
// is read back letter by letter.
func FuzzYAML(f *testing.F) {
	for _, text := range hard {
		f.Add(text)
	}
	for _, text := range []string{"{a: b, c}", "a:\n - b\n - [c, {d: e}]\n", "? a\n: b",
		"a: |\n  b\n c", "#\n - - QI\xd7", "a:\n.\n-\n", "0: [:!00 \xef", "{{},<<}", "! !00 \xf6",
		"%TAG ! x:\n--- !y\na", "a: &a [*a]", strings.Repeat("[", 50), strings.Repeat("- ", 50)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &reader{file: "f"}
		if r.document([]byte(text), 1) == nil {
			require.Error(t, r.err)
		}
		valid := strings.ToValidUTF8(text, "?")
		block, flow := quote(valid, true), quote(valid, false)
		for _, doc := range []string{"- " + block, "[" + flow + ", x]"} {
			r := &reader{file: "f"}
			root := r.document([]byte(doc), 1)
			require.Nil(t, r.err, "%s", doc)
			require.Equal(t, valid, r.text(root.Content[0], "text"))
		}
	})
}

// A line that is accepted is cut into its fields and nothing else.
func FuzzCLF(f *testing.F) {
	for _, line := range textLines(accessLog)[:20] {
		f.Add(line)
	}
	for _, c := range clfCases {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if l, ok := parseCLF(line); ok {
			require.Equal(t, line, joinCLF(l))
		}
	})
}
