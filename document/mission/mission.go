// Package mission flies a plan: it binds a behaviour tree to a simulated vehicle for one run.
//
// A [Mission] is what the mission file says, checked against the vehicle and the plan; it never changes and may be
// shared. A [Run] is one flight of it: the tree engine, the simulator and the values that change. The tree engine and
// the simulator know nothing of each other; the whole of their meeting is [Run.Step].
package mission

import (
	"canopy/analysis/verify"
	"canopy/diag"
	"canopy/document/plan"
	"canopy/expr"
	"canopy/formalism/stategraph"
	"canopy/ode"
	"canopy/run/record"
	"canopy/sim"
	"canopy/vehicle/model"
)

// Mission is a mission file together with its plan, checked. It is immutable.
type Mission struct {
	Name, Text   string
	Source       *diag.Source // the mission file
	Vehicle      *model.Vehicle
	Equations    *diag.Source // the vehicle's file; nil if it is a built-in one
	Plan         *plan.Plan
	Graph        *stategraph.Graph // what the plan's tree is compared with; nil if the mission names none
	Parameters   []float64         // of the vehicle, in its declared order and units
	Horizon      float64           // simulated time at which the mission ends [s]
	Tolerance    float64           // relative tolerance of the integration
	Method       ode.Method        // of the integration
	Chattering   sim.Chattering
	EndsWithPlan bool     // the mission is over when the plan's root has ended
	Interval     float64  // of the recording grid [s]
	Record       []string // the recorded signals
	Plots        []record.Plot
	Declared     verify.Declarations // what `canopy check` is told

	initial []initialValue // states that start elsewhere than where the vehicle puts them
	signals []signal       // everything with a name, in the order of the signal vector
	slots   []slot         // what tasks may write: the vehicle's commands, then the mission's own
	layout  layout
	leaves  []leaf
	program program
}

type initialValue struct {
	state int
	value float64
}

// kind says where a signal's value comes from.
type kind uint8

const (
	clock    kind = iota // the simulated time
	state                // a continuous state of the vehicle
	output               // computed by the vehicle
	slotted              // written by tasks
	computed             // an expression of other signals, given in the mission file
)

// signal is one named continuous-time real signal of the blackboard. Its place in the list is its place in the signal
// vector.
type signal struct {
	name, text string
	unit       expr.Unit
	kind       kind
	index      int        // within its kind: the state, output, slot, or entry of the computed signals
	direct     bool       // an output that depends on the commands of the same instant
	value      *expr.Expr // of a computed signal
	at         place      // of a computed signal's expression
}

type place struct{ offset, length int }

// slot is a signal that tasks may write. The first active writer in the order of the tree counts; when none is
// active, the slot has its held value: the default, or with hold the last value written.
type slot struct {
	signal  int
	initial float64
	hold    bool
}

// layout says where each kind of signal begins in the signal vector: the clock is at 0, the states follow.
type layout struct {
	outputs, slots, computed int
	commands                 int // how many slots, from the first, are commands of the vehicle
}
