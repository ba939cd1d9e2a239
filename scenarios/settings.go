package scenarios

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

	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// ModeDefault is the mode of a topology that is run by its bare name. Where a library does not
// have it, its last mode is taken.
const ModeDefault = "at-least-once"

// fileMax bounds a scenario file.
const fileMax = 64 << 20

// Settings say in words which scenario is to run: what "simrun run" is given as its argument and
// flags, and what a test in Go gives. The zero value of a field leaves what the scenario has.
type Settings struct {
	Name     string          // of a topology or of a scenario in the library, or a scenario file
	Topology *model.Topology // in place of Name, with its operators; the library need not have them
	Library  *Library        // what names are looked up in; nil: Builtin

	Mode    string   // of a topology: ModeDefault
	Sink    string   // the mode's own
	Defect  string   // planted in the mode, by its name
	Lines   []string // the input, one record a line
	Input   string   // or a file of such lines
	Records int      // only so many of them, or of those that are generated
	Faults  []string // lines of the fault language; one empty line: none
	Set     []string // parameters of the mode, "window=1"
	Seed    uint64   // 0: the scenario's, which is SeedDefault; the seed 0 needs a file or a flag
}

// SettingError is a complaint about a setting: what is wrong with its value.
type SettingError struct {
	Setting string // "records", "fault", "defect" or "set"
	Msg     string
	Err     error // what errors.Is finds, or nil
}

// Error is one line: the setting and what is wrong with it.
func (e *SettingError) Error() string { return e.Setting + " " + e.Msg }

// Unwrap returns the class of the complaint, or nil.
func (e *SettingError) Unwrap() error { return e.Err }

