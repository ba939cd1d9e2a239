package defects_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/sim"
)

// moved is a service that is made new before every request, from what it encodes.
type moved struct{ model.Service }

// Unwrap is the service itself.
func (m moved) Unwrap() model.Service { return m.Service }

// Serve implements model.Service.
func (m moved) Serve(now int64, req *model.Message, ans *model.Answer) {
	var c model.Codec
	m.State(&c)
	m.Reset()
	m.State(model.Decoding(c.Bytes()))
	m.Service.Serve(now, req, ans)
}

// eachService calls do for every defect in front of a service, in every mode, with the scenario
// that shows it.
func eachService(t *testing.T, do func(t *testing.T, lib *scenarios.Library,
	s *scenarios.Scenario)) {
	lib := scenarios.Builtin()
	for _, d := range lib.Defects {
		for _, mode := range d.Modes {
			if d.Service == nil {
				continue
			}
			t.Run(d.Name+"/"+mode, func(t *testing.T) {
				there := *d
				there.Shown.Mode = mode
				s, err := lib.Showing(&there)
				require.NoError(t, err)
				do(t, lib, s)
			})
		}
	}
}

// hashOf is the hash of a run with the defect of a scenario, whose services are as made.
func hashOf(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario,
	made func(model.Service) model.Service) uint64 {
	t.Helper()
	d := *s.Defect
	d.Service = func(id model.ServiceID, of model.Service) model.Service {
		return made(s.Defect.Service(id, of))
	}
	other := *s
	other.Defect = &d
	_, res, err := scenarios.Run(lib, &other, scenarios.Options{})
	require.NoError(t, err)
	return res.Subject.History.End.Hash
}

// What a defect in front of a service remembers is part of its state: a run in which every service
// is made new before each request is the same run.
func TestServices_AreWhatTheyEncode(t *testing.T) {
	eachService(t, func(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario) {
		plain := hashOf(t, lib, s, func(of model.Service) model.Service { return of })
		again := hashOf(t, lib, s, func(of model.Service) model.Service { return moved{of} })
		require.Equal(t, plain, again)
	})
}

// forgets is a service that does not encode how many requests it has served; it refuses the third.
type forgets struct {
	model.Service
	n *int
}

func (f forgets) Reset() {
	f.Service.Reset()
	*f.n = 0
}

func (f forgets) Serve(now int64, req *model.Message, ans *model.Answer) {
	if *f.n++; *f.n == 3 {
		ans.Outcome = model.Refused
		return
	}
	f.Service.Serve(now, req, ans)
}

// The test above notices a field that is not encoded.
func TestServices_AForgottenFieldIsNoticed(t *testing.T) {
	lib := scenarios.Builtin()
	s, err := lib.Showing(lib.Defects[0])
	require.NoError(t, err)
	d := *s.Defect
	d.Service = func(_ model.ServiceID, of model.Service) model.Service {
		return forgets{of, new(int)}
	}
	s.Defect = &d
	plain := hashOf(t, lib, s, func(of model.Service) model.Service { return of })
	again := hashOf(t, lib, s, func(of model.Service) model.Service { return moved{of} })
	require.NotEqual(t, plain, again)
}

// Where orders are explored, a state is left and come back to: what is restored from encodings is
// known by the same key and has the same end, and so is what a step that was undone has left.
func TestServices_AreRestoredWhereOrdersAreExplored(t *testing.T) {
	eachService(t, func(t *testing.T, lib *scenarios.Library, s *scenarios.Scenario) {
		s.Faults = nil
		runner, err := scenarios.NewRunner(lib, s)
		require.NoError(t, err)
		for seed := range uint64(3) {
			plain := walk(runner, seed, false)
			require.NotEmpty(t, plain)
			require.Equal(t, plain, walk(runner, seed, true))
		}
	})
}

// walk takes steps at random to the end and returns the keys of the states on the way. restores has
// each step be taken, undone and taken again, by what is restored before it.
func walk(runner *scenarios.Runner, seed uint64, restores bool) (keys [][2]uint64) {
	o := runner.Ordered(seed, sim.Budget{Crashes: 1, Timers: 2}, nil, scenarios.Options{})
	o.IsTransplanting = restores
	random := rand.New(rand.NewPCG(seed, 0))
	for {
		keys = append(keys, o.Key())
		list := o.Choices(nil)
		if len(list) == 0 {
			return keys
		}
		c := list[random.IntN(len(list))]
		o.Take(&c)
		if restores {
			o.Undo()
			o.Take(&c)
		}
	}
}
