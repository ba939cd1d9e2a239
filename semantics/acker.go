package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Acker is at-least-once by record, after Storm: a record and all that becomes of it are a tuple
// tree, and one process keeps a number for each tree, the exclusive or of the edge ids of all
// messages of the tree that were sent and of all that were finished. When it is zero, everything
// sent is finished, and the source is told. Nobody else remembers a record that is on its way: what
// is not finished in time is begun anew by the source, under a new tree.
//
// Data carries the tree in Seq and the edge in Token; a tree is numbered within the life of its
// source, above the number of that life. An Ack to the acker carries the tree in Seq, the source's
// partition in Record.ID and the exclusive or in Token; N is 1 in that of a source, which makes the
// tree known. An Ack from the acker says that the tree Seq is finished.
//
// The acker trusts its channels not to double: the init of a tree, taken twice, cancels itself out
// and the tree is finished before its time. It is what Storm does, whose channels do not, and what
// the envelope leaves out.
var Acker = model.Mode{
	Name: "acker",
	Says: "at-least-once by record: an acker watches its tree, and what times out is redone",
	Source: "Apache Storm, Acker.java and RotatingMap.java; Storm documentation, " +
		"Guaranteeing message processing",
	State:   model.WrittenThrough,
	Commits: true,
	Sink:    "append-log",
	Params: []model.Param{batchParam,
		{Name: "window", Default: 4, Min: 1, Max: 1000,
			Says: "how many records a source has unfinished at most (max.spout.pending)"},
		commitEveryParam,
		{Name: "timeout", Default: 60_000_000, Min: 1_000_000, Max: 10_000_000_000, IsTime: true,
			Says: "how long a tree has at least; too short, and records repeat without a fault"},
		{Name: "id-bits", Default: 64, Min: 1, Max: 64, IsPremise: true,
			Says: "the width of edge ids; with few bits trees are finished by accident"},
		deadLetterParam},
	Claims: []string{"at-least-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "lose-message", "reorder-message", "delay-message",
		"partition", "service-crash", "refuse-call", "stale-read"},
	Cells: table(`
		no-fault           all                -
		crash              stateless          D RO RG
		crash              commutative        W NS D SD RV RO RG
		crash              non-commutative    W NS SX D SD RV RO RG (WS)
		crash              non-deterministic  W NS D SD RV RO RG
		lose-request       stateless          - (D RO RG)
		lose-request       commutative        - (W NS D SD RV RO RG)
		lose-request       non-commutative    - (W WS NS SX D SD RV RO RG)
		lose-request       non-deterministic  - (W NS D SD RV RO RG)
		lose-answer        stateless          D (RO RG)
		lose-answer        commutative        D (W NS SD RV RO RG)
		lose-answer        non-commutative    D (W WS NS SX SD RV RO RG)
		lose-answer        non-deterministic  D (W NS SD RV RO RG)
		delay-call         stateless          D RG (RO)
		delay-call         commutative        SL NS D RG (W SD RV RO)
		delay-call         non-commutative    SL NS SX D RG (W WS SD RV RO)
		delay-call         non-deterministic  SL NS D RG (W SD RV RO)
		duplicate-call     stateless          D (RO RG)
		duplicate-call     commutative        D RG (SL W NS SD RV RO)
		duplicate-call     non-commutative    D RG (SL W WS NS SX SD RV RO)
		duplicate-call     non-deterministic  D (SL W NS SD RV RO RG)
		pause              stateless          - (D RO RG)
		pause              commutative        - (W NS D SD RV RO RG)
		pause              non-commutative    - (W WS NS SX D SD RV RO RG)
		pause              non-deterministic  - (W NS D SD RV RO RG)
		zombie             stateless          D RG (RO)
		zombie             commutative        W NS D SD RV RG (SL RO)
		zombie             non-commutative    W NS SX D SD RV RG (SL WS RO)
		zombie             non-deterministic  W NS D SD RV RG (SL SX RO)
		lose-message       stateless          D RO RG
		lose-message       commutative        W NS D SD RV RO RG
		lose-message       non-commutative    W NS SX D SD RV RO RG (WS)
		lose-message       non-deterministic  W NS D SD RV RO RG
		duplicate-message  stateless          D RG (L RO)
		duplicate-message  commutative        W NS D SD RV RG (L SL RO)
		duplicate-message  non-commutative    W SX D SD RV RG (L SL WS NS RO)
		duplicate-message  non-deterministic  W NS D SD RV RG (L SL RO)
		reorder-message    stateless          RO (D RG)
		reorder-message    commutative        W RO (NS D SD RV RG)
		reorder-message    non-commutative    W RO (WS NS SX D SD RV RG)
		reorder-message    non-deterministic  RO (W NS D SD RV RG)
		delay-message      stateless          D RO RG
		delay-message      commutative        W NS D SD RV RO RG
		delay-message      non-commutative    W NS SX D SD RV RO RG (WS)
		delay-message      non-deterministic  W NS D SD RV RO RG
		partition          stateless          D RG (RO)
		partition          commutative        W NS D SD RV RG (RO)
		partition          non-commutative    W NS SX D SD RV RG (WS RO)
		partition          non-deterministic  W NS D SD RV RG (RO)
		service-crash      stateless          D RG (RO)
		service-crash      commutative        D SD RV RG (W NS RO)
		service-crash      non-commutative    SX D SD RV RG (W WS NS RO)
		service-crash      non-deterministic  D SD RV RG (W NS RO)
		refuse-call        stateless          D RO RG
		refuse-call        commutative        W NS D SD RV RO RG
		refuse-call        non-commutative    W NS SX D SD RV RO RG (WS)
		refuse-call        non-deterministic  W NS D SD RV RO RG
		forget-call        stateless          L ST (D RO RG)
		forget-call        commutative        L SL NS ST (W D SD RV RO RG)
		forget-call        non-commutative    L SL NS SX ST (W WS D SD RV RO RG)
		forget-call        non-deterministic  L SL NS ST (W D SD RV RO RG)
		stale-read         stateless          - (D RO RG)
		stale-read         commutative        - (SL W NS D SD RV RO RG)
		stale-read         non-commutative    - (W WS NS SX D SD RV RO RG)
		stale-read         non-deterministic  - (SL W NS D SD RV RO RG)
		truncate           stateless          L (D RO RG)
		truncate           commutative        L SL W (NS D SD RV RO RG)
		truncate           non-commutative    L SL (W WS NS SX D SD RV RO RG)
		truncate           non-deterministic  L SL (W NS D SD RV RO RG)
		poison             stateless          ST (D RO RG)
		poison             commutative        ST (NS D SD RV RO RG)
		poison             non-commutative    ST (NS D SD RV RO RG)
		poison             non-deterministic  ST (NS D SD RV RO RG)`),
	Extra: []string{ackerName},
	New: func(job *model.Job, task *model.Task) model.Process {
		switch task.Role {
		case model.Source:
			return newSpout(job, task)
		case model.Operate:
			return &ackedOperator{keyed: newKeyed(job, task, model.WrittenThrough),
				anchor: newAnchor(job, task)}
		case model.Sink:
			return &ackedSink{anchor: newAnchor(job, task)}
		}
		return &acker{timeout: job.Param("timeout")}
	},
}

