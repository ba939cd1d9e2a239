package faults

import (
	"fmt"
	"math"

	"github.com/oncesim/oncesim/model"
)

// truncate is retention that does not wait for readers: from then on a fetch of what is gone begins
// at the first record that is left. Committed offsets stay where they are.
var truncate = Spec{
	Name: "truncate",
	Says: "the records of a partition before an offset are gone from then on",
	Syntax: []string{
		"truncate PARTITION before OFFSET at fetch N of PROCESS",
		"truncate PARTITION before OFFSET at DURATION",
	},
	Example: "truncate input/0 before 3 at fetch 2 of source/0",
	Actions: []model.Action{model.TruncateInput},
	parse: func(p *parser) Fault {
		f := Fault{Action: model.TruncateInput, Record: p.partition()}
		p.expect("before")
		f.Record.Offset = p.ordinal(math.MaxInt64)
		p.begins(&f)
		return f
	},
	print: func(f Fault) string {
		return fmt.Sprintf("truncate %s/%d before %d %s", f.Record.Input, f.Record.Part,
			f.Record.Offset, f.begins())
	},
}

// partition reads the name of a partition of an input.
func (p *parser) partition() RecordName {
	input, part, ok := cutNumber(p.peek().text, "/", math.MaxInt32)
	if !ok {
		isPart := func(s string) bool { _, _, ok := cutNumber(s, "/", math.MaxInt32); return ok }
		p.refuse("bad partition", isPart, "a partition such as input/0",
			fmt.Sprintf("a partition up to %d", math.MaxInt32))
	}
	if p.err != nil {
		return RecordName{}
	}
	p.advance()
	return RecordName{Input: input, Part: int(part)}
}
