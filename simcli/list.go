package simcli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// item is one entry of a list; each list says which fields it uses.
type item struct {
	Name      string   `json:"name"`
	Says      string   `json:"says"`
	Kind      string   `json:"kind,omitempty"`
	Code      string   `json:"code,omitempty"`
	Source    string   `json:"source,omitempty"`
	Claims    []string `json:"claims,omitempty"`
	Tolerates []string `json:"tolerates,omitempty"`
	Params    []string `json:"params,omitempty"`
	Syntax    []string `json:"syntax,omitempty"`
	Example   string   `json:"example,omitempty"`
	Anomalies []string `json:"anomalies,omitempty"`
	Origin    string   `json:"origin,omitempty"`
	Modes     []string `json:"modes,omitempty"`
	Property  string   `json:"property,omitempty"`
	Plan      []string `json:"plan,omitempty"`
}

// listNames are the lists, in the order in which they are shown.
var listNames = []string{"scenarios", "modes", "operators", "sinks", "faults", "classes",
	"properties", "defects", "topics"}

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "list [" + strings.Join(listNames, "|") + "]",
		Short:     "list " + strings.Join(listNames, ", "),
		Example:   a.examples("list", "list modes", "list properties --json"),
		ValidArgs: listNames,
		RunE: func(_ *cobra.Command, args []string) error {
			names := listNames
			switch {
			case len(args) > 1:
				return fail(statusUsage, "unexpected %q: list takes one name", args[1])
			case len(args) == 1 && a.items(args[0]) == nil:
				return unknown("list", args[0], listNames)
			case len(args) == 1:
				names = args
			}
			a.list(names, asJSON)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON document")
	return cmd
}

func (a *app) list(names []string, asJSON bool) {
	doc := map[string][]item{}
	for i, name := range names {
		doc[name] = a.items(name)
		if asJSON {
			continue
		}
		if len(names) > 1 {
			if i > 0 {
				a.out.print("\n")
			}
			a.out.print(name + "\n")
		}
		a.out.print(itemLines(doc[name], len(names) > 1))
	}
	if asJSON {
		a.out.json(doc)
	}
}

// listWidth is how wide lists are.
const listWidth = 100

// itemLines is a list as text: names, and beside or below them what they are.
func itemLines(items []item, indented bool) string {
	margin := ""
	if indented {
		margin = "  "
	}
	width := 0
	for i := range items {
		if n := len(items[i].Name); n <= listWidth/4 {
			width = max(width, n)
		}
	}
	var b strings.Builder
	for i := range items {
		name := items[i].Name
		lines := wrap(items[i].Says, listWidth-len(margin)-width-2)
		if len(name) > width {
			fmt.Fprintf(&b, "%s%s\n", margin, name)
			name = ""
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "%s%-*s  %s\n", margin, width, name, line)
			name = ""
		}
	}
	return b.String()
}

// wrap breaks a text into lines of a width; there is at least one.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}

// items is a list by its name; nil: there is no list of that name.
func (a *app) items(name string) []item {
	list := []item{}
	switch name {
	case "scenarios":
		return a.scenarioItems()
	case "modes":
		for _, m := range a.lib.Modes {
			list = append(list, modeItem(m))
		}
	case "operators":
		for _, o := range a.lib.Operators {
			list = append(list, item{Name: o.Name, Says: o.Says, Kind: o.Kind.String()})
		}
	case "sinks":
		for _, s := range a.lib.Sinks {
			list = append(list, item{Name: s.Name, Says: s.Says})
		}
	case "faults":
		for i := range a.lib.Faults {
			f := &a.lib.Faults[i]
			list = append(list, item{Name: f.Name, Says: f.Says, Syntax: f.Syntax,
				Example: f.Example})
		}
	case "classes":
		for _, c := range a.lib.Classes {
			list = append(list, item{Name: c.Name, Says: c.Says, Code: c.Code})
		}
	case "properties":
		for i := range a.lib.Properties {
			p := &a.lib.Properties[i]
			list = append(list, item{Name: p.Name, Says: p.Says, Source: p.Source,
				Anomalies: kindNames(p.Anomalies)})
		}
	case "defects":
		for _, d := range a.lib.Defects {
			it := item{Name: d.Name, Says: d.Says, Origin: d.Origin, Modes: d.Modes,
				Property: d.Property, Plan: d.Shown.Plan}
			if d.Kind != nil {
				it.Kind = d.Kind.Name
			}
			list = append(list, it)
		}
	case "topics":
		for _, term := range report.Terms() {
			list = append(list, item{Name: term.Name, Says: term.Says})
		}
	default:
		return nil
	}
	return list
}

// modeItem is the entry of a mode; a variant says that it is one.
func modeItem(m *model.Mode) item {
	it := item{Name: m.Name, Says: m.Says, Source: m.Source, Claims: m.Claims,
		Tolerates: m.Tolerates, Params: paramNames(m)}
	if m.IsVariant {
		it.Kind, it.Says = "variant", "variant: "+m.Says
	}
	return it
}

// scenarioItems lists topologies and built-in files.
func (a *app) scenarioItems() []item {
	list := []item{}
	for _, t := range a.lib.Topologies {
		list = append(list, item{Name: t.Name, Says: t.Says, Kind: "topology"})
	}
	for _, f := range a.lib.Files {
		says := ""
		if s, err := scenarios.Parse(a.lib, f.Name+".sim", []byte(f.Data)); err == nil {
			says = opening(s.Prose)
		}
		list = append(list, item{Name: f.Name, Says: says, Kind: "file"})
	}
	return list
}

// opening is the beginning of a prose on one line: whole sentences, until they say something.
func opening(prose string) string {
	const enough = 60
	text := strings.Join(strings.Fields(prose), " ")
	for at := 0; ; {
		i := strings.Index(text[at:], ". ")
		if i < 0 {
			return strings.TrimSuffix(text, ".")
		}
		if at += i; at >= enough {
			return text[:at]
		}
		at += 2
	}
}

func kindNames(kinds []model.AnomalyKind) []string {
	var names []string
	for _, kind := range kinds {
		names = append(names, kind.String())
	}
	return names
}
