package defects

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// everyMillisecond has the first checkpoint come between the first records.
var everyMillisecond = []model.ParamValue{{Name: "interval", Value: 1_000_000}}

var noAlignment = Defect{
	Name: "no-alignment", Kind: &BarrierCut, Modes: checkpointModes,
	Says:     "a channel whose barrier has come does not wait for the others",
	Origin:   "apache/storm#984 (STORM-1416)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "page-views", Records: 3,
		Set:  everyMillisecond,
		Plan: []string{"pause source/1 during fetch 1 for 2ms"}},
	Set: []model.ParamValue{{Name: "alignment", Value: 1}},
}

var barrierBeforeOutputs = Defect{
	Name: "barrier-before-outputs", Kind: &BarrierCut, IsKindOnly: true, Modes: checkpointModes,
	Says:     "a barrier is passed on before what the record before it emits",
	Origin:   "apache/flink#25317 (FLINK-35027)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "page-views", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash count/1 after effect 3 of checkpoint 1"}},
	Process: of(model.Operate, meddling{heard: letGo, said: inSteps}),
}

// inSteps keeps what a step emits until the step ends.
func inSteps(m *meddler, list []model.Effect) []model.Effect {
	var rest []model.Effect
	hasBarrier := false
	for i := range list {
		if is(&list[i], model.Data) {
			rest = m.putOff(rest, list[i])
			continue
		}
		hasBarrier = hasBarrier || is(&list[i], model.Barrier)
		rest = append(rest, list[i])
	}
	if hasBarrier { // what is under way is waited for, with the barrier on its way
		rest = append(rest, m.kept...)
		m.kept = m.kept[:0]
	}
	return rest
}

var stateAtUpload = Defect{
	Name: "state-at-upload", Kind: &BarrierCut, IsKindOnly: true, Modes: checkpointModes,
	Says:     "a snapshot is a view of the state, which moves on until it is uploaded",
	Origin:   "akka/akka-core#26274",
	Property: "exactly-once-state",
	Shown: Case{Mode: "two-phase-commit", Topology: "accounts-four", Records: 3,
		Set:  everyMillisecond,
		Plan: []string{"crash coordinator/0 after effect 2 of checkpoint 6"}},
	Set: []model.ParamValue{{Name: "aliased", Value: 1}},
}

var inFlightReversed = Defect{
	Name: "in-flight-reversed", Kind: &BarrierCut, IsKindOnly: true,
	Modes:    gatedModes,
	Says:     "what was in flight is kept in another order than that of its channel",
	Origin:   "apache/flink#12027 (FLINK-17564)",
	Property: "exactly-once",
	Shown: Case{Topology: "running-average", Records: 6,
		Set: everyMillisecond,
		Plan: []string{"pause source/1 before fetch 2 for 2ms",
			"crash coordinator/0 after completion 1"}},
	Set: []model.ParamValue{{Name: "alignment", Value: 2}},
	Process: of(model.Operate, meddling{said: each(func(_ *meddler, e *model.Effect) {
		if is(e, model.Upload) {
			e.Msg.Parts = slices.Clone(e.Msg.Parts)
			slices.Reverse(e.Msg.Parts[e.Msg.N:])
		}
	})}),
}

var inFlightCutShort = Defect{
	Name: "in-flight-cut-short", Kind: &BarrierCut, IsKindOnly: true, Modes: checkpointModes,
	Says:     "a part leaves out the last record that was in flight",
	Origin:   "apache/flink#14721 (FLINK-20645)",
	Property: "exactly-once-state",
	Shown: Case{Mode: "two-phase-commit", Topology: "running-average", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash coordinator/0 after completion 1"}},
	Set: []model.ParamValue{{Name: "alignment", Value: 2}},
	Process: of(model.Operate, meddling{said: each(func(_ *meddler, e *model.Effect) {
		if is(e, model.Upload) && int64(len(e.Msg.Parts)) > e.Msg.N {
			e.Msg.Parts = e.Msg.Parts[:len(e.Msg.Parts)-1]
		}
	})}),
}

var inFlightOfAborted = Defect{
	Name: "in-flight-of-aborted", Kind: &BarrierCut, IsKindOnly: true, Modes: checkpointModes,
	Says:     "what was in flight at a checkpoint that was aborted is kept with the next",
	Origin:   "apache/flink#14736 (FLINK-21104)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "running-average", Records: 4,
		Set:  everyMillisecond,
		Plan: []string{"lose barrier 1 from source/0 to average/0"}},
	Set:     []model.ParamValue{{Name: "alignment", Value: 2}},
	Process: of(model.Operate, meddling{heard: keepsInFlight, said: addsInFlight}),
}

