package sim_test

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// actions are those that plan draws.
var actions = []model.Action{model.Crash, model.Pause, model.LoseRequest, model.LoseAnswer,
	model.DelayRequest, model.DuplicateRequest, model.LoseMessage, model.DelayMessage,
	model.DuplicateMessage, model.ReorderMessages, model.RefuseRequest, model.ForgetRequest,
	model.StaleRead}

// plan draws up to three rules from a seed: crashes, pauses and faults of any call or message that
// modes without snapshots know. Other kinds among them would move the golden hash.
func plan(seed uint64, procs int) []model.Rule { return planUpTo(model.Mark, seed, procs) }

// planUpTo draws rules about calls of kinds up to one.
func planUpTo(last model.Kind, seed uint64, procs int) []model.Rule {
	draw := func(what, n uint64, bound int64) int64 {
		return model.Below(model.Draw(seed, model.DrawPlan, what, n, 99), bound)
	}
	var rules []model.Rule
	for i := range uint64(draw(0, 0, 4)) {
		r := model.Rule{Action: actions[draw(1, i, int64(len(actions)))], N: 1 + draw(2, i, 12),
			Proc: model.ProcID(draw(3, i, int64(procs))), Scope: model.EveryEffect,
			For: 1_000_000 + draw(5, i, 90_000_000)}
		var calls []model.Kind
		for _, kind := range model.Kinds() {
			if kind <= last && kind.IsCall() && kind != model.Read && r.Action.Fits(kind) {
				calls = append(calls, kind)
			}
		}
		switch {
		case r.Action.HitsMessage():
			r.Scope, r.Call = model.MessageOnChannel, model.Data+model.Kind(draw(7, i, 2))
			r.Peer = model.ProcID(draw(8, i, int64(procs)))
		case r.Action > model.Pause || draw(6, i, 2) == 0:
			r.Scope, r.Call = model.CallOfKind, calls[draw(7, i, int64(len(calls)))]
		}
		if r.Action <= model.Pause {
			r.Point = model.Point(1 + draw(4, i, 4))
		}
		rules = append(rules, r)
	}
	return rules
}

const hashSeeds = 40

// hashes runs every mode without snapshots under many plans in one world each and returns a hash of
// all.
func hashes(opts sim.Options) uint64 {
	var modes []*model.Mode
	for _, mode := range semantics.All() {
		if !takesSnapshots(mode) {
			modes = append(modes, mode)
		}
	}
	return hashesOf(append(modes, restartAll()), model.Mark, 6, opts)
}

// takesSnapshots reports whether a mode is one that has checkpoints or batches.
func takesSnapshots(mode *model.Mode) bool {
	return mode.State == model.Snapshotted || mode.Restart == model.RestartJob
}

// hashesOf hashes runs of modes under plans about calls of kinds up to one.
func hashesOf(modes []*model.Mode, last model.Kind, procs int, opts sim.Options) uint64 {
	sum := uint64(1)
	for _, mode := range modes {
		w := world(mode, sumOp(), 2, 12)
		for seed := range uint64(hashSeeds) {
			end := w.Run(seed, planUpTo(last, seed, procs), opts).End
			sum = model.Mix(sum^end.Hash, uint64(end.N)^0x9e3779b97f4a7c15)
		}
	}
	return sum
}

// Modes with snapshots run the same again as well, with the trace kept and transplanted.
func TestDeterminism_Snapshots(t *testing.T) {
	for _, mode := range semantics.All() {
		if !takesSnapshots(mode) {
			continue
		}
		run := func(opts sim.Options) uint64 {
			return hashesOf([]*model.Mode{mode}, model.NewestBatch, 7, opts)
		}
		want := run(sim.Options{})
		require.Equal(t, want, run(sim.Options{}), mode.Name)
		require.Equal(t, want, run(sim.Options{Trace: true}), mode.Name)
		require.Equal(t, want, run(sim.Options{Transplant: true}), mode.Name)
	}
}

func sumOp() *model.Operator { return sum }

