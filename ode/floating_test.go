package ode

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// Robertson's second species is far below the default tolerance: with a fixed one, the reaction runs away.
func TestRobertsonAtDefaultTolerances(t *testing.T) {
	p := problems.Robertson
	for _, m := range []Method{Auto, Implicit, Multistep} {
		for _, rtol := range []float64{1e-3, 3e-4, 1e-4, 3e-5, 1e-6, 1e-8} {
			in := started(p, Options{Method: m, RelTol: rtol, Floating: []bool{true, true, true}})
			run(t, in, 1e3)
			if !(in.AbsTol(1) < 0.1*rtol) {
				t.Errorf("%v: the tolerance of y2 is %g", rtol, in.AbsTol(1))
			}
			run(t, in, p.End)
			for i, want := range p.Want {
				if e := math.Abs(in.Y()[i]-want) / want; e > 100*rtol {
					t.Errorf("%v %g: y%d = %g, want %g", m, rtol, i+1, in.Y()[i], want)
				}
			}
			t.Log(m, rtol, in.Y(), in.Stats())
		}
	}
}

// A problem in units in which everything is tiny or huge is as exact; the cost grows where values cross zero.
func TestMagnitudes(t *testing.T) {
	solve := func(m Method, unit float64) (float64, Stats) {
		in := New(func(t float64, y, d []float64) {
			d[0], d[1] = y[1], unit*math.Cos(t)-1e3*y[1]-y[0]
		}, 2, Options{Method: m, Floating: []bool{true, true}})
		in.Restart(0, []float64{unit, 0})
		run(t, in, 20)
		return in.Y()[0] / unit, in.Stats()
	}
	for _, m := range []Method{Auto, Implicit, Multistep} {
		want, s := solve(m, 1)
		for _, unit := range []float64{1e-200, 1e-100, 1e-20, 1e-9, 1e-3, 1e9, 1e100, 1e250} {
			got, stats := solve(m, unit)
			t.Log(m, unit, got-want, stats.Evaluations, s.Evaluations)
			if math.Abs(got-want) > 2e-5 || stats.Evaluations > 60*s.Evaluations {
				t.Errorf("%v, unit %g: %v in %+v, want %v in %+v", m, unit, got, stats, want, s)
			}
		}
	}
}