// keepsInFlight keeps what comes while a checkpoint, n, has barriers outstanding.
func keepsInFlight(m *meddler, ev *model.Event, _ *model.Script) bool {
	switch {
	case ev.Kind != model.Delivered || ev.Msg.Attempt != m.self.Attempt:
	case ev.Msg.Kind == model.Barrier:
		m.n = max(m.n, ev.Msg.Seq)
	case ev.Msg.Kind == model.Data && m.n > 0:
		m.kept = append(m.kept, model.Effect{Token: m.n, Msg: ev.Msg})
	}
	return true
}

// addsInFlight adds what was kept for an older checkpoint to what was in flight.
func addsInFlight(m *meddler, list []model.Effect) []model.Effect {
	for i := range list {
		e := &list[i]
		if !is(e, model.Upload) {
			continue
		}
		e.Msg.Parts = slices.Clone(e.Msg.Parts)
		for j := range m.kept {
			if m.kept[j].Token < e.Msg.Seq {
				e.Msg.Parts = append(e.Msg.Parts, m.kept[j].Msg.Record)
			}
		}
		m.n, m.kept = 0, m.kept[:0]
	}
	return list
}

var abortedBarrierCounts = Defect{
	Name: "aborted-barrier-counts", Kind: &BarrierCut, Modes: checkpointModes, IsKindOnly: true,
	Says:     "a barrier of a checkpoint that was aborted is taken for one of the next",
	Origin:   "apache/flink#14807 (FLINK-20654)",
	Property: "exactly-once-state",
	Shown: Case{Topology: "page-views", Records: 4,
		Set: everyMillisecond,
		Plan: []string{"refuse call upload 1 of source/0",
			"pause parse/0 after effect 1 for 8ms"}},
	Process: of(model.Operate, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Barrier) &&
				ev.Msg.Attempt == m.self.Attempt {
				m.n = max(m.n, ev.Msg.Seq)
				ev.Msg.Seq = m.n
			}
			return true
		},
	}),
}

var oneBarrierAStage = Defect{
	Name: "one-barrier-a-stage", Kind: &BarrierCut, Modes: checkpointModes, IsKindOnly: true,
	Says:     "the first barrier of a stage stands for those of all its tasks",
	Origin:   "apache/flink#12493 (FLINK-18139)",
	Property: "at-least-once",
	Shown: Case{Topology: "page-views", Records: 2,
		Set:  everyMillisecond,
		Plan: []string{"crash count/1 after effect 3 of checkpoint 1"}},
	Process: func(job *model.Job, task *model.Task, p model.Process) model.Process {
		if task.Role != model.Operate {
			return p
		}
		return meddle(task, p, meddling{
			heard: func(m *meddler, ev *model.Event, s *model.Script) bool {
				if isMessage(ev, model.Barrier) {
					barrierOfStage(job, m, ev, s)
					return false
				}
				return true
			},
		})
	},
}

// barrierOfStage has a barrier come on all channels from the stage of its sender.
func barrierOfStage(job *model.Job, m *meddler, ev *model.Event, s *model.Script) {
	stage := func(in model.InChannel) int { return job.Tasks[in.Peer].Stage }
	from := m.task.In[ev.Msg.Channel]
	for i, in := range m.task.In {
		if stage(in) == stage(from) {
			same := *ev
			same.Msg.Channel = int16(i)
			m.Process.Step(&same, s)
		}
	}
}

var rowsAreNotCounted = Defect{
	Name: "rows-are-not-counted", Kind: &BarrierCut, Modes: []string{"micro-batch"},
	IsKindOnly: true,
	Says:       "a batch is over when its end has come, whatever else has",
	Origin:     "delta-io/delta#6314",
	Property:   "at-least-once",
	Shown: Case{Topology: "pipeline", Records: 1,
		Plan: []string{"lose data 1 from source/0 to op/0"}},
	Set: []model.ParamValue{{Name: "count-rows", Value: 0}},
}

var rowOfTheLastBatch = Defect{
	Name: "row-of-the-last-batch", Kind: &BarrierCut, Modes: []string{"micro-batch"},
	IsKindOnly: true,
	Says:       "a row that comes late is taken for one of the batch at hand",
	Origin:     "apache/iceberg#10526",
	Property:   "at-most-once",
	Shown: Case{Topology: "pipeline", Records: 2,
		Plan: []string{"duplicate data 1 from source/0 to op/0"}},
	Process: of(model.Operate, meddling{
		heard: func(m *meddler, ev *model.Event, _ *model.Script) bool {
			if isMessage(ev, model.Data) &&
				ev.Msg.Attempt == m.self.Attempt {
				ev.Msg.Token = max(ev.Msg.Token, m.n)
			}
			return true
		},
		said: each(func(m *meddler, e *model.Effect) {
			if is(e, model.Barrier) {
				m.n = e.Msg.Seq + 1 // this one is over
			}
		}),
	}),
}
