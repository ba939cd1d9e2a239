package sim

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/model"
)

// itemKind says what a pending event is.
type itemKind uint8

const (
	itemDeliver itemKind = iota + 1 // the message in the slot reaches inst
	itemServe                       // the request of call reaches its service
	itemAnswer                      // the answer of call reaches inst
	itemTimeout                     // call is past its deadline
	itemTimer                       // the timer token of inst is due
	itemResume                      // inst goes on
	itemSuspect                     // inst has stood still for too long
	itemFence                       // inst, a zombie, learns that it was replaced
	itemFault                       // the time of rule has come
	itemRead                        // the reader polls
	itemRelease                     // the message of swap call has waited for long enough
)

// item is a pending event. Each kind says which fields it uses.
type item struct {
	kind  itemKind
	copy  bool // itemServe: the second copy of a doubled request
	proc  model.ProcID
	from  model.ProcID
	inst  int32
	call  int32 // itemRelease: the index in World.swaps
	rule  int32
	cause int64
	token int64
}

// slot is the place of one process in the job, whoever fills it.
type slot struct {
	task         *model.Task
	subject      uint64       // of draws about the process: a hash of its name
	current      int32        // the life that messages go to, or nobody
	newest       int32        // the life that began last
	fails        int          // how many lives on end have failed on one record
	failedOn     model.Record // that record
	pool         []model.Process
	used         int
	rules        []int32 // those that count effects of this process
	due          int64   // the next effect that one for every effect is anchored at
	isPicky      bool    // and there are others
	callRules    []int32 // its calls
	messageRules []int32 // its messages
}

const nobody = int32(-1)

// World runs one job, any number of times. It is not safe for concurrent use; independent worlds
// are.
type World struct {
	cfg      Config
	job      *model.Job
	mode     *model.Mode
	scope    model.RestartScope // what is restarted when one task dies
	input    *model.Input
	sink     *model.SinkSpec
	services [model.ServiceEnd]model.Service
	svcHash  [model.ServiceEnd]uint64

	opts    Options
	seed    uint64
	now     int64
	limit   int64 // virtual time at which lack of progress becomes the verdict
	busy    int   // pending events that are not the reader's
	attempt int32
	givenUp int // lives on end that gave up, since one was killed
	queue   queue
	slots   []slot
	insts   []*instance
	live    int // insts[:live] are of this run
	calls   []callState
	rules   []model.Rule
	match   []ruleState
	swaps   []swap // messages that a fault makes the next one overtake
	outages []outage
	poisons []int32 // rules that poison a record
	pasts   [model.ServiceEnd]past
	shadows [model.ServiceEnd]model.Service // made when they are needed
	seen    []uint64                        // scratch: a bit for each process and input record
	reader  reader
	trace   tracer
	hist    model.History
	event   model.Event   // what a process is handed, unless it is a message
	request model.Message // what the reader asks
	answer  model.Answer  // what a service says
	codec   model.Codec
	memory  model.Memory // parts of requests
	ordered *Ordered     // takes what is pending, instead of the queue; or nil
}

// Options choose what a run records besides its history.
type Options struct {
	Trace bool // keep every event, not only its hash
	// Unhashed leaves out the trace and its hash, to measure what they cost: there is no End.Hash.
	Unhashed bool
	// Transplant replaces each process by a new one restored from its encoding before every event.
	// A run must not notice: the self-test of encoding and restoring.
	Transplant bool
	// Probes is how many of the rules, from the last on, strike nothing where they are crashes or
	// pauses: History.Reached says of each where it would. One run asks after many places.
	Probes int
}

// New makes a world for a job under a mode, on an input and in front of a sink.
func New(job *model.Job, mode *model.Mode, input *model.Input, sink *model.SinkSpec,
	cfg Config) *World {
	w := &World{cfg: cfg.withDefaults(int64(input.Total())), job: job, mode: mode, input: input,
		scope: mode.RestartOf(job), sink: sink}
	for i, name := range model.ServiceNames {
		w.services[i], w.svcHash[i] = w.newService(model.ServiceID(i)), model.HashText(name)
	}
	for i := range job.Tasks {
		task := &job.Tasks[i]
		w.slots = append(w.slots, slot{task: task, subject: model.HashText(task.Name)})
	}
	w.reader.next = make([]int64, job.SinkPart)
	return w
}

// newService makes a service of the world, with what is to stand in front of it.
func (w *World) newService(id model.ServiceID) model.Service {
	s := w.bareService(id)
	if w.cfg.Wrap != nil {
		s = w.cfg.Wrap(id, s)
	}
	return s
}

// unwrap is the service behind whatever stands in front of it.
func unwrap(s model.Service) model.Service {
	for {
		w, ok := s.(interface{ Unwrap() model.Service })
		if !ok {
			return s
		}
		s = w.Unwrap()
	}
}

func (w *World) bareService(id model.ServiceID) model.Service {
	switch id {
	case model.InputLog:
		return newInputLog(w.input)
	case model.StateStore:
		return newStore(len(w.job.Topology.Stages))
	}
	return w.sink.New(w.job.SinkPart)
}

// Run resets the world and runs it to its end. The history is valid until the next Run. Rules must
// be valid for the job.
func (w *World) Run(seed uint64, rules []model.Rule, opts Options) *model.History {
	w.ordered = nil
	w.reset(seed, rules, opts)
	for i := range w.slots {
		w.bear(model.ProcID(i), 0)
	}
	w.openAll()
	w.hist.End = w.loop()
	w.survey()
	return &w.hist
}

