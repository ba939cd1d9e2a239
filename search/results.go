package search

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/faults"
)

// resultsFormat is the version of the format of result files.
const resultsFormat = 1

// The kinds of lines of a result file.
const (
	kindHeader = "header"
	kindPass   = "pass"
	kindFail   = "fail"
	kindFooter = "footer"
)

// headerSays tells a reader of a result file what it is.
const headerSays = "seeds that were run: a pass line a block of seeds of one unit, with counts " +
	"of its runs and the xor of their hashes; a fail line for the first failures of each " +
	"signature and the fastest; lines are only ever added"

// SweepHeader is the first line of a result file. It says what is swept: everything that decides
// the other lines, and under Manifest a digest of that. Only Shard is not part of it.
type SweepHeader struct {
	Kind        string       `json:"kind"`
	Says        string       `json:"says"`
	Format      int          `json:"format"`
	Manifest    string       `json:"manifest"`
	Version     string       `json:"version"`
	Golden      int          `json:"golden"`
	Seeds       string       `json:"seeds"`       // "1-1000"; "1-": without an end
	Block       uint64       `json:"block"`       // seeds
	Faults      int          `json:"faults"`      // of a plan at the most
	Any         bool         `json:"any"`         // every violation is a failure
	FailuresMax int          `json:"maxFailures"` // kept of each signature
	Units       []UnitHeader `json:"units"`
	Shard       string       `json:"shard,omitempty"` // "2/4"

	first, last   uint64
	isOpen        bool
	shard, shards uint64
}

// UnitHeader says what one unit is.
type UnitHeader struct {
	Scenario string `json:"scenario"`
	Mode     string `json:"mode"`
	Defect   string `json:"defect,omitempty"` // that is planted in the mode
	Class    string `json:"class,omitempty"`  // that changes the scenario
	Content  string `json:"content"`          // a digest of the scenario and its input
	Plans    string `json:"plans"`            // what goes wrong
	Canary   string `json:"canary"`           // the failure that had to be seen, and was
}

// drawnPlans is how Plans begins where plans are drawn; no fault is called so.
const drawnPlans = "1 to "

func (u *UnitHeader) isDrawn() bool { return strings.HasPrefix(u.Plans, drawnPlans) }

// Name is the scenario, the mode with its defect, and the class.
func (u *UnitHeader) Name() string {
	text := u.Scenario + " under " + u.Mode
	if u.Defect != "" {
		text += " with " + u.Defect
	}
	if u.Class != "" {
		text += ", " + u.Class
	}
	return text
}

// digest is that of everything but the shard.
func (h *SweepHeader) digest() string {
	c := *h
	c.Manifest, c.Shard = "", ""
	return fmt.Sprintf("%x", sha256.Sum256(marshalLine(&c)))[:16]
}

// difference says in what two headers differ, shards aside; "": in nothing.
func (h *SweepHeader) difference(other *SweepHeader) string {
	if h.Manifest == other.Manifest {
		return ""
	}
	var parts []string
	add := func(what string, a, b any) {
		if a != b {
			parts = append(parts, fmt.Sprintf("%s %v, not %v", what, a, b))
		}
	}
	add("version", h.Version, other.Version)
	add("golden hashes", h.Golden, other.Golden)
	add("seeds", h.Seeds, other.Seeds)
	add("--faults", h.Faults, other.Faults)
	add("--any", h.Any, other.Any)
	add("--max-failures", h.FailuresMax, other.FailuresMax)
	add("units", len(h.Units), len(other.Units))
	for i := range min(len(h.Units), len(other.Units)) {
		a, b := &h.Units[i], &other.Units[i]
		add("unit", a.Name(), b.Name())
		if a.Name() != b.Name() {
			break
		}
		add("content of "+a.Name(), a.Content, b.Content)
		add("plans of "+a.Name(), a.Plans, b.Plans)
		add("canary of "+a.Name(), a.Canary, b.Canary)
	}
	if len(parts) == 0 { // what follows from the others, unless the code is another
		add("block", h.Block, other.Block)
		add("manifest", h.Manifest, other.Manifest)
	}
	return strings.Join(parts, "; ")
}

