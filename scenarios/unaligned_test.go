package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// firstCompletion is when a built-in scenario has its first checkpoint completed, and how many
// records its parts hold as in flight.
func firstCompletion(t *testing.T, name string) (at, inFlight int64) {
	t.Helper()
	lib := scenarios.Builtin()
	for _, f := range lib.Files {
		if f.Name != name {
			continue
		}
		s, err := scenarios.Parse(lib, name+".sim", []byte(f.Data))
		require.NoError(t, err)
		_, res, err := scenarios.Run(lib, s, scenarios.Options{})
		require.NoError(t, err)
		h := res.Subject.History
		for _, served := range h.Servings {
			switch req := &h.Calls[served.Call].Req; {
			case req.Kind == model.Upload && req.Seq == 1:
				inFlight += int64(len(req.Parts)) - req.N
			case req.Kind == model.Completion:
				return served.At, inFlight
			}
		}
	}
	t.Fatalf("%s completes no checkpoint", name)
	return 0, 0
}

// The same job under the same load: a barrier that overtakes has its checkpoint completed in half
// the time, with the four records that waited in it.
func TestUnaligned_CompletesEarlierUnderLoad(t *testing.T) {
	aligned, none := firstCompletion(t, "barrier-waits-behind-what-waits")
	unaligned, four := firstCompletion(t, "barrier-overtakes-what-waits")
	dropping, dropped := firstCompletion(t, "barrier-overtakes-and-forgets-what-waits")
	require.Less(t, 2*unaligned, aligned)
	require.Equal(t, unaligned, dropping)
	require.Equal(t, []int64{0, 4, 0}, []int64{none, four, dropped})
}
