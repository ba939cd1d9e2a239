package defects_test

import (
	"io"
	"os"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/simcli"
)

// hopeful takes a request whose outcome is unknown as done: it is not sent again.
type hopeful struct{ model.Process }

func (p hopeful) Step(ev *model.Event, s *model.Script) {
	from := len(s.Effects)
	p.Process.Step(ev, s)
	for i := range s.Effects[from:] {
		s.Effects[from+i].UntilDone = false
	}
}

// A defect of one's own: a name, where it can be planted, and what it puts in front of a process.
func Example() {
	lib := scenarios.Builtin()
	lib.Defects = append(lib.Defects, &defects.Defect{
		Name: "hopeful-sink", Says: "what may not have been written is taken as written",
		Kind: &defects.FlushError, Modes: []string{"at-least-once"}, Property: "at-least-once",
		Process: func(_ *model.Job, task *model.Task, p model.Process) model.Process {
			if task.Role == model.Sink {
				return hopeful{p}
			}
			return p
		},
	})
	simcli.Run(lib, []string{"explore", "pipeline", "--defect", "hopeful-sink", "--records", "3",
		"--classes", "lose-request", "--quiet"}, nil, os.Stdout, io.Discard)
	// Output:
}
