package semantics

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// MicroBatch runs the job batch by batch. What a batch reads is written down before it begins, so
// that after a crash the same batch is run again; the external system knows batches by number.
var MicroBatch = model.Mode{
	Name: "micro-batch",
	Says: "what a batch reads is logged before it runs; it may run again, and counts once",
	Source: "Apache Spark, MicroBatchExecution: offset log, then the batch, then commit log; " +
		"SPARK-13985 (sinks idempotent by batch id)",
	Restart: model.RestartJob,
	State:   model.Snapshotted,
	Sink:    "batch-log",
	Extra:   []string{driverName},
	Params:  microBatchParams(),
	Claims: []string{"at-least-once", "exactly-once-state", "effectively-once", "order",
		"no-revision", "atomic-visibility", "agreement"},
	// A batch that runs again leaves the state that the second run makes; what the first run wrote
	// stays. Where an operator decides otherwise, the two belong to two executions.
	ClaimsDeterministic: []string{"at-most-once", "exactly-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "partition", "service-crash", "refuse-call",
		"lose-message", "duplicate-message", "reorder-message", "delay-message", "lose-barrier",
		"duplicate-barrier", "reorder-barrier", "delay-barrier", "lose-notice", "delay-notice",
		"duplicate-notice"},
	Cells: table(`
		no-fault           all               -
		crash              stateless,commutative,non-commutative -
		crash              non-deterministic W SX
		lose-request       stateless,commutative,non-commutative -
		lose-request       non-deterministic - (W SX)
		lose-answer        stateless,commutative,non-commutative -
		lose-answer        non-deterministic - (W SX)
		delay-call         stateless,commutative,non-commutative -
		delay-call         non-deterministic - (W SX)
		duplicate-call     stateless,commutative,non-commutative -
		duplicate-call     non-deterministic - (W SX)
		pause              stateless,commutative,non-commutative -
		pause              non-deterministic - (W SX)
		zombie             stateless,commutative,non-commutative -
		zombie             non-deterministic W SX
		lose-message       stateless,commutative,non-commutative -
		lose-message       non-deterministic - (W SX)
		duplicate-message  stateless,commutative,non-commutative -
		duplicate-message  non-deterministic - (W SX)
		reorder-message    stateless,commutative,non-commutative -
		reorder-message    non-deterministic - (W SX)
		delay-message      stateless,commutative,non-commutative -
		delay-message      non-deterministic W SX
		partition          stateless,commutative,non-commutative -
		partition          non-deterministic W SX
		service-crash      stateless,commutative,non-commutative -
		service-crash      non-deterministic W SX
		refuse-call        stateless,commutative,non-commutative -
		refuse-call        non-deterministic W SX
		forget-call        stateless         L
		forget-call        commutative       L SL (ST)
		forget-call        non-commutative   L SL SX (ST)
		forget-call        non-deterministic L SL W (SX ST)
		tear-call          stateless         -
		tear-call          commutative,non-commutative SL (ST)
		tear-call          non-deterministic SL (W SX ST)
		stale-read         stateless,commutative,non-commutative -
		stale-read         non-deterministic - (W SX)
		truncate           stateless         L
		truncate           commutative       L SL W
		truncate           non-commutative,non-deterministic L SL (W SX)
		poison             all               ST
		lose-barrier       stateless,commutative,non-commutative -
		lose-barrier       non-deterministic - (W SX)
		duplicate-barrier  stateless,commutative,non-commutative -
		duplicate-barrier  non-deterministic - (W SX)
		reorder-barrier    stateless,commutative,non-commutative -
		reorder-barrier    non-deterministic - (W SX)
		delay-barrier      stateless,commutative,non-commutative -
		delay-barrier      non-deterministic W SX
		lose-notice        stateless,commutative,non-commutative -
		lose-notice        non-deterministic W SX
		delay-notice       stateless,commutative,non-commutative -
		delay-notice       non-deterministic W SX
		duplicate-notice   stateless,commutative,non-commutative -
		duplicate-notice   non-deterministic - (W SX)`),
	RestsOn: []model.Mechanism{
		{Name: "batch numbers", Says: "the external system takes a batch once", Sink: "append-log",
			Classes: []string{"crash", "lose-answer", "delay-call", "duplicate-call", "zombie",
				"partition", "service-crash", "refuse-call", "lose-barrier", "delay-barrier",
				"lose-notice", "delay-notice"}},
		countedRows(),
	},
	Harmless: []model.Harmless{
		{Class: "lose-request", Says: "what was not applied is asked for again"},
		{Class: "pause", Says: "who goes on before it is replaced was only slow"},
		{Class: "stale-read", Says: "a plan that a read misses is there when it is to be written"},
		{Class: "duplicate-message", Says: "a task takes each row of a batch once"},
		{Class: "lose-barrier", Says: "a batch that does not end is begun anew, and where one " +
			"sink takes it nothing of it was written"},
		{Class: "duplicate-barrier", Says: "a batch that has ended on a channel has ended"},
		{Class: "reorder-barrier", Says: "a batch ends when its rows are there, not when they " +
			"have been announced"},
		{Class: "duplicate-notice", Says: "a notice names its batch, and is done the second time"},
	},
	New: newMicroBatch,
}

