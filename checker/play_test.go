package checker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// A play is a world in miniature that writes down the history of a story told in one line.
//
// A story is a list of clauses between semicolons. Records are named partition:offset.
//
//	in a1 b2 | a3    the input: partitions between bars; a letter is the key, the number the value
//	take 0:1         the task gets the state, applies its operator, puts the state, writes
//	apply 0:1        only the first two of these; put 0:1 and write 0:1 are the others
//	write 0:1=7      a write of another value than was computed; put likewise
//	write 0:1/1      only the second output
//	crash OP         the task of the operator dies and is restarted; "crash" alone: operator 1
//	fork OP          a successor starts although the task lives: a zombie
//	old ...          the clause is the zombie's
//	fetch 0          the source reads its partition to the end; commit 0=2 commits an offset;
//	                 commit 7=2 is about a partition that is not there
//	see              a reader sees what is new
//	swap             the two entries written last in a partition change places, unseen
//	vanish, alter 7  the last entry goes, or changes its value; alias 7:7: it is another record's
//	late, cut        the run ends by its bound of time, or of events
//	forget           the service forgets the request served last; refuse, before: its answer
//	unheard          nobody hears the answer to the request served last
//	again 2          the service serves a second copy of the last request but one; again: the last
//	stranger         the request made last was one of an attempt that nobody knows
//	astray 9         it was about the row of task 9
//	ask newest 3     the coordinator makes a request of that kind; "ask download 1 s1/0" is
//	                 about a task
//	shun 0:1         the task sets the record aside
//	hush             nobody claims the application made last
//	miss             no reader sees what changed last in a table
//
// The sink is a log, or with a mode that ends in "+rows" or "+keys" a table; "+update" has the
// state written by updates, and "+extra" gives the mode a process of its own.
//
// With a mode that begins with "snap" state is in checkpoints, and play_snapshot_test.go has more
// clauses; with "snap+alone" each task takes snapshots of its own, and with "snap+job"
// the job restarts as a whole.
//
// A second operator's clauses end in "at 2": "take 0:1 at 2". Of the first one's outputs it takes
// the first, and with "take 0:1.1 at 2" the second. Tasks are named stage/subtask,
// "s1/0"; records go to the subtask of their key.
type play struct {
	t     testing.TB
	s     Subject
	h     *model.History
	n     int64
	lives map[string]*life // by task, and "old " + task
	store map[string]model.Value
	taint map[string]bool // of what is stored: it comes of a lie
	sinks [][]model.Record
	feeds [][]model.Observation // of tables: what changed, by partition
	shown []int
	last  int                       // the partition written last
	made  map[string][]model.Record // by record at operator: what its last application emitted
	truth []applied

	restarts int         // of the first operator
	undo     model.Value // what the put served last replaced

	now  int64 // virtual ns
	snap snapPlay
}

// life is what a task knows.
type life struct {
	proc    model.ProcID
	attempt int32
	index   int
	memory  map[string]model.Value
	tainted map[string]bool // keys whose memory comes of a lie
}

// applied is an application that really happened.
type applied struct {
	op   int32
	in   model.Record
	outs []model.Record

	nonce uint64
}

