package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// sweeper makes sweeps of two units, one of which breaks what it claims.
type sweeper struct {
	t     *testing.T
	lib   *scenarios.Library
	units []search.Unit
}

func newSweeper(t *testing.T) *sweeper {
	lib := scenarios.Builtin()
	boast := *modeNamed(t, lib, "at-least-once")
	boast.Name, boast.Cells = "boast", nil
	boast.Claims = []string{"exactly-once"}
	lib.Modes = append(lib.Modes, &boast)
	s := builtin(t, lib, "pipeline-three")
	return &sweeper{t: t, lib: lib, units: search.Units(lib, s,
		[]*model.Mode{&boast, modeNamed(t, lib, "snapshot")}, nil)}
}

// file sweeps and returns what is written. After stopAfter writes (0: never) the context ends.
func (w *sweeper) file(opts search.Sweeping, old []byte, stopAfter int) []byte {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	file := bytes.NewBuffer(old)
	writes := 0
	opts.Write = func(lines []byte) error {
		if writes++; writes == stopAfter {
			stop()
		}
		file.Write(lines)
		return nil
	}
	s, err := search.NewSweep(w.lib, w.units, opts)
	require.NoError(w.t, err)
	if len(old) > 0 {
		done, whole := w.read(old)
		file.Truncate(whole)
		require.NoError(w.t, s.Resume(done))
	}
	require.NoError(w.t, s.Run(ctx))
	if stopAfter == 0 {
		require.NoError(w.t, s.Finish())
	}
	return file.Bytes()
}

func (w *sweeper) read(file []byte) (*search.Results, int) {
	r, whole, err := search.ReadResults("x.jsonl", bytes.NewReader(file))
	require.NoError(w.t, err)
	return r, int(whole)
}

// merged is the canonical form of files.
func (w *sweeper) merged(files ...[]byte) string {
	var parts []*search.Results
	for _, file := range files {
		r, _ := w.read(file)
		parts = append(parts, r)
	}
	all, err := search.MergeResults(parts)
	require.NoError(w.t, err)
	var b strings.Builder
	require.NoError(w.t, all.Write(&b))
	return b.String()
}

// Whatever workers, shards and interruptions there are, the merged results have the same bytes; so
// has what is merged again.
func TestSweep_SameBytes(t *testing.T) {
	w := newSweeper(t)
	opts := search.Sweeping{First: 5, Last: 700, Workers: 1, FailuresMax: 3}
	want := w.merged(w.file(opts, nil, 0))
	require.Contains(t, want, `"kind":"fail"`)
	require.Contains(t, want, `"complete":true`)
	require.Equal(t, want, w.merged([]byte(want)))

	opts.Workers = 3
	require.Equal(t, want, w.merged(w.file(opts, nil, 0)))

	var file []byte
	for _, n := range []int{1, 2, 30, 100} {
		file = w.file(opts, file, n)
		file = append(file, `{"kind":"fail","scen`...) // killed in the middle of a line
	}
	require.NotEqual(t, want, w.merged(file))
	require.Equal(t, want, w.merged(w.file(opts, file, 0)))

	var shards [][]byte
	for k := range uint64(5) {
		opts.Shard, opts.Shards = k+1, 5
		shards = append(shards, w.file(opts, nil, 0))
	}
	slices.Reverse(shards)
	require.Equal(t, want, w.merged(shards...))
	require.Equal(t, want, w.merged(append(shards, shards[2], []byte(want))...))
	require.Equal(t, want, w.merged(bytes.Join(shards, nil)))

	partly := w.merged(shards[:4]...)
	require.Contains(t, partly, `"complete":false`)
}

// A file that is complete gets nothing more.
func TestSweep_ResumeOfNothing(t *testing.T) {
	w := newSweeper(t)
	opts := search.Sweeping{First: 1, Last: 50}
	file := w.file(opts, nil, 0)
	require.Equal(t, string(file), string(w.file(opts, file, 0)))
}

