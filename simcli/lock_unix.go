//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package simcli

import (
	"errors"
	"os"
	"syscall"
)

// isLockedElsewhere locks a file until it is closed, or the process ends in whatever way, and
// reports whether another process has it. A file system that has no locks is trusted.
func isLockedElsewhere(f *os.File) bool {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK)
}
