package simcli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// try runs the command with a context and returns its status and streams.
func try(ctx context.Context, lib *scenarios.Library, args ...string) (
	status int, stdout, stderr string) {
	var out, log bytes.Buffer
	a := &app{lib: lib, program: "simrun", in: &bytes.Buffer{}, out: &output{to: &out}, log: &log}
	status = a.run(ctx, args)
	return status, out.String(), log.String()
}

// The worst status wins, in the order of the table.
func TestWorst(t *testing.T) {
	order := []int{70, 4, 2, 130, 143, 5, 6, 1, 3, 0}
	assert.Equal(t, order, severity)
	for i, a := range order {
		for j, b := range order {
			assert.Equal(t, order[min(i, j)], worst(a, b))
		}
	}
}

func TestStatusOf(t *testing.T) {
	assert.Equal(t, 0, statusOf(nil))
	assert.Equal(t, 2, statusOf(errors.New("some error")))
	assert.Equal(t, 5, statusOf(fmt.Errorf("wrapped: %w", fail(statusStale, "stale"))))
	assert.Equal(t, 3, statusOf(&scenarios.InputError{Path: "x", Err: scenarios.ErrEmptyInput}))
}

// overclaiming is the built-in library with a mode that claims more than it keeps.
func overclaiming() *scenarios.Library {
	lib := scenarios.Builtin()
	boast := *lib.Modes[2]
	boast.Name, boast.Cells = "boast", nil
	boast.Claims, boast.Tolerates = []string{"exactly-once"}, []string{"no-fault", "crash"}
	lib.Modes = append(lib.Modes, &boast)
	return lib
}

// A violation of what a mode claims under the faults that it tolerates is a failure, in a run and
// in the matrix.
func TestOverclaiming(t *testing.T) {
	ctx := context.Background()
	status, stdout, _ := try(ctx, overclaiming(), "run", "pipeline", "--mode", "boast",
		"--fault", "crash sink/0 before ack of write 2")
	assert.Equal(t, 1, status)
	assert.Contains(t, stdout, "claim broken")
	status, stdout, _ = try(ctx, overclaiming(), "compare", "pipeline", "--modes", "boast",
		"--classes", "no-fault,crash", "-q")
	assert.Equal(t, 1, status)
	assert.Contains(t, stdout, "boast under crash claims exactly-once: violated in")
	status, stdout, _ = try(ctx, overclaiming(), "run", "pipeline", "--mode", "boast",
		"--fault", "lose answer of write 2 from sink/0")
	assert.Equal(t, 0, status, "it does not say that it tolerates this")
	assert.Contains(t, stdout, "boast claims nothing here")
}

// A panic is a bug: the scenario and its seed come first, then the stack; the status is 70.
func TestPanic(t *testing.T) {
	broken := model.Operator{Name: "broken", Kind: model.Stateless,
		Step: func(model.Record, model.Value, *model.Outputs) model.Value { panic("no step") }}
	topology := scenarios.Pipeline
	topology.Name = "broken"
	topology.Stages = []model.Stage{{Name: "op", Operator: &broken, From: []string{"input"}}}
	lib := scenarios.Builtin()
	lib.Topologies = append(lib.Topologies, &topology)
	status, stdout, stderr := try(context.Background(), lib, "run", "broken", "--seed", "9")
	assert.Equal(t, 70, status)
	assert.Empty(t, stdout)
	assert.Regexp(t, `^simrun: internal error in broken under at-least-once, seed 9 `+
		`\(simrun run broken --mode at-least-once --seed 9\): no step\n`, stderr)
	assert.Contains(t, stderr, "goroutine")
}

// An interrupt flushes what is done and says how to go on; the status is that of the signal.
func TestInterrupt(t *testing.T) {
	for _, cause := range []*interrupted{causeOf(os.Interrupt), {"terminated", statusTerminated}} {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		status, stdout, stderr := try(ctx, scenarios.Builtin(), "compare", "pipeline")
		assert.Equal(t, cause.status, status)
		assert.Contains(t, stdout, "interrupted")
		assert.NotContains(t, stdout, "agrees")
		assert.Contains(t, stderr, "to go on")
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x.sim"), nil, 0o644))
		status, _, stderr = try(ctx, scenarios.Builtin(), "replay", dir)
		assert.Equal(t, cause.status, status)
		assert.Contains(t, stderr, "0 of 1 files done")
	}
}

// -q keeps hints to itself, and never errors.
func TestQuiet(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(causeOf(os.Interrupt))
	_, _, stderr := try(ctx, scenarios.Builtin(), "compare", "pipeline", "-q")
	assert.Empty(t, stderr)
	_, _, stderr = try(context.Background(), scenarios.Builtin(), "-q", "run", "nothing-like-it")
	assert.NotEmpty(t, stderr)
}

// fullAfter takes so many bytes and fails then.
type fullAfter int

