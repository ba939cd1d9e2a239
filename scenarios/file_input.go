package scenarios

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// input reads where the records are from: a list of lines, or a mapping.
func (p *fileParser) input(n *yaml.Node) (in InputSpec) {
	if n == nil || p.err != nil {
		return in
	}
	if n.Kind == yaml.SequenceNode {
		return InputSpec{Kind: InputInline, Lines: p.texts(n)}
	}
	if n.Kind != yaml.MappingNode {
		p.failAt(n, "input is %s, expected a list of lines or a mapping", describe(n))
		return in
	}
	f := p.known(n, "input", inputKeys)
	in.Every = p.duration(f.get("every"), "every", 1, everyMax)
	in.Records = int(p.number(f.get("records"), "records", 0, recordsMax))
	p.inputSource(f, &in)
	p.only(f, "sha256", "file")
	p.only(f, "quoted", "section")
	if f.get("generated") != nil && f.get("records") != nil {
		p.failAt(f.get("records"), "records beside generated, expected only one of them")
	}
	return in
}

// only complains about a key that means nothing without another.
func (p *fileParser) only(f fields, key, other string) {
	if n := f.get(key); n != nil && f.get(other) == nil {
		p.failAt(n, "%s without %s, expected both", key, other)
	}
}

func (p *fileParser) inputSource(f fields, in *InputSpec) {
	var source string
	for i, name := range f.names {
		if !slices.Contains(sourceKeys, name) {
			continue
		}
		if source != "" {
			p.failAt(f.nodes[i], "input is both %s and %s, expected one of them", source, name)
		}
		source = name
	}
	n := f.get(source)
	switch source {
	case "sample":
		p.flag(n, "sample")
		if p.err == nil && p.s.Topology.Sample == "" {
			p.failAt(n, "topology %s has no sample, expected lines, generated, file or section",
				p.s.Topology.Name)
		}
	case "lines":
		in.Kind, in.Lines = InputInline, p.texts(n)
	case "generated":
		in.Kind, in.Records = InputGenerated, int(p.number(n, "generated", 0, recordsMax))
	case "file":
		in.Kind, in.Path = InputFile, p.path(n)
		in.Dir = filepath.Dir(p.file)
		in.SHA256 = p.sha256(f.get("sha256"))
	case "section":
		in.Kind, in.Lines = InputInline, p.inputSection(n, p.flag(f.get("quoted"), "quoted"))
	}
}

func (p *fileParser) texts(n *yaml.Node) []string {
	var lines []string
	for _, item := range p.list(n, "input") {
		lines = append(lines, p.text(item, "line of input"))
	}
	return lines
}

func (p *fileParser) path(n *yaml.Node) string {
	name := p.text(n, "file")
	if p.err == nil && (name == "" || strings.IndexFunc(name, isYAMLSpecial) >= 0) {
		p.failAt(n, "file %q, expected a path", clip(name))
	}
	return name
}

func (p *fileParser) sha256(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	hash := strings.ToLower(p.text(n, "sha256"))
	if p.err == nil && !isHex(hash, 64) {
		p.failAt(n, "sha256 is %s, expected 64 hex digits", describe(n))
	}
	return hash
}

func isHex(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}

// inputSection reads the lines of a section that holds input.
func (p *fileParser) inputSection(n *yaml.Node, quoted bool) []string {
	name := p.text(n, "section")
	if p.err != nil {
		return nil
	}
	var names []string
	for i := range p.sections {
		if !slices.Contains(ownSections, p.sections[i].name) {
			names = append(names, p.sections[i].name)
		}
	}
	if !slices.Contains(names, name) {
		p.failAt(n, "unknown section %s", unknown(name, names))
		return nil
	}
	sec := p.section(name)
	lines := sectionLines(sec.data)
	for i := range lines {
		if quoted {
			lines[i] = p.unquote(sec.line+i, lines[i])
		}
	}
	return lines
}

func (p *fileParser) unquote(line int, text string) string {
	plain, err := strconv.Unquote(text)
	if err != nil || text[0] != '"' {
		p.fail(line, 1, "line %q, expected a Go string in double quotes", clip(text))
	}
	return plain
}

// sectionLines splits the data of a section, which ends in a line end unless it is empty.
func sectionLines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}
