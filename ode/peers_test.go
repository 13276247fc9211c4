package ode

import (
	"math"
	"testing"

	"canopy/internal/problems"
)

// peers has errors (problems.Problem.Error) and evaluations of another program on the same problems: of CVODE 6.4.1 with
// dense matrices by difference quotients at 3e-9 to 1e-12 (command workprecision), each the geometric means of three
// tolerances that are 25 % apart.
var peers = map[string][][2]float64{
	"robertson": {
		{3.8e-8, 3355}, {1.7e-8, 4009}, {9.9e-9, 4526}, {6.5e-9, 4736}, {2.6e-9, 5639}, {8.9e-10, 5951},
		{3.7e-10, 7006}, {1.4e-10, 7809}, {5.3e-11, 8866},
	},
}

// ratio returns the evaluations that p takes with a method near a tolerance in terms of those that its peer takes for
// the same errors, by a straight line through the logarithms: the geometric mean over nine tolerances. It also returns
// the mean of the evaluations.
func ratio(t *testing.T, p *problems.Problem, m Method, rtol float64) (ratio, evaluations float64) {
	t.Helper()
	const near = 9
	n, x, y, xx, xy := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, peer := range peers[p.Name] {
		e, k := math.Log(peer[0]), math.Log(peer[1])
		n, x, y, xx, xy = n+1, x+e, y+k, xx+e*e, xy+e*k
	}
	slope := (xy - x*y/n) / (xx - x*x/n)
	for k := range near {
		in, err, failure := integrate(p, m, rtol*(0.8+0.05*float64(k)))
		if failure != nil {
			t.Fatal(p.Name, m, rtol, failure)
		}
		spent := float64(in.Stats().Evaluations)
		err *= in.options.RelTol
		evaluations += spent / near
		ratio += (math.Log(spent) - y/n - slope*(math.Log(err)-x/n)) / near
	}
	return math.Exp(ratio), evaluations
}

// At equal errors, Robertson's problem costs hardly more than with CVODE at tight tolerances: the explicit method does
// not resolve components that follow others.
func TestRobertsonAtTightTolerances(t *testing.T) {
	for _, c := range []struct {
		m          Method
		rtol, most float64
	}{{Multistep, 1e-8, 1.3}, {Multistep, 1e-9, 1.4}, {Multistep, 1e-10, 1.5}, {Auto, 1e-9, 1.5}} {
		r, n := ratio(t, problems.Robertson, c.m, c.rtol)
		t.Logf("%v %.0e: %.0f evaluations, %.2f times those of CVODE", c.m, c.rtol, n, r)
		if r > c.most {
			t.Errorf("%v %g: %.2f times the evaluations of CVODE, want at most %g", c.m, c.rtol, r, c.most)
		}
	}
}
