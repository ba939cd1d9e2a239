package simcli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// notify returns a context that the first SIGINT or SIGTERM ends, with an *interrupted as its
// cause; told is told of it too. A second one ends the process at once. stop gives the signals
// back.
func notify(told func(*interrupted)) (ctx context.Context, stop func()) {
	ignorePipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cause := causeOf(s)
			cancel(cause)
			told(cause)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
	}
}

func causeOf(s os.Signal) *interrupted {
	if s == syscall.SIGTERM {
		return &interrupted{"terminated", statusTerminated}
	}
	return &interrupted{"interrupted", statusInterrupted}
}

// waiting knows whether the command does something that looks at no context: it reads what may be a
// pipe, or makes a single run. There is nothing to show of that, and a signal ends the process at
// once.
type waiting struct {
	exit func(*interrupted) // does not return; nil: signals are not the command's business

	mu    sync.Mutex
	depth int
	cause *interrupted // of a signal that came
}

// during does something that looks at no context.
func (w *waiting) during(do func()) {
	w.enter(1)
	defer w.enter(-1)
	do()
}

func (w *waiting) enter(by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.depth += by
	w.end()
}

// interrupt is told of a signal.
func (w *waiting) interrupt(cause *interrupted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cause = cause
	w.end()
}

func (w *waiting) end() {
	if w.depth > 0 && w.cause != nil && w.exit != nil {
		w.exit(w.cause)
	}
}
