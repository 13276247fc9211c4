package fmu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/vehicle/model"
)

// Process is the process in which an instance of an FMU lives.
type Process interface {
	// Call makes a batch of calls of the FMU's functions. The answer is valid until the next call. The error wraps
	// ErrDiscard if the FMU refused these values; after any other one the process has ended.
	Call(op Operation, request []byte) (answer []byte, err error)
	// Library returns the path of the FMU's library, and the folder of its resources, "" if it has none.
	Library() (library, resources string)
}

// Start starts a process for an instance of an FMU.
type Start func(*Unit) (Process, error)

// Operation is a batch of calls.
type Operation uint32

// The operations.
const (
	Load Operation = 1 + iota
	Evaluate
	Event
	Step
	Completed
	Save
	Restore
)

// String names what the FMU was to do.
func (o Operation) String() string {
	return [...]string{"", "start", "evaluate", "handle an event", "make a step", "complete a step", "save its state",
		"restore its state"}[o]
}

// ErrDiscard is wrapped by the error of a call whose values the FMU refused: an integrator may try others.
var ErrDiscard = errors.New("the FMU discards these values")

// ErrNative is returned where a command that only describes a mission is to run the code of its FMU.
var ErrNative = errors.New("this command runs no code of FMUs")

// Vehicle returns the vehicle that the FMU is. Its instances start their process when they are asked for the first
// value; with a nil function, that fails with ErrNative.
func (u *Unit) Vehicle(start Start) *model.Vehicle {
	v := &model.Vehicle{Name: u.Name, Text: u.Text, Prompt: map[string][]string{}, Typed: map[string][]string{}}
	var commands []string
	for _, in := range slices.Concat(u.continuous, u.discrete) {
		for i, name := range u.names[in] {
			commands = append(commands, name)
			v.Commands = append(v.Commands,
				model.Command{Variable: u.describe(in, i), Default: in.begins(i), Range: u.bounds(in)})
			u.typed(v, in, name)
		}
	}
	for _, s := range u.states {
		for i, name := range u.names[s] {
			nominal := s.attribute(u, "nominal")
			v.States = append(v.States, model.State{Variable: u.describe(s, i), Range: u.bounds(s),
				AbsTol: defaultAbsTol * cmp.Or(math.Abs(s.factor*number(nominal, 1)), 1)})
			v.Floating = append(v.Floating, nominal == "")
			if s.attribute(u, "reinit") == "true" {
				v.Jumps = append(v.Jumps, name)
			}
			v.Prompt[name] = commands
		}
	}
	if len(v.States) == 0 { // a simulation needs one
		v.States = []model.State{{Variable: model.Variable{Name: u.free("events"), Unit: "1",
			Text: "number of events or steps of the FMU so far"}, AbsTol: defaultAbsTol, Range: model.AtLeast(0)}}
		v.Discrete, v.Floating, v.Jumps = []string{"integer"}, []bool{true}, []string{v.States[0].Name}
		v.Prompt[v.States[0].Name] = commands
	}
	for _, out := range u.outputs {
		direct := commands
		if by, known := u.direct[out]; known || u.Interface == CoSimulation {
			direct = nil
			for _, in := range by {
				direct = append(direct, u.names[in]...)
			}
		}
		for i, name := range u.names[out] {
			v.Outputs = append(v.Outputs, model.Output{Variable: u.describe(out, i), Direct: direct})
			v.Prompt[name] = commands
			u.typed(v, out, name)
		}
	}
	for _, p := range u.parameters {
		least, most := u.bounds(p).Bounds()
		for i := range u.names[p] {
			is := u.describe(p, i)
			v.Parameters = append(v.Parameters, model.Parameter{Name: is.Name, Unit: is.Unit, Text: is.Text,
				Default: p.begins(i), Min: least, Max: most})
		}
	}
	v.New = func(parameters []float64) (model.Instance, error) { return u.instance(v, start, parameters) }
	return v
}

// describe describes an element of a variable.
func (u *Unit) describe(v *variable, i int) model.Variable {
	text := strings.Join(strings.Fields(v.at("description")), " ")
	if name := u.names[v][i]; name != v.name {
		text = strings.TrimLeft(text+" ("+v.name+")", " ")
	}
	return model.Variable{Name: u.names[v][i], Unit: v.unit, Text: text}
}

// typed notes a signal that is no number to a plan.
func (u *Unit) typed(to *model.Vehicle, v *variable, name string) {
	switch {
	case v.kind >= boolean:
		to.Typed[name] = nil
	case len(v.items) > 0:
		to.Typed[name] = v.words
	}
}

// begins returns the start value of an element as a signal.
func (v *variable) begins(i int) float64 {
	if len(v.start) == 0 {
		return v.signal(0)
	}
	return v.signal(v.start[min(i, len(v.start)-1)])
}

// signal returns the value of a signal from that of the FMU's variable; native is its inverse.
func (v *variable) signal(x float64) float64 {
	if len(v.items) > 0 {
		return float64(max(slices.Index(v.items, x), 0))
	}
	return v.factor*x + v.offset
}

func (v *variable) native(x float64) float64 {
	if len(v.items) > 0 {
		return v.items[min(max(int(x), 0), len(v.items)-1)]
	}
	return (x - v.offset) / v.factor
}

// whole checks the value of a parameter that is no floating number.
func (u *Unit) whole(v *model.Vehicle, values []float64) error {
	place := 0
	for _, p := range u.parameters {
		for range p.size {
			if x := values[place]; p.kind > floats && x != math.Trunc(x) {
				return fmt.Errorf("%w: %s = %g, must be a whole number", model.ErrParameters, v.Parameters[place].Name, x)
			}
			place++
		}
	}
	return nil
}