// ackerName is the acker's among the processes of a mode; its only one is number 0.
const ackerName = "acker"

// noChannel is the Channel of messages to and from the acker, which is no part of the topology.
const noChannel = -1

// anchor sends records as parts of trees, and tells the acker.
//
//	made     edge ids made in this life
type anchor struct {
	task    *model.Task
	acker   model.ProcID
	mask    uint64
	attempt int32
	made    int64
}

func newAnchor(job *model.Job, task *model.Task) anchor {
	return anchor{task: task, acker: job.Find(ackerName + "/0"),
		mask: ^uint64(0) >> (64 - job.Param("id-bits"))}
}

func (a *anchor) reset(attempt int32) { a.attempt, a.made = attempt, 0 }

// The odd constants keep structured numbers apart when they are mixed.
const (
	edgeK0 = 0x9e3779b97f4a7c15
	edgeK1 = 0xc2b2ae3d27d4eb4f
)

// edge makes the id of an edge. It looks random, as Storm's is, and is never 0, which would hide
// the edge.
func (a *anchor) edge() int64 {
	a.made++
	life := uint64(uint32(a.attempt))<<32 | uint64(uint32(a.task.Proc))
	id := model.Mix(model.Mix(life^edgeK0, edgeK1)^uint64(a.made), edgeK0) & a.mask
	return int64(max(id, 1))
}

