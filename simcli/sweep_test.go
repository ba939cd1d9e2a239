package simcli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// A claim that is broken makes the status 1; the line that is shown reproduces it.
func TestSweep_Overclaiming(t *testing.T) {
	ctx := context.Background()
	args := []string{"sweep", "pipeline", "--modes", "boast", "--seeds", "1-200"}
	status, stdout, stderr := try(ctx, overclaiming(), args...)
	assert.Equal(t, 1, status)
	assert.Regexp(t, `200 runs in .* s, \d+/s`, stderr)
	assert.Contains(t, stdout, "\nfailures\n  boast_")
	assert.Regexp(t, `pipeline under boast: \d+ of 200 runs\n      [\d.]+ % \(95 % interval`,
		stdout)
	_, line, _ := strings.Cut(stdout, "\n      simrun ")
	line, _, _ = strings.Cut(line, "\n")
	status, shown, _ := try(ctx, overclaiming(), words(line)...)
	assert.Equal(t, 1, status)
	assert.Contains(t, shown, "claim broken")

	again, other, _ := try(ctx, overclaiming(), append(args, "-j", "1")...)
	assert.Equal(t, 1, again)
	assert.Equal(t, stdout, other)

	status, doc, _ := try(ctx, overclaiming(), append(args, "--json")...)
	assert.Equal(t, 1, status)
	var parsed struct {
		Failures []struct{ Reproduce string }
	}
	require.NoError(t, json.Unmarshal([]byte(doc), &parsed))
	assert.Equal(t, "simrun "+line, parsed.Failures[0].Reproduce)
}

// words splits a command line at spaces outside of single quotes.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}

// The fastest failure of each signature is saved smaller, and replays; a resumed sweep leaves what
// is saved alone.
func TestSweep_Shrink(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "new", "r.jsonl")
	require.NoError(t, os.Mkdir(filepath.Dir(out), 0o755))
	args := []string{"sweep", "pipeline", "--modes", "boast", "--seeds", "1-60", "--classes",
		"crash", "--shrink", "--out", out, "--resume"}
	status, stdout, stderr := try(context.Background(), overclaiming(), args...)
	require.Equal(t, 1, status, stderr)
	files, err := filepath.Glob(filepath.Join(dir, "new", "boast_*-????????.sim"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	assert.Equal(t, len(files), strings.Count(stdout, "made smaller: "))
	for _, file := range files {
		assert.Contains(t, stdout, filepath.ToSlash(file))
		status, text, _ := try(context.Background(), overclaiming(), "replay", file)
		assert.Equal(t, 1, status)
		assert.Contains(t, text, ": exact\n")
		require.NoError(t, os.Remove(file))
	}
	before, err := os.ReadFile(out)
	require.NoError(t, err)
	_, again, _ := try(context.Background(), overclaiming(), args...)
	assert.Equal(t, stdout, again)
	after, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	files, err = filepath.Glob(filepath.Join(dir, "new", "*.sim"))
	require.NoError(t, err)
	assert.Empty(t, files)
}

// Where the failure that must be seen is not, the status is 6 and nothing is written.
func TestSweep_Canary(t *testing.T) {
	lib := scenarios.Builtin()
	tame := *lib.Modes[len(lib.Modes)-1]
	tame.Name, tame.Cells = "at-least-once", lib.Modes[2].Cells
	lib.Modes = []*model.Mode{&tame}
	out := filepath.Join(t.TempDir(), "r.jsonl")
	status, stdout, stderr := try(context.Background(), lib, "sweep", "pipeline", "--out", out)
	assert.Equal(t, 6, status)
	assert.Empty(t, stdout)
	assert.Regexp(t, `^simrun: canary of pipeline: at-least-once under crash shows no duplicate `+
		`in \d+ runs: not caught\n$`, stderr)
	assert.NoFileExists(t, out)
}

// Runs that are made again and differ make the status 4, with the first event that differs.
func TestSweep_Differs(t *testing.T) {
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
	lib.Topologies = append(lib.Topologies, &topology)
	status, _, stderr := try(context.Background(), lib, "sweep", "counted", "--verify", "1000000")
	assert.Equal(t, 4, status)
	assert.Regexp(t, `^simrun: counted under at-least-once, seed \d+: two (runs|plans) differ`,
		stderr)
	assert.Contains(t, stderr, "they differ in Msg.Record.Value.Num")
}

// An interrupt leaves whole blocks and says how to go on, in full.
func TestSweep_Interrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(causeOf(os.Interrupt))
	dir := t.TempDir()
	out := filepath.Join(dir, "r.jsonl")
	args := []string{"sweep", "pipeline", "--seeds", "1-100", "--out", out, "--fault", ""}
	status, stdout, stderr := try(ctx, scenarios.Builtin(), args...)
	assert.Equal(t, 130, status)
	assert.Contains(t, stdout, "nothing was run")
	line := "\nsimrun sweep pipeline --seeds 1-100 --out " + out + " --fault '' --resume\n"
	assert.Contains(t, stderr, line)
	status, _, _ = try(context.Background(), scenarios.Builtin(), append(args, "--resume")...)
	assert.Equal(t, 0, status)

	status, _, stderr = try(ctx, scenarios.Builtin(), "sweep", "pipeline")
	assert.Equal(t, 130, status)
	assert.Contains(t, stderr, "nothing is kept")
}

