package report

import "fmt"

// droppedMax is how many faults that were not needed a report shows.
const droppedMax = 10

// Shrinking is a line on how the scenario became smaller, and at what price. Shrunk must be set.
func (c *Case) Shrinking() string {
	s := c.Shrunk
	size := func(i int) string {
		return fmt.Sprintf("%s, %s, %s", Several(s.Faults[i], "fault"),
			Several(s.Records[i], "record"), Several(s.Events[i], "event"))
	}
	minimal := "minimal"
	if !s.IsMinimal {
		minimal = "not known to be minimal"
	}
	return fmt.Sprintf("%s → %s; %s, %s", size(0), size(1), Several(int64(s.Runs), "run"), minimal)
}

// shrunk says what the run does not need of the one that it was made from.
func (w *writer) shrunk(c *Case) {
	s := c.Shrunk
	if s == nil {
		return
	}
	w.blank()
	w.line("not needed: %s, %s", Several(int64(len(s.Dropped)), "fault"),
		Several(s.Records[0]-s.Records[1], "record"))
	for _, f := range s.Dropped[:min(len(s.Dropped), droppedMax)] {
		w.hanging(f.String(), "  ", "    ")
	}
	if more := len(s.Dropped) - droppedMax; more > 0 {
		w.line("  … and %d more", more)
	}
	switch {
	case !s.IsMinimal:
		w.line("perhaps not minimal: it ended after %s, before every single step was tried",
			Several(int64(s.Runs), "run"))
	case s.Singles == 1:
		w.line("minimal: the only single deletion or weakening loses it")
	default:
		w.line("minimal: each of %d single deletions and weakenings loses it", s.Singles)
	}
}