// send sends a record along every route and returns the exclusive or of the new edges.
func (a *anchor) send(s *model.Script, rec model.Record, tree int64) (edges int64) {
	for _, route := range a.task.Routes {
		out := a.task.Out[route.Pick(a.task.Subtask, &rec)]
		edge := a.edge()
		edges ^= edge
		s.Send(out.Peer, model.Message{Kind: model.Data, Channel: out.There, Seq: tree,
			Token: edge, Record: rec})
	}
	return edges
}

// ack tells the acker of edges sent and finished. A crash between the sends and the ack leaves an
// edge that is told once only, so that its tree is never finished and is begun anew.
func (a *anchor) ack(s *model.Script, about *model.Record, tree, edges, isInit int64) {
	s.Send(a.acker, model.Message{Kind: model.Ack, Channel: noChannel, Seq: tree, Token: edges,
		N: isInit, Record: model.Record{ID: about.ID, Path: about.Path, Op: about.Op}})
}

func (a *anchor) state(c *model.Codec) {
	c.Int32(&a.attempt)
	c.Int64(&a.made)
}

// root is a record that a spout has handed out, under its latest tree.
type root struct {
	tree int64
	done bool
	rec  model.Record
}

// spout is the source: it begins a tree for each record, within a window, and commits the lowest
// unfinished position. What is unfinished when the timer is due, and was begun before it was set,
// is begun anew: a tree has the timeout at least and twice as long at most.
//
//	open[i]      in the order of handing out; open[0] is unfinished
//	trees        trees begun in this life
//	isArmed      a timer runs; it is about trees up to watched
type spout struct {
	anchor  anchor
	intake  intake
	timeout int64
	most    int
	open    []root
	trees   int64
	isArmed bool
	watched int64
}

func newSpout(job *model.Job, task *model.Task) *spout {
	return &spout{anchor: newAnchor(job, task), intake: newIntake(job, task),
		timeout: job.Param("timeout"), most: int(job.Param("window"))}
}

// Start implements model.Process.
func (p *spout) Start(self model.Self, s *model.Script) {
	p.anchor.reset(self.Attempt)
	p.open, p.trees, p.isArmed, p.watched = p.open[:0], 0, false, 0
	p.intake.open(s)
}

// Step implements model.Process.
func (p *spout) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.TimerFired && ev.Token == pollToken:
		p.intake.due()
		p.fill(s)
	case ev.Kind == model.TimerFired:
		p.due(s)
	case ev.Kind == model.Delivered:
		p.finished(s, ev.Msg.Seq)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Position:
		p.intake.begin(&ev.Ans)
		p.fill(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Fetch:
		p.intake.fetched(s, &ev.Ans)
		p.intake.settle(s, p.oldest())
		p.fill(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.OffsetCommit:
	default:
		panic(fmt.Sprintf("semantics: spout steps on %+v", *ev))
	}
}

// fill begins trees while the window has room, and fetches when no record is left.
func (p *spout) fill(s *model.Script) {
	for len(p.open) < p.most {
		rec, ok := p.intake.next()
		if !ok {
			break
		}
		p.open = append(p.open, root{rec: rec})
		p.begin(s, &p.open[len(p.open)-1])
	}
	p.intake.refill(s)
	p.watch(s)
}

