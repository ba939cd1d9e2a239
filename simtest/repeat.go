package simtest

import (
	"fmt"
	"sync"

	"github.com/oncesim/oncesim/scenarios"
)

// repeatedMax bounds what is remembered of one test.
const repeatedMax = 100_000

// before is what earlier runs of the tests of this program gave: with -count, a test runs again in
// one process, and must do the same.
var before struct {
	sync.Mutex
	tests map[string]map[uint64]uint64 // by test and scenario: the hash of each seed
}

// unlikeBefore compares runs with those of the same test before, and says which differ; "": none.
func (u *subject) unlikeBefore(test string, runs []run) string {
	if len(runs) > repeatedMax {
		return ""
	}
	key := fmt.Sprintf("%s %v %d\n%s", test, u.classes, u.faultsMax,
		scenarios.Format(u.lib, u.base))
	before.Lock()
	defer before.Unlock()
	hashes := before.tests[key]
	if hashes == nil {
		hashes = map[uint64]uint64{}
		if before.tests == nil {
			before.tests = map[string]map[uint64]uint64{}
		}
		before.tests[key] = hashes
	}
	for i := range runs {
		r := &runs[i]
		hash, isKnown := hashes[r.seed]
		if isKnown && hash != r.hash {
			return fmt.Sprintf("seed %d: the test ran before in this process, and then its hash "+
				"was %016x; it is %016x\n%sreproduce: %s\n", r.seed, hash, r.hash, differsBecause,
				commandOf(test, []string{fmt.Sprintf("-sim.seed=%d", r.seed), "-sim.verify"}))
		}
		hashes[r.seed] = r.hash
	}
	return ""
}
