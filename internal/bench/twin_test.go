package bench

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var measureTwin = flag.Bool("twin", false, "measure a whole run beside its twin")

// The twin is the pipeline under at-least-once as one would write it with goroutines: a source
// with a window, an operator that crashes once and is restarted, a sink that writes to a log by a
// call, links with random latencies that keep their order, acknowledgements and repetition. Sleep
// is virtual. It keeps no trace, hashes nothing, and is judged by counting alone.
type twin struct {
	ctx    context.Context
	wait   sync.WaitGroup // for all goroutines
	mutex  sync.Mutex     // of what follows
	draw   *rand.Rand
	log    []int
	offset int // committed
}

// parcel is a record or an acknowledgement on its way.
type parcel struct {
	at     time.Time
	record int
	value  int
}

// link keeps order: what is sent later never arrives earlier.
type link struct {
	t    *twin
	ctx  context.Context // of the receiver's life
	way  chan parcel
	last time.Time
}

func (t *twin) link(ctx context.Context, out chan<- parcel) *link {
	l := &link{t: t, ctx: ctx, way: make(chan parcel, 4*records)}
	t.wait.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case p := <-l.way:
				time.Sleep(time.Until(p.at))
				select {
				case out <- p:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	return l
}

func (l *link) send(record, value int) {
	at := time.Now().Add(l.t.between(200, 1000))
	if !at.After(l.last) {
		at = l.last.Add(1)
	}
	l.last = at
	l.way <- parcel{at, record, value}
}

func (t *twin) between(least, most int) time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return time.Duration(least*1000 + t.draw.IntN((most-least)*1000+1))
}

// call is a request and its answer; apply happens in between.
func (t *twin) call(apply func()) {
	time.Sleep(t.between(100, 500))
	t.mutex.Lock()
	apply()
	t.mutex.Unlock()
	time.Sleep(t.between(100, 500))
}

// source hands out records within a window of four and commits every four that are finished. What
// is not acknowledged in time goes out again.
func (t *twin) source(to func(record int), acks <-chan parcel) {
	const window, every, timeout = 4, 4, 60 * time.Millisecond
	begin := time.Now()
	open, handed, base, committed := map[int]time.Time{}, 0, 0, 0
	tick := time.NewTimer(time.Hour)
	defer tick.Stop()
	for base < records {
		for handed < records && handed < base+window {
			arrival := begin.Add(time.Duration(handed+1) * 2 * time.Millisecond)
			if wait := time.Until(arrival); wait > 0 {
				tick.Reset(wait)
				break
			}
			if handed%window == 0 {
				t.call(func() {})
			}
			open[handed] = time.Now().Add(timeout)
			to(handed)
			handed++
		}
		if handed == base+window || handed == records {
			tick.Reset(time.Until(open[base]))
		}
		select {
		case p := <-acks:
			delete(open, p.record)
		case <-tick.C:
			for r, due := range open {
				if !due.After(time.Now()) {
					open[r] = time.Now().Add(timeout)
					to(r)
				}
			}
		}
		for base < handed && open[base].IsZero() {
			base++
		}
		if base-committed >= every || base == records {
			committed = base
			offset := base
			t.wait.Go(func() { t.call(func() { t.offset = max(t.offset, offset) }) })
		}
	}
}

// operator doubles numbers until its life ends. It passes an acknowledgement on.
func (t *twin) operator(ctx context.Context, in, acks <-chan parcel, down, up *link, crash func()) {
	effects := 0
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-in:
			down.send(p.record, 2*p.value)
		case p := <-acks:
			up.send(p.record, 0)
		}
		if effects++; effects == records/4 {
			crash()
		}
	}
}

// sink writes what comes to the log.
func (t *twin) sink(in <-chan parcel, up func(record int)) {
	for {
		select {
		case <-t.ctx.Done():
			return
		case p := <-in:
			t.call(func() { t.log = append(t.log, p.record) })
			up(p.record)
		}
	}
}

// run is one run, within a bubble.
func (t *twin) run(seed uint64) {
	ctx, stop := context.WithCancel(context.Background())
	t.ctx, t.draw, t.log, t.offset = ctx, rand.New(rand.NewPCG(seed, 1)), t.log[:0], 0
	sourceAcks, toSink := make(chan parcel), make(chan parcel)
	backToSource, down := t.link(ctx, sourceAcks), t.link(ctx, toSink)
	var toOperator, backToOperator atomic.Pointer[link]
	var live func(life int)
	live = func(n int) {
		life, die := context.WithCancel(ctx)
		in, acks := make(chan parcel), make(chan parcel)
		toOperator.Store(t.link(life, in))
		backToOperator.Store(t.link(life, acks))
		crash := func() {
			if n == 1 {
				die()
				t.wait.Go(func() { time.Sleep(t.between(5000, 10000)); live(2) })
			}
		}
		t.wait.Go(func() { t.operator(life, in, acks, down, backToSource, crash) })
	}
	live(1)
	t.wait.Go(func() { t.sink(toSink, func(record int) { backToOperator.Load().send(record, 0) }) })
	t.source(func(record int) { toOperator.Load().send(record, record) }, sourceAcks)
	stop()
	t.wait.Wait()
}

// judge counts what the log lacks and what it has twice.
func (t *twin) judge() (losses, duplicates int) {
	times := make([]int, records)
	for _, r := range t.log {
		times[r]++
	}
	for _, n := range times {
		losses += max(1-n, 0)
		duplicates += max(n-1, 0)
	}
	return losses, duplicates
}

// The twin does its job: a crash loses nothing. With -twin it is measured beside the product.
func TestTwin(t *testing.T) {
	var w twin
	seed := uint64(0)
	round := func() int {
		for range seeds {
			seed++
			synctest.Test(t, func(*testing.T) { w.run(seed) })
			losses, _ := w.judge()
			require.Zero(t, losses)
		}
		return seeds
	}
	if !*measureTwin {
		round()
		return
	}
	c := contest{name: "pipeline, one crash, judged", unit: "runs/s", isSpeed: true,
		to: "a twin with goroutines under testing/synctest", goal: atLeast("8.00", 8),
		setUp: func() (side, side, error) {
			j, err := newJob("pipeline")
			if err != nil {
				return nil, nil, err
			}
			s, err := j.reused()
			return s, round, err
		}}
	r, err := c.take(t.Context())
	require.NoError(t, err)
	t.Logf("%+v", r)
}
