package faults

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// Compile resolves the names of a plan against a job. Rule i is fault i, so that what the world
// says of a rule is said of a line. The error is a *CompileError.
//
// Only names can be wrong. Whether an ordinal or an offset is reached depends on the run, which
// reports it.
func (p Plan) Compile(job *model.Job) ([]model.Rule, error) {
	rules := make([]model.Rule, 0, len(p))
	for i, f := range p {
		rule, err := f.compile(job)
		if err != nil {
			err.Index, err.Fault = i, f
			return nil, err
		}
		rule.Validate()
		rules = append(rules, rule)
	}
	return rules, nil
}

func (f Fault) compile(job *model.Job) (model.Rule, *CompileError) {
	if !f.isLine() {
		return model.Rule{}, &CompileError{What: "fault"}
	}
	rule := model.Rule{Action: f.Action, Proc: model.Nobody, Point: f.Point, Scope: f.Scope,
		N: f.N, Life: f.Life, Checkpoint: f.Checkpoint, Call: f.Call, At: f.At,
		For: ruleFor(f.Action, f.For)}
	if err := f.compileParties(job, &rule); err != nil {
		return model.Rule{}, err
	}
	if f.Record != (RecordName{}) || f.Scope == model.RecordEffect {
		id, err := f.Record.resolve(job.Topology)
		rule.Record = id
		return rule, err
	}
	return rule, nil
}

// compileParties resolves who is concerned: the process, its peer and the service.
func (f Fault) compileParties(job *model.Job, rule *model.Rule) *CompileError {
	if f.Proc != "" {
		if rule.Proc = job.Find(f.Proc); rule.Proc == model.Nobody {
			return unknown("process", f.Proc, processNames(job))
		}
	}
	if f.Service != "" {
		rule.Service = model.ServiceID(slices.Index(model.ServiceNames[:], f.Service))
	}
	switch {
	case f.Peer != "":
		if rule.Peer = job.Find(f.Peer); rule.Peer == model.Nobody {
			return unknown("process", f.Peer, processNames(job))
		}
	case f.Action == model.CutLink:
		rule.Peer = model.Nobody
	}
	if f.Action == model.PoisonRecord && job.Tasks[rule.Proc].Role != model.Operate {
		return unknown("process that applies an operator", f.Proc, operatorNames(job))
	}
	if f.Scope == model.MessageOnChannel {
		if name, known := f.channel(), channelNames(job, f.Call); !slices.Contains(known, name) {
			return unknown("channel", name, known)
		}
	}
	return nil
}

func (f Fault) channel() string { return f.Proc + " to " + f.Peer }

// channelNames lists the channels that a job has for messages of a kind. Data and barriers go
// downstream, acknowledgements the same way back. What the mode adds exchanges acknowledgements
// and notices with any task.
func channelNames(job *model.Job, kind model.Kind) []string {
	var names []string
	add := func(from, to model.ProcID) {
		names = append(names, job.Tasks[from].Name+" to "+job.Tasks[to].Name)
	}
	for i := range job.Tasks {
		task := &job.Tasks[i]
		for _, out := range task.Out {
			switch kind {
			case model.Data, model.Barrier:
				add(task.Proc, out.Peer)
			case model.Ack:
				add(out.Peer, task.Proc)
			}
		}
	}
	if kind != model.Ack && !kind.IsNotice() {
		return names
	}
	for i := range job.Tasks {
		for j := range job.Tasks {
			from, to := &job.Tasks[i], &job.Tasks[j]
			if i != j && (from.Role == model.Extra || to.Role == model.Extra) {
				add(from.Proc, to.Proc)
			}
		}
	}
	return names
}

// resolve finds the position that a record's name means.
func (r RecordName) resolve(t *model.Topology) (model.ID, *CompileError) {
	if r.Input == "" {
		if t.Partitions() > 1 {
			return model.ID{}, &CompileError{What: "record", Name: r.String(),
				Known: r.everywhere(t)}
		}
		return model.ID{Offset: r.Offset}, nil
	}
	part, ok := t.FindPartition(r.Input, r.Part)
	if !ok {
		return model.ID{}, unknown("partition", fmt.Sprintf("%s/%d", r.Input, r.Part),
			partitionNames(t))
	}
	return model.ID{Part: part, Offset: r.Offset}, nil
}

// everywhere lists the records that a bare name may mean.
func (r RecordName) everywhere(t *model.Topology) []string {
	names := partitionNames(t)
	for i := range names {
		names[i] = fmt.Sprintf("%s:%d", names[i], r.Offset)
	}
	return names
}

