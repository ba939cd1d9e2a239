package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// counted is the plain way to count.
func counted(expected []uint64, outputs []Output) (n Count) {
	times, latest, isExpected := map[uint64]int{}, map[uint32]uint64{}, map[uint64]bool{}
	for _, id := range expected {
		isExpected[id] = true
	}
	for _, o := range outputs {
		times[o.ID]++
		switch {
		case !isExpected[o.ID]:
			n.Phantoms++
		case times[o.ID] > 1:
			n.Duplicates++
		case o.Rank < latest[o.Key]:
			n.Disorders++
		default:
			latest[o.Key] = o.Rank
		}
	}
	for _, id := range expected {
		if times[id] == 0 {
			n.Losses++
		}
	}
	return n
}

// harmed is a list of n outputs from which some are taken, some doubled, some foreign, and some
// neighbours swapped.
func harmed(d *draws, n int, name func(i int) uint64) (list []Output) {
	for i := range n {
		o := Output{ID: name(i), Rank: uint64(i), Key: uint32(d.below(3))}
		switch d.below(8) {
		case 0:
		case 1:
			list = append(list, o, o)
		case 2:
			list = append(list, Output{ID: name(n + i), Rank: o.Rank}, o)
		case 3:
			list = append(list, o)
			if at := len(list); at > 1 {
				list[at-1], list[at-2] = list[at-2], list[at-1]
			}
		default:
			list = append(list, o)
		}
	}
	return list
}

// Both forms count what the plain way counts, with one Counter for all lists.
func TestCounter_AgreesWithMaps(t *testing.T) {
	var c Counter
	var all Count
	for seed := range uint64(400) {
		d := &draws{seed: seed}
		n := int(d.below(100))
		if seed == 7 {
			n = 50_000 // enough for several shares
		}
		dense := func(i int) uint64 { return uint64(i) }
		sparse := func(i int) uint64 { return model.Mix(uint64(i)^hashA, seed^hashB) }
		var ids [2][]uint64
		for i := range n {
			ids[0], ids[1] = append(ids[0], dense(i)), append(ids[1], sparse(i))
		}
		list := harmed(d, n, dense)
		want := counted(ids[0], list)
		require.Equal(t, want, c.Dense(n, 3, list), "%d", seed)
		all.Losses += want.Losses
		all.Duplicates += want.Duplicates
		all.Phantoms += want.Phantoms
		all.Disorders += want.Disorders
		list = harmed(d, n, sparse)
		require.Equal(t, counted(ids[1], list), c.Sparse(ids[1], 3, list), "%d", seed)
	}
	require.Greater(t, min(all.Losses, all.Duplicates, all.Phantoms, all.Disorders), 500)
}

// An identity is expected once, and 0 is none.
func TestCounter_Expectations(t *testing.T) {
	var c Counter
	require.Panics(t, func() { c.Sparse([]uint64{3, 3}, 1, nil) })
	require.Panics(t, func() { c.Sparse([]uint64{0}, 1, nil) })
	require.Equal(t, Count{Phantoms: 2}, c.Sparse(nil, 1, []Output{{}, {ID: 7}}))
	require.Equal(t, Count{Losses: 2, Phantoms: 1}, c.Sparse([]uint64{5, 6}, 1, []Output{{}}))
}

// A Counter that has seen a list as long allocates nothing.
func TestCounter_Allocations(t *testing.T) {
	var c Counter
	var ids []uint64
	for i := range uint64(1000) {
		ids = append(ids, i+1)
	}
	list := harmed(&draws{seed: 1}, 1000, func(i int) uint64 { return uint64(i) })
	require.Zero(t, testing.AllocsPerRun(5, func() {
		c.Dense(1000, 3, list)
		c.Sparse(ids, 3, list)
	}))
}
