package search

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
)

// Results are what a sweep came to: of result files, or of a sweep that runs. What they show does
// not depend on the order in which blocks were done, nor on who did them.
type Results struct {
	Header SweepHeader
	Units  []SweptUnit // in the order of the header

	name   string // of the file that they were read from
	footed bool   // the last line of the file was a footer
}

// SweptUnit is what the runs of one unit came to.
type SweptUnit struct {
	SweepCounts
	Hash    uint64  // the xor of the hashes of all runs
	Crashes []int64 // by Gap

	done    bitSet               // blocks
	records map[uint64]*passLine // by block: of results that were read
	groups  map[string]*FailureGroup
}

func newResults(header SweepHeader) *Results {
	r := &Results{Header: header}
	for range header.Units {
		r.Units = append(r.Units, SweptUnit{Crashes: make([]int64, gapEnd),
			groups: map[string]*FailureGroup{}})
	}
	return r
}

// Groups lists the runs that are not as claimed by their signature: first those that violate
// something, the most frequent first.
func (u *SweptUnit) Groups() []*FailureGroup {
	var list []*FailureGroup
	for _, g := range u.groups {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *FailureGroup) int {
		return cmp.Or(-cmp.Compare(a.Verdict, b.Verdict), -cmp.Compare(a.Count, b.Count),
			cmp.Compare(a.Signature, b.Signature))
	})
	return list
}

// Total is the sum over all units.
func (r *Results) Total() SweepCounts {
	var total SweepCounts
	for i := range r.Units {
		total.add(&r.Units[i].SweepCounts)
	}
	return total
}

// Missing says which seeds of a unit were not run: how many, and the first few ranges, with "and
// others" behind the last where there are more. Those of other shards are not missing. Without a
// last seed, what is missing is below the last that was run of any unit.
func (r *Results) Missing(unit int) (seeds uint64, ranges []string) {
	const most = 3
	h, u := &r.Header, &r.Units[unit]
	mine, all := h.myBlocks(), h.mine()
	if h.isOpen {
		mine = r.farthest()
		all = h.seedsIn(mine)
	}
	seeds = all - uint64(u.Runs)
	for nth := uint64(0); nth < mine && seeds > 0; nth++ {
		block := h.nth(nth)
		if u.done.has(block) {
			continue
		}
		first, last := h.seedsOf(block)
		for nth+1 < mine && h.shards == 1 && !u.done.has(h.nth(nth+1)) {
			if nth++; h.nth(nth) >= u.done.end() {
				nth = mine - 1
			}
			_, last = h.seedsOf(h.nth(nth))
		}
		if len(ranges) == most {
			ranges[most-1] += " and others"
			break
		}
		ranges = append(ranges, seedsText(first, last))
	}
	return seeds, ranges
}

// farthest is how many blocks of the shard there are up to the last that was run of any unit.
func (r *Results) farthest() uint64 {
	mine := uint64(0)
	for i := range r.Units {
		if end := r.Units[i].done.end(); end > 0 {
			mine = max(mine, (end-1)/r.Header.shards+1)
		}
	}
	return mine
}

// IsComplete reports whether every seed was run, those of other shards aside.
func (r *Results) IsComplete() bool {
	for i := range r.Units {
		if n, _ := r.Missing(i); n > 0 {
			return false
		}
	}
	return true
}

// IsUntested reports whether a unit that has faults of its own was never struck by all of them in
// one run: its runs have put nothing to the test. Of plans that are drawn some are never reached.
func (r *Results) IsUntested(unit int) bool {
	u := &r.Units[unit]
	return u.Planned > 0 && u.Unreached == u.Runs && !r.Header.Units[unit].isDrawn()
}

// IsOpen reports whether there is no last seed.
func (r *Results) IsOpen() bool { return r.Header.isOpen }

func (r *Results) footer() *footerLine {
	return &footerLine{Kind: kindFooter, SweepCounts: r.Total(), IsComplete: r.IsComplete()}
}

// wants reports whether a failure is to be kept.
func (r *Results) wants(unit int, f *Failure) bool {
	f.unit = unit
	g := r.Units[unit].groups[f.Signature]
	return g == nil || g.wants(f, r.Header.FailuresMax)
}

// add takes in a block and its failures. A block that is known already must be the same: else the
// error is a *Differing. What makes no sense is another error.
func (r *Results) add(pass *passLine, failures []*Failure) error {
	unit, block, err := r.check(pass)
	if err != nil {
		return err
	}
	u := &r.Units[unit]
	if !u.done.has(block) {
		if err := u.count(pass); err != nil {
			return err
		}
		u.done.add(block)
	} else if old := u.records[block]; old == nil || !reflect.DeepEqual(old, pass) {
		return r.conflict(unit, old, pass)
	}
	if u.records != nil {
		u.records[block] = pass
	}
	for _, f := range failures {
		if err := r.fail(f); err != nil {
			return err
		}
	}
	return nil
}

