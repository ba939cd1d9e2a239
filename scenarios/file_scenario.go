package scenarios

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"go.yaml.in/yaml/v3"
)

// scenario reads the section scenario.yaml.
func (p *fileParser) scenario(root *yaml.Node) {
	// The version comes first: what else a newer file has is not for us to complain about.
	p.format(p.need(p.mapping(root, "scenario"), "format", "scenario"))
	f := p.known(root, "scenario", scenarioKeys)
	topology, mode := p.need(f, "topology", "scenario"), p.need(f, "mode", "scenario")
	s := p.s
	s.Name = p.name(f.get("name"))
	s.Seed = SeedDefault
	if n := f.get("seed"); n != nil {
		s.Seed = p.unsigned(n, "seed")
	}
	s.Topology = p.topology(topology)
	s.Mode = pick(&p.reader, mode, "mode", p.lib.Modes, modeName)
	if p.err != nil {
		return
	}
	s.Params = p.params(f.get("params"))
	if sink := pick(&p.reader, f.get("sink"), "sink", p.lib.Sinks, sinkName); sink != nil {
		s.Sink = sink.Name
		if _, err := p.lib.sinkOf(s); err != nil {
			p.failAt(f.get("sink"), "%s", err)
		}
	}
	s.Defect = p.defect(f.get("defect"))
	s.Input = p.input(f.get("input"))
	s.Faults = p.faults(f.get("faults"))
	s.Bounds = p.bounds(f.get("bounds"))
}

// defect reads the name of a defect, which the mode must be able to have.
func (p *fileParser) defect(n *yaml.Node) *defects.Defect {
	d := pick(&p.reader, n, "defect", p.lib.Defects, defectName)
	if d == nil {
		return nil
	}
	if err := p.lib.CheckDefect(d); err != nil {
		p.failAt(n, "%s", err)
		return nil
	}
	if text := misfit(d, p.s.Mode); text != "" {
		p.failAt(n, "defect %s", text)
		return nil
	}
	return d
}

func modeName(m *model.Mode) string         { return m.Name }
func defectName(d *defects.Defect) string   { return d.Name }
func sinkName(s *model.SinkSpec) string     { return s.Name }
func topologyName(t *model.Topology) string { return t.Name }
func operatorName(o *model.Operator) string { return o.Name }
func decoderName(d *Decoder) string         { return d.Name }
func sampleName(s Sample) string            { return s.Name }

func (p *fileParser) format(n *yaml.Node) {
	text, ok := p.digits(n, "format")
	if !ok || text == strconv.Itoa(formatVersion) {
		return
	}
	p.failAt(n, "format %s, expected %d", clip(text), formatVersion)
	if text != "0" && text[0] != '-' {
		p.err.Msg = fmt.Sprintf("format %s is newer than this version reads, expected %d",
			clip(text), formatVersion)
		p.err.Err = ErrNewerFormat
	}
}

func (p *fileParser) name(n *yaml.Node) string {
	if n != nil {
		return p.line(n, "name")
	}
	return nameOf(p.file)
}

// nameOf is the name of a scenario whose file gives none: the last element of its path, without
// the extension.
func nameOf(file string) string {
	name := oneLine(strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".sim"))
	if name == "" || name == "." || name == "/" {
		return "scenario"
	}
	return name
}

func (p *fileParser) params(n *yaml.Node) []model.ParamValue {
	f := p.mapping(n, "params")
	var values []model.ParamValue
	for i, name := range f.names {
		param := p.s.Mode.Param(name)
		if param == nil {
			p.failAt(n.Content[2*i], "mode %s: unknown parameter %s", p.s.Mode.Name,
				unknown(name, paramNames(p.s.Mode)))
			return nil
		}
		read := p.number
		if param.IsTime {
			read = p.duration
		}
		v := read(f.nodes[i], "parameter "+name, param.Min, param.Max)
		values = append(values, model.ParamValue{Name: name, Value: v})
	}
	return values
}

func paramNames(m *model.Mode) []string {
	var names []string
	for _, param := range m.Params {
		names = append(names, param.Name)
	}
	return names
}

// faults reads the plan. Names in it are looked up in the topology at once, since only here they
// have a position.
func (p *fileParser) faults(n *yaml.Node) faults.Plan {
	nodes := p.list(n, "faults")
	if len(nodes) == 0 || p.err != nil {
		return nil
	}
	job := p.s.Job()
	var plan faults.Plan
	for _, n := range nodes {
		line := p.text(n, "fault")
		if p.err != nil {
			return nil
		}
		f, err := faults.Parse(line)
		if err == nil {
			_, err = faults.Plan{f}.Compile(job)
		}
		if err != nil {
			p.badFault(n, line, err)
			return nil
		}
		plan = append(plan, f)
	}
	return plan
}

// badFault puts the column of a complaint about a fault line behind that of the line.
func (p *fileParser) badFault(n *yaml.Node, line string, err error) {
	col, message := 1, err.Error()
	var syntax *faults.SyntaxError
	var compile *faults.CompileError
	switch {
	case errors.As(err, &syntax):
		col = syntax.Column
		_, message, _ = strings.Cut(message, ": ")
	case errors.As(err, &compile):
		col = 1 + utf8.RuneCountInString(line[:max(strings.Index(line, compile.Name), 0)])
		_, message, _ = strings.Cut(message, ": ")
	}
	p.fail(p.first+n.Line-1, n.Column+p.offset(n, line, col), "fault %q: %s", clip(line), message)
}

// offset is how far right of the beginning of a node column col of its value is: 0 where the
// value is not in the file letter by letter.
func (p *fileParser) offset(n *yaml.Node, value string, col int) int {
	source, quote := p.source(n), 0
	if n.Style != 0 && source != "" {
		source, quote = source[1:], 1
	}
	before := []rune(value)[:max(min(col-1, utf8.RuneCountInString(value)), 0)]
	if !strings.HasPrefix(source, string(before)) {
		return 0
	}
	return quote + len(before)
}

func (p *fileParser) bounds(n *yaml.Node) Bounds {
	f := p.known(n, "bounds", boundsKeys)
	return Bounds{
		Events: p.number(f.get("events"), "events", 1, math.MaxInt64),
		Time:   p.duration(f.get("time"), "time", 1, timeMax),
	}
}
