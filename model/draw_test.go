package model_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// The golden vectors: these numbers are a promise to every saved scenario. They may never change
// for a released version of the draw.
func TestDraw_GoldenVectors(t *testing.T) {
	for _, v := range []struct {
		seed    uint64
		domain  model.Domain
		a, b, c uint64
		want    uint64
	}{
		{0, model.DrawRequestLatency, 0, 0, 0, 0xf8d772ad6d076361},
		{1, model.DrawRequestLatency, 0, 0, 0, 0xa0368ac9586f8407},
		{1, model.DrawChannelLatency, 0, 0, 0, 0xe6cf03ea63295768},
		{1, model.DrawChannelLatency, 7, 0, 0, 0xf042f1bddb72252f},
		{1, model.DrawChannelLatency, 7, 3, 0, 0x9d6cd2ec03c09dc9},
		{1, model.DrawChannelLatency, 7, 3, 1, 0xe60191f48cf6fe59},
		{1<<64 - 1, model.DrawOperator, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 0xf8a54695ca0c1e4d},
	} {
		got := model.Draw(v.seed, v.domain, v.a, v.b, v.c)
		require.Equal(t, v.want, got, "%+v = %#x", v, got)
	}
	for text, want := range map[string]uint64{"": 0xe84799c9c4ef6294, "op/0": 0x1f6c6d38ca86581d,
		"a text longer than a word": 0x129cab9d17924202} {
		got := model.HashText(text)
		require.Equal(t, want, got, "%q = %#x", text, got)
	}
}

// Draws about neighbouring subjects are spread evenly: chi-square over 64 cells stays within five
// standard deviations for each argument that varies alone.
func TestDraw_NeighboursAreSpread(t *testing.T) {
	const cells, n = 64, 64 * 500
	vary := map[string]func(i uint64) uint64{
		"seed": func(i uint64) uint64 { return model.Draw(i, model.DrawTie, 1, 2, 3) },
		"a":    func(i uint64) uint64 { return model.Draw(1, model.DrawTie, i, 2, 3) },
		"b":    func(i uint64) uint64 { return model.Draw(1, model.DrawTie, 1, i, 3) },
		"c":    func(i uint64) uint64 { return model.Draw(1, model.DrawTie, 1, 2, i) },
	}
	for name, draw := range vary {
		for _, low := range []bool{false, true} {
			var count [cells]int
			for i := range uint64(n) {
				r := draw(i)
				if low {
					r <<= 58
				}
				count[model.Below(r, cells)]++
			}
			chi := 0
			for _, c := range count {
				d := c - n/cells
				chi += d * d * cells / n
			}
			require.InDelta(t, cells, chi, 5*12, "%s, low bits %v", name, low)
		}
	}
}

// Domains and arguments do not collide: a million distinct subjects give distinct draws.
func TestDraw_SubjectsDoNotCollide(t *testing.T) {
	seen := map[uint64]string{}
	for d := model.DrawRequestLatency; d <= model.DrawOperator; d++ {
		for a := range uint64(40) {
			for b := range uint64(40) {
				for c := range uint64(8) {
					r := model.Draw(3, d, a, b, c)
					who := fmt.Sprint(d, a, b, c)
					require.Empty(t, seen[r], who)
					seen[r] = who
				}
			}
		}
	}
}

func TestBelow_CoversItsRange(t *testing.T) {
	require.EqualValues(t, 0, model.Below(0, 10))
	require.EqualValues(t, 9, model.Below(1<<64-1, 10))
	require.EqualValues(t, 0, model.Below(1<<64-1, 1))
	require.Panics(t, func() { model.Below(1, 0) })
	require.Panics(t, func() { model.Below(1, -1) })
}

// A draw is about its subject: nothing that was drawn before changes it.
func ExampleDraw() {
	latency := func(record uint64) int64 {
		return 200 + model.Below(model.Draw(1, model.DrawChannelLatency, 0, record, 0), 800)
	}
	fmt.Println(latency(7))
	latency(1)
	fmt.Println(latency(7))
	// Output:
	// 256
	// 256
}

func BenchmarkDraw(b *testing.B) {
	var x uint64
	for i := range b.N {
		x ^= model.Draw(1, model.DrawTie, uint64(i), 2, 3)
	}
	_ = x
}
