package ode

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// peers has errors (problems.Problem.Error) and evaluations of other programs on the same problems: of CVODE 6.4.1 with
// dense matrices by difference quotients at 3e-9 to 1e-12 (testdata/cvode.c), and of DOP853 of SciPy 1.10.1 at
// relative and absolute tolerances of 3e-7 to 1e-10, each the geometric means of three tolerances that are 25 % apart.
var peers = map[string][][2]float64{
	"robertson": {
		{3.8e-8, 3355}, {1.7e-8, 4009}, {9.9e-9, 4526}, {6.5e-9, 4736}, {2.6e-9, 5639}, {8.9e-10, 5951},
		{3.7e-10, 7006}, {1.4e-10, 7809}, {5.3e-11, 8866},
	},
	"pleiades": {
		{4.5e-5, 1534}, {1.7e-5, 1749}, {4.3e-6, 1978}, {1.6e-6, 2254},
		{7.6e-7, 2533}, {2.0e-7, 2870}, {6.5e-8, 3210}, {1.9e-8, 3589},
	},
	"arenstorf": {
		{1.8e-3, 1250}, {6.9e-4, 1402}, {1.7e-4, 1557}, {9.4e-5, 1786},
		{2.5e-5, 1986}, {8.1e-6, 2254}, {2.4e-6, 2565}, {7.5e-7, 2877},
	},
	"brusselator": {
		{5.8e-8, 866}, {4.1e-9, 1066}, {1.2e-8, 1237}, {1.4e-9, 1381},
		{5.3e-10, 1541}, {1.3e-10, 1737}, {4.4e-11, 1926}, {6.1e-12, 2222},
	},
	"vanderpol": {
		{5.1e-7, 1156}, {1.0e-7, 1358}, {3.9e-8, 1514}, {4.2e-9, 1810},
		{3.5e-9, 1969}, {9.6e-10, 2197}, {3.2e-10, 2565}, {8.8e-11, 2922},
	},
	"detest-a2": {
		{2.1e-10, 138}, {9.6e-11, 150}, {4.3e-11, 166}, {1.9e-11, 186},
		{7.7e-12, 206}, {3.1e-12, 226}, {1.3e-12, 258}, {4.9e-13, 286},
	},
	"detest-b1": {
		{5.9e-6, 874}, {1.6e-6, 1021}, {5.5e-7, 1153}, {1.5e-7, 1306},
		{4.0e-8, 1505}, {1.3e-8, 1658}, {4.5e-9, 1890}, {1.3e-9, 2105},
	},
	"detest-d1": {
		{1.7e-5, 402}, {5.4e-6, 450}, {1.3e-6, 506}, {3.1e-7, 566},
		{6.3e-8, 650}, {1.1e-8, 750}, {1.7e-9, 866}, {6.5e-10, 994},
	},
	"detest-d3": {
		{3.6e-5, 790}, {1.0e-5, 894}, {2.9e-6, 1018}, {8.8e-7, 1150},
		{2.0e-7, 1286}, {7.1e-8, 1469}, {2.4e-8, 1662}, {6.8e-9, 1906},
	},
	"detest-d5": {
		{3.9e-5, 1617}, {1.0e-5, 1829}, {3.1e-6, 2081}, {7.9e-7, 2377},
		{2.2e-7, 2709}, {5.1e-8, 3057}, {6.6e-9, 3485}, {3.2e-9, 3977},
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

// At equal errors, smooth problems that are not stiff cost what they cost DOP853.
func TestSmoothProblemsAtTightTolerances(t *testing.T) {
	sum, n := 0.0, 0.0
	for _, p := range continuous() {
		if p.Stiff {
			continue
		}
		r, evaluations := ratio(t, p, Auto, 0.8*tight)
		t.Logf("%-12s %.0f evaluations, %.2f times those of DOP853", p.Name, evaluations, r)
		if r > 1.2 {
			t.Errorf("%s: %.2f times the evaluations of DOP853", p.Name, r)
		}
		sum, n = sum+math.Log(r), n+1
	}
	if mean := math.Exp(sum / n); mean > 1.1 {
		t.Errorf("%.2f times the evaluations of DOP853", mean)
	}
}
