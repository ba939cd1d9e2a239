package scenarios

import (
	"slices"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// Class is a fault class: one column of the matrix. It says which single faults it consists of;
// plans of the class are drawn from a seed, or placed everywhere in turn.
type Class struct {
	Name string
	Code string // the code in the literature's tables: "F1"
	Says string
	// Action is the fault of the class; 0: nothing goes wrong. A plan of the class has one fault of
	// it, and perhaps one crash besides.
	Action model.Action
	For    int64 // Rule.For of the action, virtual ns
	// Kinds are those of the messages and requests that the fault strikes; nil: all.
	Kinds []model.Kind
	// Vary changes the scenario itself, on a copy: a class need not be a fault alone. nil: nothing.
	Vary func(*Scenario)

	// Needs reports whether a mode has what the fault strikes, or what the class varies; nil: every
	// mode has.
	Needs func(*model.Mode) bool
}

// Applies reports whether the class says anything of a mode.
func (c *Class) Applies(mode *model.Mode) bool { return c.Needs == nil || c.Needs(mode) }

const millisecond = 1_000_000

// Classes lists the built-in fault classes.
func Classes() []*Class {
	return slices.Concat(generalClasses(), barrierClasses(), noticeClasses(), varyingClasses())
}

// generalClasses are about processes, messages and services, whatever the mode.
func generalClasses() []*Class {
	records := []model.Kind{model.Data, model.Ack}
	return []*Class{
		{Name: "no-fault", Code: "F0", Says: "nothing goes wrong"},
		{Name: "crash", Code: "F1", Action: model.Crash,
			Says: "one or two crashes, of any process at any effect, also during recovery"},
		{Name: "lose-request", Code: "F2", Action: model.LoseRequest,
			Says: "a request never reaches its service; perhaps a crash"},
		{Name: "lose-answer", Code: "F2", Action: model.LoseAnswer,
			Says: "a service applies a request and its answer is lost; perhaps a crash"},
		{Name: "delay-call", Code: "F2", Action: model.DelayRequest, For: 60 * millisecond,
			Says: "a request is applied long after its caller gave up waiting; perhaps a crash"},
		{Name: "duplicate-call", Code: "F2", Action: model.DuplicateRequest, For: 1 * millisecond,
			Says: "a request is applied twice; perhaps a crash"},
		{Name: "pause", Code: "F5", Action: model.Pause, For: 20 * millisecond,
			Says: "a process stands still, not long enough to be replaced; perhaps a crash"},
		{Name: "zombie", Code: "F5", Action: model.Pause, For: 80 * millisecond,
			Says: "a process stands still, is replaced, and goes on; perhaps a crash"},
		{Name: "lose-message", Code: "F4a", Action: model.LoseMessage, Kinds: records,
			Says: "a message between tasks, data or ack, never arrives; perhaps a crash"},
		{Name: "duplicate-message", Code: "F4b", Kinds: records,
			Action: model.DuplicateMessage, For: 1 * millisecond,
			Says: "a message between tasks, data or ack, arrives twice; perhaps a crash"},
		{Name: "reorder-message", Code: "F4c", Kinds: records,
			Action: model.ReorderMessages, For: 20 * millisecond,
			Says: "a message between tasks arrives after the next of its kind; perhaps a crash"},
		{Name: "delay-message", Code: "F4c", Kinds: records,
			Action: model.DelayMessage, For: 60 * millisecond,
			Says: "a message between tasks arrives long after its time; perhaps a crash"},
		{Name: "partition", Code: "F5", Action: model.CutLink, For: 40 * millisecond,
			Says: "nothing passes between two parties for longer than a call; perhaps a crash"},
		{Name: "service-crash", Action: model.CrashService, For: 50 * millisecond,
			Says: "a service is down for a while and has forgotten nothing; perhaps a crash"},
		{Name: "refuse-call", Action: model.RefuseRequest,
			Says: "a service refuses a request, and says so; perhaps a crash"},
		{Name: "forget-call", Action: model.ForgetRequest,
			Says: "a service acknowledges a request and loses what it was told; perhaps a crash"},
		{Name: "tear-call", Action: model.TearRequest, Needs: uploads,
			Says: "a service acknowledges an upload and keeps half of it; perhaps a crash"},
		{Name: "stale-read", Action: model.StaleRead,
			Says: "a service answers as it was before its last change; perhaps a crash"},
		{Name: "truncate", Code: "F10", Action: model.TruncateInput,
			Says: "the input log loses records from its beginning; perhaps a crash"},
		{Name: "poison", Action: model.PoisonRecord,
			Says: "a task fails on a record, again and again; perhaps a crash"},
		{Name: "short-horizon", Code: "F6", Action: model.Crash,
			Needs: has("horizon"), Vary: shortHorizon,
			Says: "one or two crashes, and more is sent again than duplicates are looked for in"},
	}
}

// barrierClasses are about what cuts a stream into checkpoints. A late barrier is overtaken by data
// behind it. That a barrier overtakes data before it is part of reorder-message and delay-message.
func barrierClasses() []*Class {
	classes := []*Class{
		{Name: "lose-barrier", Code: "F4d", Action: model.LoseMessage,
			Says: "a barrier never arrives; perhaps a crash"},
		{Name: "duplicate-barrier", Action: model.DuplicateMessage, For: 1 * millisecond,
			Says: "a barrier arrives twice; perhaps a crash"},
		{Name: "reorder-barrier", Code: "F4c",
			Action: model.ReorderMessages, For: 20 * millisecond,
			Says: "a barrier arrives after data that were sent behind it; perhaps a crash"},
		{Name: "delay-barrier", Code: "F4c", Action: model.DelayMessage, For: 60 * millisecond,
			Says: "a barrier arrives when the next ones have; perhaps a crash"},
	}
	for _, c := range classes {
		c.Kinds, c.Needs = []model.Kind{model.Barrier}, sendsBarriers
	}
	return classes
}

// noticeClasses are about what a coordinator tells tasks, and they tell it.
func noticeClasses() []*Class {
	classes := []*Class{
		{Name: "lose-notice", Action: model.LoseMessage,
			Says: "what coordinator and tasks tell each other never arrives; perhaps a crash"},
		{Name: "delay-notice", Action: model.DelayMessage, For: 60 * millisecond,
			Says: "what coordinator and tasks tell each other arrives late; perhaps a crash"},
		{Name: "duplicate-notice", Action: model.DuplicateMessage, For: 1 * millisecond,
			Says: "what coordinator and tasks tell each other arrives twice; perhaps a crash"},
	}
	for _, c := range classes {
		c.Code, c.Kinds, c.Needs = "F3", notices(), sendsNotices
	}
	return classes
}

// notices are the kinds of what goes between the coordinator and a task.
func notices() []model.Kind {
	return slices.DeleteFunc(model.Kinds(), func(k model.Kind) bool { return !k.IsNotice() })
}

// varyingClasses take something else than usual from a mode that has the choice.
func varyingClasses() []*Class {
	return []*Class{
		{Name: "restore-older", Code: "F14", Action: model.Crash,
			Needs: has("restore"), Vary: with("restore", 1),
			Says: "one or two crashes, and a restart goes back behind the newest checkpoint"},
		{Name: "txn-timeout", Code: "F7", Action: model.Pause, For: 80 * millisecond,
			Needs: has("txn-timeout"), Vary: with("txn-timeout", 40*millisecond),
			Says: "a process stands still for longer than transactions live; perhaps a crash"},
		{Name: "uncommitted-reader", Code: "F12", Action: model.Crash,
			Needs: writesTransactions, Vary: readUncommitted,
			Says: "one or two crashes, and readers who do not wait for a commit"},
		{Name: "late-end", Code: "F13", Action: model.DelayRequest, For: 35 * millisecond,
			Kinds: []model.Kind{model.CommitTxn, model.AbortTxn},
			Needs: has("pool", "epochs"), Vary: reuseIDs,
			Says: "the end of a transaction comes late, when its id has another; perhaps a crash"},
		{Name: "late-end-epochs", Code: "F13", Action: model.DelayRequest, For: 35 * millisecond,
			Kinds: []model.Kind{model.CommitTxn, model.AbortTxn},
			Needs: has("pool", "epochs"), Vary: with("pool", 2),
			Says: "the same, and it names its own epoch; perhaps a crash"},
		{Name: "aliased-snapshot", Code: "F17", Action: model.Crash,
			Needs: has("aliased"), Vary: with("aliased", 1),
			Says: "one or two crashes, and snapshots that live state writes into"},
		{Name: "counted", Action: model.Crash,
			Needs: has("alignment"), Vary: with("alignment", 1),
			Says: "one or two crashes, and barriers that are counted and do not hold back data"},
		{Name: "unaligned", Action: model.Crash,
			Needs: has("alignment", "work"), Vary: underLoad(2),
			Says: "one or two crashes, and barriers that overtake what waits and keep it"},
		{Name: "unaligned-dropped", Action: model.Crash,
			Needs: has("alignment", "work"), Vary: underLoad(3),
			Says: "one or two crashes, and barriers that overtake what waits and forget it"},
		{Name: "probing", Action: model.Crash,
			Needs: has("abort-lingering"), Vary: with("abort-lingering", 2),
			Says: "one or two crashes, and a restart finds what lingers by initialising ids"},
		{Name: "global-commit", Action: model.Crash,
			Needs: has("global"), Vary: with("global", 1),
			Says: "one or two crashes, and one request commits a checkpoint for all sinks"},
		{Name: "graceful-stop", Action: model.Crash,
			Needs: stops, Vary: with("stop-at", 2),
			Says: "one or two crashes, and the job stops with a savepoint and is started again"},
	}
}

// has is the need for parameters.
func has(params ...string) func(*model.Mode) bool {
	return func(m *model.Mode) bool {
		return !slices.ContainsFunc(params, func(name string) bool { return m.Param(name) == nil })
	}
}

// sendsBarriers reports whether a mode cuts its streams: for checkpoints, or into batches.
func sendsBarriers(m *model.Mode) bool {
	return m.Param("alignment") != nil || slices.Contains(m.Extra, "driver")
}

// sendsNotices reports whether a mode has a coordinator of checkpoints, or of batches.
func sendsNotices(m *model.Mode) bool {
	return slices.Contains(m.Extra, "coordinator") || slices.Contains(m.Extra, "driver")
}

// uploads reports whether a mode uploads state.
func uploads(m *model.Mode) bool {
	return m.State == model.Snapshotted || m.State == model.Scattered
}

// stops reports whether a mode can stop with a savepoint.
func stops(m *model.Mode) bool {
	return m.Param("stop-at") != nil && m.Restart == model.RestartJob
}

func writesTransactions(m *model.Mode) bool { return m.Sink == sim.TransactionalLog.Name }

// with has a mode take another value of a parameter.
func with(name string, value int64) func(*Scenario) {
	return func(s *Scenario) { s.setParam(model.ParamValue{Name: name, Value: value}) }
}

// underLoad has a mode take barriers otherwise while its operators are busy, so that something
// waits for a barrier to pass it.
func underLoad(alignment int64) func(*Scenario) {
	return func(s *Scenario) {
		s.setParam(model.ParamValue{Name: "alignment", Value: alignment})
		s.setParam(model.ParamValue{Name: "work", Value: 20 * millisecond})
	}
}

// readUncommitted has readers see what was not committed.
func readUncommitted(s *Scenario) {
	if writesTransactions(s.Mode) {
		s.Sink = sim.TransactionalLogUncommitted.Name
	}
}

// reuseIDs has a mode use two transactional ids in turn, and not say which transaction of an id it
// means. With one id a transaction that waits for its commit would be aborted by the next.
func reuseIDs(s *Scenario) {
	s.setParam(model.ParamValue{Name: "pool", Value: 2})
	s.setParam(model.ParamValue{Name: "epochs", Value: 0})
}

// shortHorizon has a mode that remembers what it took up remember one input, and not look at
// numbers, while its sources run far ahead of what they commit. A restart to a checkpoint looks for
// no duplicates, so there is no horizon that what is sent again could lie beyond.
func shortHorizon(s *Scenario) {
	for _, p := range []model.ParamValue{{Name: "horizon", Value: 1}, {Name: "in-order", Value: 0},
		{Name: "window", Value: 16}, {Name: "commit-every", Value: 16}} {
		s.setParam(p)
	}
}

// setParam sets a parameter, if the mode has it.
func (s *Scenario) setParam(p model.ParamValue) {
	if s.Mode.Param(p.Name) == nil {
		return
	}
	for i := range s.Params {
		if s.Params[i].Name == p.Name {
			s.Params[i].Value = p.Value
			return
		}
	}
	s.Params = append(s.Params, p)
}

// The ordinals of the draws of a plan, beside those that faults.Draw makes for each fault.
const (
	drawCount = 1 << 32
)

// Draw appends a plan of the class to into. It is drawn from the seed alone, within what an extent
// of the scenario offers; where it has a crash, anchors may lie beyond and not be reached.
func (c *Class) Draw(seed uint64, extent *model.Extent, into []model.Rule) []model.Rule {
	if c.Action == 0 {
		return into
	}
	coins, nth := model.Draw(seed, model.DrawPlan, drawCount, 0, 0), uint64(0)
	if coins&3 == 3 {
		nth = 2 // it may strike in what the crash makes longer: the recovery from it
	}
	rule, ok := c.Places(extent).Draw(seed, nth)
	if !ok {
		return into
	}
	into = append(into, rule)
	if coins&1 == 0 {
		return into
	}
	if crash, ok := faults.Draw(seed, 1, extent, model.Crash); ok {
		into = append(into, crash)
	}
	return into
}

// Places lists every placement of the fault of the class in a run of the given extent.
func (c *Class) Places(extent *model.Extent) faults.Places {
	return faults.Places{Action: c.Action, For: c.For, Kinds: c.Kinds, Extent: extent}
}

// IsTolerated reports whether a mode says that it tolerates a fault: whether the class that the
// fault belongs to is in the mode's envelope.
func (lib *Library) IsTolerated(mode *model.Mode, f faults.Fault) bool {
	for _, c := range lib.Classes {
		if c.has(f) {
			return slices.Contains(mode.Tolerates, c.Name)
		}
	}
	return false
}

// has reports whether a fault is of the class. A pause belongs to the class whose pauses end as it
// does: before the process is replaced, or after.
func (c *Class) has(f faults.Fault) bool {
	if f.Action != model.Pause {
		return c.Action == f.Action && (c.Kinds == nil || slices.Contains(c.Kinds, f.Call))
	}
	return c.Action == model.Pause && (c.For > sim.SuspectAfter) == (f.For > sim.SuspectAfter)
}