// Without a last seed nobody knows how long a sweep goes on. Its blocks begin small, so that within
// a second every unit gets its turn, and grow, so that a night has not too many of them: there are
// blocksAlike of a size, then as many twice as long, until they have doubled so many times.
const (
	blocksAlike = 16
	growths     = 5
)

// sizeOf is how many seeds a block has, but for the last one.
func (h *SweepHeader) sizeOf(block uint64) uint64 {
	if !h.isOpen {
		return h.Block
	}
	return h.Block << min(block/blocksAlike, growths)
}

// offsetOf is how many seeds there are before a block.
func (h *SweepHeader) offsetOf(block uint64) uint64 {
	if !h.isOpen {
		return block * h.Block
	}
	doublings := min(block/blocksAlike, growths)
	// Before the last doubling there are blocksAlike blocks of 1, 2, 4 ... times the first size.
	before := blocksAlike * (1<<doublings - 1) * h.Block
	return before + (block-doublings*blocksAlike)*(h.Block<<doublings)
}

// blockAt is the block of the seed that is so many behind the first.
func (h *SweepHeader) blockAt(offset uint64) uint64 {
	block := uint64(0)
	for h.isOpen && block < blocksAlike*growths && offset >= h.offsetOf(block+blocksAlike) {
		block += blocksAlike
	}
	return block + (offset-h.offsetOf(block))/h.sizeOf(block)
}

// blocks is how many blocks the seeds are cut into.
func (h *SweepHeader) blocks() uint64 { return h.blockAt(h.last-h.first) + 1 }

// myBlocks is how many of them the shard has.
func (h *SweepHeader) myBlocks() uint64 {
	all := h.blocks()
	if all < h.shard {
		return 0
	}
	return (all-h.shard)/h.shards + 1
}

// nth is the block that the shard has as its n-th, from 0.
func (h *SweepHeader) nth(n uint64) uint64 { return n*h.shards + h.shard - 1 }

// mine is how many seeds the shard has of each unit.
func (h *SweepHeader) mine() uint64 {
	mine := h.myBlocks()
	seeds := h.seedsIn(mine)
	if last := h.blocks() - 1; mine > 0 && h.nth(mine-1) == last {
		seeds -= h.offsetOf(last) + h.sizeOf(last) - 1 - (h.last - h.first)
	}
	return seeds
}

// seedsIn is how many seeds so many blocks of the shard have, if the last of them is whole.
func (h *SweepHeader) seedsIn(mine uint64) (seeds uint64) {
	for nth := range mine {
		block := h.nth(nth)
		if block >= blocksAlike*growths { // from here on they are alike
			return seeds + (mine-nth)*h.sizeOf(block)
		}
		seeds += h.sizeOf(block)
	}
	return seeds
}

// seedsOf are the seeds of a block.
func (h *SweepHeader) seedsOf(block uint64) (first, last uint64) {
	first = h.first + h.offsetOf(block)
	return first, first + min(h.sizeOf(block)-1, h.last-first)
}

// blockOf is the block of exactly these seeds.
func (h *SweepHeader) blockOf(first, last uint64) (block uint64, ok bool) {
	if first < h.first || first > h.last {
		return 0, false
	}
	block = h.blockAt(first - h.first)
	from, upTo := h.seedsOf(block)
	return block, from == first && upTo == last
}

// unit is the index of the unit of a line, or -1.
func (h *SweepHeader) unit(scenario, mode, class string) int {
	return slices.IndexFunc(h.Units, func(u UnitHeader) bool {
		return u.Scenario == scenario && u.Mode == mode && u.Class == class
	})
}

