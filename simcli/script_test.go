package simcli_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/simcli"
)

// TestMain lets garbage grow to four times what lives, here and in the commands of scripts, which
// are this program too: it makes many small worlds, of which little lives at a time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	testscript.Main(m, map[string]func(){
		"simrun": func() { simcli.Main(scenarios.Builtin()) },
	})
}

// The scripts of testdata/script say what the command does: flags, messages, exit statuses.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"makelog": makeLog,
		},
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			// A program under the race detector sleeps for a second when it ends.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
	})
}

// exits runs a command and checks its exit status: "exits 2 simrun run nothing".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// makeLog writes an input that is no good as a file of testdata: "makelog KIND FILE".
func makeLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: makelog KIND FILE")
	}
	const line = `visitor-0006 - - [17/May/2015:10:05:37 +0000] "GET / HTTP/1.1" 200 37932` + "\n"
	data, ok := map[string]string{
		"long":   line + strings.Repeat("x", 1<<20+1) + "\n" + line,
		"binary": "\x00\x01\x02" + line,
		"crlf":   strings.ReplaceAll(line+line, "\n", "\r\n"),
		"empty":  "",
	}[args[0]]
	if !ok {
		ts.Fatalf("unknown kind %q", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data), 0o644))
}
