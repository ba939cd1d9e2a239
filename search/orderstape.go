package search

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/sim"
)

// Tape is a run driven by choices: the steps that were taken, one after the other.
type Tape struct {
	Job   *model.Job
	Steps []sim.Choice
	Path  string // the same in numbers, as Follow reads it; "" until it is known
}

// Lines are the steps in words.
func (t *Tape) Lines() []string {
	var lines []string
	for i := range t.Steps {
		lines = append(lines, t.line(&t.Steps[i]))
	}
	return lines
}

// String is a line for each step.
func (t *Tape) String() string { return strings.Join(t.Lines(), "\n") }

func (t *Tape) line(c *sim.Choice) string {
	text := t.step(c)
	if c.Crash == 0 {
		return text
	}
	point := c.Crash.String()
	return fmt.Sprintf("%s; crash %s %s effect %d", text, t.name(c.Victim), point, c.Effect)
}

func (t *Tape) step(c *sim.Choice) string {
	switch c.Kind {
	case sim.Open:
		return "open"
	case sim.Deliver:
		return fmt.Sprintf("deliver %s from %s to %s", c.What, t.name(c.From), t.name(c.Proc))
	case sim.Serve:
		return fmt.Sprintf("serve %s of %s at %s", c.What, t.name(c.Proc),
			model.ServiceNames[c.Service])
	case sim.Receive:
		return fmt.Sprintf("answer %s to %s", c.What, t.name(c.Proc))
	case sim.Restart:
		return "restart " + t.name(c.Proc)
	case sim.Arrive:
		return "input arrives at " + t.name(c.Proc)
	case sim.Fire:
		return fmt.Sprintf("fire timer %d of %s, due at %s", c.Number, t.name(c.Proc),
			faults.FormatDuration(c.Due))
	}
	panic(fmt.Sprintf("search: choice of kind %d", uint8(c.Kind)))
}

func (t *Tape) name(p model.ProcID) string { return t.Job.Tasks[p].Name }

// Replay runs a scenario along a tape, with its full trace. The history has the crashes, which are
// those of Tape.Faults, as reached.
func (o *Orders) Replay(s *scenarios.Scenario, t *Tape) (scenarios.Result, error) {
	if err := o.check(s); err != nil {
		return scenarios.Result{}, err
	}
	runner, err := scenarios.NewRunner(o.Library, s)
	if err != nil {
		return scenarios.Result{}, err
	}
	run := runner.Ordered(s.Seed, o.budget(runner.Job()), nil, scenarios.Options{Trace: true})
	for i := range t.Steps {
		step, ok := run.Find(t.Steps[i])
		if !ok || !run.Take(&step) {
			return scenarios.Result{}, fmt.Errorf("step %d of the tape cannot be taken: %s", i+1,
				t.line(&t.Steps[i]))
		}
	}
	if left := run.Choices(nil); len(left) > 0 {
		return scenarios.Result{}, fmt.Errorf("the tape ends before the run does: %s is next",
			t.line(&left[0]))
	}
	res := runner.Judge(run.Finish())
	h := res.Subject.History
	h.Reached = append(h.Reached[:0], t.reached(h)...)
	res.Trace = res.World.Trace()
	return res, nil
}
