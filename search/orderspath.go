package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/sim"
)

// A path is a tape in numbers, one for each step, separated by dots: which of the choices that
// there are at this point (sim.Ordered's Choices), from 0. Behind an x stands which of the crashes
// that the step can have strikes, and behind a colon how many steps in turn are the same number. It
// means something with the scenario and the budget that it is of.
const (
	pathStep  = "."
	pathCrash = "x"
	pathTimes = ":"
)

// Follow is the tape of a path (Tape.Path) through a scenario.
func (o *Orders) Follow(s *scenarios.Scenario, path string) (*Tape, error) {
	if err := o.check(s); err != nil {
		return nil, err
	}
	input, _, err := o.Library.LoadInput(s)
	if err != nil {
		return nil, err
	}
	run, job, err := o.drive(s, input, nil)
	if err != nil {
		return nil, err
	}
	t := &Tape{Job: job, Path: path}
	for _, part := range strings.Split(path, pathStep) {
		word, times, hasTimes := strings.Cut(part, pathTimes)
		if !hasTimes {
			times = "1"
		}
		n, err := strconv.ParseUint(times, 10, 31)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("step %d of the path, %q: %q is not how many times",
				len(t.Steps)+1, part, times)
		}
		for range n {
			step, err := follow(run, word)
			if err != nil {
				return nil, fmt.Errorf("step %d of the path, %q: %w", len(t.Steps)+1, part, err)
			}
			t.Steps = append(t.Steps, step)
		}
	}
	return t, nil
}

// drive begins a run of a scenario that is to go along a way. known is what a pass has learned.
func (o *Orders) drive(s *scenarios.Scenario, input *model.Input, known *sim.Known) (*sim.Ordered,
	*model.Job, error) {
	runner, err := scenarios.NewRunnerOn(o.Library, s, input)
	if err != nil {
		return nil, nil, err
	}
	job := runner.Job()
	return runner.Ordered(s.Seed, o.budget(job), known, scenarios.Options{Unhashed: true}), job, nil
}

// follow takes the step that a word of a path says.
func follow(run *sim.Ordered, word string) (step sim.Choice, err error) {
	number, crash, hasCrash := strings.Cut(word, pathCrash)
	if step, err = pick(run.Choices(nil), number, "choice"); err != nil {
		return step, err
	}
	run.Take(&step)
	if !hasCrash {
		return step, nil
	}
	crashes := run.Crashes(&step, nil)
	run.Undo()
	if step, err = pick(crashes, crash, "crash"); err != nil {
		return step, err
	}
	if !run.Take(&step) {
		return step, fmt.Errorf("crash %s is not part of the step", crash)
	}
	return step, nil
}

// pick is the choice of a number.
func pick(list []sim.Choice, number, what string) (sim.Choice, error) {
	i, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return sim.Choice{}, fmt.Errorf("%q is not the number of a %s", number, what)
	}
	if i >= uint64(len(list)) {
		return sim.Choice{}, fmt.Errorf("no %s %d, of those from 0 there are %d", what, i,
			len(list))
	}
	return list[i], nil
}

// number gives a tape its path.
func (o *Orders) number(s *scenarios.Scenario, input *model.Input, t *Tape) error {
	run, _, err := o.drive(s, input, nil)
	if err != nil {
		return err
	}
	var words []string
	for i := range t.Steps {
		step, ok := run.Find(t.Steps[i])
		plain := step
		plain.Crash, plain.Victim, plain.Effect = 0, model.Nobody, 0
		at := slices.Index(run.Choices(nil), plain)
		if !ok || at < 0 {
			panic(fmt.Sprintf("search: step %d of a tape cannot be taken: %s", i+1, t))
		}
		word := strconv.Itoa(at)
		if step.Crash != 0 {
			run.Take(&plain)
			which := slices.Index(run.Crashes(&plain, nil), step)
			if run.Undo(); which < 0 {
				panic(fmt.Sprintf("search: no crash in step %d of a tape: %s", i+1, t))
			}
			word += pathCrash + strconv.Itoa(which)
		}
		words = append(words, word)
		run.Take(&step)
	}
	t.Path = pathText(words)
	return nil
}

// pathText is a path of words, of which those that follow themselves are counted.
func pathText(words []string) string {
	var parts []string
	for from := 0; from < len(words); {
		to := from + 1
		for to < len(words) && words[to] == words[from] {
			to++
		}
		part := words[from]
		if to > from+1 {
			part += pathTimes + strconv.Itoa(to-from)
		}
		parts = append(parts, part)
		from = to
	}
	return strings.Join(parts, pathStep)
}

// Faults are the crashes of a tape, as lines of a plan say them.
func (t *Tape) Faults() (plan faults.Plan) {
	for i := range t.Steps {
		if c := &t.Steps[i]; c.Crash != 0 {
			plan = append(plan, faults.FromRule(t.Job, model.Rule{Action: model.Crash,
				Proc: c.Victim, Point: c.Crash, Scope: model.EveryEffect, N: c.Effect}))
		}
	}
	return plan
}

// reached are the events at which the crashes of a tape struck, in its order.
func (t *Tape) reached(h *model.History) (events []int64) {
	for i := range h.Lives {
		if life := &h.Lives[i]; life.How == model.Crashed {
			events = append(events, life.Ended)
		}
	}
	slices.Sort(events)
	return events
}
