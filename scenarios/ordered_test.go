package scenarios_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/sim"
)

// walker takes steps at random.
type walker struct {
	*sim.Ordered
	rand *rand.Rand
}

// orderedRunner is a runner of a few records on a topology of the library.
func orderedRunner(t *testing.T, topology string, mode *model.Mode) *scenarios.Runner {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Mode: mode, Input: scenarios.InputSpec{
		Kind: scenarios.InputInline, Lines: []string{"a=1", "b=2", "a=3"}}}
	for _, top := range lib.Topologies {
		if top.Name == topology {
			s.Topology = top
		}
	}
	runner, err := scenarios.NewRunner(lib, s)
	require.NoError(t, err)
	return runner
}

// step takes a step at random, sometimes one with a crash in it. It reports false at the end.
func (w *walker) step() bool {
	list := w.Choices(nil)
	if len(list) == 0 {
		return false
	}
	c := list[w.rand.IntN(len(list))]
	w.Take(&c)
	crashes := w.Crashes(&c, nil)
	if len(crashes) == 0 || w.rand.IntN(12) > 0 {
		return true
	}
	w.Undo()
	crash := crashes[w.rand.IntN(len(crashes))]
	if !w.Take(&crash) {
		w.Undo()
		w.Take(&c)
	}
	return true
}

// walk goes to the end. What it calls before each step must change nothing. It returns the key at
// each state and the history in words.
func (w *walker) walk(before func()) (keys [][2]uint64, history string) {
	for {
		before()
		keys = append(keys, w.Key())
		if !w.step() {
			h := w.Finish()
			return keys, fmt.Sprintf("%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%d events, %s", h.Lives,
				h.Calls, h.Servings, h.Applications, h.Observations, h.Final, h.End.N, h.End.Reason)
		}
	}
}

// eachOrdered calls do for every mode on some topologies, with seeds.
func eachOrdered(t *testing.T, do func(t *testing.T, begin func() *walker)) {
	for _, topology := range []string{"pipeline", "running-average", "lottery"} {
		for _, mode := range scenarios.Builtin().Modes {
			t.Run(topology+"/"+mode.Name, func(t *testing.T) {
				runner := orderedRunner(t, topology, mode)
				for seed := range uint64(2) {
					do(t, func() *walker {
						return &walker{rand: rand.New(rand.NewPCG(seed, 0)),
							Ordered: runner.Ordered(seed, sim.Budget{Crashes: 2, Timers: 2}, nil,
								scenarios.Options{})}
					})
				}
			})
		}
	}
}

// Replacing every process and service by one restored from its encoding before each step changes
// nothing: not a state, not the history.
func TestOrdered_RestoresExactly(t *testing.T) {
	eachOrdered(t, func(t *testing.T, begin func() *walker) {
		keys, end := begin().walk(func() {})
		again := begin()
		again.IsTransplanting = true
		keysAgain, endAgain := again.walk(func() {})
		require.Equal(t, keys, keysAgain)
		require.Equal(t, end, endAgain)
	})
}

// Going somewhere else and undoing it, step by step, changes nothing.
func TestOrdered_UndoesExactly(t *testing.T) {
	eachOrdered(t, func(t *testing.T, begin func() *walker) {
		keys, end := begin().walk(func() {})
		again := begin()
		elsewhere := &walker{Ordered: again.Ordered, rand: rand.New(rand.NewPCG(9, 9))}
		keysAgain, endAgain := again.walk(func() {
			steps := elsewhere.rand.IntN(20)
			for n := range steps {
				if !elsewhere.step() {
					elsewhere.Finish()
					steps = n + 1
					break
				}
			}
			for range steps {
				elsewhere.Undo()
			}
		})
		require.Equal(t, keys, keysAgain)
		require.Equal(t, end, endAgain)
	})
}

// Two choices at one state differ in what is exported of them, so that a step can be found again.
func TestOrdered_ChoicesDiffer(t *testing.T) {
	eachOrdered(t, func(t *testing.T, begin func() *walker) {
		w := begin()
		w.walk(func() {
			seen := map[string]bool{}
			for _, c := range w.Choices(nil) {
				here, ok := w.Find(c)
				name := fmt.Sprint(c.Kind, c.Proc, c.Life, c.From, c.FromLife, c.Service, c.What,
					c.Number, c.Due)
				if !ok || here != c || seen[name] {
					t.Fatalf("%+v is found as %+v", c, here)
				}
				seen[name] = true
			}
		})
	})
}
