package checker

// oddStories are histories that no ordinary run has: each was found to tell a judge that overlooks
// something from one that does not. All that is said of them is in testdata/odd.golden.
var oddStories = []struct{ spec, mode, story string }{
	{"dice", "through", "in a1 b2 a2; take 0:0; apply 0:0; put 0:0"},
	{"dice", "volatile", "in a1 b2 a2 b2; apply 0:1; crash; write 0:1=0; crash; crash; crash; " +
		"crash; take 0:1; take 0:3"},
	{"double", "volatile", "in a1 a2; apply 0:1; begin 7; add 7 0:0 0:1; lose; decide 7 commit"},
	{"double", "volatile", "in a1 a2; begin 7; prepare 7 1; begin 7"},
	{"double", "volatile", "in a1; apply 0:0; begin 7; add 7 0:0; prepare 7 1; decide 7 abort; " +
		"batch 1 0:0; begin 8; add 8 0:0; decide 8 commit"},
	{"double", "volatile+commits", "in a1 a2; fetch 1"},
	{"double", "volatile+dirty", "in a0 a2; apply 0:0; apply 0:1; begin 7; add 7 0:0; see; " +
		"add 7 0:1; prepare 7 1"},
	{"double", "volatile+rows", "in a1 a2 a3; apply 0:0; apply 0:1; apply 0:2; batch 1 0:0; " +
		"batch 1 0:0; batch 2 0:1 0:2; miss"},
	{"double*", "volatile", "in a1 c0; begin 7; wait 60"},
	{"double*", "volatile", "in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1 50; add 7 0:0; " +
		"add 8 0:1; decide 7 commit; see; add 7 0:0"},
	{"double*", "volatile", "in a1 c2; apply 0:0; apply 0:1; begin 7; begin 8/1; add 7 0:0; " +
		"add 8 0:1; prepare 7 1; prepare 8 1; astray 2; decide 8 commit"},
	{"double*", "volatile", "in a1 c2; apply 0:0; apply 0:1; begin 7; refuse; begin 8/1; " +
		"add 7 0:0; add 8 0:1; decide 7 commit"},
	{"pair", "volatile", "in a1 | b2; apply 0:0; apply 1:0; write 0:0/0; write 1:0; write 0:0/1"},
	{"pair", "volatile", "in a1 | b2; apply 0:0; apply 1:0; write 0:0; write 1:0"},
	{"pair>double", "volatile", "in a1 | b2; take 0:0; take 1:0; take 0:0 at 2; take 1:0 at 2; " +
		"take 0:0.1 at 2; take 1:0.1 at 2"},
	{"pair>double", "volatile", "in a1 | b2; take 0:0; take 1:0; take 0:0 at 2; " +
		"take 0:0.1 at 2; take 1:0 at 2; take 1:0.1 at 2"},
	{"double>pair+odd", "volatile", "in a1 | b3; take 0:0; take 1:0; take 0:0 at 2; " +
		"take 1:0 at 2; take 1:0 at 3; take 0:0 at 3"},
	{"double>roll+odd", "volatile", "in a1 | a2; take 0:0; take 1:0; take 0:0 at 2; " +
		"take 1:0 at 2; take 0:0 at 3; take 1:0 at 3"},
	{"double>roll+odd", "volatile", "in a1 | a2; take 0:0; take 1:0; take 0:0 at 2; " +
		"take 1:0 at 2; take 1:0 at 3; take 0:0 at 3"},
	{"double>roll+sum", "through+keys", "in a1 | a2; take 0:0; take 1:0; take 0:0 at 2; " +
		"take 1:0 at 2; take 1:0 at 3; take 0:0 at 3"},
	{"double>pair+double", "volatile", "in a1 | b3; take 0:0; take 1:0; take 0:0 at 2; " +
		"take 1:0 at 2; take 1:0 at 3; take 0:0 at 3"},
	{"double>double*", "volatile", "in c1 a2 | a3 c4; take 0:0; take 0:1; take 1:0; take 1:1; " +
		"take 0:1 at 2; take 1:0 at 2; take 1:1 at 2; take 0:0 at 2"},
	{"double>roll*", "volatile", "in c1 a2 | a3 c4; take 0:0; take 0:1; take 1:0; take 1:1; " +
		"take 0:1 at 2; take 1:0 at 2; take 1:1 at 2; take 0:0 at 2"},
	{"double>odd*+roll", "through+keys", "in a1 c3 | c1 a2; take 0:0; take 0:1; take 1:0; " +
		"take 1:1; take 1:1 at 2; take 0:1 at 2; take 0:0 at 2; take 1:0 at 2; take 1:1 at 3; " +
		"take 0:1 at 3; take 0:0 at 3; take 1:0 at 3"},
	{"merge-merge", "volatile", "in a1 | b2 | a3 b4; take 0:0; take 1:0; take 0:0 at 2; " +
		"take 2:0 at 2; take 2:1 at 2; take 1:0 at 2; take 1:0 at 4; take 0:0 at 4; " +
		"take 0:0 at 3; take 0:0.1 at 3; take 2:0 at 3; take 2:0.1 at 3; take 2:1 at 3; " +
		"take 2:1.1 at 3; take 1:0 at 3; take 1:0.1 at 3"},
	{"sum-merge", "volatile", "in a1 b2 | b3 a4; take 0:0; take 0:1; take 0:0 at 2; " +
		"take 0:1 at 2; take 1:0 at 2; take 1:1 at 2; take 0:1 at 3; take 1:0 at 3; " +
		"take 1:1 at 3; take 0:0 at 3"},
	{"same-merge", "volatile", "in a1 b2 | b3 a4; take 0:0; take 0:1; take 0:0 at 2; " +
		"take 0:1 at 2; take 1:0 at 2; take 1:1 at 2; take 0:1 at 3; take 1:0 at 3; " +
		"take 1:1 at 3; take 0:0 at 3"},
	{"turn-merge", "volatile", "in a1 | a2 b5; take 0:0; take 1:0; take 1:1; take 0:0 at 2; " +
		"take 1:0 at 2; take 1:1 at 2; take 0:0 at 3; take 1:1 at 3; take 0:0.1 at 3; " +
		"take 1:1.1 at 3; take 1:0 at 3; take 1:0.1 at 3"},
	{"turn-merge", "volatile", "in a1 | a2 b5; take 1:0; take 0:0; take 1:1; take 0:0 at 2; " +
		"take 1:0 at 2; take 1:1 at 2; take 0:0 at 3; take 1:1 at 3; take 0:0.1 at 3; " +
		"take 1:1.1 at 3; take 1:0 at 3; take 1:0.1 at 3"},
	{"merge-cross", "volatile+keys", "in a1 | a2; apply 0:0; apply 1:0; write 1:0/0; " +
		"write 0:0/0; write 0:0/1; write 1:0/1"},
	{"picky>sum", "volatile+commits", "in a1 a2; commit 0=1; commit 0=1; commit 1=1"},
	{"roll", "volatile", "in a1 a2; take 0:1; take 0:0; again"},
	{"double>roll*+odd*", "volatile", "in a1 b2 c3 d4; take 0:0; take 0:1; take 0:2; " +
		"take 0:0 at 2; take 0:1 at 2; take 0:2 at 2; take 0:0 at 3; take 0:1 at 3; take 0:2 at 3"},
	{"roll>roll", "through", "in a0 a1; take 0:0; take 0:0 at 2; put 0:0; forget; crash; " +
		"take 0:1; take 0:1 at 2"},
	{"roll", "volatile+keys", "in a1 b2; take 0:0; take 0:1; alias 7:7"},
	{"roll*", "through", "in a1 b2 c3 | d4 a5; take 1:0; see; begin 7"},
	{"roll", "through", "in a1 a2; take 0:1; take 0:0; put 0:0=5; see; late"},
	{"roll", "volatile", "in a1 a2; take 0:1; take 0:0; see; late"},
	{"roll*>rekey*", "volatile", "in a1; apply 0:0; fork sink/0; old batch 1 0:0"},
	{"sum>roll", "through+keys", "in b2 b2; take 0:1; take 0:1 at 2; alter 7"},
	{"roll>double+pair", "through", "in a1 a2 | b3; take 0:0; take 0:1; take 0:1 at 3; " +
		"take 0:0 at 3; take 0:0; take 0:0 at 2"},
	{"sum", "through", "in a1 a2; put 0:0; forget; again; apply 0:0; apply 0:0; take 0:1"},
	{"sum", "through+update", "in a1; take 0:0; fork s1/0; old put 0:0=7; take 0:0"},
	{"sum", "volatile", "in a1 a2 a3; take 0:0; take 0:0; crash"},
	{"dice", "through+keys", "in b2 b0 | b2; crash; apply 1:0; crash; take 0:0; crash; crash; " +
		"take 0:0; crash; take 0:1"},
	{"dice", "volatile+keys", "in b0 b0 b0 a0; take 0:1; take 0:2; crash; crash; apply 0:0; " +
		"write 0:0; crash; apply 0:0"},
	{"dice", "volatile+keys", "in b1 a2 b1 a2 b0; apply 0:1; write 0:1; apply 0:3; crash; " +
		"take 0:4; write 0:4=2"},
	{"double", "volatile+rows", "in a1 a2; take 0:0; write 0:0=7; cut"},
	{"double>double", "volatile+keys", "in b2 b0 b0 a0; apply 0:0; write 0:0"},
	{"odd", "through+keys", "in a1 b0 a2 b0; take 0:0; crash; apply 0:0; put 0:0=1"},
	{"odd", "volatile+keys", "in b2 a0 | a2 b0; apply 0:0; take 1:0"},
	{"pair>double", "through+keys", "in a2 b1 b3 | b1 a1; take 0:0; take 0:0 at 2; " +
		"take 0:0.1 at 2; take 1:0; take 1:0.1 at 2"},
	{"rekey", "through+keys", "in a1 a0 a2 a2 b1; take 0:0; take 0:3"},
	{"rekey", "volatile+keys", "in a0 | a2; apply 1:0; write 1:0=4"},
	{"roll", "through+rows", "in a0 a1 b1; put 0:2=4"},
	{"roll*>rekey*", "volatile+keys", "in a1 a2; take 0:0; apply 0:1"},
	{"roll>rekey", "volatile+keys", "in a0 a0 a2 b1 a1; apply 0:2; take 0:3; take 0:3 at 2; " +
		"apply 0:4"},
	{"sum", "through+keys", "in a1 a2; take 0:0; take 0:0; take 0:1; take 0:0"},
	{"sum", "volatile+keys", "in a1 b2; take 0:0; take 0:1; miss"},
	{"sum>roll", "through+keys", "in a0 | b2; take 1:0; take 1:0 at 2; take 1:0 at 2"},
	{"sum>roll", "through+keys", "in b0 b1 a1 a2; take 0:0; take 0:0 at 2; apply 0:0; crash; " +
		"apply 0:1; put 0:1; apply 0:2; take 0:3"},
	{"sum>roll", "through+keys", "in b1 b0 b1 | b1 a1; put 0:0"},
	{"sum>roll", "volatile+keys", "in a0 b0 a0; take 0:0; apply 0:0; take 0:0 at 2; crash; " +
		"apply 0:0; take 0:1; take 0:1 at 2; take 0:2; take 0:2 at 2"},
	{"sum>roll", "volatile+rows", "in b2 b2; take 0:1; take 0:1 at 2; alter 7"},
	{"twin>pair", "through+rows", "in a1 | b2 b1; take 0:0; take 0:0 at 2"},
	{"twin>sum", "volatile+keys", "in a1 b2 | b3 a4; apply 1:0; apply 0:1; write 0:1; write 1:0"},
	{"dice", "snap+alone", "in a1 a2; apply 0:0; part 1; restart 1; take 0:0; take 0:1"},
	{"dice>double", "snap", "in a1 b2 b3; take 0:0; take 0:1; mark 1 2; part 1; tear; done 1"},
	{"dice>double", "snap+alone", "in a1; apply 0:0; restart 0; take 0:0"},
	{"dice>roll", "snap", "in a1 | a2; done 1; apply 1:0; part 1"},
	{"double>roll", "snap", "in a1 a2; take 0:0; mark 1 2; take 0:0 at 2; part 1 in 0:1; " +
		"part 2 at 2; done 1; done 2"},
	{"double", "snap", "in a1; take 0:0; hush"},
	{"double>double>roll", "snap", "in a1 a2; take 0:0; hush; take 0:0 at 2; mark 1 1; " +
		"part 1 in 0:0 at 3; done 1"},
	{"max", "snap", "in a1 a2 a4; restart 1; old ask checkpoint-id 1"},
	{"max", "snap", "in a3 a1; take 0:0; mark 1 1; part 1; done 1; restart 3; apply 0:1; " +
		"mark 2 2; part 2; done 2"},
	{"max>max", "snap", "in a3 a1; take 0:0; take 0:0 at 2; mark 1 1; part 1; part 1 at 2; " +
		"done 1; take 0:1; take 0:1 at 2; mark 2 2; part 2; part 2 at 2; restart 1; take 0:1; " +
		"take 0:1 at 2; mark 3 2; part 3; part 3 at 2; done 3"},
	{"max>max", "snap", "in a3 b4 a1 b5; take 0:0; take 0:0 at 2; take 0:1; take 0:1 at 2; " +
		"mark 1 2; part 1; part 1 at 2; done 1; take 0:2; take 0:2 at 2; take 0:3; " +
		"take 0:3 at 2; mark 2 4; part 2; part 2 at 2; done 2; restart 1 as 2; mark 3 4; " +
		"part 3; part 3 at 2; done 3"},
	{"max", "snap", "in a3 a1; take 0:0; part 1 a=0"},
	{"noise", "snap", "in a1 a2; restart 1; old commit 0=1"},
	{"noise", "snap", "in a2 a2 b1 | a1 b3; apply 1:1; apply 0:0; part 3; done 99; restart 3; " +
		"hand a=3; part 99"},
	{"noise", "snap", "in a2 a2 b1 | a1 b3; apply 1:1; part 2; apply 0:0; mark 3 0 2; part 3; " +
		"done 3; done 4; done 5; done 99; restart 3; hand a=3; part 99"},
	{"noise>roll", "snap", "in a1 a1 | a1; take 0:0; take 0:0; part 1 in 0:0; apply 0:1; " +
		"take 1:0; done 1"},
	{"odd", "snap", "in a2 a1 b1 | a1 b3; apply 1:0; apply 0:0"},
	{"pair>roll*", "snap+alone", "in b2 a1 | a3; take 1:0; take 1:0 at 2; take 1:0 at 2; " +
		"take 0:1; take 0:1.1 at 2; swap"},
	{"pair>roll", "snap", "in a1 a0; take 0:0; take 0:0 at 2; alias 0:1"},
	{"pair>twin", "snap+alone", "in b2 b2 b1 | b1 b2; take 0:0; take 0:0 at 2; take 0:1; " +
		"take 0:1 at 2; take 0:1 at 2"},
	{"pay>sum", "snap", "in a1 a2; part 1 in 0:1; done 1"},
	{"pay>sum", "snap", "in a1 b2; take 0:0; take 0:1; take 0:1 at 2; mark 2 2; part 2; " +
		"astray 99; part 2 at 2; done 2"},
	{"picky", "snap+alone", "in a1 a1 b3 | a1 b3"},
	{"roll", "snap", "in a1 a2; mark 1 0; part 1; done 1; take 0:0; reload 1; take 0:1; " +
		"mark 2 2; part 2; done 2"},
	{"roll", "snap", "in a1; take 0:0; mark 1 1; part 1 z=7; done 1; restart 1; mark 2 1; " +
		"part 2; done 2"},
	{"roll", "snap+alone", "in a1; take 0:0; part 1 z=7; restart 1"},
	{"roll", "snap", "in a1 | a2; part 1; take 0:0; part 1 in 1:0; restart 1; hand a=3; " +
		"take 1:0; done 2; done 2"},
	{"roll", "snap", "in a1 | a2; take 0:0; mark 1 1 1; part 1 in 1:0; done 1; mark 2 1 1; " +
		"part 2; done 2"},
	{"roll*", "snap", "in a1; done 1; part 1 in 0:0; take 0:0; take 0:0"},
	{"roll*+odd*", "snap", "in a1 b2 c3; take 0:0; take 0:1; take 0:2"},
	{"roll*>rekey*", "snap", "in a1 b2 b3; apply 0:1; part 1; restart 1; part 3"},
	{"sum", "snap", "in a1 a1 | a1; take 1:0; take 1:0"},
	{"sum", "snap", "in a1 a2 a4; take 0:0; part 1; restart 1; astray 3; take 0:1"},
	{"sum", "snap", "in a1 a2; ask begin-txn 2; take 0:1"},
	{"sum", "snap", "in a1; apply 0:0; write 0:0=2; take 0:0"},
	{"sum", "snap", "in a1; mark 1 1; astray 4"},
	{"sum", "snap", "in a1; restart 0; take 0:0; part 1; finish 1; old drop 1"},
	{"sum", "snap", "in a1; take 0:0; done 3; part 2; done 2; done 3; done 2"},
	{"sum", "snap", "in a1; take 0:0; part 1; done 1; mark 2 1; part 2; done 2; done 1"},
	{"sum", "snap", "in a3 a3 b1 | a3 b1; mark 2 0 1; part 2 in 1:1; done 2; apply 0:0; " +
		"take 0:0"},
	{"sum>double", "snap", "in a1 a1 | a1; apply 1:0; take 0:0; take 0:0 at 2; take 1:0; " +
		"take 1:0 at 2"},
	{"sum>roll", "snap", "in a1 | a2; take 0:0; take 1:0; take 1:0 at 2; take 0:0 at 2; " +
		"mark 1 1 1; part 1; part 1 at 2; done 1; restart 0; take 0:0; take 0:0 at 2; take 1:0; " +
		"take 1:0 at 2; mark 2 1 1; part 2; part 2 at 2; done 2"},
	{"sum*>roll", "snap", "in a1 c2; take 0:0; take 0:1; take 0:1 at 2; take 0:0 at 2; mark 1 2; " +
		"part 1; part 1 at 2; done 1"},
	{"twin>double", "snap+once", "in b2 | b0 a0; take 1:1; take 1:1.1 at 2"},
	{"twin>sum", "snap", "in a1 a1 | a1; apply 1:0; take 0:0; take 0:0 at 2; take 1:0"},
	{"twin>sum", "snap+alone", "in a1 a1 | a1; apply 1:0; take 1:0; take 1:0 at 2; restart 0; " +
		"apply 0:0; apply 1:0; take 0:1; take 0:1 at 2; mark 1 2 1; done 1"},
	{"twin>sum", "snap+once", "in a0; take 0:0; take 0:0 at 2; take 0:0.1 at 2; mark 1 1; " +
		"part 1; part 1 in 0:0.1 at 2; done 1"},
	{"pair>odd", "snap+keys", "in a2; take 0:0; take 0:0.1 at 2; mark 3 1; part 3 in 0:0 at 2; " +
		"done 3"},
	{"rekey>max", "snap+keys", "in b1 a0; take 0:1; take 0:1 at 2; mark 3 2; " +
		"part 3 in 0:1 at 2; done 3"},
}
