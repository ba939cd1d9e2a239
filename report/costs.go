package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/search"
)

// ModeCost is what a mode pays, as "compare --json" prints it: for a record of the input the median
// of runs without faults, and for a crash the mean over the crashes that struck, all rounded to two
// decimals. What takes a trace is null where the runs were too long to keep one.
type ModeCost struct {
	Mode       string `json:"mode"`
	LatencyP50 int64  `json:"latencyP50"`
	LatencyP99 int64  `json:"latencyP99"`

	// A record.
	Durable         map[string]float64 `json:"durable"` // writes, by class
	DurableCalls    float64            `json:"durableCalls"`
	BytesWritten    float64            `json:"bytesWritten"`
	StateWritten    float64            `json:"stateWritten"` // bytes of them that are state
	DataMessages    float64            `json:"dataMessages"`
	AckMessages     float64            `json:"ackMessages"`
	ControlMessages float64            `json:"controlMessages"` // barriers and notices

	// A crash.
	Crashes            int64    `json:"crashes"` // how many struck
	Replayed           *float64 `json:"replayed"`
	DuplicatesAbsorbed *float64 `json:"duplicatesAbsorbed"`
	DuplicatesVisible  float64  `json:"duplicatesVisible"`
	Lost               float64  `json:"lost"`

	StateBytes int64 `json:"stateBytes"` // of a run
}

func newModeCost(c *search.Cost, records int64) ModeCost {
	s, t := &c.Steady, &c.Crashed
	each := func(n int64) float64 { return quotient(n, records) }
	crash := func(n int64) float64 { return quotient(n, t.Crashes) }
	doc := ModeCost{Mode: c.Mode.Name, LatencyP50: s.LatencyP50, LatencyP99: s.LatencyP99,
		Durable: map[string]float64{}, DurableCalls: each(s.DurableCalls),
		BytesWritten: each(s.BytesWritten.Sum()), StateWritten: each(s.BytesWritten.State),
		DataMessages: each(s.DataMessages), AckMessages: each(s.AckMessages),
		ControlMessages: each(s.ControlMessages), Crashes: t.Crashes,
		DuplicatesVisible: crash(t.Sum.DuplicatesVisible), Lost: crash(t.Sum.Lost),
		StateBytes: s.StateBytes}
	for _, class := range classesOf(&s.Durable) {
		doc.Durable[class.name] = each(class.amount)
	}
	if t.IsTraced {
		replayed, absorbed := crash(t.Sum.Replayed), crash(t.Sum.DuplicatesAbsorbed)
		doc.Replayed, doc.DuplicatesAbsorbed = &replayed, &absorbed
	}
	return doc
}

// costColumn is one column of the table of costs.
type costColumn struct {
	group string // above the first column of a group
	head  string
	value func(c *search.Cost, records int64) string
}

// steady is a column of what a record costs without faults.
func steady(head string, amount func(*search.Metrics) int64) costColumn {
	return costColumn{"", head, func(c *search.Cost, records int64) string {
		return ratio(amount(&c.Steady), records)
	}}
}

// toll is a column of what a crash costs. Where it takes a trace and there was none it is unknown.
func toll(head string, takesTrace bool, amount func(*search.Metrics) int64) costColumn {
	return costColumn{"", head, func(c *search.Cost, _ int64) string {
		if takesTrace && !c.Crashed.IsTraced {
			return "?"
		}
		return ratio(amount(&c.Crashed.Sum), c.Crashed.Crashes)
	}}
}

// inMillis is a column of a latency.
func inMillis(head string, latency func(*search.Metrics) int64) costColumn {
	return costColumn{"", head, func(c *search.Cost, _ int64) string {
		return ratio(latency(&c.Steady), 1_000_000)
	}}
}

// classHeads are the heads of the classes of durable writes, in their order.
var classHeads = [...]string{"pos", "state", "id", "out", "meta"}

// costColumns are the columns behind the name of the mode. A class that no mode writes is left out.
func costColumns(costs []search.Cost) []costColumn {
	latency := []costColumn{
		inMillis("p50", func(m *search.Metrics) int64 { return m.LatencyP50 }),
		inMillis("p99", func(m *search.Metrics) int64 { return m.LatencyP99 })}
	latency[0].group = "visible, ms"
	var writes []costColumn
	for i := range classHeads {
		amount := func(m *search.Metrics) int64 { return classesOf(&m.Durable)[i].amount }
		for j := range costs {
			if amount(&costs[j].Steady) > 0 {
				writes = append(writes, steady(classHeads[i], amount))
				break
			}
		}
	}
	calls := steady("calls", func(m *search.Metrics) int64 { return m.DurableCalls })
	writes = append(writes, calls)
	writes[0].group = "durable writes"
	bytes := steady("bytes", func(m *search.Metrics) int64 { return m.BytesWritten.State })
	bytes.group = "state"
	messages := steady("msgs", (*search.Metrics).Messages)
	messages.group = " "
	crash := []costColumn{
		toll("again", true, func(m *search.Metrics) int64 { return m.Replayed }),
		toll("absorb", true, func(m *search.Metrics) int64 { return m.DuplicatesAbsorbed }),
		toll("twice", false, func(m *search.Metrics) int64 { return m.DuplicatesVisible }),
		toll("lost", false, func(m *search.Metrics) int64 { return m.Lost })}
	crash[0].group = "per crash"
	return slices.Concat(latency, writes, []costColumn{bytes, messages}, crash)
}

// costTable is the table of what each mode pays.
func (w *writer) costTable(m *Matrix) {
	if len(m.costs) == 0 {
		return
	}
	first := 0
	for i := range m.costs {
		first = max(first, len([]rune(clip(m.costs[i].Mode.Name, nameWidth-1))))
	}
	groups, heads := "", strings.Repeat(" ", first)
	lines := make([]string, len(m.costs))
	for i := range lines {
		lines[i] = fmt.Sprintf("%-*s", first, clip(m.costs[i].Mode.Name, nameWidth-1))
	}
	for _, column := range costColumns(m.costs) {
		gap, width := " ", len(column.head)
		var values []string
		for i := range m.costs {
			values = append(values, column.value(&m.costs[i], int64(m.Records)))
			width = max(width, len(values[i]))
		}
		if column.group != "" {
			gap = strings.Repeat(" ", max(2, len(groups)+2-len(heads)))
			groups += strings.Repeat(" ", len(heads)+len(gap)-len(groups)) + column.group
		}
		heads += fmt.Sprintf("%s%*s", gap, width, column.head)
		for i := range lines {
			lines[i] += fmt.Sprintf("%s%*s", gap, width, values[i])
		}
	}
	w.blank()
	w.line("%s", w.style.paint(bold, "costs, a record"))
	for _, line := range append([]string{strings.TrimRight(groups, " "), heads}, lines...) {
		w.line("%s", line)
	}
	w.line("medians of at most 100 runs without faults   calls requests that made writes   " +
		"msgs messages")
	w.line("pos offsets   id of inputs taken up   out results, kept or shown   " +
		"meta of checkpoints and the like")
	w.line("again replayed   absorb recognised and changed nothing   twice visible too often")
}
