package simcli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
)

// stdinMax bounds a scenario file that comes from standard input.
const stdinMax = 64 << 20

// target is the scenario that a command line means.
type target struct {
	arg    string              // as given
	isBare bool                // it is a topology
	base   *scenarios.Scenario // what the argument alone means
	s      *scenarios.Scenario // with the flags
	data   []byte              // of a file
}

// settings are the flags that change a scenario. They are those of scenarios.Settings, which a test
// in Go gives; what was not given stays as it is.
type settings struct {
	mode    string
	seed    uint64
	records int
	input   string
	sink    string
	defect  string
	faults  []string
	params  []string
}

// addTo declares the flags that all commands which run a scenario have; set is the help of --set.
func (f *settings) addTo(cmd *cobra.Command, set string) {
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "read the records from `FILE`, one a line")
	flags.IntVar(&f.records, "records", 0, "only the first `N` records")
	flags.StringArrayVar(&f.params, "set", nil, set)
	flags.StringVar(&f.defect, "defect", "",
		"plant a `DEFECT` in the mode, or in those that can have it")
}

// resolve finds the scenario that arg means and applies the flags that were given.
func (a *app) resolve(cmd *cobra.Command, arg string, f *settings) (*target, error) {
	t, err := a.find(arg)
	if err != nil {
		return nil, err
	}
	set, err := a.changes(cmd.Flags(), f)
	if err != nil {
		return nil, err
	}
	if t.s, err = set.Apply(a.lib, t.base); err != nil {
		return nil, flagged(err)
	}
	if cmd.Flags().Changed("seed") {
		t.s.Seed = f.seed
	}
	for _, line := range f.params {
		v, err := parseSetting(t.s.Mode, line)
		if err != nil {
			return nil, err
		}
		t.s.Params = with(t.s.Params, v)
	}
	return t, nil
}

// resolveAmong is resolve for a command that runs a scenario under several modes, which pick
// chooses, told the scenario's own. A line of --set may be for some of them only.
func (a *app) resolveAmong(cmd *cobra.Command, arg string, f *settings,
	pick func(own *model.Mode) ([]*model.Mode, error)) (*target, []*model.Mode, error) {
	common := *f
	common.params, common.defect = nil, ""
	t, err := a.resolve(cmd, arg, &common)
	if err != nil {
		return nil, nil, err
	}
	modes, err := pick(t.s.Mode)
	if err != nil {
		return nil, nil, err
	}
	if f.defect != "" {
		if t.s.Defect, err = a.defectAmong(f.defect, modes); err != nil {
			return nil, nil, err
		}
	}
	t.s.Params, err = setAmong(t.s.Params, modes, f.params)
	return t, modes, err
}

// orOwn picks the named modes, or the scenario's own where none is named.
func (a *app) orOwn(names string) func(own *model.Mode) ([]*model.Mode, error) {
	return func(own *model.Mode) ([]*model.Mode, error) {
		if names == "" {
			return []*model.Mode{own}, nil
		}
		return a.pickModes(names)
	}
}

// changes are the flags that were given, as settings. What has a name is looked up here, where a
// complaint can say how to list the names.
func (a *app) changes(flags *pflag.FlagSet, f *settings) (*scenarios.Settings, error) {
	set := &scenarios.Settings{}
	if flags.Changed("mode") {
		if _, err := a.mode(f.mode); err != nil {
			return nil, err
		}
		set.Mode = f.mode
	}
	if flags.Changed("input") {
		set.Input = f.input
	}
	if flags.Changed("records") {
		if f.records == 0 {
			return nil, fail(statusUsage, "--records 0, expected a number from 1")
		}
		set.Records = f.records
	}
	if flags.Changed("sink") {
		if _, err := a.sink(f.sink); err != nil {
			return nil, err
		}
		set.Sink = f.sink
	}
	if f.defect != "" {
		if _, err := a.defect(f.defect); err != nil {
			return nil, err
		}
		set.Defect = f.defect
	}
	if flags.Changed("fault") {
		set.Faults = f.faults
	}
	return set, nil
}

// flagged is a complaint about a setting as one about its flag.
func flagged(err error) error {
	var wrong *scenarios.SettingError
	if errors.As(err, &wrong) {
		return fmt.Errorf("--%w", err)
	}
	return err
}

// isChanged reports whether flags make another run of what the argument means.
func (t *target) isChanged() bool {
	b, s := t.base, t.s
	return b.Mode != s.Mode || b.Seed != s.Seed || b.Input.Kind != s.Input.Kind ||
		b.Input.Path != s.Input.Path || b.Input.Records != s.Input.Records ||
		b.Sink != s.Sink || b.Defect != s.Defect || !slices.Equal(b.Faults, s.Faults) ||
		!slices.Equal(b.Params, s.Params)
}

// command is the line that runs s, which differs from the target by flags only.
func (t *target) command(program string, s *scenarios.Scenario) string {
	return report.Command(program+" run "+report.Quote(t.arg), t.isBare, t.base, s)
}

