package sim

import "github.com/oncesim/oncesim/model"

// changeFeed is a partition of a table: what changed in it, in order, and what it holds. A row is
// known by its place, the number of rows that were there before it. Changes are only ever added,
// so that what a reader was handed stays as it was.
//
//	changes[i]     what the row places[i] became
//	last[row]      the row's latest change: what it holds
//	whole          what readers of the whole table were handed, one after the other
type changeFeed struct {
	changes []model.Record
	places  []int64
	last    []int64
	whole   []model.Record
}

func (f *changeFeed) reset() {
	f.changes, f.places, f.last, f.whole = f.changes[:0], f.places[:0], f.last[:0], f.whole[:0]
}

// put makes a row hold rec. The row behind the last one is a new one. A put that changes nothing
// is no change.
func (f *changeFeed) put(row int64, rec *model.Record) {
	switch {
	case row == int64(len(f.last)):
		f.last = append(f.last, 0)
	case f.changes[f.last[row]] == *rec:
		return
	}
	f.last[row] = int64(len(f.changes))
	f.changes, f.places = append(f.changes, *rec), append(f.places, row)
}

// read answers with the changes from a cursor on, or with the table as it is.
func (f *changeFeed) read(req *model.Message, ans *model.Answer) {
	if req.Flags&model.Whole != 0 {
		from := len(f.whole)
		for _, change := range f.last {
			f.whole = append(f.whole, f.changes[change])
		}
		ans.Seq, ans.Records = 0, f.whole[from:len(f.whole):len(f.whole)]
	} else {
		ans.Seq, ans.Records = req.Cursor, f.changes[req.Cursor:]
	}
	ans.N = int64(len(ans.Records))
}

func (f *changeFeed) state(c *model.Codec) {
	if c.IsDecoding() {
		f.whole = nil // whoever was handed some of it keeps it
	}
	model.Slice(c, &f.changes, c.Record)
	model.Slice(c, &f.places, c.Int64)
	model.Slice(c, &f.last, c.Int64)
}
