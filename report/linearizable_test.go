package report

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// linearCase is a run with its services judged.
func linearCase(t testing.TB, lib *scenarios.Library, s *scenarios.Scenario) *Case {
	t.Helper()
	_, res, err := scenarios.Run(lib, s, scenarios.Options{Trace: true})
	require.NoError(t, err)
	c := &Case{Library: lib, Scenario: s, Result: res}
	c.CheckLinearizable(0)
	return c
}

// smallRun is a run of a topology with a fault.
func smallRun(t testing.TB, topology *model.Topology, mode string, lines ...string) *Case {
	t.Helper()
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Name: topology.Name, Topology: topology, Seed: 1}
	s.Input.Records = 8
	for _, m := range lib.Modes {
		if m.Name == mode {
			s.Mode = m
		}
	}
	for _, line := range lines {
		f, err := faults.Parse(line)
		require.NoError(t, err)
		s.Faults = append(s.Faults, f)
	}
	return linearCase(t, lib, s)
}

// pageResult is what the search for the page finds, and what the judge says of the objects that the
// page has.
func pageResult(c *Case) (page porcupine.CheckResult, want porcupine.CheckResult) {
	k := newCalls(c, pageSteps)
	page, _ = porcupine.CheckOperationsVerbose(k.model(true), k.operations(), 0)
	for _, o := range k.objects {
		if o.left == 0 {
			page = porcupine.Unknown
		}
	}
	switch c.LinearizableResult() {
	case model.Holds:
		want = porcupine.Ok
	case model.Violated:
		want = porcupine.Illegal
	}
	return page, want
}

// spoil changes one answer or one sight of a history, and says whether it found any.
func spoil(r *rand.Rand, h *model.History) {
	switch call := &h.Calls[r.IntN(len(h.Calls))]; {
	case r.IntN(4) == 0 && len(h.Observations) > 1:
		a, b := r.IntN(len(h.Observations)), r.IntN(len(h.Observations))
		h.Observations[a].Out, h.Observations[b].Out = h.Observations[b].Out, h.Observations[a].Out
	case call.Req.Kind == model.Get:
		call.Ans.Found, call.Ans.Value.Num = true, call.Ans.Value.Num+int64(r.IntN(3))
	case call.Req.Kind == model.Position:
		call.Ans.Seq += int64(r.IntN(3))
	case call.Req.Kind == model.Write:
		call.Ans.Seq = max(call.Ans.Seq-int64(r.IntN(2)), 0)
	case call.Req.Kind == model.Put:
		call.Req.Record.Value.Num += int64(r.IntN(2))
	}
}

// isShown reports whether the page has all objects that the judge judges.
func isShown(s *checker.Subject) bool {
	return s.Shape == model.Log && !slices.ContainsFunc(s.History.Calls, func(c model.Call) bool {
		return c.Req.Kind >= model.LoadIDs && c.Service == model.StateStore
	})
}

// The page is made by a search of its own. On runs under all faults, as they were and with answers
// that were spoiled, it comes to what the judge of the services says.
func TestLinearizablePage_AgreesWithTheJudge(t *testing.T) {
	lib := scenarios.Builtin()
	seen := map[porcupine.CheckResult]int{}
	r := rand.New(rand.NewPCG(1, 2))
	for _, mode := range lib.Modes {
		for _, topology := range []*model.Topology{&scenarios.Pipeline, &scenarios.PageViews,
			&scenarios.RunningAverage} {
			s := &scenarios.Scenario{Name: topology.Name, Topology: topology, Mode: mode}
			s.Input.Records = 6
			runner, err := scenarios.NewRunner(lib, s)
			require.NoError(t, err)
			extent := runner.Run(1, nil, scenarios.Options{}).Subject.History.Extent
			for i, class := range lib.Classes {
				seed := uint64(i + 1)
				rules := class.Draw(seed, &extent, nil)
				c := &Case{Library: lib, Scenario: s,
					Result: runner.Run(seed, rules, scenarios.Options{})}
				for spoilt := range 3 {
					if spoilt > 0 {
						spoil(r, c.Result.Subject.History)
					}
					c.Linearizable = checker.Linearizable(c.Result.Subject, 0)
					if !isShown(&c.Result.Subject) {
						continue
					}
					page, want := pageResult(c)
					require.Equal(t, want, page, "%s under %s, %s, seed %d, spoilt %d times: %+v",
						s.Name, mode.Name, class.Name, seed, spoilt, c.Linearizable)
					seen[page]++
				}
			}
		}
	}
	require.Greater(t, seen[porcupine.Ok], 50)
	require.Greater(t, seen[porcupine.Illegal], 50)
}

