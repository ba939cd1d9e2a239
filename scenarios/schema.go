package scenarios

import (
	"fmt"
	"strings"
)

// formatVersion is the format that Parse reads and Format writes.
const formatVersion = 1

// The mappings of scenario.yaml: each list is both what Parse accepts and what Schema prints.
var (
	scenarioKeys = []key{
		{"format", "1, the version of this format; required"},
		{"name", "one line; without it, the name of the file"},
		{"topology", "the name of a topology, or a mapping (below); required"},
		{"mode", "the name of a mode; required"},
		{"params", "a mapping from parameters of the mode to numbers, or durations such as 80ms"},
		{"sink", "the name of a sink; without it, the default of the mode"},
		{"defect", "the name of a defect, to be planted in the mode"},
		{"seed", "0 to 18446744073709551615; without it, 1"},
		{"input", "a list of lines, or a mapping (below); without it, the topology's sample, " +
			"or generated records where the topology has none"},
		{"faults", "a list of lines of the fault language"},
		{"bounds", "a mapping (below)"},
	}
	topologyKeys = []key{
		{"name", "one line; required"},
		{"says", "one line for lists"},
		{"inputs", "a list of mappings (below); required"},
		{"stages", "a list of mappings (below); required"},
		{"decoder", "the name of a decoder: how lines become records"},
		{"sample", "the name of the embedded input that is the default"},
	}
	topologyInputKeys = []key{
		{"name", "one line; required"},
		{"partitions", "1 to 64; without it, 1. A topology has at most 64 in all"},
	}
	stageKeys = []key{
		{"name", "one line; required"},
		{"operator", "the name of an operator; required"},
		{"from", "a list of names of inputs and earlier stages; required"},
		{"parallel", "the number of tasks, 1 to 64; without it, 1"},
		{"exchange", "forward or by-key; without it, forward, to no more tasks than the widest " +
			"that it reads from"},
	}
	inputKeys = []key{
		{"sample", "true: the topology's sample"},
		{"lines", "a list of lines"},
		{"generated", "a number to 10000000: so many records, the same under every seed; 0: 12"},
		{"file", "a path, relative to the directory of the scenario file"},
		{"section", "the name of a further section of this file that holds the lines"},
		{"sha256", "with file: the hash of its bytes, 64 hex digits; verified when it is read"},
		{"quoted", "with section, true: each line is a Go string in double quotes"},
		{"records", "not with generated: only the first so many lines; 0 or nothing: all"},
		{"every", "the arrival interval within a partition, 1ns to 1000s; else 2ms"},
	}
	boundsKeys = []key{
		{"events", "a budget, from 1; when it is spent, verdicts are unknown"},
		{"time", "virtual time to drain after the last arrival or fault, 1ns to 1000000s"},
	}
	recordedKeys = []key{
		{"hash", "16 hex digits: the hash of the trace; required"},
		{"signature", "one line: what the run violated"},
		{"version", "one line: the version of the module that saved the run"},
		{"golden", "a number: the version of the golden hashes"},
	}
)

// sourceKeys are the keys of an input mapping that say where the lines are from.
var sourceKeys = keyNames(inputKeys[:5])

// Schema describes the format of scenario files, for people.
func Schema() string {
	var b strings.Builder
	b.WriteString(schemaHead)
	for _, m := range []struct {
		title string
		keys  []key
	}{
		{"scenario.yaml", scenarioKeys},
		{"topology, as a mapping", topologyKeys},
		{"topology: inputs", topologyInputKeys},
		{"topology: stages", stageKeys},
		{"input, as a mapping: at most one of " + strings.Join(sourceKeys, ", "), inputKeys},
		{"bounds", boundsKeys},
		{"the section recorded", recordedKeys},
	} {
		fmt.Fprintf(&b, "\n%s\n", m.title)
		for _, k := range m.keys {
			fmt.Fprintf(&b, "  %-10s  %s\n", k.name, wrap(k.says, 84, "\n              "))
		}
	}
	b.WriteString(schemaTail)
	return b.String()
}

// wrap breaks a text into lines of up to width bytes.
func wrap(text string, width int, lineEnd string) string {
	var lines []string
	for len(text) > width {
		at := strings.LastIndexByte(text[:width], ' ')
		lines, text = append(lines, text[:at]), text[at+1:]
	}
	return strings.Join(append(lines, text), lineEnd)
}

const schemaHead = `A scenario file (.sim) is a txtar archive: free prose first, then sections.
Each section begins with a line "-- NAME --".

  scenario.yaml  what is run; required
  verdict        what must come out, written by a person
  trace          the diagram of the run, written by the machine
  recorded       what a saved run was, written by the machine
  any other      lines of input, if "section" of the input names it

A line within a section cannot look like the beginning of one. Line ends are LF or CRLF. An
archive cannot hold everything: an input that is large or binary is a file of its own, named by
its path and hash.

scenario.yaml is YAML, of which one document with mappings, lists, and values of one kind each is
all that is read: no tags, anchors, aliases or merge keys, each key once, unknown keys refused, at
most 1 MiB. Numbers are whole and decimal. Durations are a number and one of ns, us, ms, s. Text
is what is written: yes, 007 and 1e3 are text where text is expected.
`

const schemaTail = `
Lines of input are records: number n, from 0, goes to partition n modulo p at offset n / p, where
p is the number of partitions over all inputs. A record has the line as its text and n+1 as its
number; a line of more than 1 MiB has no text and the number -(n+1), and is malformed. In a
topology without a decoder a line KEY=NUMBER, as in k1=42, is instead a record with that key and
number and no text, which is what generated records are: keys k0 to k3, numbers 1 to 100. In a
topology with a decoder generated records are lines drawn from its sample.

The section verdict has one line a property; blank lines and lines that begin with # are skipped:

  holds PROPERTY
  violated PROPERTY
  violated PROPERTY: ANOMALY [RECORD] [xTIMES]     as in  duplicate input/1:7 x2
  unknown PROPERTY

Example

  -- scenario.yaml --
  format: 1
  topology: pipeline
  mode: at-least-once
  input: [a, b]
  faults:
    - crash sink/0 before ack of write 1
  -- verdict --
  holds    at-least-once
  violated exactly-once: duplicate input/0:0 x2
`
