package faults

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/oncesim/oncesim/model"
	"github.com/stretchr/testify/require"
)

// One line of each shape, and every field that it sets.
func TestParse_fields(t *testing.T) {
	for line, want := range map[string]Fault{
		"crash op/1 before effect 3": {Action: model.Crash, Proc: "op/1", Point: model.Before,
			Scope: model.EveryEffect, N: 3},
		"crash op/1 after effect 2 of record input/1:7": {Action: model.Crash, Proc: "op/1",
			Point: model.After, Scope: model.RecordEffect, N: 2, Record: RecordName{"input", 1, 7}},
		"crash op/1 during effect 2 of start 4": {Action: model.Crash, Proc: "op/1",
			Point: model.During, Scope: model.StartEffect, N: 2, Life: 4},
		"crash op/1 during effect 2 of checkpoint 4": {Action: model.Crash, Proc: "op/1",
			Point: model.During, Scope: model.CheckpointEffect, N: 2, Checkpoint: 4},
		"crash op/1 at record 7": {Action: model.Crash, Proc: "op/1", Point: model.Before,
			Scope: model.RecordEffect, N: 1, Record: RecordName{Offset: 7}},
		"crash op/1 at 120ms": {Action: model.Crash, Proc: "op/1", Point: model.AtTime,
			At: 120_000_000},
		"crash sink/0 before ack of write 2": {Action: model.Crash, Proc: "sink/0",
			Point: model.BeforeAck, Scope: model.CallOfKind, Call: model.Write, N: 2},
		"pause source/0 after fetch 2 for 80ms": {Action: model.Pause, Proc: "source/0",
			Point: model.After, Scope: model.CallOfKind, Call: model.Fetch, N: 2, For: 80_000_000},
		"lose request of put 1 from op/0": {Action: model.LoseRequest, Proc: "op/0",
			Scope: model.CallOfKind, Call: model.Put, N: 1},
		"lose answer of put 1 from op/0": {Action: model.LoseAnswer, Proc: "op/0",
			Scope: model.CallOfKind, Call: model.Put, N: 1},
		"delay call read 1 of sink/0 by 3us": {Action: model.DelayRequest, Proc: "sink/0",
			Scope: model.CallOfKind, Call: model.Read, N: 1, For: 3_000},
		"duplicate call write 1 of sink/0 by 3ns": {Action: model.DuplicateRequest, Proc: "sink/0",
			Scope: model.CallOfKind, Call: model.Write, N: 1, For: 3},
		"lose data 5 from op/0 to sink/0": {Action: model.LoseMessage, Proc: "op/0",
			Peer: "sink/0", Scope: model.MessageOnChannel, Call: model.Data, N: 5},
		"delay ack 2 from sink/0 to op/0 by 3us": {Action: model.DelayMessage, Proc: "sink/0",
			Peer: "op/0", Scope: model.MessageOnChannel, Call: model.Ack, N: 2, For: 3_000},
		"duplicate data 5 from op/0 to sink/0 by 3ns": {Action: model.DuplicateMessage,
			Proc: "op/0", Peer: "sink/0", Scope: model.MessageOnChannel, Call: model.Data, N: 5,
			For: 3},
		"reorder data 5 from op/0 to sink/0": {Action: model.ReorderMessages, Proc: "op/0",
			Peer: "sink/0", Scope: model.MessageOnChannel, Call: model.Data, N: 5},
		"delay complete 2 from coordinator/0 to op/0 by 3us": {Action: model.DelayMessage,
			Proc: "coordinator/0", Peer: "op/0", Scope: model.MessageOnChannel,
			Call: model.Complete, N: 2, For: 3_000},
		"partition op/0 | store for 3us at put 2": {Action: model.CutLink, Proc: "op/0",
			Service: "store", Scope: model.CallOfKind, Call: model.Put, N: 2, For: 3_000},
		"partition op/0 | store for 3us at answer of put 2": {Action: model.CutLink, Proc: "op/0",
			Service: "store", Point: model.BeforeAck, Scope: model.CallOfKind, Call: model.Put,
			N: 2, For: 3_000},
		"partition op/0 | sink/0 for 3us at data 2": {Action: model.CutLink, Proc: "op/0",
			Peer: "sink/0", Scope: model.MessageOnChannel, Call: model.Data, N: 2, For: 3_000},
		"partition op/0 | sink/0 for 3us at 2us": {Action: model.CutLink, Proc: "op/0",
			Peer: "sink/0", Point: model.AtTime, At: 2_000, For: 3_000},
		"crash store for 3us at 2us": {Action: model.CrashService, Service: "store",
			Point: model.AtTime, At: 2_000, For: 3_000},
		"crash store for 3us at get 1 of op/0": {Action: model.CrashService, Service: "store",
			Proc: "op/0", Scope: model.CallOfKind, Call: model.Get, N: 1, For: 3_000},
		"refuse call put 3 of op/0": {Action: model.RefuseRequest, Proc: "op/0",
			Scope: model.CallOfKind, Call: model.Put, N: 3},
		"forget call write 3 of sink/0": {Action: model.ForgetRequest, Proc: "sink/0",
			Scope: model.CallOfKind, Call: model.Write, N: 3},
		"tear call upload 3 of op/0": {Action: model.TearRequest, Proc: "op/0",
			Scope: model.CallOfKind, Call: model.Upload, N: 3},
		"stale call get 3 of op/0": {Action: model.StaleRead, Proc: "op/0",
			Scope: model.CallOfKind, Call: model.Get, N: 3},
		"truncate input/1 before 3 at 2us": {Action: model.TruncateInput,
			Record: RecordName{"input", 1, 3}, Point: model.AtTime, At: 2_000},
		"truncate input/1 before 3 at fetch 2 of source/0": {Action: model.TruncateInput,
			Record: RecordName{"input", 1, 3}, Proc: "source/0", Scope: model.CallOfKind,
			Call: model.Fetch, N: 2},
		"poison record input/1:7 at op/0": {Action: model.PoisonRecord, Proc: "op/0",
			Record: RecordName{"input", 1, 7}, Scope: model.RecordEffect},
		"duplicate call write 1 of sink/0": {Action: model.DuplicateRequest, Proc: "sink/0",
			Scope: model.CallOfKind, Call: model.Write, N: 1},
	} {
		got, err := Parse(line)
		require.NoError(t, err, line)
		require.Equal(t, want, got, line)
		require.Equal(t, line, want.String())
	}
}

