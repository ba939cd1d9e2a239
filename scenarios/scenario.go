package scenarios

import (
	"fmt"
	"slices"

	"github.com/oncesim/oncesim/defects"
	"github.com/oncesim/oncesim/faults"
	"github.com/oncesim/oncesim/model"
)

// Scenario is everything that decides a run: a run is a function of it and of the Library that its
// names are looked up in.
type Scenario struct {
	Name     string
	Prose    string          // what happens, why, and where it is taken from
	Topology *model.Topology // resolved against the library, or written inline
	Inline   bool            // the topology is written in the file, not named
	Mode     *model.Mode
	Params   []model.ParamValue // those set; the others have their defaults
	Sink     string             // "": the mode's default
	Defect   *defects.Defect    // planted in the mode; nil: none
	Input    InputSpec
	Seed     uint64
	Faults   faults.Plan
	Bounds   Bounds
	Expect   []Expectation
	Trace    string    // golden diagram, or ""
	Recorded *Recorded // what a saved run was, or nil
}

// InputKind says where the input of a scenario comes from.
type InputKind uint8

// The kinds of input.
const (
	InputSample    InputKind = iota // the topology's embedded sample
	InputInline                     // lines in the scenario file
	InputGenerated                  // drawn, the same records under every seed
	InputFile                       // a file of its own
)

// InputSpec says what the input is. Records limits it; 0 means all of it.
type InputSpec struct {
	Kind    InputKind
	Lines   []string // InputInline
	Path    string   // InputFile
	Dir     string   // InputFile: where a relative Path begins; Format does not write it
	SHA256  string   // InputFile: hex; "" is not verified
	Records int
	Every   int64 // arrival interval in a partition, virtual ns; 0: two milliseconds
}

// Bounds end a run that does not end itself. Zero means the default.
type Bounds struct {
	Events int64 // budget of events; when it is spent the verdicts are unknown
	Time   int64 // virtual ns that the job has to drain after the last arrival or fault
}

// Expectation is one line of a scenario's verdict section, written by a person.
type Expectation struct {
	Line     int
	Result   model.Result
	Property string
	Kind     model.AnomalyKind // 0: any
	Record   string            // "input/1:7", or ""
	Times    int64             // "x2"; 0: not said
}

// Recorded is what the machine writes when it saves a run.
type Recorded struct {
	Hash      uint64
	Signature string
	Version   string // module version
	Format    int    // version of the golden hashes
}

// ModeText names the mode, and the defect if one is planted in it.
func (s *Scenario) ModeText() string {
	if s.Defect == nil {
		return s.Mode.Name
	}
	return s.Mode.Name + " with " + s.Defect.Name
}

// DefectName is the name of the defect that is planted in the mode, or "".
func (s *Scenario) DefectName() string {
	if s.Defect == nil {
		return ""
	}
	return s.Defect.Name
}

// Claims is what the mode claims of the job as it is set.
func (s *Scenario) Claims() []string { return s.Mode.ClaimsUnder(s.Topology.Kind(), s.Params) }

// ParamText writes a value of a parameter as files and flags have it; a nil parameter is one that
// the mode does not declare.
func ParamText(p *model.Param, value int64) string {
	if p != nil && p.IsTime {
		return faults.FormatDuration(value)
	}
	return fmt.Sprint(value)
}

// Unlike lists what s sets otherwise than the claims of its mode take for granted: under such
// settings the mode claims nothing.
func (s *Scenario) Unlike() []string {
	var lines []string
	for _, v := range s.Params {
		p := s.Mode.Param(v.Name)
		if p != nil && p.IsPremise && v.Value != p.Default &&
			!slices.Contains(p.Also, v.Value) {
			lines = append(lines, fmt.Sprintf("%s %s, not %s", v.Name, ParamText(p, v.Value),
				ParamText(p, p.Default)))
		}
	}
	if s.Sink != "" && s.Sink != s.Mode.Sink {
		lines = append(lines, fmt.Sprintf("sink %s, not %s", s.Sink, s.Mode.Sink))
	}
	return lines
}
