package scenarios

import (
	"bytes"
	"errors"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// ErrNewerFormat is what errors.Is finds in the error for a file whose format is newer than the one
// that this version of the module reads.
var ErrNewerFormat = errors.New("format is too new")

// SeedDefault is the seed of a scenario file that gives none.
const SeedDefault = 1

// The sections that are no input.
const (
	scenarioSection = "scenario.yaml"
	verdictSection  = "verdict"
	traceSection    = "trace"
	recordedSection = "recorded"
)

var ownSections = []string{scenarioSection, verdictSection, traceSection, recordedSection}

// Parse reads a scenario file and looks its names up in lib; Schema describes the format. name is
// the file's path, for messages and for the name of a scenario that gives none. Errors are
// *FileError; a file whose format is too new gives one that is ErrNewerFormat. Files that the
// scenario names are not opened: LoadInput does that.
func Parse(lib *Library, name string, data []byte) (*Scenario, error) {
	p := &fileParser{reader: reader{file: name}, lib: lib, s: new(Scenario)}
	p.split(data)
	if sec := p.section(scenarioSection); p.err == nil && sec == nil {
		p.fail(1, 1, "no section %q, expected a line \"-- %[1]s --\"", scenarioSection)
	} else if p.err == nil {
		p.scenario(p.document(sec.data, sec.line))
	}
	p.verdict(p.section(verdictSection))
	p.recorded(p.section(recordedSection))
	if sec := p.section(traceSection); sec != nil {
		p.s.Trace = canonicalTrace(string(sec.data))
	}
	p.unusedSections()
	if p.err != nil {
		return nil, p.err
	}
	return p.s, nil
}

// section is one file of the archive. line is where its data begins, one behind its marker.
type section struct {
	name string
	data []byte
	line int
	used bool
}

type fileParser struct {
	reader
	lib      *Library
	s        *Scenario
	comment  []byte
	sections []section
}

// split reads the archive. A file from a checkout with CRLF line ends is the same file.
func (p *fileParser) split(data []byte) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		// The archive package panics on this line.
		if string(line) == "-- --" {
			p.fail(i+1, 1, "section without a name, expected a line \"-- NAME --\"")
			return
		}
	}
	archive := txtar.Parse(data)
	p.comment = archive.Comment
	p.s.Prose = canonicalProse(string(archive.Comment))
	line := bytes.Count(archive.Comment, []byte("\n")) + 1
	for _, f := range archive.Files {
		if p.section(f.Name) != nil {
			p.fail(line, 1, "section %q for the second time, expected it once", clip(f.Name))
		}
		p.sections = append(p.sections, section{name: f.Name, data: f.Data, line: line + 1})
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
}

// section finds a section and marks it as used.
func (p *fileParser) section(name string) *section {
	for i := range p.sections {
		if p.sections[i].name == name {
			p.sections[i].used = true
			return &p.sections[i]
		}
	}
	return nil
}

func (p *fileParser) unusedSections() {
	for i := range p.sections {
		if sec := &p.sections[i]; !sec.used {
			p.fail(sec.line-1, 1, "section that no input names: %s", unknown(sec.name, ownSections))
		}
	}
}

// canonicalProse is prose as a file can hold it: no line that begins a section, no blank lines at
// its ends.
func canonicalProse(text string) string { return strings.Trim(unmarked(text), "\n") }

// canonicalTrace is a trace as a file can hold it: no line that begins a section, and one line
// end at the end.
func canonicalTrace(text string) string {
	if text = strings.TrimRight(unmarked(text), "\n"); text != "" {
		text += "\n"
	}
	return text
}

// unmarked indents the lines of a text that would begin a section, and normalizes line ends.
func unmarked(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if isMarker(line) {
			lines[i] = " " + line
		}
	}
	return strings.Join(lines, "\n")
}

// isMarker reports whether an archive may take a line for the beginning of a section.
func isMarker(line string) bool {
	line = strings.TrimSuffix(line, "\r")
	return strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --")
}
