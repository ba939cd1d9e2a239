package simcli

import (
	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// checkNames refuses a library in which two things of a kind have one name, only the first of which
// would ever be found, or a defect says what nothing is called.
func checkNames(lib *scenarios.Library) error {
	var properties []string
	for i := range lib.Properties {
		properties = append(properties, lib.Properties[i].Name)
	}
	for _, of := range []struct {
		what  string
		names []string
	}{
		{"modes", names(lib.Modes, func(m *model.Mode) string { return m.Name })},
		{"operators", names(lib.Operators, func(o *model.Operator) string { return o.Name })},
		{"topologies", names(lib.Topologies, func(t *model.Topology) string { return t.Name })},
		{"sinks", names(lib.Sinks, func(s *model.SinkSpec) string { return s.Name })},
		{"decoders", names(lib.Decoders, func(d *scenarios.Decoder) string { return d.Name })},
		{"classes", names(lib.Classes, func(c *scenarios.Class) string { return c.Name })},
		{"scenarios", names(lib.Files, func(f scenarios.File) string { return f.Name })},
		{"properties", properties},
		{"defects", names(lib.Defects, func(d *defects.Defect) string { return d.Name })},
	} {
		seen := map[string]bool{}
		for _, name := range of.names {
			if seen[name] {
				return fail(statusUsage, "the library has two %s named %q", of.what, name)
			}
			seen[name] = true
		}
	}
	for _, d := range lib.Defects {
		if err := lib.CheckDefect(d); err != nil {
			return err
		}
	}
	return nil
}

func names[T any](list []T, name func(T) string) []string {
	all := make([]string, 0, len(list))
	for _, v := range list {
		all = append(all, name(v))
	}
	return all
}
