package sim

// survey completes the extent of a run that has ended: what its tasks applied, and the input.
func (w *World) survey() {
	e := &w.hist.Extent
	for p := range w.input.Parts {
		e.Input = append(e.Input, int64(len(w.input.Parts[p].Records)))
	}
	words := (w.input.Total() + 63) / 64
	if len(w.seen) < words*len(w.slots) {
		w.seen = make([]uint64, words*len(w.slots))
	}
	clear(w.seen)
	for i := range w.hist.Applications {
		a := &w.hist.Applications[i]
		if !w.input.Has(a.In.ID) {
			continue
		}
		n := w.input.Index(a.In.ID)
		word, bit := &w.seen[int(a.Proc)*words+n/64], uint64(1)<<(n%64)
		if *word&bit == 0 {
			*word |= bit
			e.Seen[a.Proc] = append(e.Seen[a.Proc], a.In.ID)
		}
	}
}