// The same scenario gives the same hash: again in the same world, alone, as the thousandth run,
// with the trace kept, and under any number of processors.
func TestDeterminism_SameHash(t *testing.T) {
	want := hashes(sim.Options{})
	require.Equal(t, want, hashes(sim.Options{}), "again")
	require.Equal(t, want, hashes(sim.Options{Trace: true}), "with the full trace")
	for _, n := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(n)
		require.Equal(t, want, hashes(sim.Options{}), "GOMAXPROCS %d", n)
		runtime.GOMAXPROCS(old)
	}
	w := world(&semantics.AtLeastOnce, sum, 2, 12)
	first := w.Run(7, plan(7, 6), sim.Options{}).End
	for seed := range uint64(1000) {
		w.Run(seed, plan(seed, 6), sim.Options{})
	}
	require.Equal(t, first, w.Run(7, plan(7, 6), sim.Options{}).End, "after a thousand others")
}

// The golden hash ties the world to its past. It moves when events, draws or their order move:
// then raise scenarios.GoldenVersion, put the new number here and say why in CHANGELOG.md.
func TestDeterminism_GoldenHash(t *testing.T) {
	require.Equal(t, goldenHash, strconv.FormatUint(hashes(sim.Options{}), 16))
}

// A fresh process computes the same hash.
func TestDeterminism_FreshProcess(t *testing.T) {
	if os.Getenv("SIM_PRINT_HASH") != "" {
		os.Stdout.WriteString("hash=" + strconv.FormatUint(hashes(sim.Options{}), 16) + "\n")
		return
	}
	if runtime.GOOS == "js" {
		t.Skip("no processes here")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-test.run=TestDeterminism_FreshProcess", "-test.v")
	cmd.Env = append(os.Environ(), "SIM_PRINT_HASH=1", "GOMAXPROCS=3")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "hash="+strconv.FormatUint(hashes(sim.Options{}), 16))
}

// Replacing every process by one restored from its encoding, before every event, changes nothing:
// State covers all that a process knows.
func TestDeterminism_TransplantIsNotNoticed(t *testing.T) {
	require.Equal(t, hashes(sim.Options{}), hashes(sim.Options{Transplant: true}))
}

// forgetful is a sink that counts in a field that State leaves out.
type forgetful struct {
	model.Process
	seen int64
}

func (f *forgetful) Step(ev *model.Event, s *model.Script) {
	f.seen++
	f.Process.Step(ev, s)
	if f.seen == 3 {
		s.After(1_000_000, f.seen)
	}
}

// And the check can fail: a process with a field that State forgets is noticed.
func TestDeterminism_TransplantNoticesAForgottenField(t *testing.T) {
	mode := semantics.AtMostOnce
	mode.New = func(job *model.Job, task *model.Task) model.Process {
		p := semantics.AtMostOnce.New(job, task)
		if task.Role == model.Sink {
			return &forgetful{Process: p}
		}
		return p
	}
	plain := world(&mode, double, 1, 3).Run(1, nil, sim.Options{}).End.Hash
	moved := world(&mode, double, 1, 3).Run(1, nil, sim.Options{Transplant: true}).End.Hash
	require.NotEqual(t, plain, moved)
}

// Services restore what they encode.
func TestServices_RestoreWhatTheyEncode(t *testing.T) {
	w := world(&semantics.AtLeastOnce, sum, 2, 12)
	w.Run(3, nil, sim.Options{})
	fresh := world(&semantics.AtLeastOnce, sum, 2, 12)
	for id := range model.ServiceEnd {
		var c model.Codec
		w.Service(id).State(&c)
		want := string(c.Bytes())
		require.NotEmpty(t, want)
		c.Rewind()
		fresh.Service(id).State(&c)
		require.Zero(t, c.Left())
		c.Reset()
		fresh.Service(id).State(&c)
		require.Equal(t, want, string(c.Bytes()), model.ServiceNames[id])
	}
}

