package sim

import (
	"fmt"

	"github.com/oncesim/oncesim/model"
)

// Span is a range of virtual ns from which a latency is drawn, both ends included.
type Span struct{ Min, Max int64 }

// Config sets the timing of a world. Zero fields take the default.
type Config struct {
	Channel      Span  // between two processes: 200 to 1000 µs
	Request      Span  // from a process to a service: 100 to 500 µs
	Answer       Span  // and back: 100 to 500 µs
	Restart      Span  // from a death to the next life: 5 to 10 ms
	CallTimeout  int64 // from a request to Unknown: 20 ms
	SuspectAfter int64 // how long a process may stand still before it is replaced: 50 ms
	LingerTime   int64 // how long a resumed zombie goes on: 30 ms
	ReadEvery    int64 // how often the reader polls: 2 ms
	DrainTime    int64 // bound on progress after the last arrival or fault: 10 s + 20 ms a record
	EventsMax    int64 // budget of events: 1,000,000 + 500 a record

	// Wrap puts something in front of a service when it is made; nil: nothing. What it returns may
	// have a method Unwrap() model.Service: faults that strike inside a service look for it there.
	Wrap func(id model.ServiceID, s model.Service) model.Service
}

const (
	microsecond = 1_000
	millisecond = 1_000_000
	second      = 1_000_000_000
)

// SuspectAfter is the default of Config.SuspectAfter: a process that stands still for longer is
// replaced, and a zombie when it goes on.
const SuspectAfter = 50 * millisecond

// withDefaults fills zero fields, given the number of input records, and panics on a span that is
// no span.
func (c Config) withDefaults(records int64) Config {
	span := func(s *Span, lo, hi int64) {
		if *s == (Span{}) {
			*s = Span{lo, hi}
		}
		if s.Min <= 0 || s.Max < s.Min {
			panic(fmt.Sprintf("sim: span %d to %d", s.Min, s.Max))
		}
	}
	span(&c.Channel, 200*microsecond, 1000*microsecond)
	span(&c.Request, 100*microsecond, 500*microsecond)
	span(&c.Answer, 100*microsecond, 500*microsecond)
	span(&c.Restart, 5*millisecond, 10*millisecond)
	number := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
		if *v < 0 {
			panic(fmt.Sprintf("sim: negative time or bound %d", *v))
		}
	}
	number(&c.CallTimeout, 20*millisecond)
	number(&c.SuspectAfter, SuspectAfter)
	number(&c.LingerTime, 30*millisecond)
	number(&c.ReadEvery, 2*millisecond)
	number(&c.DrainTime, 10*second+20*millisecond*records)
	number(&c.EventsMax, 1_000_000+500*records)
	return c
}
