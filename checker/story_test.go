package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStories judges short histories. Each has what must come out for some properties, between
// semicolons; properties that are not named are not looked at.
func TestStories(t *testing.T) {
	j := NewJudge()
	for _, c := range slices.Concat(stories, snapStories) {
		t.Run(c.name, func(t *testing.T) {
			p := stage(t, c.spec, c.mode, c.story)
			got := show(j.Judge(p.s, All()))
			for _, want := range strings.Split(c.want, ";") {
				property, verdict, ok := strings.Cut(strings.TrimSpace(want), ": ")
				require.True(t, ok, want)
				require.Contains(t, got, property)
				require.Equal(t, verdict, got[property], "%s of %s", property, c.story)
			}
		})
	}
}

const allHold = "at-most-once: holds; at-least-once: holds; replay-explained: holds; " +
	"exactly-once-state: holds; exactly-once: holds; order: holds; no-revision: holds; " +
	"mechanism: holds"

var stories = []struct{ name, spec, mode, story, want string }{
	// Nothing fails.
	{"no fault/stateless", "double", "volatile",
		"in a1 b2; fetch 0; take 0:0; see; take 0:1; see",
		allHold + "; effectively-once: holds; progress: holds"},
	{"progress/the successor is not told the end", "sum", "volatile",
		"in a1; fetch 0; take 0:0; crash source/0", "progress: stuck 0:0; exactly-once: holds"},
	{"progress/it is", "sum", "volatile",
		"in a1; fetch 0; take 0:0; crash source/0; fetch 0", "progress: holds"},
	{"no fault/volatile state", "sum", "volatile",
		"in a1 b2 | a3; take 0:0; take 1:0; take 0:1; fetch 0; fetch 1",
		allHold + "; progress: holds"},
	{"no fault/written through", "roll", "through+commits",
		"in a1 b2 | a3; take 1:0; take 0:0; take 0:1; fetch 0; fetch 1; commit 0=2; commit 1=1",
		allHold + "; effectively-once: holds; progress: holds"},
	{"no fault/several outputs and a drop", "pair", "volatile",
		"in a1 a0; take 0:0; take 0:1", allHold},
	{"no fault/two stages", "double>roll", "through",
		"in a1 a2; take 0:0; take 0:0 at 2; take 0:1; take 0:1 at 2", allHold},
	{"no fault/state after state", "sum>roll", "through",
		"in a1 a2; take 0:0; take 0:0 at 2; take 0:1; take 0:1 at 2", allHold},
	{"no fault/stateless after state", "roll>pair", "through",
		"in a1 a2; take 0:0; take 0:0 at 2; take 0:1; take 0:1 at 2", allHold},
	{"no fault/side by side", "double+roll", "through",
		"in a1 a2; take 0:0; take 0:1; take 0:0 at 2; take 0:1 at 2", allHold},

	{"no fault/two inputs of different depth", "join", "through",
		"in a1 a2 | a3; take 0:0; take 0:0 at 2; take 1:0 at 2; take 0:1; take 0:1 at 2", allHold},
	{"no fault/keys of two tasks in two stages", "rekey*>roll", "through",
		"in a1 c2 | e3; take 0:1; take 0:0; take 1:0; take 0:1 at 2; take 0:0 at 2; take 1:0 at 2",
		allHold},
	{"no fault/nothing to do", "sum", "through", "in | ", allHold},

	// at-most-once
	{"at-most-once/gap", "sum", "volatile",
		"in a1 a2 a3; take 0:0; crash; take 0:2",
		"at-most-once: holds; at-least-once: loss 0:1; exactly-once-state: state-loss 0:0, " +
			"state-loss 0:1; exactly-once: loss 0:1, wrong-value 0:2"},
	{"at-most-once/gap in output only", "sum", "through",
		"in a1 a2; apply 0:0; put 0:0; crash; take 0:1",
		"at-most-once: holds; at-least-once: loss 0:0; exactly-once-state: holds; " +
			"exactly-once: loss 0:0; replay-explained: holds"},
	{"at-most-once/output twice", "sum", "through",
		"in a1; take 0:0; write 0:0",
		"at-most-once: duplicate 0:0; at-least-once: holds; exactly-once: duplicate 0:0; " +
			"exactly-once-state: holds; replay-explained: holds; no-revision: holds; order: holds"},
	{"at-most-once/applied twice, shown once", "sum", "through",
		"in a1 a2; apply 0:0; put 0:0; crash; take 0:0; take 0:1",
		"at-most-once: no-subsequence 0:0, state-duplicate 0:0; " +
			"exactly-once-state: state-duplicate 0:0; " +
			"exactly-once: wrong-value 0:0, wrong-value 0:1"},
	{"exactly-once/all that no order gives is named", "odd", "through",
		"in a1 a1 a1; take 0:0; take 0:0; take 0:1; take 0:1; take 0:2",
		"exactly-once: phantom 0:1, wrong-value 0:2"},
	{"exactly-once/what was lost does not hide it", "odd", "through",
		"in a1 a2 a2; apply 0:0; apply 0:1; apply 0:1; put 0:1; write 0:1; take 0:2",
		"exactly-once: loss 0:0, wrong-value 0:1, wrong-value 0:2"},
	{"at-most-once/applied twice, folded once", "sum", "through",
		"in a1 a2; apply 0:0; crash; take 0:0; take 0:1", allHold},
	{"at-most-once/fabricated value", "sum", "through",
		"in a1; apply 0:0; put 0:0; write 0:0=9",
		"at-most-once: no-subsequence 0:0; replay-explained: unexplained 0:0; " +
			"exactly-once: wrong-value 0:0; at-least-once: loss 0:0"},

	{"at-most-once/a lost output rests on what is repeated", "sum", "volatile",
		"in a1 a2; apply 0:0; take 0:1; crash; take 0:0", "at-most-once: no-subsequence 0:0"},
	{"at-most-once/the same one operator further", "sum>double", "volatile",
		"in a1 a2; take 0:0; take 0:1; take 0:1 at 2; crash; take 0:0; take 0:0 at 2",
		"at-most-once: no-subsequence 0:0"},

	// at-least-once
	{"at-least-once/dropped on purpose", "pair", "volatile",
		"in a0 a1; take 0:0; take 0:1", "at-least-once: holds; exactly-once: holds"},
	{"at-least-once/never applied", "pair", "volatile",
		"in a0 a1; take 0:1", "at-least-once: loss 0:0; exactly-once: holds"},
	{"at-least-once/half of the outputs", "pair", "volatile",
		"in a1; apply 0:0; write 0:0/0", "at-least-once: loss 0:0; exactly-once: loss 0:0"},
	{"at-least-once/halves of two applications", "pair", "volatile",
		"in a1; apply 0:0; write 0:0/0; crash; apply 0:0; write 0:0/1",
		"at-least-once: holds; exactly-once: holds"},
	{"at-least-once/lost between stages", "double>sum", "through",
		"in a1 a2; take 0:0; take 0:1; take 0:1 at 2",
		"at-least-once: loss 0:0; exactly-once: loss 0:0, wrong-value 0:1; at-most-once: holds"},
	{"at-least-once/lost on one input of a join", "join", "through",
		"in a1 | a3; take 0:0; take 0:0 at 2",
		"at-least-once: loss 1:0; exactly-once: loss 1:0; exactly-once-state: state-loss 1:0"},
	{"at-least-once/lost before the join", "join", "through",
		"in a1 a2 | a3; take 0:0; take 0:0 at 2; take 0:1; take 1:0 at 2",
		"at-least-once: loss 0:1; exactly-once-state: state-loss 0:1; at-most-once: holds"},
	{"at-least-once/one branch only", "double+roll", "through",
		"in a1; take 0:0", "at-least-once: loss 0:0"},
	{"at-least-once/not over", "double", "volatile",
		"in a1 a2; take 0:0; see; cut",
		"at-least-once: unknown; exactly-once: unknown; progress: unknown; at-most-once: holds"},
	{"at-least-once/out of time", "double", "volatile",
		"in a1 a2; take 0:0; see; late",
		"at-least-once: unknown; exactly-once: unknown; progress: stuck 0:0"},

	// replay-explained
	{"replay-explained/rewind", "sum", "through",
		"in a1 a2; take 0:0; take 0:1; crash; take 0:0; take 0:1",
		"replay-explained: holds; at-least-once: holds; order: regression 0:0; " +
			"exactly-once: duplicate 0:0, duplicate 0:1, state-duplicate 0:0, " +
			"state-duplicate 0:1; no-revision: revised 0:0, revised 0:1"},
	{"replay-explained/foreign state", "sum", "through",
		"in a1 a2; apply 0:0; put 0:0=5; write 0:0; crash; take 0:1",
		"replay-explained: unexplained 0:0; exactly-once-state: wrong-state 0:0"},
	{"replay-explained/zombie", "sum", "through",
		"in a1; take 0:0; fork s1/0; old put 0:0=7",
		"replay-explained: unknown; mechanism: zombie-write 0:0"},

	// exactly-once-state and effectively-once
	{"state/lost update", "sum", "through",
		"in a1 a2 | a3; take 0:0; fork s1/0; take 1:0; old apply 0:1; old put 0:1",
		"exactly-once-state: state-loss 1:0; effectively-once: state-loss 1:0; " +
			"mechanism: zombie-write 0:1"},
	{"state/wrong", "roll", "through",
		"in a1 a2; take 0:1; take 0:0",
		"exactly-once-state: wrong-state 0:0; effectively-once: wrong-state 0:0; " +
			"at-most-once: holds; order: reorder 0:0"},
	{"state/volatile is not durable", "sum", "volatile",
		"in a1; take 0:0", "exactly-once-state: holds; effectively-once: holds"},
	{"state/commutative in any order", "sum", "through",
		"in a1 a2; take 0:1; take 0:0",
		"exactly-once-state: holds; " +
			"exactly-once: wrong-value 0:0, wrong-value 0:1, reorder 0:0"},
	{"state/each key has an order, not both together", "roll", "through",
		"in a1 b1 | b2 a2; put 0:0=21; put 0:1=12",
		"exactly-once-state: wrong-state 0:0; effectively-once: wrong-state 0:0"},
	{"state/an order that nobody claimed", "roll", "through",
		"in a1 | a2; put 0:0=21", "exactly-once-state: holds; effectively-once: holds"},
	{"state/volatile restart", "roll", "volatile",
		"in a1 a2; take 0:0; crash; take 0:1",
		"exactly-once-state: state-loss 0:0; at-most-once: holds; at-least-once: holds; " +
			"exactly-once: wrong-value 0:1"},
	{"state/rewind of everything", "roll", "volatile",
		"in a1 a2; apply 0:0; crash; take 0:0; take 0:1", allHold},
	{"state/two tasks", "roll*", "through",
		"in a1 b2 c3 | d4 a5; take 0:0; take 1:0; take 0:1; see; take 0:2; take 1:1", allHold},
	{"state/not over", "sum", "through",
		"in a1 a2; take 0:0; cut", "exactly-once-state: unknown; effectively-once: unknown"},

	// exactly-once
	{"exactly-once/output and state of two executions", "roll", "through",
		"in a1 | a2; take 0:0; take 1:0; put 0:0=21",
		"exactly-once: divergence 0:0; exactly-once-state: holds"},
	{"exactly-once/outputs of another order than claimed", "roll", "through",
		"in a1 | b2; take 0:0; take 1:0; swap", "exactly-once: holds; order: holds"},
	{"exactly-once/swapped at the sink", "double", "volatile",
		"in a1 a2; take 0:0; take 0:1; swap",
		"exactly-once: reorder 0:0; order: reorder 0:0; at-most-once: holds"},
	{"exactly-once/swapped at the sink, with state", "roll", "through",
		"in a1 b2; take 0:0; take 0:1; swap",
		"exactly-once: reorder 0:0; order: holds; exactly-once-state: holds"},
	{"exactly-once/wrong value without state", "double", "volatile",
		"in a1; apply 0:0; write 0:0=3",
		"exactly-once: wrong-value 0:0; at-most-once: no-subsequence 0:0; " +
			"replay-explained: unexplained 0:0; at-least-once: loss 0:0"},
	{"exactly-once/state lost after the last output", "sum", "volatile",
		"in a1 b1; take 0:0; take 0:1; crash",
		"exactly-once: state-loss 0:0, state-loss 0:1; exactly-once-state: state-loss 0:0, " +
			"state-loss 0:1; at-least-once: holds; at-most-once: holds"},
	{"exactly-once/shown too early", "double", "volatile",
		"in a1 a2; take 0:0; see; take 0:1; swap", "exactly-once: revised 0:0, reorder 0:0"},
	{"exactly-once/duplicate before the end", "double", "volatile",
		"in a1 a2; take 0:0; write 0:0; see; cut",
		"exactly-once: duplicate 0:0; at-most-once: duplicate 0:0; at-least-once: unknown"},
	{"exactly-once/emission depends on state", "odd", "through",
		"in a1 a1 a2; take 0:0; take 0:1; take 0:2", allHold},
	{"exactly-once/output in the place of a silent step", "odd", "through",
		"in a1 a1; take 0:0; take 0:1; write 0:0/0",
		"exactly-once: duplicate 0:0; at-most-once: duplicate 0:0"},
	{"exactly-once/unclaimed but right", "double", "volatile",
		"in a1 a2; take 0:0; take 0:1", "exactly-once: holds"},

	{"exactly-once/outputs of two steps mixed", "twin", "through",
		"in a1 | a2; apply 0:0; put 0:0; apply 1:0; put 1:0; write 0:0/0; write 1:0/0; " +
			"write 0:0/1; write 1:0/1", "exactly-once: reorder 1:0; exactly-once-state: holds"},
	{"exactly-once/branches after state, in any order between them", "roll>double+pair", "through",
		"in a1 a2; take 0:0; take 0:1; take 0:0 at 3; take 0:0 at 2; take 0:1 at 3; take 0:1 at 2",
		allHold},
	{"exactly-once/branches after state, found by the search", "roll>double+pair", "through",
		"in a1 a2; take 0:0; take 0:1; take 0:1 at 2; take 0:0 at 3; take 0:1 at 3; " +
			"take 0:0 at 2; crash; put 0:0=12",
		"exactly-once: reorder 0:0; exactly-once-state: holds"},
	{"exactly-once/branches agree on an order that nobody claimed", "roll>double+pair", "through",
		"in a1 a2 | b3; take 0:0; take 0:1; take 1:0; take 1:0 at 3; take 0:0 at 3; " +
			"take 0:1 at 3; take 1:0 at 2; take 0:0 at 2; take 0:1 at 2; crash; put 0:0=12",
		"exactly-once: holds"},
	{"exactly-once/branches agree on none", "roll>double+pair", "through",
		"in a1 a2 | b3; take 0:0; take 0:1; take 1:0; take 1:0 at 3; take 0:0 at 3; " +
			"take 0:1 at 3; take 0:0 at 2; take 0:1 at 2; take 1:0 at 2; crash; put 0:0=12",
		"exactly-once: reorder 0:0; exactly-once-state: holds"},
	{"exactly-once/unclaimed state, tasks side by side after it", "roll>double*", "through",
		"in c2 a1; take 0:0; take 0:0 at 2; take 0:1; take 0:1 at 2; crash; put 0:0=2",
		"exactly-once: holds; exactly-once-state: holds"},

	// order
	{"order/immediate repetition", "double", "volatile",
		"in a1 a2; take 0:0; write 0:0; take 0:1; write 0:1", "order: holds"},
	{"order/repetition that jumps back", "double", "volatile",
		"in a1 a2; take 0:0; take 0:1; write 0:0; write 0:1", "order: regression 0:0"},
	{"order/other keys do not matter", "double", "volatile",
		"in a1 b2; take 0:1; take 0:0; write 0:1", "order: holds"},
	{"order/other partitions do not matter at first", "double", "volatile",
		"in a1 | a2; take 1:0; take 0:0", "order: holds; exactly-once: holds"},
	{"order/repetition after another partition's record", "double", "volatile",
		"in a1 | a2; take 0:0; take 1:0; write 0:0", "order: regression 0:0"},
	{"order/outputs of one step", "pair", "volatile",
		"in a1; apply 0:0; write 0:0/1; write 0:0/0",
		"order: reorder 0:0; exactly-once: reorder 0:0"},
	{"order/one task", "rekey", "volatile",
		"in a1 c2; take 0:1; take 0:0", "order: reorder 0:0; exactly-once: reorder 0:0"},
	{"order/tasks side by side are not ordered", "rekey*>double", "volatile",
		"in a1 c2; take 0:1; take 0:1 at 2; take 0:0; take 0:0 at 2",
		"order: holds; exactly-once: holds"},
	{"order/one of two tasks", "rekey*>double", "volatile",
		"in a1 a2; take 0:1; take 0:1 at 2; take 0:0; take 0:0 at 2",
		"order: reorder 0:0; exactly-once: reorder 0:0"},

	// no-revision
	{"no-revision/two values", "roll", "volatile",
		"in a1 a2; take 0:0; take 0:1; crash; take 0:1",
		"no-revision: revised 0:1; exactly-once: state-loss 0:0, duplicate 0:1"},
	{"no-revision/vanished", "double", "volatile",
		"in a1; take 0:0; see; vanish",
		"no-revision: revised 0:0; exactly-once: loss 0:0, revised 0:0; at-least-once: loss 0:0"},
	{"no-revision/vanished unseen", "double", "volatile",
		"in a1; take 0:0; vanish", "no-revision: holds; exactly-once: loss 0:0"},
	{"no-revision/altered", "double", "volatile",
		"in a1; take 0:0; see; alter 7", "no-revision: revised 0:0"},

	// progress
	{"progress/end not seen", "double", "volatile",
		"in a1 | a2; take 0:0; take 1:0; fetch 0", "progress: stuck 1:0"},
	{"progress/end seen, offset left behind", "double", "volatile+commits",
		"in a1 a2; take 0:0; take 0:1; fetch 0; commit 0=1", "progress: stuck 0:1"},
	{"progress/offset goes back in the end", "double", "volatile+commits",
		"in a1 a2; fetch 0; commit 0=2; commit 0=1",
		"progress: holds; mechanism: offset-regression 0:1"},
	{"progress/lost but drained", "double", "volatile+commits",
		"in a1 a2; fetch 0; commit 0=2", "progress: holds; at-least-once: loss 0:0, loss 0:1"},
	{"progress/out of time though drained", "double", "volatile",
		"in a1; fetch 0; take 0:0; late", "progress: stuck 0:0"},

	// mechanism
	{"mechanism/write of a zombie", "double", "volatile",
		"in a1; apply 0:0; fork s1/0; old write 0:0",
		"mechanism: zombie-write 0:0; exactly-once: holds"},
	{"mechanism/offset goes back and on", "double", "volatile",
		"in a1 a2 a3; commit 0=2; commit 0=1; commit 0=3", "mechanism: offset-regression 0:1"},

	{"mechanism/update of a zombie", "sum", "through+update",
		"in a1; take 0:0; fork s1/0; old put 0:0=7", "mechanism: zombie-write 0:0"},
	{"mechanism/update of a zombie, refused", "sum", "through+update",
		"in a1; take 0:0; fork s1/0; old put 0:0=7; refuse",
		"mechanism: holds; exactly-once: holds; replay-explained: holds"},
	{"mechanism/put of a zombie, forgotten", "sum", "through",
		"in a1; take 0:0; fork s1/0; old put 0:0=7; forget",
		"mechanism: holds; exactly-once: holds; replay-explained: holds"},

	// state by updates, and processes of the mode
	{"update/nothing fails", "roll", "through+update",
		"in a1 b2 | a3; take 0:0; take 1:0; crash; take 0:1",
		allHold + "; effectively-once: holds"},
	{"update/done before", "sum", "through+update",
		"in a1 a2; take 0:0; take 0:1; put 0:1; before", allHold},
	{"update/applied twice", "sum", "through+update",
		"in a1; take 0:0; crash; apply 0:0; put 0:0",
		"exactly-once-state: state-duplicate 0:0"},
	{"update/repeated after the next one was made", "sum", "through+update",
		"in a1 a2; apply 0:0; apply 0:1; put 0:0=1; put 0:1; write 0:0; write 0:1",
		allHold},
	{"extra/nothing fails", "double>roll", "through+extra",
		"in a1 a2; crash acker/0; take 0:0; take 0:0 at 2; take 0:1; take 0:1 at 2", allHold},

	// services that forget
	{"forget/state", "sum", "through",
		"in a1 a2; take 0:0; apply 0:1; put 0:1; forget; write 0:1",
		"exactly-once-state: state-loss 0:1; exactly-once: state-loss 0:1; at-least-once: holds; " +
			"replay-explained: holds; at-most-once: no-subsequence 0:0"},
	{"forget/state that is stored again", "sum", "through",
		"in a1 a2; apply 0:0; put 0:0; forget; write 0:0; take 0:1", allHold},
	{"forget/state that a successor misses", "sum", "through",
		"in a1 a2; apply 0:0; put 0:0; forget; write 0:0; crash; take 0:1",
		"exactly-once-state: state-loss 0:0; at-least-once: holds; replay-explained: holds"},
	{"forget/output", "double", "volatile",
		"in a1 a2; take 0:0; forget; take 0:1",
		"at-least-once: loss 0:0; exactly-once: loss 0:0; at-most-once: holds; mechanism: holds"},
	{"forget/offset commit", "double", "volatile+commits",
		"in a1 a2; fetch 0; take 0:0; take 0:1; commit 0=2; commit 0=1; forget",
		"mechanism: holds; progress: holds"},

	// records that are set aside
	{"set aside/with state", "sum", "through",
		"in a1 a2 a4; take 0:0; shun 0:1; take 0:2",
		"at-least-once: loss 0:1; exactly-once-state: state-loss 0:1; at-most-once: holds; " +
			"effectively-once: state-loss 0:1; replay-explained: holds; order: holds"},
	{"set aside/without state", "double", "volatile",
		"in a1 a2; shun 0:0; take 0:1",
		"at-least-once: loss 0:0; exactly-once: loss 0:0; at-most-once: holds; " +
			"replay-explained: holds"},
	{"set aside/nothing would have come of it", "pair", "volatile",
		"in a0 a2; shun 0:0; take 0:1", allHold},
	{"set aside/and applied later", "sum", "through",
		"in a1 a2; shun 0:0; crash; take 0:0; take 0:1", allHold},
	{"set aside/the state would be the same", "max", "through",
		"in a3 a2; take 0:0; shun 0:1",
		"at-least-once: loss 0:1; exactly-once-state: holds; effectively-once: holds"},
	{"set aside/not deterministic", "noise", "through",
		"in a1 a2; shun 0:0; take 0:1",
		"at-least-once: loss 0:0; exactly-once-state: state-loss 0:0; at-most-once: holds; " +
			"exactly-once: loss 0:0"},

	// a table by identity
	{"rows/written again", "double", "volatile+rows",
		"in a1; take 0:0; write 0:0; see; write 0:0", allHold},
	{"rows/two values", "roll", "volatile+rows",
		"in a1 a2; take 0:0; take 0:1; see; crash; take 0:1",
		"no-revision: revised 0:1; exactly-once: wrong-value 0:1, revised 0:1; " +
			"at-most-once: holds; at-least-once: holds; order: holds"},
	{"rows/there and back", "double", "volatile+rows",
		"in a1 a2; take 0:0; take 0:1; write 0:0=7; write 0:0=2",
		"no-revision: revised 0:0; exactly-once: revised 0:0; at-most-once: holds; " +
			"at-least-once: holds; order: holds; replay-explained: holds"},
	{"rows/out of order", "double", "volatile+rows",
		"in a1 a2; take 0:1; take 0:0", "exactly-once: reorder 0:0; order: reorder 0:0"},
	{"rows/shown and replaced before the other output", "twin", "through+rows",
		"in a1; apply 0:0; put 0:0; write 0:0; write 0:0/1=5",
		"at-least-once: holds; no-revision: revised 0:0; exactly-once: wrong-value 0:0, " +
			"revised 0:0; replay-explained: unexplained 0:0"},
	{"rows/not over", "double", "volatile+rows",
		"in a1 a2; take 0:0; write 0:0=7; write 0:0=2; see; cut",
		"at-most-once: holds; no-revision: revised 0:0; at-least-once: unknown; " +
			"replay-explained: holds"},

	// a table by key
	{"keys/nothing fails", "roll", "through+keys",
		"in a1 b2 | a3; take 0:0; take 1:0; take 0:1", allHold + "; effectively-once: holds"},
	{"keys/two channels in any order", "double", "volatile+keys",
		"in a1 | a2; take 1:0; take 0:0", allHold + "; effectively-once: holds"},
	{"keys/written again", "roll", "through+keys",
		"in a1 a2; take 0:0; write 0:0; take 0:1; write 0:1",
		allHold + "; effectively-once: holds"},
	{"keys/replaced before it was shown", "double", "volatile+keys",
		"in a1 a2; apply 0:0; take 0:1", allHold + "; effectively-once: holds"},
	{"keys/last output lost", "double", "volatile+keys",
		"in a1 a2; take 0:0; apply 0:1",
		"at-least-once: loss 0:1; exactly-once: loss 0:1, wrong-value 0:0; " +
			"effectively-once: wrong-value 0:0; at-most-once: holds"},
	{"keys/lost by a key with state", "roll", "through+keys",
		"in a1 a2; take 0:0; apply 0:1; put 0:1",
		"at-least-once: loss 0:1; exactly-once: loss 0:1; effectively-once: wrong-value 0:0; " +
			"exactly-once-state: holds"},
	{"keys/no row", "double", "volatile+keys",
		"in a1 b2; take 0:0; apply 0:1",
		"at-least-once: loss 0:1; exactly-once: loss 0:1; effectively-once: wrong-value 0:1"},
	{"keys/replay goes back and forth", "double", "volatile+keys",
		"in a1 a2; take 0:0; take 0:1; write 0:0; write 0:1",
		"order: regression 0:0; exactly-once: regression 0:0, regression 0:1; " +
			"at-most-once: regression 0:0, regression 0:1; effectively-once: holds; " +
			"at-least-once: holds; no-revision: holds"},
	{"keys/stale in the end", "roll", "through+keys",
		"in a1 a2 a3; take 0:0; take 0:1; take 0:2; write 0:1",
		"order: regression 0:1; effectively-once: wrong-value 0:1; exactly-once: regression 0:1; " +
			"exactly-once-state: holds; at-least-once: holds"},
	{"keys/overtaken", "double", "volatile+keys",
		"in a1 a2; take 0:1; take 0:0",
		"order: regression 0:0; effectively-once: wrong-value 0:0; " +
			"exactly-once: wrong-value 0:0, regression 0:0; at-least-once: holds; " +
			"at-most-once: holds"},
	{"keys/two values", "double", "volatile+keys",
		"in a1; take 0:0; write 0:0=5; write 0:0=2",
		"no-revision: revised 0:0; exactly-once: revised 0:0; at-most-once: holds; " +
			"effectively-once: holds; order: holds"},
	{"keys/wrong value", "double", "volatile+keys",
		"in a1; apply 0:0; write 0:0=5",
		"exactly-once: wrong-value 0:0; effectively-once: wrong-value 0:0; " +
			"at-least-once: loss 0:0; at-most-once: no-subsequence 0:0"},
	{"keys/row gone", "double", "volatile+keys",
		"in a1; take 0:0; see; vanish",
		"no-revision: revised 0:0; exactly-once: revised 0:0; effectively-once: wrong-value 0:0"},
	{"keys/state and table of two executions", "roll", "through+keys",
		"in a1 | a2; take 0:0; take 1:0; put 0:0=21",
		"exactly-once: divergence 0:0; effectively-once: wrong-value 1:0; " +
			"exactly-once-state: holds; order: holds"},
	{"keys/each row has an order, not both together", "double", "volatile+keys",
		"in a1 b2 | b3 a4; apply 0:0; apply 1:1; apply 1:0; apply 0:1; write 1:1; write 0:0; " +
			"write 0:1; write 1:0",
		"exactly-once: regression 0:0; effectively-once: wrong-value 0:0; order: holds; " +
			"at-least-once: holds; at-most-once: holds"},
	{"keys/state applied twice", "sum", "through+keys",
		"in a1 a2; take 0:0; crash; take 0:0; take 0:1",
		"exactly-once-state: state-duplicate 0:0; effectively-once: state-duplicate 0:0; " +
			"no-revision: revised 0:0; order: holds; at-least-once: holds"},
	{"keys/rows of many keys of the state", "roll>rekey", "through+keys",
		"in a1 b2 | a3; take 0:0; take 0:0 at 2; take 1:0; take 1:0 at 2; take 0:1; " +
			"take 0:1 at 2", allHold + "; effectively-once: holds"},
	{"keys/not over", "double", "volatile+keys",
		"in a1 a2 a3; take 0:0; take 0:2; take 0:1; see; cut",
		"exactly-once: regression 0:1; order: regression 0:1; effectively-once: unknown; " +
			"at-most-once: holds"},

	// operators that are not deterministic
	{"random/a successor draws anew", "noise", "through",
		"in a1 a2; take 0:0; crash; take 0:1", allHold + "; effectively-once: holds"},
	{"random/nothing came of the first attempt", "noise", "through",
		"in a1 a2; apply 0:0; crash; take 0:0; take 0:1", allHold},
	{"random/output of one attempt, state of another", "noise", "through",
		"in a1; apply 0:0; write 0:0; crash; apply 0:0; put 0:0",
		"exactly-once: divergence 0:0; exactly-once-state: holds; at-least-once: holds; " +
			"replay-explained: holds"},
	{"random/two attempts shown", "noise", "volatile",
		"in a1; take 0:0; crash; take 0:0",
		"exactly-once: duplicate 0:0; no-revision: revised 0:0; at-most-once: duplicate 0:0; " +
			"exactly-once-state: holds; replay-explained: holds"},
	{"random/two attempts in one row", "noise", "volatile+rows",
		"in a1; take 0:0; crash; take 0:0",
		"exactly-once: revised 0:0; no-revision: revised 0:0; at-most-once: holds; " +
			"exactly-once-state: holds"},
	{"random/a value that nobody drew", "noise", "through",
		"in a1 a2; apply 0:0; put 0:0; write 0:0=9; take 0:1",
		"exactly-once: wrong-value 0:0; replay-explained: unexplained 0:0; " +
			"at-most-once: no-subsequence 0:0; at-least-once: loss 0:0"},
	{"random/nobody took it", "noise", "through",
		"in a1", "exactly-once: loss 0:0; exactly-once-state: state-loss 0:0; " +
			"at-least-once: loss 0:0; at-most-once: holds"},
	{"random/found by the search", "noise", "through",
		"in a1 | a2; take 0:0; take 1:0; apply 0:0; crash; apply 1:0",
		"exactly-once: holds; exactly-once-state: holds; at-most-once: holds"},

	// what cannot be judged
	{"unknown/state after state", "sum>roll", "through",
		"in a1 a2; take 0:0; take 0:1; take 0:1 at 2; take 0:0 at 2",
		"exactly-once: reorder 0:0; exactly-once-state: unknown; at-least-once: holds"},
}
