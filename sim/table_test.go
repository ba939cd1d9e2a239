package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/sim"
)

// The tests of this file speak to the tables as a sink and a reader do, and compare what they
// answer, written as one line.

// put writes a value of an output of a record: offset, key, value.
func put(s model.Service, offset int64, key string, value int64) string {
	return serve(s, model.Message{Kind: model.Write, Record: model.Record{
		ID: model.ID{Offset: offset}, Op: 1, Key: key, Value: model.Value{Num: value}}})
}

// putVersion is put with a version.
func putVersion(s model.Service, version, offset int64, key string, value int64) string {
	return serve(s, model.Message{Kind: model.Write, Flags: model.Versioned, Token: version,
		Record: model.Record{ID: model.ID{Offset: offset}, Op: 1, Key: key,
			Value: model.Value{Num: value}}})
}

func changes(s model.Service, from int64) string {
	return serve(s, model.Message{Kind: model.Read, Cursor: from})
}

func whole(s model.Service) string {
	return serve(s, model.Message{Kind: model.Read, Flags: model.Whole})
}

// serve renders an answer: "done at 0" to a write, "place offset key=value" of each row to a read.
// Without Places the place is the number from Seq on.
func serve(s model.Service, m model.Message) string {
	ans := model.Answer{Outcome: model.Done}
	s.Serve(0, &m, &ans)
	if ans.Outcome == model.Stale {
		return fmt.Sprintf("stale at %d behind %d", ans.Seq, ans.N)
	}
	if m.Kind == model.Write {
		return fmt.Sprintf("%s at %d", ans.Outcome, ans.Seq)
	}
	return rows(&ans)
}

func rows(ans *model.Answer) string {
	var parts []string
	for i, rec := range ans.Records {
		place := ans.Seq + int64(i)
		if ans.Places != nil {
			place = ans.Places[i]
		}
		parts = append(parts, fmt.Sprintf("%d %d %s=%d", place, rec.ID.Offset, rec.Key,
			rec.Value.Num))
	}
	return strings.Join(parts, ", ")
}

// An output has one row, whoever writes it and how often. A write that changes nothing is not
// shown again; one that does is, at the same place.
func TestTableByIdentity(t *testing.T) {
	s := sim.TableByIdentity.New(1)
	require.Equal(t, "done at 0", put(s, 5, "a", 1))
	require.Equal(t, "done at 1", put(s, 3, "a", 2))
	require.Equal(t, "done at 0", put(s, 5, "a", 1))
	require.Equal(t, "0 5 a=1, 1 3 a=2", changes(s, 0))
	require.Equal(t, "done at 0", put(s, 5, "b", 9))
	require.Equal(t, "0 5 b=9", changes(s, 2), "revised")
	require.Equal(t, "0 5 b=9, 1 3 a=2", whole(s), "in the order of first insertion")
	require.Equal(t, "done at 0", put(s, 5, "a", 1))
	require.Equal(t, "0 5 b=9, 0 5 a=1", changes(s, 2), "and revised back")
	require.Equal(t, "", changes(s, 4))
}

// The operator and the path are part of an identity, and partitions share nothing.
func TestTableByIdentity_Identity(t *testing.T) {
	s := sim.TableByIdentity.New(2)
	rec := model.Record{Op: 1}
	for _, m := range []model.Message{{Record: rec}, {Record: model.Record{Op: 2}},
		{Record: model.Record{Op: 1, Path: 1}}, {Seq: 1, Record: rec}} {
		m.Kind = model.Write
		serve(s, m)
	}
	require.Equal(t, "0 0 =0, 1 0 =0, 2 0 =0", whole(s))
	require.Equal(t, "0 0 =0", serve(s, model.Message{Kind: model.Read, Seq: 1}))
}

// The last write to a key wins. Changes are numbered; rows keep the order of first insertion.
func TestTableByKey(t *testing.T) {
	s := sim.TableByKey.New(1)
	require.Equal(t, "done at 0", put(s, 0, "a", 1))
	require.Equal(t, "done at 1", put(s, 1, "b", 2))
	require.Equal(t, "done at 0", put(s, 2, "a", 3))
	require.Equal(t, "done at 0", put(s, 2, "a", 3), "it changes nothing")
	require.Equal(t, "done at 0", put(s, 0, "a", 1), "a late write wins as well")
	require.Equal(t, "0 0 a=1, 1 1 b=2, 2 2 a=3, 3 0 a=1", changes(s, 0))
	require.Equal(t, "3 0 a=1", changes(s, 3))
	require.Equal(t, "0 0 a=1, 1 1 b=2", whole(s))
}

