package simtest

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// places are where faults can be put in a run of a scenario in which nothing fails.
type places struct {
	job   *model.Job
	lists []faults.Places // none of them is empty
	max   int             // how many faults a plan has at the most
}

func (u *subject) places() (*places, error) {
	classes, err := u.faultClasses()
	if err != nil {
		return nil, err
	}
	runner, err := u.world()
	if err != nil {
		return nil, err
	}
	p := &places{job: runner.Job(), max: u.faultsMax}
	if p.max == 0 {
		p.max = search.PlannedFaults
	}
	res := runner.Run(u.base.Seed, nil, scenarios.Options{})
	for _, class := range classes {
		if class.Vary != nil || class.Action == 0 || !class.Applies(u.base.Mode) {
			continue
		}
		if list := class.Places(&res.Subject.History.Extent); list.Len() > 0 {
			p.lists = append(p.lists, list)
		}
	}
	return p, nil
}

// at is the fault at a place of a class, both counted from 0.
func (p *places) at(class, place int64) model.Rule { return p.lists[class].At(place) }

// Draw draws a scenario for a property of rapid: the one that is given, under a seed and a list of
// faults of the classes that its mode tolerates. Rapid makes what fails smaller by itself.
//
//	rapid.Check(t, func(rt *rapid.T) {
//		simtest.Run(rt, simtest.Draw(rt, scenario))
//	})
func Draw(rt *rapid.T, s Scenario, opts ...Option) Scenario {
	rt.Helper()
	u, err := newSubject(s, opts)
	if err != nil {
		rt.Fatalf("%v", err)
	}
	p, err := u.places()
	if err != nil {
		rt.Fatalf("%v", err)
	}
	fault := rapid.Custom(func(rt *rapid.T) string {
		class := rapid.IntRange(0, len(p.lists)-1).Draw(rt, "class")
		place := rapid.Int64Range(0, p.lists[class].Len()-1).Draw(rt, "place")
		return faults.FromRule(p.job, p.at(int64(class), place)).String()
	})
	s.Faults = rapid.SliceOfN(fault, 0, p.max).Draw(rt, "faults")
	if len(s.Faults) == 0 {
		s.Faults = []string{""}
	}
	s.Seed = rapid.Uint64Range(1, 1<<32).Draw(rt, "seed")
	return s
}

// bytesOfFault is how many bytes choose a fault: one the class, the others the place.
const bytesOfFault = 4

// plan reads a plan from bytes. Whatever they are, it is one.
func (p *places) plan(data []byte) []model.Rule {
	var rules []model.Rule
	for len(data) >= bytesOfFault && len(rules) < p.max {
		word := int64(binary.BigEndian.Uint32(data))
		class := word >> 24 % int64(len(p.lists))
		place := word & (1<<24 - 1) % p.lists[class].Len()
		rules = append(rules, p.at(class, place))
		data = data[bytesOfFault:]
	}
	return rules
}

// Fuzz has "go test -fuzz" look for a run that breaks what is required: its bytes choose the seed
// and the plan. Without -fuzz the runs that it has found before are run again, from where Go keeps
// them.
func Fuzz(f *testing.F, s Scenario, opts ...Option) {
	f.Helper()
	u, err := newSubject(s, opts)
	if err == nil {
		err = u.checkRequired()
	}
	if err != nil {
		f.Fatalf("%v", err)
	}
	p, err := u.places()
	if err != nil {
		f.Fatalf("%v", err)
	}
	runner, err := u.world()
	if err != nil {
		f.Fatalf("%v", err)
	}
	for i := range uint64(len(p.lists)) { // a fault of each class, somewhere
		h := fnv.New32a()
		h.Write([]byte{byte(i)})
		f.Add(i+1, binary.BigEndian.AppendUint32(nil, uint32(i)<<24|h.Sum32()>>8))
	}
	f.Fuzz(func(t *testing.T, seed uint64, plan []byte) {
		rules := p.plan(plan)
		res := runner.Run(seed, rules, scenarios.Options{})
		s := u.with(p.job, seed, rules)
		signature := u.signature(s, &res)
		if signature == "" {
			return
		}
		if hasFlag("test.fuzz") || hasFlag("test.fuzzworker") {
			c, err := u.caseOf(s)
			if err != nil {
				t.Fatalf("%v", err)
			}
			t.Fatalf("%s", report.Title(c))
		}
		one := &failure{u: u, test: t.Name(), job: p.job, runs: 1,
			run: &run{seed: seed, signature: signature, rules: slices.Clone(rules)}}
		text, _ := one.small()
		t.Errorf("%s\nreproduce: %s", text, commandOf(t.Name(), u.set.words()))
	})
}
