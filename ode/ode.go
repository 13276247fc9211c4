// Package ode integrates initial value problems of ordinary differential equations adaptively.
//
// An Integrator advances y' = f(t, y) one accepted step at a time, with error control, dense output on the last step
// and, where the problem is stiff, an L-stable implicit method whose sparse Jacobian it finds by itself. It knows
// nothing of events: a simulator evaluates its conditions on the dense output, finds the moment of a change with Root
// and starts the integrator again with Restart.
package ode

import (
	"errors"
	"fmt"
)

// Func is the right-hand side of y' = f(t, y): it writes the derivatives at (t, y) to dydt. It must not keep or change
// y, and its result must depend on t and y only as long as the integrator is not restarted.
type Func func(t float64, y, dydt []float64)

// Method names the method of integration.
type Method uint8

// The methods. Auto starts with Explicit, goes over to Implicit where stability instead of accuracy limits the step,
// and back where it no longer does. Multistep does the same, but leaves long smooth stretches of Implicit to a method
// that takes a third of its evaluations; its errors are nearer to the tolerance.
const (
	Auto      Method = iota
	Explicit         // Tsitouras 5(4), seven stages, for problems that are not stiff
	Implicit         // ESDIRK 5(4), seven stages, L-stable, for stiff problems
	Multistep        // Auto with numerical differentiation formulas of order 1 to 5
	Explicit3        // Bogacki-Shampine 3(2), four stages, for loose tolerances and frequent restarts
)

// methods is the table of the methods, in the order of their constants: the pair of the first step, and whether the
// method changes over between the explicit and the implicit pair while it runs.
var methods = [...]struct {
	name      string
	first     *tableau
	automatic bool
}{
	Auto:      {"auto", tsitouras, true},
	Explicit:  {"explicit", tsitouras, false},
	Implicit:  {"implicit", kennedyCarpenter, false},
	Multistep: {"multistep", tsitouras, true},
	Explicit3: {"explicit3", bogackiShampine, false},
}

// Methods returns all methods.
func Methods() []Method {
	list := make([]Method, len(methods))
	for i := range list {
		list[i] = Method(i)
	}
	return list
}

// String returns the method's name in lower case.
func (m Method) String() string {
	if int(m) < len(methods) {
		return methods[m].name
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Stiff reports whether the method is meant for stiff problems, too.
func (m Method) Stiff() bool { return methods[m].automatic || methods[m].first.gamma != 0 }

// Options say how to integrate. The zero value is a sensible default.
//
// A step is accepted if the root mean square over the components of
//
//	error_i / (RelTol*|y_i| + AbsTol_i)
//
// is at most 1, with the error per step estimated by the embedded method.
type Options struct {
	Method      Method
	RelTol      float64   // relative tolerance; 0 means 1e-6
	AbsTol      []float64 // absolute tolerance of each component in its unit, or one for all; nil means RelTol for all
	InitialStep float64   // first step; 0 means: choose from the derivatives
	MaxStep     float64   // largest step; 0 means: no limit
}

// Stats counts the work done since New. Rejected are trials of steps that failed, Evaluations those of the right-hand
// side, including what Jacobians need.
type Stats struct {
	Steps, Rejected, Evaluations, Jacobians, Factorisations int
}

// ErrStepTooSmall is the error of a step that fails its error test although it is as small as the resolution of t
// allows: the solution has a singularity, or the tolerance is below rounding error.
var ErrStepTooSmall = errors.New("ode: step too small for the resolution of time")

// NotFiniteError is the error of a derivative that is NaN or infinite at an accepted point, or ahead of it however
// small the step.
type NotFiniteError struct {
	T     float64 // where the derivative was evaluated
	Index int     // the first component that is not finite
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("ode: derivative of component %d is not finite at t = %g", e.Index, e.T)
}