// The counts are those of every run made by itself, and the kept failures are those of the smallest
// seeds and the fastest.
func TestSweep_CountsEveryRun(t *testing.T) {
	w := newSweeper(t)
	s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 300, FailuresMax: 2})
	require.NoError(t, err)
	require.NoError(t, s.Run(context.Background()))
	for i, unit := range w.units {
		got := &s.Results().Units[i]
		want := search.SweptUnit{Crashes: make([]int64, len(search.Gaps()))}
		runner, err := scenarios.NewRunner(w.lib, unit.Scenario)
		require.NoError(t, err)
		planner, err := search.NewPlanner(runner, unit.Scenario, unit.Classes, 0)
		require.NoError(t, err)
		groups := map[string][]*search.Failure{}
		for seed := uint64(1); seed <= 300; seed++ {
			rules := planner.Plan(runner, seed, nil)
			res := runner.Run(seed, rules, scenarios.Options{})
			want.Hash ^= res.Subject.History.End.Hash
			want.Events += res.Subject.History.End.N
			search.CrashGaps(res.Subject.History, want.Crashes)
			if isFailure(w.lib, unit.Scenario, runner.Job(), rules, &res) {
				signature := search.Signature(unit.Scenario.Mode, res.Verdicts)
				groups[signature] = append(groups[signature], &search.Failure{Seed: seed,
					Events: res.Subject.History.End.N})
			}
		}
		require.Equal(t, want.Hash, got.Hash)
		require.Equal(t, want.Events, got.Events)
		require.Equal(t, want.Crashes, got.Crashes)
		require.EqualValues(t, 300, got.Runs)
		require.Len(t, got.Groups(), len(groups))
		require.Equal(t, i == 0, len(groups) > 0)
		for _, g := range got.Groups() {
			all := groups[g.Signature]
			require.EqualValues(t, len(all), g.Count)
			require.Len(t, g.First, min(2, len(all)))
			for k, f := range g.First {
				require.Equal(t, all[k].Seed, f.Seed)
			}
			fastest := slices.MinFunc(all, func(a, b *search.Failure) int {
				return int(a.Events - b.Events)
			})
			require.Equal(t, fastest.Seed, g.Fastest.Seed)
		}
	}
}

// isFailure says by other means whether a mode breaks a claim.
func isFailure(lib *scenarios.Library, s *scenarios.Scenario, job *model.Job, rules []model.Rule,
	res *scenarios.Result) bool {
	own := *s
	for _, rule := range rules {
		own.Faults = append(own.Faults, faults.FromRule(job, rule))
	}
	if len(search.Unclaimed(lib, &own, res.Subject.History.Reached)) > 0 {
		return false
	}
	return slices.ContainsFunc(res.Verdicts, func(v model.Verdict) bool {
		return v.Result == model.Violated &&
			slices.Contains(s.Claims(), v.Property)
	})
}

// What a witness says replays: the scenario has the signature, the hash and the events.
func TestSweep_WitnessReplays(t *testing.T) {
	w := newSweeper(t)
	s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 100})
	require.NoError(t, err)
	require.NoError(t, s.Run(context.Background()))
	groups := s.Results().Units[0].Groups()
	require.NotEmpty(t, groups)
	for _, g := range groups {
		witness, err := s.Witness(g.Fastest)
		require.NoError(t, err)
		_, res, err := scenarios.Run(w.lib, witness, scenarios.Options{})
		require.NoError(t, err)
		require.Equal(t, g.Signature, search.Signature(witness.Mode, res.Verdicts))
		require.Equal(t, g.Fastest.Hash, fmt.Sprintf("%016x", res.Subject.History.End.Hash))
		require.Equal(t, g.Fastest.Events, res.Subject.History.End.N)
	}
}

// Under faults that a mode does not tolerate, and settings that it does not take for granted, it
// claims nothing: such runs have not held. Asked for any violation they are judged.
func TestSweep_Unclaimed(t *testing.T) {
	w := newSweeper(t)
	s := builtin(t, w.lib, "pipeline-three")
	modes := []*model.Mode{modeNamed(t, w.lib, "at-least-once")}
	counts := func(units []search.Unit, any bool) search.SweepCounts {
		sweep, err := search.NewSweep(w.lib, units, search.Sweeping{First: 1, Last: 200, Any: any})
		require.NoError(t, err)
		require.NoError(t, sweep.Run(context.Background()))
		return sweep.Results().Total()
	}
	units := search.Units(w.lib, s, modes, []*scenarios.Class{classNamed(t, w.lib, "forget-call")})
	c := counts(units, false)
	require.Positive(t, c.Unclaimed)
	require.Zero(t, c.Failed)
	require.Equal(t, c.Runs, c.Held+c.Unclaimed)
	c = counts(units, true)
	require.Zero(t, c.Unclaimed)
	require.Positive(t, c.Failed)

	modes[0] = modeNamed(t, w.lib, "two-phase-commit")
	units = search.Units(w.lib, s, modes, []*scenarios.Class{classNamed(t, w.lib, "txn-timeout")})
	require.Len(t, units, 1)
	require.Equal(t, "txn-timeout", units[0].Class.Name)
	require.Equal(t, c.Runs, counts(units, false).Unclaimed)
}

