package search_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

var update = flag.Bool("update", false, "write docs/costs.md anew")

// costNumbers are what an inequality of costs can name besides what is measured. The job that is
// measured, page-views, has two partitions; a record crosses three hops, and two stages on the way.
var costNumbers = []struct {
	name  string
	value int64
	is    string
}{
	{"records", 160, "the length of the input"},
	{"partitions", 2, "of the source, and tasks of each stage and of the sink"},
	{"hops", 3, "channels that a record crosses"},
	{"stages", 2, "operators that it passes; the second one has keyed state"},
	{"crashes", 2, "the most that strike a run"},
	{"ms", milli, "a millisecond"},
}

const (
	milli     = 1_000_000
	costSeeds = 20
)

// costNumber is a number of costNumbers.
func costNumber(name string) int64 {
	for _, n := range costNumbers {
		if n.name == name {
			return n.value
		}
	}
	panic(name)
}

// costAmounts are what is measured of a mode: without faults the median over the seeds, under
// crashes the sum.
var costAmounts = []struct {
	name string
	of   func(c *search.Cost) int64
	is   string
}{
	{"p50", func(c *search.Cost) int64 { return c.Steady.LatencyP50 },
		"latency from the arrival of a record until it is visible, the median, in ns"},
	{"p99", func(c *search.Cost) int64 { return c.Steady.LatencyP99 },
		"the same, the 99th percentile"},
	{"calls", func(c *search.Cost) int64 { return c.Steady.DurableCalls },
		"requests that made something durable"},
	{"writes", func(c *search.Cost) int64 { return c.Steady.DurableWrites },
		"durable writes: the sum of the next five"},
	{"positions", func(c *search.Cost) int64 { return c.Steady.Durable.Position },
		"offsets, committed or in a checkpoint"},
	{"states", func(c *search.Cost) int64 { return c.Steady.Durable.State }, "keyed state"},
	{"ids", func(c *search.Cost) int64 { return c.Steady.Durable.Dedup },
		"ids of inputs that were taken up"},
	{"outputs", func(c *search.Cost) int64 { return c.Steady.Durable.Output },
		"results at the external system, or kept for it"},
	{"metadata", func(c *search.Cost) int64 { return c.Steady.Durable.Metadata },
		"of checkpoints, transactions and batches"},
	{"bytes", func(c *search.Cost) int64 { return c.Steady.BytesWritten.Sum() },
		"size of all durable writes"},
	{"stateBytes", func(c *search.Cost) int64 { return c.Steady.BytesWritten.State },
		"size of those of state, and of records that a checkpoint keeps in flight"},
	{"stored", func(c *search.Cost) int64 { return c.Steady.StateBytes },
		"size of the state that is there in the end"},
	{"data", func(c *search.Cost) int64 { return c.Steady.DataMessages }, "messages with records"},
	{"acks", func(c *search.Cost) int64 { return c.Steady.AckMessages }, "acknowledgements"},
	{"control", func(c *search.Cost) int64 { return c.Steady.ControlMessages },
		"barriers and notices"},
	{"messages", func(c *search.Cost) int64 { return c.Steady.Messages() },
		"the sum of the last three"},
	{"excess", func(c *search.Cost) int64 {
		m := &c.Steady
		return m.Replayed + m.DuplicatesAbsorbed + m.DuplicatesVisible + m.Lost
	}, "what the next four would count, without faults"},
	{"replayed", func(c *search.Cost) int64 { return c.Crashed.Sum.Replayed },
		"under crashes: records that reached a first operator again"},
	{"absorbed", func(c *search.Cost) int64 { return c.Crashed.Sum.DuplicatesAbsorbed },
		"under crashes: repetitions that changed nothing"},
	{"twice", func(c *search.Cost) int64 { return c.Crashed.Sum.DuplicatesVisible },
		"under crashes: output that is visible too often"},
	{"lost", func(c *search.Cost) int64 { return c.Crashed.Sum.Lost },
		"under crashes: records lost"},
	{"mostReplayed", func(c *search.Cost) int64 { return c.Crashed.Most.Replayed },
		"replayed, in one run at the most"},
	{"mostTwice", func(c *search.Cost) int64 { return c.Crashed.Most.DuplicatesVisible },
		"twice, in one run at the most"},
}

// steadyAmounts are the names of the amounts without faults.
func steadyAmounts() (names []string) {
	for _, a := range costAmounts {
		if a.name == "replayed" {
			return names
		}
		names = append(names, a.name)
	}
	panic("no amount under crashes")
}

