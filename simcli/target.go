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
	faults  []string
	params  []string
}

// addTo declares the flags that all commands which run a scenario have.
func (f *settings) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.input, "input", "", "read the records from `FILE`, one a line")
	flags.IntVar(&f.records, "records", 0, "only the first `N` records")
	flags.StringArrayVar(&f.params, "set", nil,
		"set a parameter of the mode, `NAME=VALUE`; repeatable")
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
		!slices.Equal(b.Faults, s.Faults) || !slices.Equal(b.Params, s.Params)
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

// parseFaults reads the lines of --fault. An empty one stands for no fault.
func parseFaults(lines []string) (faults.Plan, error) {
	var plan faults.Plan
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		f, err := faults.Parse(line)
		if err != nil {
			return nil, fail(statusUsage, "--fault %q: %w", line, err)
		}
		plan = append(plan, f)
	}
	return plan, nil
}

// setAmong applies the lines of --set under the scenario's own mode or else the first of some modes
// that has all of the parameters: the others take of them what they have.
func (t *target) setAmong(modes []*model.Mode, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	for _, mode := range append([]*model.Mode{t.s.Mode}, modes...) {
		hasAll := true
		for _, line := range lines {
			name, _, _ := strings.Cut(line, "=")
			hasAll = hasAll && mode.Param(name) != nil
		}
		if hasAll {
			plan := t.s.Faults
			t.s = search.WithMode(t.s, mode)
			t.s.Faults = plan
			break
		}
	}
	return t.set(lines)
}

// set applies the lines of --set.
func (t *target) set(lines []string) error {
	s := t.s
	s.Params = slices.Clone(s.Params)
	for _, line := range lines {
		name, text, ok := strings.Cut(line, "=")
		if !ok {
			return fail(statusUsage, "--set %q, expected NAME=VALUE", line)
		}
		p := s.Mode.Param(name)
		if p == nil {
			return unknown("parameter of "+s.Mode.Name, name, paramNames(s.Mode))
		}
		v, err := parseParam(p, text)
		if err != nil {
			return err
		}
		s.Params = slices.DeleteFunc(s.Params, func(o model.ParamValue) bool {
			return o.Name == name
		})
		s.Params = append(s.Params, model.ParamValue{Name: name, Value: v})
	}
	return nil
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
