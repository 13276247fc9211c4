// Package mission reads mission files: the plan, the vehicle and the settings of a flight. A [Mission] is the content
// of the file, checked against the vehicle and the plan, with the plan compiled for the mission's signals. It never
// changes and may be shared; runs are made from it.
package mission

import (
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/sim"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/fmu"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// Mission is a mission file together with its plan, checked. It is immutable.
type Mission struct {
	Name, Text   string
	Source       *diag.Source // the mission file
	Vehicle      *model.Vehicle
	Equations    *diag.Source // the vehicle's file; nil if it is another one
	FMU          *fmu.Unit    // that is the vehicle; nil: none is
	Plan         *plan.Plan
	Graph        *diag.Source // the state graph with which the plan is compared, unread; nil if the mission names none
	Parameters   []float64    // of the vehicle, in its declared order and units
	Horizon      float64      // simulated time at which the mission ends [s]
	Tolerance    float64      // relative tolerance of the integration
	Method       ode.Method   // of the integration
	MaxStep      float64      // of the integration [s]; 0: any
	Chattering   sim.Chattering
	EndsWithPlan bool     // the mission is over when the plan's root has ended
	Interval     float64  // of the recording grid [s]
	Record       []string // the recorded signals
	Needed       []string // the signals that the plan, a computed signal or the vehicle reads
	Plots        []Plot
	Tables       expr.Scope           // functions that the expressions of the mission and the plan may call
	Declared     declare.Declarations // the section `check`
	Fence        earth.Fence          // where the vehicle may fly
	Rally        []earth.Refuge       // where it may return to instead of home
	Program      *executive.Program   // the plan, compiled for the mission's signals

	held     *executive.Program    // likewise, smooth between events; nil: so is Program
	initial  []initialValue        // states whose initial values replace the vehicle's
	signals  []signal              // everything with a name, in the order of the signal vector
	sources  []string              // of the signals of the vehicle
	used     []string              // of these: those that the outages name
	sourceOf map[string]string     // by signal of the vehicle
	outages  []outage              // ascending by source and time
	placed   bool                  // the mission sets the place of home
	leveled  bool                  // the mission sets the height of home above mean sea level
	flown    bool                  // the world gives the signals of the sources
	replaced map[string]*expr.Expr // outputs of the vehicle whose expressions stand for them in a proof

	texts  []string         // that the mission itself gives to slots, by their place among the signals
	slots  []executive.Slot // written by tasks: the vehicle's commands, then the mission's own
	layout executive.Layout
	judged []string     // what assertions name: signals and tasks
	judges []*expr.Expr // their conditions without tasks, whose relations are events of the run

	computed map[string]*expr.Expr // the document's real signals that are expressions of others

	compiler *expr.Compiler // of the program; it compiles nothing more
}

// Site returns the place of home that the mission was made for, its altitude above mean sea level [m], and whether the
// mission sets the place.
func (m *Mission) Site() (at earth.Position, alt float64, given bool) {
	return earth.Position{Lat: m.parameter(siteLat), Lon: m.parameter(siteLon)}, m.parameter(siteAlt), m.placed
}

// Plot names signals that share a panel of the report.
type Plot struct {
	Title   string
	Signals []string
}

type initialValue struct {
	state int
	value float64
	among interval.Interval // the values with which proofs let it start
}

// startsAt lets a state start at a value in all runs.
func startsAt(state int, x float64) initialValue { return initialValue{state, x, interval.Point(x)} }

// kind is the source of a signal's value.
type kind uint8

const (
	clock    kind = iota // the simulated time
	state                // a continuous state of the vehicle
	output               // computed by the vehicle
	slotted              // written by tasks
	computed             // an expression of other signals, given in the mission file
	given                // of a source, given by the world
)

// signal is one named signal of the blackboard. Its place in the list is its place in the signal
// vector.
type signal struct {
	name, text string
	unit       expr.Unit
	typ        expr.Type // of a slot or a computed signal; all others are real
	values     []string  // of an enumeration
	kind       kind
	index      int        // within its kind: the state, output, slot, or entry of the computed signals
	entry      bool       // a slot that the plan declares
	direct     bool       // an output that depends on the commands of the same instant
	value      *expr.Expr // of a computed signal
	at         place      // of a computed signal's expression
	sources    []string   // on which the value depends
	source     string     // of which it tells whether it is known, or since when it is not
}

type place struct{ offset, length int }

// Smooth returns the mission with a program whose values are smooth while the sides of its indicators and its cells
// stay the same, as the simulation of a run needs it: functions that turn or jump have indicators of their own, behind
// those of Program.
func (m *Mission) Smooth() *Mission {
	if m.held == nil {
		return m
	}
	n := *m
	n.Program, n.held = m.held, nil
	return &n
}

// Hosted returns the mission for a simulation in which the code of its FMU may run: start starts its processes. Others
// refuse to simulate an FMU.
func (m *Mission) Hosted(start fmu.Start) *Mission {
	if m.FMU == nil {
		return m
	}
	n := *m
	n.Vehicle = m.FMU.Vehicle(start)
	return &n
}

// Signal returns the description of a signal, with all values of an enumeration or a text, and its place in the signal
// vector, -1 if there is none.
func (m *Mission) Signal(name string) (d plan.Signal, place int) {
	place = slices.IndexFunc(m.signals, func(s signal) bool { return s.name == name })
	if place < 0 {
		return d, place
	}
	s := &m.signals[place]
	d = plan.Signal{Unit: s.unit, Type: s.typ, Values: s.values, Text: s.text}
	d.Entry = s.entry
	if s.typ == expr.Text {
		d.Values = m.texts
	}
	return d, place
}
