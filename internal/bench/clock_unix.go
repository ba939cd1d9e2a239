//go:build unix

package bench

import (
	"syscall"
	"time"
)

// spent is the processor time that this process has had. On a machine that does other things too
// it says more than the time of day.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