var (
	sum = &model.Operator{Name: "sum", Kind: model.Commutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num += in.Value.Num
		out.Emit(in.Key, state)
		return state
	}}
	roll = &model.Operator{Name: "roll", Kind: model.NonCommutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = state.Num*10 + in.Value.Num
		out.Emit(in.Key, state)
		return state
	}}
	largest = &model.Operator{Name: "max", Kind: model.Commutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = max(state.Num, in.Value.Num)
		out.Emit(in.Key, state)
		return state
	}}
	odd = &model.Operator{Name: "odd", Kind: model.NonCommutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = state.Num*3 + in.Value.Num
		if state.Num%2 != 0 {
			out.Emit(in.Key, state)
		}
		return state
	}}
	double = &model.Operator{Name: "double", Kind: model.Stateless, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		out.Emit(in.Key, model.Value{Num: 2 * in.Value.Num})
		return state
	}}
	twin = &model.Operator{Name: "twin", Kind: model.NonCommutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = state.Num*10 + in.Value.Num
		out.Emit(in.Key, state)
		out.Emit(in.Key, model.Value{Num: -state.Num})
		return state
	}}
	both = &model.Operator{Name: "pair", Kind: model.Stateless, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		if in.Value.Num == 0 {
			out.Drop("zero")
			return state
		}
		out.Emit(in.Key, in.Value)
		out.Emit(in.Key, model.Value{Num: -in.Value.Num})
		return state
	}}
	hash = &model.Operator{Name: "hash", Kind: model.NonCommutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = int64(model.Mix(uint64(state.Num)+1, uint64(in.Value.Num)+0x9e3779b97f4a7c15))
		out.Emit(in.Key, state)
		return state
	}}
	picky = &model.Operator{Name: "picky", Kind: model.NonCommutative, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		if state.Num += in.Value.Num; in.Value.Num == 3 {
			out.Fail("three")
		}
		out.Emit(in.Key, state)
		return state
	}}
	rekey = &model.Operator{Name: "rekey", Kind: model.Stateless, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		out.Emit("z", in.Value)
		return state
	}}
	noise = &model.Operator{Name: "noise", Kind: model.NonDeterministic, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		state.Num = state.Num*10 + in.Value.Num + 3*out.Random(2)
		out.Emit(in.Key, state)
		return state
	}}
	dice = &model.Operator{Name: "dice", Kind: model.NonDeterministic, Step: func(
		in model.Record, state model.Value, out *model.Outputs) model.Value {
		if n := out.Random(3); n > 0 {
			out.Emit(in.Key, model.Value{Num: in.Value.Num + 10*n})
		}
		return state
	}}
)

var testOperators = map[string]*model.Operator{"sum": sum, "roll": roll, "hash": hash,
	"max": largest, "pay": pay,
	"twin": twin, "odd": odd, "double": double, "pair": both, "rekey": rekey, "noise": noise,
	"dice": dice, "picky": picky}

// testTopology reads "double>sum": stages in a row, by key. A plus puts stages side by side, fed
// by what comes before: "double+sum", "sum>double+double". An asterisk, as in "sum*", gives a stage
// two tasks. The topology "join" doubles one input and rolls it up with another; more are in
// mergeTopologies.
func testTopology(spec string, partitions int) *model.Topology {
	if mergeTopologies[spec] != nil {
		return mergeTopology(spec, partitions)
	}
	if spec == "join" {
		return &model.Topology{Name: spec, Inputs: []model.InputSpec{{Name: "l"}, {Name: "r"}},
			Stages: []model.Stage{{Name: "s1", Operator: double, From: []string{"l"}},
				{Name: "s2", Operator: roll, From: []string{"s1", "r"}}}}
	}
	t := &model.Topology{Name: spec,
		Inputs: []model.InputSpec{{Name: "in", Partitions: partitions}}}
	from := "in"
	for _, level := range strings.Split(spec, ">") {
		for _, name := range strings.Split(level, "+") {
			stage := model.Stage{Name: fmt.Sprintf("s%d", len(t.Stages)+1),
				Operator: testOperators[strings.TrimSuffix(name, "*")],
				From:     []string{from}, Exchange: model.ByKey,
				Parallel: len(t.Stages) % 2} // 0 and 1 are the same
			if strings.HasSuffix(name, "*") {
				stage.Parallel = 2
			}
			t.Stages = append(t.Stages, stage)
		}
		from = fmt.Sprintf("s%d", len(t.Stages))
	}
	if strings.HasPrefix(spec, "pay") {
		t.Conserves = &model.Invariant{
			State:  func(_ int32, v model.Value) int64 { return v.Num },
			Record: func(r model.Record) int64 { return r.Value.Num }}
	}
	return t
}

