package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/codegen"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// fmuFlags are the choices of export fmu.
type fmuFlags struct {
	version int
	kind    string
	vehicle bool
}

// interfaces are the values of --kind.
var interfaces = map[string]codegen.Interface{"me": codegen.ModelExchange, "cs": codegen.CoSimulation,
	"both": codegen.ModelExchange | codegen.CoSimulation}

// exportFMU writes a plan or the vehicle of a mission as an FMU.
func exportFMU(name, out string, f fmuFlags, stderr io.Writer) error {
	with, ok := interfaces[f.kind]
	if !ok {
		return &usageError{unknownWord("kind", f.kind, []string{"me", "cs", "both"})}
	}
	if f.version != 2 && f.version != 3 {
		return &usageError{fmt.Sprintf("there is no version %d of FMI here: use --fmi 2 or --fmi 3", f.version)}
	}
	p, m, err := readPlan(name, stderr)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	u := codegen.FMU{Name: base, Text: "plan " + filepath.ToSlash(name), Made: "From " + filepath.ToSlash(name) +
		", made by canopy export fmu; do not edit.", Version: f.version, With: with, Stop: 1}
	if m != nil {
		u.Stop = m.Horizon
	}
	var list []codegen.File
	switch {
	case f.vehicle && m == nil:
		return &usageError{"a plan has no vehicle: name a mission with --vehicle"}
	case f.vehicle:
		u.Name, u.Text = m.Vehicle.Name, m.Vehicle.Text
		list, err = vehicleFMU(u, m)
	case m == nil:
		list, err = codegen.TreeFMU(u, p.Tree, taskText(p))
	default:
		list, err = planFMU(u, m.Flown())
	}
	if err != nil {
		return failed(err)
	}
	data, err := packed(u, list, stderr)
	if err != nil {
		return failed(err)
	}
	return failed(files.Save(cmp.Or(out, u.Name+".fmu"), data))
}

// earliest is the first date that an archive can have, which all files have: the same mission gives the same bytes.
var earliest = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// packed returns the archive of an FMU, with the binary of this platform if there is a C compiler. The same files give
// the same bytes.
func packed(u codegen.FMU, list []codegen.File, stderr io.Writer) ([]byte, error) {
	binary, err := compiled(u, list)
	if errors.Is(err, exec.ErrNotFound) {
		fmt.Fprintln(stderr, "note: there is no C compiler: the FMU has its sources only; install cc, or set CC")
	} else if err != nil {
		return nil, err
	} else {
		list = append(list, binary)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range list {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: earliest})
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, f.Text); err != nil {
			return nil, err
		}
	}
	err = z.Close()
	return b.Bytes(), err
}

// compiled returns the binary of an FMU for this platform.
func compiled(u codegen.FMU, list []codegen.File) (f codegen.File, err error) {
	cc, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc"))
	if err != nil {
		return f, err
	}
	dir, err := os.MkdirTemp("", "canopy-fmu")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	for _, x := range list {
		if source, is := strings.CutPrefix(x.Name, "sources/"); is {
			if err := os.WriteFile(filepath.Join(dir, source), []byte(x.Text), 0o600); err != nil {
				return f, err
			}
		}
	}
	f.Name = u.Binary(runtime.GOOS, runtime.GOARCH)
	out := filepath.Base(f.Name)
	c := exec.Command(cc, "-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off",
		fmt.Sprintf("-DFMI%d_OVERRIDE_FUNCTION_PREFIX", u.Version), "fmu.c", "-lm", "-o", out)
	if runtime.GOOS == "linux" {
		c.Args = append(c.Args, "-Wl,--build-id=none", "-s")
	}
	c.Dir = dir
	if text, err := c.CombinedOutput(); err != nil {
		return f, fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	data, err := os.ReadFile(filepath.Join(dir, out))
	f.Text = string(data)
	return f, err
}

// planFMU returns the files of the FMU of a mission's plan. At the start its inputs have the values that the vehicle
// has.
func planFMU(u codegen.FMU, m *mission.Mission) ([]codegen.File, error) {
	instance, err := m.Vehicle.New(m.Parameters)
	if err != nil {
		return nil, err
	}
	start := map[string]float64{}
	y, commands, outputs := m.Initial(instance), []float64{}, make([]float64, len(m.Vehicle.Outputs))
	for _, c := range m.Vehicle.Commands {
		commands = append(commands, c.Default)
	}
	instance.Outputs(0, y, commands, outputs)
	for i, x := range m.Vehicle.States {
		start[x.Name] = y[i]
	}
	for i, x := range m.Vehicle.Outputs {
		start[x.Name] = outputs[i]
	}
	names := m.Subject().Signals
	return codegen.PlanFMU(u, m.Plan.Tree, taskText(m.Plan), programOf(m), func(place int) codegen.Variable {
		name := names[place]
		s, _ := m.Signal(name)
		v := codegen.Variable{Name: name, Text: s.Text, Boolean: s.Type == expr.Boolean, Values: s.Values, Start: start[name]}
		switch {
		case s.Type == expr.Real:
			v.Unit = s.Unit
		case strings.HasPrefix(name, "known."):
			v.Start = 1 // sources answer
		}
		return v
	})
}

// vehicleFMU returns the files of the FMU of a mission's vehicle, with its parameters and its start.
func vehicleFMU(u codegen.FMU, m *mission.Mission) ([]codegen.File, error) {
	of := m.Vehicle
	instance, err := of.New(m.Parameters)
	if err != nil {
		return nil, err
	}
	list, err := codegen.Vehicle(u.Name, u.Made, equations.SystemOf(instance))
	if err != nil {
		return nil, err
	}
	var v codegen.VehicleVariables
	typed := func(x model.Variable, start float64, r model.Range) codegen.Variable {
		unit, _ := expr.ParseUnit(x.Unit)
		is := codegen.Variable{Name: x.Name, Text: x.Text, Unit: unit, Start: start}
		is.Min, is.Max = r.Bounds()
		if values, ok := of.Typed[x.Name]; ok {
			is.Values, is.Boolean = values, values == nil
		}
		return is
	}
	y := m.Initial(instance)
	for i, x := range of.States {
		v.States = append(v.States, typed(x.Variable, y[i], x.Range))
		v.Nominals = append(v.Nominals, x.AbsTol/mission.DefaultTolerance)
		v.Discrete = append(v.Discrete, of.Discrete != nil && of.Discrete[i] != "")
	}
	for _, x := range of.Commands {
		v.Commands = append(v.Commands, typed(x.Variable, x.Default, model.Range{}))
	}
	for i, x := range of.Parameters {
		v.Parameters = append(v.Parameters, typed(model.Variable{Name: x.Name, Unit: x.Unit, Text: x.Text}, m.Parameters[i],
			x.Range()))
	}
	for _, x := range of.Outputs {
		v.Outputs = append(v.Outputs, typed(x.Variable, 0, model.Range{}))
	}
	if s, ok := instance.(model.Switching); ok {
		v.Switches = len(s.Switches(make([]bool, len(of.Outputs))))
	}
	return codegen.VehicleFMU(u, v, list)
}
