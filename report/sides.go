package report

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/search"
)

// sidesProperties are the columns of Sides: what tells guarantees apart at a glance.
var sidesProperties = [...]string{"at-most-once", "at-least-once", "exactly-once-state",
	"exactly-once", "effectively-once"}

// Sides shows one scenario under several modes, a line each: the same input, the same faults, the
// same seed. There must be at least one case, and all must be of one scenario but for the mode.
func Sides(cases []*Case, style Style) string {
	w := &writer{style: style}
	s := cases[0].Scenario
	head := fmt.Sprintf("%s, seed %d, %d records", s.Name, s.Seed,
		cases[0].Result.Subject.Input.Total())
	w.line("%s", style.paint(bold, head))
	for _, line := range s.Faults.Lines() {
		w.line("  %s", line)
	}
	w.blank()
	heads := shortNames(sidesProperties[:])
	line := strings.Repeat(" ", nameWidth+2)
	for _, h := range heads {
		line += fmt.Sprintf("%-*s", cellWidth, h)
	}
	w.line("%slatency", line)
	for _, c := range cases {
		w.side(c)
	}
	w.blank()
	w.line("= claimed, and kept   ! claimed, and broken   no mark: nothing is claimed")
	line = ""
	for i, h := range heads {
		line += fmt.Sprintf("%s %s  ", h, sidesProperties[i])
	}
	w.line("%s", strings.TrimSpace(line))
	w.line("latency: from the arrival of a record until it is visible, the median")
	if c := cases[0]; c.Command != "" {
		w.blank()
		w.line("each in whole: %s", strings.Replace(c.Command, "--mode "+Quote(s.Mode.Name),
			"--mode MODE", 1))
	}
	return w.String()
}

// side is the line of one mode, and in a second one what is wrong.
func (w *writer) side(c *Case) {
	line := fmt.Sprintf("%-*s", nameWidth+2, clip(c.Scenario.Mode.Name, nameWidth+1))
	for _, name := range sidesProperties {
		text, result := "n/a", model.Undecided
		for i := range c.Result.Verdicts {
			if v := &c.Result.Verdicts[i]; v.Property == name {
				text, result = sideText(c, v), v.Result
			}
		}
		line += w.style.result(result, text) + strings.Repeat(" ", cellWidth-len(text))
	}
	w.line("%s%s", line, clock(search.Measure(&c.Result).LatencyP50))
	for _, fault := range NotReached(c) {
		w.line("    not reached: %s", fault)
	}
	if v, a := c.primary(); v != nil && a != nil {
		w.line("    %s", c.summary(v, a))
	}
}

// sideText is a verdict in a word, and how it relates to the claim.
func sideText(c *Case, v *model.Verdict) string {
	text := "?"
	switch v.Result {
	case model.Holds:
		text = "holds"
	case model.Violated:
		text = "viol"
	}
	switch {
	case !c.isClaimed(v.Property):
	case v.Result == model.Holds:
		text += "="
	default:
		text += "!"
	}
	return text
}
