package ode

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// integrate runs p with its tolerances and returns the error at its end in units of them.
func integrate(p *problems.Problem, m Method, rtol float64) (*Integrator, float64, error) {
	in := started(p, Options{Method: m, RelTol: rtol, AbsTol: p.AbsTol(rtol)})
	for in.T() < p.End {
		if err := in.Step(p.End); err != nil {
			return in, math.NaN(), err
		}
	}
	return in, p.Error(in.Y()) / rtol, nil
}

// continuous returns the problems whose values at the end are known and to which nothing happens on the way.
func continuous() (list []*problems.Problem) {
	for _, p := range problems.All() {
		if p.Want != nil && p.React == nil {
			list = append(list, p)
		}
	}
	return list
}

// TestPublishedValues integrates each problem with each method that is meant for it, and allows the error at the end
// that the problem states, in units of the tolerance. Step control bounds the error made per step; how far it
// grows on the way is a matter of the problem, most of all for orbits, whose phase drifts.
func TestPublishedValues(t *testing.T) {
	for _, p := range continuous() {
		for _, m := range Methods() {
			if p.Stiff && !m.Stiff() {
				continue
			}
			for _, rtol := range []float64{1e-4, 1e-6, 1e-8} {
				if testing.Short() && rtol == 1e-8 {
					continue
				}
				in, err, failure := integrate(p, m, rtol)
				if failure != nil {
					t.Errorf("%s %v %g: %v", p.Name, m, rtol, failure)
					continue
				}
				t.Logf("%-15s %-9v %.0e  error %9.2g  %+v", p.Name, m, rtol, err, in.Stats())
				growth := p.Growth
				if m == Multistep || methods[m].first.order < 5 {
					growth *= 2 // many small errors add up
				}
				if !(err <= growth) {
					t.Errorf("%s %v %g: error of %.3g tolerances, want at most %g", p.Name, m, rtol, err, growth)
				}
				if in.T() != p.End {
					t.Errorf("%s %v %g: ends at %v, want exactly %v", p.Name, m, rtol, in.T(), p.End)
				}
			}
		}
	}
}
