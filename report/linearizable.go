package report

import (
	"github.com/oncesim/oncesim/checker"
	"github.com/oncesim/oncesim/model"
)

// CheckLinearizable judges the services of a run beside its properties; reports of the case then
// tell it. stepsMax is that of checker.Linearizable.
func (c *Case) CheckLinearizable(stepsMax int) {
	c.Linearizable = checker.Linearizable(c.Result.Subject, stepsMax)
}

// linearObjects are the objects that checker.Linearizable judges, in its order.
var linearObjects = [...]string{"input offsets", "state store", "external sink"}

// LinearizableResult is the judgement of all services: violated if any is, else unknown if any is.
func (c *Case) LinearizableResult() model.Result {
	result := model.Holds
	for i := range c.Linearizable {
		switch c.Linearizable[i].Result {
		case model.Violated:
			return model.Violated
		case model.Undecided:
			result = model.Undecided
		}
	}
	return result
}

// linearizable writes a line for each service, and why where it does not hold.
func (w *writer) linearizable(c *Case) {
	if len(c.Linearizable) == 0 {
		return
	}
	w.blank()
	w.line("linearizable")
	for i := range c.Linearizable {
		v := &c.Linearizable[i]
		result := w.style.result(v.Result, v.Result.String())
		w.line("  %-13s  %s", linearObjects[i], result)
		if v.Reason != "" {
			w.paragraph("  " + v.Reason)
		}
	}
}

// runLinearizable is the judgement of one service.
type runLinearizable struct {
	Object    string       `json:"object"`
	Verdict   string       `json:"verdict"`
	Reason    string       `json:"reason,omitempty"`
	Anomalies []RunAnomaly `json:"anomalies"`
}

func (c *Case) linearizable() (list []runLinearizable) {
	for i := range c.Linearizable {
		v := c.verdict(&c.Linearizable[i])
		list = append(list, runLinearizable{linearObjects[i], v.Verdict, v.Reason, v.Anomalies})
	}
	return list
}
