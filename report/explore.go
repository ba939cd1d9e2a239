package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// Exploration is an exhaustive placement of faults as "explore --json" prints it.
type Exploration struct {
	Scenario        string             `json:"scenario"`
	Mode            string             `json:"mode"`
	Defect          string             `json:"defect,omitempty"`
	Bound           ExplorationBound   `json:"bound"`
	Exhausted       bool               `json:"exhausted"`
	Left            string             `json:"left,omitempty"` // not exhausted: why
	Runs            int64              `json:"runs"`
	States          int64              `json:"states"` // distinct runs
	StatesPerSecond int64              `json:"statesPerSecond"`
	LeftOut         []leftOut          `json:"leftOut,omitempty"` // classes that were asked for
	Unclaimed       []string           `json:"unclaimed"`         // why not all is claimed
	Verdicts        []exploredProperty `json:"verdicts"`
	Violations      []exploredAnomaly  `json:"violations"`
	Witness         string             `json:"witness,omitempty"`   // the smallest: a scenario
	Reproduce       string             `json:"reproduce,omitempty"` // the line that runs it

	under string // mode and defect, as a heading has them
}

// leftOut is a class of faults that was asked for and is not explored.
type leftOut struct {
	Class string `json:"class"`
	Why   string `json:"why"`
}

// LeaveOut says of an exploration that a class of faults is no part of it, although it was asked
// for. why goes on from the name of the class.
func (e *Exploration) LeaveOut(class, why string) {
	e.LeftOut = append(e.LeftOut, leftOut{class, why})
}

// ExplorationBound is how far an exploration looks.
type ExplorationBound struct {
	Crashes int      `json:"crashes"` // of a plan, at the most
	Faults  int      `json:"faults"`  // of a plan, at the most, crashes among them
	Classes []string `json:"classes"`
	Records int      `json:"records"`
	Orders  bool     `json:"orders"`
	Timers  int      `json:"timers,omitempty"` // that may fire before their turn
	Lulls   int      `json:"lulls,omitempty"`  // more that may while only input is awaited
	Walks   int      `json:"walks,omitempty"`  // orders taken at random; 0: every order
	Seeds   string   `json:"seeds,omitempty"`

	says string // of orders: in words
}

// exploredProperty is how a property was judged over the distinct runs.
type exploredProperty struct {
	Property string `json:"property"`
	Claimed  bool   `json:"claimed"`
	Verdict  string `json:"verdict"`
	Holds    int64  `json:"holds"`
	Violated int64  `json:"violated"`
	Unknown  int64  `json:"unknown"`
	Broken   int64  `json:"broken"`           // runs of which it is claimed, and that violate it
	Reason   string `json:"reason,omitempty"` // unknown: why, of the smallest run

	result   model.Result
	isUnsure bool // there is a run of which it is claimed, and that leaves it open
}

// exploredAnomaly is what distinct runs show, and the smallest of them.
type exploredAnomaly struct {
	Kind      string   `json:"kind"`
	Finding   bool     `json:"finding"` // about the mechanism, and breaks no claim
	States    int64    `json:"states"`
	Faults    []string `json:"faults"`
	Seed      uint64   `json:"seed"`
	Events    int64    `json:"events,omitempty"` // none are counted of orders
	Reproduce string   `json:"reproduce,omitempty"`
	Steps     []string `json:"steps,omitempty"` // of orders, in words

	kind model.AnomalyKind
}

// NewExploration is the document of an exploration. command writes the line that runs a scenario
// which differs from the explored one by its seed and faults.
func NewExploration(x *search.Exploration,
	command func(s *scenarios.Scenario) string) *Exploration {
	doc := &Exploration{Scenario: x.Scenario.Name, Mode: x.Scenario.Mode.Name,
		Defect: x.Scenario.DefectName(), under: x.Scenario.ModeText(), Bound: newBound(x),
		Exhausted: x.IsExhausted, Left: x.Left, Runs: x.Runs, States: x.States,
		Unclaimed: list(x.Unlike), Verdicts: []exploredProperty{}, Violations: []exploredAnomaly{}}
	for _, class := range x.Classes {
		if !slices.Contains(x.Scenario.Mode.Tolerates, class.Name) {
			doc.Unclaimed = append(doc.Unclaimed, class.Name+" is not tolerated")
		}
	}
	for i := range x.Library.Properties {
		doc.Verdicts = append(doc.Verdicts, newExploredProperty(x, i))
	}
	for _, kind := range model.Anomalies() {
		if w := x.All.Witnesses[kind]; w != nil {
			run := runOf(x.Scenario, w)
			doc.Violations = append(doc.Violations, exploredAnomaly{Kind: kind.String(),
				Finding: isFinding(x.Library, x.Scenario, kind), States: x.All.Anomalies[kind],
				Faults: list(run.Faults.Lines()), Seed: w.Seed, Events: w.Events,
				Reproduce: command(run), kind: kind})
		}
	}
	if w := smallestOf(x); w != nil {
		run := runOf(x.Scenario, w)
		doc.Witness, doc.Reproduce = string(scenarios.Format(x.Library, run)), command(run)
	}
	return doc
}

