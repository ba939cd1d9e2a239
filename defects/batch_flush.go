package defects

import "github.com/oncesim/oncesim/model"

var failedBatchIsSkipped = Defect{
	Name: "failed-batch-is-skipped", Kind: &FlushError, IsKindOnly: true,
	Modes:    []string{"micro-batch"},
	Says:     "a batch whose write fails is done like any other, and the next one follows",
	Origin:   "apache/hudi#7002",
	Property: "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"refuse call write-batch 1 of sink/0"}},
	Process: of(model.Sink, meddling{heard: answers(model.WriteBatch, func(ans *model.Answer) {
		ans.Outcome = model.Done
	})}),
}
