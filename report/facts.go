package report

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// expected is what an anomaly says there should have been.
func (c *Case) expected(a *model.Anomaly) string {
	if a.Kind == model.Stuck && !c.Scenario.Mode.Commits {
		return "the end"
	}
	return c.fact(a.Kind, a.Expected)
}

// observed is what an anomaly says there was. Of a job that commits no offsets and did not come to
// its end it is what stopped it.
func (c *Case) observed(a *model.Anomaly) string {
	if a.Kind == model.Stuck && !c.Scenario.Mode.Commits {
		if why := c.stopped(); why != "" {
			return why
		}
		return "cut off at " + clock(c.Result.Subject.History.End.At)
	}
	return c.fact(a.Kind, a.Observed)
}

// fact is one side of an anomaly. That of a stuck source is a position, and what a reader saw of a
// transaction is in words.
func (c *Case) fact(kind model.AnomalyKind, f model.Fact) string {
	switch {
	case kind == model.Stuck && f.HasValue:
		return fmt.Sprintf("position %d", f.Value.Num)
	case (kind == model.TornRead || kind == model.FracturedRead || kind == model.Torn) &&
		f.HasValue && f.Value.Text != "" && f.Value.Num == 0:
		return f.Value.Text
	}
	return f.String()
}

// stopped is what lives gave up on last, if they did so again and again: "checkpoint 2 cannot be
// restored, 31 times"; or "".
func (c *Case) stopped() string {
	lives := c.Result.Subject.History.Lives
	reason, times := "", 0
	for i := len(lives) - 1; i >= 0; i-- {
		l := &lives[i]
		switch {
		case l.How != model.GaveUp:
		case reason == "":
			reason, times = l.Reason, 1
		case l.Reason == reason:
			times++
		}
	}
	if times < 2 {
		return ""
	}
	return fmt.Sprintf("%s, %d times", reason, times)
}
