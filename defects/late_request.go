package defects

import "github.com/oncesim/oncesim/model"

var endNamesNoTransaction = Defect{
	Name: "end-names-no-transaction", Kind: &LateRequest, Modes: []string{"two-phase-commit"},
	Says:     "the end of a transaction that comes late ends the next one under its id",
	Origin:   "KAFKA-17754 (jepsen.io/analyses/bufstream-0.1.0)",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 20, Set: everyMillisecond,
		Plan: []string{"delay call commit-txn 1 of sink/0 by 35ms"}},
	Set:     []model.ParamValue{{Name: "pool", Value: idsMost}, {Name: "epochs"}},
	Process: takesTurns(meddling{}),
}

var lateBeginAborts = Defect{
	Name: "late-begin-aborts", Kind: &LateRequest, Modes: []string{"two-phase-commit"},
	Says:       "a begin that comes late aborts what was begun, and prepared, under its id since",
	Origin:     "confluentinc/librdkafka#5423",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"delay call begin-txn 1 of sink/0 by 23ms"}},
	Process: of(model.Sink, meddling{said: each(func(_ *meddler, e *model.Effect) {
		if is(e, model.BeginTxn) {
			e.Msg.N = 0
		}
	})}),
}

var lateWriteReopens = Defect{
	Name: "late-write-reopens", Kind: &LateRequest, Modes: []string{"two-phase-commit"},
	Says: "a write that comes when its transaction is over begins another one, which nobody " +
		"will end",
	Origin:     "apache/kafka#12392 (KAFKA-14053)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 3,
		Plan: []string{"delay call write 1 of sink/0 by 24ms"}},
	Service: before(model.External, front{
		tell: func(f *front, req *model.Message, ans *model.Answer) {
			if req.Kind != model.Write || ans.Outcome != model.Stale {
				return
			}
			begin := model.Message{Kind: model.BeginTxn, Attempt: req.Attempt,
				Channel: int16(req.Seq), Token: req.Token}
			f.Service.Serve(0, &begin, &model.Answer{})
			write := *req
			write.Flags, write.N, write.Cursor = 0, 0, -1
			f.Service.Serve(0, &write, &model.Answer{})
		},
	}),
}
