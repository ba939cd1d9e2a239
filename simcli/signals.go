package simcli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// notify returns a context that the first SIGINT or SIGTERM ends, with an *interrupted as its
// cause. A second one ends the process at once. stop gives the signals back.
func notify() (ctx context.Context, stop func()) {
	ignorePipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(causeOf(s))
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
