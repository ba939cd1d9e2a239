package simcli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/scenarios"
)

// The exit statuses.
const (
	statusOK          = 0   // all is as expected
	statusViolated    = 1   // a claimed property was violated
	statusUsage       = 2   // usage, configuration, input or output
	statusUnknown     = 3   // nothing was decided: a budget was spent, or nothing to check
	statusDiffers     = 4   // non-determinism: a hash differs between runs of one scenario
	statusStale       = 5   // a replay file does not fit any more
	statusUnmet       = 6   // an expectation was not met
	statusInternal    = 70  // a bug of ours
	statusInterrupted = 130 // SIGINT; what was done is written
	statusTerminated  = 143 // SIGTERM; what was done is written
)

// severity orders the statuses, worst first.
var severity = []int{statusInternal, statusDiffers, statusUsage, statusInterrupted,
	statusTerminated, statusStale, statusUnmet, statusViolated, statusUnknown, statusOK}

// worst is the worse of two statuses.
func worst(a, b int) int {
	if slices.Index(severity, a) < slices.Index(severity, b) {
		return a
	}
	return b
}

// failure is an error that has a status of its own.
type failure struct {
	status int
	err    error
}

// Error is that of the error.
func (f *failure) Error() string { return f.err.Error() }

// Unwrap returns the error.
func (f *failure) Unwrap() error { return f.err }

func fail(status int, format string, args ...any) error {
	return &failure{status, fmt.Errorf(format, args...)}
}

// statusOf is the status of an error: usage, unless it says otherwise.
func statusOf(err error) int {
	var f *failure
	switch {
	case err == nil:
		return statusOK
	case errors.As(err, &f):
		return f.status
	case errors.Is(err, scenarios.ErrEmptyInput):
		return statusUnknown
	}
	return statusUsage
}