// stage plays a story; mode is "volatile" or "through", with "+commits".
func stage(t testing.TB, spec, mode, story string) *play {
	clauses := strings.Split(story, ";")
	input := parseInput(strings.TrimPrefix(strings.TrimSpace(clauses[0]), "in"))
	p := newPlay(t, spec, mode, input)
	for _, clause := range clauses[1:] {
		p.clause(strings.TrimSpace(clause))
	}
	p.finish()
	return p
}

func parseInput(text string) *model.Input {
	var parts []model.Partition
	for _, column := range strings.Split(text, "|") {
		part := model.Partition{Every: 1}
		for _, word := range strings.Fields(column) {
			num, err := strconv.ParseInt(word[1:], 10, 64)
			if err != nil {
				panic(err)
			}
			part.Records = append(part.Records, model.Record{Key: word[:1],
				Value: model.Value{Num: num}})
		}
		parts = append(parts, part)
	}
	return model.NewInput(parts)
}

func newPlay(t testing.TB, spec, mode string, input *model.Input) *play {
	topology := testTopology(spec, len(input.Parts))
	require.NoError(t, topology.Validate())
	m := &model.Mode{Name: mode, State: model.Volatile,
		Commits: strings.Contains(mode, "+commits")}
	if strings.HasPrefix(mode, "through") {
		m.State = model.WrittenThrough
	}
	var extra []string
	if strings.HasPrefix(mode, "snap") {
		m.State, extra = model.Snapshotted, append(extra, "coordinator")
	}
	if strings.HasPrefix(mode, "snap+alone") {
		m.State = model.Scattered
	}
	if strings.HasPrefix(mode, "snap+job") {
		m.Restart = model.RestartJob
	}
	h := &model.History{End: model.End{Reason: model.Quiescent}}
	if strings.Contains(mode, "+extra") {
		extra = append(extra, "acker")
	}
	p := &play{t: t, h: h, lives: map[string]*life{}, store: map[string]model.Value{},
		taint: map[string]bool{},
		made:  map[string][]model.Record{}, s: Subject{
			Job: model.NewJob(topology, nil, extra...), Mode: m,
			Input: input, History: h}}
	p.sinks = make([][]model.Record, p.s.Job.SinkPart)
	p.shown, p.feeds = make([]int, p.s.Job.SinkPart), make([][]model.Observation, p.s.Job.SinkPart)
	switch {
	case strings.Contains(mode, "+rows"):
		p.s.Shape = model.Rows
	case strings.Contains(mode, "+keys"):
		p.s.Shape = model.Keys
	}
	for i := range p.s.Job.Tasks {
		p.start(model.ProcID(i))
	}
	return p
}

func (p *play) tick() int64 { p.n++; return p.n }

func (p *play) start(proc model.ProcID) *life {
	l := &life{proc: proc, attempt: int32(len(p.h.Lives) + 1), index: len(p.h.Lives),
		memory: map[string]model.Value{}, tainted: map[string]bool{}}
	nonce := model.Mix(uint64(l.attempt), 1)
	if p.s.Mode.Restart == model.RestartJob {
		l.attempt = int32(1 + l.index/len(p.s.Job.Tasks)) // all have the same
	}
	p.h.Lives = append(p.h.Lives, model.Life{Proc: proc, Attempt: l.attempt, Began: p.tick(),
		Nonce: nonce})
	p.lives[p.s.Job.Tasks[proc].Name] = l
	return l
}

func (p *play) crash(op string) {
	l := p.lives[op]
	p.h.Lives[l.index].Ended, p.h.Lives[l.index].How = p.tick(), model.Crashed
	p.start(l.proc)
	p.restarts++
}

