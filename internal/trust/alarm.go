package trust

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/oncesim/oncesim/internal/oracle"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// Calm is what blind runs of modes without a defect came to.
type Calm struct {
	Mode      string
	Runs      int64
	Alarms    []string // claims that were broken: the runs, in words
	Unknown   int64    // runs in which something claimed is not known
	Differ    []string // disagreements of the two judges
	Undecided int64    // properties, over all runs, on which one judge could not say
	Probes    []int64  // per probe of Probes: runs that reached it
	First     []int64  // and which was the first, from 1; 0: none
}

// Watch makes blind runs of a mode as it is, and has both judges look at each.
func Watch(ctx context.Context, lib *scenarios.Library, mode *model.Mode, runs int64) (*Calm,
	error) {
	probes := Probes()
	c := &Calm{Mode: mode.Name, Probes: make([]int64, len(probes)),
		First: make([]int64, len(probes))}
	worlds, err := Worlds(lib, mode, "")
	if err != nil {
		return nil, err
	}
	for n := int64(1); n <= runs; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w, seed, err := turn(worlds, n)
		if err != nil {
			return nil, err
		}
		run := w.Run(seed, scenarios.Options{Trace: true})
		c.Runs++
		if len(run.Broken) > 0 {
			c.Alarms = append(c.Alarms, fmt.Sprintf("%s under %s, seed %d: %v", run.Scenario.Name,
				mode.Name, run.Seed, run.Broken))
		}
		if len(run.Unknown) > 0 {
			c.Unknown++
		}
		report := w.Inside()
		if text := oracle.Disagreement(report, run.Result.Verdicts); text != "" {
			c.Differ = append(c.Differ, fmt.Sprintf("%s under %s, seed %d: %s", run.Scenario.Name,
				mode.Name, run.Seed, text))
		}
		c.Undecided += int64(oracle.Undecided(report, run.Result.Verdicts))
		v := viewOf(run.Result.Subject.History)
		for i := range probes {
			if !probes[i].Is(v) {
				continue
			}
			if c.Probes[i]++; c.Probes[i] == 1 {
				c.First[i] = n
			}
		}
	}
	return c, nil
}

// Each does something for each of n things, on all cores, and returns the first error by number.
func Each(n int, do func(i int) error) error {
	var wg sync.WaitGroup
	errs, next := make([]error, n), make(chan int)
	for range min(runtime.GOMAXPROCS(0), max(n, 1)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				errs[i] = do(i)
			}
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
