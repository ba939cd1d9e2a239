package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// everything is a state with one field of each kind that a Codec knows.
type everything struct {
	n     int64
	small int32
	flag  bool
	text  string
	value model.Value
	msg   model.Message
	list  []int64
	table map[string]model.Value
	keys  []string
}

func (e *everything) State(c *model.Codec) {
	c.Int64(&e.n)
	c.Int32(&e.small)
	c.Bool(&e.flag)
	c.Text(&e.text)
	c.Value(&e.value)
	c.Message(&e.msg)
	model.Slice(c, &e.list, c.Int64)
	model.Map(c, e.table, &e.keys, c.Value)
}

func sample() *everything {
	return &everything{n: -1 << 63, small: -7, flag: true, text: "π\x00\n",
		value: model.Value{Num: 5, Text: "x"},
		msg: model.Message{Kind: model.Write, Channel: -3, Attempt: 2, Try: 1, Seq: 9, N: 8,
			Cursor: 7, Token: 6, Record: model.Record{ID: model.ID{Part: 1, Offset: 2},
				Path: 1 << 63, Op: 4, Key: "k", Value: model.Value{Num: -1}}},
		list:  []int64{3, 2, 1},
		table: map[string]model.Value{"b": {Num: 2}, "a": {Num: 1}}}
}

func TestCodec_RestoresWhatItEncodes(t *testing.T) {
	var c model.Codec
	want := sample()
	want.State(&c)
	got := &everything{table: map[string]model.Value{"stale": {}}, list: []int64{4}}
	c.Rewind()
	require.True(t, c.IsDecoding())
	got.State(&c)
	require.Zero(t, c.Left())
	got.keys, want.keys = nil, nil
	require.Equal(t, want, got)

	again := &everything{table: map[string]model.Value{}}
	again.State(model.Decoding(c.Bytes()))
	again.keys = nil
	require.Equal(t, want, again)
}

// The encoding of a map does not depend on the order in which it was filled.
func TestCodec_MapsAreInOrder(t *testing.T) {
	var first, second model.Codec
	sample().State(&first)
	other := sample()
	delete(other.table, "a")
	other.table["a"] = model.Value{Num: 1}
	other.State(&second)
	require.Equal(t, first.Bytes(), second.Bytes())
}

// A truncated or wrong encoding is a broken invariant: it panics and never restores half.
func TestCodec_PanicsOnDamage(t *testing.T) {
	var c model.Codec
	sample().State(&c)
	data := c.Bytes()
	for n := range data {
		require.Panics(t, func() {
			e := &everything{table: map[string]model.Value{}}
			e.State(model.Decoding(data[:n]))
		}, "%d of %d bytes", n, len(data))
	}
	require.Panics(t, func() {
		huge := []byte{255, 255, 255, 255, 255, 255, 255, 127}
		var text string
		model.Decoding(huge).Text(&text)
	})
}

func TestCodec_ResetReusesItsBuffer(t *testing.T) {
	var c model.Codec
	e := sample()
	e.State(&c)
	n := len(c.Bytes())
	c.Reset()
	require.False(t, c.IsDecoding())
	e.State(&c)
	require.Len(t, c.Bytes(), n)
}
