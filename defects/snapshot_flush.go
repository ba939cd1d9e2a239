package defects

import "github.com/oncesim/oncesim/model"

// The modes whose sinks write what comes at once: nothing may be under way at a barrier.
var writingModes = []string{"snapshot", "snapshot-upsert"}

var writeAfterFlush = Defect{
	Name: "write-after-flush", Kind: &FlushError, Modes: writingModes,
	Says:     "what is batched is flushed before the barrier, and a record comes in between",
	Origin:   "apache/flink-connector-kafka#70 (FLINK-33545)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Set:  everyMillisecond,
		Plan: []string{"crash sink/0 after effect 2 of checkpoint 1"}},
	Process: of(model.Sink, meddling{
		heard: letGo,
		said:  later(model.Write),
	}),
}

var flushDoesNotWait = Defect{
	Name: "flush-does-not-wait", Kind: &FlushError, Modes: writingModes,
	Says:     "a snapshot is taken before writes are answered, and whoever fails is not repeated",
	Origin:   "apache/flink#2108 (FLINK-4027)",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose request of write 1 from sink/0"}},
	Process: of(model.Sink, meddling{said: each(func(_ *meddler, e *model.Effect) {
		if is(e, model.Write) {
			e.Kind, e.UntilDone = model.EffectBegin, false
		}
	})}),
}
