// Package model holds the simulated vehicles: their parameters, states, outputs and commands with units and text, and
// the derivatives of their states.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Tag is the source of a parameter's default.
type Tag uint8

// The tags. They distinguish assumed values from measured ones.
const (
	Assumed   Tag = iota // chosen, or tuned to the published times of day
	Published            // published for another aircraft or a bought part
	DLR                  // published by DLR for this aircraft
)

// String returns the tag's letter: A, P or D.
func (t Tag) String() string { return [...]string{"A", "P", "D"}[t] }

// MarshalText writes the tag's letter.
func (t Tag) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Parameter is a number that is constant during a run. Its value is in its own unit, which need not be SI. Min and Max
// may be infinite.
type Parameter struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Default float64 `json:"default"`
	Min     float64 `json:"-"`
	Max     float64 `json:"-"`
	Tag     Tag     `json:"tag"`
	Text    string  `json:"text"`
}

// Range returns the range of the values that the parameter may have.
func (p Parameter) Range() Range { return Between(p.Min, p.Max) }

// Check returns an error that wraps ErrParameters if the value is not valid for the parameter.
func (p Parameter) Check(value float64) error {
	if r := p.Range(); !r.Contains(value) || value-value != 0 {
		return fmt.Errorf("%w: %s = %g, must be in %v %s", ErrParameters, p.Name, value, r, p.Unit)
	}
	return nil
}

// MarshalJSON writes the fields, Min and Max null where there is no limit.
func (p Parameter) MarshalJSON() ([]byte, error) {
	type plain Parameter
	limit := func(v float64) *float64 {
		if math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		plain
		Min *float64 `json:"min"`
		Max *float64 `json:"max"`
	}{plain(p), limit(p.Min), limit(p.Max)})
}

// Variable is a real signal. Its unit is coherent SI.
type Variable struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Text string `json:"text"`
}

// State is a continuous state, its absolute error tolerance for values where a relative one is meaningless, and the
// range in which the model is valid.
type State struct {
	Variable
	AbsTol float64 `json:"abs_tol"`
	Range  Range   `json:"range"`
}

// Occurrence is an event of the vehicle: when it occurs, and what it then sets. Both are texts for readers.
type Occurrence struct {
	When string `json:"when"`
	Then string `json:"then"`
}

// Tabulation is a function of one or two arguments in the equations of the vehicle, given at points: linear in between.
type Tabulation struct {
	Variable
	Arguments []Argument `json:"arguments"`
	Range     Range      `json:"range"` // of the values
	Clamp     bool       `json:"clamp"` // outside of the points it has the value at the nearest one; else it is undefined
}

// Argument is an argument of a table. Its points lie in a range.
type Argument struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Points int    `json:"points"`
	Range  Range  `json:"range"`
}

// Output is a signal computed from time, states and commands.
type Output struct {
	Variable
	Direct []string `json:"direct,omitempty"` // names of the commands on which it depends at the same instant
}

// Command is an input. While no task writes it, it keeps its last value (Hold) or returns to its default.
type Command struct {
	Variable
	Default float64 `json:"default"`
	Hold    bool    `json:"hold"`
	Range   Range   `json:"range"` // of values that the vehicle can follow
}

// ErrParameters is wrapped by every error of Vehicle.New.
var ErrParameters = errors.New("model: impossible parameters")

// Vehicle describes a kind of vehicle. It is immutable and may be shared.
type Vehicle struct {
	Name, Text string
	Parameters []Parameter
	States     []State
	Outputs    []Output
	Commands   []Command
	Discrete   []string // by state: the type of one that only events change, else ""; nil: none
	Events     []Occurrence
	Tables     []Tabulation
	Jumps      []string // the states that events of the vehicle itself may change at once
	Floating   []bool   // by state: its absolute tolerance follows its values (ode.Options); nil: none

	// Prompt has the states and outputs that may change at the instant of a command, by name: the names of the commands on
	// which they depend, or which can set off events that change them. An event whose condition depends on states alone
	// waits for these.
	Prompt map[string][]string

	// Sources is where measured values of states and outputs come from, by name. A source may be lost, and with it all its
	// signals. nil: the vehicle declares none.
	Sources map[string]string

	// Typed has the states, outputs and commands that are no numbers to a plan, by name: the values of an enumeration, nil
	// for a Boolean. Their numbers are the index of the value, or 1 and 0.
	Typed map[string][]string

	// New returns an instance. It requires one value for each of Parameters, in that order; values that are out of
	// range or inconsistent give an error that wraps ErrParameters.
	New func(parameters []float64) (Instance, error)
}

