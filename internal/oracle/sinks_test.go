package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/semantics"
	"github.com/oncesim/oncesim/sim"
)

// tale is a story before a sink of its own choice, under parameters of its own.
type tale struct {
	story
	sink *model.SinkSpec
	set  []model.ParamValue
}

func (s *tale) tell(t *testing.T) {
	b := newBenchAt(t, s.mode, s.sink, s.top, records(s.every, s.in), s.set...)
	report := b.run(1, s.rules...)
	for i, n := range b.last.Reached {
		assert.NotZero(t, n, "fault %d strikes nothing", i)
	}
	if got := broken(report); !assert.Equal(t, sorted(s.want), got) {
		t.Log("\n" + report.String() + b.trace())
	}
}

// byIdentity: a row takes what its output says last.
var byIdentity = []tale{
	{sink: &sim.TableByIdentity, story: story{name: "a repeated write is no second row",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &double), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)}}},
	{sink: &sim.TableByIdentity, story: story{name: "a row that is written late comes later",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.DelayRequest, sinkTask, 0, model.Write, 1, 60*ms)},
		want:  "exactly-once reorder; order reorder"}},
	{sink: &sim.TableByIdentity, story: story{name: "a row is revised, and wrong in the end",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &count), every: slow, in: "a1",
		rules: []model.Rule{crash(opTask, model.After, model.Put, 1)},
		want: "at-most-once no-subsequence state-duplicate; exactly-once wrong-value " +
			"state-duplicate; exactly-once-state state-duplicate; " +
			"effectively-once state-duplicate"}},
	{sink: &sim.TableByIdentity, story: story{name: "a choice that nobody has seen is none",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &draw), every: slow, in: "a1",
		rules: []model.Rule{crash(opTask, model.After, model.Put, 1)}}},
	{sink: &sim.TableByIdentity, story: story{name: "a choice that is taken back is a revision",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &draw), every: slow, in: "a1",
		rules: []model.Rule{atEffect(model.Crash, opTask, model.After, 3, 0)},
		want:  "exactly-once revised; no-revision revised"}},
	{sink: &sim.IdentityLog, story: story{name: "a log that knows what it holds",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &double), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)}}},
	{sink: &sim.IdentityLog, story: story{name: "the first choice is shown and the second kept",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &draw), every: slow, in: "a1",
		rules: []model.Rule{atEffect(model.Crash, opTask, model.After, 3, 0)},
		want:  "at-most-once state-duplicate; exactly-once divergence"}},
}

// byKey: later outputs take the place of earlier ones.
var byKey = []tale{
	{sink: &sim.TableByKey, story: story{name: "what was superseded need not have been there",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.LoseRequest, sinkTask, 0, model.Write, 1, 0)}}},
	{sink: &sim.TableByKey, story: story{name: "the last write of a key is lost",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.LoseRequest, sinkTask, 0, model.Write, 2, 0)},
		want: "at-least-once loss; exactly-once loss wrong-value; " +
			"effectively-once wrong-value"}},
	{sink: &sim.TableByKey, story: story{name: "the only write of a key is lost",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &double), every: quick, in: "a1 b2",
		rules: []model.Rule{atCall(model.LoseRequest, sinkTask, 0, model.Write, 2, 0)},
		want:  "at-least-once loss; exactly-once loss; effectively-once wrong-value"}},
	{sink: &sim.TableByKey, story: story{name: "a late write takes the row back for good",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{atCall(model.DelayRequest, sinkTask, 0, model.Write, 1, 60*ms)},
		want: "exactly-once wrong-value regression; effectively-once wrong-value; " +
			"order regression"}},
	{sink: &sim.TableByKey, story: story{name: "a late write of another key takes nothing back",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &double), every: quick, in: "a1 b2",
		rules: []model.Rule{atCall(model.DelayRequest, sinkTask, 0, model.Write, 1, 60*ms)}}},
	{sink: &sim.TableByKey, story: story{name: "inputs of several keys meet in one row",
		mode: &semantics.AtMostOnce, top: chain(2, 1, &odd), every: quick, in: "a1 b3|c5 a7"}},
	{sink: &sim.TableByKey, story: story{name: "and one of them takes it back",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &odd), every: quick, in: "a1 b3",
		rules: []model.Rule{atCall(model.DelayRequest, sinkTask, 0, model.Write, 1, 60*ms)},
		want: "exactly-once wrong-value regression; effectively-once wrong-value; " +
			"order regression"}},
	{sink: &sim.TableByKey, story: story{name: "a replay shows older values on its way",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &double), every: quick, in: "a1 a2",
		rules: []model.Rule{crash(sourceTask, model.Before, model.OffsetCommit, 1)},
		want:  "at-most-once regression; exactly-once regression; order regression"}},
	{sink: &sim.TableByKey, story: story{name: "a version refuses what is stale",
		mode: &semantics.IdempotentByKey, top: chain(1, 1, &double), every: slow, in: "a1 a2",
		rules: []model.Rule{atCall(model.DuplicateRequest, sinkTask, 0, model.Write, 1, 60*ms)}}},
}

