package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/search"
)

// Results are known by the name of the unit, so that there is one of each.
func TestSweep_TwoUnitsOfOneName(t *testing.T) {
	w := newSweeper(t)
	_, err := search.NewSweep(w.lib, append(w.units, w.units[0]),
		search.Sweeping{First: 1, Last: 3})
	require.EqualError(t, err, "two units are called pipeline-three under boast")
}

// What cannot be swept is an error, not a panic.
func TestSweep_WrongOptions(t *testing.T) {
	w := newSweeper(t)
	for _, tc := range []struct {
		opts search.Sweeping
		want string
	}{
		{search.Sweeping{First: 3, Last: 2}, "seeds 3-2"},
		{search.Sweeping{Last: math.MaxUint64}, "seeds 0-18446744073709551615 are too many"},
		{search.Sweeping{Shard: 3, Shards: 2}, "shard 3/2"},
		{search.Sweeping{Shard: 0, Shards: 2}, "shard 0/2"},
		{search.Sweeping{Shard: 1, Shards: 65536}, "shard 1/65536"},
		{search.Sweeping{Faults: -1}, "-1 faults"},
		{search.Sweeping{Workers: -1}, "-1 workers"},
		{search.Sweeping{FailuresMax: -1}, "-1 failures"},
		{search.Sweeping{Verify: -1}, "-1 of a million"},
		{search.Sweeping{Verify: 1_000_001}, "1000001 of a million"},
		{search.Sweeping{For: -1}, "a time of -1ns"},
	} {
		_, err := search.NewSweep(w.lib, w.units, tc.opts)
		require.ErrorContains(t, err, tc.want)
	}
	_, err := search.NewSweep(w.lib, nil, search.Sweeping{})
	require.ErrorContains(t, err, "nothing to sweep")
}

// After an error of writing nothing more is written, by no worker and in no later call: behind a
// torn line the file could be neither resumed nor merged.
func TestSweep_WriteFailsOnce(t *testing.T) {
	w := newSweeper(t)
	for _, workers := range []int{1, 4} {
		var file bytes.Buffer
		var failed atomic.Bool
		full := errors.New("full")
		opts := search.Sweeping{First: 1, Last: 2_000, Workers: workers}
		opts.Write = func(lines []byte) error {
			if failed.Load() {
				t.Error("a write behind a torn line")
			}
			if file.Len() < 3_000 {
				file.Write(lines)
				return nil
			}
			failed.Store(true)
			file.Write(lines[:len(lines)/2])
			return full
		}
		s, err := search.NewSweep(w.lib, w.units, opts)
		require.NoError(t, err)
		require.Equal(t, full, s.Run(context.Background()))
		require.Equal(t, full, s.Finish())
		require.Equal(t, full, s.Save(&search.Failure{}, "x.sim"))
		require.Equal(t, full, s.Run(context.Background()))

		opts.Write = nil
		want := w.merged(w.file(opts, nil, 0))
		require.Equal(t, want, w.merged(w.file(opts, file.Bytes(), 0)))
	}
}

// What one call of Run has left out, the next one runs.
func TestSweep_RunAgain(t *testing.T) {
	w := newSweeper(t)
	want := w.merged(w.file(search.Sweeping{First: 1, Last: 90, Workers: 1}, nil, 0))
	for _, most := range []int{1, 7, 50} {
		var file bytes.Buffer
		ctx, stop := context.WithCancel(context.Background())
		writes, all := 0, uint64(0)
		s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: 90,
			Workers: 3, Write: func(lines []byte) error {
				if writes++; writes == most {
					stop()
				}
				file.Write(lines)
				return nil
			},
			Progress: func(done, of uint64) {
				require.LessOrEqual(t, done, of)
				all = of
			}})
		require.NoError(t, err)
		require.NoError(t, s.Run(ctx))
		require.False(t, s.Results().IsComplete())
		left := 2*90 - uint64(s.Results().Total().Runs)
		require.NoError(t, s.Run(context.Background()))
		require.Equal(t, left, all)
		require.True(t, s.Results().IsComplete())
		require.NoError(t, s.Finish())
		require.Equal(t, want, w.merged(file.Bytes()))
	}
}

// A sweep without a last seed ends, with a message, where results end.
func TestSweep_EndsBeforeItsBlocksDo(t *testing.T) {
	w := newSweeper(t)
	w.units = w.units[1:]
	opts := search.Sweeping{IsOpen: true, First: 1, Shard: 65535, Shards: 65535, Workers: 2}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var file bytes.Buffer
	opts.Write = func(lines []byte) error {
		file.Write(lines)
		return nil
	}
	s, err := search.NewSweep(w.lib, w.units, opts)
	require.NoError(t, err)
	require.NoError(t, s.Run(ctx))
	h := &s.Results().Header
	for nth := uint64(0); nth*65535+65534 < 1<<30; nth++ {
		first, last := search.SeedsOf(h, nth*65535+65534)
		fmt.Fprintf(&file, `{"kind":"pass","scenario":"pipeline-three","mode":"snapshot",`+
			`"seeds":"%d-%d","runs":%d,"held":%d,"failed":0,"unknown":0,"unclaimed":0,`+
			`"unreached":0,"planned":0,"struck":0,"events":1,"xor":"0000000000000000"}`+"\n",
			first, last, last-first+1, last-first+1)
	}
	done, _ := w.read(file.Bytes())
	before := done.Total().Runs
	s, err = search.NewSweep(w.lib, w.units, opts)
	require.NoError(t, err)
	require.NoError(t, s.Resume(done))
	require.ErrorContains(t, s.Run(context.Background()), "results hold 1073741824 blocks")
	require.Equal(t, before, s.Results().Total().Runs)
	require.NoError(t, s.Finish())
	require.True(t, strings.HasSuffix(file.String(), `"complete":true}`+"\n"))
}

// More runs than can be counted are as many as can be.
func TestSweep_ProgressOfVeryMany(t *testing.T) {
	skipLongBlocks(t)
	w := newSweeper(t)
	ctx, stop := context.WithCancel(context.Background())
	all := uint64(0)
	s, err := search.NewSweep(w.lib, w.units, search.Sweeping{First: 1, Last: math.MaxUint64,
		Workers: 1, Progress: func(_, of uint64) {
			all = of
			stop()
		}})
	require.NoError(t, err)
	require.NoError(t, s.Run(ctx))
	require.Equal(t, uint64(math.MaxUint64), all)
}
