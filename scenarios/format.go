package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/rogpeppe/go-internal/txtar"
)

// Format writes a scenario as a file that Parse reads back to it, with every default that decides
// a run left out except the seed. Comments and the layout of the file that it was read from are
// lost; ReplaceSection keeps them.
//
// Lines of input that YAML or an archive would alter are quoted, so any bytes survive. Of prose
// and trace, lines that look like the beginning of a section are indented. What lib does not have
// is written by its name, which a Library that has it can read; a topology that is not in lib is
// written inline.
func Format(lib *Library, s *Scenario) []byte {
	w := &fileWriter{s: s}
	w.scenario(lib)
	archive := &txtar.Archive{}
	if prose := canonicalProse(s.Prose); prose != "" {
		archive.Comment = []byte(prose + "\n")
	}
	add := func(name, data string) {
		if data != "" {
			archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(data)})
		}
	}
	add(scenarioSection, w.String())
	add(inputSectionName, w.section)
	var verdict strings.Builder
	for _, e := range s.Expect {
		fmt.Fprintln(&verdict, e)
	}
	add(verdictSection, verdict.String())
	add(traceSection, canonicalTrace(s.Trace))
	add(recordedSection, s.Recorded.text())
	return txtar.Format(archive)
}

// ReplaceSection returns a scenario file with the text of one section replaced, or added at the
// end; the others stay as they are. Lines of text that look like the beginning of a section are
// indented.
func ReplaceSection(data []byte, name, text string) []byte {
	p := &fileParser{s: new(Scenario)}
	p.split(data)
	if p.err != nil {
		panic(fmt.Sprintf("scenarios: section replaced in what does not parse: %v", p.err))
	}
	archive := &txtar.Archive{Comment: p.comment}
	at := slices.IndexFunc(p.sections, func(sec section) bool { return sec.name == name })
	if at < 0 {
		at, p.sections = len(p.sections), append(p.sections, section{name: name})
	}
	p.sections[at].data = []byte(unmarked(text))
	for _, sec := range p.sections {
		archive.Files = append(archive.Files, txtar.File{Name: sec.name, Data: sec.data})
	}
	return txtar.Format(archive)
}

// text is the section of a saved run.
func (r *Recorded) text() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "hash: %016x\n", r.Hash)
	if text := oneLine(r.Signature); text != "" {
		fmt.Fprintf(&b, "signature: %s\n", text)
	}
	if text := oneLine(r.Version); text != "" {
		fmt.Fprintf(&b, "version: %s\n", text)
	}
	fmt.Fprintf(&b, "golden: %d\n", max(r.Format, 0))
	return b.String()
}

// oneLine makes a text fit for a line: what isLine refuses is replaced or cut off.
func oneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if isYAMLSpecial(c) {
			return '_'
		}
		return c
	}, strings.ToValidUTF8(text, "_"))
	for len(text) > nameMax {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return strings.TrimSpace(text)
}

// fileWriter writes scenario.yaml, and the section of input if there is to be one.
type fileWriter struct {
	strings.Builder
	s       *Scenario
	section string
}

func (w *fileWriter) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *fileWriter) scenario(lib *Library) {
	s := w.s
	w.printf("format: %d\n", formatVersion)
	if name := oneLine(s.Name); name != "" {
		w.printf("name: %s\n", quote(name, true))
	}
	if s.Inline || !slices.Contains(lib.Topologies, s.Topology) {
		w.topology(s.Topology)
	} else {
		w.printf("topology: %s\n", quote(s.Topology.Name, true))
	}
	w.printf("mode: %s\n", quote(s.Mode.Name, true))
	w.params()
	if s.Sink != "" {
		w.printf("sink: %s\n", quote(s.Sink, true))
	}
	if s.Defect != nil {
		w.printf("defect: %s\n", quote(s.Defect.Name, true))
	}
	w.printf("seed: %d\n", s.Seed)
	w.input()
	if len(s.Faults) > 0 {
		w.printf("faults:\n")
		for _, line := range s.Faults.Lines() {
			w.printf("  - %s\n", quote(line, true))
		}
	}
	w.mapping("bounds", []pair{
		{"events", positive(s.Bounds.Events, strconv.FormatInt(s.Bounds.Events, 10))},
		{"time", positive(s.Bounds.Time, faults.FormatDuration(s.Bounds.Time))},
	})
}

// positive is text, or nothing where v says nothing.
func positive(v int64, text string) string {
	if v <= 0 {
		return ""
	}
	return text
}

// pair is a key and a value that is already quoted; an empty value is left out.
type pair struct{ key, value string }

