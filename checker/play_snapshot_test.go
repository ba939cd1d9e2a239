package checker

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// snapPlay is what a play knows of checkpoints and transactions. Its clauses:
//
//	mark 3 2 1       the sources' parts of checkpoint 3: the offsets 2 and 1
//	part 3           the operator's part: what it has in memory; "part 3 a=7" lies about a key,
//	                 that it need not know, and "part 3 in 0:1 1:0" has records in flight
//	done 3           checkpoint 3 is completed
//	restart 3        all tasks begin anew, from checkpoint 3; 0: from the start
//	restart 3 as 2   they ask for checkpoint 3 and are handed what 2 has
//	reload 3         they go on, but ask for checkpoint 3 again
//	hand a=7         the task that was handed its part last was handed another value of a key
//	drop 3           the parts of checkpoint 3 are dropped; "old drop 3": by the life before
//	tear             of the part uploaded last the store keeps the first half
//	plan 3 2 1       the input of batch 3 ends there; finish 3: it is finished
//	batch 3 0:0 0:1  the outputs of these records are written as one batch
//	begin 7          transaction 7; "begin 7/1" in partition 1; "begin 7 50": it times out
//	add 7 0:0        the outputs of a record are written into it
//	prepare 7 3      for checkpoint 3; then "decide 7 commit", or abort; "whole 3" commits all;
//	                 "decide 7 commit 2" names another checkpoint than that
//	lose             the entry written last is lost
//	wait 60          time passes
//
// With "+once" the log leaves out what it has of a batch.
//
// What is in a transaction is visible when it and all before it in its partition are decided, or,
// with "+dirty", at once.
type snapPlay struct {
	parts   map[string]model.Message // by checkpoint and task: the request that kept it
	entries [][]snapEntry            // of a transactional log, by partition
	places  map[int][]int64          // of what is visible of it
	txns    map[string]*snapTxn
	epochs  map[string]int64

	completed int64
}

type snapEntry struct {
	rec model.Record
	of  *snapTxn
}

type snapTxn struct {
	part       int
	epoch      int64
	checkpoint int64
	deadline   int64
	isOver     bool
	isCommit   bool
}

var pay = &model.Operator{Name: "pay", Kind: model.Commutative, Step: func(
	in model.Record, state model.Value, out *model.Outputs) model.Value {
	state.Num -= in.Value.Num
	out.Emit(in.Key, in.Value)
	return state
}}

// snapshot plays a clause; it reports whether it is one of these.
func (p *play) snapshot(verb, rest, at string, old bool) bool {
	words := strings.Fields(rest)
	if len(words) == 0 {
		words = []string{""}
	}
	if p.snap.parts == nil {
		p.snap = snapPlay{parts: map[string]model.Message{}, txns: map[string]*snapTxn{},
			epochs: map[string]int64{}, places: map[int][]int64{},
			entries: make([][]snapEntry, p.s.Job.SinkPart)}
	}
	switch verb {
	case "mark", "part", "done", "restart", "reload", "drop", "plan", "finish":
		p.checkpoint(verb, words, at, old)
	case "batch", "begin", "add", "prepare", "decide", "whole":
		p.transact(verb, words, old)
	case "hand":
		p.hand(words[0])
	case "lose":
		list := &p.snap.entries[p.last]
		*list = (*list)[:len(*list)-1]
	case "wait":
		p.now += number(rest, true).Num
	default:
		return false
	}
	return true
}

func (p *play) checkpoint(verb string, words []string, at string, old bool) {
	id := number(words[0], true).Num
	about := func(kind model.Kind) model.Message { return model.Message{Kind: kind, Seq: id} }
	boss := p.lives["coordinator/0"]
	if old {
		boss = p.lives["old coordinator/0"]
	}
	ends := func(from int) (list []model.Record) {
		for part, word := range words[1:] {
			list = append(list, model.Record{ID: model.ID{Part: int32(part),
				Offset: number(word, true).Num}})
		}
		return list[from:]
	}
	switch verb {
	case "mark":
		for part := range p.s.Input.Parts {
			p.upload(p.lives["source/"+strconv.Itoa(part)], id, ends(part)[:1], nil)
		}
	case "part":
		for sub := range max(p.s.Job.Topology.Stages[number(at, true).Num-1].Parallel, 1) {
			name := "s" + at + "/" + strconv.Itoa(sub)
			if old {
				name = "old " + name
			}
			p.partOf(p.lives[name], id, words[1:])
		}
	case "restart":
		p.restart(id, number(words[len(words)-1], true).Num)
	case "reload":
		for i := range p.s.Job.Tasks {
			p.download(&p.s.Job.Tasks[i], id, id)
		}
	case "done":
		m := about(model.Completion)
		m.Cursor, m.N, p.snap.completed = p.snap.completed, 3, id
		p.call(boss, model.StateStore, m, model.Answer{Outcome: model.Done})
	case "drop":
		p.call(boss, model.StateStore, about(model.Discard), model.Answer{Outcome: model.Done})
	case "finish":
		p.call(boss, model.StateStore, about(model.FinishBatch), model.Answer{Outcome: model.Done})
	case "plan":
		m := about(model.PlanBatch)
		m.Parts = ends(0)
		p.call(boss, model.StateStore, m, model.Answer{Outcome: model.Done})
	}
}

