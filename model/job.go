package model

import "fmt"

// The services that every job has.
const (
	InputLog   ServiceID = iota // "input": the replayable log and its committed offsets
	StateStore                  // "store": keyed operator state
	External                    // "external": where results become visible
	ServiceEnd
)

// ServiceNames are the names of the services, by ServiceID.
var ServiceNames = [ServiceEnd]string{"input", "store", "external"}

// Role says what a task does in the job.
type Role uint8

// The roles.
const (
	Source  Role = iota // reads one partition of the input
	Operate             // applies one operator
	Sink                // writes one partition of the external sink
	Extra               // belongs to the mode and not to the topology
)

// InChannel is one input channel of a task: who sends, and the number that the channel has among
// the sender's outputs.
type InChannel struct {
	Peer ProcID
	Back int16
}

// OutChannel is one output channel of a task: who receives, and the number that the channel has
// among the receiver's inputs.
type OutChannel struct {
	Peer  ProcID
	There int16
}

// Route is the way to all subtasks of one downstream stage: output channels First … First+Count-1
// of the task. Every output goes once along every route.
type Route struct {
	Exchange     Exchange
	First, Count int
}

// Pick returns the output channel that a record takes along the route from a given subtask.
func (r Route) Pick(subtask int, rec *Record) int {
	if r.Exchange == ByKey {
		return r.First + int(Below(HashText(rec.Key), int64(r.Count)))
	}
	return r.First + subtask%r.Count
}

// Task is one process of the job as a mode sees it when it builds it.
type Task struct {
	Name     string // "count/1"
	Proc     ProcID
	Role     Role
	Subtask  int
	Stage    int       // index in Topology.Stages; -1 for sources and sinks
	Op       int32     // the operator's number, Stage+1; 0 for sources and sinks
	Operator *Operator // nil for sources and sinks
	Part     int32     // Source: its partition; Sink: its partition of the external sink
	Hop      int       // hops to the sink: 0 for sinks, most for sources
	In       []InChannel
	Out      []OutChannel
	Routes   []Route
}

// Job is a topology laid out as tasks, with the parameters of its mode. ProcIDs index Tasks.
// Sources come first, in partition order, then stages in order, then sinks, then what the mode
// adds.
type Job struct {
	Topology *Topology
	Tasks    []Task
	Params   []ParamValue
	SinkPart int // partitions of the external sink
}

// Param declares an integer parameter of a mode; durations are virtual ns.
type Param struct {
	Name    string
	Says    string
	Default int64
	Min     int64
	Max     int64
	IsTime  bool
	// IsPremise: what the mode claims, it claims with the default value, or one of Also.
	IsPremise bool
	Also      []int64
}

// ParamValue is a parameter as set for a run.
type ParamValue struct {
	Name  string
	Value int64
}

// Param returns the value of a declared parameter; an undeclared one is a broken invariant.
func (j *Job) Param(name string) int64 {
	for _, p := range j.Params {
		if p.Name == name {
			return p.Value
		}
	}
	panic(fmt.Sprintf("model: mode has no parameter %q", name))
}

// Find returns the process of that name, or Nobody.
func (j *Job) Find(name string) ProcID {
	for i := range j.Tasks {
		if j.Tasks[i].Name == name {
			return j.Tasks[i].Proc
		}
	}
	return Nobody
}

// NewJob lays out a valid topology. extra names the processes that the mode adds, one each.
func NewJob(t *Topology, params []ParamValue, extra ...string) *Job {
	j := &Job{Topology: t, Params: params}
	for part := range t.Partitions() {
		j.add(Task{Role: Source, Subtask: part, Stage: -1, Part: int32(part)}, SourceName)
	}
	for i := range t.Stages {
		for sub := range max(t.Stages[i].Parallel, 1) {
			j.add(Task{Role: Operate, Subtask: sub, Stage: i, Op: int32(i + 1),
				Operator: t.Stages[i].Operator}, t.Stages[i].Name)
		}
	}
	for i := range t.Stages {
		if t.IsTerminal(i) {
			j.SinkPart = max(j.SinkPart, t.Stages[i].Parallel, 1)
		}
	}
	for sub := range j.SinkPart {
		j.add(Task{Role: Sink, Subtask: sub, Stage: -1, Part: int32(sub)}, SinkName)
	}
	for _, name := range extra {
		j.add(Task{Role: Extra, Stage: -1}, name)
	}
	j.wire()
	return j
}

func (j *Job) add(task Task, stage string) {
	task.Proc = ProcID(len(j.Tasks))
	task.Name = fmt.Sprintf("%s/%d", stage, task.Subtask)
	j.Tasks = append(j.Tasks, task)
}

func (j *Job) wire() {
	t := j.Topology
	for i := range t.Stages {
		for _, from := range t.Stages[i].From {
			j.connect(j.tasksOf(from), j.tasksOf(t.Stages[i].Name), t.Stages[i].Exchange)
		}
	}
	for i := range t.Stages {
		if t.IsTerminal(i) {
			j.connect(j.tasksOf(t.Stages[i].Name), j.tasksOf(SinkName), Forward)
		}
	}
	for i := len(j.Tasks) - 1; i >= 0; i-- {
		for _, out := range j.Tasks[i].Out {
			j.Tasks[i].Hop = max(j.Tasks[i].Hop, j.Tasks[out.Peer].Hop+1)
		}
	}
}

// tasksOf returns the tasks of an input, a stage or the sink, in subtask order.
func (j *Job) tasksOf(name string) []ProcID {
	var procs []ProcID
	for i := range j.Tasks {
		task := &j.Tasks[i]
		owner := SinkName
		switch task.Role {
		case Operate:
			owner = j.Topology.Stages[task.Stage].Name
		case Source:
			owner = j.inputOf(task.Part)
		case Extra:
			owner = ""
		}
		if owner == name {
			procs = append(procs, task.Proc)
		}
	}
	return procs
}

func (j *Job) inputOf(part int32) string {
	rest := int(part)
	for _, in := range j.Topology.Inputs {
		if rest < max(in.Partitions, 1) {
			return in.Name
		}
		rest -= max(in.Partitions, 1)
	}
	panic(fmt.Sprintf("model: partition %d of no input", part))
}

// connect adds a route from each upstream task to all downstream tasks. A forward exchange uses
// one channel a sender, but every route spans all receivers, so that Pick needs no special case.
func (j *Job) connect(from, to []ProcID, exchange Exchange) {
	for sub, up := range from {
		sender := &j.Tasks[up]
		route := Route{Exchange: exchange, First: len(sender.Out)}
		targets := to
		if exchange == Forward {
			targets = to[sub%len(to) : sub%len(to)+1]
		}
		for _, down := range targets {
			receiver := &j.Tasks[down]
			receiver.In = append(receiver.In, InChannel{Peer: up, Back: int16(len(sender.Out))})
			sender.Out = append(sender.Out,
				OutChannel{Peer: down, There: int16(len(receiver.In) - 1)})
		}
		route.Count = len(targets)
		sender.Routes = append(sender.Routes, route)
	}
}