// flow writes pairs in braces; "" where there is nothing in them.
func flow(pairs []pair) string {
	var items []string
	for _, p := range pairs {
		if p.value != "" {
			items = append(items, p.key+": "+p.value)
		}
	}
	if len(items) == 0 {
		return ""
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// mapping writes pairs in braces if they fit a line, else one a line.
func (w *fileWriter) mapping(key string, pairs []pair) {
	text := flow(pairs)
	switch {
	case text == "":
		return
	case len(text) <= flowWidth:
		w.printf("%s: %s\n", key, text)
		return
	}
	w.printf("%s:\n", key)
	for _, p := range pairs {
		if p.value != "" {
			w.printf("  %s: %s\n", p.key, p.value)
		}
	}
}

func (w *fileWriter) params() {
	var pairs []pair
	for _, v := range w.s.Params {
		text := ParamText(w.s.Mode.Param(v.Name), v.Value)
		pairs = append(pairs, pair{quote(v.Name, false), text})
	}
	w.mapping("params", pairs)
}

func (w *fileWriter) topology(t *model.Topology) {
	w.printf("topology:\n  name: %s\n", quote(oneLine(t.Name), true))
	if says := oneLine(t.Says); says != "" {
		w.printf("  says: %s\n", quote(says, true))
	}
	w.printf("  inputs:\n")
	for _, in := range t.Inputs {
		w.printf("    - %s\n", flow([]pair{{"name", quote(in.Name, false)},
			{"partitions", positive(int64(in.Partitions), strconv.Itoa(in.Partitions))}}))
	}
	w.printf("  stages:\n")
	for _, s := range t.Stages {
		exchange := ""
		if s.Exchange != model.Forward {
			exchange = s.Exchange.String()
		}
		w.printf("    - %s\n", flow([]pair{
			{"name", quote(s.Name, false)},
			{"operator", quote(s.Operator.Name, false)},
			{"from", flowList(s.From)},
			{"parallel", positive(int64(s.Parallel), strconv.Itoa(s.Parallel))},
			{"exchange", exchange},
		}))
	}
	if t.Decoder != "" {
		w.printf("  decoder: %s\n", quote(t.Decoder, true))
	}
	if t.Sample != "" {
		w.printf("  sample: %s\n", quote(t.Sample, true))
	}
}

// A few short lines of input stand in scenario.yaml: up to linesInYAML, each up to lineInYAML
// bytes. Others are easier to read in a section, where they need no quotes.
const (
	linesInYAML = 20
	lineInYAML  = 60
)

// flowWidth is how many bytes a list in brackets or a mapping in braces may have.
const flowWidth = 80

const inputSectionName = "input.log"

func (w *fileWriter) input() {
	in := &w.s.Input
	var source []pair
	switch in.Kind {
	case InputInline:
		source = w.lines(in)
	case InputGenerated:
		w.mapping("input", []pair{{"generated", strconv.Itoa(max(in.Records, 0))},
			{"every", w.every()}})
		return
	case InputFile:
		hash := in.SHA256
		if hash != "" {
			hash = `"` + hash + `"`
		}
		source = []pair{{"file", quote(in.Path, false)}, {"sha256", hash}}
	case InputSample:
	default:
		panic(fmt.Sprintf("scenarios: input kind %d", in.Kind))
	}
	if source == nil && in.Kind == InputInline {
		return
	}
	records := positive(int64(in.Records), strconv.Itoa(in.Records))
	w.mapping("input", append(source, pair{"records", records}, pair{"every", w.every()}))
}

func (w *fileWriter) every() string {
	return positive(w.s.Input.Every, faults.FormatDuration(w.s.Input.Every))
}

// lines writes inline input: itself where it is alone, and nil; else the pairs that say where it
// is.
func (w *fileWriter) lines(in *InputSpec) []pair {
	isAlone := in.Records <= 0 && in.Every <= 0
	switch list := flowList(in.Lines); {
	case !fitsYAML(in.Lines):
		text, isQuoted := sectionText(in.Lines)
		w.section = text
		source := []pair{{"section", inputSectionName}}
		if isQuoted {
			source = append(source, pair{"quoted", "true"})
		}
		return source
	case !isAlone:
		return []pair{{"lines", list}}
	case len(list) <= flowWidth:
		w.printf("input: %s\n", list)
	default:
		w.printf("input:\n")
		for _, line := range in.Lines {
			w.printf("  - %s\n", quote(line, true))
		}
	}
	return nil
}

func fitsYAML(lines []string) bool {
	for _, line := range lines {
		if len(line) > lineInYAML || !utf8.ValidString(line) {
			return false
		}
	}
	return len(lines) <= linesInYAML
}

// sectionText is lines as a section. They are quoted where the archive, an editor or a checkout
// with other line ends would alter them.
func sectionText(lines []string) (text string, isQuoted bool) {
	for _, line := range lines {
		if isMarker(line) || strings.ContainsAny(line, "\r\n\x00") || !utf8.ValidString(line) {
			isQuoted = true
		}
	}
	var b strings.Builder
	for _, line := range lines {
		if isQuoted {
			line = strconv.QuoteToASCII(line)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String(), isQuoted
}

func flowList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = quote(item, false)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