// costRelation is what is to be expected of the mechanism of a mode. Each of its lines is a Go
// expression that must be true: amount[mode setting...] is measured, and X is each of what it is
// said of in turn.
type costRelation struct {
	name, says string
	of         []string
	lines      []string
}

// costRelations are all that is expected of costs. docs/costs.md lists them.
var costRelations = []costRelation{
	{"Baseline",
		"A mode without a guarantee writes its output and nothing else.",
		nil, []string{
			"outputs[none] == records",
			"writes[none] == records",
			"data[none] == hops*records",
			"stored[none] == 0"}},
	{"The same work",
		"One write of state and one visible output a record, in every mode that writes state " +
			"through. That makes the other amounts comparable.",
		[]string{"at-most-once", "at-least-once", "acker", "idempotent", "idempotent-by-key",
			"dedup", "dedup-weak"}, []string{
			"states[X] == records",
			"stored[X] == stored[at-most-once]",
			"data[X] == data[none]",
			"outputs[X] >= outputs[none]",
			"metadata[X] == 0",
			"excess[X] == 0"}},
	{"at-most-once: a commit a batch",
		"With full batches, of four records at the most, it shows a record no later than " +
			"at-least-once; with a commit a record it shows it later.",
		nil,
		[]string{
			"p50[at-most-once arrival=0.5ms] <= p50[at-least-once arrival=0.5ms]",
			"positions[at-most-once arrival=0.5ms] < records/2",
			"positions[at-most-once arrival=0.5ms] >= records/4",
			"acks[at-most-once arrival=0.5ms] == 0",
			"positions[at-most-once batch=1] == records",
			"p50[at-most-once batch=1] > p50[at-least-once]"}},
	{"at-least-once: a commit an interval",
		"It commits once for X records of a partition and once at the end. A window of four " +
			"may end together.",
		[]string{"1", "4", "30"}, []string{
			"positions[at-least-once commit-every=X] <= records/X + partitions",
			"positions[at-least-once commit-every=X] >= records/(X+4)",
			"acks[at-least-once commit-every=X] == hops*records",
			"ids[at-least-once commit-every=X] == 0",
			"writes[at-least-once commit-every=X] == calls[at-least-once commit-every=X]"}},
	{"A crash loses",
		"Without repetition a crash is paid with loss, and with nothing else.",
		[]string{"none", "at-most-once"}, []string{
			"lost[X] > 0",
			"replayed[X] + twice[X] + absorbed[X] == 0"}},
	{"A crash repeats",
		"With repetition it is paid with duplicates, no more of them than lie between two " +
			"commits, of four records each, and in a window of four.",
		[]string{"at-least-once", "acker"}, []string{
			"twice[X] > 0",
			"replayed[X] > 0",
			"lost[X] == 0",
			"mostTwice[X] <= crashes*partitions*(4+4)"}},
	{"Replay grows with the interval",
		"What is committed more seldom is replayed further back.",
		nil,
		[]string{"replayed[at-least-once commit-every=60] > " +
			"replayed[at-least-once commit-every=1]"}},
	{"acker: messages",
		"It has at most three messages for one with a record, and writes what at-least-once " +
			"does.",
		nil, []string{
			"acks[acker] > acks[at-least-once]",
			"messages[acker] <= 3*data[acker]",
			"ids[acker] == 0",
			"states[acker] == states[at-least-once]",
			"positions[acker] <= positions[at-least-once] + 5",
			"positions[acker] >= positions[at-least-once] - 5"}},
	{"idempotent: free",
		"Without faults an upsert costs what an append does, in every amount.",
		steadyAmounts(), []string{"X[idempotent] == X[at-least-once]"}},
	{"idempotent: a crash",
		"A crash is paid with rewrites, which the table absorbs where a repeated step gives " +
			"the same.",
		nil, []string{
			"absorbed[idempotent topology=pipeline records=100] > 0",
			"absorbed[idempotent topology=pipeline records=100] == " +
				"twice[at-least-once topology=pipeline records=100]",
			"twice[idempotent topology=pipeline records=100] == 0",
			"lost[idempotent topology=pipeline records=100] == 0"}},
	{"dedup: every hop",
		"One durable call a stage and record, in which the id, the state and the outputs are, " +
			"and its latency. A crash then shows nothing.",
		nil, []string{
			"ids[dedup] == stages*records",
			"outputs[dedup] == (stages+1)*records",
			"calls[dedup] == ids[dedup] + records + positions[dedup]",
			"acks[dedup] == hops*records",
			"p50[dedup] > p50[at-least-once]",
			"p99[dedup] > p99[at-least-once]",
			"absorbed[dedup] > 0",
			"replayed[dedup] > 0",
			"twice[dedup] + lost[dedup] == 0"}},
	{"dedup-weak: less",
		"Weak productions write an id a stage and keep no outputs.",
		nil, []string{
			"ids[dedup-weak] == stages*records",
			"outputs[dedup-weak] == records",
			"p50[dedup-weak] < p50[dedup]",
			"bytes[dedup-weak] < bytes[dedup]",
			"twice[dedup-weak] + lost[dedup-weak] == 0"}},
	{"No gate",
		"Output that waits for nothing is visible no later than that of at-least-once.",
		nil, []string{
			"p50[snapshot] <= p50[at-least-once]"}},
	{"Gates: latency",
		"Output that waits for a checkpoint, or for its batch, is visible later than what is " +
			"recognised record by record.",
		[]string{"two-phase-commit", "snapshot-wal", "micro-batch"}, []string{
			"p50[X] > p50[dedup]",
			"p50[X] > p50[snapshot]"}},
	{"Gates: the interval",
		"The longer the interval the longer the wait: half of it on average, and the " +
			"checkpoint besides.",
		[]string{"two-phase-commit", "snapshot-wal"}, []string{
			"p50[X interval=80ms] > p50[X]",
			"p50[X interval=80ms] > 80*ms/2"}},
	{"snapshot: an interval",
		"Deduplication pays for every record and a snapshot for every interval: in requests " +
			"always, in writes when the interval is long against what the state holds. It " +
			"writes all of the state each time, and not what changed.",
		nil, []string{
			"calls[snapshot] < calls[dedup]",
			"writes[snapshot interval=400ms] < writes[dedup]",
			"calls[snapshot interval=400ms] < calls[snapshot]",
			"stateBytes[snapshot interval=400ms] < stateBytes[snapshot]",
			"stateBytes[snapshot] > stateBytes[dedup]",
			"ids[snapshot] == 0",
			"acks[snapshot] == 0",
			"control[snapshot] > 0",
			"data[snapshot] == hops*records",
			"outputs[snapshot] == records"}},
	{"Unaligned: what is in flight",
		"An unaligned checkpoint (alignment=2) has the records in flight in it; one that drops " +
			"them (3) has not. An aligned one (0) waits and so is taken less often: it is not " +
			"more bytes in all.",
		nil, []string{
			"stateBytes[snapshot arrival=1ms alignment=2 interval=5ms] > " +
				"stateBytes[snapshot arrival=1ms alignment=3 interval=5ms]",
			"stateBytes[snapshot arrival=1ms alignment=2 interval=5ms] >= " +
				"stateBytes[snapshot arrival=1ms alignment=0 interval=5ms]"}},
	{"Write-ahead: twice",
		"Output is written into the checkpoint and then to its place.",
		[]string{"snapshot-wal", "snapshot-wal-split"}, []string{"outputs[X] == 2*records"}},
	{"two-phase-commit: transactions",
		"Each record is written once; each checkpoint has its id, its completion and empty " +
			"parts, and a transaction a sink, which is begun, prepared and committed.",
		nil, []string{
			"outputs[two-phase-commit] == records",
			"metadata[two-phase-commit] > metadata[snapshot]",
			"calls[two-phase-commit] > calls[snapshot]",
			"data[two-phase-commit] == data[snapshot]",
			"metadata[two-phase-commit] <= " +
				"positions[two-phase-commit]/partitions*(2+2+partitions*(3+1)) + 4"}},
	{"micro-batch: a batch",
		"A batch has two entries of the log, a plan and an end, however many records it has, " +
			"up to a hundred a partition. A crash has one batch run again.",
		nil, []string{
			"outputs[micro-batch] == records",
			"metadata[micro-batch]%2 == 0",
			"calls[micro-batch] < calls[dedup]",
			"mostReplayed[micro-batch] <= crashes*partitions*100",
			"twice[micro-batch] + lost[micro-batch] == 0"}},
	{"Checkpoints: a crash goes back",
		"Nothing is lost, and the longer the interval the more is replayed.",
		[]string{"snapshot", "snapshot-upsert", "snapshot-wal", "two-phase-commit"},
		[]string{
			"replayed[X] > 0",
			"lost[X] == 0",
			"replayed[X interval=400ms] > replayed[X]"}},
	{"Checkpoints: what shows",
		"The replay shows where output is not gated.",
		nil, []string{
			"twice[snapshot] > 0",
			"absorbed[snapshot-upsert] > 0"}},
	{"Checkpoints: what does not",
		"It does not where output is gated or a row replaced.",
		[]string{"snapshot-upsert", "snapshot-wal", "two-phase-commit"}, []string{"twice[X] == 0"}},
}

