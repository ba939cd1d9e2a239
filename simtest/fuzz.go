package simtest

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// bytesOfFault is how many bytes choose a fault: one the class, the others the place.
const bytesOfFault = 4

// plan reads a plan from bytes. Whatever they are, it is one, and no fault is in it twice.
func (p *places) plan(data []byte) []model.Rule {
	var rules []model.Rule
	for len(data) >= bytesOfFault && len(rules) < p.max {
		word := int64(binary.BigEndian.Uint32(data))
		class := word >> 24 % int64(len(p.lists))
		place := word & (1<<24 - 1) % p.lists[class].Len()
		if rule := p.at(class, place); !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
		data = data[bytesOfFault:]
	}
	return rules
}

// Fuzz has "go test -fuzz" look for a run that breaks what is required: its bytes choose the seed
// and the plan. Without -fuzz the scenario files of the test's corpus are replayed, and the runs
// that the fuzzer has found are run again, from where Go keeps them. Their bytes mean another run
// once the code has changed: each is made as small as it gets and saved as a scenario file, which
// does not, as Sweep does.
func Fuzz(f *testing.F, s Scenario, opts ...Option) {
	f.Helper()
	u, err := newSubject("Fuzz", f, s, opts)
	if err == nil {
		err = u.checkRequired()
	}
	if err != nil {
		f.Fatalf("%v", err)
	}
	if u.set.replay != "" {
		u.replay(f, u.set.replay)
		f.Skipf("%s, and nothing else", u.set.origins["sim.replay"])
	}
	files, err := u.corpusFiles()
	if err != nil {
		f.Fatalf("%v", err)
	}
	if isFuzzing() {
		files = nil // the fuzzer wants to be fast
	}
	for _, file := range files {
		u.replay(f, file)
	}
	p, err := u.places()
	if err != nil {
		f.Fatalf("%v", err)
	}
	for i := range uint64(len(p.lists)) { // a fault of each class, somewhere
		h := fnv.New32a()
		h.Write([]byte{byte(i)})
		f.Add(i+1, binary.BigEndian.AppendUint32(nil, uint32(i)<<24|h.Sum32()>>8))
	}
	w, err := u.newSweeper()
	if err != nil {
		f.Fatalf("%v", err)
	}
	f.Fuzz(func(t *testing.T, seed uint64, plan []byte) {
		t.Helper()
		w.fuzz(t, run{seed: seed, rules: p.plan(plan)})
	})
}

// isFuzzing reports whether the fuzzer looks for new runs.
func isFuzzing() bool { return hasFlag("test.fuzz") || hasFlag("test.fuzzworker") }

// fuzz makes a run that the fuzzer has chosen.
func (w *sweeper) fuzz(t *testing.T, r run) {
	t.Helper()
	w.guard(&r, func() {
		res := w.runner.Run(r.seed, r.rules, scenarios.Options{})
		r.hash = res.Subject.History.End.Hash
		r.signature = w.u.signature(w.u.with(w.job, r.seed, r.rules), &res)
	})
	if !r.isFailed() {
		return
	}
	f := &failure{u: w.u, test: t.Name(), job: w.job, run: &r}
	if isFuzzing() {
		t.Fatalf("%s", f.line())
	}
	if f.again(); r.differs == nil {
		text, saved := f.small()
		if r.differs == nil {
			t.Errorf("%s\nreproduce: %s", text, commandOf(t.Name(), w.u.set.words()))
			w.u.save(t, saved, w.u.test)
			return
		}
	}
	t.Errorf("%sreproduce: %s", describe(f.scenario(), r.differs),
		commandOf(t.Name(), w.u.set.words()))
}
