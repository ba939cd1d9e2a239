package oracle_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// move is one thing that a scripted sink does: a request, and then it waits.
type move struct {
	request model.Message
	wait    int64
	isFirst bool // it says that the state is in checkpoints
}

// Moves of transaction t in partition 0, and what is written: the record of an offset.
func begin(t, timeout int64) move {
	return move{request: model.Message{Kind: model.BeginTxn, Token: t, Cursor: timeout}}
}

func put(t, offset int64) move {
	return move{request: model.Message{Kind: model.Write, Token: t, Cursor: -1,
		Record: model.Record{ID: model.ID{Offset: offset}, Op: 1}}}
}

func prepare(t, checkpoint int64) move {
	return move{request: model.Message{Kind: model.PrepareTxn, Token: t, Seq: checkpoint}}
}

func commit(t int64) move { return move{request: model.Message{Kind: model.CommitTxn, Token: t}} }

// of has a move say its checkpoint.
func of(checkpoint int64, m move) move {
	m.request.Seq = checkpoint
	return m
}

func commitAll(checkpoint int64) move {
	return move{request: model.Message{Kind: model.CommitTxn, Seq: checkpoint, Flags: model.Whole}}
}

func abort(t int64) move { return move{request: model.Message{Kind: model.AbortTxn, Token: t}} }

func writeBatch(b int64, offsets ...int64) move {
	m := model.Message{Kind: model.WriteBatch, Token: b}
	for _, offset := range offsets {
		m.Parts = append(m.Parts, model.Record{ID: model.ID{Offset: offset}, Op: 1})
	}
	return move{request: m}
}

// snapshots comes first where the state is in checkpoints.
func snapshots() move { return move{isFirst: true} }

func complete(checkpoint int64) move {
	return move{request: model.Message{Kind: model.Completion, Seq: checkpoint, N: 1}}
}

func plan(b int64) move { return move{request: model.Message{Kind: model.PlanBatch, Seq: b}} }

// poll is time for readers.
func poll() move { return pause(10 * ms) }

func pause(length int64) move { return move{wait: length} }

// at has a move made in another partition.
func at(part int64, m move) move {
	m.request.Channel = int16(part)
	if m.request.Kind == model.Write || m.request.Kind == model.WriteBatch {
		m.request.Seq = part
	}
	return m
}

// player is a sink that makes moves, whatever comes.
type player struct {
	moves []move
	next  int
}

func (p *player) Start(_ model.Self, s *model.Script) {
	p.next = 0
	p.play(s)
}

func (p *player) Step(ev *model.Event, s *model.Script) {
	if ev.Kind != model.Delivered {
		p.play(s)
	}
}

func (p *player) play(s *model.Script) {
	if p.next == len(p.moves) {
		return
	}
	m := p.moves[p.next]
	p.next++
	if m.wait > 0 {
		s.After(m.wait, 1)
		return
	}
	s.Call(m.request.Kind.Service(), m.request)
}

func (p *player) State(*model.Codec) {}

// played is a mode whose first sink makes moves.
func played(moves []move) *model.Mode {
	mode := semantics.AtMostOnce
	if moves[0].isFirst {
		moves, mode.State, mode.Restart = moves[1:], model.Snapshotted, model.RestartJob
	}
	build := mode.New
	mode.New = func(job *model.Job, task *model.Task) model.Process {
		if task.Role == model.Sink && task.Subtask == 0 {
			return &player{moves: moves}
		}
		return build(job, task)
	}
	return &mode
}

// onSight are the properties that moves are about.
var onSight = []string{"progress", "mechanism", "atomic-visibility", "global-visibility",
	"agreement"}

