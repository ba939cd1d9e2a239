package checker

import "github.com/oncesim/oncesim/model"

// unbatched returns a history in which each batch is as many writes, asked for and answered
// together: what is in a batch takes places one after the other. Of a batch that had been there
// before nothing is known. Where a row was written by another request too, the places are not known
// either: a log by identity passes over what it has.
func unbatched(h *model.History) *model.History {
	type name struct {
		part int64
		id   model.ID
		op   int32
		path model.Path
	}
	nameOf := func(part int64, rec *model.Record) name {
		return name{part, rec.ID, rec.Op, rec.Path}
	}
	times := map[name]int{}
	for i := range h.Calls {
		req := &h.Calls[i].Req
		switch req.Kind {
		case model.Write:
			times[nameOf(req.Seq, &req.Record)]++
		case model.WriteBatch:
			for k := range req.Parts {
				times[nameOf(req.Seq, &req.Parts[k])]++
			}
		}
	}
	flat := *h
	flat.Calls, flat.Servings = nil, nil
	first := make([]int32, len(h.Calls))
	for i := range h.Calls {
		call := h.Calls[i]
		first[i] = int32(len(flat.Calls))
		if call.Req.Kind != model.WriteBatch {
			flat.Calls = append(flat.Calls, call)
			continue
		}
		for k := range call.Req.Parts {
			row := call
			row.Req.Kind, row.Req.Record, row.Req.Parts = model.Write, call.Req.Parts[k], nil
			row.Ans.Seq = call.Ans.Seq + int64(k)
			switch {
			case call.Outcome == model.DoneBefore:
				row.Outcome = model.Refused
			case times[nameOf(call.Req.Seq, &call.Req.Parts[k])] > 1:
				row.Outcome = model.Unknown
			}
			flat.Calls = append(flat.Calls, row)
		}
	}
	for i := range h.Servings {
		s := h.Servings[i]
		rows := 1
		if req := &h.Calls[s.Call].Req; req.Kind == model.WriteBatch {
			rows = len(req.Parts)
		}
		s.Call = first[s.Call]
		for range rows {
			flat.Servings = append(flat.Servings, s)
			s.Call++
		}
	}
	return &flat
}
