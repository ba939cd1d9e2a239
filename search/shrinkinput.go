package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// linesOf is an input as lines, of which LoadInput makes the same records. A line that was too long
// to be read is empty.
func linesOf(in *model.Input) []string {
	lines := make([]string, in.Total())
	for i := range lines {
		r := in.Parts[i%len(in.Parts)].Records[i/len(in.Parts)]
		lines[i] = r.Value.Text
		if r.Value.Text == "" && r.Key != "" {
			lines[i] = fmt.Sprintf("%s=%d", r.Key, r.Value.Num)
		}
	}
	return lines
}

// input is the lines of the smallest so far.
func (k *shrinker) input() []string {
	in := &k.best.s.Input
	if in.Kind != scenarios.InputInline || in.Records > 0 {
		return k.lines
	}
	return in.Lines
}

// withLines is the smallest so far with another input. from says where each line was before; a
// fault that names a record which is gone makes it no candidate.
func (k *shrinker) withLines(lines []string, from []int, t *model.Topology) candidate {
	ok := true
	c := k.with(func(s *scenarios.Scenario) {
		s.Input = scenarios.InputSpec{Kind: scenarios.InputInline, Lines: lines,
			Every: s.Input.Every}
		for i := range s.Faults {
			ok = renumber(&s.Faults[i], s.Topology, t, from) && ok
		}
		if t != s.Topology {
			reshapeTo(s, t)
		}
	})
	if !ok || len(lines) == 0 {
		return candidate{}
	}
	return c
}

// renumber has a fault name the same record in an input of which line i was line from[i]; ok is
// false where there is none.
func renumber(f *faults.Fault, old, t *model.Topology, from []int) (ok bool) {
	isCut := f.Action == model.TruncateInput
	if f.Scope != model.RecordEffect && !isCut {
		return true
	}
	part, ok := int32(0), old.Partitions() == 1
	if f.Record.Input != "" {
		part, ok = old.FindPartition(f.Record.Input, f.Record.Part)
	}
	n := old.Partitions()
	line := int(f.Record.Offset)*n + int(part)
	if isCut { // the first that stays may be none: it is the one before that counts
		line -= n
	}
	at := slices.Index(from, line)
	if !ok || at < 0 {
		return false
	}
	f.Record = nameOf(t, at, f.Record.Input == "")
	if isCut {
		f.Record.Offset++
	}
	return true
}

// nameOf names the record of a line.
func nameOf(t *model.Topology, line int, isBare bool) faults.RecordName {
	n := t.Partitions()
	if isBare {
		return faults.RecordName{Offset: int64(line)}
	}
	part := line % n
	for _, in := range t.Inputs {
		count := max(in.Partitions, 1)
		if part < count {
			return faults.RecordName{Input: in.Name, Part: part, Offset: int64(line / n)}
		}
		part -= count
	}
	panic(fmt.Sprintf("search: line %d of topology %q", line, t.Name))
}

// slowest is the greatest arrival interval that is tried.
const slowest = 1_000 * millisecond

// withoutLines is the smallest so far without some of its lines, in up to four ways: as it is; with
// the ordinals of anchors smaller by what they count less of; and each of these with what is left
// of the input spread over the same time, since many a failure needs a checkpoint to come due.
func (k *shrinker) withoutLines(from, to int) []candidate {
	lines := k.input()
	left := slices.Concat(lines[:from], lines[to:])
	origin := make([]int, 0, len(left))
	for i := range lines {
		if i < from || i >= to {
			origin = append(origin, i)
		}
	}
	plain := k.withLines(left, origin, k.best.s.Topology)
	if plain.s == nil {
		return nil
	}
	ways := []candidate{plain}
	if moved := k.follow(plain, from, to); moved.s != nil {
		ways = append(ways, moved)
	}
	span := k.best.every * int64(len(lines))
	every := (span/int64(len(left)) + millisecond - 1) / millisecond * millisecond
	if every > slowest {
		return ways
	}
	for _, c := range ways[:len(ways):len(ways)] {
		slow := c.without(nil)
		slow.s.Input.Every = every
		ways = append(ways, slow)
	}
	return ways
}