// Trace is every event of the last run, if Options.Trace was set. Like the history, it is valid
// until the next Run.
func (w *World) Trace() []model.Entry { return w.trace.entries }

// Service returns a service of the world, for judges that look inside.
func (w *World) Service(id model.ServiceID) model.Service { return w.services[id] }

// Job returns the job that the world runs.
func (w *World) Job() *model.Job { return w.job }

func (w *World) reset(seed uint64, rules []model.Rule, opts Options) {
	w.opts, w.seed, w.now, w.busy, w.attempt, w.live = opts, seed, 0, 0, 1, 0
	w.queue.reset()
	w.memory.Reset()
	w.calls, w.swaps = w.calls[:0], w.swaps[:0]
	w.outages, w.poisons = w.outages[:0], w.poisons[:0]
	w.hist.Reset()
	w.hist.Extent.Reset(len(w.slots))
	w.trace.reset(seed)
	w.reader.reset()
	for i := range w.services {
		w.services[i].Reset()
		w.pasts[i].isKept = false
	}
	for i := range w.slots {
		w.slots[i].current, w.slots[i].newest, w.slots[i].used = nobody, nobody, 0
		w.slots[i].fails = 0
		sl := &w.slots[i]
		sl.forgetRules()
		sl.callRules, sl.messageRules = sl.callRules[:0], sl.messageRules[:0]
	}
	w.limit, w.givenUp = w.cfg.DrainTime, 0
	for p := range w.input.Parts {
		part := &w.input.Parts[p]
		w.limit = max(w.limit, part.Arrival(int64(len(part.Records)))+w.cfg.DrainTime)
	}
	w.arm(rules)
}

// loop runs events in order until nothing but the reader is left, or a bound is met.
func (w *World) loop() model.End {
	reason := model.Quiescent
	for w.busy > 0 {
		k := w.queue.pop()
		if int64(k.at) > w.limit {
			reason = w.overdue()
			break
		}
		if w.trace.n >= w.cfg.EventsMax || w.queue.isFull {
			reason = model.EventBound
			break
		}
		w.now = int64(k.at)
		w.dispatch(k.slot())
	}
	if reason == model.Quiescent {
		w.outlast()
	}
	w.readFinal()
	n := w.note(model.EntryEnd, happening{detail: reason.String()})
	return model.End{Reason: reason, N: n, At: w.now, Hash: w.trace.sum(), Draws: w.trace.draws}
}

// timed is a service that does something by itself when its time has come.
type timed interface {
	nextDue() int64 // virtual ns: nothing happens before it is over
}

// outlast lets the external system's time run out, as far as the run lasts: what it does by itself
// readers are to see.
func (w *World) outlast() {
	service, ok := unwrap(w.services[model.External]).(timed)
	if !ok {
		return
	}
	for due := service.nextDue(); due < w.limit; due = service.nextDue() {
		w.now = max(w.now, due+1)
		w.read()
	}
}

// dispatch handles the event in a slot. Deliveries, timers and answers to Begin keep the slot
// until their process takes them.
func (w *World) dispatch(slot int32) {
	it := &w.queue.slab[slot].item
	if it.kind != itemRead {
		w.busy--
	}
	switch it.kind {
	case itemDeliver, itemTimer:
		w.arrive(slot)
		return
	case itemAnswer:
		w.answerArrived(slot)
		return
	}
	taken := *it
	w.queue.free(slot)
	switch taken.kind {
	case itemServe:
		w.arriveAt(taken.call, taken.copy, taken.cause)
	case itemTimeout:
		w.timedOut(taken.call)
	case itemResume:
		w.resume(w.insts[taken.inst], taken.cause)
	case itemSuspect:
		w.suspect(w.insts[taken.inst])
	case itemFence:
		w.fence(w.insts[taken.inst])
	case itemFault:
		w.fireAtTime(taken.rule)
	case itemRelease:
		w.release(taken.call)
	case itemRead:
		w.read()
	default:
		panic(fmt.Sprintf("sim: item of kind %d", taken.kind))
	}
}

// deliver schedules the arrival of a message.
func (w *World) deliver(at int64, tie uint64, it item, msg *model.Message) {
	slot := w.queue.grab()
	w.queue.arrivals[slot].Msg, w.queue.slab[slot].item = *msg, it
	w.enqueue(at, classEvent, tie, slot)
}

// extend adds an element to a list and returns it. It holds whatever was there before: what is
// large is written once, in its place.
func extend[T any](list *[]T) *T {
	n := len(*list)
	if n == cap(*list) {
		*list = slices.Grow(*list, 1)
	}
	*list = (*list)[:n+1]
	return &(*list)[n]
}

// schedule makes an event with a keyed tie-break.
func (w *World) schedule(at int64, tie uint64, it item) {
	slot := w.queue.grab()
	w.queue.slab[slot].item = it
	class := classEvent
	if it.kind == itemFault {
		class = classFault
	}
	w.enqueue(at, class, tie, slot)
}

func (w *World) enqueue(at int64, class, tie uint64, slot int32) {
	w.busy++
	if w.queue.isFull {
		if w.ordered != nil {
			w.ordered.add(at, slot)
		}
		return // or else the run ends here, with its budget spent
	}
	w.queue.push(at, class, tie, slot)
}

// draw is a keyed draw that enters the hash.
func (w *World) draw(d model.Domain, a, b, c uint64) uint64 {
	r := model.Draw(w.seed, d, a, b, c)
	if !w.opts.Unhashed {
		w.trace.drew(r)
	}
	return r
}

// within scales a draw to a span.
func within(draw uint64, s Span) int64 { return s.Min + model.Below(draw, s.Max-s.Min+1) }
