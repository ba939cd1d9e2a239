package scenarios

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endless is a stream of n letters and no line end.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), e.n)]
	for i := range p {
		p[i] = 'x'
	}
	e.n -= len(p)
	return len(p), nil
}

// A line of any length costs no more memory than the longest that is kept.
func TestLineReader_LongLineIsNotHeld(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := newLineReader(&endless{n: 64 << 20}, 0)
	require.NoError(t, r.readAll())
	runtime.ReadMemStats(&after)
	assert.Equal(t, lineList{lines: []string{""}, tooLong: []int{0}}, r.list())
	assert.EqualValues(t, 64<<20, r.bytes)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6<<20))
}

func TestLineReader_BoundsTheWhole(t *testing.T) {
	r := newLineReader(&once{text: strings.Repeat("ten bytes.\n", 101)}, 0)
	r.max = 1000
	require.ErrorIs(t, r.readAll(), errInputMax)
	assert.Len(t, r.ends, 101)

	r = newLineReader(&once{text: strings.Repeat("ten bytes.\n", 100)}, 0)
	r.max = 1000
	require.NoError(t, r.readAll())
}

// once is a stream of one text.
type once struct{ text string }

func (o *once) Read(p []byte) (int, error) {
	if o.text == "" {
		return 0, io.EOF
	}
	n := copy(p, o.text)
	o.text = o.text[n:]
	return n, nil
}

// The lines do not depend on how the stream comes in pieces.
func TestLineReader_Pieces(t *testing.T) {
	text := "a\r\n\nbc\r\nd"
	want := lineList{lines: []string{"a", "", "bc", "d"}}
	for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader,
		iotest.DataErrReader} {
		r := newLineReader(wrap(&once{text: text}), 0)
		assert.Equal(t, text, string(r.head()))
		require.NoError(t, r.readAll())
		assert.Equal(t, want, r.list())
		assert.True(t, r.atEnd)
	}
}

// A file that cannot be read to its end is no shorter file.
func TestLineReader_ErrorIsNoEnd(t *testing.T) {
	broken := errors.New("disk")
	r := newLineReader(io.MultiReader(&once{text: "a\nb"}, iotest.ErrReader(broken)), 0)
	require.ErrorIs(t, r.readAll(), broken)
	assert.False(t, r.atEnd)
}
