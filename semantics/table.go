package semantics

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// table reads a column of the golden table, one or more cells a line: the class of faults, the
// kinds of operator, separated by commas, or all, and the codes of the anomalies that must be
// reachable; in brackets those that may appear beside them. "-" stands for nothing. What a line
// does not list never appears in the small worlds.
//
// A malformed table is a broken invariant and panics.
func table(text string) []model.Cell {
	var cells []model.Cell
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 3 {
			panic(fmt.Sprintf("semantics: golden cell %q", line))
		}
		must, may, _ := strings.Cut(strings.Join(words[2:], " "), "(")
		for _, kind := range kindsOf(words[1]) {
			cells = append(cells, model.Cell{Class: words[0], Kind: kind, Must: anomalies(must),
				May: anomalies(strings.TrimSuffix(may, ")"))})
		}
	}
	return cells
}

func kindsOf(words string) []model.OperatorKind {
	if words == "all" {
		return []model.OperatorKind{model.Stateless, model.Commutative, model.NonCommutative,
			model.NonDeterministic}
	}
	var kinds []model.OperatorKind
	for _, word := range strings.Split(words, ",") {
		kinds = append(kinds, kindOf(word))
	}
	return kinds
}

func kindOf(word string) model.OperatorKind {
	for k := model.Stateless; k <= model.NonDeterministic; k++ {
		if k.String() == word {
			return k
		}
	}
	panic(fmt.Sprintf("semantics: golden kind %q", word))
}

func anomalies(codes string) []model.AnomalyKind {
	var list []model.AnomalyKind
	for _, code := range strings.Fields(codes) {
		if code == "-" {
			continue
		}
		list = append(list, anomaly(code))
	}
	return list
}

func anomaly(code string) model.AnomalyKind {
	for _, k := range model.Anomalies() {
		if k.Code() == code {
			return k
		}
	}
	panic(fmt.Sprintf("semantics: golden anomaly %q", code))
}