// each calls do with every line of r, for each of what it is said of.
func (r *costRelation) each(do func(line string)) {
	for _, line := range r.lines {
		if !costVariable.MatchString(line) {
			do(line)
			continue
		}
		for _, x := range r.of {
			do(costVariable.ReplaceAllLiteralString(line, x))
		}
	}
}

var (
	costVariable = regexp.MustCompile(`\bX\b`)
	costTerm     = regexp.MustCompile(`([A-Za-z0-9]+)\[([^\]]*)\]`)
)

// What the modes cost is as it is to be expected of their mechanisms.
func TestCosts_AreAsExpected(t *testing.T) {
	if underRace {
		t.Skip("many runs, and no other code than that of TestCosts_AreDeterministic")
	}
	paid := map[string]*search.Cost{}
	for _, r := range costRelations {
		t.Run(r.name, func(t *testing.T) {
			r.each(func(line string) {
				measured := costTerm.ReplaceAllStringFunc(line, func(term string) string {
					m := costTerm.FindStringSubmatch(term)
					if paid[m[2]] == nil {
						paid[m[2]] = billOf(t, m[2]).anew(t)
					}
					return fmt.Sprint(amountOf(t, m[1], paid[m[2]]))
				})
				isTrue, err := holds(measured)
				require.NoError(t, err, line)
				if !isTrue {
					t.Errorf("%s: %s", line, measured)
				}
			})
		})
	}
}

