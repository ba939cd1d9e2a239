package checker

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

// TestVerdicts_Golden judges all stories by all properties, and the services, and holds all that is
// said to a file: reasons, and of each anomaly its record, what was expected and observed, and the
// events. What is not in the file holds.
func TestVerdicts_Golden(t *testing.T) {
	j := NewJudge()
	var out strings.Builder
	for _, c := range slices.Concat(stories, snapStories) {
		fmt.Fprintf(&out, "%s, ", c.name)
		tellStory(t, &out, j, c.spec, c.mode, c.story)
	}
	golden(t, "verdicts.golden", out.String())
}

// TestVerdicts_Odd does the same for the odd stories.
func TestVerdicts_Odd(t *testing.T) {
	j := NewJudge()
	var out strings.Builder
	for _, c := range oddStories {
		tellStory(t, &out, j, c.spec, c.mode, c.story)
	}
	golden(t, "odd.golden", out.String())
}

func tellStory(t *testing.T, out *strings.Builder, j *Judge, spec, mode, story string) {
	p := stage(t, spec, mode, story)
	fmt.Fprintf(out, "%s, %s:\n\t%s\n", spec, mode, story)
	props := All()
	verdicts := NewJudge().Judge(p.s, props)
	tell(out, p.h, verdicts)
	for i := range props { // what one property works out for another changes no verdict
		require.Equal(t, everything(verdicts[i:i+1]), everything(j.Judge(p.s, props[i:i+1])), story)
	}
	tellServices(out, p.s)
}

// golden compares a text with a file of testdata, or writes it there.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(got, "\n")
	for i, line := range strings.Split(string(want), "\n") {
		require.Less(t, i, len(lines), "line %d is missing: %s", i+1, line)
		require.Equal(t, line, lines[i], "line %d", i+1)
	}
	require.Len(t, got, len(want))
}

// tell writes in full those verdicts that are not simply that the property holds.
func tell(out *strings.Builder, h *model.History, verdicts []model.Verdict) {
	for _, v := range verdicts {
		if v.Result != model.Holds || v.Reason != "" {
			line := fmt.Sprintf("\t\t%s: %s %s", v.Property, v.Result, v.Reason)
			fmt.Fprintln(out, strings.TrimRight(line, " "))
		}
		for _, a := range v.Anomalies {
			r := a.Record
			fmt.Fprintf(out, "\t\t\t%s %d:%d op %d %s=%s", a.Kind, r.ID.Part, r.ID.Offset, r.Op,
				r.Key, r.Value)
			if r.Path != 0 {
				fmt.Fprintf(out, " path %x", uint64(r.Path))
			}
			fmt.Fprintf(out, "; expected %s; observed %s; at%s\n", a.Expected, a.Observed,
				eventWords(h, a.Events))
		}
	}
}

// eventWords says what happened at events.
func eventWords(h *model.History, events [model.EventsMax]int64) string {
	var words strings.Builder
	for _, n := range events {
		if n != 0 {
			fmt.Fprintf(&words, " %d %s,", n, eventWord(h, n))
		}
	}
	return strings.TrimSuffix(words.String(), ",")
}

func eventWord(h *model.History, n int64) string {
	for i := range h.Calls {
		if c := &h.Calls[i]; c.Invoked == n {
			return c.Req.Kind.String() + " sent"
		}
	}
	for i := range h.Servings {
		if h.Servings[i].N == n {
			return h.Calls[h.Servings[i].Call].Req.Kind.String()
		}
	}
	for i := range h.Applications {
		if h.Applications[i].N == n {
			return fmt.Sprintf("apply at %d", h.Applications[i].Op)
		}
	}
	for _, o := range slices.Concat(h.Observations, h.Final) {
		if o.N == n {
			return fmt.Sprintf("see %d/%d", o.Part, o.Seq)
		}
	}
	for i := range h.Lives {
		if h.Lives[i].Began == n {
			return "begun"
		}
		if h.Lives[i].Ended == n {
			return h.Lives[i].How.String()
		}
	}
	if h.End.N == n {
		return "end"
	}
	return "?"
}
