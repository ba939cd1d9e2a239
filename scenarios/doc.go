// Package scenarios joins the core: a Scenario is a run as plain data, a Library is what its names
// mean, and Run turns both into a history and verdicts.
//
// # The smallest use
//
//	lib := scenarios.Builtin()
//	s, err := scenarios.Parse(lib, "lesson.sim", data)
//	...
//	_, result, err := scenarios.Run(lib, s, scenarios.Options{})
//	for _, v := range result.Verdicts {
//		fmt.Println(v.Property, v.Result)
//	}
//
// # The rules
//
//   - Nothing registers itself. What exists is what the Library lists; to use operators, modes or
//     sinks of their own, callers append to the one that Builtin returns.
//   - A run depends on the scenario and the library alone. The same scenario has the same hash
//     everywhere; GoldenVersion says which version of the hashes this is.
//   - A scenario file is the one artifact: what people write, what a failing run saves, and what a
//     regression corpus holds. Parse refuses what it does not understand, with line and column.
package scenarios

// GoldenVersion is the version of the trace hashes. A change of the world, the modes, the draw or
// the built-in operators that moves hashes raises it, and CHANGELOG.md says why.
const GoldenVersion = 3