func newBound(x *search.Exploration) ExplorationBound {
	b := ExplorationBound{Faults: x.Faults, Records: x.Records, Classes: []string{},
		Seeds: fmt.Sprintf("%d-%d", x.First, x.Last)}
	for _, class := range x.Classes {
		b.Classes = append(b.Classes, class.Name)
		if class.Action == model.Crash {
			b.Crashes = x.Faults
		}
	}
	return b
}

func newExploredProperty(x *search.Exploration, i int) exploredProperty {
	n := x.All.Counts[i]
	p := exploredProperty{Property: x.Library.Properties[i].Name, Claimed: x.Claims(i),
		Verdict: n.Result().String(), Holds: n.Holds, Violated: n.Violated, Unknown: n.Undecided,
		result: n.Result(), isUnsure: x.IsUnsure(i)}
	if x.IsBroken(i) {
		p.Broken = x.Inside.Counts[i].Violated
	}
	if w := x.All.Unknown[i]; w != nil {
		p.Reason = w.Reason
	}
	return p
}

// smallestOf is the smallest run that breaks a claim, or else that shows an anomaly: of the most
// severe kind there is.
func smallestOf(x *search.Exploration) *search.Witness {
	for i := range x.Library.Properties {
		if !x.IsBroken(i) {
			continue
		}
		kinds := search.AnomaliesUnder(x.Scenario.Mode, &x.Library.Properties[i])
		for _, kind := range model.Anomalies() {
			if w := x.Inside.Witnesses[kind]; w != nil && slices.Contains(kinds, kind) {
				return w
			}
		}
	}
	for _, kind := range model.Anomalies() {
		if w := x.All.Witnesses[kind]; w != nil && !isFinding(x.Library, x.Scenario, kind) {
			return w
		}
	}
	return nil
}

// Claims says how an exploration relates to what the mode claims: whether a claim is broken, and
// whether one is neither confirmed nor broken: it was left open, or not all was looked at.
func (e *Exploration) Claims() (broken, unsure bool) {
	unsure = !e.Exhausted
	for i := range e.Verdicts {
		broken = broken || e.Verdicts[i].Broken > 0
		unsure = unsure || e.Verdicts[i].isUnsure
	}
	return broken, unsure
}

// Explorations are those of several modes.
type Explorations struct {
	Scenario     string         `json:"scenario"`
	Explorations []*Exploration `json:"explorations"`
}

// Text is a line for each mode, where there are several, and then what came of each: how each
// property was judged, and for each anomaly the smallest run that shows it.
func (all *Explorations) Text(style Style) string {
	w := &writer{style: style}
	if len(all.Explorations) > 1 {
		w.explored(all)
	}
	for i, e := range all.Explorations {
		if i > 0 || len(all.Explorations) > 1 {
			w.blank()
		}
		w.exploration(e, len(all.Explorations) == 1)
	}
	return w.String()
}

// claimedMark is the legend of the mark of a property.
const claimedMark = "= claimed of every run whose faults the mode tolerates"

// The columns of what was explored.
const exploredFormat = "%-22s %9s %9s  %s"

// explored is the table of several modes.
func (w *writer) explored(all *Explorations) {
	defect, lacking := plantedIn(all.Explorations, func(e *Exploration) (mode, defect string) {
		return e.Mode, e.Defect
	})
	w.line("%s", w.style.paint(bold, withDefect(all.Scenario, defect)+": "+
		all.Explorations[0].Bound.text()))
	w.without(defect, lacking)
	w.line(exploredFormat, "", "runs", "distinct", "shows")
	seen := map[model.AnomalyKind]bool{}
	for _, e := range all.Explorations {
		var codes []string
		for i := range e.Violations {
			if v := &e.Violations[i]; !v.Finding {
				codes, seen[v.kind] = append(codes, v.kind.Code()), true
			}
		}
		if len(codes) == 0 {
			codes = append(codes, "-")
		}
		if !e.Exhausted {
			codes = append(codes, "not exhausted")
		}
		broken, unsure := e.Claims()
		if broken || unsure {
			codes = append(codes, "!")
		}
		w.line(exploredFormat, e.Mode, fmt.Sprint(e.Runs), fmt.Sprint(e.States),
			strings.Join(codes, " "))
	}
	w.legend(seen, []string{"- nothing"})
	w.line("%s   ! breaks a claim, or leaves it open", claimedMark)
}

// text says the bound in words.
func (b *ExplorationBound) text() string {
	what := fmt.Sprintf("up to %s at every place", b.faults())
	switch {
	case b.Walks > 0:
		return fmt.Sprintf("%s, %s at random", Several(b.Records, "record"),
			Several(b.Walks, "run"))
	case b.Orders:
		return Several(b.Records, "record") + ", every order of events"
	case len(b.Classes) == 0:
		what = "no fault"
	}
	return fmt.Sprintf("%s, %s, %s", Several(b.Records, "record"), what, b.seeds())
}

