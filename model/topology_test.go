package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

func pass(in model.Record, st model.Value, out *model.Outputs) model.Value {
	out.Emit(in.Key, in.Value)
	return st
}

var (
	stateless = &model.Operator{Name: "pass", Step: pass}
	stateful  = &model.Operator{Name: "keep", Kind: model.NonCommutative, Step: pass}
)

// diamond has two inputs, a fan-out, a join and two terminal stages.
func diamond() *model.Topology {
	return &model.Topology{Name: "diamond",
		Inputs: []model.InputSpec{{Name: "left", Partitions: 2}, {Name: "right"}},
		Stages: []model.Stage{
			{Name: "split", Operator: stateless, From: []string{"left"}, Parallel: 2},
			{Name: "join", Operator: stateful, From: []string{"split", "right"}, Parallel: 2,
				Exchange: model.ByKey},
			{Name: "side", Operator: stateless, From: []string{"split"}, Parallel: 1},
		}}
}

func TestTopology_Validate(t *testing.T) {
	require.NoError(t, diamond().Validate())
	for want, spoil := range map[string]func(*model.Topology){
		"at least one input":            func(t *model.Topology) { t.Inputs = nil },
		`input name "sink"`:             func(t *model.Topology) { t.Inputs[0].Name = "sink" },
		`input name "left" is reserved`: func(t *model.Topology) { t.Inputs[1].Name = "left" },
		"has 65 partitions":             func(t *model.Topology) { t.Inputs[0].Partitions = 65 },
		`has a nameless stage`:          func(t *model.Topology) { t.Stages[1].Name = "" },
		`stage name "a b", expected`:    func(t *model.Topology) { t.Stages[1].Name = "a b" },
		`input name "1", expected`:      func(t *model.Topology) { t.Inputs[1].Name = "1" },
		`stage name "left"`:             func(t *model.Topology) { t.Stages[0].Name = "left" },
		`stage "split" has no operator`: func(t *model.Topology) { t.Stages[0].Operator = nil },
		`reads from nothing`:            func(t *model.Topology) { t.Stages[0].From = nil },
		`reads from "side", which is`:   func(t *model.Topology) { t.Stages[0].From[0] = "side" },
		"parallelism -1":                func(t *model.Topology) { t.Stages[0].Parallel = -1 },
		`"side" runs 3 tasks, of which forward feeds 2`: func(t *model.Topology) {
			t.Stages[2].Parallel = 3
		},
		"expected parallelism 2 at most, or by-key": func(t *model.Topology) {
			t.Stages[0].Parallel, t.Stages[0].From = 3, []string{"right", "left"}
		},
		"must be by-key": func(t *model.Topology) {
			t.Stages[1].Exchange = model.Forward
		},
		`"split" and "join" have different operators of the name "pass"`: func(t *model.Topology) {
			other := *stateless
			t.Stages[1].Operator = &other
		},
		"has 6 stages, limit 5": func(t *model.Topology) {
			t.Stages = append(t.Stages, t.Stages...)
		},
	} {
		top := diamond()
		spoil(top)
		require.ErrorContains(t, top.Validate(), want)
	}
}

// An error says which part of the topology it is about.
func TestTopology_ValidateSaysWhere(t *testing.T) {
	for want, spoil := range map[string]func(*model.Topology){
		"-1 -1 stages 0":    func(t *model.Topology) { t.Stages = nil },
		"1 -1 name 0":       func(t *model.Topology) { t.Inputs[1].Name = "left" },
		"0 -1 partitions 0": func(t *model.Topology) { t.Inputs[0].Partitions = 65 },
		"-1 1 operator 0":   func(t *model.Topology) { t.Stages[1].Operator = nil },
		"-1 0 from 1": func(t *model.Topology) {
			t.Stages[0].From = []string{"left", "side"}
		},
		"-1 2 parallel 0": func(t *model.Topology) { t.Stages[2].Parallel = 3 },
		"-1 5  0":         func(t *model.Topology) { t.Stages = append(t.Stages, t.Stages...) },
	} {
		top := diamond()
		spoil(top)
		var err *model.TopologyError
		require.ErrorAs(t, top.Validate(), &err)
		require.Equal(t, want, fmt.Sprint(err.Input, " ", err.Stage, " ", err.Field, " ", err.From))
	}
}

