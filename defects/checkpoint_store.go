package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var eachItsOwnNewest = Defect{
	Name: "each-its-own-newest", Kind: &CheckpointStore, IsKindOnly: true, Modes: checkpointModes,
	Says:     "a task begins from the part that it stored last, be its checkpoint complete or not",
	Origin:   "bytewax/bytewax#181",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash op/0 after effect 3 of checkpoint 1"}},
	Service: before(model.StateStore, front{
		ask: func(_ *front, req *model.Message, _ *model.Answer) bool {
			if req.Kind == model.Download {
				req.Seq = 0
			}
			return true
		},
	}),
}

var restoreTakesTheTail = Defect{
	Name: "restore-takes-the-tail", Kind: &CheckpointStore, IsKindOnly: true,
	Modes: checkpointModes,
	Says: "a restore removes the end of what it has read, and a second one from the same " +
		"checkpoint finds the rest",
	Origin:   "apache/flink#9597 (FLINK-13940)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "page-views", Records: 4,
		Set: everyMillisecond,
		Plan: []string{"crash coordinator/0 after completion 1",
			"crash source/0 after download 1"}},
	Service: only(model.StateStore, func(s behind) model.Service {
		return &tailRemover{behind: s}
	}),
}

// tailRemover stands in front of a state store. A part of one record has no tail.
type tailRemover struct {
	behind
	read []part // in the order in which they were
}

// part is a task's part of a checkpoint.
type part struct{ task, checkpoint int64 }

// Reset implements model.Service.
func (t *tailRemover) Reset() {
	t.Service.Reset()
	t.read = t.read[:0]
}

// Serve implements model.Service.
func (t *tailRemover) Serve(now int64, req *model.Message, ans *model.Answer) {
	t.Service.Serve(now, req, ans)
	if req.Kind != model.Download || len(ans.Records) < 2 {
		return
	}
	p := part{req.Token, req.Seq}
	if !slices.Contains(t.read, p) {
		t.read = append(t.read, p)
		return
	}
	ans.Records = ans.Records[:len(ans.Records)-1]
	ans.N = min(ans.N, int64(len(ans.Records)))
}

// State implements model.Service.
func (t *tailRemover) State(c *model.Codec) {
	t.Service.State(c)
	model.Slice(c, &t.read, func(p *part) {
		c.Int64(&p.task)
		c.Int64(&p.checkpoint)
	})
}

var startsEmpty = Defect{
	Name: "starts-empty", Kind: &CheckpointStore,
	Modes: gatedModes, IsKindOnly: true,
	Says:     "a job that fails while a checkpoint is under way finds no completed one",
	Origin:   "apache/iceberg#10892 (FLINK-34518)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 after checkpoint-id 2"}},
	Service: before(model.StateStore, front{ask: completesAnyway, tell: hidesCompleted}),
}

// hidesCompleted answers that there is no checkpoint where a later one was begun; n is the latest.
func hidesCompleted(f *front, req *model.Message, ans *model.Answer) {
	switch req.Kind {
	case model.NextCheckpoint:
		f.n = ans.Seq
	case model.Newest:
		if ans.Seq < f.n {
			ans.Seq = 0
		}
	}
}

// completesAnyway lets those who know of no checkpoint complete one.
func completesAnyway(f *front, req *model.Message, _ *model.Answer) bool {
	if req.Kind == model.Completion && req.Cursor == 0 {
		var ans model.Answer
		newest := *req
		newest.Kind, newest.Seq, newest.N = model.Newest, 0, 0
		f.Service.Serve(0, &newest, &ans)
		req.Cursor = ans.Seq
	}
	return true
}

var changesSinceAborted = Defect{
	Name: "changes-since-aborted", Kind: &CheckpointStore, Modes: checkpointModes,
	IsKindOnly: true,
	Says: "a part holds what has changed since an aborted checkpoint, on top of the last " +
		"completed one",
	Origin:   "apache/flink#17774 (FLINK-24611)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 3,
		Set:  everyMillisecond,
		Plan: []string{"refuse call upload 2 of source/0"}},
	Process: func(_ *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Operate {
			return p
		}
		return &incremental{Process: p}
	},
}

// incremental stands in front of an operator, and uploads what has changed.
//
//	base     its part of the completed checkpoint
//	last     its state at the last upload
//	pending  its part of that checkpoint, made is its number
type incremental struct {
	model.Process
	base, last, pending []model.Record
	made                int64
}

