package semantics

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// IndependentSnapshots has every task take snapshots when it likes, without barriers. After a crash
// those are looked for that fit together: no channel may have delivered what was not sent, and what
// was sent and not delivered is nowhere. One that does not fit sends its neighbour back further,
// and so on: the domino effect.
var IndependentSnapshots = model.Mode{
	Name: "independent-snapshots",
	Says: "tasks snapshot on their own; a crash rolls them back like dominoes to where they agree",
	Source: "Randell, System Structure for Software Fault Tolerance, 1975 (domino effect); " +
		"Elnozahy et al., A Survey of Rollback-Recovery Protocols, 2002 (recovery line)",
	Restart: model.RestartJob,
	State:   model.Scattered,
	Sink:    "append-log",
	Extra:   []string{coordinatorName},
	Params: []model.Param{batchParam,
		{Name: "every", Default: 2, Min: 1, Max: 1000,
			Says: "records between two snapshots of a sink; one more for each hop before it"},
		{Name: "timeout", Default: 60_000_000, Min: 1_000_000, Max: 10_000_000_000, IsTime: true,
			Says: "how long before a task is told again where to begin"},
		deadLetterParam},
	Claims: []string{"at-least-once", "exactly-once-state", "effectively-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "pause",
		"service-crash", "refuse-call"},
	Cells: table(`
		no-fault           all               -
		crash              stateless         D RG
		crash              commutative       W D RV RG
		crash              non-commutative   W SX D RV RG
		crash              non-deterministic D RV RG
		lose-request       stateless         - (D RG)
		lose-request       commutative       - (W D RV RG)
		lose-request       non-commutative   - (W SX D RV RG)
		lose-request       non-deterministic - (D RV RG)
		lose-answer        stateless         D (RG)
		lose-answer        commutative       D (W RV RG)
		lose-answer        non-commutative   D (W SX RV RG)
		lose-answer        non-deterministic D (RV RG)
		delay-call         stateless         D RG
		delay-call         commutative       D RG (W RV)
		delay-call         non-commutative   D RG (W SX RV)
		delay-call         non-deterministic D RG (RV)
		duplicate-call     stateless         D (RG)
		duplicate-call     commutative       D RG (W RV)
		duplicate-call     non-commutative   D RG (W SX RV)
		duplicate-call     non-deterministic D (RV RG)
		pause              stateless         - (D RG)
		pause              commutative       - (W D RV RG)
		pause              non-commutative   - (W SX D RV RG)
		pause              non-deterministic - (D RV RG)
		zombie             stateless         D RG
		zombie             commutative       W D RV RG
		zombie             non-commutative   W SX D RV RG
		zombie             non-deterministic D RV RG
		lose-message       stateless         L (D RO RG)
		lose-message       commutative       L SL W (D RV RO RG)
		lose-message       non-commutative,non-deterministic L SL (W SX D RV RO RG)
		duplicate-message  stateless         D (RG)
		duplicate-message  commutative       W NS D SD RV RG (RO)
		duplicate-message  non-commutative   W NS D SD RV RG (SX)
		duplicate-message  non-deterministic W NS D SD RV (RG)
		reorder-message    stateless         RO (D RG)
		reorder-message    commutative       W RO (D RV RG)
		reorder-message    non-commutative   W RO (SX D RV RG)
		reorder-message    non-deterministic RO (D RV RG)
		delay-message      stateless         RO (D RG)
		delay-message      commutative       W RO (D RV RG)
		delay-message      non-commutative   W RO (WS SX D RV RG)
		delay-message      non-deterministic W RO (SX D RV RG)
		partition          stateless         L D (RG)
		partition          commutative       L SL D (W RV RG)
		partition          non-commutative   L SL D (W SX RV RG)
		partition          non-deterministic L SL D (SX RV RG)
		service-crash      stateless         - (D RG)
		service-crash      commutative       - (W D RV RG)
		service-crash      non-commutative   - (W SX D RV RG)
		service-crash      non-deterministic - (D RV RG)
		refuse-call        stateless         D RG
		refuse-call        commutative       W D RV RG
		refuse-call        non-commutative   W SX D RV RG
		refuse-call        non-deterministic D RV RG
		forget-call        stateless         L (D RO RG)
		forget-call        commutative       L (W D RV RO RG)
		forget-call        non-commutative,non-deterministic L (W SX D RV RO RG)
		tear-call          stateless         - (D RG ST)
		tear-call          commutative       - (W D RV RG ST)
		tear-call          non-commutative   - (W SX D RV RG ST)
		tear-call          non-deterministic - (D RV RG ST)
		stale-read         stateless         - (D RG)
		stale-read         commutative       - (W D RV RG)
		stale-read         non-commutative   - (W SX D RV RG)
		stale-read         non-deterministic - (D RV RG)
		truncate           stateless         L (D RG)
		truncate           commutative       L SL W (D RV RG)
		truncate           non-commutative   L SL (W SX D RV RG)
		truncate           non-deterministic L SL (W D RV RG)
		poison             stateless         D ST
		poison             commutative,non-commutative D RV RG ST
		poison             non-deterministic D RV ST
		lose-notice        stateless         - (D RG)
		lose-notice        commutative       - (W D RV RG)
		lose-notice        non-commutative   - (W SX D RV RG)
		lose-notice        non-deterministic - (D RV RG)
		delay-notice       stateless         - (D RG)
		delay-notice       commutative       - (W D RV RG)
		delay-notice       non-commutative   - (W SX D RV RG)
		delay-notice       non-deterministic - (D RV RG)
		duplicate-notice   stateless         - (D RG)
		duplicate-notice   commutative       - (W D RV RG)
		duplicate-notice   non-commutative   - (W SX D RV RG)
		duplicate-notice   non-deterministic - (D RV RG)`),
	IsVariant: true,
	New: func(job *model.Job, task *model.Task) model.Process {
		if task.Role == model.Extra {
			return newLineFinder(job)
		}
		return newLoneTask(job, task)
	},
}