func wrongSetting(setting, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &SettingError{Setting: setting, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// Resolve finds the scenario that is meant, and the library with all that it uses.
func (set *Settings) Resolve() (*Library, *Scenario, error) {
	lib, base, err := set.base()
	if err != nil {
		return nil, nil, err
	}
	s, err := set.Apply(lib, base)
	return lib, s, err
}

// Apply is a scenario with what is set changed in it.
func (set *Settings) Apply(lib *Library, base *Scenario) (*Scenario, error) {
	c := *base
	s := &c
	if set.Mode != "" {
		mode, err := lib.FindMode(set.Mode)
		if err != nil {
			return nil, err
		}
		s = s.UnderMode(mode)
	}
	if set.Seed != 0 {
		s.Seed = set.Seed
	}
	if set.Lines != nil {
		s.Input = InputSpec{Kind: InputInline, Lines: set.Lines, Every: s.Input.Every}
	}
	if set.Input != "" {
		s.Input = InputSpec{Kind: InputFile, Path: set.Input, Every: s.Input.Every}
	}
	if set.Records < 0 {
		return nil, wrongSetting("records", "%d, expected a number from 1", set.Records)
	}
	if set.Records > 0 {
		s.Input.Records = set.Records
	}
	if set.Sink != "" {
		s.Sink = set.Sink
		if _, err := lib.sinkOf(s); err != nil {
			return nil, err
		}
	}
	if set.Defect != "" {
		var err error
		if s.Defect, err = lib.defectIn(s.Mode, set.Defect); err != nil {
			return nil, err
		}
	}
	if set.Faults != nil {
		var err error
		if s.Faults, err = parseFaults(set.Faults); err != nil {
			return nil, err
		}
	}
	for _, line := range set.Set {
		v, err := ParseParam(s.Mode, line)
		if err != nil {
			return nil, err
		}
		s.Params = append(slices.DeleteFunc(slices.Clone(s.Params),
			func(o model.ParamValue) bool { return o.Name == v.Name }), v)
	}
	return s, nil
}

// base is the scenario without what is changed in it, as a copy.
func (set *Settings) base() (*Library, *Scenario, error) {
	lib := set.Library
	if lib == nil {
		lib = Builtin()
	}
	if set.Topology == nil {
		s, err := lib.find(set.Name)
		return lib, s, err
	}
	if set.Name != "" {
		return nil, nil, fmt.Errorf("topology %s and the name %q, expected one of them",
			set.Topology.Name, set.Name)
	}
	if err := set.Topology.Validate(); err != nil {
		return nil, nil, err
	}
	lib = lib.with(set.Topology)
	s, err := lib.Bare(set.Topology)
	return lib, s, err
}

// with is the library and a topology with its operators, in place of others of their names.
func (lib *Library) with(t *model.Topology) *Library {
	own := *lib
	own.Topologies = append(slices.DeleteFunc(slices.Clone(lib.Topologies),
		func(other *model.Topology) bool { return other.Name == t.Name }), t)
	own.Operators = slices.Clone(lib.Operators)
	for _, stage := range t.Stages {
		own.Operators = append(slices.DeleteFunc(own.Operators, func(other *model.Operator) bool {
			return other.Name == stage.Operator.Name
		}), stage.Operator)
	}
	return &own
}

// Bare is a topology with the default mode, seed and input.
func (lib *Library) Bare(topology *model.Topology) (*Scenario, error) {
	if len(lib.Modes) == 0 {
		return nil, errors.New("the library has no mode")
	}
	mode := lib.Modes[len(lib.Modes)-1]
	for _, m := range lib.Modes {
		if m.Name == ModeDefault {
			mode = m
		}
	}
	return &Scenario{Name: topology.Name, Topology: topology, Mode: mode, Seed: SeedDefault}, nil
}

// FindMode is the mode of a name.
func (lib *Library) FindMode(name string) (*model.Mode, error) {
	var names []string
	for _, m := range lib.Modes {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return nil, fmt.Errorf("unknown mode %s", unknown(name, names))
}

// find looks a scenario up: a topology, a built-in scenario or a file.
func (lib *Library) find(name string) (*Scenario, error) {
	var names []string
	for _, t := range lib.Topologies {
		if t.Name == name {
			return lib.Bare(t)
		}
		names = append(names, t.Name)
	}
	for _, file := range lib.Files {
		if file.Name == name {
			return Parse(lib, file.Name+".sim", []byte(file.Data))
		}
		names = append(names, file.Name)
	}
	if name == "" {
		return nil, errors.New("no scenario: expected a topology, or the name of a scenario")
	}
	if !strings.ContainsAny(name, `/\`) && !strings.HasSuffix(name, ".sim") {
		return nil, fmt.Errorf("unknown scenario %s", unknown(name, append(names, "a file")))
	}
	data, err := ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(lib, name, data)
}

// ReadFile reads a scenario file for Parse. Its errors name the file once.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, pathCause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, expected a scenario file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", name, pathCause(err))
	case len(data) > fileMax:
		return nil, fmt.Errorf("%s has more than %d bytes, expected a scenario file", name, fileMax)
	case bytes.IndexByte(data[:min(len(data), 1<<13)], 0) >= 0:
		return nil, fmt.Errorf("%s is binary, expected a scenario file", name)
	}
	return data, nil
}

// pathCause is what a path error says without the path.
func pathCause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// parseFaults reads lines of the fault language. An empty one stands for no fault, and is the only
// one.
func parseFaults(lines []string) (faults.Plan, error) {
	var plan faults.Plan
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			if len(lines) > 1 {
				return nil, wrongSetting("fault", "%q stands for no fault, and there are others",
					line)
			}
			continue
		}
		f, err := faults.Parse(line)
		if err != nil {
			return nil, wrongSetting("fault", "%q: %w", line, meant(err))
		}
		plan = append(plan, f)
	}
	return plan, nil
}

// meant suggests for an unknown kind of call or message in a line what was perhaps meant: one that
// begins or ends with the word, or that the word is another name of.
func meant(err error) error {
	var wrong *faults.SyntaxError
	if !errors.As(err, &wrong) || wrong.Nearest != "" ||
		wrong.Problem != "unknown call kind" && wrong.Problem != "unknown target" {
		return err
	}
	also := map[string]string{"notice": "complete", "notify": "complete", "decision": "completion",
		"prepare": "prepare-txn", "vote": "acknowledge", "batch": "write-batch",
		"checkpoint": "upload", "message": "data", "record": "data"}
	better := *wrong
	better.Nearest = also[wrong.Word]
	for _, kind := range model.Kinds() {
		isPart := strings.HasPrefix(kind.String(), wrong.Word+"-")
		if isPart && better.Nearest == "" && strings.Contains(wrong.Expected, kind.String()) {
			better.Nearest = kind.String()
		}
	}
	if !strings.Contains(wrong.Expected, better.Nearest) {
		return err
	}
	return &better
}

// ParseParam reads a parameter of a mode as settings have it: "window=1", "timeout=80ms".
func ParseParam(mode *model.Mode, line string) (model.ParamValue, error) {
	name, text, ok := strings.Cut(line, "=")
	if !ok {
		return model.ParamValue{}, wrongSetting("set", "%q, expected NAME=VALUE", line)
	}
	p := mode.Param(name)
	if p == nil {
		var names []string
		for i := range mode.Params {
			names = append(names, mode.Params[i].Name)
		}
		return model.ParamValue{}, fmt.Errorf("unknown parameter of %s %s", mode.Name,
			unknown(name, names))
	}
	v, err := strconv.ParseInt(text, 10, 64)
	ok, form := err == nil, "a whole number"
	if p.IsTime {
		v, ok = faults.ParseDuration(text)
		form = "a duration such as 80ms"
	}
	if !ok || v < p.Min || v > p.Max {
		return model.ParamValue{}, wrongSetting("set", "%s=%s, expected %s from %s to %s", name,
			text, form, ParamText(p, p.Min), ParamText(p, p.Max))
	}
	return model.ParamValue{Name: name, Value: v}, nil
}

// UnderMode is the scenario under another mode; parameters that the mode does not have are left
// out, and so is a defect that cannot be planted in it. The sink is the mode's own.
func (s *Scenario) UnderMode(mode *model.Mode) *Scenario {
	c := *s
	if s.Defect != nil && !s.Defect.Fits(mode.Name) {
		c.Defect = nil
	}
	if mode == s.Mode {
		return &c
	}
	c.Mode, c.Sink, c.Params = mode, "", nil
	for _, p := range s.Params {
		if mode.Param(p.Name) != nil {
			c.Params = append(c.Params, p)
		}
	}
	return &c
}
