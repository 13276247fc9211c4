package ode

import (
	"math"
	"slices"
	"testing"

	"canopy/internal/problems"
	"canopy/snapshot"
)

// Robertson's second species is far below the default tolerance: with a fixed one, the reaction runs away.
func TestRobertsonAtDefaultTolerances(t *testing.T) {
	p := problems.Robertson
	for _, m := range []Method{Auto, Implicit, Multistep} {
		for _, rtol := range []float64{1e-3, 3e-4, 1e-4, 3e-5, 1e-6, 1e-8} {
			in := New(p.RightHandSide, len(p.Y0), Options{Method: m, RelTol: rtol, Floating: []bool{true, true, true}})
			in.Restart(0, p.Y0)
			for in.T() < p.End {
				if err := in.Step(p.End); err != nil {
					t.Fatal(m, rtol, err)
				}
			}
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

// Copies and restored integrators follow the values alike.
func TestFloatingIsCopied(t *testing.T) {
	p := problems.Robertson
	o := Options{Method: Multistep, Floating: []bool{true, true, true}}
	in, restored := New(p.RightHandSide, 3, o), New(p.RightHandSide, 3, o)
	in.Restart(0, p.Y0)
	run(t, in, 1e3)
	if !(in.AbsTol(1) < 1e-7) || in.AbsTol(0) != 1e-6 {
		t.Errorf("tolerances %g and %g", in.AbsTol(1), in.AbsTol(0))
	}
	if err := snapshot.Load(snapshot.Save(nil, in), restored); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Integrator{in, restored} {
		run(t, c, 1e5)
		if !slices.Equal(c.Y(), in.Y()) || c.Stats() != in.Stats() {
			t.Errorf("%v with %+v, want %v with %+v", c.Y(), c.Stats(), in.Y(), in.Stats())
		}
	}
}
