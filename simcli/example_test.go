package simcli_test

import (
	"os"
	"strings"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/simcli"
)

// A program with an operator of its own: in main, the last line is simcli.Main(library).
func ExampleRun() {
	shout := model.Operator{Name: "shout", Says: "emits each line in capitals",
		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
			out.Emit(in.Key, model.Value{Text: strings.ToUpper(in.Value.Text)})
			return state
		}}
	library := scenarios.Builtin()
	library.Operators = append(library.Operators, &shout)
	scenario := `-- scenario.yaml --
format: 1
topology:
  name: shouting
  inputs: [{name: input}]
  stages: [{name: op, operator: shout, from: [input]}]
mode: at-least-once
input: [hello, world]
faults: [lose answer of write 1 from sink/0]
`
	simcli.Run(library, []string{"run", "-"}, strings.NewReader(scenario),
		firstLine{os.Stdout}, os.Stderr)
	// Output:
	// stdin under at-least-once, seed 1: exactly-once violated: duplicate input/0:0 x2
}

// firstLine passes on the first line of what is written at once.
type firstLine struct{ to *os.File }

func (w firstLine) Write(p []byte) (int, error) {
	line, _, _ := strings.Cut(string(p), "\n")
	_, err := w.to.WriteString(line + "\n")
	return len(p), err
}
