package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// inputLog is the replayable partitioned log and its committed offsets. Records become readable
// as they arrive; a committed offset is the next one to read, and the last commit wins, as in
// Kafka (documentation, "Message Delivery Semantics"). What was truncated is gone; committed
// offsets stay where they were.
type inputLog struct {
	input     *model.Input
	committed []int64
	first     []int64 // per partition: the first offset that is left
}

func newInputLog(input *model.Input) *inputLog {
	return &inputLog{input: input, committed: make([]int64, len(input.Parts)),
		first: make([]int64, len(input.Parts))}
}

// Reset implements model.Service.
func (l *inputLog) Reset() {
	clear(l.committed)
	clear(l.first)
}

// truncate takes away what comes before a record.
func (l *inputLog) truncate(id model.ID) {
	l.first[id.Part] = max(l.first[id.Part],
		min(id.Offset, int64(len(l.input.Parts[id.Part].Records))))
}

// lastArrival is when the newest record of a partition that can be read arrived; 0: there is none.
func (l *inputLog) lastArrival(now int64, part int32) int64 {
	arrived := l.arrived(now, part)
	if arrived == 0 {
		return 0
	}
	return l.input.Parts[part].Arrival(arrived - 1)
}

// arrived is the number of records of a partition that can be read.
func (l *inputLog) arrived(now int64, part int32) int64 {
	p := &l.input.Parts[part]
	return min(now/p.Every, int64(len(p.Records)))
}

// Serve implements model.Service.
func (l *inputLog) Serve(now int64, req *model.Message, ans *model.Answer) {
	part := req.Record.ID.Part
	switch req.Kind {
	case model.Position:
		ans.Seq = l.committed[part]
	case model.Latest:
		ans.Seq = l.arrived(now, part)
	case model.OffsetCommit:
		l.committed[part] = req.Seq
	case model.Fetch:
		l.fetch(now, req, ans)
	default:
		panic(fmt.Sprintf("sim: the input log does not serve %s", req.Kind))
	}
}

func (l *inputLog) fetch(now int64, req *model.Message, ans *model.Answer) {
	part := req.Record.ID.Part
	p := &l.input.Parts[part]
	from := max(req.Seq, l.first[part])
	to := max(from, min(l.arrived(now, part), from+req.N))
	ans.Seq, ans.N, ans.Records = from, to-from, p.Records[from:to]
	ans.End = to == int64(len(p.Records))
	if from == to && !ans.End {
		ans.Wait = p.Arrival(from) - now
	}
}

// State implements model.Service.
func (l *inputLog) State(c *model.Codec) {
	model.Slice(c, &l.committed, c.Int64)
	model.Slice(c, &l.first, c.Int64)
}