func TestParse_printsAsItReads(t *testing.T) {
	for _, c := range readCases(t, "testdata/lines.txt") {
		f, err := Parse(c.line)
		require.NoError(t, err, c.line)
		if c.want == "" {
			c.want = c.line
		}
		require.Equal(t, c.want, f.String())
		requireRoundTrip(t, f)
	}
}

func requireRoundTrip(t testing.TB, f Fault) {
	t.Helper()
	again, err := Parse(f.String())
	require.NoError(t, err, f.String())
	require.Equal(t, f, again)
	require.Equal(t, f.String(), again.String())
}

func TestParse_errors(t *testing.T) {
	for _, c := range readCases(t, "testdata/errors.txt") {
		f, err := Parse(c.line)
		require.EqualError(t, err, c.want, c.line)
		require.Zero(t, f)
		requireConsistent(t, c.line, err)
	}
}

// requireConsistent checks that an error points into its line at the word that it names.
func requireConsistent(t testing.TB, line string, err error) {
	t.Helper()
	var e *SyntaxError
	require.ErrorAs(t, err, &e)
	require.Positive(t, e.Column)
	require.LessOrEqual(t, e.Column, utf8.RuneCountInString(line)+1)
	rest := line
	for range e.Column - 1 {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	require.True(t, strings.HasPrefix(rest, e.Word), "%v in %q", e, line)
	require.NotEmpty(t, e.Expected)
}

func TestParse_errorFields(t *testing.T) {
	_, err := Parse("lose answer of wirte 1 from sink/0")
	require.Equal(t, &SyntaxError{Column: 16, Word: "wirte", Problem: "unknown call kind",
		Expected: "one of position, latest, fetch, offset-commit, get, put, write, read, " +
			"load-ids, load-outbox, update, mark, checkpoint-id, upload, completion, newest, " +
			"download, discard, write-batch, begin-txn, prepare-txn, commit-txn, abort-txn, " +
			"list-txns, plan-batch, finish-batch, newest-batch, init-txn",
		Nearest: "write"}, err)
}

// A line may come with the break that ended it, but not with another line.
func TestParse_lineBreaks(t *testing.T) {
	f, err := Parse("crash op/0 at record 7\r\n")
	require.NoError(t, err)
	require.Equal(t, "crash op/0 at record 7", f.String())

	_, err = Parse("crash op/0 at record 7 # why\ncrash op/1 at record 7")
	require.EqualError(t, err, `column 29: unexpected "\n", expected one fault a line`)
	_, err = ParsePlan("\r\r#")
	require.EqualError(t, err, `line 1, column 1: unexpected "\r", expected one fault a line`)
}

func TestParse_blank(t *testing.T) {
	for _, line := range []string{"", " \t", "# crash op/0 at record 7"} {
		_, err := Parse(line)
		require.EqualError(t, err, "column 1: end of line, expected one of crash, pause, lose, "+
			"delay, duplicate, reorder, partition, refuse, forget, tear, stale, truncate, poison")
	}
}

func TestParsePlan(t *testing.T) {
	plan, err := ParsePlan(
		"# A zombie source.",
		"pause source/0 before effect 1 of record 7 for 80ms",
		"",
		"crash sink/0 before ack of write 2 # and the sink dies",
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		"pause source/0 at record 7 for 80ms",
		"crash sink/0 before ack of write 2",
	}, plan.Lines())

	again, err := ParsePlan(plan.Lines()...)
	require.NoError(t, err)
	require.Equal(t, plan, again)
}

func TestParsePlan_nothing(t *testing.T) {
	plan, err := ParsePlan()
	require.NoError(t, err)
	require.Empty(t, plan)
	require.Empty(t, plan.Lines())
}

func TestParsePlan_errorCountsLines(t *testing.T) {
	plan, err := ParsePlan("", "crash op/0 at record 7", "crash op/0 on record 7")
	require.Nil(t, plan)
	require.EqualError(t, err, `line 3, column 12: unknown point "on", `+
		`expected one of before, during, after, at`)
}

// Whatever the line, Parse answers; what it reads prints as something that reads the same; and
// what it refuses, it refuses at a place in the line.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"testdata/lines.txt", "testdata/errors.txt"} {
		for _, c := range readCases(f, path) {
			f.Add(c.line)
		}
	}
	job := newJob(1, "coordinator")
	f.Fuzz(func(t *testing.T, line string) {
		fault, err := Parse(line)
		if err != nil {
			requireConsistent(t, line, err)
			return
		}
		requireRoundTrip(t, fault)
		if rules, err := (Plan{fault}).Compile(job); err == nil {
			requireSameRule(t, job, rules[0])
		}
	})
}
