package sim

import (
	"encoding/binary"

	"github.com/oncesim/oncesim/model"
)

// sum is a hash of 128 bits: two chains of products that share no constant. With n different things
// the chance that two have one sum is below n²/2^129: for 10^9 of them, 10^-20.
type sum struct{ a, b uint64 }

// sumOf begins a sum of things of some kind.
func sumOf(kind itemKind) sum { return sum{traceK8 + uint64(kind), traceK9 ^ uint64(kind)} }

func (s *sum) add(x, y uint64) {
	s.a, s.b = model.Mix(s.a^x, y^traceK1)+s.b, model.Mix(s.b^y, x^traceK2)
}

// plus adds another sum, in whatever order.
func (s *sum) plus(t sum) { s.a, s.b = s.a+t.a, s.b+t.b }

// minus takes one away again.
func (s *sum) minus(t sum) { s.a, s.b = s.a-t.a, s.b-t.b }

func (s *sum) bytes(list []byte) {
	n := uint64(len(list))
	for ; len(list) >= 16; list = list[16:] {
		s.add(binary.LittleEndian.Uint64(list), binary.LittleEndian.Uint64(list[8:]))
	}
	var tail [16]byte
	copy(tail[:], list)
	s.add(binary.LittleEndian.Uint64(tail[:]), binary.LittleEndian.Uint64(tail[8:])^n<<48)
}

func (s *sum) text(t string) { s.add(model.HashText(t), uint64(len(t))) }

func (s *sum) record(r *model.Record) {
	s.add(uint64(uint32(r.ID.Part))|uint64(uint32(r.Op))<<32, uint64(r.ID.Offset))
	s.add(uint64(r.Path), uint64(r.Value.Num))
	s.add(model.HashText(r.Key), model.HashText(r.Value.Text))
}

func (s *sum) records(list []model.Record) {
	s.add(uint64(len(list)), traceK3)
	for i := range list {
		s.record(&list[i])
	}
}

func (s *sum) message(m *model.Message) {
	s.add(uint64(m.Kind)|uint64(uint16(m.Channel))<<8|uint64(m.Flags)<<24|
		uint64(uint32(m.Attempt))<<32, uint64(uint32(m.Try)))
	s.add(uint64(m.Seq), uint64(m.N))
	s.add(uint64(m.Cursor), uint64(m.Token))
	s.record(&m.Record)
	s.records(m.Parts)
}

func (s *sum) answer(a *model.Answer) {
	s.add(answerFlags(a), uint64(a.Seq))
	s.add(uint64(a.N), uint64(a.Wait))
	s.add(uint64(a.Value.Num), model.HashText(a.Value.Text))
	s.records(a.Records)
}

func (s *sum) effect(e *model.Effect) {
	until := uint64(0)
	if e.UntilDone {
		until = 1
	}
	s.add(uint64(e.Kind)|until<<8|uint64(uint32(e.To))<<16, uint64(e.Service)|uint64(e.Outputs)<<32)
	s.add(uint64(e.Delay), uint64(e.Token))
	s.text(e.Reason)
	s.message(&e.Msg)
}

// Key is a hash of all that what may still happen, and what judges may say of it in the end, depend
// on: the world as it is, what is left of the budget, and the past as far as it is judged.
func (o *Ordered) Key() [2]uint64 {
	w := o.w
	k := sumOf(0)
	over := uint64(0)
	if o.isOver {
		over = 1
	}
	k.add(uint64(w.now), uint64(w.attempt)|over<<32)
	k.add(uint64(o.left.Crashes)|uint64(o.left.Timers)<<32, uint64(o.left.Lulls))
	for part := range o.arrived {
		k.add(uint64(o.arrived[part]), uint64(o.asker[part]))
	}
	for i := range o.nodes {
		k.add(o.nodes[i].a, o.nodes[i].b)
	}
	for i := range o.stores {
		k.add(o.stores[i].a, o.stores[i].b)
	}
	items := o.itemsSum()
	k.add(items.a, items.b)
	k.add(o.past.total.a, o.past.total.b)
	return [2]uint64{k.a, k.b}
}

// Ending is Key of a run that is over, without what is left of the budget: what nobody can use any
// more.
func (o *Ordered) Ending() [2]uint64 {
	left := o.left
	o.left = Budget{}
	k := o.Key()
	o.left = left
	return k
}

// itemsSum is the sum of what can happen: channels, each in its order, and everything else.
func (o *Ordered) itemsSum() (all sum) {
	for i := range o.items {
		if o.isBehind(i) {
			continue
		}
		one := o.itemSum(i)
		for k := i + 1; k < len(o.items); k++ {
			if o.items[i].isAhead(&o.items[k], o.w) {
				one.add(o.items[k].a, o.items[k].b)
			}
		}
		all.plus(one)
	}
	return all
}

// itemSum is the sum of one item, and of whom it is for.
func (o *Ordered) itemSum(i int) sum {
	it, w := &o.items[i], o.w
	s := sumOf(it.kind)
	if it.kind == 0 {
		return s
	}
	in := w.insts[it.inst]
	s.add(uint64(in.slot), uint64(in.self.Life))
	s.add(it.a, it.b)
	switch it.kind {
	case itemDeliver:
		from := w.insts[it.sender]
		s.add(uint64(from.slot), uint64(from.self.Life))
	case itemServe, itemAnswer:
		if w.calls[it.call].blocking {
			s.add(1, 1)
		}
		s.add(uint64(w.hist.Calls[it.call].Service), 0)
	case itemTimer:
		at := uint64(it.at)
		if it.isAsked {
			at = 0
		}
		s.add(uint64(it.token), at)
	}
	return s
}
