package report

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// RunMetrics is what a run cost, in virtual ns, counts and bytes.
type RunMetrics struct {
	// LatencyP50 and LatencyP99 are how long it took from the arrival of an input record to the
	// first time that a reader saw an output of it.
	LatencyP50 int64 `json:"latencyP50"`
	LatencyP99 int64 `json:"latencyP99"`
	// Replayed is how many records reached a first operator once more.
	Replayed int64 `json:"replayed"`
	// DuplicatesAbsorbed is how many repeated writes no reader sees.
	DuplicatesAbsorbed int64 `json:"duplicatesAbsorbed"`
	// DurableWrites is how many offset commits, puts and writes services applied.
	DurableWrites int64 `json:"durableWrites"`
	// StateBytes is the size of keys and values that the state store holds in the end, a number
	// being 8 bytes.
	StateBytes int64 `json:"stateBytes"`
}

func newMetrics(c *Case, l *ledger) RunMetrics {
	var m RunMetrics
	m.LatencyP50, m.LatencyP99 = latencies(c)
	for i := range l.accounts {
		a := &l.accounts[i]
		m.Replayed += max(a.Delivered-l.firstStages(a.id), 0)
		m.DuplicatesAbsorbed += max(a.Written-a.Visible, 0)
	}
	type cell struct {
		op  int32
		key string
	}
	state := map[cell]int64{}
	for i := range l.t.hist.Servings {
		req := &l.t.hist.Calls[l.t.hist.Servings[i].Call].Req
		switch req.Kind {
		case model.Put:
			m.DurableWrites++
			state[cell{req.Record.Op, req.Record.Key}] = int64(len(req.Record.Key) + 8 +
				len(req.Record.Value.Text))
		case model.OffsetCommit, model.Write:
			m.DurableWrites++
		}
	}
	for _, size := range state {
		m.StateBytes += size
	}
	return m
}

// firstStages is how many stages read the input of a record.
func (l *ledger) firstStages(id model.ID) int64 {
	n := int64(0)
	for i := range l.t.job.Topology.Stages {
		for _, from := range l.t.job.Topology.Stages[i].From {
			if l.isInput(from, id.Part) {
				n++
			}
		}
	}
	return n
}

// latencies are the median and the 99th percentile of visible latency; 0 where nothing is visible.
func latencies(c *Case) (p50, p99 int64) {
	input := c.Result.Subject.Input
	seen := map[model.ID]bool{}
	var all []int64
	for i := range c.Result.Subject.History.Observations {
		o := &c.Result.Subject.History.Observations[i]
		id := o.Out.ID
		if !input.Has(id) || seen[id] {
			continue
		}
		seen[id] = true
		all = append(all, o.At-input.Parts[id.Part].Arrival(id.Offset))
	}
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[(len(all)-1)*50/100], all[(len(all)-1)*99/100]
}