// begin hands a record out as the root of a new tree.
func (p *spout) begin(s *model.Script, r *root) {
	r.tree = lifeNumber(p.anchor.attempt, p.trees)
	p.trees++
	edges := p.anchor.send(s, r.rec, r.tree)
	p.anchor.ack(s, &r.rec, r.tree, edges, 1)
}

// watch keeps a timer running while anything is unfinished.
func (p *spout) watch(s *model.Script) {
	if p.isArmed || len(p.open) == 0 {
		return
	}
	p.isArmed, p.watched = true, lifeNumber(p.anchor.attempt, p.trees-1)
	s.After(p.timeout, resendToken)
}

// due handles the timer: trees that are unfinished by now have waited too long.
func (p *spout) due(s *model.Script) {
	p.isArmed = false
	for i := range p.open {
		if r := &p.open[i]; !r.done && r.tree <= p.watched {
			p.begin(s, r)
		}
	}
	p.watch(s)
}

// oldest is the offset of the oldest unfinished record, or nothing.
func (p *spout) oldest() int64 {
	if len(p.open) == 0 {
		return nothing
	}
	return p.open[0].rec.ID.Offset
}

// finished takes the acker's word for a tree. A tree that has been given up, or is of an earlier
// life, finishes nothing.
func (p *spout) finished(s *model.Script, tree int64) {
	for i := range p.open {
		if p.open[i].tree == tree {
			p.open[i].done = true
		}
	}
	done := 0
	for done < len(p.open) && p.open[done].done {
		done++
	}
	p.open = append(p.open[:0], p.open[done:]...)
	p.intake.settle(s, p.oldest())
	p.fill(s)
}

// State implements model.Process.
func (p *spout) State(c *model.Codec) {
	p.anchor.state(c)
	p.intake.state(c)
	model.Slice(c, &p.open, func(r *root) {
		c.Int64(&r.tree)
		c.Bool(&r.done)
		c.Record(&r.rec)
	})
	c.Int64(&p.trees)
	c.Bool(&p.isArmed)
	c.Int64(&p.watched)
}

// ackedOperator sends what its step emits as children of its input, and then acknowledges the
// input: one number for the edge that came and those that left.
type ackedOperator struct {
	keyed  keyed
	anchor anchor
	msg    model.Message // the input whose state was asked for
}

// Start implements model.Process.
func (p *ackedOperator) Start(self model.Self, _ *model.Script) {
	p.keyed.reset(self)
	p.anchor.reset(self.Attempt)
	p.msg = model.Message{}
}

// Step implements model.Process.
func (p *ackedOperator) Step(ev *model.Event, s *model.Script) {
	switch {
	case failRefused(s, ev):
	case ev.Kind == model.Delivered:
		p.msg = ev.Msg
		if p.keyed.isReady(s, p.msg.Record) {
			p.apply(s)
		}
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Get:
		p.keyed.learn(ev)
		p.apply(s)
	case ev.Kind == model.Answered && ev.Msg.Kind == model.Put:
	default:
		panic(fmt.Sprintf("semantics: operator steps on %+v", *ev))
	}
}

// apply takes the step: state first, then the children, then the acknowledgement.
func (p *ackedOperator) apply(s *model.Script) {
	list, ok := p.keyed.apply(s, &p.msg)
	if !ok {
		return
	}
	edges := p.msg.Token
	for _, out := range list {
		edges ^= p.anchor.send(s, out, p.msg.Seq)
	}
	p.anchor.ack(s, &p.msg.Record, p.msg.Seq, edges, 0)
}

// State implements model.Process.
func (p *ackedOperator) State(c *model.Codec) {
	p.keyed.state(c)
	p.anchor.state(c)
	c.Message(&p.msg)
}

