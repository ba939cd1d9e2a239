package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var timeoutBelowOutage = Defect{
	Name: "timeout-below-outage", Kind: &TxnTimeout, Modes: []string{"two-phase-commit"},
	Says: "a transaction lives for a shorter time than a task may be away, and a commit that " +
		"comes too late is logged and forgotten",
	Origin:     "apache/flink#4910 (FLINK-7784)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"pause sink/0 before commit-txn 1 for 80ms"}},
	Set: []model.ParamValue{{Name: "txn-timeout", Value: 40_000_000}},
}

// The timer is the sink's own; the log lets a transaction live much longer. An effect that is kept
// aborts a transaction, and has the token of its timer.
var participantGivesUp = Defect{
	Name: "participant-gives-up", Kind: &TxnTimeout, Modes: []string{"two-phase-commit"},
	Says: "a sink that hears nothing of its checkpoint for some time aborts what it has " +
		"prepared, and the next completion does not bring it back",
	Origin:     "apache/flink-connector-kafka#238 (FLINK-39218)",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose complete 1 from coordinator/0 to sink/0"}},
	Process: of(model.Sink, meddling{
		heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
			if ev.Kind != model.TimerFired || ev.Token < givesUp {
				return true
			}
			for i := range m.kept {
				if m.kept[i].Token == ev.Token {
					s.CallUntilDone(model.External, m.kept[i].Msg)
				}
			}
			return false
		},
		said: spread(func(m *meddler, e *model.Effect, out []model.Effect) []model.Effect {
			if is(e, model.PrepareTxn) {
				m.n++
				abort := *e
				abort.Msg.Kind, abort.Token = model.AbortTxn, givesUp+m.n
				m.kept = append(m.kept, abort)
				out = append(out, model.Effect{Kind: model.EffectAfter, To: model.Nobody,
					Service: model.Nobody, Delay: 15_000_000, Token: givesUp + m.n})
			}
			if is(e, model.CommitTxn) {
				m.kept = slices.DeleteFunc(m.kept, func(abort model.Effect) bool {
					return abort.Msg.Token == e.Msg.Token
				})
			}
			return append(out, *e)
		}),
	}),
}

// givesUp is where the tokens of the timers of participantGivesUp begin: above all checkpoint ids.
const givesUp = int64(1) << 40
