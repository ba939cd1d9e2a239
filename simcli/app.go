package simcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// Main runs the command with the arguments of the process and exits. It does not return.
func Main(lib *scenarios.Library) {
	a := &app{lib: lib, program: programName(), in: os.Stdin, out: &output{to: os.Stdout},
		log: os.Stderr}
	a.waits.exit = func(cause *interrupted) {
		a.say(cause)
		os.Exit(cause.status)
	}
	ctx, stop := notify(a.waits.interrupt)
	status := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// Run runs the command and returns its exit status. It is Main for tests: signals are not its
// business, and neither are the streams and arguments of the process.
func Run(lib *scenarios.Library, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{lib: lib, program: "simrun", in: stdin, out: &output{to: stdout}, log: stderr}
	return a.run(context.Background(), args)
}

func programName() string {
	if len(os.Args) == 0 || os.Args[0] == "" {
		return "simrun"
	}
	return filepath.Base(os.Args[0])
}

// app is one call of the command.
type app struct {
	lib     *scenarios.Library
	program string
	in      io.Reader
	out     *output
	log     io.Writer
	args    []string // as they were given
	quiet   bool
	status  int    // the worst so far
	doing   string // what runs now: said first if it panics
	waits   waiting
}

// interrupted is the cause of a context that a signal ended.
type interrupted struct {
	name   string
	status int
}

// Error names the signal.
func (i *interrupted) Error() string { return i.name }

// run executes the command. A panic anywhere below is a bug: what was running is said first.
func (a *app) run(ctx context.Context, args []string) (status int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(a.log, "%s: internal error in %s: %v\n%s", a.program, a.doing, r,
				debug.Stack())
			status = statusInternal
		}
	}()
	a.doing = "the command line"
	if err := checkNames(a.lib); err != nil {
		a.say(err)
		return statusUsage
	}
	root := a.root()
	a.args = args
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil && !errors.Is(err, a.out.err) {
		err = exclusive(err)
		a.say(err)
		a.note(statusOf(err))
	}
	var cause *interrupted
	if errors.As(context.Cause(ctx), &cause) {
		a.note(cause.status)
	}
	if a.out.err != nil {
		a.note(statusUsage)
	}
	if a.out.err != nil && !isBrokenPipe(a.out.err) {
		a.say(fmt.Errorf("the result cannot be written: %w", a.out.err))
	}
	return a.status
}

// note remembers a status if it is the worst so far.
func (a *app) note(status int) { a.status = worst(a.status, status) }

// say writes a diagnostic.
func (a *app) say(err error) { fmt.Fprintf(a.log, "%s: %v\n", a.program, err) }

// tell writes a diagnostic that -q silences.
func (a *app) tell(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.log, format+"\n", args...)
	}
}

// style is how to write the result.
func (a *app) style() report.Style {
	if isColourful(a.out.to) {
		return report.Colour
	}
	return report.Plain
}

// output is standard output. It remembers the first error; nothing is written after it.
type output struct {
	to  io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	o.err = err
	return n, err
}

// print writes a part of the result; run reports an error.
func (o *output) print(text string) { _, _ = io.WriteString(o, text) }

// json writes a document as the result.
func (o *output) json(doc any) { _, _ = o.Write(report.JSON(doc)) }