// counts is how far a task is at a snapshot: by channel, what it had sent and received. Two
// snapshots fit together where what one had sent to the other is what that had received of it.
type counts struct {
	number   int64
	sent     []int64
	received []int64
}

// encode appends counts as records without an operator: the number of the snapshot, then a record
// for each channel.
func (k *counts) encode(into []model.Record) []model.Record {
	into = append(into, model.Record{ID: model.ID{Part: -1, Offset: k.number}})
	for i, n := range k.sent {
		into = append(into, model.Record{ID: model.ID{Part: int32(i), Offset: n}})
	}
	for i, n := range k.received {
		into = append(into, model.Record{ID: model.ID{Part: int32(i), Offset: n}, Path: 1})
	}
	return into
}

// decodeCounts is the inverse, of any number of them one after the other. It reuses the memory of
// all.
func decodeCounts(all []counts, list []model.Record) []counts {
	all = all[:0]
	for i := range list {
		rec := &list[i]
		if rec.ID.Part < 0 {
			all = pushCounts(all, &counts{number: rec.ID.Offset})
			continue
		}
		last := &all[len(all)-1]
		if rec.Path == 0 {
			last.sent = append(last.sent, rec.ID.Offset)
		} else {
			last.received = append(last.received, rec.ID.Offset)
		}
	}
	return all
}

// pushCounts appends a copy, in the memory that the list had there.
func pushCounts(list []counts, k *counts) []counts {
	if n := len(list); n < cap(list) {
		list = list[:n+1]
	} else {
		list = append(list, counts{})
	}
	list[len(list)-1].copy(k)
	return list
}

func (k *counts) copy(from *counts) {
	k.number = from.number
	k.sent = append(k.sent[:0], from.sent...)
	k.received = append(k.received[:0], from.received...)
}

// reset begins to count on a number of channels.
func (k *counts) reset(outputs, inputs int) {
	k.number = 0
	k.sent = slices.Grow(k.sent[:0], outputs)[:outputs]
	k.received = slices.Grow(k.received[:0], inputs)[:inputs]
	clear(k.sent)
	clear(k.received)
}

// lineFinder finds the recovery line: of each task the newest snapshot such that all fit together.
//
//	history[p]   the snapshots of task p, oldest first, behind the start
//	line[p]      how many of them are not undone; 0: the task begins from the start
type lineFinder struct {
	job     *model.Job
	tasks   int
	timeout int64
	attempt int32
	asked   int64
	history [][]counts
	line    []int64
	waiting []bool
}

func newLineFinder(job *model.Job) *lineFinder {
	tasks := len(job.Tasks) - 1
	return &lineFinder{job: job, tasks: tasks, timeout: job.Param("timeout"),
		history: make([][]counts, tasks)}
}

// Start implements model.Process.
func (f *lineFinder) Start(self model.Self, s *model.Script) {
	f.attempt, f.asked = self.Attempt, 0
	f.line, f.waiting = f.line[:0], f.waiting[:0]
	for p := range f.history {
		f.history[p] = f.history[p][:0]
	}
	f.ask(s)
}

// ask asks for the newest snapshot of the next task; it names those before it.
func (f *lineFinder) ask(s *model.Script) {
	s.CallUntilDone(model.StateStore, model.Message{Kind: model.Download, Flags: model.Fenced,
		Token: f.asked, Record: model.Record{ID: model.ID{Offset: -1}}})
}

