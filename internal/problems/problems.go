// Package problems holds the reference problems by which integration and event location are verified, as data.
//
// Each problem is defined once, with the values that others published or that follow in closed form, and their
// sources. Tests of ode and sim assert them; BenchmarkWorkPrecision of sim shows the accuracy and the cost of solving
// them. The package depends on neither integrator nor simulator.
package problems

import "math"

// Problem is an initial value problem from t = 0 whose solution is known, with or without events. It is immutable.
//
// Between events the inputs u are constant. An event is a change of side of an indicator g, its side being g >= 0 or
// not, in a direction that is watched; React then changes states and inputs, and g may depend on the inputs.
type Problem struct {
	Name   string // as of a benchmark
	Text   string // a description
	Source string // where the definition and the reference values are from

	Derivatives func(t float64, y, u, dydt []float64)
	Y0, U0      []float64
	End         float64
	Scale       []float64 // the absolute tolerance of each state, or one for all, is the relative one times this
	Stiff       bool      // an explicit method would take hours, or a very large number of steps
	Costly      bool      // a run at a tight tolerance takes seconds

	CVODE map[float64]int // evaluations of CVODE by relative tolerance, as far as measured (cvode)

	Want   []float64 // values of the first states at End; nil if not known
	Growth float64   // the largest error that tests allow at End, in units of rtol*|y| + AbsTol (see Error)

	Indicators []Indicator
	Zeros      func(t float64, y, u, g []float64)
	React      func(i int, y, u []float64) // the reaction to event i; nil: events are only recorded
	Events     []Event                     // all events until End, in order of time
	Lag        float64                     // the largest error of them that tests allow, in units of rtol*(t + 1 s)
	Zeno       float64                     // where infinitely many events end the run; 0: they do not
}

// Indicator declares one event indicator.
type Indicator struct {
	Name  string
	Watch Direction
}

// Direction is the set of changes of side that are events; its values are those of sim.Direction.
type Direction uint8

// The directions.
const (
	Rising  Direction = 1 << iota // from g < 0 to g >= 0
	Falling                       // from g >= 0 to g < 0
	Either  = Rising | Falling
)

// Event is one event: indicator Index, in declared order, changes its side at T.
type Event struct {
	T     float64
	Index int
}

// All returns every problem: first those without events, with those of Oscillating at the beginning.
func All() []*Problem {
	return append(Oscillating(), []*Problem{
		HIRES, VanDerPolStiff, Oregonator, Pleiades, Arenstorf, Brusselator, DetestA2, DetestB1, DetestD1, DetestD3,
		DetestD5, Robertson, VanDerPol, BouncingBall, Zeno, Thermostat, DoubleIntegrator, Solar72,
	}...)
}

// RightHandSide writes the derivatives at (t, y) with the inputs of the start to dydt.
func (p *Problem) RightHandSide(t float64, y, dydt []float64) { p.Derivatives(t, y, p.U0, dydt) }

// AbsTol returns the absolute tolerances that belong to a relative one.
func (p *Problem) AbsTol(rtol float64) []float64 {
	a := make([]float64, len(p.Scale))
	for i, s := range p.Scale {
		a[i] = rtol * s
	}
	return a
}

// Error returns how far the states y at End are from the known ones: the largest of
//
//	|y_i - want_i| / (|want_i| + scale_i)
//
// Divided by the relative tolerance, this is the error in units of the tolerance. It is NaN if Want is not known.
func (p *Problem) Error(y []float64) float64 {
	if p.Want == nil {
		return math.NaN()
	}
	worst := 0.0
	for i, want := range p.Want {
		worst = max(worst, math.Abs(y[i]-want)/(math.Abs(want)+p.Scale[i%len(p.Scale)]))
	}
	return worst
}

// EventError returns how far the events are from the known ones, indicator by indicator in order of time: the largest
// difference in seconds, and the largest of |t - known| / (known + 1 s). Complete reports whether each indicator has
// the expected number. Events of different indicators may be in another order: at a loose tolerance, neighbours change
// places.
func (p *Problem) EventError(events []Event) (seconds, relative float64, complete bool) {
	byIndicator := func(events []Event) [][]float64 {
		times := make([][]float64, len(p.Indicators))
		for _, e := range events {
			times[e.Index] = append(times[e.Index], e.T)
		}
		return times
	}
	got, complete := byIndicator(events), true
	for i, known := range byIndicator(p.Events) {
		complete = complete && len(got[i]) == len(known)
		for k := range min(len(got[i]), len(known)) {
			d := math.Abs(got[i][k] - known[k])
			seconds, relative = max(seconds, d), max(relative, d/(known[k]+1))
		}
	}
	return seconds, relative, complete
}
