package scenarios

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Unmet lists the expectations of a scenario's verdict section that a result does not meet, each
// with what came out instead. Empty means that everything is as a person said it would be.
func (s *Scenario) Unmet(res *Result) []string {
	var list []string
	for _, e := range s.Expect {
		v := find(res.Verdicts, e.Property)
		switch {
		case v == nil:
			list = append(list, fmt.Sprintf("expected %q: not judged", e))
		case v.Result != e.Result:
			list = append(list, fmt.Sprintf("expected %q: %s", e, v.Result))
		case e.Kind != 0 && !e.isAmong(res.Subject.Job.Topology, v.Anomalies):
			list = append(list, fmt.Sprintf("expected %q: no such anomaly among %d", e,
				len(v.Anomalies)))
		}
	}
	return list
}

func find(verdicts []model.Verdict, property string) *model.Verdict {
	for i := range verdicts {
		if verdicts[i].Property == property {
			return &verdicts[i]
		}
	}
	return nil
}

// isAmong reports whether one of the anomalies is the one that e names.
func (e Expectation) isAmong(t *model.Topology, anomalies []model.Anomaly) bool {
	for i := range anomalies {
		a := &anomalies[i]
		if a.Kind == e.Kind && (e.Record == "" || e.Record == t.RecordName(a.Record.ID)) &&
			(e.Times == 0 || e.Times == a.Observed.Times) {
			return true
		}
	}
	return false
}
