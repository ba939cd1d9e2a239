package search

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// part is what a task uploaded for a checkpoint.
type part struct{ checkpoint, task int64 }

// coordinates counts a request about checkpoints, transactions or batches, and reports whether it
// made anything durable.
func (m *meter) coordinates(req *model.Message) bool {
	numbers := 0 // that the request leaves behind
	switch req.Kind {
	case model.Upload:
		m.uploaded(req)
		return true
	case model.Completion:
		m.completed(req)
		numbers = 1
	case model.Discard:
		m.drop(func(checkpoint int64) bool { return checkpoint == req.Seq })
		numbers = 1
	case model.NextCheckpoint, model.FinishBatch:
		numbers = 1
	case model.InitTxn, model.BeginTxn, model.PrepareTxn, model.CommitTxn, model.AbortTxn:
		numbers = 3 // the id, the epoch, and the checkpoint or the timeout
	case model.PlanBatch:
		numbers = 1 + 2*len(req.Parts) // the batch, and its end in each partition
	default:
		return false
	}
	m.wrote(&m.Durable.Metadata, &m.BytesWritten.Metadata, numbers*numberBytes)
	return true
}

// uploaded counts a part of a checkpoint by what the task keeps in it: a source its position, an
// operator its state, a sink what waits for the completion, be it results or transactions; and any
// of them the records that were in flight. That an empty part is there is worth knowing as well.
func (m *meter) uploaded(req *model.Message) {
	role := m.res.Subject.Job.Tasks[req.Token].Role
	before := m.BytesWritten.State
	for i := range req.Parts {
		rec := &req.Parts[i]
		isFlight := int64(i) >= req.N
		switch size := len(rec.Key) + valueBytes(rec.Value); {
		case isFlight:
			m.wrote(&m.Durable.State, &m.BytesWritten.State, identityBytes+size)
		case role == model.Source:
			m.wrote(&m.Durable.Position, &m.BytesWritten.Position, positionBytes)
		case role == model.Operate:
			m.wrote(&m.Durable.State, &m.BytesWritten.State, size)
		case rec.Op > 0:
			m.output(rec)
		default:
			m.wrote(&m.Durable.Metadata, &m.BytesWritten.Metadata, 3*numberBytes)
		}
	}
	if len(req.Parts) == 0 {
		m.wrote(&m.Durable.Metadata, &m.BytesWritten.Metadata, 2*numberBytes)
	}
	m.parts[part{req.Seq, req.Token}] = m.BytesWritten.State - before
}

// completed drops the parts of checkpoints that are retained no longer.
func (m *meter) completed(req *model.Message) {
	m.retained = append(m.retained, req.Seq)
	m.retained = m.retained[max(0, int64(len(m.retained))-req.N):]
	m.drop(func(checkpoint int64) bool {
		return checkpoint < req.Seq && !slices.Contains(m.retained, checkpoint)
	})
}

func (m *meter) drop(isToGo func(checkpoint int64) bool) {
	for p := range m.parts {
		if isToGo(p.checkpoint) {
			delete(m.parts, p)
		}
	}
}
