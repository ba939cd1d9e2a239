package scenarios

import (
	"strings"

	"github.com/oncesim/oncesim/model"
)

// split emits each word of a line under the word: one input, several outputs.
var split = model.Operator{
	Name: "split",
	Says: "emits each word of a line under the word; drops lines without one and very long ones",
	Kind: model.Stateless,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		if !isWords(in.Value.Text) {
			out.Drop("malformed")
			return state
		}
		for word := range strings.FieldsSeq(in.Value.Text) {
			out.Emit(word, model.Value{Num: 1})
		}
		return state
	},
}

// FanOut has one stage that feeds two, both of which end at the sink.
var FanOut = model.Topology{
	Name:    "fan-out",
	Says:    "lines split into words, which are counted and, beside that, doubled",
	Inputs:  []model.InputSpec{{Name: "input", Partitions: 1}},
	Decoder: "words",
	Stages: []model.Stage{
		{Name: "split", Operator: &split, From: []string{"input"}},
		{Name: "count", Operator: &Count, From: []string{"split"}, Exchange: model.ByKey},
		{Name: "double", Operator: &Double, From: []string{"split"}},
	},
}

// wordLines is the decoder of lines of words.
var wordLines = Decoder{
	Name:  "words",
	Says:  "plain text, one to a hundred words a line",
	Valid: isWords,
	Generate: func(draw func(below int64) int64) string {
		words := [...]string{"to", "be", "or", "not"}
		line := words[draw(int64(len(words)))]
		for range draw(3) {
			line += " " + words[draw(int64(len(words)))]
		}
		return line
	},
}

// wordsMax bounds the outputs of one step of split.
const wordsMax = 100

func isWords(line string) bool {
	n := 0
	for range strings.FieldsSeq(line) {
		if n++; n > wordsMax {
			return false
		}
	}
	return n > 0
}