// A line that is not true, or says nothing, is found out.
func TestCosts_LinesCanFail(t *testing.T) {
	for line, want := range map[string]bool{"7/2 == 3": true, "records < hops": false,
		"2*records == 320": true} {
		got, err := holds(line)
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
	}
	for _, line := range []string{"recrods > 0", "records + 1", "records >"} {
		_, err := holds(line)
		require.Error(t, err, line)
	}
}

// holds evaluates an expression of numbers.
func holds(line string) (bool, error) {
	pkg := types.NewPackage("costs", "costs")
	for _, n := range costNumbers {
		pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, n.name, types.Typ[types.UntypedInt],
			constant.MakeInt64(n.value)))
	}
	tv, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, line)
	if err != nil {
		return false, err
	}
	if tv.Value == nil || tv.Value.Kind() != constant.Bool {
		return false, errors.New("neither true nor false")
	}
	return constant.BoolVal(tv.Value), nil
}

func amountOf(t *testing.T, name string, c *search.Cost) int64 {
	t.Helper()
	for _, a := range costAmounts {
		if a.name == name {
			return a.of(c)
		}
	}
	t.Fatalf("no amount %s", name)
	return 0
}

// bill is a measurement: of a mode, with some of its parameters set.
type bill struct {
	topology *model.Topology
	mode     string
	every    int64 // arrival interval, 0: the default
	records  int
	set      []model.ParamValue
}

// billOf reads a mode and its settings.
func billOf(t *testing.T, text string) bill {
	t.Helper()
	words := strings.Fields(text)
	b := bill{topology: &scenarios.PageViews, mode: words[0], records: int(costNumber("records"))}
	for _, word := range words[1:] {
		name, setting, _ := strings.Cut(word, "=")
		if name == "topology" {
			require.Equal(t, "pipeline", setting)
			b.topology = &scenarios.Pipeline
			continue
		}
		value, err := strconv.ParseInt(setting, 10, 64)
		if err != nil {
			d, err := time.ParseDuration(setting)
			require.NoError(t, err, text)
			value = int64(d)
		}
		switch name {
		case "arrival":
			b.every = value
		case "records":
			b.records = int(value)
		default:
			b.set = append(b.set, model.ParamValue{Name: name, Value: value})
		}
	}
	return b
}