// The same draws under one seed: removing a fault that was not reached changes nothing, and a
// fault late in the run leaves everything before it as it was.
func TestDeterminism_FaultsMoveNothingBeforeThem(t *testing.T) {
	w := world(&semantics.AtLeastOnce, double, 1, 6)
	clean := *w.Run(5, nil, sim.Options{Trace: true})
	trace := append([]model.Entry(nil), w.Trace()...)
	never := model.Rule{Action: model.Crash, Proc: op, Point: model.Before,
		Scope: model.EveryEffect, N: 100_000}
	require.Equal(t, clean.End, w.Run(5, []model.Rule{never}, sim.Options{}).End)

	late := model.Rule{Action: model.Crash, Proc: op, Point: model.Before,
		Scope: model.EveryEffect, N: 5}
	h := w.Run(5, []model.Rule{late}, sim.Options{Trace: true})
	require.NotZero(t, h.Reached[0])
	require.Equal(t, trace[:h.Reached[0]-1], w.Trace()[:h.Reached[0]-1])
}

// A run allocates nothing in a world that has run before.
func TestWorld_ReusedRunAllocatesNothing(t *testing.T) {
	for _, mode := range semantics.All() {
		w := world(mode, sum, 2, 200)
		rules := []model.Rule{{Action: model.Crash, Proc: op, Point: model.After,
			Scope: model.EveryEffect, N: 30}}
		seed := uint64(0)
		run := func() {
			w.Run(seed%10, rules, sim.Options{})
			seed++
		}
		for range 20 {
			run()
		}
		require.LessOrEqual(t, testing.AllocsPerRun(20, run), 1.0, mode.Name)
	}
}

// tamper changes one thing about the effects of every step of a process.
type tamper struct {
	model.Process
	change func(e *model.Effect)
}

func (p *tamper) Step(ev *model.Event, s *model.Script) {
	from := len(s.Effects)
	p.Process.Step(ev, s)
	for i := range s.Effects[from:] {
		p.change(&s.Effects[from+i])
	}
}

// The hash covers all that an effect says: whatever is changed about effects moves it, also what no
// process looks at.
func TestHash_CoversEveryField(t *testing.T) {
	run := func(change func(e *model.Effect)) uint64 {
		mode := semantics.AtMostOnce
		mode.New = func(job *model.Job, task *model.Task) model.Process {
			p := semantics.AtMostOnce.New(job, task)
			if task.Role == model.Operate {
				return &tamper{Process: p, change: change}
			}
			return p
		}
		return world(&mode, sum, 1, 3).Run(1, nil, sim.Options{}).End.Hash
	}
	plain := run(func(*model.Effect) {})
	require.Equal(t, plain, run(func(*model.Effect) {}))
	for name, change := range map[string]func(e *model.Effect){
		"outputs":  func(e *model.Effect) { e.Outputs++ },
		"reason":   func(e *model.Effect) { e.Reason += "x" },
		"operator": func(e *model.Effect) { e.Token++ },
		"token":    func(e *model.Effect) { e.Msg.Token = 7 },
		"cursor":   func(e *model.Effect) { e.Msg.Cursor = 7 },
		"channel":  func(e *model.Effect) { e.Msg.Channel = 7 },
		"n":        func(e *model.Effect) { e.Msg.N = 7 },
		"try":      func(e *model.Effect) { e.Msg.Try = 7 },
		"path":     func(e *model.Effect) { e.Msg.Record.Path ^= 1 << 59 },
		"part":     func(e *model.Effect) { e.Msg.Record.ID.Part = 1 << 20 },
		"offset":   func(e *model.Effect) { e.Msg.Record.ID.Offset ^= 1 << 40 },
		"text":     func(e *model.Effect) { e.Msg.Record.Value.Text += "x" },
		"number":   func(e *model.Effect) { e.Msg.Record.Value.Num++ },
		"record op": func(e *model.Effect) {
			if e.Kind == model.EffectSend {
				e.Msg.Record.Op += 1 << 20
			}
		},
	} {
		require.NotEqual(t, plain, run(change), name)
	}
}
