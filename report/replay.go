package report

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Outcome is what running a saved scenario again came to.
type Outcome uint8

// The outcomes.
const (
	Unrecorded Outcome = iota // nothing was recorded to compare with
	Exact                     // the same trace
	Reproduces                // the same failure, another trace
	Fixed                     // nothing is violated any more
	Otherwise                 // it fails, and not as it did
	Stale                     // a fault is not reached any more: it tests nothing
	Differs                   // another trace, although the same code made it
)

// Outcome compares a run with what was recorded of it, and says it in a line. The hash comes first:
// where it is the same, everything is. Then comes whether the run is still about the same thing.
func (c *Case) Outcome() (Outcome, string) {
	r, signature := c.Scenario.Recorded, Signature(c)
	lost := strings.Join(NotReached(c), "; ")
	hash := c.Result.Subject.History.End.Hash
	switch {
	case r == nil && lost != "":
		return Stale, "nothing was recorded; not reached: " + lost
	case r == nil:
		return Unrecorded, "nothing was recorded; now " + signature
	case r.Hash == hash:
		return Exact, "exact"
	case lost != "":
		return Stale, "stale, not reached any more: " + lost
	case isSameCode(r):
		return Differs, fmt.Sprintf("differs, although version %s made it: hash was %016x, "+
			"is %016x", r.Version, r.Hash, hash)
	case r.Signature == signature:
		return Reproduces, "reproduces, trace changed since " + madeBy(r)
	case c.isClean():
		return Fixed, "fixed, was " + r.Signature
	}
	return Otherwise, fmt.Sprintf("fails otherwise: was %s, is %s", r.Signature, signature)
}

// isClean reports whether a run violates nothing, as far as is known.
func (c *Case) isClean() bool {
	return !slices.ContainsFunc(c.Result.Verdicts, func(v model.Verdict) bool {
		return v.Result == model.Violated
	})
}

// Record is what is recorded of the run when it is saved.
func (c *Case) Record() *scenarios.Recorded {
	return &scenarios.Recorded{Hash: c.Result.Subject.History.End.Hash, Signature: Signature(c),
		Version: Version(), Format: scenarios.GoldenVersion}
}

// isSameCode reports whether the code that recorded a run is the code that runs.
func isSameCode(r *scenarios.Recorded) bool {
	info, ok := debug.ReadBuildInfo()
	return ok && isOfVersion(r, info.Main.Path, Version())
}

// isOfVersion reports whether a program, by its main module and the version of this one, is the one
// that recorded a run. A version of a checkout does not say so, and neither does one where this
// module is only a part of the program: the other parts may have operators.
func isOfVersion(r *scenarios.Recorded, program, version string) bool {
	return program == module && r.Format == scenarios.GoldenVersion && r.Version == version &&
		version != develVersion && !strings.HasSuffix(version, "+dirty")
}

func madeBy(r *scenarios.Recorded) string {
	if r.Version == "" {
		return "it was recorded"
	}
	return r.Version
}

// module is the path under which the build knows this module, also where it is a dependency.
const module = "github.com/oncesim/oncesim"

// develVersion is the version of a build from a checkout.
const develVersion = "(devel)"

// Version is the version of this module in the build that runs.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return develVersion
	}
	modules := append([]*debug.Module{&info.Main}, info.Deps...)
	at := slices.IndexFunc(modules, func(m *debug.Module) bool { return m.Path == module })
	if at < 0 {
		return develVersion
	}
	m := modules[at]
	if m.Replace != nil {
		m = m.Replace
	}
	if m.Version == "" {
		return develVersion
	}
	return m.Version
}
