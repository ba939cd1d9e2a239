package scenarios

import (
	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// Decoder turns the lines of an input file into record values.
type Decoder struct {
	Name string
	Says string
	// Valid reports whether a line, without its end, is well formed. A malformed line is still a
	// record: an operator drops and counts it.
	Valid func(line string) bool
	// Key is the key of the record of a line; nil: none.
	Key func(line string) string
	// Generate makes a line, for topologies without a sample. draw gives a number from 0 to
	// below-1, another one each time. nil: there are no lines without a sample.
	Generate func(draw func(below int64) int64) string
}

// Library is what a run can use. The built-in one is Builtin; an outsider appends their own values
// to a copy and gives it to Parse, Run and the command, without touching this repository.
type Library struct {
	Modes      []*model.Mode
	Operators  []*model.Operator
	Topologies []*model.Topology
	Sinks      []*model.SinkSpec
	Decoders   []*Decoder
	Classes    []*Class
	Faults     []faults.Spec
	Properties []checker.Property
	Defects    []*defects.Defect
	Samples    []Sample // embedded inputs
	Files      []File   // built-in scenarios
}

// Sample is an embedded input.
type Sample struct {
	Name   string
	Origin string // where it is from and under which licence
	Data   string
}

// File is a scenario file that a library carries.
type File struct {
	Name string
	Data string
}
