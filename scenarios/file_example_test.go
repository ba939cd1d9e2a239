package scenarios_test

import (
	"errors"
	"fmt"

	"github.com/oncesim/oncesim/scenarios"
)

const lesson = `The sink dies between its write and the acknowledgement.
-- scenario.yaml --
format: 1
topology: pipeline
mode: at-least-once
input: [k1=20, k1=22]
faults:
  - crash sink/0 before ack of write 1
-- verdict --
holds    at-least-once
violated exactly-once: duplicate input/0:0 x2
`

// A file is read with the names that a library gives them.
func ExampleParse() {
	s, err := scenarios.Parse(scenarios.Builtin(), "lessons/sink-dies.sim", []byte(lesson))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Name, "under", s.Mode.Name)
	fmt.Println(s.Faults[0])
	fmt.Println(s.Expect[1])
	// Output:
	// sink-dies under at-least-once
	// crash sink/0 before ack of write 1
	// violated exactly-once: duplicate input/0:0 x2
}

// Complaints have a place, what was expected and what was perhaps meant.
func ExampleFileError() {
	text := "-- scenario.yaml --\nformat: 1\ntopology: pipeline\nmode: none\nbounds: {tiem: 1s}\n"
	_, err := scenarios.Parse(scenarios.Builtin(), "typo.sim", []byte(text))
	var bad *scenarios.FileError
	fmt.Println(errors.As(err, &bad), bad.Line, bad.Col)
	fmt.Println(err)
	// Output:
	// true 5 10
	// typo.sim:5:10: unknown key "tiem", expected events, time; did you mean "time"?
}

// What a search has found is saved as a file of the same format.
func ExampleFormat() {
	lib := scenarios.Builtin()
	s, err := scenarios.Parse(lib, "sink-dies.sim", []byte(lesson))
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Name, s.Seed = "found", 4711
	s.Recorded = &scenarios.Recorded{Hash: 0xfeed, Signature: "duplicate", Format: 1}
	fmt.Print(string(scenarios.Format(lib, s)))
	// Output:
	// The sink dies between its write and the acknowledgement.
	// -- scenario.yaml --
	// format: 1
	// name: found
	// topology: pipeline
	// mode: at-least-once
	// seed: 4711
	// input: [k1=20, k1=22]
	// faults:
	//   - crash sink/0 before ack of write 1
	// -- verdict --
	// holds    at-least-once
	// violated exactly-once: duplicate input/0:0 x2
	// -- recorded --
	// hash: 000000000000feed
	// signature: duplicate
	// golden: 1
}

// A new diagram leaves the rest of a file as people wrote it.
func ExampleReplaceSection() {
	text := "-- scenario.yaml --\nformat: 1 # and a comment\n-- trace --\nold\n"
	fmt.Print(string(scenarios.ReplaceSection([]byte(text), "trace", "new\n")))
	// Output:
	// -- scenario.yaml --
	// format: 1 # and a comment
	// -- trace --
	// new
}

// Lines go to the partitions in turn.
func ExampleLibrary_LoadInput() {
	lib := scenarios.Builtin()
	s := &scenarios.Scenario{Topology: &scenarios.PageViews,
		Input: scenarios.InputSpec{Records: 5}}
	in, stats, err := lib.LoadInput(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(stats.Records, "records,", stats.Malformed, "malformed")
	for _, part := range in.Parts {
		fmt.Println(len(part.Records), "from", part.Records[0].Value.Text[:12])
	}
	// Output:
	// 5 records, 0 malformed
	// 3 from visitor-0001
	// 2 from visitor-0001
}
