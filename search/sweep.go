package search

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Sweeping says how to sweep.
type Sweeping struct {
	First, Last uint64        // seeds
	IsOpen      bool          // there is no last seed
	For         time.Duration // no block is begun when this time is over; 0: there is no such time
	Faults      int           // of a plan at the most; 0: PlannedFaults
	// Any: every violated property but that of findings is a failure, claimed or not.
	Any         bool
	FailuresMax int    // kept of each signature, of the smallest seeds; 0: FailuresKept
	Workers     int    // 0: one a core
	Shard       uint64 // this part of Shards, from 1; 0 of 0: everything
	Shards      uint64
	Verify      int64  // of a million runs how many are made again, in another world
	Version     string // of the module, for the manifest

	// Command is the line that runs a scenario of a unit by itself; nil: none.
	Command func(unit int, s *scenarios.Scenario) string
	// Write takes whole lines of the result file: one call a block of seeds, never two at once;
	// nil: nobody wants them.
	Write func(lines []byte) error
	// Progress is told how many runs are done, and of how many (0: nobody knows); nil: nobody.
	Progress func(done, all uint64)
}

// FailuresKept is how many failures of one signature a sweep keeps, unless it is said. All of them
// are counted.
const FailuresKept = 10

// blockEvents is how many events the runs of one block have, about: few enough that an interrupt
// throws away a moment, many enough that nobody notices the bookkeeping. Where there is no last
// seed, blocks get that long in time, see growths.
const blockEvents = 1 << 19

// Sweep runs units under one seed after the other, on all cores. Seeds are taken in blocks, and a
// block is the unit of everything else: of work, of shards, of what is written, of what a later
// sweep goes on from, and of comparison. So what comes out does not depend on workers, shards and
// interruptions, and takes the same memory for ten seeds and ten million.
type Sweep struct {
	lib     *scenarios.Library
	units   []*sweepUnit
	opts    Sweeping
	results *Results
	resumed bool // the results began with those of a file, which has its header
	footed  bool // that file ends in a footer, and nothing was written since

	ends time.Time     // no block is begun after it; zero: any may be
	next atomic.Uint64 // the next pair of a block and a unit, see pairOf
	mu   sync.Mutex    // of what follows, of results and of opts.Write
	runs uint64        // made by this call of Run
	all  uint64        // to be made by it; 0: nobody knows

	verified int64 // runs that were made again
	failed   error // of Write; nothing is written after it
}