// partOf uploads what a life has in memory.
func (p *play) partOf(l *life, id int64, words []string) {
	_, op := p.operator(l)
	var state, flight []model.Record
	for _, key := range model.SortedKeys(l.memory, nil) {
		rec := model.Record{Op: op, Key: key, Value: l.memory[key]}
		for _, word := range words {
			if lie, v, isLie := strings.Cut(word, "="); isLie && lie == key {
				rec.Value = *number(v, true)
			}
		}
		state = append(state, rec)
	}
	for _, word := range words {
		key, v, isLie := strings.Cut(word, "=")
		if _, isKnown := l.memory[key]; isLie && !isKnown {
			state = append(state, model.Record{Op: op, Key: key, Value: *number(v, true)})
		}
	}
	if in := slices.Index(words, "in"); in >= 0 {
		for _, word := range words[in+1:] {
			rec, ok := p.inputOf(op, word)
			require.True(p.t, ok, word)
			flight = append(flight, rec)
		}
	}
	p.upload(l, id, state, flight)
}

func (p *play) upload(l *life, id int64, state, flight []model.Record) {
	req := model.Message{Kind: model.Upload, Seq: id, Token: int64(l.proc), N: int64(len(state)),
		Parts: slices.Concat(state, flight)}
	p.snap.parts[p.partName(&req)] = req
	p.call(l, model.StateStore, req, model.Answer{Outcome: model.Done})
}

// tear leaves of a part what a restart finds of it.
func (p *play) tear(req *model.Message) {
	left := *req
	left.Parts = req.Parts[:len(req.Parts)/2]
	left.N = min(req.N, int64(len(left.Parts)))
	p.snap.parts[p.partName(req)] = left
}

func (p *play) partName(req *model.Message) string {
	return strconv.FormatInt(req.Seq, 10) + " " + p.s.Job.Tasks[req.Token].Name
}

// hand changes what the answer to the download served last says of a key.
func (p *play) hand(word string) {
	key, value, _ := strings.Cut(word, "=")
	c := &p.h.Calls[len(p.h.Calls)-1]
	require.Equal(p.t, model.Download, c.Req.Kind)
	c.Ans.Records = slices.Clone(c.Ans.Records)
	for i := range c.Ans.Records[:c.Ans.N] {
		if rec := &c.Ans.Records[i]; rec.Key == key {
			rec.Value = *number(value, true)
			p.lives[p.s.Job.Tasks[c.Proc].Name].memory[key] = rec.Value
		}
	}
	p.h.Servings[len(p.h.Servings)-1].Ans = c.Ans
}

// restart ends all lives and has operators begin from a checkpoint, or from what another one has.
func (p *play) restart(id, handed int64) {
	for i := range p.s.Job.Tasks {
		l := p.lives[p.s.Job.Tasks[i].Name]
		p.h.Lives[l.index].Ended, p.h.Lives[l.index].How = p.tick(), model.Cancelled
		p.lives["old "+p.s.Job.Tasks[i].Name] = l
	}
	for i := range p.s.Job.Tasks {
		p.start(model.ProcID(i))
		p.download(&p.s.Job.Tasks[i], id, handed)
	}
}

// download has an operator's task ask for its part of a checkpoint, and hands it what another one
// has.
func (p *play) download(task *model.Task, id, handed int64) {
	if id == 0 || task.Role != model.Operate {
		return
	}
	l := p.lives[task.Name]
	part, found := p.snap.parts[strconv.FormatInt(handed, 10)+" "+task.Name]
	p.call(l, model.StateStore, model.Message{Kind: model.Download, Seq: id,
		Token: int64(task.Proc)}, model.Answer{Outcome: model.Done, Found: found, N: part.N,
		Records: part.Parts})
	clear(l.memory)
	for _, rec := range part.Parts[:part.N] {
		l.memory[rec.Key] = rec.Value
	}
}

// outputs are what the last operator made of records.
func (p *play) outputs(names []string) (list []model.Record) {
	op := int32(len(p.s.Job.Topology.Stages))
	for _, name := range names {
		in, ok := p.inputOf(op, name)
		require.True(p.t, ok, name)
		list = append(list, p.made[stepName(op, in)]...)
	}
	return list
}

// isGone reports whether a part of a checkpoint was aborted.
func (p *play) isGone(checkpoint int64) bool {
	for _, key := range model.SortedKeys(p.snap.txns, nil) {
		if txn := p.snap.txns[key]; txn.checkpoint == checkpoint && txn.isOver && !txn.isCommit {
			return true
		}
	}
	return false
}