func TestTopology_Names(t *testing.T) {
	top := diamond()
	require.Equal(t, 3, top.Partitions())
	for part, name := range []string{"left/0", "left/1", "right/0"} {
		require.Equal(t, name, top.PartitionName(int32(part)))
		input, sub, _ := strings.Cut(name, "/")
		found, ok := top.FindPartition(input, int(sub[0]-'0'))
		require.True(t, ok)
		require.EqualValues(t, part, found)
	}
	_, ok := top.FindPartition("right", 1)
	require.False(t, ok)
	_, ok = top.FindPartition("middle", 0)
	require.False(t, ok)
	require.Equal(t, "left/1:7", top.RecordName(model.ID{Part: 1, Offset: 7}))
	require.False(t, top.IsTerminal(0))
	require.True(t, top.IsTerminal(1))
	require.Equal(t, model.NonCommutative, top.Kind())
	require.Panics(t, func() { top.PartitionName(3) })
}

// wiring renders the channels of a job, one a line.
func wiring(j *model.Job) string {
	var b strings.Builder
	for _, task := range j.Tasks {
		fmt.Fprintf(&b, "%s hop %d:", task.Name, task.Hop)
		for _, route := range task.Routes {
			fmt.Fprintf(&b, " %s", route.Exchange)
			for _, out := range task.Out[route.First : route.First+route.Count] {
				fmt.Fprintf(&b, " %s.%d", j.Tasks[out.Peer].Name, out.There)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Sources first, then stages in order, then sinks; hops count to the sink along the longest way.
func TestNewJob_Wiring(t *testing.T) {
	j := model.NewJob(diamond(), nil)
	require.Equal(t, strings.Join([]string{
		"source/0 hop 3: forward split/0.0",
		"source/1 hop 3: forward split/1.0",
		"source/2 hop 2: by-key join/0.2 join/1.2",
		"split/0 hop 2: by-key join/0.0 join/1.0 forward side/0.0",
		"split/1 hop 2: by-key join/0.1 join/1.1 forward side/0.1",
		"join/0 hop 1: forward sink/0.0",
		"join/1 hop 1: forward sink/1.0",
		"side/0 hop 1: forward sink/0.1",
		"sink/0 hop 0:",
		"sink/1 hop 0:", ""}, "\n"), wiring(j))
	require.Equal(t, 2, j.SinkPart)
	require.EqualValues(t, 5, j.Find("join/0"))
	require.EqualValues(t, model.Nobody, j.Find("join/9"))
}

// Every channel leads back: the sender that a receiver knows by Back is the one that sends there.
func TestNewJob_ChannelsLeadBack(t *testing.T) {
	j := model.NewJob(diamond(), nil)
	for _, task := range j.Tasks {
		for i, in := range task.In {
			out := j.Tasks[in.Peer].Out[in.Back]
			require.Equal(t, task.Proc, out.Peer)
			require.EqualValues(t, i, out.There)
		}
	}
}

// A key goes to one subtask, wherever it comes from, and keys spread over the subtasks.
func TestRoute_PickByKey(t *testing.T) {
	j := model.NewJob(diamond(), nil)
	targets := map[model.ProcID]bool{}
	for i := range 20 {
		rec := model.Record{Key: fmt.Sprint("key ", i)}
		var to []model.ProcID
		for _, from := range []string{"source/2", "split/0", "split/1"} {
			task := j.Tasks[j.Find(from)]
			to = append(to, task.Out[task.Routes[0].Pick(task.Subtask, &rec)].Peer)
		}
		require.Equal(t, to[0], to[1])
		require.Equal(t, to[0], to[2])
		targets[to[0]] = true
	}
	require.Len(t, targets, 2)
}

func TestJob_Param(t *testing.T) {
	j := model.NewJob(diamond(), []model.ParamValue{{Name: "window", Value: 3}})
	require.EqualValues(t, 3, j.Param("window"))
	require.Panics(t, func() { j.Param("widow") })
}

func TestExchange_Words(t *testing.T) {
	for _, e := range []model.Exchange{model.Forward, model.ByKey} {
		got, ok := model.ParseExchange(e.String())
		require.True(t, ok)
		require.Equal(t, e, got)
	}
	_, ok := model.ParseExchange("sideways")
	require.False(t, ok)
}
