package ode

import (
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// No oscillation that the steps need not resolve limits them: not to the stability of the explicit method, and not to
// that of multistep formulas, where CVODE takes three million steps. On average over tolerances near the one given, the
// multistep method takes three times as many evaluations at most, and five times for one; auto, with a longer start,
// three and a half times. At 1e-4, CVODE overlooks the oscillation of the modes at the start: here it depends on chance
// how far the multistep method resolves it, and auto does.
func TestOscillationsDoNotLimitTheSteps(t *testing.T) {
	const near = 5
	for _, p := range problems.Oscillating() {
		for _, rtol := range []float64{1e-4, 1e-6, 1e-8} {
			for _, m := range []Method{Auto, Multistep} {
				sum := 0
				for k := range near {
					in, err, failure := integrate(p, m, rtol*(0.9+0.05*float64(k)))
					if failure != nil {
						t.Fatal(p.Name, m, rtol, failure)
					}
					n := in.Stats().Evaluations
					if n > 60000 || err > p.Growth || m == Multistep && p.CVODE[rtol] > 0 && n > 5*p.CVODE[rtol] {
						t.Errorf("%s %v %g: %d evaluations, error of %.3g tolerances", p.Name, m, rtol, n, err)
					}
					sum += n
				}
				least := p.CVODE[rtol]
				t.Logf("%-10s %-9v %.0e  evaluations %6d, CVODE %d", p.Name, m, rtol, sum/near, least)
				most := map[Method]float64{Auto: 3.5, Multistep: 3}[m]
				if m == Auto && rtol == 1e-4 && strings.HasPrefix(p.Name, "mode") {
					most = 9
				}
				if least > 0 && float64(sum) > most*float64(near*least) {
					t.Errorf("%s %v %g: %d evaluations, CVODE %d", p.Name, m, rtol, sum/near, least)
				}
			}
		}
	}
}
