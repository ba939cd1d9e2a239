package report

import (
	"fmt"
	"hash/fnv"
	"path/filepath"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// File is the case as a scenario file that is to stand in a directory: its content, and a name made
// of the mode, of what it violates first of all, and of its content. The error is that the path of
// its input cannot be told from there.
func (c *Case) File(dir string) (name string, data []byte, err error) {
	s := *c.Scenario
	if !c.Judged {
		s.Expect = nil // a person wrote it of another run
	}
	if err := moveInput(&s, c.Stats, dir); err != nil {
		return "", nil, err
	}
	if len(c.Result.Trace) > 0 {
		s.Trace = Diagram(c)
	}
	s.Recorded = c.Record()
	data = scenarios.Format(c.Library, &s)
	h := fnv.New32a()
	h.Write(data)
	return fmt.Sprintf("%s-%08x.sim", c.shortSignature(), h.Sum32()), data, nil
}

// shortSignature is the signature of what the report is about alone: the whole is in the file.
func (c *Case) shortSignature() string {
	v, _ := c.primary()
	if v == nil {
		return Signature(c)
	}
	return search.Signature(c.Scenario.Mode, []model.Verdict{*v})
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
		return fmt.Errorf("%s: %w", in.Path, err)
	}
	to, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	relative, err := filepath.Rel(to, from)
	if err != nil {
		relative = from
	}
	in.Path, in.Dir = filepath.ToSlash(relative), dir
	return nil
}
