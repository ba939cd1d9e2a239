package simtest

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// panicked is a run that code of the test ended: an operator or a mode.
type panicked struct {
	value string
	where string // the function, without the path of its package
	line  string // the file, without its path, and the line
	stack string // all of it, which differs from run to run
}

// Error is the same for the same panic.
func (p *panicked) Error() string {
	return fmt.Sprintf("panic: %s\n  in %s, %s", p.value, p.where, p.line)
}

// catch calls a function and returns the panic that ends it, or nil.
func catch(do func()) (p *panicked) {
	defer func() {
		if v := recover(); v != nil {
			p = caught(v)
		}
	}()
	do()
	return nil
}

// caught describes a panic, in a deferred function: it happened in the innermost code that is not
// this module's.
func caught(v any) *panicked {
	p := &panicked{value: fmt.Sprint(v), stack: string(debug.Stack())}
	var pcs [256]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	isBegun := false // before it come the functions that the panic has called
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		isRuntime := strings.HasPrefix(f.Function, "runtime.")
		isBegun = isBegun || isRuntime
		if !isBegun || isRuntime {
			continue
		}
		if p.where != "" && strings.HasPrefix(f.Function, module+"/simtest.") {
			break // the rest is who called this package
		}
		if p.where == "" || !isOurs(&f) {
			p.where = path.Base(f.Function)
			p.line = fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		}
		if !isOurs(&f) {
			break
		}
	}
	return p
}

// module is the path of this module.
const module = "github.com/oncesim/oncesim"

// isOurs reports whether a frame is of this module: of its code, not of its tests.
func isOurs(f *runtime.Frame) bool {
	return strings.HasPrefix(f.Function, module+"/") && !strings.HasSuffix(f.File, "_test.go")
}

// verdict stands for those of a run that there are not, since it panicked.
func (p *panicked) verdict() model.Verdict {
	return model.Verdict{Property: "panic in " + p.where, Result: model.Violated}
}

// signature is that of a run under a mode that panicked.
func (p *panicked) signature(mode *model.Mode) string {
	return search.Signature(mode, []model.Verdict{p.verdict()})
}

// guard runs operators so that a panic of theirs does not end the run: it can then be made smaller
// like any other. What such a run does after it means nothing.
type guard struct {
	now  *panicked // the first of the run at hand
	last *panicked // of the run before
}

// next is called after each run.
func (g *guard) next(_, _ int) { g.last, g.now = g.now, nil }

// library is a library whose operators are guarded.
func (g *guard) library(lib *scenarios.Library) *scenarios.Library {
	own := *lib
	own.Operators = nil
	for _, op := range lib.Operators {
		own.Operators = append(own.Operators, g.operator(op))
	}
	own.Topologies = nil
	for _, t := range lib.Topologies {
		own.Topologies = append(own.Topologies, withOperators(t, own.Operators))
	}
	return &own
}

func (g *guard) operator(op *model.Operator) *model.Operator {
	own := *op
	own.Step = func(in model.Record, state model.Value, out *model.Outputs) (next model.Value) {
		defer func() {
			if v := recover(); v != nil {
				if next = state; g.now == nil {
					g.now = caught(v)
				}
			}
		}()
		return op.Step(in, state, out)
	}
	return &own
}

// withOperators is a topology with the operators of a library in place of its own, by their names.
func withOperators(t *model.Topology, operators []*model.Operator) *model.Topology {
	own := *t
	own.Stages = slices.Clone(t.Stages)
	for i := range own.Stages {
		for _, op := range operators {
			if op.Name == own.Stages[i].Operator.Name {
				own.Stages[i].Operator = op
			}
		}
	}
	return &own
}
