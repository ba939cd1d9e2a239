package scenarios

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// lineList is text split into lines. The indices of lines that were too long ascend; such a line
// is empty.
type lineList struct {
	lines   []string
	tooLong []int
}

var errInputMax = errors.New("input is too large")

// lineReader splits a stream into lines with bounded memory beside the lines that it keeps: what
// is too long is dropped as soon as that is known. All lines are kept in one text.
type lineReader struct {
	from    *bufio.Reader
	text    strings.Builder
	line    []byte // the line under reading; at most lineMax and its end
	ends    []int  // where each line ends in text
	tooLong []int
	limit   int // of lines; 0: none
	max     int // bytes of text that are kept
	bytes   int64
	atEnd   bool
}

// binaryHead is how many bytes decide whether a file is text.
const binaryHead = 8 << 10

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit, max: inputMax}
}

// head is the beginning of the stream, which is still to be read.
func (r *lineReader) head() []byte {
	head, _ := r.from.Peek(binaryHead) // an error comes again with the first line
	return head
}

// readAll reads lines up to the limit or the end.
func (r *lineReader) readAll() error {
	for r.limit == 0 || len(r.ends) < r.limit {
		more, err := r.readLine()
		if err != nil || !more {
			return err
		}
		if r.text.Len() > r.max || len(r.ends) > recordsMax {
			return errInputMax
		}
	}
	return nil
}

// readLine reads one line; more is false where there is none left.
func (r *lineReader) readLine() (more bool, err error) {
	r.line = r.line[:0]
	isLong := false
	for {
		piece, err := r.from.ReadSlice('\n')
		r.bytes += int64(len(piece))
		more = more || len(piece) > 0
		isLong = isLong || len(r.line)+len(piece) > lineMax+len("\r\n")
		if isLong {
			r.line = r.line[:0]
		} else {
			r.line = append(r.line, piece...)
		}
		switch {
		case err == nil:
			r.keep(isLong)
			return true, nil
		case errors.Is(err, io.EOF):
			r.atEnd = true
			if more {
				r.keep(isLong)
			}
			return more, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}

// keep appends the line that was read to the text, without its end.
func (r *lineReader) keep(isLong bool) {
	line := bytes.TrimSuffix(bytes.TrimSuffix(r.line, []byte("\n")), []byte("\r"))
	if isLong || len(line) > lineMax {
		r.tooLong = append(r.tooLong, len(r.ends))
	} else {
		r.text.Write(line)
	}
	r.ends = append(r.ends, r.text.Len())
}

// drain reads the rest of the stream for its hash.
func (r *lineReader) drain() error {
	n, err := io.Copy(io.Discard, r.from)
	r.bytes += n
	r.atEnd = err == nil
	return err
}

// list is what was read.
func (r *lineReader) list() lineList {
	text, begin := r.text.String(), 0
	lines := make([]string, len(r.ends))
	for i, end := range r.ends {
		lines[i], begin = text[begin:end], end
	}
	return lineList{lines: lines, tooLong: r.tooLong}
}

// binaryReason says why the beginning of a file is no text, or "". A text in another encoding
// than UTF-8 is text if it is mostly ASCII.
func binaryReason(head []byte) string {
	if i := bytes.IndexByte(head, 0); i >= 0 {
		return fmt.Sprintf("byte %d is zero", i+1)
	}
	bad := 0
	for at := 0; at < len(head); {
		c, size := utf8.DecodeRune(head[at:])
		if c == utf8.RuneError && size == 1 {
			bad++
		}
		at += size
	}
	if bad > len(head)/2 {
		return "most of it is not UTF-8"
	}
	return ""
}