// microBatchParams are the parameters of the modes that run batches.
func microBatchParams() []model.Param {
	return []model.Param{
		{Name: "batch", Default: 100, Min: 1, Max: 10_000,
			Says: "how many records of a partition a batch reads at most"},
		{Name: "interval", Default: 10_000_000, Min: 1_000_000, Max: 10_000_000_000, IsTime: true,
			Says: "how long after a batch the next one begins"},
		{Name: "batch-timeout", Default: 60_000_000, Min: 1_000_000, Max: 10_000_000_000,
			IsTime: true, Says: "how long a batch may take before the job begins it anew"},
		{Name: "fixed-merge", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: a task takes its channels in their order; 0: records as they come"},
		{Name: "count-rows", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: the end of a batch says how many rows it has on a channel; 0: it does not"},
		fencingParam,
		{Name: "suspicious", Default: 0, Min: 0, Max: 1,
			Says: "1: a plan that is there already is taken for a rival's, one's own as well"},
		deadLetterParam}
}

// countedRows is the mechanism by which a batch is taken whole or not at all.
func countedRows() model.Mechanism {
	return model.Mechanism{Name: "counted rows",
		Says:    "a task waits for all rows of a batch, and takes each once",
		Classes: []string{"lose-message", "reorder-message", "delay-message"},
		Without: []model.ParamValue{{Name: "count-rows"}}}
}

func newMicroBatch(job *model.Job, task *model.Task) model.Process {
	switch task.Role {
	case model.Source:
		return &batchSource{shared: newBatchShared(job, task), cursor: cursor{part: task.Part}}
	case model.Operate:
		return &batchOperator{shared: newBatchShared(job, task), batch: newBatchRows(job, task),
			keyed: newKeyed(job, task, model.Snapshotted)}
	case model.Sink:
		return &batchSink{shared: newBatchShared(job, task), batch: newBatchRows(job, task),
			external: externalFence(job)}
	}
	return newDriver(job)
}

// driverName is the driver's among the processes of a mode; its only one is number 0.
const driverName = "driver"

// driver plans batches and has the tasks run them, one at a time:
//
//	1  where each partition ends now
//	2  the plan of the batch, put if absent: from then on this is what it reads
//	3  Trigger to the sources; the others answer when state and output of the batch are durable
//	4  the batch is finished
//
// A life begins with the newest plan. If its batch is not finished it is run again, from the state
// that the one before it left.
type driver struct {
	parts      int64
	tasks      []model.ProcID // that keep state or write: those that answer
	everyone   []model.ProcID
	most       int64
	interval   int64
	timeout    int64
	suspicious bool
	fence      model.Flags

	attempt int32
	batch   int64          // the one that is planned, or run
	plan    []model.Record // its end in each partition; Value.Num is where it begins
	asked   int64          // partitions asked for their end, then for whether that is the last
	wait    int64          // until something arrives; 0: nothing ever will
	isOpen  bool
	roll    rollCall
	isRun   bool // the batch is being run
}

func newDriver(job *model.Job) *driver {
	d := &driver{parts: int64(job.Topology.Partitions()), most: job.Param("batch"),
		interval: job.Param("interval"), timeout: job.Param("batch-timeout"),
		suspicious: job.Param("suspicious") == 1, fence: checkpointFence(job)}
	for i := range job.Tasks {
		task := &job.Tasks[i]
		if task.Role == model.Extra {
			continue
		}
		d.everyone = append(d.everyone, task.Proc)
		if task.Role != model.Source {
			d.tasks = append(d.tasks, task.Proc)
		}
	}
	return d
}

// The tokens of the driver's timers below every batch number; the timeout of a batch has its
// number.
const (
	planToken       = 0
	resendOpenToken = -1
)

// Start implements model.Process.
func (d *driver) Start(self model.Self, s *model.Script) {
	d.attempt, d.batch, d.plan, d.asked, d.wait = self.Attempt, 0, d.plan[:0], 0, 0
	d.isOpen, d.isRun = false, false
	d.roll.await(len(d.everyone), d.everyone)
	s.CallUntilDone(model.StateStore, d.about(model.NewestBatch, 0))
}

func (d *driver) about(kind model.Kind, batch int64) model.Message {
	return model.Message{Kind: kind, Flags: d.fence, Seq: batch,
		Record: model.Record{ID: model.ID{Offset: -1}}}
}

// Step implements model.Process.
func (d *driver) Step(ev *model.Event, s *model.Script) {
	switch {
	case ev.Kind == model.Delivered:
		if ev.Msg.Attempt == d.attempt {
			d.told(s, ev)
		}
	case ev.Kind == model.TimerFired:
		d.due(s, ev.Token)
	case failRefused(s, ev):
	case ev.Msg.Kind == model.NewestBatch:
		d.open(s, &ev.Ans)
	case ev.Msg.Kind == model.Latest:
		d.ends(s, ev)
	case ev.Msg.Kind == model.Fetch:
		d.arrives(s, &ev.Ans)
	case ev.Msg.Kind == model.PlanBatch:
		d.planned(s, &ev.Ans)
	case ev.Msg.Kind == model.FinishBatch:
		d.isRun = false
		s.After(d.interval, planToken)
	case ev.Msg.Kind == model.Discard:
	default:
		panic(fmt.Sprintf("semantics: driver steps on %+v", *ev))
	}
}

// open has every task begin from the state that the last finished batch left. State that a batch
// has left that is to be run again is dropped.
func (d *driver) open(s *model.Script, ans *model.Answer) {
	d.batch, d.plan = ans.Seq, append(d.plan[:0], ans.Records...)
	if len(d.plan) == 0 {
		for part := range d.parts {
			d.plan = append(d.plan, model.Record{ID: model.ID{Part: int32(part)}})
		}
	}
	d.isRun = d.batch > 0 && !ans.Found
	if d.isRun {
		s.CallUntilDone(model.StateStore, d.about(model.Discard, d.batch))
	}
	d.restore(s)
	s.After(d.timeout, resendOpenToken)
}

// restore tells those that have not begun where to begin.
func (d *driver) restore(s *model.Script) {
	from := d.batch
	if d.isRun {
		from--
	}
	for _, task := range d.everyone {
		if d.roll.waiting[task] {
			s.Send(task, notice(model.Restore, from))
		}
	}
}

func (d *driver) told(s *model.Script, ev *model.Event) {
	switch m := &ev.Msg; m.Kind {
	case model.Ready:
		if d.isOpen || !d.roll.hear(ev.From) {
			return
		}
		d.isOpen = true
		if d.isRun {
			d.run(s)
		} else {
			d.begin(s)
		}
	case model.Acknowledge:
		if d.isOpen && d.isRun && m.Seq == d.batch && d.roll.hear(ev.From) {
			s.CallUntilDone(model.StateStore, d.about(model.FinishBatch, d.batch))
		}
	case model.Decline:
		s.FailOn(nowhere(m.Seq), fmt.Sprintf("the state of batch %d is gone", m.Seq))
	}
}

func (d *driver) due(s *model.Script, token int64) {
	switch {
	case token == resendOpenToken && !d.isOpen:
		d.restore(s)
		s.After(d.timeout, resendOpenToken)
	case token == planToken:
		d.begin(s)
	case token == d.batch && d.isRun && d.isOpen:
		s.Fail(fmt.Sprintf("batch %d takes too long", d.batch))
	}
}

// begin begins to plan a batch: it starts where the one before ended.
func (d *driver) begin(s *model.Script) {
	for i := range d.plan {
		d.plan[i].Value.Num = d.plan[i].ID.Offset
	}
	d.asked, d.wait = 0, 0
	d.ask(s, model.Latest, 0)
}

// ask asks the input log about the partition that is next.
func (d *driver) ask(s *model.Script, kind model.Kind, seq int64) {
	s.CallUntilDone(model.InputLog, model.Message{Kind: kind, Seq: seq,
		Record: model.Record{ID: model.ID{Part: int32(d.asked), Offset: -1}}})
}

// ends takes the end of a partition. When all are known the batch is planned, or where none has
// anything new it is asked what is still to come.
func (d *driver) ends(s *model.Script, ev *model.Event) {
	p := &d.plan[d.asked]
	p.ID.Offset = max(p.Value.Num, min(ev.Ans.Seq, p.Value.Num+d.most))
	d.asked++
	if d.asked < d.parts {
		d.ask(s, model.Latest, 0)
		return
	}
	for i := range d.plan {
		if d.plan[i].ID.Offset > d.plan[i].Value.Num {
			m := d.about(model.PlanBatch, d.batch+1)
			m.Parts = d.plan
			s.CallUntilDone(model.StateStore, m)
			return
		}
	}
	d.asked = 0
	d.ask(s, model.Fetch, d.plan[0].ID.Offset)
}

// arrives takes how long it is until a partition has something new. Where the input ends there is
// nothing left to do.
func (d *driver) arrives(s *model.Script, ans *model.Answer) {
	if !ans.End && (d.wait == 0 || ans.Wait < d.wait) {
		d.wait = max(ans.Wait, 1)
	}
	if d.plan[d.asked].ID.Offset < ans.Seq {
		d.plan[d.asked].ID.Offset = ans.Seq // what is gone from the input is skipped
	}
	d.asked++
	switch {
	case d.asked < d.parts:
		d.ask(s, model.Fetch, d.plan[d.asked].ID.Offset)
	case d.wait > 0:
		s.After(max(d.wait, d.interval), planToken)
	}
}

// planned runs the batch that is planned. One that is there already is another driver's.
func (d *driver) planned(s *model.Script, ans *model.Answer) {
	isRival := ans.Outcome == model.Stale || d.suspicious && ans.Outcome == model.DoneBefore
	if isRival {
		s.Fail(fmt.Sprintf("batch %d was planned by another driver", d.batch+1))
		return
	}
	d.batch++
	d.run(s)
}

// run has the sources send their parts of the batch.
func (d *driver) run(s *model.Script) {
	d.isRun = true
	d.roll.await(len(d.everyone), d.tasks)
	for part := range d.parts {
		m := notice(model.Trigger, d.batch)
		m.Cursor, m.N = d.plan[part].Value.Num, d.plan[part].ID.Offset
		s.Send(model.ProcID(part), m) // sources come first, in the order of partitions
	}
	s.After(d.timeout, d.batch)
}

// State implements model.Process.
func (d *driver) State(c *model.Codec) {
	c.Int32(&d.attempt)
	c.Int64(&d.batch)
	model.Slice(c, &d.plan, c.Record)
	c.Int64(&d.asked)
	c.Int64(&d.wait)
	c.Bool(&d.isOpen)
	d.roll.state(c)
	c.Bool(&d.isRun)
}