// anew measures a bill.
func (b bill) anew(t *testing.T) *search.Cost {
	t.Helper()
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Name: "costs", Topology: b.topology, Mode: modeNamed(t, lib, b.mode),
		Seed: 1, Params: b.set}
	s.Input.Records, s.Input.Every = b.records, b.every
	for _, v := range b.set {
		require.NotNil(t, s.Mode.Param(v.Name), "%s of %s", v.Name, b.mode)
	}
	costs, err := search.Costs(context.Background(), lib, s, []*model.Mode{s.Mode}, 1, costSeeds)
	require.NoError(t, err)
	require.Len(t, costs, 1)
	require.GreaterOrEqual(t, costs[0].Crashed.Crashes, int64(costSeeds/2))
	return &costs[0]
}

// docs/costs.md is written from the table that is tested.
func TestCosts_Page(t *testing.T) {
	const path = "../docs/costs.md"
	page := costPage()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, page, string(data), "go test ./search -run Costs_Page -update rewrites it")
}

const (
	costIntro = "Every guarantee is paid with something. Below is what is to be expected of the " +
		"mechanisms, line by line. A test measures all that a line names, on `page-views` with " +
		"%d records and under %d seeds, and fails where one is not true. `simrun compare` has a " +
		"table of costs for any job."
	costLines = "A line is an expression of whole numbers as Go has it, division too. " +
		"`amount[mode setting...]` is what is measured of a mode with some parameters set; " +
		"`simrun explain MODE` says what they are. Three settings are of the job: `topology` is " +
		"another one, `arrival` the time between two records, `records` the length of the input."
)

func costPage() string {
	var b strings.Builder
	b.WriteString("# Costs\n\n<!-- Generated by go test ./search -run Costs_Page -update. -->\n\n")
	b.WriteString(paragraph(fmt.Sprintf(costIntro, costNumber("records"), costSeeds)) + "\n\n")
	b.WriteString(paragraph(costLines) + "\n\n| number | value | |\n|---|---|---|\n")
	for _, n := range costNumbers {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", n.name, n.value, n.is)
	}
	b.WriteString("\nWithout faults an amount is the median of the runs, under crashes " +
		"their sum.\n\n| amount | |\n|---|---|\n")
	for _, a := range costAmounts {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.name, a.is)
	}
	for _, r := range costRelations {
		says := r.says
		if r.of != nil {
			says += " X is each of `" + strings.Join(r.of, "`, `") + "`."
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s", r.name, paragraph(says))
		fmt.Fprintf(&b, "\n\n    %s\n", strings.Join(r.lines, "\n    "))
	}
	return b.String()
}

// paragraph breaks a text into lines, as pages have them.
func paragraph(text string) string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > 105:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return strings.Join(lines, "\n")
}

// Costs are the same however many workers measure them, and nothing is said of a mode that was
// interrupted.
func TestCosts_AreDeterministic(t *testing.T) {
	b := bill{topology: &scenarios.PageViews, mode: "at-least-once", records: 40}
	require.Equal(t, b.anew(t), b.anew(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: lib.Modes[0], Seed: 1}
	costs, err := search.Costs(ctx, lib, s, lib.Modes, 1, 3)
	require.NoError(t, err)
	require.Empty(t, costs)
}

// However many seeds a comparison has, costs are measured on a hundred.
func TestCosts_AreBounded(t *testing.T) {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.Pipeline, Mode: lib.Modes[0], Seed: 1}
	costs, err := search.Costs(context.Background(), lib, s, lib.Modes[:1], 7, 1<<64-1)
	require.NoError(t, err)
	require.LessOrEqual(t, costs[0].Crashed.Crashes, int64(200))
	require.GreaterOrEqual(t, costs[0].Crashed.Crashes, int64(100))
}

// The median of one run is that run, in every number.
func TestCosts_OfOneSeed(t *testing.T) {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.PageViews, Seed: 3}
	s.Input.Records = 20
	for _, s.Mode = range lib.Modes {
		costs, err := search.Costs(context.Background(), lib, s, []*model.Mode{s.Mode}, 3, 3)
		require.NoError(t, err)
		_, res, err := scenarios.Run(lib, s, scenarios.Options{Trace: true})
		require.NoError(t, err)
		require.Equal(t, search.Measure(&res), costs[0].Steady, s.Mode.Name)
		require.Positive(t, costs[0].Steady.BytesWritten.Output)
	}
}