// Step implements model.Process.
func (f *lineFinder) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Download && ev.Ans.End:
		s.FailOn(nowhere(ev.Ans.Seq), fmt.Sprintf("snapshot %d is torn, and it alone says which "+
			"came before it", ev.Ans.Seq))
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Download:
		f.history[f.asked] = decodeCounts(f.history[f.asked], ev.Ans.Records[ev.Ans.N:])
		f.asked++
		if int(f.asked) < f.tasks {
			f.ask(s)
			return
		}
		f.find()
		f.tell(s)
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Ready:
		if ev.Msg.Attempt == f.attempt {
			f.waiting[ev.From] = false
		}
	case ev.Kind == model.TimerFired:
		f.tell(s)
	default:
		panic(fmt.Sprintf("semantics: coordinator steps on %+v", *ev))
	}
}

// find begins with the newest snapshots and sends back whoever has received what was not sent, or
// has sent what was not received, until nobody is.
func (f *lineFinder) find() {
	for p := range f.history {
		f.line = append(f.line, int64(len(f.history[p])))
		f.waiting = append(f.waiting, true)
	}
	for isStable := false; !isStable; {
		isStable = true
		for p := range f.tasks {
			for i, out := range f.job.Tasks[p].Out {
				sent, received := f.at(p, i, false), f.at(int(out.Peer), int(out.There), true)
				switch {
				case received > sent:
					f.line[out.Peer]--
				case sent > received:
					f.line[p]--
				default:
					continue
				}
				isStable = false
			}
		}
	}
}

// at is what a task has received or sent on a channel at its snapshot on the line.
func (f *lineFinder) at(p, channel int, isReceived bool) int64 {
	n := f.line[p]
	switch {
	case n == 0:
		return 0
	case isReceived:
		return f.history[p][n-1].received[channel]
	}
	return f.history[p][n-1].sent[channel]
}

// tell tells those that have not begun where to begin: from a snapshot; N is the number of their
// newest.
func (f *lineFinder) tell(s *model.Script) {
	isMissing := false
	for p := range f.tasks {
		if !f.waiting[p] {
			continue
		}
		isMissing = true
		m := notice(model.Restore, 0)
		if n := len(f.history[p]); n > 0 {
			m.N = f.history[p][n-1].number
		}
		if n := f.line[p]; n > 0 {
			m.Seq = f.history[p][n-1].number
		}
		s.Send(model.ProcID(p), m)
	}
	if isMissing {
		s.After(f.timeout, 1)
	}
}

// State implements model.Process.
func (f *lineFinder) State(c *model.Codec) {
	c.Int32(&f.attempt)
	c.Int64(&f.asked)
	model.Slice(c, &f.history, func(list *[]counts) {
		model.Slice(c, list, func(k *counts) { k.state(c) })
	})
	model.Slice(c, &f.line, c.Int64)
	model.Slice(c, &f.waiting, c.Bool)
}

func (k *counts) state(c *model.Codec) {
	c.Int64(&k.number)
	model.Slice(c, &k.sent, c.Int64)
	model.Slice(c, &k.received, c.Int64)
}

// loneTask is a source, an operator or a sink that takes snapshots of its own. A snapshot holds the
// state, the counts, and those of the snapshots before it.
//
//	now       where it is; its number is that of the newest snapshot
//	handled   records since then
//	history   the counts of the snapshots that are not undone
type loneTask struct {
	task    *model.Task
	finder  model.ProcID
	every   int64
	cursor  cursor
	keyed   keyed
	attempt int32
	isOpen  bool
	from    int64
	now     counts
	handled int64
	history []counts
	before  []model.Message
	parts   []model.Record
}

func newLoneTask(job *model.Job, task *model.Task) *loneTask {
	p := &loneTask{task: task, finder: job.Find(coordinatorName + "/0"),
		every: job.Param("every") + int64(task.Hop)}
	switch task.Role {
	case model.Source:
		p.cursor = newCursor(job, task)
	case model.Operate:
		p.keyed = newKeyed(job, task, model.Volatile)
	}
	return p
}

// Start implements model.Process.
func (p *loneTask) Start(self model.Self, _ *model.Script) {
	p.attempt, p.isOpen, p.from, p.handled = self.Attempt, false, 0, 0
	p.cursor.next, p.cursor.isEnd = 0, false
	if p.task.Role == model.Operate {
		p.keyed.reset(self)
	}
	p.now.reset(len(p.task.Out), len(p.task.In))
	p.history, p.before = p.history[:0], p.before[:0]
}

// Step implements model.Process.
func (p *loneTask) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Delivered && ev.Msg.Attempt != p.attempt:
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Restore:
		p.restore(s, &ev.Msg)
	case ev.Kind == model.Delivered && !p.isOpen:
		p.before = append(p.before, ev.Msg)
	case ev.Kind == model.Delivered:
		p.take(s, &ev.Msg)
	case ev.Kind == model.TimerFired:
		p.cursor.fetch(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Download &&
		(!ev.Ans.Found || ev.Ans.End):
		s.FailOn(nowhere(ev.Msg.Seq), fmt.Sprintf("snapshot %d is gone", ev.Msg.Seq))
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Download:
		p.load(ev)
		p.open(s, ev.Msg.Seq)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		p.fetched(s, &ev.Ans)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Write,
		ev.Kind == model.Answered && ev.Msg.Kind == model.Upload:
	default:
		panic(fmt.Sprintf("semantics: task steps on %+v", *ev))
	}
}

