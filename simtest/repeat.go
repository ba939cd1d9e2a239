package simtest

import (
	"fmt"
	"sync"

	"github.com/oncesim/oncesim/scenarios"
)

// repeatedMax bounds what is remembered of one sweep.
const repeatedMax = 100_000

// seedHash is a seed and the hash of its run.
type seedHash struct{ seed, hash uint64 }

// before is what earlier runs of the tests of this program gave: with -count, a test runs again in
// one process, and must do the same.
var before struct {
	sync.Mutex
	tests map[string]map[uint64]uint64 // by test and scenario: the hash of each seed
}

// unlikeBefore compares runs with those of the same sweep before, and says which differ; "": none.
func (u *subject) unlikeBefore(runs []seedHash) string {
	key := fmt.Sprintf("%s %d\n%s", u.test, u.nth, scenarios.Format(u.lib, u.base))
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
	for _, r := range runs {
		hash, isKnown := hashes[r.seed]
		if isKnown && hash != r.hash {
			return fmt.Sprintf("seed %d: the test ran before in this process, and then its hash "+
				"was %016x; it is %016x\n%sreproduce: %s\n", r.seed, hash, r.hash, differsBecause,
				commandOf(u.test, []string{fmt.Sprintf("-sim.seed=%d", r.seed), "-sim.verify"}))
		}
		hashes[r.seed] = r.hash
	}
	return ""
}
