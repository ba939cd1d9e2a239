// Package defects holds planted bugs: ways in which implementations of the modes have gone wrong in
// the field. A testbed is worth what it catches, and these are what it has to catch.
//
// A mode knows nothing of them. A defect stands in front of a process or a service and changes what
// the one asks and the other answers, or it sets a parameter of the mode behind the scenario's
// back. What a mode claims stays claimed: it is not told, and so whatever the defect does shows as
// a broken claim, or not at all.
//
// # How to plant one
//
// Each kind of root cause has a file; All lists the defects. A value of type Defect is all that
// there is to one. This one has a source commit an offset as soon as it has read up to there:
//
//	var commitOnRead = Defect{
//		Name: "commit-on-read", Kind: EarlyAck, Modes: []string{"at-least-once"},
//		Says:     "the offset is committed when records are read, not when they are processed",
//		Origin:   "fluent/fluent-bit#2051",
//		Property: "at-least-once",
//		Shown: Case{Topology: "pipeline", Records: 3, Plan: []string{"crash op/0 before data 1"}},
//		Process: func(_ *model.Job, task *model.Task, p model.Process) model.Process {
//			return meddle(task, p, meddling{heard: func(m *meddler, ev *model.Event,
//				s *model.Script) bool { ... }})
//		},
//	}
//
// An outsider appends defects of their own to Library.Defects in the same way, with any
// model.Process or model.Service of theirs as the wrapper.
//
// A request that a defect leaves out is answered as if it had been done: a process that waits for
// an answer would otherwise only stand still, whatever the bug. A wrapper encodes its state, as
// every process and service does, behind that of what it stands in front of.
package defects
