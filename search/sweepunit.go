package search

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Unit is what a sweep runs under each of its seeds: a scenario, under its mode.
type Unit struct {
	Scenario *scenarios.Scenario // as Class varies it; if it has faults it runs under just these
	Class    *scenarios.Class    // that varies the scenario; nil: it is as it was
	Classes  []*scenarios.Class  // what plans are drawn from; none of them varies the scenario
}

// Units lists what there is to sweep of a scenario under some modes: one unit a mode, with plans
// drawn from those classes that leave the scenario as it is, and one for each class that changes
// it. Without classes it is one a mode, with plans of what the mode tolerates. Classes that do not
// apply to a mode are left out.
func Units(lib *scenarios.Library, s *scenarios.Scenario, modes []*model.Mode,
	classes []*scenarios.Class) []Unit {
	var units []Unit
	for _, mode := range modes {
		own := *WithMode(s, mode)
		own.Faults = s.Faults
		if len(classes) == 0 {
			units = append(units, Unit{Scenario: &own, Classes: Envelope(lib, mode)})
			continue
		}
		plain := Unit{Scenario: &own}
		for _, class := range classes {
			switch {
			case !class.Applies(mode):
			case class.Vary == nil:
				plain.Classes = append(plain.Classes, class)
			default:
				drawn := *class
				drawn.Vary = nil
				units = append(units, Unit{Scenario: Under(s, mode, class), Class: class,
					Classes: []*scenarios.Class{&drawn}})
			}
		}
		if len(plain.Classes) > 0 {
			units = append(units, plain)
		}
	}
	return units
}

// sweepUnit is a unit that is ready to be run.
type sweepUnit struct {
	Unit
	input       *model.Input
	faultsMax   int
	decides     []bool // by property: a violation of it is a failure
	any         bool
	unlike      bool // the mode claims nothing of the scenario as it is set
	first       *sweepWorld
	end         model.End // of a run without faults
	canary      string
	failuresMax int
}

// name is the scenario, the mode and the class.
func (u *Unit) name() string {
	text := u.Scenario.Name + " under " + u.Scenario.ModeText()
	if u.Class != nil {
		text += ", " + u.Class.Name
	}
	return text
}

// prepare makes the units ready.
func (s *Sweep) prepare(units []Unit) error {
	if len(units) == 0 {
		return errors.New("there is nothing to sweep")
	}
	canaries := map[string]string{}
	names := map[string]bool{}
	for i := range units {
		if name := units[i].name(); names[name] {
			return fmt.Errorf("two units are called %s", name)
		}
		names[units[i].name()] = true
		u := &sweepUnit{Unit: units[i], faultsMax: s.opts.Faults, any: s.opts.Any,
			failuresMax: s.opts.FailuresMax}
		s.units = append(s.units, u)
		if err := s.prepareUnit(i); err != nil {
			return fmt.Errorf("%s: %w", u.name(), err)
		}
		name := u.Scenario.Name
		if _, known := canaries[name]; !known {
			text, err := canary(s.lib, u.Scenario)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			canaries[name] = text
		}
		u.canary = canaries[name]
	}
	return nil
}

func (s *Sweep) prepareUnit(i int) error {
	u := s.units[i]
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("%s, seed %d, no fault: %v\n%s", u.name(), u.Scenario.Seed, r,
				debug.Stack()))
		}
	}()
	if i > 0 && hasSameInput(s.units[i-1].Scenario, u.Scenario) {
		u.input = s.units[i-1].input
	} else {
		var err error
		if u.input, _, err = s.lib.LoadInput(u.Scenario); err != nil {
			return err
		}
	}
	u.unlike = len(u.Scenario.Unlike()) > 0
	claims := u.Scenario.Claims()
	for i := range s.lib.Properties {
		name := s.lib.Properties[i].Name
		u.decides = append(u.decides, u.any && name != Findings ||
			!u.any && slices.Contains(claims, name))
	}
	var err error
	if u.first, err = newSweepWorld(s, u); err != nil {
		return err
	}
	res := u.first.runner.Run(u.Scenario.Seed, nil, scenarios.Options{})
	u.end = res.Subject.History.End
	return nil
}

func hasSameInput(a, b *scenarios.Scenario) bool {
	return a.Topology == b.Topology && reflect.DeepEqual(a.Input, b.Input)
}