func (r *Results) conflict(unit int, old, pass *passLine) error {
	text := fmt.Sprintf("%s, seeds %s: two runs differ", r.Header.Units[unit].Name(), pass.Seeds)
	switch {
	case old == nil:
		return fmt.Errorf("%s, seeds %s were run already", r.Header.Units[unit].Name(), pass.Seeds)
	case old.Xor != pass.Xor:
		text += fmt.Sprintf(", hashes %s and %s", old.Xor, pass.Xor)
	case old.SweepCounts != pass.SweepCounts:
		text += fmt.Sprintf(" in what was judged of the same traces, %+v and %+v", old.SweepCounts,
			pass.SweepCounts)
	case !maps.Equal(old.Signatures, pass.Signatures):
		text += fmt.Sprintf(" in how often the same traces failed in which way, %v and %v",
			old.Signatures, pass.Signatures)
	default:
		text += fmt.Sprintf(" in where crashes fell in the same traces, %v and %v", old.Crashes,
			pass.Crashes)
	}
	return &Differing{Text: text}
}

// check finds the unit and the block of a line.
func (r *Results) check(p *passLine) (unit int, block uint64, err error) {
	if unit = r.Header.unit(p.Scenario, p.Mode, p.Class); unit < 0 {
		return 0, 0, fmt.Errorf("the header has no %s under %s %s", p.Scenario, p.Mode, p.Class)
	}
	first, last, isRange := ParseSeeds(p.Seeds)
	block, ok := r.Header.blockOf(first, last)
	bad := int64(0)
	for _, n := range p.Signatures {
		bad += n
	}
	switch {
	case !isRange || !ok:
		return 0, 0, fmt.Errorf("seeds %q are no block of %s, which are taken %d at a time",
			p.Seeds, r.Header.Seeds, r.Header.Block)
	case block >= blocksMax:
		return 0, 0, fmt.Errorf("seeds %s are more than %d blocks behind the first", p.Seeds,
			blocksMax)
	case block%r.Header.shards != r.Header.shard-1:
		return 0, 0, fmt.Errorf("seeds %s are not of shard %s", p.Seeds, r.Header.Shard)
	case uint64(p.Runs) != last-first+1 || p.Held+p.Failed+p.Unknown+p.Unclaimed != p.Runs ||
		bad != p.Failed+p.Unknown:
		return 0, 0, fmt.Errorf("counts of seeds %s do not add up", p.Seeds)
	}
	return unit, block, nil
}

// count adds a block to the sums.
func (u *SweptUnit) count(p *passLine) error {
	hash, err := strconv.ParseUint(p.Xor, 16, 64)
	if err != nil {
		return fmt.Errorf("xor %q, expected 16 hex digits", p.Xor)
	}
	u.SweepCounts.add(&p.SweepCounts)
	u.Hash ^= hash
	known := int64(0)
	for _, g := range Gaps() {
		if n := p.Crashes[g.String()]; n > 0 {
			u.Crashes[g] += n
			known++
		}
	}
	if int(known) != len(p.Crashes) {
		return fmt.Errorf("crashes in an unknown gap: %v", p.Crashes)
	}
	for signature, n := range p.Signatures {
		g := u.groups[signature]
		if g == nil {
			g = &FailureGroup{Signature: signature}
			u.groups[signature] = g
		}
		g.Count += n
	}
	return nil
}

// fail takes in a failure of a block that is there.
func (r *Results) fail(f *Failure) error {
	if f.unit = r.Header.unit(f.Scenario, f.Mode, f.Class); f.unit < 0 {
		return fmt.Errorf("the header has no %s under %s %s", f.Scenario, f.Mode, f.Class)
	}
	g := r.Units[f.unit].groups[f.Signature]
	if g == nil || f.Verdict != "violated" && f.Verdict != unknownVerdict || f.Faults == nil {
		return fmt.Errorf("seed %d: no block counts a failure %s", f.Seed, f.Signature)
	}
	return g.keep(f, r.Header.FailuresMax)
}

// blocksMax bounds the blocks of results: more take a year of one core.
const blocksMax = 1 << 30

// bitSet is a set of small numbers.
type bitSet []uint64

func (b bitSet) has(n uint64) bool { return n/64 < uint64(len(b)) && b[n/64]>>(n%64)&1 != 0 }

func (b *bitSet) add(n uint64) {
	if more := int(n/64) + 1 - len(*b); more > 0 {
		*b = append(*b, make([]uint64, more)...)
	}
	(*b)[n/64] |= 1 << (n % 64)
}

// end is the least number above all in the set.
func (b bitSet) end() uint64 {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0 {
			return uint64(i)*64 + uint64(bits.Len64(b[i]))
		}
	}
	return 0
}
