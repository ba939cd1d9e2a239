package checker

const snapHold = allHold + "; effectively-once: holds; atomic-visibility: holds; " +
	"global-visibility: holds; agreement: holds; conserved: holds"

// snapStories are about checkpoints, transactions and batches.
var snapStories = []struct{ name, spec, mode, story, want string }{
	// state in checkpoints
	{"checkpoints/nothing fails", "roll", "snap",
		"in a1 b2 | a3; take 0:0; mark 1 1 0; part 1; done 1; take 1:0; take 0:1; mark 2 2 1; " +
			"part 2; done 2", snapHold},
	{"checkpoints/the last one is not completed", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 1; part 1; done 1; take 0:1; mark 2 2; part 2",
		"exactly-once-state: state-loss 0:1; effectively-once: state-loss 0:1; " +
			"at-least-once: holds; at-most-once: holds; replay-explained: holds"},
	{"checkpoints/a completion is forgotten", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 1; part 1; done 1; take 0:1; mark 2 2; part 2; done 2; forget",
		"exactly-once-state: state-loss 0:1; mechanism: holds"},
	{"checkpoints/a part is forgotten", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1; forget; done 1",
		"exactly-once-state: state-loss 0:0, inconsistent-cut -1:1"},
	{"checkpoints/a restart goes back", "roll", "snap",
		"in a1 a2 | a3; take 0:0; mark 1 1 0; part 1; done 1; apply 0:1; restart 1; take 1:0; " +
			"take 0:1; mark 2 2 1; part 2; done 2", snapHold},
	{"checkpoints/a restart shows again", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 1; part 1; done 1; take 0:1; restart 1; take 0:1; " +
			"mark 2 2; part 2; done 2",
		"exactly-once-state: holds; effectively-once: holds; at-least-once: holds; " +
			"at-most-once: duplicate 0:1; exactly-once: duplicate 0:1; replay-explained: holds"},
	{"checkpoints/a restart from an older one", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 1; part 1; done 1; take 0:1; mark 2 2; part 2; done 2; " +
			"restart 1; apply 0:1; mark 3 2; part 3; done 3", snapHold},
	{"checkpoints/from the start", "sum", "snap",
		"in a1; apply 0:0; restart 0; take 0:0; mark 1 1; part 1; done 1", snapHold},
	{"checkpoints/a key is gone", "sum", "snap",
		"in a1 b2; take 0:0; mark 1 1; part 1; done 1; restart 0; take 0:1; mark 2 2; part 2; " +
			"done 2", "exactly-once-state: state-loss 0:0, inconsistent-cut -1:2"},
	{"checkpoints/a value that nobody made", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1 a=9; done 1",
		"exactly-once-state: wrong-state 0:0, inconsistent-cut -1:1; " +
			"replay-explained: unexplained 0:0; at-most-once: no-subsequence 0:0"},
	{"checkpoints/dropped after it was completed", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1; done 1; drop 1",
		"exactly-once-state: state-loss 0:0; effectively-once: state-loss 0:0; " +
			"exactly-once: state-loss 0:0; at-least-once: holds; at-most-once: holds; " +
			"mechanism: holds"},
	{"checkpoints/a part is torn", "sum", "snap",
		"in a1 b2 c3; take 0:0; take 0:1; take 0:2; mark 1 3; part 1; tear; done 1",
		"exactly-once-state: state-loss 0:1, state-loss 0:2, inconsistent-cut -1:1; " +
			"effectively-once: state-loss 0:1, state-loss 0:2; replay-explained: holds"},
	{"checkpoints/a part is torn and another one follows", "sum", "snap",
		"in a1 b2; take 0:0; take 0:1; mark 1 2; part 1; tear; done 1; mark 2 2; part 2; done 2",
		"exactly-once-state: inconsistent-cut -1:1; effectively-once: holds"},
	{"checkpoints/a torn part is begun from", "sum", "snap",
		"in a1 b2 b3; take 0:0; take 0:1; mark 1 2; part 1; tear; done 1; restart 1; take 0:2; " +
			"mark 2 3; part 2; done 2",
		"exactly-once-state: state-loss 0:1, inconsistent-cut -1:1, inconsistent-cut -1:2; " +
			"effectively-once: state-loss 0:1; replay-explained: holds"},
	{"checkpoints/what is torn was in flight", "sum", "snap",
		"in a1 | a2; take 0:0; mark 1 1 1; part 1 in 1:0; tear; done 1",
		"exactly-once-state: state-loss 1:0, inconsistent-cut -1:1"},
	{"checkpoints/a position is torn", "sum", "snap",
		"in a1; take 0:0; part 1; mark 1 1; tear; done 1",
		"exactly-once-state: inconsistent-cut -1:1; effectively-once: holds"},
	{"checkpoints/dropped and then kept again", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1; done 1; drop 1; part 1", snapHold},
	{"checkpoints/dropped and another one follows", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 1; part 1; done 1; drop 1; take 0:1; mark 2 2; part 2; done 2",
		snapHold},
	{"checkpoints/the drop of the last one is forgotten", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1; done 1; drop 1; forget", snapHold},

	// cuts
	{"cut/beyond the sources", "sum", "snap",
		"in a1 a2; take 0:0; take 0:1; mark 1 1; part 1; done 1; mark 2 2; part 2; done 2",
		"exactly-once-state: inconsistent-cut -1:1; effectively-once: holds; exactly-once: holds"},
	{"cut/behind the sources", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 2; part 1; done 1; take 0:1; mark 2 2; part 2; done 2",
		"exactly-once-state: inconsistent-cut -1:1; effectively-once: holds"},
	{"cut/the value is the same", "max", "snap",
		"in a3 a1; take 0:0; take 0:1; mark 1 1; part 1; done 1; restart 1; apply 0:1; mark 2 2; " +
			"part 2; done 2", snapHold},
	{"cut/an input is missing and the value is the same", "max", "snap",
		"in a3 a1; take 0:0; mark 1 2; part 1; done 1; take 0:1; mark 2 2; part 2; done 2",
		"exactly-once-state: holds"},
	{"cut/of no partition known", "sum", "snap",
		"in a1; take 0:0; part 1; done 1",
		"exactly-once-state: inconsistent-cut -1:1; effectively-once: holds"},
	{"cut/of a batch", "sum", "snap",
		"in a1 a2; plan 1 1; take 0:0; part 1; finish 1; plan 2 2; take 0:1; part 2; finish 2",
		snapHold},
	{"cut/of a batch, dropped by an attempt before", "sum", "snap",
		"in a1; plan 1 1; apply 0:0; restart 0; take 0:0; part 1; finish 1; old drop 1",
		"exactly-once-state: holds; effectively-once: holds; mechanism: zombie-write -1:1"},
	{"cut/of a batch, dropped by the next attempt", "sum", "snap",
		"in a1; plan 1 1; take 0:0; part 1; finish 1; restart 1; drop 1",
		"exactly-once-state: state-loss 0:0; effectively-once: state-loss 0:0"},
	{"cut/of a batch, dropped and made again", "sum", "snap",
		"in a1; plan 1 1; apply 0:0; part 1; restart 0; drop 1; take 0:0; part 1; finish 1; " +
			"old drop 1",
		"exactly-once-state: holds; effectively-once: holds; mechanism: zombie-write -1:1"},
	{"cut/beyond a batch", "sum", "snap",
		"in a1 a2; plan 1 1; take 0:0; take 0:1; part 1; finish 1; plan 2 2; part 2; finish 2",
		"exactly-once-state: inconsistent-cut -1:1"},
	{"cut/out of turn", "roll", "snap",
		"in a1 a2; take 0:1; take 0:0; mark 1 2; part 1; done 1",
		"exactly-once-state: wrong-state 0:0, inconsistent-cut -1:1"},
	{"cut/two orders of two channels", "roll", "snap",
		"in a1 | a2; take 1:0; take 0:0; mark 1 1 1; part 1; done 1", snapHold},
	{"cut/in flight", "roll", "snap",
		"in a1 | a2; take 0:0; mark 1 1 1; part 1 in 1:0; done 1; restart 1; take 1:0; " +
			"mark 2 1 1; part 2; done 2", snapHold},
	{"cut/in flight and taken before the part is there", "roll", "snap",
		"in a1 | a2; take 0:0; take 1:0; mark 1 1 1; part 1 a=1 in 1:0; done 1", snapHold},
	{"cut/in flight and nobody kept it", "roll", "snap",
		"in a1 | a2; take 0:0; mark 1 1 1; part 1; done 1; take 1:0; mark 2 1 1; part 2; done 2",
		"exactly-once-state: inconsistent-cut -1:1; effectively-once: holds"},
	{"cut/in flight twice", "roll", "snap",
		"in a1 | a2; take 0:0; mark 1 1 1; part 1 in 1:0 1:0; done 1; take 1:0; mark 2 1 1; " +
			"part 2; done 2", "exactly-once-state: inconsistent-cut -1:1"},
	{"cut/in flight from behind it", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 1; part 1 in 0:1; done 1; take 0:1; mark 2 2; part 2; done 2",
		"exactly-once-state: inconsistent-cut -1:1; effectively-once: holds"},
	{"cut/in flight out of turn", "roll", "snap",
		"in a1 a2; mark 1 2; part 1 in 0:1 0:0; done 1; take 0:0; take 0:1; mark 2 2; part 2; " +
			"done 2", "exactly-once-state: inconsistent-cut -1:1; effectively-once: holds"},
	{"cut/in flight before an operator without state", "double>roll", "snap",
		"in a1 a2; take 0:0; take 0:0 at 2; mark 1 2; part 1 in 0:1; part 1 at 2; done 1; " +
			"restart 1; take 0:1; take 0:1 at 2; mark 2 2; part 2 at 2; done 2", snapHold},
	{"cut/state after state", "pay>sum", "snap",
		"in a1 b2; take 0:0; take 0:0 at 2; mark 1 1; part 1; part 1 at 2; done 1; take 0:1; " +
			"take 0:1 at 2; mark 2 2; part 2; part 2 at 2; done 2", snapHold},
	{"cut/in flight between states", "pay>sum", "snap",
		"in a1 b2; take 0:0; take 0:0 at 2; take 0:1; mark 1 2; part 1; part 1 in 0:1 at 2; " +
			"done 1; take 0:1 at 2; mark 2 2; part 2; part 2 at 2; done 2", snapHold},
	{"cut/money is on its way and nobody kept it", "pay>sum", "snap",
		"in a1 b2; take 0:0; take 0:0 at 2; take 0:1; mark 1 2; part 1; part 1 at 2; " +
			"done 1; take 0:1 at 2; mark 2 2; part 2; part 2 at 2; done 2",
		"conserved: unbalanced -1:1; exactly-once-state: unknown; exactly-once: holds"},
	{"cut/not deterministic", "noise", "snap",
		"in a1 a2; take 0:0; mark 1 1; part 1; done 1; apply 0:1; restart 1; take 0:1; mark 2 2; " +
			"part 2; done 2", snapHold},

	// what is in flight in the end is delivered
	{"end/in flight", "sum", "snap",
		"in a1 a2; take 0:0; mark 1 2; part 1 in 0:1; done 1",
		"exactly-once-state: holds; effectively-once: holds; at-least-once: loss 0:1; " +
			"at-most-once: holds; exactly-once: loss 0:1"},
	{"end/in flight, in the state as well", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1 in 0:0; done 1",
		"exactly-once-state: state-duplicate 0:0, inconsistent-cut -1:1; " +
			"at-most-once: state-duplicate 0:0"},

	// at most once, on branches
	{"branches/the output of one, the state of another", "roll", "snap",
		"in a1 | a2; take 0:0; take 1:0; restart 0; apply 1:0; apply 0:0; mark 1 1 1; part 1; " +
			"done 1",
		"at-most-once: holds; exactly-once: divergence 0:0; exactly-once-state: holds"},
	{"branches/an input is applied twice on one", "sum", "snap",
		"in a1 a2 a4; take 0:0; apply 0:1; mark 1 1; part 1; done 1; restart 1; take 0:1; " +
			"take 0:2; mark 2 3; part 2; done 2",
		"at-most-once: no-subsequence 0:1, no-subsequence 0:2, state-duplicate 0:1; " +
			"exactly-once-state: state-duplicate 0:1, inconsistent-cut -1:1, " +
			"inconsistent-cut -1:2"},
	{"branches/twice and the value is the same", "max", "snap",
		"in a1 a2 a4; take 0:0; apply 0:1; mark 1 1; part 1; done 1; restart 1; take 0:1; " +
			"take 0:2; mark 2 3; part 2; done 2",
		"at-most-once: holds; exactly-once-state: inconsistent-cut -1:1"},
	{"branches/a value that nobody made", "sum", "snap",
		"in a1; apply 0:0; write 0:0=9; mark 1 1; part 1; done 1",
		"at-most-once: no-subsequence 0:0; replay-explained: unexplained 0:0"},
	{"branches/behind an operator without state", "sum>double", "snap",
		"in a1 a2; take 0:0; take 0:0 at 2; apply 0:1; mark 1 1; part 1; done 1; restart 1; " +
			"take 0:1; take 0:1 at 2; mark 2 2; part 2; done 2",
		"at-most-once: no-subsequence 0:1, state-duplicate 0:1"},
	{"branches/one life shows what no one branch gives", "sum", "snap",
		"in a1 a1 | a1; apply 1:0; take 0:0; take 1:0; restart 0; apply 0:0; apply 1:0; " +
			"take 0:1; mark 1 2 1; part 1; done 1",
		"at-most-once: no-subsequence 1:0; exactly-once-state: holds"},
	{"branches/two lives do", "sum", "snap",
		"in a1 a1 | a1; apply 1:0; take 0:0; restart 0; apply 0:0; apply 0:1; take 1:0; " +
			"mark 1 2 1; part 1; done 1",
		"at-most-once: holds; exactly-once-state: holds"},
	{"branches/the same behind an operator without state", "sum>double", "snap",
		"in a1 a1 | a1; apply 1:0; take 0:0; take 0:0 at 2; take 1:0; take 1:0 at 2; restart 0; " +
			"apply 0:0; apply 1:0; take 0:1; take 0:1 at 2; mark 1 2 1; part 1; done 1",
		"at-most-once: no-subsequence 1:0; exactly-once-state: holds"},

	// snapshots of a task's own
	{"alone/a life goes on from one", "sum", "snap+alone",
		"in a1 a2; take 0:0; part 1; apply 0:1; restart 1; take 0:1", snapHold},
	{"alone/the state is that of the last life", "sum", "snap+alone",
		"in a1 a2; take 0:0; part 1; take 0:1; restart 1",
		"exactly-once-state: state-loss 0:1; at-most-once: holds"},
	{"alone/an input is applied twice", "sum", "snap+alone",
		"in a1 a2; apply 0:0; part 1; restart 1; take 0:0; take 0:1",
		"at-most-once: no-subsequence 0:0, no-subsequence 0:1, state-duplicate 0:0; " +
			"exactly-once-state: state-duplicate 0:0"},
	{"alone/what is shown again is explained for itself", "sum", "snap+alone",
		"in a1; take 0:0; take 0:0",
		"at-most-once: no-subsequence 0:0, duplicate 0:0, state-duplicate 0:0"},
	{"alone/applied twice in a life that is over", "sum", "snap+alone",
		"in a1; apply 0:0; apply 0:0; restart 0; take 0:0", snapHold},
	{"alone/twice and the value is the same", "max", "snap+alone",
		"in a1; apply 0:0; take 0:0", "at-most-once: holds; exactly-once-state: holds"},

	// mechanism
	{"pointer/goes back", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1; done 1; mark 2 1; part 2; done 2; done 1",
		"mechanism: pointer-regression -1:1; exactly-once-state: holds"},
	{"pointer/goes back to what was dropped", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1; done 1; mark 2 1; part 2; done 2; mark 3 1; part 3; " +
			"done 3; mark 4 1; part 4; done 4; done 1",
		"mechanism: pointer-regression -1:1; exactly-once-state: state-loss 0:0"},
	{"pointer/what followed is given up", "sum", "snap",
		"in a1; take 0:0; mark 1 1; part 1; done 1; mark 2 1; part 2; done 2; mark 3 1; part 3; " +
			"done 3; done 2; done 1",
		"mechanism: pointer-regression -1:1, pointer-regression -1:2; exactly-once-state: holds"},
	{"zombie/its part is accepted", "sum", "snap",
		"in a1; take 0:0; fork s1/0; mark 1 1; old part 1; done 1",
		"mechanism: zombie-write -1:1; exactly-once-state: holds"},
	{"zombie/its part is refused", "sum", "snap",
		"in a1; take 0:0; fork s1/0; mark 1 1; old part 1; refuse; apply 0:0; part 1; done 1",
		"mechanism: holds; exactly-once-state: holds"},
	{"zombie/its batch is accepted", "double", "volatile",
		"in a1; apply 0:0; fork sink/0; old batch 1 0:0",
		"mechanism: zombie-write 0:0; at-least-once: holds; exactly-once: holds"},
	{"zombie/its commit is accepted", "double", "volatile",
		"in a1; apply 0:0; begin 7; add 7 0:0; fork sink/0; old decide 7 commit",
		"mechanism: zombie-write 0:7; exactly-once: holds"},

	// transactions
	{"transaction/committed", "double", "volatile",
		"in a1 a2; fetch 0; apply 0:0; apply 0:1; begin 7; add 7 0:0 0:1; see; prepare 7 1; see; " +
			"decide 7 commit; see", snapHold + "; progress: holds"},
	{"transaction/aborted and done again", "double", "volatile",
		"in a1; apply 0:0; begin 7; add 7 0:0; prepare 7 1; decide 7 abort; see; begin 8; " +
			"add 8 0:0; decide 8 commit", snapHold},
	{"transaction/read before it is decided", "double", "volatile+dirty",
		"in a1; apply 0:0; begin 7; add 7 0:0; see; decide 7 commit; see",
		"atomic-visibility: early-read 0:0; global-visibility: holds; exactly-once: holds"},
	{"transaction/read though it is aborted", "double", "volatile+dirty",
		"in a1; apply 0:0; begin 7; add 7 0:0; decide 7 abort; see; begin 8; add 8 0:0; " +
			"decide 8 commit; see",
		"atomic-visibility: dirty-read 0:0; agreement: holds; exactly-once: duplicate 0:0"},
	{"transaction/read, and aborted later", "double", "volatile+dirty",
		"in a1; apply 0:0; begin 7; add 7 0:0; see; decide 7 abort",
		"atomic-visibility: dirty-read 0:0, early-read 0:0"},
	{"transaction/read in two parts", "double", "volatile+dirty",
		"in a1 a2; apply 0:0; apply 0:1; begin 7; add 7 0:0; see; add 7 0:1; see; prepare 7 1; " +
			"decide 7 commit",
		"atomic-visibility: early-read 0:0, early-read 0:1, torn-read 0:1; " +
			"global-visibility: fractured-read 0:1"},
	{"transaction/part of it is all there is", "double", "volatile",
		"in a1 a2; apply 0:0; apply 0:1; begin 7; add 7 0:0 0:1; lose; prepare 7 1; " +
			"decide 7 commit; see",
		"atomic-visibility: torn 0:1; global-visibility: torn 0:1; at-least-once: loss 0:1"},
	{"transaction/part of it is all there is so far", "double", "volatile",
		"in a1 a2; apply 0:0; apply 0:1; begin 7; add 7 0:0 0:1; lose; decide 7 commit; see; cut",
		"atomic-visibility: torn-read 0:1"},
	{"transaction/lost by what the service forgot", "double", "volatile",
		"in a1; apply 0:0; begin 7; add 7 0:0; prepare 7 1; decide 7 commit; forget; see",
		"atomic-visibility: early-read 0:0; progress: stuck 0:0, hanging 0:7"},
	{"transaction/hangs", "double", "volatile",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1",
		"progress: hanging 0:7; atomic-visibility: holds; at-least-once: loss 0:0"},
	{"transaction/times out", "double", "volatile",
		"in a1; fetch 0; apply 0:0; begin 7 50; add 7 0:0; prepare 7 1; wait 60",
		"progress: holds; atomic-visibility: holds; at-least-once: loss 0:0"},
	{"transaction/does not time out yet", "double", "volatile",
		"in a1; fetch 0; apply 0:0; begin 7 50; add 7 0:0; prepare 7 1; wait 50",
		"progress: hanging 0:7"},
	{"transaction/read at its deadline", "double", "volatile+dirty",
		"in a1; apply 0:0; begin 7 50; add 7 0:0; wait 50; see; wait 1; cut",
		"atomic-visibility: dirty-read 0:0, early-read 0:0"},
	{"transaction/read after its deadline", "double", "volatile+dirty",
		"in a1; apply 0:0; begin 7 50; add 7 0:0; wait 51; see; cut",
		"atomic-visibility: dirty-read 0:0"},
	{"transaction/its successor aborts it", "double", "volatile",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; begin 7; add 7 0:0; decide 7 commit",
		"progress: holds; exactly-once: holds; atomic-visibility: holds"},

	// one checkpoint, many participants
	{"global/one step", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 1; see; whole 1; see", snapHold},
	{"global/a part is gone", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 1; decide 8 abort; whole 2; see",
		"global-visibility: holds; agreement: holds; at-least-once: loss 0:0, loss 0:1"},
	{"global/two steps", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 1; decide 7 commit; see; decide 8 commit; see",
		"global-visibility: fractured-read 0:1; atomic-visibility: holds; agreement: holds; " +
			"exactly-once: holds"},
	{"global/two steps that nobody saw", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 1; decide 7 commit; decide 8 commit; see", snapHold},
	{"global/participants disagree", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 1; decide 7 commit; decide 8 abort; see",
		"agreement: conflict -1:1; global-visibility: torn 0:1; atomic-visibility: holds"},
	{"global/time disagrees", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1 50; add 7 0:0; add 8 0:1; " +
			"prepare 7 1; prepare 8 1; decide 7 commit; wait 60; see",
		"agreement: conflict -1:1; global-visibility: torn 0:1"},
	{"global/of two checkpoints", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 2; decide 7 commit; see; decide 8 abort",
		"agreement: holds; global-visibility: holds"},

	// the completion of a checkpoint is the decision
	{"decision/comes first", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; mark 1 1; done 1; " +
			"decide 7 commit; see", snapHold},
	{"decision/comes later", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; mark 1 1; decide 7 commit; " +
			"see; done 1",
		"agreement: premature-commit -1:1; atomic-visibility: holds; exactly-once: holds"},
	{"decision/never comes", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; decide 7 commit; see",
		"agreement: premature-commit -1:1; exactly-once: holds"},
	{"decision/later participants decide alike", "double*", "snap+job",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 1; decide 7 commit; decide 8 abort",
		"agreement: conflict -1:1, premature-commit -1:1"},
	{"decision/of a later checkpoint", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; mark 2 1; done 2; " +
			"decide 7 commit; see", snapHold},
	{"decision/of an earlier checkpoint", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; mark 1 1; done 1; begin 7; add 7 0:0; prepare 7 2; " +
			"decide 7 commit; see", "agreement: premature-commit -1:2"},
	{"decision/of what another attempt prepared", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; restart 0; mark 1 0; " +
			"done 1; decide 7 commit", "agreement: premature-commit -1:1"},
	{"decision/of what another life prepared", "double", "snap",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; restart 0; mark 1 0; " +
			"done 1; decide 7 commit", "agreement: holds"},
	{"decision/of what is not prepared", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; mark 1 1; done 1; begin 7; add 7 0:0; decide 7 commit 1; see",
		"agreement: premature-commit -1:1; atomic-visibility: holds"},
	{"decision/one step for all, of which one is not decided", "double*", "snap+job",
		"in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; add 8 0:1; prepare 7 1; " +
			"prepare 8 2; mark 1 1; done 1; whole 2; see", "agreement: premature-commit -1:2"},
	{"decision/is forgotten by the store", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; mark 1 1; done 1; forget; " +
			"decide 7 commit; see", "agreement: holds"},
	{"decision/of what the log forgot was prepared", "double", "snap+job",
		"in a1; fetch 0; apply 0:0; begin 7; add 7 0:0; prepare 7 1; forget; mark 1 1; done 1; " +
			"decide 7 commit; see", "agreement: holds"},
	{"decision/of a batch comes first", "sum", "snap+job",
		"in a1; take 0:0; mark 1 1; part 1; done 1; batch 1 0:0", "agreement: holds"},
	{"decision/of a batch comes later", "sum", "snap+job",
		"in a1; take 0:0; mark 1 1; part 1; batch 1 0:0; done 1",
		"agreement: premature-commit -1:1"},
	{"decision/is the plan of a batch", "sum", "snap+job",
		"in a1; plan 1 1; take 0:0; batch 1 0:0; part 1; finish 1", "agreement: holds"},
	{"decision/is the plan of another batch", "sum", "snap+job",
		"in a1; plan 2 1; take 0:0; batch 1 0:0; part 1; finish 1",
		"agreement: premature-commit -1:1"},

	// batches
	{"batch/nothing fails", "sum", "volatile",
		"in a1 a2; apply 0:0; apply 0:1; batch 1 0:0 0:1; see", snapHold},
	{"batch/held already", "double", "volatile",
		"in a1; apply 0:0; batch 1 0:0; batch 1 0:0; before; vanish", snapHold},
	{"batch/twice", "double", "volatile",
		"in a1; apply 0:0; batch 1 0:0; batch 1 0:0",
		"exactly-once: duplicate 0:0; atomic-visibility: holds"},
	{"batch/two partitions", "double*", "volatile",
		"in a1 c2; apply 0:0; apply 0:1; batch 1 0:0; see; batch 1/1 0:1; see",
		"global-visibility: fractured-read 0:1; atomic-visibility: holds"},
	{"batch/part of it is there already", "double", "volatile+once",
		"in a1 a2 a3; apply 0:0; apply 0:1; apply 0:2; batch 1 0:0; see; " +
			"batch 2 0:0 0:1 0:1 0:2; see", snapHold},
	{"batch/the same one grows", "double", "volatile+once",
		"in a1 a2; apply 0:0; apply 0:1; batch 1 0:0; see; batch 1 0:0 0:1; see",
		"atomic-visibility: holds; global-visibility: fractured-read 0:1; exactly-once: holds"},
	{"batch/part of it is there already, and part of the rest all there is", "double",
		"volatile+once", "in a1 a2 a3; apply 0:0; apply 0:1; apply 0:2; batch 1 0:0; " +
			"batch 2 0:0 0:1 0:2; vanish", "atomic-visibility: torn 0:2"},
	{"batch/part of it is all there is", "double", "volatile",
		"in a1 a2; apply 0:0; apply 0:1; batch 1 0:0 0:1; vanish",
		"atomic-visibility: torn 0:1; at-least-once: loss 0:1"},
}