// find looks an argument up: a topology, a built-in scenario, "-" for standard input, or a file.
func (a *app) find(arg string) (*target, error) {
	for _, topology := range a.lib.Topologies {
		if topology.Name == arg {
			return a.bare(topology)
		}
	}
	for _, file := range a.lib.Files {
		if file.Name == arg {
			return a.parse(arg, file.Name+".sim", []byte(file.Data))
		}
	}
	if arg == "" {
		return nil, fail(statusUsage, "the name of the scenario is empty")
	}
	data, err := a.read(arg)
	if err == nil && arg == "-" {
		return a.parse(arg, "stdin", data)
	}
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, `/\`) &&
		!strings.HasSuffix(arg, ".sim") {
		return nil, unknown("scenario", arg, append(a.scenarioNames(), "a file"))
	}
	if err != nil {
		return nil, err
	}
	return a.parse(arg, arg, data)
}

// read reads a scenario file, or standard input for "-". Either may be a pipe to wait for.
func (a *app) read(arg string) (data []byte, err error) {
	a.waits.during(func() {
		if arg != "-" {
			data, err = scenarios.ReadFile(arg)
			return
		}
		if data, err = io.ReadAll(io.LimitReader(a.in, stdinMax)); err != nil {
			err = fail(statusUsage, "standard input cannot be read: %w", err)
		}
	})
	return data, err
}

// bare is a topology with default mode, seed and input.
func (a *app) bare(topology *model.Topology) (*target, error) {
	s, err := a.lib.Bare(topology)
	return &target{arg: topology.Name, isBare: true, base: s}, err
}

func (a *app) parse(arg, name string, data []byte) (*target, error) {
	s, err := scenarios.Parse(a.lib, name, data)
	if err != nil {
		return nil, err
	}
	return &target{arg: arg, base: s, data: data}, nil
}

// cause is what a path error says without the path.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// sink is the name of a sink of the library.
func (a *app) sink(name string) (string, error) {
	var names []string
	for _, sink := range a.lib.Sinks {
		if sink.Name == name {
			return name, nil
		}
		names = append(names, sink.Name)
	}
	return "", unknown("sink", name, names)
}

// defect is the defect of a name.
func (a *app) defect(name string) (*defects.Defect, error) {
	names := a.defectNames()
	if at := slices.Index(names, name); at >= 0 {
		return a.lib.Defects[at], nil
	}
	return nil, unknown("defect", name, names)
}

func (a *app) defectNames() []string {
	return names(a.lib.Defects, func(d *defects.Defect) string { return d.Name })
}

// defectAmong is the defect of a name, which at least one of the modes must be able to have.
func (a *app) defectAmong(name string, modes []*model.Mode) (*defects.Defect, error) {
	d, err := a.defect(name)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(modes, func(m *model.Mode) bool { return d.Fits(m.Name) }) {
		return d, nil
	}
	return nil, fail(statusUsage, "--defect %s is one of %s, and not of %s", name,
		strings.Join(d.Modes, ", "), theseModes(modes))
}

func (a *app) mode(name string) (*model.Mode, error) {
	for _, m := range a.lib.Modes {
		if m.Name == name {
			return m, nil
		}
	}
	return nil, unknown("mode", name, a.modeNames())
}

func (a *app) modeNames() []string {
	var names []string
	for _, m := range a.lib.Modes {
		names = append(names, m.Name)
	}
	return names
}

func (a *app) scenarioNames() []string {
	var names []string
	for _, topology := range a.lib.Topologies {
		names = append(names, topology.Name)
	}
	for _, file := range a.lib.Files {
		names = append(names, file.Name)
	}
	return names
}

// setAmong adds the lines of --set to settings; each must be right for those of some modes that
// have the parameter, and at least one has to: the others leave it out.
func setAmong(params []model.ParamValue, modes []*model.Mode, lines []string) ([]model.ParamValue,
	error) {
	for _, line := range lines {
		var v *model.ParamValue
		var known []string
		for _, mode := range modes {
			name, _, _ := strings.Cut(line, "=")
			if strings.Contains(line, "=") && mode.Param(name) == nil {
				known = append(known, paramNames(mode)...)
				continue
			}
			one, err := parseSetting(mode, line)
			if err != nil {
				return nil, err
			}
			v = &one
		}
		if v == nil {
			name, _, _ := strings.Cut(line, "=")
			slices.Sort(known)
			return nil, unknown("parameter of "+theseModes(modes), name, slices.Compact(known))
		}
		params = with(params, *v)
	}
	return params, nil
}

// theseModes names the modes that are looked at: by their names if they are few.
func theseModes(modes []*model.Mode) string {
	if len(modes) > 3 {
		return "these modes"
	}
	return strings.Join(names(modes, func(m *model.Mode) string { return m.Name }), ", ")
}

// with adds a setting to others, of which the one of the same name is left out.
func with(params []model.ParamValue, v model.ParamValue) []model.ParamValue {
	others := slices.DeleteFunc(slices.Clone(params), func(o model.ParamValue) bool {
		return o.Name == v.Name
	})
	return append(others, v)
}

// ofMode is a scenario without the settings that its mode does not have.
func ofMode(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Params = slices.DeleteFunc(slices.Clone(s.Params), func(v model.ParamValue) bool {
		return s.Mode.Param(v.Name) == nil
	})
	return &c
}

// parseSetting reads a line of --set.
func parseSetting(mode *model.Mode, line string) (model.ParamValue, error) {
	name, _, ok := strings.Cut(line, "=")
	if ok && mode.Param(name) == nil {
		return model.ParamValue{}, unknown("parameter of "+mode.Name, name, paramNames(mode))
	}
	v, err := scenarios.ParseParam(mode, line)
	return v, flagged(err)
}

func paramNames(m *model.Mode) []string {
	var names []string
	for i := range m.Params {
		names = append(names, m.Params[i].Name)
	}
	return names
}