func (p *play) clause(clause string) {
	old := strings.HasPrefix(clause, "old ")
	clause, at, _ := strings.Cut(strings.TrimPrefix(clause, "old "), " at ")
	verb, rest, _ := strings.Cut(clause, " ")
	switch verb {
	case "take", "apply", "put", "write", "shun":
		p.act(max(at, "1"), old, verb, rest)
	case "crash":
		p.crash(max(rest, "s1/0"))
	case "fork":
		l := p.lives[rest]
		p.h.Lives[l.index].Replaced = p.n + 1
		p.lives["old "+rest] = l
		p.start(l.proc)
	case "fetch", "commit":
		p.source(verb, rest, old)
	case "forget", "tear", "refuse", "before":
		p.service(verb)
	case "hush":
		p.h.Applications = p.h.Applications[:len(p.h.Applications)-1]
	case "unheard":
		c := &p.h.Calls[len(p.h.Calls)-1]
		c.Outcome, c.Answered = model.Unknown, 0
	case "stranger":
		p.h.Calls[len(p.h.Calls)-1].Attempt = 99
	case "astray":
		p.h.Calls[len(p.h.Calls)-1].Req.Token = number(rest, true).Num
	case "ask":
		p.ask(strings.Fields(rest), old)
	case "again":
		p.again(int(number(max(rest, "1"), true).Num))
	default:
		if !p.snapshot(verb, rest, max(at, "1"), old) {
			p.reader(verb, rest)
		}
	}
}

// act is a clause about a record: "take 0:1", "write 0:1/1=7".
func (p *play) act(stage string, old bool, verb, rest string) {
	name, lie, isLie := strings.Cut(rest, "=")
	name, ordinal, one := strings.Cut(name, "/")
	op := int32(number(stage, true).Num)
	in, ok := p.inputOf(op, name)
	if !ok {
		return
	}
	l := p.lifeOf(op, in, old)
	switch verb {
	case "take":
		p.apply(l, in)
		p.put(l, in, nil)
		p.writeAll(l, in)
	case "apply":
		p.apply(l, in)
	case "shun":
		p.h.Applications = append(p.h.Applications, model.Application{N: p.tick(), Proc: l.proc,
			Attempt: l.attempt, Op: op, In: in, Dropped: "set aside: poison"})
	case "put":
		p.put(l, in, number(lie, isLie))
	case "write":
		for i, out := range p.made[stepName(op, in)] {
			if !one || strconv.Itoa(i) == ordinal {
				if v := number(lie, isLie); v != nil {
					out.Value = *v
				}
				p.write(l, out)
			}
		}
	}
}

func number(text string, is bool) *model.Value {
	if !is {
		return nil
	}
	num, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return &model.Value{Num: num}
}

func stepName(op int32, in model.Record) string {
	return fmt.Sprintf("%d %d:%d %d", op, in.ID.Part, in.ID.Offset, in.Path)
}

// inputOf is the record of that name as it reaches an operator: an input record, or an output of
// the operator before, the first if the name does not say which; ok is false if that emitted none.
func (p *play) inputOf(op int32, name string) (in model.Record, ok bool) {
	name, ordinal, _ := strings.Cut(name, ".")
	var id model.ID
	_, err := fmt.Sscanf(name, "%d:%d", &id.Part, &id.Offset)
	require.NoError(p.t, err, name)
	rec := *p.s.Input.At(id)
	up := p.upstream(op, id.Part)
	if up == 0 {
		return rec, true
	}
	before, _ := p.inputOf(up, name)
	outs, ok := p.made[stepName(up, before)]
	require.True(p.t, ok, "%s has not passed operator %d", name, up)
	n := number(max(ordinal, "0"), true).Num
	if n >= int64(len(outs)) {
		return rec, false
	}
	return outs[n], true
}

// upstream is the operator by which records of a partition reach another, 0 for the input, -1 if
// they do not.
func (p *play) upstream(op, part int32) int32 {
	t := p.s.Job.Topology
	for _, from := range t.Stages[op-1].From {
		if strings.HasPrefix(t.PartitionName(part), from+"/") {
			return 0
		}
		for i := range t.Stages[:op-1] {
			if t.Stages[i].Name == from && p.upstream(int32(i+1), part) >= 0 {
				return int32(i + 1)
			}
		}
	}
	return -1
}

