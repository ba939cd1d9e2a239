package report

import (
	"fmt"
	"strings"

	"github.com/oncesim/oncesim/scenarios"
)

// Command is the shell line that runs s: head alone ("simrun run pipeline") would run base, and
// every setting of s that differs from it is a flag. isBare says that head names a topology, for
// which mode and seed are always written.
func Command(head string, isBare bool, base, s *scenarios.Scenario) string {
	words := []string{head}
	add := func(flag, value string) { words = append(words, flag, Quote(value)) }
	if isBare || s.Mode != base.Mode {
		add("--mode", s.Mode.Name)
	}
	if isBare || s.Seed != base.Seed {
		add("--seed", fmt.Sprint(s.Seed))
	}
	if s.Input.Kind == scenarios.InputFile &&
		(base.Input.Kind != s.Input.Kind || base.Input.Path != s.Input.Path) {
		add("--input", s.Input.Path)
	}
	if s.Input.Records != base.Input.Records {
		add("--records", fmt.Sprint(s.Input.Records))
	}
	if sinkOf(s) != sinkUnder(base, s) {
		add("--sink", sinkOf(s))
	}
	if s.Defect != nil && s.Defect != base.Defect {
		add("--defect", s.Defect.Name)
	}
	for _, v := range s.Params {
		if !isSet(base, v.Name, v.Value) {
			add("--set", fmt.Sprintf("%s=%s", v.Name,
				scenarios.ParamText(s.Mode.Param(v.Name), v.Value)))
		}
	}
	return strings.Join(append(words, faultWords(base, s)...), " ")
}

// sinkOf is the sink that a scenario writes to.
func sinkOf(s *scenarios.Scenario) string {
	if s.Sink != "" {
		return s.Sink
	}
	return s.Mode.Sink
}

// sinkUnder is the sink that base writes to under the mode of s: another mode brings its own.
func sinkUnder(base, s *scenarios.Scenario) string {
	if s.Mode != base.Mode {
		return s.Mode.Sink
	}
	return sinkOf(base)
}

// faultWords are the flags for a plan that is not the base's; an empty one has a flag too.
func faultWords(base, s *scenarios.Scenario) []string {
	lines := s.Faults.Lines()
	if strings.Join(lines, "\n") == strings.Join(base.Faults.Lines(), "\n") {
		return nil
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	var words []string
	for _, line := range lines {
		words = append(words, "--fault", Quote(line))
	}
	return words
}

func isSet(s *scenarios.Scenario, name string, value int64) bool {
	for _, v := range s.Params {
		if v.Name == name {
			return v.Value == value
		}
	}
	return false
}

// Quote writes a word so that a POSIX shell reads that word.
func Quote(word string) string {
	isSafe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:=,+@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !isSafe(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