// durable: what is written in one step, and what services make of it.
var durable = []tale{
	{sink: &sim.IdentityLog, story: story{name: "dedup: a later life sends what was stored",
		mode: &semantics.Dedup, top: chain(1, 1, &count), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(opTask, model.After, model.Update, 1)}}},
	{sink: &sim.IdentityLog, story: story{name: "dedup: what one life chose the next one sends",
		mode: &semantics.Dedup, top: chain(1, 1, &lottery), every: slow, in: "a1 a2",
		rules: []model.Rule{crash(opTask, model.BeforeAck, model.Update, 2)}}},
	{sink: &sim.AppendLog, story: story{name: "dedup: the log does not know what it holds",
		mode: &semantics.Dedup, top: chain(1, 1, &count), every: slow, in: "a1",
		rules: []model.Rule{crash(sinkTask, model.After, model.Write, 1)},
		want:  "at-most-once duplicate; exactly-once duplicate"}},
	{sink: &sim.IdentityLog, set: []model.ParamValue{{Name: "fencing", Value: 0}},
		story: story{name: "dedup: nobody fences the updates of a replaced life",
			mode: &semantics.Dedup, top: chain(1, 1, &double), every: slow, in: "a1 a2 a3",
			rules: []model.Rule{atCall(model.Pause, opTask, model.Before, model.Update, 2,
				55*ms)},
			want: "mechanism zombie-write"}},
	{sink: &sim.IdentityLog, story: story{name: "dedup: the updates of a replaced life are fenced",
		mode: &semantics.Dedup, top: chain(1, 1, &double), every: slow, in: "a1 a2 a3",
		rules: []model.Rule{atCall(model.Pause, opTask, model.Before, model.Update, 2, 55*ms)}}},
	{sink: &sim.AppendLog, story: story{name: "acker: its process is no task",
		mode: &semantics.Acker, top: chain(1, 1, &count), every: slow, in: "a1 a2"}},
	{sink: &sim.AppendLog, story: story{name: "a put is forgotten",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &count), every: slow, in: "a1",
		rules: []model.Rule{atCall(model.ForgetRequest, opTask, 0, model.Put, 1, 0)},
		want: "at-most-once no-subsequence; exactly-once state-loss; " +
			"exactly-once-state state-loss; effectively-once state-loss"}},
	{sink: &sim.AppendLog, story: story{name: "a write is forgotten",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &double), every: slow, in: "a1",
		rules: []model.Rule{atCall(model.ForgetRequest, sinkTask, 0, model.Write, 1, 0)},
		want:  "at-least-once loss; exactly-once loss"}},
	{sink: &sim.AppendLog, story: story{name: "a write is refused",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &double), every: slow, in: "a1",
		rules: []model.Rule{atCall(model.RefuseRequest, sinkTask, 0, model.Write, 1, 0)},
		want:  "at-least-once loss; exactly-once loss"}},
	{sink: &sim.AppendLog, story: story{name: "a life begins from a stale state",
		mode: &semantics.AtMostOnce, top: chain(1, 1, &count), every: slow, in: "a1 a2 a3",
		rules: []model.Rule{crash(opTask, model.After, model.Put, 2),
			atCall(model.StaleRead, opTask, 0, model.Get, 2, 0)},
		want: "at-least-once loss; exactly-once loss wrong-value state-loss; " +
			"exactly-once-state state-loss; effectively-once state-loss"}},
	{sink: &sim.AppendLog, set: []model.ParamValue{{Name: "dead-letter", Value: 1}},
		story: story{name: "a record is set aside",
			mode: &semantics.AtLeastOnce, top: chain(1, 1, &count), every: slow, in: "a1 a2",
			rules: []model.Rule{poison(opTask, 0)},
			want: "at-least-once loss; exactly-once loss wrong-value state-loss; " +
				"exactly-once-state state-loss; effectively-once state-loss"}},
	{sink: &sim.AppendLog, set: []model.ParamValue{{Name: "dead-letter", Value: 1}},
		story: story{name: "a record is set aside that would have come to nothing",
			mode: &semantics.AtLeastOnce, top: chain(1, 1, &odd), every: slow, in: "a1 a2",
			rules: []model.Rule{poison(opTask, 1)}}},
	{sink: &sim.AppendLog, story: story{name: "two choices are shown",
		mode: &semantics.AtLeastOnce, top: chain(1, 1, &draw), every: slow, in: "a1",
		rules: []model.Rule{atEffect(model.Crash, opTask, model.After, 3, 0)},
		want: "at-most-once duplicate state-duplicate; exactly-once duplicate revised; " +
			"no-revision revised"}},
}

func TestVerdictsBeforeSinks(t *testing.T) {
	for _, group := range [][]tale{byIdentity, byKey, durable} {
		for _, s := range group {
			t.Run(s.name, s.tell)
		}
	}
}