// The page is one file that says what struck, whether the services kept their promise, and which
// order of the calls explains the answers. The same run gives the same bytes.
func TestLinearizablePage_SameBytes(t *testing.T) {
	page := func() string {
		c := smallRun(t, &scenarios.PageViews, "at-least-once",
			"crash sink/0 before ack of write 2", "pause count/1 after effect 3 for 80ms",
			"delay call write 3 of sink/1 by 60ms")
		var b bytes.Buffer
		require.NoError(t, WriteLinearizablePage(&b, c))
		return b.String()
	}
	want := page()
	for range 5 {
		require.Equal(t, want, page())
	}
	require.True(t, strings.HasPrefix(want, "<!doctype html>"))
	for _, text := range []string{`"Tag":"faults"`, "crash sink/0 before ack of write 2",
		"sink/0 crashed", "count/1 stands still", `"Tag":"verdicts"`, "external sink: holds",
		"sink/0: write partition 0: input/", "outcome unknown", "reader: see partition 1: input/",
		"source/0: offset-commit input/0: 4", `count/1: get count \"/`} {
		require.Contains(t, want, text)
	}
	require.NotContains(t, want, "src=")
	require.NotContains(t, want, "href=")
}

// An answer that no order explains: the page has the longest orders that there are.
func TestLinearizablePage_Illegal(t *testing.T) {
	c := smallRun(t, &scenarios.PageViews, "at-least-once")
	h := c.Result.Subject.History
	spoiled := slices.IndexFunc(h.Calls, func(call model.Call) bool {
		return call.Req.Kind == model.Write && call.Ans.Seq == 1
	})
	require.Positive(t, spoiled)
	h.Calls[spoiled].Ans.Seq = 0
	c.CheckLinearizable(0)
	require.Equal(t, model.Violated, c.LinearizableResult())
	text := Text(c, Plain)
	require.Contains(t, text, "linearizable\n  input offsets  holds\n  state store    holds\n"+
		"  external sink  violated\n")
	require.Contains(t, text, "two writes were told place 0")
	var b bytes.Buffer
	require.NoError(t, WriteLinearizablePage(&b, c))
	require.Contains(t, b.String(), "external sink: violated")
	require.Contains(t, string(JSON(NewRun(c))), `"object": "external sink"`)
}

// Without a budget nothing is known, and that is neither a pass nor a violation.
func TestLinearizableResult_Unknown(t *testing.T) {
	c := smallRun(t, &scenarios.PageViews, "at-least-once")
	require.Equal(t, model.Holds, c.LinearizableResult())
	c.CheckLinearizable(1)
	require.Equal(t, model.Undecided, c.LinearizableResult())
	require.Contains(t, Text(c, Plain), "state store    unknown\n")
	c.Linearizable = nil
	require.Equal(t, model.Holds, c.LinearizableResult())
	require.NotContains(t, Text(c, Plain), "linearizable")
	require.NotContains(t, string(JSON(NewRun(c))), "linearizable")
}

// What services do that forget or lag behind is not linearizable, and it is the right service that
// is not. Every other built-in scenario is explained, as far as the judge knows its sink.
func TestLinearizable_BuiltinScenarios(t *testing.T) {
	lib := scenarios.Builtin()
	violated := map[string]string{
		"at-least-once-forgotten-write-loses":     "external sink",
		"at-least-once-stale-state-loses-a-count": "state store",

		// It commits by a savepoint, and that never is the completed checkpoint.
		"savepoint-that-nobody-goes-back-to-repeats": "external sink",
	}
	for _, f := range lib.Files {
		s, err := scenarios.Parse(lib, f.Name+".sim", []byte(f.Data))
		require.NoError(t, err)
		for i, v := range linearCase(t, lib, s).Linearizable {
			if linearObjects[i] == violated[f.Name] {
				require.Equal(t, model.Violated, v.Result, "%s: %s", f.Name, linearObjects[i])
				require.NotEmpty(t, v.Reason)
				delete(violated, f.Name)
			} else {
				require.NotEqual(t, model.Violated, v.Result, "%s: %s: %s", f.Name,
					linearObjects[i], v.Reason)
			}
		}
	}
	require.Empty(t, violated)
}

// A service that refuses a request although nothing fences it off is linearizable: it did nothing.
func TestLinearizable_Refusals(t *testing.T) {
	lib := scenarios.Builtin()
	at := slices.IndexFunc(lib.Classes, func(c *scenarios.Class) bool {
		return c.Action == model.RefuseRequest
	})
	refused := 0
	for _, mode := range lib.Modes {
		s := &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: mode, Seed: 1}
		runner, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		extent := runner.Run(s.Seed, nil, scenarios.Options{}).Subject.History.Extent
		for seed := uint64(1); seed <= 30; seed++ {
			rules := lib.Classes[at].Draw(seed, &extent, nil)
			c := &Case{Result: runner.Run(seed, rules, scenarios.Options{})}
			c.CheckLinearizable(0)
			require.Equal(t, model.Holds, c.LinearizableResult(), "%s, seed %d: %+v", mode.Name,
				seed, c.Linearizable)
			for _, call := range c.Result.Subject.History.Calls {
				if call.Outcome == model.Refused && call.Req.Flags&model.Fenced != 0 {
					refused++
				}
			}
		}
	}
	require.Greater(t, refused, 10)
}
