package search

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// signatureMax keeps a signature fit for the name of a file.
const signatureMax = 150

// Findings is the property that is about the mechanism and not about what came out.
const Findings = "mechanism"

// Violates reports whether verdicts violate a property; findings about the mechanism are no
// violation.
func Violates(verdicts []model.Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v model.Verdict) bool {
		return v.Result == model.Violated && v.Property != Findings
	})
}

// Signature is the canonical text of what a run violated: its mode, then each violated property
// with the kinds of anomaly. Runs that fail in the same way have the same signature, whatever
// their seeds and records. It can be part of the name of a file.
func Signature(mode *model.Mode, verdicts []model.Verdict) string {
	var b strings.Builder
	b.WriteString(fileWord(mode.Name))
	isClean := true
	for i := range verdicts {
		v := &verdicts[i]
		if v.Result == model.Holds {
			continue
		}
		isClean = false
		fmt.Fprintf(&b, "_%s=%s", fileWord(v.Property), kindsOf(v))
	}
	if isClean {
		b.WriteString("_clean")
	}
	text := b.String()
	if len(text) > signatureMax {
		h := fnv.New32a()
		h.Write([]byte(text))
		text = fmt.Sprintf("%s_%08x", text[:signatureMax], h.Sum32())
	}
	return text
}

// fileWord replaces what does not belong in the name of a file.
func fileWord(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, text)
}

// kindsOf lists the kinds of anomaly of a verdict, most severe first.
func kindsOf(v *model.Verdict) string {
	var words []string
	for _, kind := range model.Anomalies() {
		if v.Has(kind) {
			words = append(words, kind.String())
		}
	}
	if len(words) == 0 {
		return v.Result.String()
	}
	return strings.Join(words, "+")
}
