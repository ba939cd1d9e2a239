package scenarios

import (
	"errors"
	"slices"

	"github.com/oncesim/oncesim/model"
	"go.yaml.in/yaml/v3"
)

// partitionsMax bounds the inputs of a topology that is written inline.
const partitionsMax = 64

func (p *fileParser) topology(n *yaml.Node) *model.Topology {
	if n == nil || p.err != nil || n.Kind != yaml.MappingNode {
		return pick(&p.reader, n, "topology", p.lib.Topologies, topologyName)
	}
	p.s.Inline = true
	f := p.known(n, "topology", topologyKeys)
	t := &model.Topology{Name: p.line(p.need(f, "name", "topology"), "name")}
	if says := f.get("says"); says != nil {
		t.Says = p.line(says, "says")
	}
	for _, in := range p.list(p.need(f, "inputs", "topology"), "inputs") {
		t.Inputs = append(t.Inputs, p.topologyInput(in))
	}
	for _, stage := range p.list(p.need(f, "stages", "topology"), "stages") {
		t.Stages = append(t.Stages, p.stage(stage))
	}
	if d := pick(&p.reader, f.get("decoder"), "decoder", p.lib.Decoders, decoderName); d != nil {
		t.Decoder = d.Name
	}
	t.Sample = pick(&p.reader, f.get("sample"), "sample", p.lib.Samples, sampleName).Name
	if p.err != nil {
		return nil
	}
	var wrong *model.TopologyError
	if err := t.Validate(); errors.As(err, &wrong) {
		p.failAt(p.partOf(n, wrong), "%s", err)
	}
	if t.Partitions() > partitionsMax {
		p.failAt(f.get("inputs"), "topology has %d partitions, expected at most %d", t.Partitions(),
			partitionsMax)
	}
	return t
}

// partOf is the part of a topology that is wrong: the value itself, or what lacks it.
func (p *fileParser) partOf(n *yaml.Node, wrong *model.TopologyError) *yaml.Node {
	f := p.mapping(n, "topology")
	switch {
	case wrong.Input >= 0:
		n = f.get("inputs").Content[wrong.Input]
		f = p.mapping(n, "input")
	case wrong.Stage >= 0:
		n = f.get("stages").Content[wrong.Stage]
		f = p.mapping(n, "stage")
	}
	value := f.get(wrong.Field)
	switch {
	case value == nil:
		return n
	case wrong.Field == "from" && len(value.Content) > 0:
		return value.Content[wrong.From]
	}
	return value
}

func (p *fileParser) topologyInput(n *yaml.Node) model.InputSpec {
	f := p.known(n, "input", topologyInputKeys)
	return model.InputSpec{
		Name:       p.line(p.need(f, "name", "input"), "name"),
		Partitions: int(p.number(f.get("partitions"), "partitions", 1, partitionsMax)),
	}
}

func (p *fileParser) stage(n *yaml.Node) model.Stage {
	f := p.known(n, "stage", stageKeys)
	s := model.Stage{
		Name: p.line(p.need(f, "name", "stage"), "name"),
		Operator: pick(&p.reader, p.need(f, "operator", "stage"), "operator", p.lib.Operators,
			operatorName),
		Parallel: int(p.number(f.get("parallel"), "parallel", 1, 64)),
	}
	for _, n := range p.list(p.need(f, "from", "stage"), "from") {
		from := p.line(n, "from")
		if slices.Contains(s.From, from) {
			p.failAt(n, "stage reads %q for the second time, expected it once", from)
		}
		s.From = append(s.From, from)
	}
	if n := f.get("exchange"); n != nil {
		all := []model.Exchange{model.Forward, model.ByKey}
		s.Exchange = pick(&p.reader, n, "exchange", all, model.Exchange.String)
	}
	return s
}
