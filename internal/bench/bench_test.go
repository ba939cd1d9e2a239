package bench

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// The yardstick of the loop is a queue: it yields events in order.
func TestBareHeap(t *testing.T) {
	h := newBareHeap(1000)
	h.turn(5000)
	require.Len(t, h.list, 1000)
	var last event
	for range 1000 {
		e := h.pop()
		require.False(t, e.before(&last))
		last = e
	}
}

// No ball is lost, all kinds of process take part, and the rules that are armed never strike.
func TestPings(t *testing.T) {
	const balls = 64
	w := pings(balls, 2000)
	h := w.Run(1, unreached(), sim.Options{Trace: true})
	require.Equal(t, model.EventBound, h.End.Reason)
	require.Equal(t, make([]int64, pingProcs), h.Reached)
	flying, handled := 0, map[model.Role]int{}
	for _, e := range w.Trace() {
		switch e.Kind {
		case model.EntrySend:
			flying++
		case model.EntryDeliver:
			flying--
			handled[w.Job().Tasks[e.Proc].Role]++
		}
	}
	require.Equal(t, balls, flying)
	require.Len(t, handled, 4)
	for role, n := range handled {
		require.Greater(t, n, 100, "role %d", role)
	}
}

// A run that leaves the hash out is the same run.
func TestPings_Unhashed(t *testing.T) {
	w := pings(64, 2000)
	whole := *w.Run(1, unreached(), sim.Options{})
	bare := w.Run(1, nil, sim.Options{Unhashed: true})
	require.Equal(t, whole.End.At, bare.End.At)
	require.Equal(t, whole.End.N, bare.End.N)
	require.NotEqual(t, whole.End.Hash, bare.End.Hash)
}

// The measured job crashes and repeats.
func TestJob(t *testing.T) {
	j, err := newJob("pipeline")
	require.NoError(t, err)
	r, err := j.runner()
	require.NoError(t, err)
	h := r.Run(1, j.rules, sim.Options{}).Subject.History
	require.NotZero(t, h.Reached[0])
	require.Greater(t, len(h.Final), records)
}

// The histories and models of the checks are what they should be: both sides accept them, and a
// write that was told another place is rejected by both.
func TestLongLog(t *testing.T) {
	const n = 300
	h := longLog(n)
	require.Equal(t, n, inPorcupine(h)())
	a, b := &h.Calls[n/2].Ans.Seq, &h.Calls[n/2+50].Ans.Seq
	*a, *b = *b, *a
	require.Panics(t, func() { inPorcupine(h)() })
	s := checker.Subject{History: h, Shape: model.Log}
	require.Equal(t, model.Violated, checker.Linearizable(s, 0)[model.External].Result)
}

// A contest takes turns, leaves the first round out and takes medians.
func TestContest(t *testing.T) {
	var order []string
	named := func(name string) side {
		return func() int { order = append(order, name); return 1 }
	}
	c := contest{name: "turns", goal: atLeast("0", 0), setUp: func() (side, side, error) {
		return named("a"), named("b"), nil
	}}
	r, err := c.take(t.Context())
	require.NoError(t, err)
	require.Equal(t, "turns", r.Name)
	require.Equal(t, []string{"a", "b", "b", "a", "a", "b"}, order[:6])
	require.Len(t, order, 2*(Rounds+1))

	c = contest{goal: atMost("0.50", 0.5), fixed: 1e18, setUp: func() (side, side, error) {
		return named("a"), nil, nil
	}}
	r, err = c.take(t.Context())
	require.NoError(t, err)
	require.True(t, r.Met)
	require.Equal(t, "<= 0.50", r.Goal)
	require.Equal(t, 3.0, median([]float64{9, 3, 1}))
}

// It ends with its context and passes errors on.
func TestContest_Ends(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	c := contest{setUp: func() (side, side, error) {
		return func() int { n++; stop(); return 1 }, nil, nil
	}}
	_, err := c.take(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	wrong := errors.New("wrong")
	c.setUp = func() (side, side, error) { return nil, nil, wrong }
	_, err = c.take(t.Context())
	require.ErrorIs(t, err, wrong)
}
