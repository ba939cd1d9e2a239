package bench

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// Result is one measurement.
type Result struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Ratio float64 `json:"ratio"`
	To    string  `json:"to"`   // the yardstick
	Goal  string  `json:"goal"` // for the ratio
	Met   bool    `json:"met"`
}

// Rounds is how often the two sides of a measurement take turns.
const Rounds = 9

// contest is a measurement before it is taken: two sides that do comparable work. Setting it up is
// not measured.
type contest struct {
	name, unit, to string
	goal           goal
	isSpeed        bool // value and ratio are speeds: larger is better
	setUp          func() (subject, yardstick side, err error)
	fixed          float64 // ns a unit, where the yardstick is a number
	isParallel     bool    // the time of day counts, not what all processors spend
}

// side does a piece of work and returns how many units that were.
type side func() (units int)

// goal is a bound of a ratio.
type goal struct {
	text  string
	isMet func(ratio float64) bool
}

func atMost(text string, bound float64) goal {
	return goal{"<= " + text, func(ratio float64) bool { return ratio <= bound }}
}

func atLeast(text string, bound float64) goal {
	return goal{">= " + text, func(ratio float64) bool { return ratio >= bound }}
}

// Run takes every measurement, one after the other, and hands each to show as soon as it is known.
// It stops between two rounds when ctx ends.
func Run(ctx context.Context, show func(Result)) error {
	for _, list := range [][]contest{loops(), runs(), sweeps(), checks()} {
		for _, c := range list {
			r, err := c.take(ctx)
			if err != nil || ctx.Err() != nil {
				return err
			}
			show(r)
		}
	}
	return nil
}

// take measures the sides in turn, once without counting.
func (c *contest) take(ctx context.Context) (Result, error) {
	subject, yardstick, err := c.setUp()
	if err != nil {
		return Result{}, err
	}
	var values, ratios []float64
	for round := range Rounds + 1 {
		if ctx.Err() != nil {
			return Result{}, nil
		}
		var mine, other float64
		if round%2 == 0 {
			mine, other = c.time(subject), c.time(yardstick)
		} else {
			other, mine = c.time(yardstick), c.time(subject)
		}
		if round == 0 {
			continue
		}
		if c.isSpeed {
			values, ratios = append(values, 1e9/mine), append(ratios, other/mine)
		} else {
			values, ratios = append(values, mine), append(ratios, mine/other)
		}
	}
	r := Result{Name: c.name, Unit: c.unit, To: c.to, Goal: c.goal.text}
	r.Value, r.Ratio = median(values), median(ratios)
	r.Met = c.goal.isMet(r.Ratio)
	return r, nil
}

// time does the work of a side and returns nanoseconds a unit. Garbage of the other side is not
// its business; its own is.
func (c *contest) time(s side) float64 {
	if s == nil {
		return c.fixed
	}
	runtime.GC()
	day, begin := time.Now(), spent()
	units := s()
	took := spent() - begin
	if c.isParallel {
		took = time.Since(day)
	}
	return float64(took.Nanoseconds()) / float64(units)
}

// median is the middle of an odd number of values.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
