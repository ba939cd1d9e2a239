package scenarios

import (
	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// Builtin returns a new library of everything that this module has. The caller may append to it.
func Builtin() *Library {
	return &Library{
		Modes: semantics.All(),
		Operators: []*model.Operator{&Double, &ParseCLF, &Count, &ledger, &average, &split, &alarm,
			&bonus, &debit},
		Topologies: []*model.Topology{&Pipeline, &PageViews, &Transfers, &RunningAverage, &FanOut,
			&Threshold, &Lottery, &Accounts},
		Sinks: []*model.SinkSpec{&sim.AppendLog, &sim.TableByIdentity, &sim.TableByKey,
			&sim.IdentityLog, &sim.BatchLog, &sim.TransactionalLog,
			&sim.TransactionalLogUncommitted},
		Decoders:   []*Decoder{&Lines, &CLF, &transferLines, &wordLines, &paymentLines},
		Classes:    Classes(),
		Faults:     faults.All(),
		Properties: checker.All(),
		Defects:    defects.All(),
		Samples:    samples(),
		Files:      files(),
	}
}
