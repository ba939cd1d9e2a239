//go:build unix

package simcli

import (
	"os/signal"
	"syscall"
)

// ignorePipe makes a write to a pipe that nobody reads an error instead of the end of the process.
func ignorePipe() { signal.Ignore(syscall.SIGPIPE) }