// complete puts defaults in the place of what is not said.
func (o *Sweeping) complete() {
	if o.IsOpen {
		o.Last = lastOpen(o.First)
	}
	if o.Faults == 0 {
		o.Faults = PlannedFaults
	}
	if o.FailuresMax == 0 {
		o.FailuresMax = FailuresKept
	}
	if o.Shard == 0 && o.Shards == 0 {
		o.Shard, o.Shards = 1, 1
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
}

// check says what of complete options makes no sense.
func (o *Sweeping) check() error {
	if err := checkSeeds(o.First, o.Last); err != nil {
		return err
	}
	switch {
	case o.Last-o.First == math.MaxUint64:
		return fmt.Errorf("seeds %d-%d are too many: one less can be counted", o.First, o.Last)
	case o.Shard < 1 || o.Shard > o.Shards || o.Shards > shardsMax:
		return fmt.Errorf("shard %d/%d, expected K/N with K from 1 to N, and N up to %d", o.Shard,
			o.Shards, shardsMax)
	case o.Faults < 0:
		return fmt.Errorf("a plan of %d faults", o.Faults)
	case o.FailuresMax < 0:
		return fmt.Errorf("keep %d failures", o.FailuresMax)
	case o.Workers < 0:
		return fmt.Errorf("a sweep by %d workers", o.Workers)
	case o.Verify < 0 || o.Verify > million:
		return fmt.Errorf("verify %d of a million runs", o.Verify)
	case o.For < 0:
		return fmt.Errorf("a sweep for a time of %s", o.For)
	}
	return nil
}

// million is of how many runs Sweeping.Verify says how many.
const million = 1_000_000

// NewSweep prepares a sweep: it loads every input, lays out every unit, and looks whether a failure
// would be seen. The error is that of options that make no sense, of a unit that cannot run, or
// ErrNotCaught.
func NewSweep(lib *scenarios.Library, units []Unit, opts Sweeping) (*Sweep, error) {
	s := &Sweep{lib: lib, opts: opts}
	s.opts.complete()
	if err := s.opts.check(); err != nil {
		return nil, err
	}
	if err := s.prepare(units); err != nil {
		return nil, err
	}
	s.results = newResults(s.header())
	if h := &s.results.Header; h.myBlocks() == 0 {
		return nil, fmt.Errorf("shard %s has nothing to do: the seeds %s are taken %d at a time",
			h.Shard, h.Seeds, h.Block)
	}
	return s, nil
}

// Results is what came out so far. It is not to be read while Run runs.
func (s *Sweep) Results() *Results { return s.results }

// Resume takes over what an earlier sweep has done, and leaves it out of what is to be run. It
// refuses the results of another sweep, saying what differs.
func (s *Sweep) Resume(done *Results) error {
	if text := done.Header.difference(&s.results.Header); text != "" {
		return fmt.Errorf("it has another sweep: %s", text)
	}
	if a, b := done.Header.Shard, s.results.Header.Shard; a != b {
		return fmt.Errorf("it has shard %q, not %q", a, b)
	}
	for i := range done.Units {
		done.Units[i].records = nil
	}
	done.Header = s.results.Header
	s.results, s.resumed, s.footed = done, true, done.footed
	return nil
}

// Verified is how many runs were made again, and came to the same. It is not to be read while Run
// runs.
func (s *Sweep) Verified() int64 { return s.verified }

// Run runs what is missing. When the context ends it stops and returns without an error: what is
// written down is whole blocks, and another call goes on from there. The error is that of Write,
// which later calls return again, a *Differing, or that there are more blocks than results hold.
func (s *Sweep) Run(ctx context.Context) error {
	if !s.resumed {
		s.resumed = true
		if err := s.write(marshalLine(&s.results.Header)); err != nil {
			return err
		}
	}
	if s.failed != nil {
		return s.failed
	}
	s.next.Store(0)
	s.runs, s.all = 0, s.left()
	if s.opts.For > 0 {
		s.ends = time.Now().Add(s.opts.For)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make([]*sweepSlot, s.opts.Workers)
	var wait sync.WaitGroup
	for i := range slots {
		slots[i] = &sweepSlot{sweep: s, worlds: make([]*sweepWorld, len(s.units))}
		wait.Go(func() {
			defer slots[i].keepPanic(stop)
			if err := slots[i].work(ctx); err != nil {
				stop(&stopped{err})
			}
		})
	}
	wait.Wait()
	for _, slot := range slots {
		if slot.broken != "" {
			panic(slot.broken)
		}
	}
	if why, ok := context.Cause(ctx).(*stopped); ok {
		return why.error
	}
	return nil
}

// left is how many runs are to be made, or as many as can be said; 0: nobody knows.
func (s *Sweep) left() (all uint64) {
	if s.opts.IsOpen {
		return 0
	}
	for i := range s.results.Units {
		more := s.results.Header.mine() - uint64(s.results.Units[i].Runs)
		if all+more < all {
			return math.MaxUint64
		}
		all += more
	}
	return all
}

// stopped is why a sweep stops itself.
type stopped struct{ error }

// Finish writes the footer, if there is anything new above it. Nothing is written after it.
func (s *Sweep) Finish() error {
	if s.footed {
		return nil
	}
	if err := s.write(marshalLine(s.results.footer())); err != nil {
		return err
	}
	s.footed = true
	return nil
}

// Save notes that a failure was saved as a file.
func (s *Sweep) Save(f *Failure, file string) error {
	f.File = file
	return s.write(marshalLine(f))
}

// write writes lines, unless that has failed before: what failed may have left half a line.
func (s *Sweep) write(lines []byte) error {
	s.footed = false
	if s.opts.Write != nil && s.failed == nil {
		s.failed = s.opts.Write(lines)
	}
	return s.failed
}

// pairOf is a block and a unit that this shard has: blocks in order, and within one block every
// unit, so that all units get equally far. ok is false behind the last.
func (s *Sweep) pairOf(n uint64) (block uint64, unit int, ok bool) {
	h, many := &s.results.Header, uint64(len(s.units))
	nth := n / many
	return h.nth(nth), int(n % many), nth < h.myBlocks()
}

// take adds a block that is done to the results and writes it down.
func (s *Sweep) take(unit int, t *blockTally, pass *passLine) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []byte
	var kept []*Failure
	for _, f := range t.failures() {
		if !s.results.wants(unit, f) {
			continue
		}
		if s.opts.Command != nil {
			f.Reproduce = s.opts.Command(unit, s.units[unit].scenarioOf(f.Seed, f.plan))
		}
		kept = append(kept, f)
		lines = append(lines, marshalLine(f)...)
	}
	// The line of the block comes last: where it is, the failures of the block are.
	if err := s.write(append(lines, marshalLine(pass)...)); err != nil {
		return err
	}
	if err := s.results.add(pass, kept); err != nil {
		panic(err) // nobody else ran this block
	}
	s.runs += uint64(pass.Runs)
	s.verified += t.verified
	if s.opts.Progress != nil {
		s.opts.Progress(s.runs, s.all)
	}
	return nil
}

// sweepSlot is one goroutine of a sweep with a world for each unit.
type sweepSlot struct {
	sweep  *Sweep
	worlds []*sweepWorld // by unit; nil: not needed yet
	doing  *sweepWorld
	broken string // a panic of a run
}

// keepPanic keeps a panic for the caller's goroutine, with what it takes to repeat the run.
func (l *sweepSlot) keepPanic(stop context.CancelCauseFunc) {
	if r := recover(); r != nil {
		l.broken = fmt.Sprintf("%v\n%s", r, debug.Stack())
		if w := l.doing; w != nil {
			l.broken = fmt.Sprintf("%s, seed %d, faults %q: %s", w.unit.name(), w.seed,
				w.faults().Lines(), l.broken)
		}
		stop(nil)
	}
}

// work takes blocks until there are none, or the context ends. A block that the context cuts short
// is thrown away.
func (l *sweepSlot) work(ctx context.Context) error {
	s := l.sweep
	for {
		block, unit, ok := s.pairOf(s.next.Add(1) - 1)
		if !ok || ctx.Err() != nil || s.isOver() {
			return nil
		}
		if block >= blocksMax {
			return fmt.Errorf("results hold %d blocks of seeds, and these are run", blocksMax)
		}
		if s.resultsHave(unit, block) {
			continue
		}
		w, err := l.world(unit)
		if err != nil {
			return err
		}
		l.doing = w
		first, last := s.results.Header.seedsOf(block)
		isWhole, err := w.block(ctx, first, last)
		if err != nil || !isWhole {
			return err
		}
		if err := s.take(unit, &w.tally, w.passLine(first, last)); err != nil {
			return err
		}
	}
}

// isOver reports whether it is too late to begin another block.
func (s *Sweep) isOver() bool { return !s.ends.IsZero() && time.Now().After(s.ends) }

func (s *Sweep) resultsHave(unit int, block uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.results.Units[unit].done.has(block)
}

// world is the slot's world of a unit. The one that NewSweep made is used as well.
func (l *sweepSlot) world(unit int) (*sweepWorld, error) {
	if l.worlds[unit] != nil {
		return l.worlds[unit], nil
	}
	u := l.sweep.units[unit]
	l.sweep.mu.Lock()
	w := u.first
	u.first = nil
	l.sweep.mu.Unlock()
	var err error
	if w == nil {
		w, err = newSweepWorld(l.sweep, u)
	}
	l.worlds[unit] = w
	return w, err
}

// Differing is the error of two runs of one scenario and seed that differ.
type Differing struct {
	Text   string           // what differs: the scenario, the seed, both hashes
	Job    *model.Job       // of the traces, where there are any
	Traces [2][]model.Entry // of both, to be compared
}

// Error is one line.
func (d *Differing) Error() string { return d.Text }
