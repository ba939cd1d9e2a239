package faults

import (
	"fmt"
	"math"

	"github.com/oncesim/oncesim/model"
)

// messageSyntax is the form of a message for help.
const messageSyntax = "MESSAGE N from PROCESS to PROCESS"

// acceptMessage reads the kind of a message between two processes, if one comes next.
func (p *parser) acceptMessage() (kind model.Kind, ok bool) {
	for _, kind := range model.Kinds() {
		if kind.IsMessage() && p.accept(kind.String()) {
			return kind, true
		}
	}
	return model.NoKind, false
}

// message reads what follows the kind of a message.
func (p *parser) message(kind model.Kind, f *Fault) {
	f.Scope, f.Call, f.N = model.MessageOnChannel, kind, p.ordinal(math.MaxInt64)
	p.expect("from")
	f.Proc = p.process()
	p.expect("to")
	f.Peer = p.process()
}

// callOrMessage reads what a fault of requests and messages strikes. Where it is a message, the
// action becomes the one given.
func (p *parser) callOrMessage(f *Fault, action model.Action) {
	if kind, ok := p.acceptMessage(); ok {
		f.Action = action
		p.message(kind, f)
		return
	}
	p.callOf(f)
}

// message is the inverse of parser.message, with the kind.
func (f Fault) message() string {
	if f.Scope != model.MessageOnChannel || !f.Call.IsMessage() {
		return unsaid
	}
	return fmt.Sprintf("%s %d from %s to %s", f.Call, f.N, f.Proc, f.Peer)
}

func (f Fault) callOrMessage() string {
	if f.Action.HitsMessage() {
		return f.message()
	}
	return f.callOf()
}
