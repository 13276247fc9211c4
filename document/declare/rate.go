package declare

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
)

// Effects are the rates of signals while a task is active, by task and signal.
type Effects map[bt.Task]map[string]Rate

// Rate is a range of a signal's rate of change between instants, in its unit per second.
type Rate struct {
	Low, High float64
	From      Origin
	Jumps     bool  // the signal may also jump at an instant: by what tasks write, or by events of the vehicle
	Place     Place // of a declared one
}

// Impossible reports that there is no rate, because no state is in the ranges for which it was asked.
func (r Rate) Impossible() bool { return r.Low > r.High }

// Firm returns a range of rates that do not die out: `up` and `down` include rates that do, as in x' = 0.9 - x.
func (r Rate) Firm() Rate {
	const none = 1e-300
	if math.Abs(r.Low) < none {
		r.Low = 0
	}
	if math.Abs(r.High) < none {
		r.High = 0
	}
	return r
}

// Origin is the source of a rate.
type Origin uint8

// The origins.
const (
	Declared Origin = iota // by the author: assumed
	Derived                // proved from the vehicle's equations, for states in their ranges
)

func (o Origin) String() string { return [...]string{"declared", "derived"}[o] }

// Idle stands for a task: the rate is the one while no action is active.
const Idle bt.Task = -1

// Deriver finds rates without declarations.
type Deriver interface {
	// Rate returns a range of the rate of a signal while a task is active, or none is, and the named signals are in the
	// given ranges; it is impossible if no state is. ok is false if none is found, and then r has only whether events of
	// the vehicle make it jump.
	Rate(task bt.Task, signal string, in map[string]interval.Interval) (r Rate, ok bool)
	// Resets returns the values that events may give a signal where the named signals are in the given ranges; ok is false
	// if it is no state of the vehicle, or if events may set each other off.
	Resets(signal string, in map[string]interval.Interval) (to []interval.Interval, ok bool)
	// Missing returns the signals without a range for want of which there is no rate.
	Missing(task bt.Task, signal string) []string
}

// Expanded returns an expression with computed signals replaced by their expressions. If it becomes too large they
// stay, as free signals.
func (s *Subject) Expanded(e *expr.Expr) *expr.Expr {
	long := e
	for slices.ContainsFunc(long.Names(), func(name string) bool { return s.Computed[name] != nil }) {
		if long.Parts(s.Computed) > expr.MaxParts {
			return e
		}
		long = long.Substitute(s.Computed)
	}
	return long
}

// Logic returns the structure of a statement over signals that are not computed, and tasks.
func (s *Subject) Logic(of Statement) expr.Logic {
	of.Parts = slices.Clone(of.Parts)
	for i, e := range of.Parts {
		of.Parts[i] = s.Expanded(e)
	}
	return of.Logic(func(name string) bool { _, ok := s.Plan.Tree.Find(name); return ok })
}

// Rate returns a range of the rate of a signal while a task is active and the named signals are in the given ranges:
// the declared one, which a derived one may narrow, or else a derived one. ok is false if the signal may change at any
// rate.
func (s *Subject) Rate(task bt.Task, signal string, in map[string]interval.Interval) (r Rate, ok bool) {
	declared, ok := s.Declared.Effects[task][signal]
	if s.Rates == nil {
		return declared, ok
	}
	r, known := s.Rates.Rate(task, signal, in)
	switch {
	case !ok, r.Impossible():
		return r, known
	case !known:
		declared.Jumps = r.Jumps
		return declared, true
	case r.Low > declared.High || declared.Low > r.High:
		return declared, true
	case declared.Low <= r.Low && r.High <= declared.High:
		return r, true
	}
	declared.Low, declared.High, declared.Jumps = max(r.Low, declared.Low), min(r.High, declared.High), r.Jumps
	return declared, true
}
