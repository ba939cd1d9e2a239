package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/search"
)

// costs says in a line or two what a run cost.
func (w *writer) costs(c *Case) {
	m := search.Measure(&c.Result)
	each := func(n int64) string { return ratio(n, int64(c.Result.Subject.Input.Total())) }
	text := fmt.Sprintf("cost of a record: %s durable writes in %s calls", each(m.DurableWrites),
		each(m.DurableCalls))
	var parts []string
	for _, class := range classesOf(&m.Durable) {
		if class.amount > 0 {
			parts = append(parts, each(class.amount)+" "+class.name)
		}
	}
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	text += fmt.Sprintf(", %s messages; ", each(m.Messages()))
	if m.LatencyP99 > 0 {
		text += fmt.Sprintf("visible after %sms (p50), %sms (p99)", ratio(m.LatencyP50, 1_000_000),
			ratio(m.LatencyP99, 1_000_000))
	} else {
		text += "nothing became visible"
	}
	if m.IsTraced {
		text += fmt.Sprintf("; %d replayed, %d duplicates absorbed", m.Replayed,
			m.DuplicatesAbsorbed)
	}
	w.blank()
	for i, line := range fill(strings.Fields(text), " ", columnsMax-2) {
		w.line("%s%s", strings.Repeat("  ", min(i, 1)), line)
	}
}

// classAmount is an amount of one class of durable writes, by the name of the class.
type classAmount struct {
	name   string
	amount int64
}

func classesOf(c *search.ByClass) []classAmount {
	return []classAmount{{"position", c.Position}, {"state", c.State}, {"dedup", c.Dedup},
		{"output", c.Output}, {"metadata", c.Metadata}}
}

// ratio writes n in d with up to two decimals, and from 100 on without; 0 in nothing is 0.
func ratio(n, d int64) string {
	if q := quotient(n, d); q < 100 {
		return strconv.FormatFloat(q, 'f', -1, 64)
	}
	return strconv.FormatInt((2*n+d)/(2*d), 10)
}

// quotient is n in d, rounded to two decimals.
func quotient(n, d int64) float64 {
	if d == 0 {
		return 0
	}
	return float64((200*n+d)/(2*d)) / 100
}