// lifeOf is the life of the task that a record reaches at an operator.
func (p *play) lifeOf(op int32, in model.Record, old bool) *life {
	subtask := model.Below(model.HashText(in.Key),
		int64(max(p.s.Job.Topology.Stages[op-1].Parallel, 1)))
	name := fmt.Sprintf("s%d/%d", op, subtask)
	if old {
		name = "old " + name
	}
	return p.lives[name]
}

func (p *play) operator(l *life) (*model.Operator, int32) {
	task := &p.s.Job.Tasks[l.proc]
	return task.Operator, task.Op
}

// apply gets the state if the life does not know it, and applies the operator.
func (p *play) apply(l *life, in model.Record) {
	operator, op := p.operator(l)
	state, ok := l.memory[in.Key]
	if !ok && p.s.Mode.State == model.WrittenThrough && operator.Kind != model.Stateless {
		state, ok = p.store[storeKey(op, in.Key)]
		l.tainted[in.Key] = p.taint[storeKey(op, in.Key)]
		rec := model.Record{ID: in.ID, Path: in.Path, Op: op, Key: in.Key}
		p.call(l, model.StateStore, model.Message{Kind: model.Get, Record: rec},
			model.Answer{Outcome: model.Done, Found: ok, Value: state})
	}
	var out model.Outputs
	out.Begin(op, in)
	nonce := p.h.Lives[l.index].Nonce
	out.Seed(nonce)
	after := operator.Step(in, state, &out)
	if out.Failed() != "" {
		after = state
		out.Begin(op, in)
	}
	l.memory[in.Key] = after
	p.h.Applications = append(p.h.Applications, model.Application{N: p.tick(), Proc: l.proc,
		Attempt: l.attempt, Op: op, In: in, Outputs: int32(len(out.Records())),
		Dropped: out.Dropped()})
	p.truth = append(p.truth, applied{op, in, out.Records(), nonce})
	p.made[stepName(op, in)] = slices.Clone(out.Records())
}

func storeKey(op int32, key string) string { return fmt.Sprintf("%d %s", op, key) }

// put stores the state of the life, or a lie.
func (p *play) put(l *life, in model.Record, lie *model.Value) {
	operator, op := p.operator(l)
	if p.s.Mode.State != model.WrittenThrough || operator.Kind == model.Stateless {
		return
	}
	v := l.memory[in.Key]
	if lie != nil {
		v = *lie
	}
	p.undo = p.store[storeKey(op, in.Key)]
	p.store[storeKey(op, in.Key)] = v
	p.taint[storeKey(op, in.Key)] = l.tainted[in.Key] || v != l.memory[in.Key]
	rec := model.Record{ID: in.ID, Path: in.Path, Op: op, Key: in.Key, Value: v}
	req := model.Message{Kind: model.Put, Record: rec}
	if strings.Contains(p.s.Mode.Name, "+update") {
		req.Kind, req.Flags = model.Update, model.WithState
	}
	p.call(l, model.StateStore, req, model.Answer{Outcome: model.Done})
}

func (p *play) writeAll(l *life, in model.Record) {
	if _, op := p.operator(l); p.s.Job.Topology.IsTerminal(int(op) - 1) {
		for _, out := range p.made[stepName(op, in)] {
			p.write(l, out)
		}
	}
}

// write makes an output visible; the task itself stands for its sink.
func (p *play) write(l *life, out model.Record) {
	p.last = p.s.Job.Tasks[l.proc].Subtask
	place := len(p.sinks[p.last])
	if p.s.Shape != model.Log {
		place = p.row(out)
	}
	p.call(l, model.External, model.Message{Kind: model.Write, Seq: int64(p.last), Record: out},
		model.Answer{Outcome: model.Done, Seq: int64(place)})
	p.set(place, out)
}

