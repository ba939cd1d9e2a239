package simcli

import (
	"fmt"
	"io"
	"os"
	"time"
)

// isTerminal reports whether w is a terminal. The null device is a character device too, and no
// terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// isColourful reports whether w is a terminal that wants colour.
func isColourful(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// progress says how far the work is, on a terminal in one line. The zero progress is silent.
type progress struct {
	to    io.Writer
	what  string
	began time.Time
	shown time.Time
	plain bool          // it is no terminal: lines behind each other
	every time.Duration // of these
}

// plainEvery is how often a line says how far the work is, where diagnostics are no terminal.
const plainEvery = 10 * time.Second

// newProgress returns a progress that is silent if no diagnostics are wanted. What is no terminal
// gets a line now and then, and none of what is done soon.
func (a *app) newProgress(what string) *progress {
	if a.quiet {
		return &progress{}
	}
	now := time.Now()
	if !isTerminal(a.log) {
		return &progress{to: a.log, what: what, began: now, shown: now, plain: true,
			every: plainEvery}
	}
	return &progress{to: a.log, what: what, began: now, every: 100 * time.Millisecond}
}

// step shows how much is done.
func (p *progress) step(done, all int) {
	p.show(func(spent time.Duration) string { return progressText(p.what, done, all, spent) })
}

// count is step for what has no known end.
func (p *progress) count(done int) {
	p.show(func(spent time.Duration) string {
		return fmt.Sprintf("%d %s, %.1f/s", done, p.what, float64(done)/max(spent.Seconds(), 1e-9))
	})
}

// until is step for what ends when a time is over.
func (p *progress) until(done int, span time.Duration) {
	p.show(func(spent time.Duration) string { return untilText(p.what, done, span, spent) })
}

// show shows a line, if it is time for one.
func (p *progress) show(text func(spent time.Duration) string) {
	if p.to == nil || time.Since(p.shown) < p.every {
		return
	}
	p.shown = time.Now()
	if p.plain {
		fmt.Fprintln(p.to, text(time.Since(p.began)))
		return
	}
	fmt.Fprintf(p.to, "\r\x1b[K%s", text(time.Since(p.began)))
}

// untilText is the line of what ends when a time is over.
func untilText(what string, done int, span, spent time.Duration) string {
	return fmt.Sprintf("%d %s, %.1f/s, %s left", done, what,
		float64(done)/max(spent.Seconds(), 1e-9), max(span-spent, 0).Round(time.Second))
}

// progressText is the line: how much is done, how fast, and how long the rest takes at that rate.
func progressText(what string, done, all int, spent time.Duration) string {
	text := fmt.Sprintf("%d of %d %s, %d%%", done, all, what, 100*done/max(all, 1))
	if done == 0 || spent <= 0 {
		return text
	}
	rate := float64(done) / spent.Seconds()
	left := time.Duration(float64(all-done) / rate * float64(time.Second))
	return fmt.Sprintf("%s, %.1f/s, %s left", text, rate, left.Round(time.Second))
}

// end takes the line away.
func (p *progress) end() {
	if p.to != nil && !p.plain {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
