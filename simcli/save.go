package simcli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oncesim/oncesim/report"
)

// save writes the run of a case as a scenario file and returns the file's name. Into a directory
// it is named by its signature and content.
func (a *app) save(c *report.Case, path string) (string, error) {
	dir := filepath.Dir(path)
	if isDirectory(path) {
		dir = path
	}
	name, data, err := c.File(dir)
	if err != nil {
		return "", err
	}
	if dir == path {
		path = filepath.Join(path, name)
	}
	return path, writeWhole(path, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}

// writeWhole writes a file whole or not at all: into a new file beside it, which then takes its
// place. What is no plain file, such as a device or a pipe, is written to as it is.
func writeWhole(path string, write func(to io.Writer) error) error {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	mode := fs.FileMode(0o666)
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return fail(statusUsage, "%s is a directory, expected a file to write", path)
	case err == nil && !info.Mode().IsRegular():
		err = writeTo(target, os.O_WRONLY, 0, write)
	default:
		if err == nil {
			mode = info.Mode().Perm()
		}
		err = replace(target, mode, write)
	}
	if err != nil {
		return fail(statusUsage, "%s cannot be written: %w", path, cause(err))
	}
	return nil
}

// replace writes a new file beside path and gives it the name path.
func replace(path string, mode fs.FileMode, write func(to io.Writer) error) error {
	beside := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	err := writeTo(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode, write)
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		_ = os.Remove(beside)
	}
	return err
}

// writeTo opens a file and writes it; the error may be of any of the steps, closing included.
func writeTo(path string, flag int, mode fs.FileMode, write func(to io.Writer) error) error {
	f, err := os.OpenFile(path, flag, mode)
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
