package faults

import (
	"fmt"
	"math"

	"github.com/oncesim/oncesim/model"
)

// begins reads when a fault begins that strikes for a while: at a time, or at the request, answer
// or message that is the first it strikes. The other side of a partition has been read, and so has
// the process whose request or message it is; without one its name follows.
func (p *parser) begins(f *Fault) {
	p.expect("at")
	switch {
	case f.Peer != "":
		if kind, ok := p.acceptMessage(); ok {
			f.Scope, f.Call, f.N = model.MessageOnChannel, kind, p.ordinal(math.MaxInt64)
			return
		}
	case f.Action == model.CutLink && p.accept("answer"):
		p.expect("of")
		f.Point = model.BeforeAck
		p.call(f)
		return
	case p.acceptCall(f):
		if f.Action != model.CutLink {
			p.expect("of")
			f.Proc = p.process()
		}
		return
	}
	f.Point, f.At = model.AtTime, p.duration()
}

// begins is the inverse of parser.begins.
func (f Fault) begins() string {
	switch {
	case f.Point == model.AtTime:
		return "at " + FormatDuration(f.At)
	case f.Point == model.BeforeAck:
		return "at answer of " + f.call()
	case f.Point != 0:
		return unsaid
	case f.Scope == model.MessageOnChannel && f.Call.IsMessage():
		return fmt.Sprintf("at %s %d", f.Call, f.N)
	case f.Action == model.CutLink:
		return "at " + f.call()
	}
	return "at " + f.call() + " of " + f.Proc
}

// acceptService reads the name of a service, if one comes next.
func (p *parser) acceptService() (name string, ok bool) {
	for _, name := range model.ServiceNames {
		if p.accept(name) {
			return name, true
		}
	}
	return "", false
}