// Start implements model.Process.
func (p *incremental) Start(self model.Self, s *model.Script) {
	p.base, p.last, p.pending, p.made = nil, nil, nil, 0
	p.Process.Start(self, s)
}

// Step implements model.Process.
func (p *incremental) Step(ev *model.Event, s *model.Script) {
	switch {
	case isAnswer(ev, model.Download):
		p.base = slices.Clone(ev.Ans.Records[:min(ev.Ans.N, int64(len(ev.Ans.Records)))])
		p.last = slices.Clone(p.base)
	case isMessage(ev, model.Complete) && ev.Msg.Seq == p.made:
		p.base = slices.Clone(p.pending)
	}
	from := len(s.Effects)
	p.Process.Step(ev, s)
	for i := from; i < len(s.Effects); i++ {
		if e := &s.Effects[i]; is(e, model.Upload) {
			p.upload(&e.Msg)
		}
	}
}

// upload has a part refer to the completed one for what has not changed since the last upload.
func (p *incremental) upload(m *model.Message) {
	state := m.Parts[:m.N]
	p.pending, p.made = nil, m.Seq
	for _, rec := range state {
		if !slices.Contains(p.last, rec) {
			p.pending = append(p.pending, rec)
			continue
		}
		i := slices.IndexFunc(p.base, func(b model.Record) bool { return b.Key == rec.Key })
		if i >= 0 {
			p.pending = append(p.pending, p.base[i])
		}
	}
	p.last = slices.Clone(state)
	m.Parts = append(slices.Clone(p.pending), m.Parts[m.N:]...)
	m.N = int64(len(p.pending))
}

// State implements model.Process.
func (p *incremental) State(c *model.Codec) {
	p.Process.State(c)
	model.Slice(c, &p.base, c.Record)
	model.Slice(c, &p.last, c.Record)
	model.Slice(c, &p.pending, c.Record)
	c.Int64(&p.made)
}

var completedByTwo = Defect{
	Name: "completed-by-two", Kind: &CheckpointStore,
	Modes: []string{"two-phase-commit"}, IsKindOnly: true,
	Says:     "two runs of a job complete checkpoints in one store, and neither compares",
	Origin:   "apache/spark#25965 (SPARK-26425)",
	Property: "exactly-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Set: everyMillisecond,
		Plan: []string{"lose request of completion 2 from coordinator/0",
			"delay call completion 1 of coordinator/0 by 50ms"}},
	Service: before(model.StateStore, front{
		ask: func(f *front, req *model.Message, _ *model.Answer) bool {
			if req.Flags &^= model.Fenced; req.Kind == model.Completion {
				req.Cursor = f.n
			}
			return true
		},
		tell: func(f *front, req *model.Message, ans *model.Answer) {
			if req.Kind == model.Completion {
				f.n = ans.Seq
			}
		},
	}),
}

var deletedWhileNeeded = Defect{
	Name: "deleted-while-needed", Kind: &CheckpointStore,
	Modes: gatedModes, IsKindOnly: true,
	Says: "a snapshot is deleted as soon as the next is begun, and what is gone is taken for " +
		"empty",
	Origin:   "hazelcast/hazelcast#24576",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash coordinator/0 after effect 1 of checkpoint 2"}},
	Set: []model.ParamValue{{Name: "early-clean-up", Value: 1}},
	Process: func(_ *model.Job, task *model.Task, p model.Process) model.Process {
		return meddle(task, p, meddling{heard: answers(model.Download, goneIsEmpty)})
	},
}

// goneIsEmpty has a part that is not there stand for an empty one.
func goneIsEmpty(ans *model.Answer) { ans.Found = true }

var voteWithoutUpload = Defect{
	Name: "vote-without-upload", Kind: &CheckpointStore, Modes: checkpointModes, IsKindOnly: true,
	Says: "a task votes for a checkpoint although its part was not stored, and what is gone is " +
		"taken for empty",
	Origin:   "apache/seatunnel#10574",
	Property: "exactly-once-state",
	Shown: Case{Topology: "transfers", Records: 1,
		Set:  everyMillisecond,
		Plan: []string{"refuse call upload 1 of ledger/0"}},
	Process: of(model.Operate, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			switch {
			case ev.Kind != model.Answered:
			case ev.Msg.Kind == model.Upload:
				ev.Ans.Outcome = model.Done
			case ev.Msg.Kind == model.Download:
				goneIsEmpty(&ev.Ans)
			}
			return true
		},
	}),
}
