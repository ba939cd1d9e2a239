package simcli

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// save writes the run of a case as a scenario file and returns the file's name. Into a directory
// it is named by its signature and content.
func (a *app) save(c *report.Case, path string) (string, error) {
	dir := filepath.Dir(path)
	if isDirectory(path) {
		dir = path
	}
	s := *c.Scenario
	if !c.Judged {
		s.Expect = nil // a person wrote it of another run
	}
	if err := moveInput(&s, c.Stats, dir); err != nil {
		return "", err
	}
	if len(c.Result.Trace) > 0 {
		s.Trace = report.Diagram(c)
	}
	s.Recorded = recordedOf(c)
	data := scenarios.Format(a.lib, &s)
	if dir == path {
		h := fnv.New32a()
		h.Write(data)
		path = filepath.Join(path, fmt.Sprintf("%s-%08x.sim", report.Signature(c), h.Sum32()))
	}
	return path, writeWhole(path, func(to io.Writer) error {
		_, err := to.Write(data)
		return err
	})
}

func recordedOf(c *report.Case) *scenarios.Recorded {
	return &scenarios.Recorded{Hash: c.Result.Subject.History.End.Hash,
		Signature: report.Signature(c), Version: moduleVersion(), Format: scenarios.GoldenVersion}
}

// moveInput makes the path of an input file one that holds from another directory, and pins the
// file's content.
func moveInput(s *scenarios.Scenario, stats scenarios.InputStats, dir string) error {
	in := &s.Input
	if in.Kind != scenarios.InputFile {
		return nil
	}
	if stats.SHA256 != "" {
		in.SHA256 = stats.SHA256
	}
	if filepath.IsAbs(in.Path) {
		return nil
	}
	from, err := filepath.Abs(filepath.Join(in.Dir, filepath.FromSlash(in.Path)))
	if err != nil {
		return fail(statusUsage, "%s: %w", in.Path, err)
	}
	to, err := filepath.Abs(dir)
	if err != nil {
		return fail(statusUsage, "%s: %w", dir, err)
	}
	relative, err := filepath.Rel(to, from)
	if err != nil {
		relative = from
	}
	in.Path, in.Dir = filepath.ToSlash(relative), dir
	return nil
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