// Classes that leave the scenario alone are drawn together, one that changes it runs by itself, and
// what does not apply to a mode is left out.
func TestUnits(t *testing.T) {
	w := newSweeper(t)
	s := builtin(t, w.lib, "pipeline-three")
	modes := []*model.Mode{modeNamed(t, w.lib, "at-least-once"), modeNamed(t, w.lib, "snapshot")}
	var classes []*scenarios.Class
	for _, name := range []string{"crash", "lose-barrier", "restore-older", "pause"} {
		classes = append(classes, classNamed(t, w.lib, name))
	}
	var got []string
	for _, u := range search.Units(w.lib, s, modes, classes) {
		text := u.Scenario.Mode.Name
		if u.Class != nil {
			text += "!"
		}
		for _, c := range u.Classes {
			text += " " + c.Name
		}
		got = append(got, text)
	}
	require.Equal(t, []string{"at-least-once crash pause", "snapshot! restore-older",
		"snapshot crash lose-barrier pause"}, got)

	own := *s
	own.Faults = faults.Plan{{}}
	require.Len(t, search.Units(w.lib, &own, modes, nil)[1].Scenario.Faults, 1)
}

// A mode under no class of faults runs without any; the sweep of one seed has one block.
func TestSweep_WithoutFaults(t *testing.T) {
	w := newSweeper(t)
	for i := range w.units {
		w.units[i].Classes = []*scenarios.Class{classNamed(t, w.lib, "no-fault")}
	}
	s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 7, Last: 7})
	require.NoError(t, err)
	require.NoError(t, s.Run(context.Background()))
	total := s.Results().Total()
	require.EqualValues(t, 2, total.Held)
	require.Zero(t, total.Planned)
	require.Equal(t, "no fault", s.Results().Header.Units[0].Plans)
}

// impure is a library whose operator counts its calls.
func impure(calls *atomic.Int64, from int64) *scenarios.Library {
	op := model.Operator{Name: "counted", Kind: model.Stateless,
		Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
			if n := calls.Add(1); n > from {
				in.Value.Num += n
			}
			out.Emit(in.Key, in.Value)
			return st
		}}
	topology := scenarios.Pipeline
	topology.Name = "counted"
	topology.Stages = []model.Stage{{Name: "op", Operator: &op, From: []string{"input"}}}
	lib := scenarios.Builtin()
	lib.Topologies = append(lib.Topologies, &topology)
	return lib
}

// Of the runs that are made again one that differs ends the sweep, with both traces.
func TestSweep_Verify(t *testing.T) {
	w := newSweeper(t)
	opts := search.Sweeping{First: 1, Last: 400, Verify: 1_000_000}
	plain := opts
	plain.Verify = 0
	require.Equal(t, w.merged(w.file(plain, nil, 0)), w.merged(w.file(opts, nil, 0)))

	var calls atomic.Int64
	lib := impure(&calls, 10_000)
	units := search.Units(lib, &scenarios.Scenario{Name: "counted", Seed: 1, Mode: lib.Modes[2],
		Topology: lib.Topologies[len(lib.Topologies)-1]}, lib.Modes[2:3], nil)
	for _, verify := range []int64{20_000, 0} {
		calls.Store(0)
		opts.Verify, opts.Last = verify, 2000
		s, err := search.NewSweep(lib, units, opts)
		require.NoError(t, err)
		err = s.Run(context.Background())
		var d *search.Differing
		require.Equal(t, verify > 0, errors.As(err, &d))
		if verify > 0 {
			require.Regexp(t, `^counted under at-least-once, seed \d+: two runs differ`, err)
			require.NotEmpty(t, d.Traces[0])
			require.NotEqual(t, d.Traces[0], d.Traces[1])
			require.Less(t, s.Results().Total().Runs, int64(2000))
		}
	}
}

// Where a failure that must be seen is not, there is no sweep; where it cannot be, that is said.
func TestSweep_Canary(t *testing.T) {
	w := newSweeper(t)
	s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 1})
	require.NoError(t, err)
	require.Regexp(t, `shows a duplicate under seed \d+$`, s.Results().Header.Units[0].Canary)

	lib := scenarios.Builtin()
	tame := *modeNamed(t, lib, "dedup")
	tame.Name, tame.Cells = "at-least-once", modeNamed(t, lib, "at-least-once").Cells
	lib.Modes = []*model.Mode{&tame}
	units := search.Units(lib, search.WithMode(builtin(t, scenarios.Builtin(), "pipeline-three"),
		&tame), lib.Modes, nil)
	_, err = search.NewSweep(lib, units, search.Sweeping{First: 1, Last: 1})
	require.ErrorIs(t, err, search.ErrNotCaught)

	tame.Name = "tame"
	s, err = search.NewSweep(lib, units, search.Sweeping{First: 1, Last: 1})
	require.NoError(t, err)
	require.Contains(t, s.Results().Header.Units[0].Canary, "does not apply")
}