// set puts a record in a place of the partition written last.
func (p *play) set(place int, out model.Record) {
	sink := &p.sinks[p.last]
	if place < len(*sink) && (*sink)[place] == out {
		return // it changes nothing
	}
	*sink = append((*sink)[:place:place], append([]model.Record{out},
		(*sink)[min(place+1, len(*sink)):]...)...)
	seq := int64(place)
	if p.s.Shape == model.Keys {
		seq = int64(len(p.feeds[p.last]))
	}
	p.feeds[p.last] = append(p.feeds[p.last],
		model.Observation{Part: int32(p.last), Seq: seq, Out: out})
}

// row is the place of the row that a record is written to.
func (p *play) row(out model.Record) int {
	i := slices.IndexFunc(p.sinks[p.last], func(rec model.Record) bool {
		if p.s.Shape == model.Keys {
			return rec.Op == out.Op && rec.Key == out.Key
		}
		return rec.Same(out)
	})
	if i < 0 {
		return len(p.sinks[p.last])
	}
	return i
}

func (p *play) call(l *life, service model.ServiceID, req model.Message, ans model.Answer) {
	c := model.Call{Proc: l.proc, Attempt: l.attempt, Service: service, Outcome: ans.Outcome,
		Invoked: p.tick(), Served: p.tick(), Answered: p.tick(), Req: req, Ans: ans}
	p.h.Calls = append(p.h.Calls, c)
	p.h.Servings = append(p.h.Servings, model.Serving{N: c.Served, At: p.now,
		Call: int32(len(p.h.Calls) - 1), Ans: ans})
}

// service changes what became of the request served last; the truth about the store goes with it.
func (p *play) service(verb string) {
	s := &p.h.Servings[len(p.h.Servings)-1]
	req := &p.h.Calls[s.Call].Req
	switch verb {
	case "forget":
		s.Forgotten = true
	case "tear":
		s.Torn = true
		p.tear(req)
	case "refuse":
		s.Ans.Outcome = model.Refused
	case "before":
		s.Ans.Outcome = model.DoneBefore
	}
	if setsState(req) {
		name := storeKey(req.Record.Op, req.Record.Key)
		if p.store[name] = p.undo; p.undo == (model.Value{}) {
			delete(p.store, name)
		}
	}
	if req.Kind == model.Write && p.s.Shape == model.Log {
		p.sinks[p.last] = p.sinks[p.last][:len(p.sinks[p.last])-1]
	}
}

// again has the service serve a copy of the request served as the n-th from the end.
func (p *play) again(n int) {
	s := p.h.Servings[len(p.h.Servings)-n]
	s.N, s.At, s.Copy = p.tick(), p.now, true
	p.h.Servings = append(p.h.Servings, s)
	req := &p.h.Calls[s.Call].Req
	if setsState(req) {
		p.store[storeKey(req.Record.Op, req.Record.Key)] = req.Record.Value
	}
	if req.Kind == model.Write && p.s.Shape == model.Log && req.Token == 0 {
		p.sinks[req.Seq] = append(p.sinks[req.Seq], req.Record)
	}
}

// ask has the coordinator make a request.
func (p *play) ask(words []string, old bool) {
	l := p.lives["coordinator/0"]
	if old {
		l = p.lives["old coordinator/0"]
	}
	kind, ok := model.ParseKind(words[0])
	require.True(p.t, ok && kind.IsCall(), words)
	req := model.Message{Kind: kind, Seq: number(words[1], true).Num}
	ans := model.Answer{Outcome: model.Done, Seq: req.Seq}
	if len(words) > 2 {
		req.Token = int64(p.lives[words[2]].proc)
		if part, found := p.snap.parts[p.partName(&req)]; found && kind == model.Download {
			ans.Found, ans.N, ans.Records = true, part.N, part.Parts
		}
	}
	p.call(l, kind.Service(), req, ans)
}

