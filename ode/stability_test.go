package ode

import (
	"testing"

	"canopy/internal/problems"
)

// slower has the problems on which more than three times the evaluations of CVODE are allowed: at 1e-4, CVODE overlooks
// their oscillation at the start, and here it depends on chance how far it is resolved.
var slower = map[string]float64{"mode-0.001": 4.5, "mode-0.005": 4.5, "mode-0.02": 4.5}

// No oscillation that the steps need not resolve limits them: not to the stability of the explicit method, and not to
// that of multistep formulas, where CVODE takes three million steps.
func TestOscillationsDoNotLimitTheSteps(t *testing.T) {
	for _, p := range problems.Oscillating() {
		for _, rtol := range []float64{1e-4, 1e-6, 1e-8} {
			for _, m := range []Method{Auto, Multistep} {
				in, err, failure := integrate(p, m, rtol)
				if failure != nil {
					t.Fatal(p.Name, m, rtol, failure)
				}
				s := in.Stats()
				least, factor := p.CVODE[rtol], 3.0
				if f, ok := slower[p.Name]; ok {
					factor = f
				}
				if m == Multistep && least > 0 && float64(s.Evaluations) > factor*float64(least) {
					t.Errorf("%s %v %g: %d evaluations, CVODE %d", p.Name, m, rtol, s.Evaluations, least)
				}
				if s.Evaluations > 60000 {
					t.Errorf("%s %v %g: %d evaluations", p.Name, m, rtol, s.Evaluations)
				}
				t.Logf("%-10s %-9v %.0e  error %7.1g  evaluations %6d, CVODE %d", p.Name, m, rtol, err, s.Evaluations,
					least)
				if err > p.Growth {
					t.Errorf("%s %v %g: error of %.3g tolerances", p.Name, m, rtol, err)
				}
			}
		}
	}
}