// FromRule is the fault that compiles to rule, which must be a rule of job. Records are named
// with their partition, as verdicts name them.
func FromRule(job *model.Job, rule model.Rule) Fault {
	rule.Validate()
	f := Fault{Action: rule.Action, Point: rule.Point, Scope: rule.Scope, N: rule.N,
		Life: rule.Life, Checkpoint: rule.Checkpoint, Call: rule.Call, At: rule.At,
		For: rule.For}
	if rule.For == defaultFor(rule.Action) {
		f.For = 0
	}
	if rule.Proc != model.Nobody {
		f.Proc = job.Tasks[rule.Proc].Name
	}
	isCut := rule.Action == model.CutLink
	switch {
	case rule.Scope == model.MessageOnChannel, isCut && rule.Peer != model.Nobody:
		f.Peer = job.Tasks[rule.Peer].Name
	case isCut, rule.Action == model.CrashService:
		f.Service = model.ServiceNames[rule.Service]
	}
	if rule.Scope == model.RecordEffect || rule.Action == model.TruncateInput {
		f.Record = nameOf(job.Topology, rule.Record)
	}
	return f
}

// nameOf names a position with its partition.
func nameOf(t *model.Topology, id model.ID) RecordName {
	name := t.RecordName(id)
	record, ok := parseRecord(name)
	if !ok {
		panic(fmt.Sprintf("faults: record name %q", name))
	}
	return record
}

// ruleFor is what Rule.For is for an action with a duration as given, 0 standing for none.
func ruleFor(a model.Action, ns int64) int64 {
	switch a {
	case model.Crash, model.LoseRequest, model.LoseAnswer, model.LoseMessage, model.RefuseRequest,
		model.ForgetRequest, model.StaleRead, model.TruncateInput, model.PoisonRecord,
		model.TearRequest:
		return 0
	}
	if ns == 0 {
		ns = defaultFor(a)
	}
	if ns <= 0 {
		panic(fmt.Sprintf("faults: %s with duration %d ns", a, ns))
	}
	return ns
}

// defaultFor is Rule.For of an action whose line does not say it; 0: a line must.
func defaultFor(a model.Action) int64 {
	switch a {
	case model.DuplicateRequest, model.DuplicateMessage:
		return DuplicateAfter
	case model.ReorderMessages:
		return ReorderWithin
	}
	return 0
}

// CompileError is a fault that a job has no place for. What says why:
//
//	"process"    the job has no process of that name
//	"partition"  no input has a partition of that name
//	"record"     the name is bare, and there are several partitions
//	"channel"    such messages do not go from the one process to the other
//	"fault"      no line means Fault, which was not made by Parse; Name is empty
type CompileError struct {
	Index   int // of the fault in the plan, from 0
	Fault   Fault
	What    string   // "process", "partition", "record", "channel" or "fault"
	Name    string   // as written
	Known   []string // what the job has, or what an ambiguous name may mean
	Nearest string   // the one that was perhaps meant, or ""
}

// Error is one line: which fault, which name, and what the job has in its place.
func (e *CompileError) Error() string {
	if e.What == "fault" {
		type fields Fault // without String
		return fmt.Sprintf("fault %d: no line means %+v", e.Index+1, fields(e.Fault))
	}
	problem := fmt.Sprintf("unknown %s %q, expected", e.What, e.Name)
	switch {
	case e.What == "record":
		problem = fmt.Sprintf("name the partition of record %s,", e.Name)
	case len(e.Known) == 0:
		return fmt.Sprintf("fault %d, %s: unknown %s %q: the job has none of that kind",
			e.Index+1, e.Fault, e.What, e.Name)
	}
	return fmt.Sprintf("fault %d, %s: %s %s%s", e.Index+1, e.Fault, problem,
		expectation(e.Known, ""), didYouMean(e.Nearest))
}

func unknown(what, name string, known []string) *CompileError {
	return &CompileError{What: what, Name: name, Known: known, Nearest: model.Nearest(name, known)}
}

func processNames(job *model.Job) []string {
	names := make([]string, len(job.Tasks))
	for i := range job.Tasks {
		names[i] = job.Tasks[i].Name
	}
	return names
}

// operatorNames are the processes whose task is to apply an operator.
func operatorNames(job *model.Job) []string {
	var names []string
	for i := range job.Tasks {
		if job.Tasks[i].Role == model.Operate {
			names = append(names, job.Tasks[i].Name)
		}
	}
	return names
}

func partitionNames(t *model.Topology) []string {
	names := make([]string, t.Partitions())
	for i := range names {
		names[i] = t.PartitionName(int32(i))
	}
	return names
}