// The time of --for ends a sweep, and is no failure; what is done can be resumed.
func TestSweep_For(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r.jsonl")
	args := []string{"sweep", "pipeline", "--for", "300ms", "--seeds", "5-", "--out", out}
	status, stdout, _ := try(context.Background(), scenarios.Builtin(), args...)
	require.Equal(t, 0, status, stdout)
	assert.Contains(t, stdout, "sweep of seeds from 5\n")
	_, merged, _ := try(context.Background(), scenarios.Builtin(), "merge", out)
	assert.Equal(t, stdout, merged)
	status, more, _ := try(context.Background(), scenarios.Builtin(), append(args, "--resume")...)
	assert.Equal(t, 0, status)
	assert.NotEqual(t, stdout, more)
}

// A result file that is none, or is of another sweep, stays as it is.
func TestSweep_ResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.jsonl")
	sweep := func(args ...string) (int, string) {
		status, _, stderr := try(context.Background(), scenarios.Builtin(),
			append([]string{"sweep", "pipeline", "--seeds", "1-20", "--out", path}, args...)...)
		return status, stderr
	}
	for text, want := range map[string]string{
		"my diary":       "x.jsonl:1: no line of results\n",
		"my diary\n":     "x.jsonl:1: no line of results: \"my diary\"",
		"{\"kind\":1}\n": "x.jsonl:1: no line of results",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		status, stderr := sweep("--resume")
		assert.Equal(t, 2, status)
		assert.Contains(t, stderr, want)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
	}
	require.NoError(t, os.WriteFile(path, []byte(`{"kind":"hea`), 0o644))
	status, stderr := sweep()
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "x.jsonl is there already; --resume goes on with it")
	status, _ = sweep("--resume")
	assert.Equal(t, 0, status)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	status, stderr = sweep("--resume", "--faults", "2")
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "x.jsonl cannot be resumed: it has another sweep: --faults 3, not 2")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(before, after))
}

// The index of a pod is from 0, a shard is from 1; what is not set is named.
func TestShardOf(t *testing.T) {
	for _, tc := range []struct {
		text, index, count string
		shard, shards      uint64
		want               string
	}{
		{"", "", "", 1, 1, ""},
		{"3/4", "", "", 3, 4, ""},
		{"auto", "0", "4", 1, 4, ""},
		{"auto", "3", "4", 4, 4, ""},
		{"auto", "4", "4", 0, 0, "JOB_COMPLETION_INDEX=\"4\" and SIM_SHARDS=\"4\""},
		{"auto", "x", "4", 0, 0, "expected an index from 0"},
		{"auto", "", "4", 0, 0, "JOB_COMPLETION_INDEX is not set"},
		{"auto", "0", "", 0, 0, "SIM_SHARDS is not set"},
		{"5/4", "", "", 0, 0, "--shard \"5/4\", expected K/N"},
	} {
		t.Setenv(shardIndex, tc.index)
		t.Setenv(shardCount, tc.count)
		shard, shards, err := shardOf(tc.text)
		assert.Equal(t, tc.shard, shard)
		assert.Equal(t, tc.shards, shards)
		if tc.want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, tc.want)
		}
	}
}

