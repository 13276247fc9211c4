package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/canopy-uav/canopy/ode"
)

// Indicator declares one event indicator: a real function g of time, states and inputs; its side is whether g >= 0.
type Indicator struct {
	Name     string // for messages, such as the text of its relation
	Switches bool   // the derivatives depend on its side: they change when it does

	Threshold *Threshold // nil: g is the function with the number of the indicator
}

// Threshold declares that an indicator compares a quantity with a number: g = quantity - Level. All thresholds of a
// quantity together cost hardly more than one, and a step in which a state stays away from a level needs no evaluation.
type Threshold struct {
	Of    int     // the quantity: a state, or the number of states plus that of a function
	Level float64 // finite
	Falls bool    // g is Level - quantity instead
}

// Discrete holds all values that are constant between events. Its slices are to be read only.
type Discrete struct {
	U     []float64 // inputs
	Above []bool    // of each indicator, whether g >= 0, as last committed
}

// Same reports whether two values of an input are the same: equal, or the same NaN.
func Same(a, b float64) bool { return a == b || math.Float64bits(a) == math.Float64bits(b) }

// System describes a hybrid system. It is immutable: many simulators can share it, in one goroutine if its functions
// own scratch memory. Both functions must depend only on their arguments, and must not keep or change them. Derivatives
// may read only the sides of indicators that declare Switches.
type System struct {
	States     []string  // names, for messages
	AbsTol     []float64 // absolute tolerance of each state in its unit, or one for all; nil means the relative one
	Floating   []bool    // states whose absolute tolerance follows their values (ode.Options); nil: none
	Constant   []bool    // states that only the owner changes (ode.Options); nil: none
	Inputs     int       // number of inputs
	Indicators []Indicator

	Derivatives func(t float64, y []float64, d *Discrete, dydt []float64)
	// Zeros writes the values of the functions which, in ascending order, to g; it may write others too. It is nil if
	// indicators compare only states.
	Zeros func(t float64, y []float64, d *Discrete, which []int, g []float64)
	// Prepare learns at which points Zeros is called next, for a system that evaluates several points at less cost than
	// each alone. nil: it need not know.
	Prepare func(t []float64, y [][]float64, d *Discrete)
	// Enclose returns bounds of a function and of its derivative by time, from a to b, during which the states that the
	// system reads are in y, and the states whose ranges it has used. known is false if there are no bounds. The result
	// is valid until the next call. nil: no function has bounds.
	Enclose func(a, b float64, y []ode.Enclosure, d *Discrete, function int) (r ode.Enclosure, of []int, known bool)
	// Functions is the number of functions that thresholds compare; the numbers of indicators without one count as well.
	Functions int

	// Drives lists the inputs that Derivatives reads; nil means all. Others change without a restart of the integrator.
	Drives []int
	// Loose lists the functions that an instant may change: they depend on inputs or sides; nil means all. The others
	// depend on time and states alone.
	Loose []int
	// Reads lists the states that Zeros reads, and those that indicators compare; nil means all. The search evaluates
	// only these on the dense output.
	Reads []int
}

// Direction is the set of changes of side that are events. The zero value is none: the indicator is not watched, and
// its side changes only in Iterate. One that Switches must be watched as long as the derivatives depend on it; it is
// then watched in both directions.
type Direction uint8

// The directions.
const (
	Rising  Direction = 1 << iota // from g < 0 to g >= 0
	Falling                       // from g >= 0 to g < 0
	Either  = Rising | Falling
)

// Chattering is the policy for events between which time hardly advances.
type Chattering uint8

// The policies for chattering. The zero value is Stop.
const (
	Stop     Chattering = iota // Advance returns a ChatterError
	Continue                   // Segment.Chatter reports it, and the solution slides; a ChatterError if it cannot
)

// String returns the policy's name.
func (c Chattering) String() string { return [...]string{"stop", "continue"}[c] }

// Options configures a simulator. The zero value is a sensible default. AbsTol and Floating, if AbsTol is given,
// override those of the system.
type Options struct {
	ode.Options
	MaxIterations int        // event iterations at one instant; 0 means 100
	Chattering    Chattering // policy for chattering
	Interpolate   bool       // an alarm does not end a step of the integrator: the states at it are the dense output
}

// Segment is one stretch of trajectory, the result of Advance. Its slices are valid until the next call.
type Segment struct {
	From, To float64
	Events   []int         // watched indicators that change side at To: one simultaneous set, in declared order
	Touched  []int         // watched indicators that begin to touch zero at To, without an event
	Alarm    bool          // the time event is due at To
	Chatter  *ChatterError // chattering at To, from which the solution slides; nil if none
	Slid     bool          // the solution slid
}

// Stats counts the work done since New.
type Stats struct {
	ode.Stats
	Samples     int // points at which indicators were evaluated
	Values      int // of functions
	Looks       int // at single indicators, in the search and at instants
	Enclosures  int // bounds of indicators over parts of steps
	Unproved    int // parts of steps, too narrow to be divided, in which a change was not excluded, and long proofs
	Restarts    int // of the integrator, after a discontinuity
	StateEvents int // instants at which a watched indicator changed side
	TimeEvents  int // instants at which the alarm was due
}

// ErrEventIteration reports an instant at which the sides of the indicators do not settle. The error that wraps it
// names the indicators that keep changing.
var ErrEventIteration = errors.New("sim: event iteration does not end")

// ErrEndless reports state events so dense that the simulation does not come to its end: at the pace of the last
// million of them, a billion would follow. The error that wraps it names the indicators.
var ErrEndless = errors.New("sim: too many events")

// ErrCrawl reports a simulation whose steps have collapsed: 100,000 of them together are shorter than a thousandth of
// an earlier one, or one fails at the resolution of time (ode.ErrStepTooSmall), for example next to a pole. The error
// that wraps it names the time and the state that moves fastest.
var ErrCrawl = errors.New("sim: time hardly advances")

// Criteria for collapsed steps.
const (
	crawling = 100_000
	crawled  = 1e-3
)

// NotFiniteError reports a state, a derivative of a state or an indicator that is NaN or infinite.
type NotFiniteError struct {
	T    float64 // time of the first such evaluation
	Kind string  // "state", "derivative of" (a state) or "indicator"
	Name string  // of the state or the indicator
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("sim: %s %q is not finite at t = %.9g s", e.Kind, e.Name, e.T)
}
