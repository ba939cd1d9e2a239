package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/search"
)

// sidesProperties are the columns of Sides: what tells guarantees apart at a glance.
var sidesProperties = [...]string{"at-most-once", "at-least-once", "exactly-once-state",
	"exactly-once", "effectively-once"}

// Sides shows one scenario under several modes, a line each: the same input, the same faults, the
// same seed. There must be at least one case that was run, and all must be of one scenario but for
// the mode.
func Sides(cases []*Case, style Style) string {
	w := &writer{style: style}
	some := cases[0]
	for _, c := range cases {
		if some.Excuse != "" {
			some = c
		}
	}
	s := some.Scenario
	defect, lacking := plantedIn(cases, func(c *Case) (mode, defect string) {
		return c.Scenario.Mode.Name, c.Scenario.DefectName()
	})
	head := fmt.Sprintf("%s, seed %d, %d records", withDefect(s.Name, defect), s.Seed,
		some.Result.Subject.Input.Total())
	w.line("%s", style.paint(bold, head))
	w.without(defect, lacking)
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
	w.line("EOS and EfO are about the state that is left, EfO also about the rows of a table by " +
		"key:\nneither is about a log of output")
	w.wholes(cases)
	return w.String()
}

// wholes says how to run each case by itself: in one line for all, unless they differ in what is
// set.
func (w *writer) wholes(cases []*Case) {
	var lines []string
	for _, c := range cases {
		if c.Command == "" {
			continue
		}
		line := strings.Replace(c.Command, "--mode "+Quote(c.Scenario.Mode.Name), "--mode MODE", 1)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	switch len(lines) {
	case 0:
	case 1:
		w.blank()
		w.line("each in whole: %s", lines[0])
	default:
		w.blank()
		w.line("each in whole:")
		for _, c := range cases {
			if c.Command != "" {
				w.line("  %s", c.Command)
			}
		}
	}
}

// side is the line of one mode, and in a second one what is wrong.
func (w *writer) side(c *Case) {
	line := fmt.Sprintf("%-*s", nameWidth+2, clip(c.Scenario.Mode.Name, nameWidth+1))
	if c.Excuse != "" {
		w.line("%sdoes not apply: %s", line, c.Excuse)
		return
	}
	for _, name := range sidesProperties {
		text, result := "n/a", model.Undecided
		for i := range c.Result.Verdicts {
			if v := &c.Result.Verdicts[i]; v.Property == name {
				text, result = sideText(c, v), v.Result
			}
		}
		line += w.style.result(result, text) + strings.Repeat(" ", cellWidth-len(text))
	}
	latency := "-"
	if m := search.Measure(&c.Result); m.LatencyP99 > 0 {
		latency = clock(m.LatencyP50)
	}
	w.line("%s%s", line, latency)
	for _, f := range c.notReached() {
		w.hanging("not reached: "+c.missed(f), "    ", "      ")
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