func TestUntilText(t *testing.T) {
	assert.Equal(t, "600 runs, 300.0/s, 8s left", untilText("runs", 600, 10*time.Second,
		2*time.Second))
	assert.Equal(t, "600 runs, 50.0/s, 0s left", untilText("runs", 600, 10*time.Second,
		12*time.Second))
}

// A sweep that is killed at any moment, resumed and merged has the bytes of one that was not. The
// moments are drawn as lengths that its file has then.
func TestSweep_Killed(t *testing.T) {
	kills := 12
	if *sweepFull {
		kills = 50
	}
	dir := t.TempDir()
	simrun := buildCommand(t)
	sweep := []string{"sweep", "pipeline", "--modes", "at-least-once,snapshot", "--any", "--seeds",
		"1-2000", "--max-failures", "2", "--resume", "-q", "--out"}
	whole := filepath.Join(dir, "whole.jsonl")
	require.Equal(t, 1, runCommand(t, simrun, append(sweep, whole)...))
	want, length := mergedFile(t, simrun, whole), sizeOf(whole)

	random := rand.New(rand.NewSource(1))
	files, midway := 0, 0
	for n := 0; n < kills; files++ {
		path := filepath.Join(dir, fmt.Sprintf("killed-%d.jsonl", files))
		for isOver := false; n < kills && !isOver; n++ {
			at := sizeOf(path) + 1 + random.Int63n(length/2)
			if isOver = killCommand(t, simrun, path, at, append(sweep, path)...); !isOver {
				midway++
			}
		}
		require.Equal(t, 1, runCommand(t, simrun, append(sweep, path)...))
		require.Equal(t, want, mergedFile(t, simrun, path))
	}
	t.Logf("%d kills, %d of them midway, over %d files", kills, midway, files)
	require.Positive(t, midway)
}

// Two sweeps do not write to one file: the second ends, and the first loses nothing.
func TestSweep_LocksItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	args := []string{"sweep", "pipeline", "--seeds", "1-20", "--resume", "--out", path}
	status, _, stderr := try(context.Background(), scenarios.Builtin(), args...)
	require.Equal(t, 0, status, stderr)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer file.Close()
	if !canLock(t) {
		t.Skip("there are no locks here")
	}
	require.False(t, isLockedElsewhere(file))
	status, _, stderr = try(context.Background(), scenarios.Builtin(), args...)
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "x.jsonl is being written by another sweep")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	require.NoError(t, file.Close())
	status, _, _ = try(context.Background(), scenarios.Builtin(), args...)
	assert.Equal(t, 0, status)
}

// canLock reports whether files can be locked here.
func canLock(t *testing.T) bool {
	path := filepath.Join(t.TempDir(), "lock")
	var files [2]*os.File
	for i := range files {
		var err error
		files[i], err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		require.NoError(t, err)
		defer files[i].Close()
	}
	return !isLockedElsewhere(files[0]) && isLockedElsewhere(files[1])
}

// What cannot be brought to the disk is an error of the sweep: closing twice stands for it.
func TestCloseResults_Fails(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "x.jsonl"))
	require.NoError(t, err)
	require.NoError(t, closeResults(file))
	assert.ErrorContains(t, closeResults(file), "x.jsonl cannot be written: ")
}

// mergedFile is the canonical form of a result file.
func mergedFile(t *testing.T, simrun, path string) string {
	out := path + ".merged"
	require.Equal(t, 1, runCommand(t, simrun, "merge", path, "-o", out, "-q"))
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(data)
}