func (p *loneTask) restore(s *model.Script, m *model.Message) {
	switch {
	case p.isOpen:
		s.Send(p.finder, notice(model.Ready, p.from))
	case m.Seq == 0:
		p.now.number = m.N
		p.open(s, 0)
	default:
		p.now.number = m.N
		s.CallUntilDone(model.StateStore, p.about(model.Download, m.Seq))
	}
}

func (p *loneTask) about(kind model.Kind, number int64) model.Message {
	return model.Message{Kind: kind, Flags: model.Fenced, Seq: number, Token: int64(p.task.Proc),
		Record: model.Record{ID: model.ID{Part: p.task.Part, Offset: -1}}}
}

// load goes back to a snapshot. Its number stays that of the newest one: numbers are not used
// twice.
func (p *loneTask) load(ev *model.Event) {
	newest := p.now.number
	switch state := ev.Ans.Records[:ev.Ans.N]; p.task.Role {
	case model.Source:
		p.cursor.next = state[0].ID.Offset
	case model.Operate:
		p.keyed.restore(state)
	}
	p.history = decodeCounts(p.history, ev.Ans.Records[ev.Ans.N:])
	p.now.copy(&p.history[len(p.history)-1])
	p.now.number = newest
}

// open begins. What was undone is left behind with a snapshot of what it went back to.
func (p *loneTask) open(s *model.Script, from int64) {
	p.isOpen, p.from = true, from
	if p.now.number > 0 {
		p.snapshot(s)
	}
	s.Send(p.finder, notice(model.Ready, from))
	if p.task.Role == model.Source {
		p.cursor.fetch(s)
	}
	for i := range p.before {
		p.take(s, &p.before[i])
	}
	p.before = p.before[:0]
}

// fetched hands out a batch.
func (p *loneTask) fetched(s *model.Script, ans *model.Answer) {
	for i := range ans.Records {
		p.cursor.next = ans.Records[i].ID.Offset + 1
		p.send(s, ans.Records[i])
		p.handledOne(s)
	}
	p.cursor.took(s, ans)
	if ans.N > 0 {
		p.cursor.fetch(s)
	}
}

// take takes a record.
func (p *loneTask) take(s *model.Script, m *model.Message) {
	p.now.received[m.Channel]++
	if p.task.Role == model.Sink {
		out := write(p.task, m.Record)
		out.Flags = model.Fenced
		s.CallUntilDone(model.External, out)
	} else {
		list, ok := p.keyed.apply(s, m)
		if !ok {
			return
		}
		for _, out := range list {
			p.send(s, out)
		}
	}
	p.handledOne(s)
}

// send sends a record along every route.
func (p *loneTask) send(s *model.Script, rec model.Record) {
	for _, route := range p.task.Routes {
		i := route.Pick(p.task.Subtask, &rec)
		out := p.task.Out[i]
		p.now.sent[i]++
		s.Send(out.Peer, model.Message{Kind: model.Data, Channel: out.There, Record: rec})
	}
}

// handledOne counts a record that is done with, and takes a snapshot when it is time.
func (p *loneTask) handledOne(s *model.Script) {
	if p.handled++; p.handled >= p.every {
		p.snapshot(s)
	}
}

// snapshot makes where the task is durable, under the next number.
func (p *loneTask) snapshot(s *model.Script) {
	p.handled = 0
	p.now.number++
	p.history = pushCounts(p.history, &p.now)
	m := p.about(model.Upload, p.now.number)
	p.parts = p.parts[:0]
	switch p.task.Role {
	case model.Source:
		p.parts = append(p.parts,
			model.Record{ID: model.ID{Part: p.cursor.part, Offset: p.cursor.next}})
	case model.Operate:
		p.parts = p.keyed.list(p.parts)
	}
	m.N = int64(len(p.parts))
	for i := range p.history {
		p.parts = p.history[i].encode(p.parts)
	}
	m.Parts = p.parts
	s.CallUntilDone(model.StateStore, m)
}

// State implements model.Process.
func (p *loneTask) State(c *model.Codec) {
	p.cursor.state(c)
	p.keyed.state(c)
	c.Int32(&p.attempt)
	c.Bool(&p.isOpen)
	c.Int64(&p.from)
	p.now.state(c)
	c.Int64(&p.handled)
	model.Slice(c, &p.history, func(k *counts) { k.state(c) })
	model.Slice(c, &p.before, c.Message)
}
