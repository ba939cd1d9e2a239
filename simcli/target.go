package simcli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/report"
	"github.com/oncesim/oncesim/scenarios"
	"github.com/oncesim/oncesim/search"
)

// modeDefault is the mode of a topology that is run by its bare name. Where a library does not
// have it, its last mode is taken.
const modeDefault = "at-least-once"

// fileMax bounds a scenario file.
const fileMax = 64 << 20

// target is the scenario that a command line means.
type target struct {
	arg    string              // as given
	isBare bool                // it is a topology
	base   *scenarios.Scenario // what the argument alone means
	s      *scenarios.Scenario // with the flags
	data   []byte              // of a file
}

// settings are the flags that change a scenario.
type settings struct {
	mode    string
	seed    uint64
	records int
	input   string
	sink    string
	faults  []string
	params  []string
}

// addTo declares the flags that all commands which run a scenario have; set is the help of --set.
func (f *settings) addTo(cmd *cobra.Command, set string) {
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "read the records from `FILE`, one a line")
	flags.IntVar(&f.records, "records", 0, "only the first `N` records")
	flags.StringArrayVar(&f.params, "set", nil, set)
}

// resolve finds the scenario that arg means and applies the flags that were given.
func (a *app) resolve(cmd *cobra.Command, arg string, f *settings) (*target, error) {
	t, err := a.find(arg)
	if err != nil {
		return nil, err
	}
	s := *t.base
	t.s = &s
	flags := cmd.Flags()
	if flags.Changed("mode") {
		mode, err := a.mode(f.mode)
		if err != nil {
			return nil, err
		}
		plan := s.Faults
		s = *search.WithMode(&s, mode)
		s.Faults = plan
	}
	if flags.Changed("seed") {
		s.Seed = f.seed
	}
	if flags.Changed("input") {
		s.Input = scenarios.InputSpec{Kind: scenarios.InputFile, Path: f.input,
			Every: s.Input.Every}
	}
	if flags.Changed("records") {
		if f.records < 0 {
			return nil, fail(statusUsage, "--records %d, expected a number from 1", f.records)
		}
		if f.records == 0 {
			return nil, fail(statusUnknown, "--records 0: %w", scenarios.ErrEmptyInput)
		}
		s.Input.Records = f.records
	}
	if flags.Changed("sink") {
		if s.Sink, err = a.sink(f.sink); err != nil {
			return nil, err
		}
	}
	if flags.Changed("fault") {
		if s.Faults, err = parseFaults(f.faults); err != nil {
			return nil, err
		}
	}
	return t, t.set(f.params)
}

// isChanged reports whether flags make another run of what the argument means.
func (t *target) isChanged() bool {
	b, s := t.base, t.s
	return b.Mode != s.Mode || b.Seed != s.Seed || b.Input.Kind != s.Input.Kind ||
		b.Input.Path != s.Input.Path || b.Input.Records != s.Input.Records ||
		b.Sink != s.Sink || !slices.Equal(b.Faults, s.Faults) || !slices.Equal(b.Params, s.Params)
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
	if arg == "-" {
		data, err := io.ReadAll(io.LimitReader(a.in, fileMax))
		if err != nil {
			return nil, fail(statusUsage, "standard input cannot be read: %w", err)
		}
		return a.parse(arg, "stdin", data)
	}
	data, err := readFile(arg)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(arg, `/\`) &&
		!strings.HasSuffix(arg, ".sim") {
		return nil, unknown("scenario", arg, append(a.scenarioNames(), "a file"))
	}
	if err != nil {
		return nil, err
	}
	return a.parse(arg, arg, data)
}

// bare is a topology with default mode, seed and input.
func (a *app) bare(topology *model.Topology) (*target, error) {
	if len(a.lib.Modes) == 0 {
		return nil, fail(statusUsage, "the library has no mode")
	}
	mode := a.lib.Modes[len(a.lib.Modes)-1]
	for _, m := range a.lib.Modes {
		if m.Name == modeDefault {
			mode = m
		}
	}
	return &target{arg: topology.Name, isBare: true, base: &scenarios.Scenario{Name: topology.Name,
		Topology: topology, Mode: mode, Seed: scenarios.SeedDefault}}, nil
}

func (a *app) parse(arg, name string, data []byte) (*target, error) {
	s, err := scenarios.Parse(a.lib, name, data)
	if err != nil {
		return nil, err
	}
	return &target{arg: arg, base: s, data: data}, nil
}

// readFile reads a scenario file. Its errors name the file once.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fail(statusUsage, "%s cannot be read: %w", name, cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fail(statusUsage, "%s is a directory, expected a scenario file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	switch {
	case err != nil:
		return nil, fail(statusUsage, "%s cannot be read: %w", name, cause(err))
	case len(data) > fileMax:
		return nil, fail(statusUsage, "%s has more than %d bytes, expected a scenario file", name,
			fileMax)
	case bytes.IndexByte(data[:min(len(data), 1<<13)], 0) >= 0:
		return nil, fail(statusUsage, "%s is binary, expected a scenario file", name)
	}
	return data, nil
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

// parseFaults reads the lines of --fault. An empty one stands for no fault, and is the only one.
func parseFaults(lines []string) (faults.Plan, error) {
	var plan faults.Plan
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			if len(lines) > 1 {
				return nil, fail(statusUsage,
					"--fault %q stands for no fault, and there are others", line)
			}
			continue
		}
		f, err := faults.Parse(line)
		if err != nil {
			return nil, fail(statusUsage, "--fault %q: %w", line, meant(err))
		}
		plan = append(plan, f)
	}
	return plan, nil
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

// set applies the lines of --set.
func (t *target) set(lines []string) error {
	for _, line := range lines {
		v, err := parseSetting(t.s.Mode, line)
		if err != nil {
			return err
		}
		t.s.Params = with(t.s.Params, v)
	}
	return nil
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
	name, text, ok := strings.Cut(line, "=")
	if !ok {
		return model.ParamValue{}, fail(statusUsage, "--set %q, expected NAME=VALUE", line)
	}
	p := mode.Param(name)
	if p == nil {
		return model.ParamValue{}, unknown("parameter of "+mode.Name, name, paramNames(mode))
	}
	v, err := parseParam(p, text)
	return model.ParamValue{Name: name, Value: v}, err
}

func paramNames(m *model.Mode) []string {
	var names []string
	for i := range m.Params {
		names = append(names, m.Params[i].Name)
	}
	return names
}

// parseParam reads the value of a parameter: a number, or a duration where it is a time.
func parseParam(p *model.Param, text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	ok, form, write := err == nil, "a whole number", func(v int64) string { return fmt.Sprint(v) }
	if p.IsTime {
		v, ok = faults.ParseDuration(text)
		form, write = "a duration such as 80ms", faults.FormatDuration
	}
	if !ok || v < p.Min || v > p.Max {
		return 0, fail(statusUsage, "--set %s=%s, expected %s from %s to %s", p.Name, text, form,
			write(p.Min), write(p.Max))
	}
	return v, nil
}