func (p *play) transact(verb string, words []string, old bool) {
	sink := func(part int) *life {
		name := "sink/" + strconv.Itoa(part)
		if old {
			name = "old " + name
		}
		return p.lives[name]
	}
	name, word, _ := strings.Cut(words[0], "/")
	id := number(name, true).Num
	switch verb {
	case "batch":
		p.batch(sink, id, word, words[1:])
		return
	case "begin":
		p.begin(sink, name, word, words[1:])
		return
	case "whole":
		p.call(sink(0), model.External, model.Message{Kind: model.CommitTxn, Flags: model.Whole,
			Seq: id}, model.Answer{Outcome: model.Done})
		for _, key := range model.SortedKeys(p.snap.txns, nil) {
			if txn := p.snap.txns[key]; txn.checkpoint != 0 && txn.checkpoint <= id {
				txn.end(!p.isGone(txn.checkpoint))
			}
		}
		return
	}
	txn := p.snap.txns[name]
	p.last = txn.part
	req := model.Message{Channel: int16(txn.part), Token: id, N: txn.epoch}
	done := model.Answer{Outcome: model.Done}
	switch verb {
	case "add":
		req.Kind, req.Seq, req.Cursor = model.Write, int64(txn.part), -1
		for _, rec := range p.outputs(words[1:]) {
			req.Record, done.Seq = rec, int64(len(p.snap.entries[txn.part]))
			p.snap.entries[txn.part] = append(p.snap.entries[txn.part], snapEntry{rec, txn})
			p.call(sink(txn.part), model.External, req, done)
		}
		return
	case "prepare":
		req.Kind, req.Seq = model.PrepareTxn, number(words[1], true).Num
		txn.checkpoint = req.Seq
	case "decide":
		req.Kind, req.Seq = model.AbortTxn, txn.checkpoint
		if words[1] == "commit" {
			req.Kind = model.CommitTxn
		}
		if len(words) > 2 {
			req.Seq = number(words[2], true).Num
		}
		txn.end(words[1] == "commit")
	}
	p.call(sink(txn.part), model.External, req, done)
}

func (t *snapTxn) end(isCommit bool) {
	if !t.isOver {
		t.isOver, t.isCommit = true, isCommit
	}
}

func (p *play) begin(sink func(int) *life, name, part string, words []string) {
	txn := &snapTxn{}
	if part != "" {
		txn.part = int(number(part, true).Num)
	}
	if before := p.snap.txns[name]; before != nil {
		before.end(false)
	}
	p.snap.epochs[name]++
	txn.epoch = p.snap.epochs[name]
	req := model.Message{Kind: model.BeginTxn, Channel: int16(txn.part),
		Token: number(name, true).Num}
	if len(words) > 0 {
		req.Cursor = number(words[0], true).Num
		txn.deadline = p.now + req.Cursor
	}
	p.snap.txns[name] = txn
	p.call(sink(txn.part), model.External, req,
		model.Answer{Outcome: model.Done, Seq: txn.epoch})
}

// batch writes a batch to a partition.
func (p *play) batch(sink func(int) *life, id int64, word string, names []string) {
	part := 0
	if word != "" {
		part = int(number(word, true).Num)
	}
	p.last = part
	rows := p.outputs(names)
	isNew := func(int) bool { return true }
	if strings.Contains(p.s.Mode.Name, "+once") {
		isNew = func(i int) bool {
			return !slices.ContainsFunc(p.sinks[part], rows[i].Same) &&
				!slices.ContainsFunc(rows[:i], rows[i].Same)
		}
	}
	p.call(sink(part), model.External, model.Message{Kind: model.WriteBatch, Seq: int64(part),
		Token: id, Parts: rows},
		model.Answer{Outcome: model.Done, Seq: int64(len(p.sinks[part]))})
	var taken []model.Record
	for i := range rows {
		if isNew(i) {
			taken = append(taken, rows[i])
		}
	}
	if p.s.Shape != model.Log {
		for _, row := range taken {
			p.set(p.row(row), row)
		}
		return
	}
	p.sinks[part] = append(p.sinks[part], taken...)
}

// settle makes visible what is decided. Entries keep their places.
func (p *play) settle() {
	if len(p.snap.txns) == 0 {
		return
	}
	for part, list := range p.snap.entries {
		p.sinks[part], p.snap.places[part] = p.sinks[part][:0], nil
		for place, e := range list {
			txn := e.of
			if txn.deadline > 0 && p.now > txn.deadline {
				txn.end(false)
			}
			isDirty := strings.Contains(p.s.Mode.Name, "+dirty")
			if !txn.isOver && !isDirty {
				break
			}
			if isDirty || txn.isCommit {
				p.sinks[part] = append(p.sinks[part], e.rec)
				p.snap.places[part] = append(p.snap.places[part], int64(place))
			}
		}
	}
}
