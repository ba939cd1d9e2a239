package simcli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/report"
)

// overwrite says what may be written over.
type overwrite struct {
	force  bool     // whatever is there
	inputs []string // but never these
}

// addForce gives a command the flag that writes over what is there.
func addForce(cmd *cobra.Command, force *bool) {
	cmd.Flags().BoolVar(force, "force", false,
		"write over a file that is there; never over an input")
}

// save writes the run of a case as a scenario file and returns the file's name. Into a directory
// it is named by its signature and content.
func (a *app) save(c *report.Case, path string, over overwrite) (string, error) {
	dir := filepath.Dir(path)
	if isDirectory(path) {
		dir = path
	}
	name, data, err := c.File(dir)
	if err != nil {
		return "", err
	}
	write := func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	}
	if dir == path {
		path = filepath.Join(path, name)
		return path, writeWhole(path, write)
	}
	return path, writeNew(path, over, write)
}

// writeNew is writeWhole for a file that is not there yet, or that has the same content.
func writeNew(path string, over overwrite, write func(to io.Writer) error) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return writeWhole(path, write)
	}
	for _, input := range over.inputs {
		if other, err := os.Stat(input); err == nil && os.SameFile(info, other) {
			return fail(statusUsage, "%s is an input, and is not written over", path)
		}
	}
	if !over.force {
		isSame, err := hasContent(path, write)
		if err != nil {
			return fail(statusUsage, "%s cannot be read: %w", path, cause(err))
		}
		if !isSame {
			return fail(statusUsage, "%s is there already, and is another; --force writes over it",
				path)
		}
	}
	return writeWhole(path, write)
}

// hasContent reports whether a file has just what is written.
func hasContent(path string, write func(to io.Writer) error) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	c := &comparer{old: bufio.NewReader(f)}
	if err := write(c); errors.Is(err, errOther) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	_, err = c.old.ReadByte()
	return errors.Is(err, io.EOF), nil
}

var errOther = errors.New("another content")

// comparer compares what is written with what is there. Its error is errOther, or that of reading.
type comparer struct{ old *bufio.Reader }

// Write implements io.Writer.
func (c *comparer) Write(p []byte) (int, error) {
	there := make([]byte, len(p))
	n, err := io.ReadFull(c.old, there)
	if !bytes.Equal(there[:n], p) {
		return 0, errOther
	}
	return n, err
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
