package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/fmu"
	"github.com/canopy-uav/canopy/vehicle/fmu/host"
)

// maxInput is the maximum size of an input file [bytes]: a device or a pipe need not end. An FMU has libraries.
const (
	maxInput = 16 << 20
	maxFMU   = 256 << 20
)

var errInput = errors.New("longer than 16 MiB, too long for a plan, mission or script (an FMU may have 256 MiB)")

// standardInput is the file name of the standard input.
const standardInput = "-"

// documents holds the documents read by the command line, by name. Each is read once: a pipe cannot be read again.
var documents = map[string][]byte{}

// errSpecial is the error of a device or a pipe, which can block, as the input.
var errSpecial = errors.New("not a regular file; give - and the text to the standard input")

// readFile reads a regular file or the standard input, of limited size.
func readFile(name string) ([]byte, error) {
	if text, ok := documents[name]; ok {
		return text, nil
	}
	f := os.Stdin
	if name != standardInput {
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: name, Err: errSpecial}
		}
		if f, err = os.Open(name); err != nil {
			return nil, nearFile(err)
		}
		defer f.Close() //nolint:errcheck // only read
	}
	most := maxInput
	if fmu.IsFile(name) {
		most = maxFMU
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = &fs.PathError{Op: "read", Path: name, Err: errInput}
	}
	if err != nil {
		return nil, err
	}
	documents[name] = text
	return text, nil
}

// source reads a document.
func source(name string) (*diag.Source, error) {
	text, err := readFile(name)
	return &diag.Source{Name: name, Text: string(text)}, err
}

// nearFile adds a similar file name to the error of a file that does not exist.
func nearFile(err error) error {
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	folder, name := filepath.Split(missing.Path)
	entries, _ := os.ReadDir(filepath.Clean(folder + "."))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if hint := diag.DidYouMean(name, names); hint != "" {
		return &fs.PathError{Op: missing.Op, Path: missing.Path, Err: fmt.Errorf("%w; %s", missing.Err, hint)}
	}
	return err
}

// kind is the kind of a document.
type kind uint8

const (
	planKind kind = iota
	missionKind
	graphKind
)

// kindOf returns the kind of a document: XML is a plan, YAML with steps is a state graph, other YAML is a mission. A
// file's name distinguishes plans from YAML; for the standard input, its text does.
func kindOf(name string) (kind, error) {
	isYAML := yamlName(name)
	if !isYAML && name != standardInput {
		return planKind, nil
	}
	src, err := source(name)
	switch {
	case err != nil:
		return 0, err
	case !isYAML && strings.HasPrefix(strings.TrimSpace(src.Text[src.Begin():]), "<"):
		return planKind, nil
	case yamldoc.Has(src, "steps"):
		return graphKind, nil
	}
	return missionKind, nil
}

// yamlName reports whether a name is that of a YAML file.
func yamlName(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// accepted returns the mistakes in a document as an error. If there are only warnings, it writes them to stderr, except
// those with a code that the command decides itself.
func accepted(diags diag.List, stderr io.Writer, decides ...string) error {
	if diags.HasErrors() {
		return diags
	}
	diags = slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return slices.Contains(decides, d.Code) })
	diags.Write(stderr, colour(stderr))
	return nil
}

// readMission is missionOf without errors. Warnings go to stderr, as by accepted.
func readMission(name string, set []string, stderr io.Writer, decides ...string) (*mission.Mission, error) {
	m, diags, err := missionOf(name, set)
	if err != nil {
		return nil, err
	}
	return m, accepted(diags, stderr, decides...)
}

// simulatedMission is readMission for a simulation, in which the code of the mission's FMU may run.
func simulatedMission(name string, set []string, stderr io.Writer) (*mission.Mission, error) {
	m, err := readMission(name, set, stderr)
	if err != nil {
		return nil, err
	}
	return m.Hosted(host.New().Start), nil
}

// missionOf reads a mission with the settings of --set, and checks the state graph that it names.
func missionOf(name string, set []string) (*mission.Mission, diag.List, error) {
	if _, err := readFile(filepath.ToSlash(name)); err != nil { // it has no place for a mistake
		return nil, nil, err
	}
	m, diags := mission.Read(filepath.ToSlash(name), readFile, equations.Offers(), set)
	if m != nil {
		_, more := run.Graph(m)
		diags = append(diags, more...)
	}
	return m, diags, nil
}

// readPlan reads a plan or a mission with its plan. Without a mission, which is then nil, there is no vehicle, and the
// signals in the plan are not checked. Warnings go to stderr, as by accepted.
func readPlan(name string, stderr io.Writer, decides ...string) (*plan.Plan, *mission.Mission, error) {
	switch k, err := kindOf(name); {
	case err != nil:
		return nil, nil, err
	case k == missionKind:
		m, err := readMission(name, nil, stderr, decides...)
		if err != nil {
			return nil, nil, err
		}
		return m.Plan, m, nil
	case k == graphKind:
		return nil, nil, fmt.Errorf("%s is a state graph; give a plan or a mission", name)
	}
	src, err := planSource(name)
	if err != nil {
		return nil, nil, err
	}
	p, diags := plan.ReadFiles(src, nil, readFile)
	return p, nil, accepted(diags, stderr, decides...)
}

// readGraph reads a state graph. If known is nil, the conditions and actions that it names are not checked.
func readGraph(name string, known *stategraph.Vocabulary, stderr io.Writer) (*stategraph.Graph, error) {
	src, err := source(name)
	if err != nil {
		return nil, err
	}
	g, diags := stategraph.Read(src, known)
	return g, accepted(diags, stderr)
}