// Instance is a vehicle with its parameters fixed. It owns scratch memory: one goroutine at a time. All slices are in
// the order of the Vehicle's fields and have their lengths; y is only read, except by Initial.
type Instance interface {
	// Initial writes the states at the start, in trim.
	Initial(y []float64)
	// Derivatives writes the time derivatives of y at t seconds. Its result depends only on its arguments.
	Derivatives(t float64, y, commands, dydt []float64)
	// Outputs writes the outputs at t seconds.
	Outputs(t float64, y, commands, out []float64)
}

// Switching is an Instance whose equations switch: a relation in them decides between branches, a function has a kink
// or a jump, or an event changes states. Between events, the sides of all switches and what the vehicle remembers are
// held, so that derivatives and outputs are smooth. A world that simulates the vehicle watches its switches, passes it
// the sides, and lets it react at events.
type Switching interface {
	Instance
	// Switches returns the switches, by number, of all derivatives and events, and of the outputs that someone needs.
	Switches(needed []bool) []Switch
	// Memory returns what the vehicle remembers before the start. It must react once at the start.
	Memory() []float64
	// Hold sets the sides of the switches, by number, and the memory for the calls that follow; they may change between
	// calls. Without sides, and for outputs that nobody needs, relations are evaluated directly.
	Hold(above []bool, memory []float64)
	// Zeros writes the indicators of the given switches, ascending, to g[0] and on. They are above if at least zero.
	Zeros(t float64, y, commands []float64, which []int, g []float64)
	// React updates the memory at an event, with the sides there held, and reports whether it has changed. If the sides
	// are settled, those that belong to the present states, it also changes the states as the vehicle's events demand.
	// It is to be repeated, each time with the sides that follow, until it changes nothing.
	React(t float64, y, commands, memory []float64, settled bool) (changed bool)
	// Undefined returns why the values that were computed last may not be finite; "" if nothing is known.
	Undefined() string
}

// Live is a Switching behind which a program of its own runs: it can fail, and end the simulation. Its values are those
// for the memory that it gave last; for an earlier one, its outputs are those before its last event, and derivatives
// are not numbers. Such an instance has a state: its method State passes that to a checkpoint.
type Live interface {
	Switching
	// Prepare tells it at which points it is asked next, so that it can answer together.
	Prepare(t []float64, y, commands [][]float64)
	// Stepped tells it that the trajectory has come to a point, and reports whether it wants to react there.
	Stepped(t float64, y, commands []float64) (react bool)
	// Err returns why it has failed, nil if it has not.
	Err() error
	// Ended returns why it has ended the simulation, "" if it has not.
	Ended() string
}

// Switch is the event indicator of a relation in the equations of a vehicle.
type Switch struct {
	Text     string // the relation
	Idle     bool   // no derivative and no needed output depends on it
	Rates    bool   // derivatives depend on its side
	Reads    []int  // the states that its indicator reads
	Commands bool   // its indicator reads commands
	Steady   bool   // its indicator depends on time and states alone: on no other switch, and not on the memory
	Of       int    // the state that it compares with Level; -1: the indicator is a function
	Level    float64
	Falls    bool // the indicator is Level minus the state, not the reverse
}

// Vehicles returns the vehicles that are Go code; package equations has the others.
func Vehicles() []*Vehicle { return []*Vehicle{solar} }

// Offer is a vehicle that is made when it is needed.
type Offer struct {
	Name   string
	Make   func() *Vehicle
	Fenced func(breach string) *Vehicle // with the condition that the vehicle is outside its fence; nil: it has none
	Lean   *Offer                       // the vehicle without what few missions use; nil: there is nothing of the kind
}

// Offers returns offers of vehicles.
func Offers(vehicles ...*Vehicle) []Offer {
	offers := make([]Offer, len(vehicles))
	for i, v := range vehicles {
		offers[i] = Offer{Name: v.Name, Make: func() *Vehicle { return v }}
	}
	return offers
}

// Defaults returns the default value of every parameter.
func (v *Vehicle) Defaults() []float64 {
	values := make([]float64, len(v.Parameters))
	for i, p := range v.Parameters {
		values[i] = p.Default
	}
	return values
}

// binding declares a parameter together with the variable for its value.
type binding struct {
	Parameter
	to *float64
}

// assign sets the variables. It panics on a wrong number of values.
func assign(to []binding, values []float64) error {
	if len(values) != len(to) {
		panic("model: wrong number of parameters")
	}
	for i, b := range to {
		if err := b.Check(values[i]); err != nil {
			return err
		}
		*b.to = values[i]
	}
	return nil
}

func parametersOf(bindings []binding) []Parameter {
	list := make([]Parameter, len(bindings))
	for i, b := range bindings {
		list[i] = b.Parameter
	}
	return list
}