// read completes a header that was read and checks it.
func (h *SweepHeader) read() error {
	seeds := h.Seeds
	if h.isOpen = strings.HasSuffix(seeds, "-"); h.isOpen {
		seeds += fmt.Sprint(uint64(math.MaxUint64))
	}
	var ok bool
	if h.first, h.last, ok = ParseSeeds(seeds); h.isOpen {
		h.last = lastOpen(h.first)
	}
	h.shard, h.shards = 1, 1
	if h.Shard != "" {
		h.shard, h.shards, _ = ParseShard(h.Shard)
	}
	switch {
	case h.Format != resultsFormat:
		return fmt.Errorf("format %d, expected %d", h.Format, resultsFormat)
	case !ok || h.last-h.first == math.MaxUint64:
		return fmt.Errorf("seeds %q", h.Seeds)
	case h.Block == 0 || h.Block > blockEvents || h.shards == 0 || h.FailuresMax < 1,
		len(h.Units) == 0:
		return fmt.Errorf("a header without a block, a unit or a limit, or with a wrong shard")
	case h.Manifest != h.digest():
		return fmt.Errorf("manifest %s, and its lines give %s", h.Manifest, h.digest())
	}
	return nil
}

// lastOpen is the last seed where there is none: seeds are counted, and 2^64 of them cannot be.
func lastOpen(first uint64) uint64 {
	if first == 0 {
		return math.MaxUint64 - 1
	}
	return math.MaxUint64
}

// shardsMax is how many shards there can be.
const shardsMax = math.MaxUint16

// ParseShard reads "K/N", K from 1 to N, which is below 65536.
func ParseShard(text string) (shard, shards uint64, ok bool) {
	first, second, _ := strings.Cut(text, "/")
	shard, err1 := strconv.ParseUint(first, 10, 16)
	shards, err2 := strconv.ParseUint(second, 10, 16)
	if err1 != nil || err2 != nil || shard < 1 || shard > shards {
		return 0, 0, false
	}
	return shard, shards, true
}

// SweepCounts are sums over runs.
type SweepCounts struct {
	Runs      int64 `json:"runs"`
	Held      int64 `json:"held"`      // everything that decides holds
	Failed    int64 `json:"failed"`    // something is violated
	Unknown   int64 `json:"unknown"`   // something is neither
	Unclaimed int64 `json:"unclaimed"` // the mode claims nothing of such a run
	Unreached int64 `json:"unreached"` // not every fault of the plan struck
	Planned   int64 `json:"planned"`   // faults
	Struck    int64 `json:"struck"`    // those that did
	Events    int64 `json:"events"`
}

func (c *SweepCounts) add(o *SweepCounts) {
	c.Runs += o.Runs
	c.Held += o.Held
	c.Failed += o.Failed
	c.Unknown += o.Unknown
	c.Unclaimed += o.Unclaimed
	c.Unreached += o.Unreached
	c.Planned += o.Planned
	c.Struck += o.Struck
	c.Events += o.Events
}

// passLine is the line of a block of seeds of one unit.
type passLine struct {
	Kind     string `json:"kind"`
	Scenario string `json:"scenario"`
	Mode     string `json:"mode"`
	Class    string `json:"class,omitempty"`
	Seeds    string `json:"seeds"`
	SweepCounts
	Xor        string           `json:"xor"`                  // of the hashes of all runs
	Crashes    map[string]int64 `json:"crashes,omitempty"`    // by the gap in which they fell
	Signatures map[string]int64 `json:"signatures,omitempty"` // runs that are not as claimed
}

// Failure is a run that is not as claimed. In a result file it is a line.
type Failure struct {
	Kind      string   `json:"kind"`
	Scenario  string   `json:"scenario"`
	Mode      string   `json:"mode"`
	Class     string   `json:"class,omitempty"`
	Seed      uint64   `json:"seed"`
	Signature string   `json:"signature"`
	Verdict   string   `json:"verdict"` // "violated" or "unknown"
	Faults    []string `json:"faults"`  // the plan
	Events    int64    `json:"events"`
	Hash      string   `json:"hash"`
	Reproduce string   `json:"reproduce"`
	File      string   `json:"file,omitempty"` // that it was saved to, made smaller

	unit int
	plan faults.Plan
}