func (p *play) source(verb, rest string, old bool) {
	part, seq, _ := strings.Cut(rest, "=")
	l, ok := p.lives["source/"+part]
	if old {
		l = p.lives["old source/"+part]
	}
	req := model.Message{Record: model.Record{ID: model.ID{Part: int32(number(part, true).Num)}}}
	if !ok {
		l = p.lives["source/0"]
	}
	if verb == "commit" {
		req.Kind, req.Seq = model.OffsetCommit, number(seq, true).Num
		p.call(l, model.InputLog, req, model.Answer{Outcome: model.Done})
		return
	}
	req.Kind = model.Fetch
	n := int64(0)
	if ok {
		n = int64(len(p.s.Input.Parts[l.proc].Records))
	}
	p.call(l, model.InputLog, req, model.Answer{Outcome: model.Done, N: n, End: true})
}

func (p *play) reader(verb, rest string) {
	sink := p.sinks[p.last]
	last := len(sink) - 1
	switch verb {
	case "see":
		p.settle()
		p.tick()
		for part := range p.sinks {
			p.seeTable(part)
			for ; p.s.Shape == model.Log && p.shown[part] < len(p.sinks[part]); p.shown[part]++ {
				p.h.Observations = append(p.h.Observations, p.observe(part, p.shown[part]))
			}
		}
	case "swap":
		sink[last], sink[last-1] = sink[last-1], sink[last]
	case "miss":
		list := &p.feeds[p.last]
		*list = (*list)[:len(*list)-1]
	case "vanish":
		p.sinks[p.last] = sink[:last]
	case "alter":
		sink[last].Value = *number(rest, true)
	case "alias":
		_, err := fmt.Sscanf(rest, "%d:%d", &sink[last].ID.Part, &sink[last].ID.Offset)
		require.NoError(p.t, err)
	case "late":
		p.h.End.Reason = model.TimeBound
	case "cut":
		p.h.End.Reason = model.EventBound
	default:
		require.Fail(p.t, "unknown verb "+verb)
	}
}

func (p *play) observe(part, i int) model.Observation {
	place := int64(i)
	if places := p.snap.places[part]; places != nil {
		place = places[i]
	}
	return model.Observation{N: p.tick(), At: p.now, Part: int32(part), Seq: place,
		Out: p.sinks[part][i]}
}

// seeTable shows what changed in a partition of a table.
func (p *play) seeTable(part int) {
	for ; p.s.Shape != model.Log && p.shown[part] < len(p.feeds[part]); p.shown[part]++ {
		o := p.feeds[part][p.shown[part]]
		o.N = p.tick()
		p.h.Observations = append(p.h.Observations, o)
	}
}

// finish lets a reader start over, and before that see what changed in tables.
func (p *play) finish() {
	p.settle()
	for part := range p.sinks {
		p.seeTable(part)
	}
	for part := range p.sinks {
		for i := range p.sinks[part] {
			if p.h.End.Reason == model.Quiescent {
				p.h.Final = append(p.h.Final, p.observe(part, i))
			}
		}
	}
	p.h.End.N, p.h.End.At = p.tick(), p.now
}

// final is the state that counts, by operator and key.
func (p *play) final() map[string]model.Value {
	if p.s.Mode.State == model.WrittenThrough {
		return p.store
	}
	state := map[string]model.Value{}
	for i := range p.s.Job.Tasks {
		task := &p.s.Job.Tasks[i]
		if task.Role == model.Operate && task.Operator.Kind != model.Stateless {
			memory := p.lives[task.Name].memory
			for _, key := range model.SortedKeys(memory, nil) {
				state[storeKey(task.Op, key)] = memory[key]
			}
		}
	}
	return state
}

// show writes verdicts as tests state them: "exactly-once: duplicate 0:0", "order: holds".
func show(verdicts []model.Verdict) map[string]string {
	shown := map[string]string{}
	for _, v := range verdicts {
		var words []string
		for _, a := range v.Anomalies {
			words = append(words, fmt.Sprintf("%s %d:%d", a.Kind, a.Record.ID.Part,
				a.Record.ID.Offset))
		}
		shown[v.Property] = strings.Join(words, ", ")
		if v.Result != model.Violated {
			shown[v.Property] = v.Result.String()
		}
	}
	return shown
}