func (n *fullAfter) Write(p []byte) (int, error) {
	if *n -= fullAfter(len(p)); *n < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

// Every write of a result is checked, also the last; what the run violated does not hide it.
func TestOutputFails(t *testing.T) {
	for _, args := range [][]string{
		{"run", "pipeline", "--mode", "at-most-once",
			"--fault", "duplicate call write 1 of sink/0"},
		{"run", "pipeline", "--trace", "-"},
		{"list"}, {"version"}, {"explain", "crash"},
	} {
		var whole, log bytes.Buffer
		Run(scenarios.Builtin(), args, &bytes.Buffer{}, &whole, &log)
		for _, room := range []fullAfter{0, fullAfter(whole.Len() - 1)} {
			log.Reset()
			assert.Equal(t, 2, Run(scenarios.Builtin(), args, &bytes.Buffer{}, &room, &log), args)
			assert.Contains(t, log.String(), "the result cannot be written: full")
		}
	}
}

// A canary that sings no more is an expectation that was not met.
func TestCanary(t *testing.T) {
	lib := scenarios.Builtin()
	for i, m := range lib.Modes {
		if m.Name == "none" {
			renamed := *m
			renamed.Name = "at-least-once"
			lib.Modes[i] = &renamed
		}
	}
	lib.Modes = lib.Modes[:1]
	status, stdout, _ := try(context.Background(), lib, "doctor")
	assert.Equal(t, 6, status)
	assert.Contains(t, stdout, "FAIL  canary: at-least-once under crash shows duplicate in 0 of ")
	assert.Contains(t, stdout, "skip  the library has no at-most-once under crash")
}

// An operator that is not a function of its arguments is found, and the first event that it changes
// is shown from both sides: by the self-test, and by any run of it.
func TestDifference(t *testing.T) {
	var calls atomic.Int64
	counted := model.Operator{Name: "counted", Kind: model.Stateless,
		Step: func(in model.Record, st model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, model.Value{Num: calls.Add(1)})
			return st
		}}
	topology := scenarios.Pipeline
	topology.Name = "counted"
	topology.Stages = []model.Stage{{Name: "op", Operator: &counted, From: []string{"input"}}}
	lib := scenarios.Builtin()
	lib.Topologies = []*model.Topology{&topology}
	status, stdout, _ := try(context.Background(), lib, "doctor")
	assert.Equal(t, 4, status)
	const event = `event \d+ at .*: send op/0 attempt 1 to sink/0 data input/0:0 op 1 "k\d" = `
	assert.Regexp(t, `FAIL  counted under none, seed 1, again in new worlds: hashes .*\n`+
		`one    `+event+`.*\n       because of event \d+ at .*: deliver .*\n`+
		`other  `+event+`.*\n       because of event .*\n`+
		`they differ in Msg.Record.Value.Num\n`, stdout)
	status, _, stderr := try(context.Background(), lib, "run", "counted")
	assert.Equal(t, 4, status)
	assert.Regexp(t, `two runs differ, hashes .*\none    `+event, stderr)
}

func TestProgressText(t *testing.T) {
	assert.Equal(t, "0 of 24 cells, 0%", progressText("cells", 0, 24, time.Second))
	assert.Equal(t, "6 of 24 cells, 25%, 3.0/s, 6s left",
		progressText("cells", 6, 24, 2*time.Second))
}

// What is no terminal gets lines behind each other, and none for the first time.
func TestProgress_OfNoTerminal(t *testing.T) {
	var log bytes.Buffer
	p := (&app{log: &log}).newProgress("cells")
	p.step(1, 4)
	p.end()
	assert.Empty(t, log.String(), "it is too soon")
	assert.Equal(t, plainEvery, p.every)
	p.shown = time.Time{}
	p.step(2, 4)
	p.step(3, 4)
	p.end()
	assert.Regexp(t, `^2 of 4 cells, 50%, .* left\n$`, log.String())
	assert.Equal(t, &progress{}, (&app{log: &log, quiet: true}).newProgress("cells"))
}

// A signal ends what looks at no context at once, whether it comes before or in the middle, and
// leaves alone what does.
func TestWaiting(t *testing.T) {
	type ended struct{ cause *interrupted }
	newWaiting := func() *waiting {
		return &waiting{exit: func(cause *interrupted) { panic(ended{cause}) }}
	}
	cause := causeOf(os.Interrupt)
	w := newWaiting()
	w.during(func() { w.during(func() {}) })
	w.interrupt(cause)
	assert.Panics(t, func() { w.during(func() { t.Error("it is too late to begin") }) })

	w = newWaiting()
	assert.PanicsWithValue(t, ended{cause}, func() {
		w.enter(1)
		w.during(func() {})
		w.interrupt(cause)
	})
	(&waiting{}).during(func() {})
}

// What is no terminal gets no colour and no progress: buffers, files, the null device.
func TestIsTerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, isTerminal(&bytes.Buffer{}))
	assert.False(t, isTerminal(null))
	assert.False(t, isTerminal(file))
}

// A file is replaced whole: an error in the middle leaves the old one and nothing beside it.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.sim")
	write := func(text string, err error) error {
		return writeWhole(path, func(to io.Writer) error {
			_, _ = to.Write([]byte(text))
			return err
		})
	}
	require.NoError(t, write("old", nil))
	require.Error(t, write("half", errors.New("no more")))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))
	require.NoError(t, write("new", nil))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// Through a symbolic link it is the file that is written, not the link.
func TestWriteWholeThroughLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	if err := os.Symlink("file", link); err != nil {
		t.Skip(err)
	}
	require.NoError(t, writeWhole(link, func(to io.Writer) error {
		_, err := to.Write([]byte("new"))
		return err
	}))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "new", string(data))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