// drawn are the classes from which faults can be drawn.
func (u *Unit) drawn() []*scenarios.Class {
	var classes []*scenarios.Class
	for _, class := range u.Classes {
		if class.Action != 0 && class.Applies(u.Scenario.Mode) {
			classes = append(classes, class)
		}
	}
	return classes
}

// plans says under what faults a unit runs.
func (u *sweepUnit) plans() string {
	var names []string
	for _, class := range u.drawn() {
		names = append(names, class.Name)
	}
	switch own := u.Scenario.Faults.Lines(); {
	case len(own) > 0:
		return strings.Join(own, "; ")
	case len(names) == 0:
		return "no fault"
	default:
		return fmt.Sprintf("%s%d of %s", drawnPlans, u.faultsMax, strings.Join(names, ", "))
	}
}

// scenarioOf is the scenario of one run.
func (u *Unit) scenarioOf(seed uint64, plan faults.Plan) *scenarios.Scenario {
	s := *u.Scenario
	s.Seed, s.Faults = seed, plan
	s.Expect, s.Trace, s.Recorded = nil, "", nil
	return &s
}

// Witness is the scenario of a failure: it replays by itself. The error is that of a line that is
// none of the fault language.
func (s *Sweep) Witness(f *Failure) (*scenarios.Scenario, error) {
	var plan faults.Plan
	for _, line := range f.Faults {
		fault, err := faults.Parse(line)
		if err != nil {
			return nil, err
		}
		plan = append(plan, fault)
	}
	return s.units[f.unit].scenarioOf(f.Seed, plan), nil
}

// content is a digest of everything in a unit that decides its runs: the scenario without its
// prose and without where its input lies, the input itself, and the hash of the run without faults.
// The scenario names a topology and operators of the library; the hash says what they are.
func (u *sweepUnit) content(lib *scenarios.Library) string {
	s := *u.Scenario
	s.Name, s.Prose, s.Expect, s.Trace, s.Recorded = "", "", nil, "", nil
	s.Input = scenarios.InputSpec{Kind: scenarios.InputGenerated}
	h := sha256.New()
	h.Write(scenarios.Format(lib, &s))
	number := func(v int64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		h.Write(b[:])
	}
	text := func(t string) {
		number(int64(len(t)))
		h.Write([]byte(t))
	}
	for p := range u.input.Parts {
		part := &u.input.Parts[p]
		number(part.Every)
		number(int64(len(part.Records)))
		for i := range part.Records {
			r := &part.Records[i]
			text(r.Key)
			number(r.Value.Num)
			text(r.Value.Text)
		}
	}
	number(int64(u.end.Hash))
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// header is that of the results.
func (s *Sweep) header() SweepHeader {
	h := SweepHeader{Kind: kindHeader, Says: headerSays, Format: resultsFormat,
		Version: s.opts.Version, Golden: scenarios.GoldenVersion, Faults: s.opts.Faults,
		Any: s.opts.Any, FailuresMax: s.opts.FailuresMax, first: s.opts.First, last: s.opts.Last,
		isOpen: s.opts.IsOpen, shard: s.opts.Shard, shards: s.opts.Shards}
	h.Seeds = seedsText(s.opts.First, s.opts.Last)
	if s.opts.IsOpen {
		h.Seeds = fmt.Sprintf("%d-", s.opts.First)
	}
	events := int64(1)
	for _, u := range s.units {
		events = max(events, u.end.N)
		h.Units = append(h.Units, UnitHeader{Scenario: u.Scenario.Name,
			Mode: u.Scenario.Mode.Name, Defect: u.Scenario.DefectName(), Class: u.className(),
			Content: u.content(s.lib), Plans: u.plans(), Canary: u.canary})
	}
	if s.opts.IsOpen {
		h.Block = max(uint64(blockEvents>>growths/events), 1)
	} else { // many blocks, also of a few seeds: something for every worker and shard
		h.Block = max(min(uint64(blockEvents/events), (s.opts.Last-s.opts.First)/blocksMin), 1)
	}
	if s.opts.Shards > 1 {
		h.Shard = fmt.Sprintf("%d/%d", s.opts.Shard, s.opts.Shards)
	}
	h.Manifest = h.digest()
	return h
}

// blocksMin is how many blocks seeds are cut into at the least, where there are so many seeds.
const blocksMin = 1024

func (u *Unit) className() string {
	if u.Class == nil {
		return ""
	}
	return u.Class.Name
}