// ackedSink writes until the write is known to be done, then acknowledges the edge that came.
type ackedSink struct {
	anchor anchor
}

// Start implements model.Process.
func (p *ackedSink) Start(self model.Self, _ *model.Script) { p.anchor.reset(self.Attempt) }

// Step implements model.Process.
func (p *ackedSink) Step(ev *model.Event, s *model.Script) {
	if failRefused(s, ev) || ev.Kind != model.Delivered {
		return
	}
	s.CallUntilDone(model.External, write(p.anchor.task, ev.Msg.Record))
	p.anchor.ack(s, &ev.Msg.Record, ev.Msg.Seq, ev.Msg.Token, 0)
}

// State implements model.Process.
func (p *ackedSink) State(c *model.Codec) { p.anchor.state(c) }

// bucketsMax is how many ticks an entry of the acker lives to see: it is dropped at that one, as
// the last of Storm's three buckets is. The spout has given its tree up by then.
const bucketsMax = 3

// tracked is the acker's entry of a tree.
//
//	value    the exclusive or of all edges told: 0 when each was sent and finished
//	spout    whom to tell, known from the init on
//	ticks    timers that were due since the entry was made
type tracked struct {
	tree    int64
	id      model.ID
	value   int64
	spout   model.ProcID
	isKnown bool
	ticks   int32
}

// acker keeps an entry for each tree under way, in memory only: when it dies, all of them time out
// at their sources. Entries whose tree never finishes are dropped by age, so that nothing runs when
// nothing is under way.
type acker struct {
	timeout int64
	list    []tracked
	isArmed bool
}

// Start implements model.Process.
func (p *acker) Start(model.Self, *model.Script) { p.list, p.isArmed = p.list[:0], false }

// Step implements model.Process.
func (p *acker) Step(ev *model.Event, s *model.Script) {
	switch {
	case ev.Kind == model.TimerFired:
		p.tick()
	case ev.Kind == model.Delivered && ev.Msg.Kind == model.Ack:
		p.take(s, ev.From, &ev.Msg)
	default:
		panic(fmt.Sprintf("semantics: acker steps on %+v", *ev))
	}
	if !p.isArmed && len(p.list) > 0 {
		p.isArmed = true
		s.After(p.timeout, resendToken)
	}
}

// take folds an acknowledgement in. It may come before the init of its tree.
func (p *acker) take(s *model.Script, from model.ProcID, m *model.Message) {
	i := 0
	for i < len(p.list) && (p.list[i].tree != m.Seq || p.list[i].id.Part != m.Record.ID.Part) {
		i++
	}
	if i == len(p.list) {
		p.list = append(p.list, tracked{tree: m.Seq, id: m.Record.ID})
	}
	t := &p.list[i]
	t.value ^= m.Token
	if m.N == 1 {
		t.spout, t.isKnown = from, true
	}
	if !t.isKnown || t.value != 0 {
		return
	}
	s.Send(t.spout, model.Message{Kind: model.Ack, Channel: noChannel, Seq: t.tree,
		Record: model.Record{ID: t.id}})
	p.list = append(p.list[:i], p.list[i+1:]...)
}

// tick lets all entries grow older and drops the oldest.
func (p *acker) tick() {
	p.isArmed = false
	kept := p.list[:0]
	for _, t := range p.list {
		if t.ticks++; t.ticks < bucketsMax {
			kept = append(kept, t)
		}
	}
	p.list = kept
}

// State implements model.Process.
func (p *acker) State(c *model.Codec) {
	model.Slice(c, &p.list, func(t *tracked) {
		c.Int64(&t.tree)
		c.Int32(&t.id.Part)
		c.Int64(&t.id.Offset)
		c.Int64(&t.value)
		spout := int32(t.spout)
		c.Int32(&spout)
		t.spout = model.ProcID(spout)
		c.Bool(&t.isKnown)
		c.Int32(&t.ticks)
	})
	c.Bool(&p.isArmed)
}