// The canary of every built-in scenario sings.
func TestSweep_CanaryEverywhere(t *testing.T) {
	lib := scenarios.Builtin()
	for _, topology := range lib.Topologies {
		mode := modeNamed(t, lib, "at-least-once")
		units := search.Units(lib, &scenarios.Scenario{Name: topology.Name, Topology: topology,
			Mode: mode, Seed: 1}, []*model.Mode{mode}, nil)
		s, err := search.NewSweep(lib, units, search.Sweeping{First: 1, Last: 1})
		require.NoError(t, err, topology.Name)
		require.Contains(t, s.Results().Header.Units[0].Canary, "shows a duplicate", topology.Name)
	}
	for _, file := range lib.Files {
		s := builtin(t, lib, file.Name)
		_, err := search.NewSweep(lib, search.Units(lib, s, []*model.Mode{s.Mode}, nil),
			search.Sweeping{First: 1, Last: 1})
		require.NoError(t, err, file.Name)
	}
}

// A shard that would have nothing to do is refused.
func TestSweep_EmptyShard(t *testing.T) {
	w := newSweeper(t)
	_, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 3, Shard: 4,
		Shards: 5})
	require.EqualError(t, err,
		"shard 4/5 has nothing to do: the seeds 1-3 are taken 1 at a time")
}

// A panic in a run reaches the caller with the scenario, the seed and the faults that repeat it.
func TestSweep_PanicNamesTheSeed(t *testing.T) {
	lib := scenarios.Builtin()
	var calls atomic.Int64
	op := model.Operator{Name: "broken", Kind: model.Stateless,
		Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
			if calls.Add(1) > 20_000 {
				panic("planted")
			}
			out.Emit(in.Key, in.Value)
			return st
		}}
	topology := scenarios.Pipeline
	topology.Name = "broken"
	topology.Stages = []model.Stage{{Name: "op", Operator: &op, From: []string{"input"}}}
	mode := modeNamed(t, lib, "at-least-once")
	units := search.Units(lib, &scenarios.Scenario{Name: "broken", Topology: &topology, Mode: mode,
		Seed: 1}, []*model.Mode{mode}, nil)
	s, err := search.NewSweep(lib, units, search.Sweeping{First: 1, Last: 100_000})
	require.NoError(t, err)
	defer func() {
		require.Regexp(t, `(?s)^broken under at-least-once, seed \d+, faults \[.*\]: planted\n`,
			recover())
	}()
	_ = s.Run(context.Background())
	t.Fatal("no panic")
}

// An error of writing stops the sweep, and is its error.
func TestSweep_WriteFails(t *testing.T) {
	w := newSweeper(t)
	full, writes := errors.New("full"), 0
	s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 100_000,
		Write: func([]byte) error {
			if writes++; writes < 4 {
				return nil
			}
			return full
		}})
	require.NoError(t, err)
	require.Equal(t, full, s.Run(context.Background()))
	require.Less(t, s.Results().Total().Runs, int64(100_000))
}

// More seeds take no more memory: of runs that hold the sweep keeps nothing, and all else is by the
// block. What is allowed here is what the worlds allocate where a life is refused and says why.
func TestSweep_MemoryIsFlat(t *testing.T) {
	if underRace {
		t.Skip("the race detector allocates")
	}
	w := newSweeper(t)
	w.units = search.Units(w.lib, builtin(t, w.lib, "pipeline-three"), []*model.Mode{
		modeNamed(t, w.lib, "at-least-once"), modeNamed(t, w.lib, "snapshot")}, nil)
	spent := func(last uint64) (mallocs, heap int64) {
		s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: last, Workers: 1})
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		require.NoError(t, s.Run(context.Background()))
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(s)
		require.EqualValues(t, 2*last, s.Results().Total().Held)
		return int64(after.Mallocs - before.Mallocs), int64(after.HeapAlloc) -
			int64(before.HeapAlloc)
	}
	few, fewHeap := spent(4_000)
	many, manyHeap := spent(12_000)
	t.Logf("%d and %d allocations, %d and %d bytes on the heap", few, many, fewHeap, manyHeap)
	require.Less(t, many-few, int64(2*8_000/2))
	require.Less(t, manyHeap-fewHeap, int64(200_000))
}
