package search

import "slices"

// Metrics is what a run cost, in virtual ns, counts and bytes, counted the same way in every mode.
type Metrics struct {
	// LatencyP50 and LatencyP99 are how long it took from the arrival of an input record to the
	// first time that the external system showed an output of it. That is when it applied the
	// write, or for a transaction when it and all before it in its partition were decided: a reader
	// that polls sees it somewhat later.
	LatencyP50 int64 `json:"latencyP50"`
	LatencyP99 int64 `json:"latencyP99"`
	// Replayed is how many records reached a first operator once more.
	Replayed int64 `json:"replayed"`
	// DuplicatesAbsorbed is how many repetitions were recognised and changed nothing: requests
	// that a service answered with "done before", or with "stale" where the same output had been
	// written already, rows that were written as they were, and data that a task acknowledged
	// without taking its step.
	DuplicatesAbsorbed int64 `json:"duplicatesAbsorbed"`
	// DuplicatesVisible is how many entries too many a reader sees who starts over in the end.
	DuplicatesVisible int64 `json:"duplicatesVisible"`
	// Lost is how many records the properties judged call lost.
	Lost int64 `json:"lost"`
	// DurableWrites is the sum over the classes of Durable. DurableCalls is how many requests made
	// them: one that writes state, an id and outputs together is one request and several writes.
	DurableWrites int64   `json:"durableWrites"`
	Durable       ByClass `json:"durable"`
	DurableCalls  int64   `json:"durableCalls"`
	// DataMessages, AckMessages and ControlMessages are what processes sent to each other; the last
	// are barriers, and what coordinators and tasks tell each other.
	DataMessages    int64 `json:"dataMessages"`
	AckMessages     int64 `json:"ackMessages"`
	ControlMessages int64 `json:"controlMessages"`
	// StateBytes is the size of the keys and values that the state store holds in the end, in rows
	// and in the parts of operators in checkpoints; records in flight that a part keeps count too.
	StateBytes int64 `json:"stateBytes"`
	// BytesWritten is the size of the durable writes. A number is 8 bytes and a text its length; a
	// position is two numbers, an identity four, a value a number and a text.
	BytesWritten ByClass `json:"bytesWritten"`

	// IsTraced says whether the run kept its trace. Without it nothing is known of what reached a
	// task: Replayed is 0, and DuplicatesAbsorbed leaves out what tasks absorbed.
	IsTraced bool `json:"-"`
}

// ByClass is an amount for each class of durable writes.
type ByClass struct {
	Position int64 `json:"position"` // offsets, committed or in a checkpoint
	State    int64 `json:"state"`    // keyed state, and records that a checkpoint keeps in flight
	Dedup    int64 `json:"dedup"`    // ids of inputs that were taken up
	Output   int64 `json:"output"`   // results at the external system, or kept for it
	Metadata int64 `json:"metadata"` // whatever else: of checkpoints, transactions and batches
}

// Sum is the amount over all classes.
func (c ByClass) Sum() int64 { return c.Position + c.State + c.Dedup + c.Output + c.Metadata }

// Messages is how many messages processes sent to each other.
func (m *Metrics) Messages() int64 { return m.DataMessages + m.AckMessages + m.ControlMessages }

// numbers are all numbers of m.
func (m *Metrics) numbers() []*int64 {
	return append(append([]*int64{&m.LatencyP50, &m.LatencyP99, &m.Replayed, &m.DuplicatesAbsorbed,
		&m.DuplicatesVisible, &m.Lost, &m.DurableWrites, &m.DurableCalls, &m.DataMessages,
		&m.AckMessages, &m.ControlMessages, &m.StateBytes}, m.Durable.numbers()...),
		m.BytesWritten.numbers()...)
}

func (c *ByClass) numbers() []*int64 {
	return []*int64{&c.Position, &c.State, &c.Dedup, &c.Output, &c.Metadata}
}

// medians is the median of each number over runs; there must be one. It is the lower of two.
func medians(runs []Metrics) Metrics {
	var m Metrics
	list := make([]int64, len(runs))
	for i, into := range m.numbers() {
		for j := range runs {
			list[j] = *runs[j].numbers()[i]
		}
		slices.Sort(list)
		*into = percentile(list, 50)
	}
	m.IsTraced = runs[0].IsTraced
	return m
}

// percentile is the p-th percentile of a sorted list, and 0 of an empty one.
func percentile(sorted []int64, p int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*p/100]
}
