package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

var batchKeyedByAttempt = Defect{
	Name: "batch-keyed-by-attempt", Kind: &CommitKey, Modes: []string{"snapshot-wal"},
	Says:     "the key of a batch has the attempt that writes it, so that a restored one looks new",
	Origin:   "apache/iceberg#16008",
	Property: "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"crash sink/0 before ack of write-batch 1"}},
	Process: of(model.Sink, meddling{said: each(func(m *meddler, e *model.Effect) {
		if is(e, model.WriteBatch) {
			e.Msg.Token |= int64(m.self.Attempt) << 32
		}
	})}),
}

// What front.n holds here is the checkpoint or batch committed last, and which attempt committed it
// first.
var partMarksCheckpoint = Defect{
	Name: "part-marks-checkpoint", Kind: &CommitKey,
	Modes: slices.Concat(gatedModes, []string{"micro-batch"}),
	Says: "once a sink has committed for a checkpoint or a batch, a restart takes all of it " +
		"for committed",
	Origin:   "delta-io/connectors#467",
	Property: "at-least-once",
	Shown: Case{Topology: "page-views", Records: 2,
		Plan: []string{"crash sink/1 before commit-txn 1"}},
	Service: before(model.External, front{
		ask: func(f *front, req *model.Message, ans *model.Answer) bool {
			checkpoint, ok := committedBy(req)
			last, attempt := f.n>>32, int32(f.n)
			switch {
			case !ok:
			case checkpoint == last && req.Attempt > attempt:
				ans.Outcome = model.DoneBefore
				return false
			case checkpoint > last:
				f.n = checkpoint<<32 | int64(req.Attempt)
			}
			return true
		},
	}),
}

var belowLastIsOld = Defect{
	Name: "below-last-is-old", Kind: &CommitKey,
	Modes: gatedModes,
	Says: "what belongs to a checkpoint below the last one that anybody committed for is taken " +
		"to be committed",
	Origin:     "apache/iceberg#10892",
	IsKindOnly: true,
	Property:   "at-least-once",
	Shown: Case{Topology: "page-views", Records: 4, Seed: 9, Set: everyMillisecond,
		Plan: []string{"lose complete 1 from coordinator/0 to sink/0"}},
	Service: before(model.External, front{
		ask: func(f *front, req *model.Message, ans *model.Answer) bool {
			checkpoint, ok := committedBy(req)
			if ok && checkpoint < f.n {
				ans.Outcome = model.DoneBefore
				return false
			}
			f.n = max(f.n, checkpoint)
			return true
		},
	}),
}

// committedBy is the checkpoint or batch whose output a request makes visible.
func committedBy(req *model.Message) (checkpoint int64, ok bool) {
	switch req.Kind {
	case model.CommitTxn:
		return req.Seq, true
	case model.WriteBatch:
		return req.Token, true
	}
	return 0, false
}