// tryWithoutLines drops lines, if it can.
func (k *shrinker) tryWithoutLines(from, to int) (isTaken bool) {
	return slices.ContainsFunc(k.withoutLines(from, to), k.try)
}

// shortenInput drops as much as it can from the end of the input, by halving.
func (k *shrinker) shortenInput() {
	lost, kept := 0, len(k.input())
	for kept-lost > 1 {
		at := (lost + kept) / 2
		if k.tryWithoutLines(at, kept) {
			kept = at
		} else {
			lost = at
		}
	}
}

// piecesFirst is into how many pieces an input is divided before anything else is tried again: of a
// long one, most can be left out as soon as anchors are earlier.
const piecesFirst = 32

// dropRecords drops all pieces of the input that it can, first large ones.
func (k *shrinker) dropRecords() {
	n := len(k.input())
	k.drop(n/2, max(n/k.pieces, 1), func() int { return len(k.input()) }, k.tryWithoutLines)
}

// recordSteps yields every deletion of one record, in each of the ways.
func (k *shrinker) recordSteps(yield func(candidate) bool) bool {
	for i := range k.input() {
		for _, c := range k.withoutLines(i, i+1) {
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

// mergeKeys gives all records the key of the first one, or as many as it can.
func (k *shrinker) mergeKeys() {
	lines := slices.Clone(k.input())
	for i := range lines {
		lines[i] = k.likeFirst(lines, i)
	}
	if !slices.Equal(lines, k.input()) && k.try(k.sameRecords(lines)) {
		return
	}
	k.exhaust(k.keySteps)
}

// keySteps yields every step to fewer keys: a key that becomes that of the first record or, where a
// decoder finds keys in lines, a line that becomes the first one.
func (k *shrinker) keySteps(yield func(candidate) bool) bool {
	lines := k.input()
	done := map[string]bool{}
	for i, line := range lines {
		like := k.likeFirst(lines, i)
		what := line
		if k.best.s.Topology.Decoder == "" {
			what, _, _ = strings.Cut(line, "=")
		}
		if like == line || done[what] {
			continue
		}
		done[what] = true
		changed := slices.Clone(lines)
		for j := range changed {
			other, _, _ := strings.Cut(changed[j], "=")
			if j == i || k.best.s.Topology.Decoder == "" && other == what {
				changed[j] = k.likeFirst(lines, j)
			}
		}
		if !yield(k.sameRecords(changed)) {
			return false
		}
	}
	return true
}

// sameRecords is the smallest so far with other lines in the same places.
func (k *shrinker) sameRecords(lines []string) candidate {
	same := make([]int, len(lines))
	for i := range same {
		same[i] = i
	}
	return k.withLines(lines, same, k.best.s.Topology)
}

// likeFirst is line i with the key of the first one, if it can have it.
func (k *shrinker) likeFirst(lines []string, i int) string {
	if k.best.s.Topology.Decoder != "" {
		return lines[0]
	}
	key, _, ok := cutPair(lines[0])
	own, value, isPair := cutPair(lines[i])
	if !ok || !isPair || own == key {
		return lines[i]
	}
	return key + "=" + value
}

// cutPair cuts a line of the form KEY=NUMBER.
func cutPair(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, "=")
	_, err := strconv.ParseInt(value, 10, 64)
	return key, value, ok && key != "" && err == nil
}

// reshape takes away as many partitions and tasks as it can, first all but one.
func (k *shrinker) reshape() {
	k.exhaust(func(yield func(candidate) bool) bool { return k.shapes(true, yield) })
	k.exhaust(k.shapeSteps)
}

// shapeSteps yields every way to take away one partition or one task.
func (k *shrinker) shapeSteps(yield func(candidate) bool) bool { return k.shapes(false, yield) }

// shapes yields every way to take away one partition of an input or one task of a stage, or all but
// one, and with it the tasks that nothing would feed. A topology with a sum that no step changes
// stays: a file cannot say that.
func (k *shrinker) shapes(toOne bool, yield func(candidate) bool) bool {
	fewer := func(n int) int {
		if toOne {
			return 1
		}
		return max(n-1, 1)
	}
	old := k.best.s.Topology
	if old.Conserves != nil {
		return true
	}
	for i, in := range old.Inputs {
		t := cloned(old)
		t.Inputs[i].Partitions = fewer(in.Partitions)
		narrow(t)
		if in.Partitions > 1 && (!yield(k.dealt(t)) || !yield(k.withoutParts(t, i))) {
			return false
		}
	}
	for i, stage := range old.Stages {
		t := cloned(old)
		t.Stages[i].Parallel = fewer(stage.Parallel)
		narrow(t)
		if stage.Parallel > 1 && !yield(k.withTopology(t)) {
			return false
		}
	}
	return true
}

// narrow takes away the tasks that nothing feeds.
func narrow(t *model.Topology) {
	for i := range t.Stages {
		if s := &t.Stages[i]; s.Exchange == model.Forward {
			s.Parallel = min(s.Parallel, t.Senders(s))
		}
	}
}

func cloned(t *model.Topology) *model.Topology {
	c := *t
	c.Inputs, c.Stages = slices.Clone(t.Inputs), slices.Clone(t.Stages)
	return &c
}

func (k *shrinker) withTopology(t *model.Topology) candidate {
	return k.with(func(s *scenarios.Scenario) { reshapeTo(s, t) })
}

// reshapeTo gives a scenario a topology with fewer tasks. A fault that names one which is gone
// strikes the next lower one of its stage.
func reshapeTo(s *scenarios.Scenario, t *model.Topology) {
	s.Topology, s.Inline = t, true
	job := s.Job()
	for i := range s.Faults {
		f := &s.Faults[i]
		for _, name := range []*string{&f.Proc, &f.Peer} {
			stage, number, _ := strings.Cut(*name, "/")
			for n, err := strconv.Atoi(number); err == nil && n > 0 && job.Find(*name) < 0; n-- {
				*name = fmt.Sprintf("%s/%d", stage, n-1)
			}
		}
	}
}

// dealt is the smallest so far with fewer partitions: all records are dealt to those that are left.
func (k *shrinker) dealt(t *model.Topology) candidate {
	lines := k.input()
	same := make([]int, len(lines))
	for i := range same {
		same[i] = i
	}
	return k.withLines(lines, same, t)
}

// withoutParts is the smallest so far without the last partitions of an input, and without what
// was in them.
func (k *shrinker) withoutParts(t *model.Topology, input int) candidate {
	old := k.best.s.Topology
	first := 0
	for _, in := range t.Inputs[:input] {
		first += max(in.Partitions, 1)
	}
	from := first + t.Inputs[input].Partitions
	to := first + old.Inputs[input].Partitions
	var lines []string
	var origin []int
	for i, line := range k.input() {
		if part := i % old.Partitions(); part < from || part >= to {
			lines, origin = append(lines, line), append(origin, i)
		}
	}
	return k.withLines(lines, origin, t)
}

// trySeed takes the first seed.
func (k *shrinker) trySeed() {
	if k.best.s.Seed != scenarios.SeedDefault {
		k.try(k.with(func(s *scenarios.Scenario) { s.Seed = scenarios.SeedDefault }))
	}
}

// useDefaults takes back what is set.
func (k *shrinker) useDefaults() { k.exhaust(k.settingSteps) }

// settingSteps yields every way to take back one setting.
func (k *shrinker) settingSteps(yield func(candidate) bool) bool {
	b := k.best.s
	for i := range b.Params {
		if !yield(k.with(func(s *scenarios.Scenario) {
			s.Params = slices.Delete(slices.Clone(s.Params), i, i+1)
		})) {
			return false
		}
	}
	steps := []struct {
		isSet bool
		unset func(s *scenarios.Scenario)
	}{
		{b.Seed != scenarios.SeedDefault, func(s *scenarios.Scenario) {
			s.Seed = scenarios.SeedDefault
		}},
		{b.Sink != "", func(s *scenarios.Scenario) { s.Sink = "" }},
		{b.Input.Every != 0, func(s *scenarios.Scenario) { s.Input.Every = 0 }},
		{b.Bounds.Time != 0, func(s *scenarios.Scenario) { s.Bounds.Time = 0 }},
		{b.Bounds.Events != 0, func(s *scenarios.Scenario) { s.Bounds.Events = 0 }},
	}
	for _, step := range steps {
		if step.isSet && !yield(k.with(step.unset)) {
			return false
		}
	}
	return true
}
