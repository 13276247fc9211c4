package sim

import (
	"errors"
	"fmt"
	"strings"

	"canopy/ode"
)

// Indicator declares one event indicator: a real function g of time, states and inputs, whose side g >= 0 counts.
type Indicator struct {
	Name     string // for messages, such as the text of the relation it stands for
	Switches bool   // the derivatives depend on its side: they change when it does

	Threshold *Threshold // nil if g is something else
}

// Threshold says that an indicator is g = y[State] - Level. It is worth saying: a step in which the state stays away
// from the level needs no evaluation.
type Threshold struct {
	State int
	Level float64
	Falls bool // g is Level - y[State] instead
}

// Discrete holds all that is constant between events.
type Discrete struct {
	U     []float64 // inputs
	Above []bool    // of each indicator, whether g >= 0, as committed last
}

// System describes a hybrid system. It is immutable: many simulators share it, in one goroutine if its functions own
// scratch memory. Both functions must depend on nothing but their arguments, and must not keep or change them.
// Derivatives may read the sides of those indicators only that declare Switches.
type System struct {
	States     []string  // names, for messages
	AbsTol     []float64 // absolute tolerance of each state in its unit, or one for all; nil means the relative one
	Inputs     int       // number of inputs
	Indicators []Indicator

	Derivatives func(t float64, y []float64, d *Discrete, dydt []float64)
	Zeros       func(t float64, y []float64, d *Discrete, g []float64) // values of all indicators; nil if there are none

	// Reads are the states that Zeros reads; nil means all. The search evaluates no others on the dense output.
	Reads []int
}

// Direction is the set of changes of side that are events. The zero value is none: the indicator is not watched, and
// its side changes in Iterate alone. One that Switches must be watched as long as the derivatives depend on it; it is
// then watched in both directions.
type Direction uint8

// The directions.
const (
	Rising  Direction = 1 << iota // from g < 0 to g >= 0
	Falling                       // from g >= 0 to g < 0
	Either  = Rising | Falling
)

// Chattering says what to do when events crowd so that time hardly goes on.
type Chattering uint8

// The ways to meet chattering. The zero value is Stop.
const (
	Stop     Chattering = iota // Advance returns a ChatterError
	Continue                   // Segment.Chatter reports it once per stretch; events are held apart so that time goes on
)

// String returns the word for it.
func (c Chattering) String() string { return [...]string{"stop", "continue"}[c] }

// Options say how to simulate. The zero value is a sensible default. AbsTol, if given, goes before that of the system.
type Options struct {
	ode.Options
	Samples       int        // samples of the indicators inside each step; 0 means 9
	MaxIterations int        // event iterations at one instant; 0 means 100
	Chattering    Chattering // what to do about it
}

// Segment is one stretch of trajectory, the result of Advance. Its slices are valid until the next call.
type Segment struct {
	From, To float64
	Events   []int         // watched indicators that change side at To: one simultaneous set, in declared order
	Alarm    bool          // the time event is due at To
	Chatter  *ChatterError // chattering noticed at To; nil but once per stretch of it
}

// Stats counts the work done since New.
type Stats struct {
	ode.Stats
	Samples     int // evaluations of all indicators
	Restarts    int // of the integrator, after a discontinuity
	StateEvents int // instants at which a watched indicator changed side
	TimeEvents  int // instants at which the alarm was due
}

// ErrEventIteration is the error of an instant at which the sides of the indicators do not come to rest. The error that
// wraps it names those that keep changing.
var ErrEventIteration = errors.New("sim: event iteration does not end")

// ErrCrawl is the error of a simulation whose steps have collapsed: 100,000 of them together are shorter than a
// thousandth of one that was made before, as next to a pole that the solution is pulled to from both sides. The error
// that wraps it names the time and the state that moves fastest.
var ErrCrawl = errors.New("sim: time hardly goes on")

// When steps have collapsed.
const (
	crawling = 100_000
	crawled  = 1e-3
)

// NotFiniteError is the error of a state, its derivative or an indicator that is NaN or infinite.
type NotFiniteError struct {
	T    float64 // where it was first evaluated so
	Kind string  // "state", "derivative of" (a state) or "indicator"
	Name string  // of the state or the indicator
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("sim: %s %q is not finite at t = %.9g s", e.Kind, e.Name, e.T)
}

// ChatterError reports events that crowd within less than one step of the integrator.
type ChatterError struct {
	T          float64  // of the last event
	Span       float64  // from the first to the last of the crowd [s]
	Count      int      // events in it
	Indicators []int    // that took part, in declared order
	Names      []string // of these
}

func (e *ChatterError) Error() string {
	return fmt.Sprintf("sim: chattering at t = %.9g s: %d events within %.3g s by %s",
		e.T, e.Count, e.Span, strings.Join(e.Names, ", "))
}