// What readers see of transactions and batches, move by move.
func TestVisibility(t *testing.T) {
	for _, s := range []struct {
		name  string
		sink  *model.SinkSpec
		moves []move
		want  string
	}{
		{"a transaction", &sim.TransactionalLog, []move{begin(1, 0), put(1, 0), poll(), put(1, 1),
			prepare(1, 1), poll(), commit(1)}, ""},
		{"it is aborted", &sim.TransactionalLog, []move{begin(1, 0), put(1, 0), poll(), abort(1)},
			""},
		{"nobody decides", &sim.TransactionalLog, []move{begin(1, 0), put(1, 0)},
			"progress hanging"},
		{"nobody decides, and nobody waits", &sim.TransactionalLog, []move{begin(1, 0)}, ""},
		{"its time decides, before the next request", &sim.TransactionalLog, []move{begin(1, 5*ms),
			put(1, 0), pause(6 * ms), commit(1)}, ""},
		{"its id begins again", &sim.TransactionalLog, []move{begin(1, 0), put(1, 0), begin(1, 0),
			put(1, 1), commit(1)}, ""},
		{"an older one holds back half of what is committed", &sim.TransactionalLog, []move{
			begin(1, 0), begin(2, 0), put(1, 0), put(2, 1), put(1, 2), commit(1), poll(),
			commit(2)}, "atomic-visibility torn-read"},
		{"and for ever", &sim.TransactionalLog, []move{begin(1, 0), begin(2, 0), put(1, 0),
			put(2, 1), put(1, 2), commit(1), poll()},
			"progress hanging; atomic-visibility torn torn-read"},
		{"what is held back as a whole is not torn", &sim.TransactionalLog, []move{begin(2, 0),
			put(2, 1), begin(1, 0), put(1, 0), put(1, 2), commit(1), poll(), abort(2)}, ""},
		{"uncommitted, and committed later", &sim.TransactionalLogUncommitted, []move{begin(1, 0),
			put(1, 0), poll(), put(1, 1), commit(1)}, "atomic-visibility early-read torn-read"},
		{"uncommitted, but committed in time", &sim.TransactionalLogUncommitted, []move{
			begin(1, 0), put(1, 0), put(1, 1), commit(1)}, ""},
		{"uncommitted, and aborted in time", &sim.TransactionalLogUncommitted, []move{
			begin(1, 0), put(1, 0), abort(1)}, "atomic-visibility dirty-read"},
		{"uncommitted, and aborted later", &sim.TransactionalLogUncommitted, []move{
			begin(1, 0), put(1, 0), poll(), abort(1)}, "atomic-visibility dirty-read early-read"},
		{"two partitions at once", &sim.TransactionalLog, []move{begin(1, 0), at(1, begin(1, 0)),
			put(1, 0), at(1, put(1, 1)), prepare(1, 1), at(1, prepare(1, 1)), poll(), commitAll(1)},
			""},
		{"two partitions at once, of which one is gone", &sim.TransactionalLog, []move{begin(1, 0),
			at(1, begin(1, 0)), put(1, 0), at(1, put(1, 1)), prepare(1, 1), at(1, prepare(1, 1)),
			at(1, abort(1)), commitAll(2)}, ""},
		{"two partitions one by one", &sim.TransactionalLog, []move{begin(1, 0), at(1, begin(1, 0)),
			put(1, 0), at(1, put(1, 1)), prepare(1, 1), at(1, prepare(1, 1)), commit(1), poll(),
			at(1, commit(1))}, "global-visibility fractured-read"},
		{"one of two partitions", &sim.TransactionalLog, []move{begin(1, 0), at(1, begin(1, 0)),
			put(1, 0), at(1, put(1, 1)), prepare(1, 1), at(1, prepare(1, 1)), commit(1),
			at(1, abort(1))}, "global-visibility torn fractured-read; agreement conflict"},
		{"not prepared, one by one", &sim.TransactionalLog, []move{begin(1, 0),
			at(1, begin(1, 0)), put(1, 0), at(1, put(1, 1)), of(1, commit(1)), poll(),
			at(1, of(1, commit(1)))}, "global-visibility fractured-read"},
		{"one of two that was not prepared", &sim.TransactionalLog, []move{begin(1, 0),
			at(1, begin(1, 0)), put(1, 0), at(1, put(1, 1)), of(1, commit(1)),
			at(1, of(1, abort(1)))}, ""},
		{"of two checkpoints", &sim.TransactionalLog, []move{begin(1, 0), at(1, begin(1, 0)),
			put(1, 0), at(1, put(1, 1)), prepare(1, 1), at(1, prepare(1, 2)), commit(1),
			at(1, abort(1))}, ""},
		{"decided", &sim.TransactionalLog, []move{snapshots(), begin(1, 0), put(1, 0),
			prepare(1, 1), complete(1), commit(1)}, ""},
		{"decided later", &sim.TransactionalLog, []move{snapshots(), begin(1, 0), put(1, 0),
			prepare(1, 1), commit(1), complete(1)}, "agreement premature-commit"},
		{"decided for another", &sim.TransactionalLog, []move{snapshots(), begin(1, 0), put(1, 0),
			prepare(1, 2), complete(1), commit(1)}, "agreement premature-commit"},
		{"decided with the next", &sim.TransactionalLog, []move{snapshots(), begin(1, 0), put(1, 0),
			prepare(1, 1), complete(2), commit(1)}, ""},
		{"decided, and not prepared", &sim.TransactionalLog, []move{snapshots(), complete(1),
			begin(1, 0), put(1, 0), of(1, commit(1))}, "agreement premature-commit"},
		{"decided of one of two", &sim.TransactionalLog, []move{snapshots(), begin(1, 0),
			at(1, begin(1, 0)), put(1, 0), at(1, put(1, 1)), prepare(1, 1), at(1, prepare(1, 2)),
			complete(1), commitAll(2)}, "agreement premature-commit"},
		{"a batch is decided", &sim.BatchLog, []move{snapshots(), complete(1), writeBatch(1, 0, 1)},
			""},
		{"a batch is not decided", &sim.BatchLog, []move{snapshots(), writeBatch(1, 0, 1),
			complete(1)}, "agreement premature-commit"},
		{"a batch is planned", &sim.BatchLog, []move{snapshots(), plan(1),
			writeBatch(1, 0, 1)}, ""},
		{"another batch is planned", &sim.BatchLog, []move{snapshots(), plan(2),
			writeBatch(1, 0, 1)}, "agreement premature-commit"},
		{"a batch", &sim.BatchLog, []move{writeBatch(1, 0, 1), poll(), writeBatch(1, 0, 1)}, ""},
		{"batches of two partitions", &sim.BatchLog, []move{writeBatch(1, 0, 1), poll(),
			at(1, writeBatch(1, 2))}, "global-visibility fractured-read"},
		{"a batch that is taken again", &sim.AppendLog, []move{writeBatch(1, 0, 1), poll(),
			writeBatch(1, 0, 1)}, "global-visibility fractured-read"},
		{"a batch of what is there, and more", &sim.IdentityLog, []move{writeBatch(1, 0, 1), poll(),
			writeBatch(2, 1, 2)}, ""},
		{"a batch that comes again with more", &sim.IdentityLog, []move{writeBatch(1, 0, 1), poll(),
			writeBatch(1, 1, 2, 2, 3)}, "global-visibility fractured-read"},
		{"rows of two partitions", &sim.TableByIdentity, []move{writeBatch(1, 0, 1), poll(),
			at(1, writeBatch(1, 2))}, "global-visibility fractured-read"},
		{"rows that come again with others", &sim.TableByIdentity, []move{writeBatch(1, 0, 1),
			poll(), writeBatch(1, 1, 2)}, "global-visibility fractured-read"},
		{"a batch of rows", &sim.TableByIdentity, []move{writeBatch(1, 0, 1), poll(),
			writeBatch(1, 0, 1)}, ""},
	} {
		t.Run(s.name, func(t *testing.T) {
			b := newBenchAt(t, played(s.moves), s.sink, chain(1, 2, &double), records(quick, ""))
			report := b.run(1)
			for _, call := range b.last.Calls {
				assert.NotEqual(t, model.Unknown, call.Outcome)
			}
			for _, v := range b.check() {
				if slices.Contains(onSight, v.Property) {
					assert.Empty(t, oracle.Disagreement(report, []model.Verdict{v}))
				}
			}
			if got := brokenAmong(report, onSight); !assert.Equal(t, sorted(s.want), got) {
				t.Log("\n" + report.String() + b.trace())
			}
		})
	}
}
