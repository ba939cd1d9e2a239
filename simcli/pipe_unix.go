//go:build unix

package simcli

import (
	"errors"
	"os/signal"
	"syscall"
)

// ignorePipe makes a write to a pipe that nobody reads an error instead of the end of the process.
func ignorePipe() { signal.Ignore(syscall.SIGPIPE) }

// isBrokenPipe reports whether nobody reads any more, as behind "| head": whoever stopped reading
// has seen enough, and wants no complaint.
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
