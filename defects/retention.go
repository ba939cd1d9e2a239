package defects

import "github.com/oncesim/oncesim/model"

var resumeAtLatest = Defect{
	Name: "resume-at-latest", Kind: &Retention,
	Modes:    replayModes,
	Says:     "a restart without a position of its own begins at the end of the input",
	Origin:   "debezium/debezium#1220 (DBZ-1730)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash source/0 after fetch 1"}},
	Process: of(model.Source, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Latest) {
				ev.Msg.Kind = model.Position
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.Position) && m.self.Life > 1 {
				e.Msg.Kind = model.Latest
			}
		}),
	}),
}

var positionByCount = Defect{
	Name: "position-by-count", Kind: &Retention, IsKindOnly: true, Modes: []string{"at-most-once"},
	Says:     "a reader counts what it is given, and over a gap its position falls behind",
	Origin:   "apache/spark#20836 (SPARK-23685)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 3,
		Plan: []string{"truncate input/0 before 1 at fetch 1 of source/0"}},
	Process: of(model.Source, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Fetch) {
				ev.Ans.Seq = ev.Msg.Seq
			}
			return true
		},
	}),
}

var tailMissing = Defect{
	Name: "short-tail", Kind: &Retention,
	Modes:    replayModes,
	Says:     "a batch that is listed again lacks its last record, and the position passes it",
	Origin:   "delta-io/delta#6314",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose answer of fetch 2 from source/0"}},
	Process: of(model.Source, meddling{
		heard: func(_ *meddler, ev *model.Event, _ *model.Script) bool {
			if isAnswer(ev, model.Fetch) && ev.Msg.Try > 0 &&
				ev.Ans.N > 0 {
				ev.Ans.Records = ev.Ans.Records[:ev.Ans.N-1]
			}
			return true
		},
	}),
}

// inputLife is how long the log of retentionByAge keeps what it has handed out.
const inputLife = 4_000_000

var retentionByAge = Defect{
	Name: "retention-by-age", Kind: &Retention,
	Modes:  replayModes,
	Says:   "the input drops what is old, committed or not, and its reader goes on behind the gap",
	Origin: "apache/kafka#23091", Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash source/0 after fetch 2"}},
	Service: only(model.InputLog, func(s behind) model.Service { return &agingLog{behind: s} }),
}

// agingLog is an input log that drops records by age.
type agingLog struct {
	behind
	parts []aging
}

// aging is a partition: what is before gone is dropped. What is before end was handed out, the last
// of it at a time.
type aging struct{ gone, end, at int64 }

// Reset implements model.Service.
func (l *agingLog) Reset() {
	l.Service.Reset()
	l.parts = nil
}

// Serve implements model.Service.
func (l *agingLog) Serve(now int64, req *model.Message, ans *model.Answer) {
	if req.Kind != model.Fetch {
		l.Service.Serve(now, req, ans)
		return
	}
	for len(l.parts) <= int(req.Record.ID.Part) {
		l.parts = append(l.parts, aging{})
	}
	part := &l.parts[req.Record.ID.Part]
	if now-part.at > inputLife {
		part.gone = part.end
	}
	asked := *req
	asked.Seq = max(asked.Seq, part.gone)
	l.Service.Serve(now, &asked, ans)
	if end := ans.Seq + ans.N; end > part.end {
		part.end, part.at = end, now
	}
}

// State implements model.Service.
func (l *agingLog) State(c *model.Codec) {
	l.Service.State(c)
	model.Slice(c, &l.parts, func(p *aging) {
		c.Int64(&p.gone)
		c.Int64(&p.end)
		c.Int64(&p.at)
	})
}
