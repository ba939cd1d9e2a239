package report

import (
	"encoding/json"
	"fmt"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/search"
)

// Run is one run as "run --json" prints it. The order of fields is that of the document; hashes
// are 16 hex digits, since not every reader of JSON has whole numbers of 64 bits.
type Run struct {
	Scenario   string         `json:"scenario"`
	Mode       string         `json:"mode"`
	Defect     string         `json:"defect,omitempty"`
	Seed       uint64         `json:"seed"`
	Hash       string         `json:"hash"`
	Signature  string         `json:"signature"`
	Events     int64          `json:"events"`
	End        string         `json:"end"`
	Records    int            `json:"records"`
	Malformed  int            `json:"malformed"`
	Faults     []string       `json:"faults"`
	NotReached []string       `json:"notReached"`
	Unclaimed  []string       `json:"unclaimed"` // why the mode claims nothing of the run
	Verdicts   []RunVerdict   `json:"verdicts"`
	Affected   []RunAffected  `json:"affected"`
	Why        string         `json:"why"`
	Unmet      []string       `json:"unmet"` // lines of the verdict section that differ
	Metrics    search.Metrics `json:"metrics"`
	Reproduce  string         `json:"reproduce"`
	Saved      string         `json:"saved,omitempty"`

	Linearizable []runLinearizable `json:"linearizable,omitempty"`
}

// RunVerdict is the judgement of one property.
type RunVerdict struct {
	Property  string       `json:"property"`
	Claimed   bool         `json:"claimed"`
	Verdict   string       `json:"verdict"`
	Reason    string       `json:"reason,omitempty"`
	Anomalies []RunAnomaly `json:"anomalies"`
}

// RunAnomaly is the certificate of one violation.
type RunAnomaly struct {
	Kind     string  `json:"kind"`
	Record   string  `json:"record"`
	Key      string  `json:"key,omitempty"`
	Events   []int64 `json:"events"`
	Expected string  `json:"expected"`
	Observed string  `json:"observed"`
}

// RunAffected is a record that fared otherwise than in a run without faults.
type RunAffected struct {
	Record    string `json:"record"`
	Delivered int64  `json:"delivered"`
	Applied   int64  `json:"applied"` // by the last operators
	Written   int64  `json:"written"`
	Visible   int64  `json:"visible"`

	AppliedBy map[string]int64 `json:"appliedBy"` // by the name of the operator
}

// NewRun is the document of a case.
func NewRun(c *Case) *Run {
	t := newTape(c)
	l := newLedger(c, t)
	h := c.Result.Subject.History
	r := &Run{
		Scenario: c.Scenario.Name, Mode: c.Scenario.Mode.Name, Seed: c.Scenario.Seed,
		Hash: hex(h.End.Hash), Signature: Signature(c), Events: h.End.N, End: h.End.Reason.String(),
		Records: l.input.Total(), Malformed: c.Stats.Malformed,
		Faults: list(c.Scenario.Faults.Lines()), NotReached: list(NotReached(c)),
		Unclaimed: list(c.unclaimed()), Verdicts: []RunVerdict{}, Affected: []RunAffected{},
		Why: newStory(c, t, l).text(), Metrics: search.Measure(&c.Result),
		Reproduce: c.Command, Saved: c.Saved, Linearizable: c.linearizable(),
	}
	r.Defect = c.Scenario.DefectName()
	if r.Unmet = []string{}; c.Judged {
		r.Unmet = list(Unmet(c))
	}
	for i := range c.Result.Verdicts {
		r.Verdicts = append(r.Verdicts, c.verdict(&c.Result.Verdicts[i]))
	}
	for _, a := range l.affected() {
		by := map[string]int64{}
		for i := range t.job.Topology.Stages {
			by[t.job.Topology.Stages[i].Name] = a.applied[i+1]
		}
		r.Affected = append(r.Affected, RunAffected{c.recordName(a.id), a.Delivered, a.Applied,
			a.Written, a.Visible, by})
	}
	return r
}

func (c *Case) verdict(v *model.Verdict) RunVerdict {
	doc := RunVerdict{Property: v.Property, Claimed: c.isClaimed(v.Property),
		Verdict: v.Result.String(), Reason: v.Reason, Anomalies: []RunAnomaly{}}
	for i := range v.Anomalies {
		a := &v.Anomalies[i]
		item := RunAnomaly{Kind: a.Kind.String(), Key: a.Record.Key, Events: []int64{},
			Expected: c.expected(a), Observed: c.observed(a)}
		if c.Result.Subject.Input.Has(a.Record.ID) {
			item.Record = c.recordName(a.Record.ID)
		}
		for _, n := range a.Events {
			if n != 0 {
				item.Events = append(item.Events, n)
			}
		}
		doc.Anomalies = append(doc.Anomalies, item)
	}
	return doc
}

// hex writes a hash.
func hex(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// list is never null in a document.
func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}

// JSON writes a document, with a line end. Angle brackets stay as they are.
func JSON(doc any) []byte {
	data, err := marshal(doc, "  ")
	if err != nil {
		panic(fmt.Sprintf("report: a document of type %T: %v", doc, err))
	}
	return data
}

func marshal(doc any, indent string) ([]byte, error) {
	var b buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(doc)
	return b, err
}

// buffer is the least that an encoder can write to.
type buffer []byte

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