// classesMax is how many classes of faults are named in a title.
const classesMax = 4

// faults says how many faults there are, and of which classes.
func (b *ExplorationBound) faults() string {
	if n := len(b.Classes); n > classesMax {
		return fmt.Sprintf("%s of %d classes", Several(b.Faults, "fault"), n)
	}
	if classes := strings.Join(b.Classes, ", "); classes != "crash" {
		return fmt.Sprintf("%s (%s)", Several(b.Faults, "fault"), classes)
	}
	if b.Faults == 1 {
		return "1 crash"
	}
	return fmt.Sprintf("%d crashes", b.Faults)
}

func (b *ExplorationBound) seeds() string {
	if first, last, _ := strings.Cut(b.Seeds, "-"); first == last {
		return "seed " + first
	}
	return "seeds " + b.Seeds
}

// exploration is the section of one mode. It has the legend of its marks if no table above has it.
func (w *writer) exploration(e *Exploration, hasLegend bool) {
	w.line("%s", w.style.paint(bold, fmt.Sprintf("%s under %s: %s", e.Scenario, e.under,
		e.Bound.text())))
	if e.Bound.Orders {
		for _, line := range fill(strings.Fields(e.Bound.says), " ", columnsMax) {
			w.line("%s", line)
		}
	}
	end := "exhausted"
	if !e.Exhausted {
		end = w.style.paint(yellow, "not exhausted: "+e.Left)
	}
	w.line("%s; %s", end, e.counts())
	w.classes(e)
	for _, why := range e.Unclaimed {
		w.line("no claim: %s", why)
	}
	w.blank()
	for i := range e.Verdicts {
		w.exploredProperty(&e.Verdicts[i])
	}
	if hasLegend {
		w.blank()
		w.line("%s   no mark: nothing is claimed", claimedMark)
	}
	w.smallestRuns("smallest runs", e.Violations, false)
	w.smallestRuns("findings about the mechanism, of which nothing is claimed; smallest runs",
		e.Violations, true)
}

// classes says of which classes the faults are, where the title does not, and which are left out.
func (w *writer) classes(e *Exploration) {
	if len(e.Bound.Classes) > classesMax {
		w.hanging("classes: "+strings.Join(e.Bound.Classes, ", "), "", "  ")
	}
	var whys []string
	for _, left := range e.LeftOut {
		if !slices.Contains(whys, left.Why) {
			whys = append(whys, left.Why)
		}
	}
	for _, why := range whys {
		var names []string
		for _, left := range e.LeftOut {
			if left.Why == why {
				names = append(names, left.Class)
			}
		}
		w.hanging(fmt.Sprintf("left out: %s (%s)", strings.Join(names, ", "), why), "", "  ")
	}
}

// counts says how many runs there are.
func (e *Exploration) counts() string {
	if !e.Bound.Orders {
		return fmt.Sprintf("%s, %d distinct", Several(e.Runs, "run"), e.States)
	}
	ends := "1 end of a run"
	if e.Runs != 1 {
		ends = fmt.Sprintf("%d ends of runs", e.Runs)
	}
	return fmt.Sprintf("%s, %s", ends, Several(e.States, "state"))
}

// smallestRuns lists the anomalies that are findings, or those that are not, each with the line
// that runs the smallest run. Of orders it is told step by step as well, unless it is a finding.
func (w *writer) smallestRuns(head string, list []exploredAnomaly, findings bool) {
	for i := range list {
		v := &list[i]
		if v.Finding != findings {
			continue
		}
		if head != "" {
			w.blank()
			w.line("%s", head)
			head = ""
		}
		w.line("  %s, in %d", v.kind, v.States)
		w.line("      %s", v.Reproduce)
		if !findings {
			for _, line := range v.Steps {
				w.line("      %s", line)
			}
		}
	}
}

// exploredProperty is the line of a property. What is claimed is marked, see claimedMark.
func (w *writer) exploredProperty(p *exploredProperty) {
	mark := ""
	if p.Claimed {
		mark = "="
	}
	text := fmt.Sprintf("%-10s", p.Verdict+mark)
	line := fmt.Sprintf("  %-20s %s", p.Property, w.style.result(p.result, text))
	var counts []string
	for _, c := range []struct {
		n    int64
		what string
	}{{p.Holds, "holds"}, {p.Violated, "violated"}, {p.Unknown, "unknown"}} {
		if c.n > 0 && p.result != model.Holds {
			counts = append(counts, fmt.Sprintf("%s in %d", c.what, c.n))
		}
	}
	line += strings.Join(counts, ", ")
	if p.Broken > 0 {
		line += w.style.paint(red, fmt.Sprintf("; claimed of %d of these", p.Broken))
	}
	if p.Unknown > 0 {
		line += " (" + p.Reason + ")"
	}
	w.line("%s", strings.TrimRight(line, " "))
}
