// Package ode solves initial value problems of ordinary differential equations adaptively.
//
// An Integrator advances y' = f(t, y) one accepted step at a time, with error control, dense output on the last step
// and, for stiff problems, an L-stable implicit method with an automatic sparse Jacobian. It does not handle events: a
// simulator evaluates its conditions on the dense output, locates a change with Root and restarts the integrator with
// Restart.
package ode

import (
	"errors"
	"fmt"
)

// Func is the right-hand side of y' = f(t, y): it writes the derivatives at (t, y) to dydt. It must not keep or change
// y, and its result must depend only on t and y until the integrator is restarted.
type Func func(t float64, y, dydt []float64)

// Method is the method of integration.
type Method uint8

// The methods. Auto starts with Explicit, switches to Implicit where stability instead of accuracy limits the step, and
// switches back where it no longer does. Multistep does the same, but replaces Implicit on long smooth stretches by a
// method that needs a third of its evaluations; its errors are closer to the tolerance. Auto does so only where the
// errors of stiff components, for which the stages of Implicit have a low order, limit its steps. At relative
// tolerances of 1e-8 and less, Explicit is the pair of order 8 by Dormand and Prince, of twelve stages; Auto uses it
// until stability limits it.
const (
	Auto      Method = iota
	Explicit         // Tsitouras 5(4), seven stages, for problems that are not stiff
	Implicit         // ESDIRK 5(4), seven stages, L-stable, for stiff problems
	Multistep        // Auto with numerical differentiation formulas of order 1 to 5
	Explicit3        // Bogacki-Shampine 3(2), four stages, for loose tolerances and frequent restarts
)

// tight is the relative tolerance from which on the pair of order 8 replaces that of order 5, whose steps are shorter.
const tight = 1e-8

// methods is the table of the methods, in the order of their constants: the pair of the first step, and of those that
// switch between the explicit and the implicit pair and to the multistep formulas, when they do.
var methods = [...]struct {
	name  string
	first *tableau
	switches
}{
	Auto:      {"auto", tsitouras, switches{explicit: 15, implicit: 15, waits: 10, caution: 100}},
	Explicit:  {"explicit", tsitouras, switches{}},
	Implicit:  {"implicit", kennedyCarpenter, switches{}},
	Multistep: {"multistep", tsitouras, switches{explicit: 6, implicit: 100, waits: 5, caution: 40}},
	Explicit3: {"explicit3", bogackiShampine, switches{}},
}

// switches tells when a method switches to another.
type switches struct {
	explicit int     // steps at its limit of stability after which the explicit pair is replaced; 0: it never is
	implicit int     // steps that the explicit pair could have made as well after which the implicit one is replaced
	waits    int     // steps of the implicit pair before the multistep formulas take over
	caution  float64 // safety factor on the error of a step of these: errors of many steps add up
}

func (s switches) automatic() bool { return s.explicit > 0 }

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

// Stiff reports whether the method is suitable for stiff problems.
func (m Method) Stiff() bool { return methods[m].automatic() || methods[m].first.gamma != 0 }

// Options configures an integrator. The zero value is a sensible default.
//
// A step is accepted if the root mean square over the moving components of
//
//	error_i / (RelTol*|y_i| + AbsTol_i)
//
// is at most 1, with the error per step estimated by the embedded method. A component that changed by less than its
// tolerance in the last step counts by this share, so components at rest do not dilute the errors of others; more than
// 100 count as 100. The error of one component is therefore at most 10 tolerances.
//
// The absolute tolerance of a floating component is AbsTol_i, but at most 100*RelTol and at least 0.01*RelTol times the
// values of its last steps: between 0.01 and 100 it is AbsTol_i, if that is RelTol. Where RelTol exceeds 1e-6, it is at
// most 1e-4 or RelTol times these values. After a restart, at which a component may return to any former value, it is
// that of its largest one, or of a hundredth of the largest component where it was always zero.
type Options struct {
	Method      Method
	RelTol      float64   // relative tolerance; 0 means 1e-6
	AbsTol      []float64 // absolute tolerance of each component in its unit, or one for all; nil means RelTol for all
	Floating    []bool    // components whose absolute tolerance follows their values; nil means none
	Constant    []bool    // components whose derivative is always zero: they change at restarts only; nil means none
	InitialStep float64   // first step; 0 means chosen from the derivatives
	MaxStep     float64   // largest step; 0 means no limit
}

// Stats counts the work done since New. Rejected counts failed trial steps, Evaluations those of the right-hand side,
// including those for Jacobians.
type Stats struct {
	Steps, Rejected, Evaluations, Jacobians, Factorisations int
}

// ErrStepTooSmall reports a step that fails its error test although it is as small as the resolution of t permits: the
// solution has a singularity, or the tolerance is below rounding error.
var ErrStepTooSmall = errors.New("ode: step too small for the resolution of time")

// NotFiniteError reports a derivative that is NaN or infinite at an accepted point, or beyond it for any step size.
type NotFiniteError struct {
	T     float64 // where the derivative was evaluated
	Index int     // the first component that is not finite
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("ode: derivative of component %d is not finite at t = %g", e.Index, e.T)
}
