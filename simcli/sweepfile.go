package simcli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/oncesim/oncesim/search"
)

// openResults opens the result file: a new one, or one to go on with, without the line that was
// being written when its sweep was killed.
func (a *app) openResults(s *search.Sweep, w *sweepFlags) (*os.File, error) {
	flag := os.O_WRONLY | os.O_APPEND
	switch _, err := os.Stat(w.out); {
	case errors.Is(err, fs.ErrNotExist):
		flag |= os.O_CREATE | os.O_EXCL
	case err != nil:
		return nil, fail(statusUsage, "%s cannot be read: %w", w.out, cause(err))
	case !w.resume:
		return nil, fail(statusUsage, "%s is there already; --resume goes on with it", w.out)
	default:
		if err := resumeFrom(s, w.out); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(w.out, flag, 0o666)
	if err != nil {
		return nil, fail(statusUsage, "%s cannot be written: %w", w.out, cause(err))
	}
	return file, nil
}

// resumeFrom has a sweep go on with a file.
func resumeFrom(s *search.Sweep, path string) error {
	done, whole, err := readResults(path)
	if err != nil {
		return err
	}
	if done != nil {
		if err := s.Resume(done); err != nil {
			return fail(statusUsage, "%s cannot be resumed: %w", path, err)
		}
	}
	if err := os.Truncate(path, whole); err != nil {
		return fail(statusUsage, "%s cannot be written: %w", path, cause(err))
	}
	return nil
}

// headerBegin is how a result file begins, down to where its first line may be torn.
const headerBegin = `{"kind":"header"`

// readResults reads a result file. Without a whole line the results are nil, if what is there is
// the beginning of one.
func readResults(path string) (r *search.Results, whole int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fail(statusUsage, "%s cannot be read: %w", path, cause(err))
	}
	defer f.Close()
	r, whole, err = search.ReadResults(path, f)
	if err != nil {
		return nil, 0, withDifference(err)
	}
	if r == nil {
		begin := make([]byte, len(headerBegin))
		n, _ := f.ReadAt(begin, 0)
		if string(begin[:n]) != headerBegin[:n] {
			return nil, 0, fail(statusUsage, "%s:1: no line of results", path)
		}
	}
	return r, whole, nil
}
