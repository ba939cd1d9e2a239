package simcli

import (
	"errors"
	"io/fs"
	"os"

	"github.com/oncesim/oncesim/search"
)

// openResults opens the result file: a new one, or one to go on with, without the line that was
// being written when its sweep was killed. Nobody else writes to it until it is closed.
func (a *app) openResults(s *search.Sweep, w *sweepFlags) (*os.File, error) {
	flag := os.O_WRONLY | os.O_APPEND
	info, err := os.Stat(w.out)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case isNew:
		flag |= os.O_CREATE | os.O_EXCL
	case err != nil:
		return nil, fail(statusUsage, "%s cannot be read: %w", w.out, cause(err))
	case !info.Mode().IsRegular():
		return nil, fail(statusUsage, "%s is no plain file: results are written to a new one, or "+
			"go on in one", w.out)
	case !w.resume:
		return nil, fail(statusUsage, "%s is there already; --resume goes on with it", w.out)
	}
	file, err := os.OpenFile(w.out, flag, 0o666)
	if err != nil {
		return nil, fail(statusUsage, "%s cannot be written: %w", w.out, cause(err))
	}
	if isLockedElsewhere(file) {
		_ = file.Close()
		return nil, fail(statusUsage, "%s is being written by another sweep", w.out)
	}
	if isNew {
		return file, nil
	}
	if err := a.resumeFrom(s, w.out); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// closeResults closes the result file, of which everything is then on the disk.
func closeResults(file *os.File) error {
	err := file.Sync()
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fail(statusUsage, "%s cannot be written: %w", file.Name(), cause(err))
	}
	return nil
}

// resumeFrom has a sweep go on with a file.
func (a *app) resumeFrom(s *search.Sweep, path string) error {
	done, whole, err := a.readResults(path)
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

// readResults reads a result file, which may be a pipe. Without a whole line the results are nil,
// if what is there is the beginning of one.
func (a *app) readResults(path string) (r *search.Results, whole int64, err error) {
	a.waits.during(func() { r, whole, err = readResults(path) })
	return r, whole, err
}

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
