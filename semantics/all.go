package semantics

import "github.com/oncesim/oncesim/model"

// All lists the modes, weakest first.
func All() []*model.Mode {
	return []*model.Mode{&None, &AtMostOnce, &AtLeastOnce, &Acker, &Idempotent, &IdempotentByKey,
		&DedupIDFirst, &DedupIDLast, &DedupWeak, &Dedup,
		&IndependentSnapshots, &SnapshotLoneRestart, &SnapshotCounting, &Snapshot,
		&SnapshotFirstWins, &SnapshotUpsert, &SnapshotWALSplit, &SnapshotWAL,
		&MicroBatchPlain, &MicroBatch, &TwoPhaseCommit}
}