// isFaster orders failures: fewer events, then the smaller seed.
func (f *Failure) isFaster(o *Failure) bool {
	return cmp.Or(cmp.Compare(f.Events, o.Events), cmp.Compare(f.Seed, o.Seed)) < 0
}

// footerLine is the last line of a result file: what the lines above it come to.
type footerLine struct {
	Kind string `json:"kind"`
	SweepCounts
	IsComplete bool `json:"complete"` // all seeds were run, those of other shards aside
}

// FailureGroup is all runs of a unit that are not as claimed in one way.
type FailureGroup struct {
	Signature string
	Verdict   string // "violated" or "unknown"
	Count     int64
	Fastest   *Failure
	First     []*Failure // those of the smallest seeds, as many as are kept
}

// wants reports whether a failure is to be kept beside those that are.
func (g *FailureGroup) wants(f *Failure, most int) bool {
	return len(g.First) < most || f.Seed < g.First[len(g.First)-1].Seed || f.isFaster(g.Fastest)
}

// keep adds a failure. Of one that is known already the file is what may be new; the error is that
// its hash is another.
func (g *FailureGroup) keep(f *Failure, most int) error {
	g.Verdict = f.Verdict
	at, isKnown := slices.BinarySearchFunc(g.First, f.Seed, func(e *Failure, seed uint64) int {
		return cmp.Compare(e.Seed, seed)
	})
	old := g.Fastest
	if isKnown {
		old = g.First[at]
	}
	if old != nil && old.Seed == f.Seed {
		if old.differs(f) {
			return &Differing{Text: fmt.Sprintf("%s under %s, seed %d: two runs differ, hashes %s "+
				"and %s", f.Scenario, f.Mode, f.Seed, old.Hash, f.Hash)}
		}
		old.File = max(old.File, f.File)
		old.Reproduce = max(old.Reproduce, f.Reproduce)
		f = old
	}
	if g.Fastest == nil || f.isFaster(g.Fastest) {
		g.Fastest = f
	}
	if !isKnown {
		g.First = slices.Insert(g.First, at, f)
		g.First = g.First[:min(len(g.First), most)]
	}
	return nil
}

// differs reports whether two failures of one seed are of different runs.
func (f *Failure) differs(o *Failure) bool {
	return f.Hash != o.Hash || f.Events != o.Events || !slices.Equal(f.Faults, o.Faults)
}

// contradicts reports whether another run of the same seed is kept.
func (g *FailureGroup) contradicts(f *Failure) bool {
	return slices.ContainsFunc(g.kept(), func(o *Failure) bool {
		return o.Seed == f.Seed && o.differs(f)
	})
}

// kept lists what is kept, in the order of seeds.
func (g *FailureGroup) kept() []*Failure {
	if slices.Contains(g.First, g.Fastest) {
		return g.First
	}
	return append(slices.Clone(g.First), g.Fastest)
}

// hashText and seedsText are how lines write hashes and seeds.
func hashText(hash uint64) string { return fmt.Sprintf("%016x", hash) }

func seedsText(first, last uint64) string { return fmt.Sprintf("%d-%d", first, last) }

// ParseSeeds reads a range of seeds, "A-B" with A up to B.
func ParseSeeds(text string) (first, last uint64, ok bool) {
	from, upTo, _ := strings.Cut(text, "-")
	first, err1 := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(upTo, 10, 64)
	return first, last, err1 == nil && err2 == nil && first <= last
}

// marshalLine writes a line of a result file.
func marshalLine(line any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line); err != nil {
		panic(fmt.Sprintf("search: a line of type %T: %v", line, err))
	}
	return b.Bytes()
}