// A version wins over lower ones only; an equal one was there before. Neither changes anything.
func TestTableByKey_Versions(t *testing.T) {
	s := sim.TableByKey.New(1)
	require.Equal(t, "done at 0", putVersion(s, 0, 0, "a", 1), "above no version at all")
	require.Equal(t, "done at 0", putVersion(s, 7, 1, "a", 2))
	require.Equal(t, "stale at 0 behind 7", putVersion(s, 6, 0, "a", 1))
	require.Equal(t, "done before at 0", putVersion(s, 7, 2, "a", 3))
	require.Equal(t, "done at 1", putVersion(s, 1, 3, "b", 4), "each row has its own")
	require.Equal(t, "0 0 a=1, 1 1 a=2, 2 3 b=4", changes(s, 0))
	require.Equal(t, "done at 0", putVersion(s, 9, 1, "a", 2), "newer, and the same")
	require.Equal(t, "", changes(s, 3))
	require.Equal(t, "stale at 0 behind 9", putVersion(s, 8, 1, "a", 5))
}

// What a reader was handed stays as it was, whatever is written afterwards.
func TestTables_ViewsStay(t *testing.T) {
	for _, spec := range []*model.SinkSpec{&sim.TableByIdentity, &sim.TableByKey} {
		s := spec.New(1)
		put(s, 0, "a", 1)
		var feed, all model.Answer
		s.Serve(0, &model.Message{Kind: model.Read}, &feed)
		s.Serve(0, &model.Message{Kind: model.Read, Flags: model.Whole}, &all)
		for i := range int64(100) {
			put(s, 0, "a", i)
			put(s, i, fmt.Sprint(i), i)
			whole(s)
		}
		require.Equal(t, "0 0 a=1", rows(&feed), spec.Name)
		require.Equal(t, "0 0 a=1", rows(&all), spec.Name)
		require.Panics(t, func() { serve(s, model.Message{Kind: model.Get}) }, spec.Name)
	}
}

// A restored table goes on as the one that was encoded, and a reset one is as new.
func TestTables_State(t *testing.T) {
	for _, spec := range []*model.SinkSpec{&sim.TableByIdentity, &sim.TableByKey} {
		s, other := spec.New(1), spec.New(1)
		putVersion(s, 4, 0, "a", 1)
		putVersion(s, 5, 1, "b", 2)
		putVersion(s, 6, 0, "a", 3)
		putVersion(other, 9, 9, "z", 9)
		var c model.Codec
		s.State(&c)
		c.Rewind()
		other.State(&c)
		require.Zero(t, c.Left())
		require.Equal(t, changes(s, 0), changes(other, 0), spec.Name)
		require.Equal(t, whole(s), whole(other), spec.Name)
		for _, version := range []int64{5, 6, 7} {
			require.Equal(t, putVersion(s, version, 0, "a", 8),
				putVersion(other, version, 0, "a", 8))
			require.Equal(t, whole(s), whole(other), spec.Name)
		}
		s.Reset()
		require.Equal(t, "", changes(s, 0)+whole(s), spec.Name)
		require.Equal(t, "done at 0", putVersion(s, 0, 1, "b", 1), spec.Name)
	}
}

// Run after run, a table allocates nothing once it has grown.
func TestTables_Allocations(t *testing.T) {
	for _, spec := range []*model.SinkSpec{&sim.TableByIdentity, &sim.TableByKey} {
		s := spec.New(1)
		keys := [...]string{"a", "b", "c", "d", "e", "f", "g", "h"}
		m, ans := model.Message{}, model.Answer{}
		run := func() {
			s.Reset()
			for i := range int64(200) {
				m = model.Message{Kind: model.Write, Flags: model.Versioned, Token: i,
					Record: model.Record{ID: model.ID{Offset: i % 100}, Key: keys[i%8]}}
				s.Serve(0, &m, &ans)
				m = model.Message{Kind: model.Read, Flags: model.Whole}
				s.Serve(0, &m, &ans)
			}
		}
		run()
		require.Zero(t, testing.AllocsPerRun(20, run), spec.Name)
	}
}
