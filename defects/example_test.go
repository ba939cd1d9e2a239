package defects_test

import (
	"fmt"
	"io"
	"strings"

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
	var out strings.Builder
	simcli.Run(lib, []string{"explore", "pipeline", "--defect", "hopeful-sink", "--records", "3",
		"--classes", "lose-request", "--quiet"}, nil, &out, io.Discard)
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "violated") {
			fmt.Print(line)
		}
	}
	// Output:
	//   at-least-once        violated= holds in 7, violated in 3; claimed of 3 of these
	//   exactly-once         violated  holds in 7, violated in 3
}
