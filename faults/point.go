package faults

import (
	"fmt"
	"math"

	"github.com/oncesim/oncesim/model"
)

// point reads where in the work of its process a crash or a pause falls.
func (p *parser) point(f *Fault) {
	switch p.oneOf("unknown point", "before", "during", "after", "at") {
	case "before":
		f.Point = model.Before
		if p.accept("ack") {
			p.expect("of")
			f.Point = model.BeforeAck
		}
		p.event(f)
	case "during":
		f.Point = model.During
		p.event(f)
	case "after":
		f.Point = model.After
		p.event(f)
	case "at":
		p.recordOrTime(f)
	}
}

// recordOrTime reads what follows "at". A record stands for the first effect of handling it.
func (p *parser) recordOrTime(f *Fault) {
	if p.accept("record") {
		f.Point, f.Scope, f.N, f.Record = model.Before, model.RecordEffect, 1, p.record()
		return
	}
	f.Point, f.At = model.AtTime, p.duration()
}

// event reads an effect with what its ordinal counts, or a call.
func (p *parser) event(f *Fault) {
	if !p.accept("effect") {
		p.call(f)
		return
	}
	f.Scope, f.N = model.EveryEffect, p.ordinal(math.MaxInt64)
	if !p.accept("of") {
		return
	}
	switch p.oneOf("unknown scope", "record", "start", "checkpoint") {
	case "record":
		f.Scope, f.Record = model.RecordEffect, p.record()
	case "start":
		f.Scope, f.Life = model.StartEffect, int32(p.ordinal(math.MaxInt32))
	case "checkpoint":
		f.Scope, f.Checkpoint = model.CheckpointEffect, p.ordinal(math.MaxInt64)
	}
}

// call reads the kind and the ordinal of a transmission.
func (p *parser) call(f *Fault) {
	if !p.acceptCall(f) {
		p.fail("unknown call kind", "")
	}
}

// acceptCall reads a transmission that the fault can strike, if one comes next.
func (p *parser) acceptCall(f *Fault) bool {
	for _, k := range model.Kinds() {
		if f.fits(k) && p.accept(k.String()) {
			f.Scope, f.Call, f.N = model.CallOfKind, k, p.ordinal(math.MaxInt64)
			return true
		}
	}
	return false
}

// fits reports whether the fault can strike requests of a kind.
func (f Fault) fits(k model.Kind) bool {
	return k.IsCall() && f.Action.Fits(k) &&
		(f.Service == "" || f.Service == model.ServiceNames[k.Service()])
}

// callOf reads "call KIND N of PROCESS".
func (p *parser) callOf(f *Fault) {
	p.expect("call")
	p.call(f)
	p.expect("of")
	f.Proc = p.process()
}

// point is the inverse of parser.point.
func (f Fault) point() string {
	switch {
	case f.Point == model.AtTime:
		return "at " + FormatDuration(f.At)
	case f.Point == model.Before && f.Scope == model.RecordEffect && f.N == 1:
		return "at record " + f.Record.String()
	case f.Point < model.Before || f.Point > model.After:
		return unsaid
	}
	return f.Point.String() + " " + f.event()
}

func (f Fault) event() string {
	switch f.Scope {
	case model.EveryEffect:
		return fmt.Sprintf("effect %d", f.N)
	case model.RecordEffect:
		return fmt.Sprintf("effect %d of record %s", f.N, f.Record)
	case model.StartEffect:
		return fmt.Sprintf("effect %d of start %d", f.N, f.Life)
	case model.CheckpointEffect:
		return fmt.Sprintf("effect %d of checkpoint %d", f.N, f.Checkpoint)
	}
	return f.call()
}

func (f Fault) call() string {
	if f.Scope != model.CallOfKind || !f.fits(f.Call) {
		return unsaid
	}
	return fmt.Sprintf("%s %d", f.Call, f.N)
}

func (f Fault) callOf() string { return "call " + f.call() + " of " + f.Proc }

// pointSyntax lists the forms of a point for help.
func pointSyntax() []string {
	return []string{
		"before|during|before ack of|after effect N [of record RECORD|start N|checkpoint N]",
		"before|during|before ack of|after KIND N",
		"at record RECORD",
		"at DURATION",
	}
}
