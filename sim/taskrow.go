package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// taskRow is what the state store keeps for one task beside keyed state. Its lists only grow during
// a run, so that what a task was handed stays as it was.
//
//	fence           the highest attempt that asked with a fence
//	catalogs[c]     what was taken up on input channel c
//	outbox[first:]  the outputs that are not known to be delivered; the index is the number
type taskRow struct {
	fence    fence
	catalogs []catalog
	outbox   []model.Record
	first    int64
}

func (r *taskRow) reset() {
	r.fence, r.outbox, r.first = 0, r.outbox[:0], 0
	for i := range r.catalogs {
		r.catalogs[i].reset()
	}
	r.catalogs = r.catalogs[:0]
}

// catalog returns the catalog of an input channel, an empty one if there is none yet.
func (r *taskRow) catalog(channel int16) *catalog {
	if channel < 0 {
		panic(fmt.Sprintf("sim: the catalog of channel %d", channel))
	}
	for n := len(r.catalogs); n <= int(channel); n++ {
		r.catalogs = grown(r.catalogs, n+1)
		r.catalogs[n].reset()
	}
	return &r.catalogs[channel]
}

// takeUp enters an input in its catalog. For one that is there already it reports false, and the
// answer is the one of the first time: the number of the first of its outputs.
func (r *taskRow) takeUp(req *model.Message, ans *model.Answer) bool {
	ids := r.catalog(req.Channel)
	if at, known := ids.index[inputOf(&req.Record)]; known {
		ans.Outcome, ans.Seq = model.DoneBefore, ids.outputs[at]
		return false
	}
	if req.Flags&model.InOrder != 0 && req.Seq <= ids.last {
		// A late copy: its first answer named its outputs, and nobody waits for this one.
		ans.Outcome, ans.Seq = model.DoneBefore, int64(len(r.outbox))
		return false
	}
	ans.Seq = int64(len(r.outbox))
	ids.add(req, ans.Seq)
	return true
}

func (r *taskRow) state(c *model.Codec) {
	r.fence.state(c)
	model.Slice(c, &r.outbox, c.Record)
	c.Int64(&r.first)
	n := c.Len(len(r.catalogs))
	if c.IsDecoding() && n > 0 {
		r.catalog(int16(n - 1))
	}
	for i := range r.catalogs {
		r.catalogs[i].state(c)
	}
}

// inputKey is what makes two inputs of one channel the same: all have one sender, and one operator
// emitted them.
type inputKey struct {
	id   model.ID
	path model.Path
}

func inputOf(r *model.Record) inputKey { return inputKey{id: r.ID, path: r.Path} }

// catalog is the inputs that were taken up on one channel, as far as it remembers.
//
//	last           the highest number taken up, or -1
//	list[from:]    the identities, oldest first, with the number in Value.Num
//	outputs[i]     the number of the first output of list[i]
//	index          where an input is in list[from:]
type catalog struct {
	last    int64
	list    []model.Record
	from    int
	outputs []int64
	index   map[inputKey]int
}

func (k *catalog) reset() {
	k.last, k.list, k.from, k.outputs = -1, k.list[:0], 0, k.outputs[:0]
	if k.index == nil {
		k.index = map[inputKey]int{}
	}
	clear(k.index)
}

// add enters an input, and forgets the oldest ones beyond the horizon that the request names.
func (k *catalog) add(req *model.Message, output int64) {
	if req.N < 0 {
		panic(fmt.Sprintf("sim: a catalog of %d inputs", req.N))
	}
	k.last = max(k.last, req.Seq)
	k.index[inputOf(&req.Record)] = len(k.list)
	k.list = append(k.list, model.Record{ID: req.Record.ID, Path: req.Record.Path,
		Op: req.Record.Op, Value: model.Value{Num: req.Seq}})
	k.outputs = append(k.outputs, output)
	for ; int64(len(k.list)-k.from) > req.N; k.from++ {
		delete(k.index, inputOf(&k.list[k.from]))
	}
}

func (k *catalog) load(ans *model.Answer) {
	ans.Seq, ans.Records = k.last, k.list[k.from:len(k.list):len(k.list)]
	ans.N = int64(len(ans.Records))
}

func (k *catalog) state(c *model.Codec) {
	from := int64(k.from)
	c.Int64(&k.last)
	c.Int64(&from)
	k.from = int(from)
	model.Slice(c, &k.list, c.Record)
	model.Slice(c, &k.outputs, c.Int64)
	if !c.IsDecoding() {
		return
	}
	clear(k.index)
	for i := k.from; i < len(k.list); i++ {
		k.index[inputOf(&k.list[i])] = i
	}
}

// grown is a list of n items at least; those that it had before hold what memory they have.
func grown[T any](list []T, n int) []T {
	for len(list) < n {
		if len(list) < cap(list) {
			list = list[:len(list)+1]
			continue
		}
		var empty T
		list = append(list, empty)
	}
	return list
}
