package report

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Unmet lists the lines of the scenario's verdict section that the run does not meet, each with
// what came out instead. A line that names an anomaly is met by any run that shows it, whatever
// else it shows.
func Unmet(c *Case) []string {
	var lines []string
	for _, e := range c.Scenario.Expect {
		if got := c.unmet(&e); got != "" {
			lines = append(lines, fmt.Sprintf("line %d expects %q, the run has %s", e.Line,
				strings.Join(strings.Fields(e.String()), " "), got))
		}
	}
	return lines
}

// unmet says what a run has in place of an expectation; "" where it is met.
func (c *Case) unmet(e *scenarios.Expectation) string {
	for i := range c.Result.Verdicts {
		v := &c.Result.Verdicts[i]
		if v.Property != e.Property {
			continue
		}
		if v.Result == e.Result && (e.Kind == 0 || c.shows(v, e)) {
			return ""
		}
		got := v.Result.String()
		switch {
		case v.Result == model.Undecided:
			got += ": " + v.Reason
		case len(v.Anomalies) > 0:
			got += ": " + c.summary(v, &v.Anomalies[0])
		}
		return got
	}
	return "no such property"
}

// shows reports whether a verdict has the anomaly of an expectation.
func (c *Case) shows(v *model.Verdict, e *scenarios.Expectation) bool {
	for i := range v.Anomalies {
		a := &v.Anomalies[i]
		isRecord := e.Record == "" || c.anomalyName(a) == e.Record
		if a.Kind == e.Kind && isRecord && (e.Times == 0 || e.Times == a.Observed.Times) {
			return true
		}
	}
	return false
}
