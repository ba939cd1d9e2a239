package scenarios

import (
	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// Builtin returns a new library of everything that this module has. The caller may append to it.
func Builtin() *Library {
	return &Library{
		Modes:      semantics.All(),
		Operators:  []*model.Operator{&Double, &ParseCLF, &Count},
		Topologies: []*model.Topology{&Pipeline, &PageViews},
		Sinks:      []*model.SinkSpec{&sim.AppendLog},
		Decoders:   []*Decoder{&Lines, &CLF},
		Classes:    Classes(),
		Faults:     faults.All(),
		Properties: checker.All(),
		Samples:    samples(),
		Files:      files(),
	}
}
