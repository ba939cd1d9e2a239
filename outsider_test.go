package oncesim_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/simcli"
)

// An operator of one's own: a pure step from a record and the state under its key.
var longest = model.Operator{
	Name: "longest", Says: "emits the largest number seen under a key", Kind: model.Commutative,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = max(state.Num, in.Value.Num)
		out.Emit(in.Key, state)
		return state
	},
}

// A mode of one's own: whenever anything dies, the whole job starts over from offset 0 with empty
// state. Only the source is new; operators and sink are those of the mode "none".
var fromScratch = model.Mode{
	Name: "from-scratch", Says: "start over from the first record whenever anything dies",
	Source: "a user's own", Restart: model.RestartJob, Sink: "once-log",
	Params:    semantics.None.Params,
	Claims:    []string{"exactly-once", "exactly-once-state"},
	Tolerates: []string{"no-fault", "crash"},
	New: func(job *model.Job, task *model.Task) model.Process {
		if task.Role == model.Source {
			return &fromStart{task: task}
		}
		return semantics.None.New(job, task)
	},
}

// fromStart reads its partition from offset 0 in every life.
type fromStart struct {
	task *model.Task
	next int64
}

func (p *fromStart) Start(_ model.Self, s *model.Script) {
	p.next = 0
	p.fetch(s)
}

func (p *fromStart) Step(ev *model.Event, s *model.Script) {
	for _, rec := range ev.Ans.Records {
		out := p.task.Out[p.task.Routes[0].Pick(p.task.Subtask, &rec)]
		s.Send(out.Peer, model.Message{Kind: model.Data, Channel: out.There, Record: rec})
	}
	p.next += ev.Ans.N
	if ev.Kind == model.TimerFired {
		p.fetch(s)
	} else if !ev.Ans.End {
		s.After(1_000_000, 0)
	}
}

func (p *fromStart) fetch(s *model.Script) {
	s.CallUntilDone(model.InputLog, model.Message{Kind: model.Fetch, Seq: p.next, N: 10,
		Record: model.Record{ID: model.ID{Part: p.task.Part, Offset: -1}}})
}

func (p *fromStart) State(c *model.Codec) { c.Int64(&p.next) }

// A sink of one's own: a log that keeps an identity once, whoever writes it.
type onceLog struct{ entries [][]model.Record }

func (l *onceLog) Reset() {
	for i := range l.entries {
		l.entries[i] = l.entries[i][:0]
	}
}

func (l *onceLog) Serve(_ int64, req *model.Message, ans *model.Answer) {
	entries := &l.entries[req.Seq]
	if req.Kind == model.Read {
		ans.Seq, ans.Records = req.Cursor, (*entries)[req.Cursor:]
		return
	}
	for i := range *entries {
		if (*entries)[i].Same(req.Record) {
			ans.Outcome, ans.Seq = model.DoneBefore, int64(i)
			return
		}
	}
	ans.Seq = int64(len(*entries))
	*entries = append(*entries, req.Record)
}

func (l *onceLog) State(c *model.Codec) {
	for i := range l.entries {
		model.Slice(c, &l.entries[i], c.Record)
	}
}

// outsider is the built-in library with all of it added: nothing is registered anywhere.
func outsider() *scenarios.Library {
	lib := scenarios.Builtin()
	lib.Operators = append(lib.Operators, &longest)
	lib.Modes = append(lib.Modes, &fromScratch)
	lib.Sinks = append(lib.Sinks, &model.SinkSpec{Name: "once-log", Shape: model.Log,
		Says: "a log that keeps each identity once",
		New: func(partitions int) model.Service {
			return &onceLog{entries: make([][]model.Record, partitions)}
		}})
	return lib
}

const peaks = `
-- scenario.yaml --
format: 1
topology:
  name: peaks
  inputs: [{name: input}]
  stages: [{name: op, operator: longest, from: [input], exchange: by-key}]
mode: from-scratch
input: [a=3, b=1, a=2]
faults:
  - crash op/0 after effect 1 of record 1
-- verdict --
holds exactly-once
holds exactly-once-state
`

// A crash makes the whole job start over, and the sink keeps every row once.
func Example_outsider() {
	lib := outsider()
	s, err := scenarios.Parse(lib, "peaks.sim", []byte(peaks))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, result, err := scenarios.Run(lib, s, scenarios.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range result.Verdicts {
		fmt.Printf("%-18s %s\n", v.Property, v.Result)
	}
	// Output:
	// at-most-once       holds
	// at-least-once      holds
	// replay-explained   holds
	// exactly-once-state holds
	// exactly-once       holds
	// effectively-once   holds
	// order              holds
	// no-revision        holds
	// atomic-visibility  holds
	// global-visibility  holds
	// agreement          holds
	// conserved          holds
	// progress           holds
	// mechanism          holds
}

// What an outsider adds runs under every class of faults that it says it tolerates.
func TestLibrary_OutsidersModeKeepsItsClaims(t *testing.T) {
	lib := outsider()
	s, err := scenarios.Parse(lib, "peaks.sim", []byte(peaks))
	require.NoError(t, err)
	runner, err := scenarios.NewRunner(lib, s)
	require.NoError(t, err)
	probe := runner.Run(1, nil, scenarios.Options{}).Subject.History.Extent
	var crash *scenarios.Class
	for _, c := range lib.Classes {
		if c.Name == "crash" {
			crash = c
		}
	}
	places := crash.Places(&probe)
	require.Greater(t, places.Len(), int64(20))
	for i := range places.Len() {
		res := runner.Run(1, []model.Rule{places.At(i)}, scenarios.Options{})
		for _, v := range res.Verdicts {
			if v.Property == "exactly-once" || v.Property == "exactly-once-state" {
				require.Equal(t, model.Holds, v.Result, "%s: %+v", v.Property, places.At(i))
			}
		}
	}
}

// And it appears in the command that a user builds with simcli.Main, beside what is built in.
func TestLibrary_OutsidersPartsAppearInTheCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("peaks.sim", []byte(peaks), 0o600))
	command := func(want int, args ...string) string {
		var stdout, stderr bytes.Buffer
		status := simcli.Run(outsider(), args, strings.NewReader(""), &stdout, &stderr)
		require.Equal(t, want, status, stderr.String())
		return stdout.String()
	}
	require.Contains(t, command(0, "list", "modes"), "from-scratch")
	matrix := command(0, "compare", "peaks.sim", "--modes", "from-scratch,at-least-once",
		"--classes", "crash")
	require.Contains(t, matrix, "from-scratch")
	require.Contains(t, matrix, "at-least-once")
	run := command(0, "run", "peaks.sim")
	require.Contains(t, run, "X crash")
	require.Contains(t, command(0, "list", "scenarios"), "pipeline")
	require.Contains(t, command(0, "explain", "from-scratch"), fromScratch.Says)
	require.Contains(t, command(0, "list", "--json"), "once-log")
	require.Contains(t, command(0, "list", "--json"), longest.Says)
}
