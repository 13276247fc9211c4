package ode

import (
	"math"
	"testing"
)

// Components at rest do not dilute an oscillator's errors at all, and a crowd of moving ones does so only up to a limit.
func TestRestingComponentsDoNotDilute(t *testing.T) {
	crowds := map[string]func(t float64, y, d []float64){
		"constant": func(_ float64, _, d []float64) { clear(d) },
		"settled": func(_ float64, y, d []float64) {
			for i, v := range y {
				d[i] = 1 - v
			}
		},
		"slow": func(t float64, _, d []float64) {
			for i := range d {
				d[i] = 1e-9 * float64(i)
			}
		},
		"clocks": func(_ float64, y, d []float64) {
			for i := range y {
				d[i] = 1
			}
		},
	}
	worst := func(m Method, rtol float64, n int, crowd func(t float64, y, d []float64)) float64 {
		in := New(func(t float64, y, d []float64) {
			oscillator(t, y, d)
			crowd(t, y[2:], d[2:])
		}, 2+n, Options{Method: m, RelTol: rtol})
		y := make([]float64, 2+n)
		for i := range y {
			y[i] = 1
		}
		y[0] = 0
		in.Restart(0, y)
		most := 0.0
		run(t, in, 30, func() {
			most = max(most, math.Abs(in.Y()[0]-math.Sin(in.T())), math.Abs(in.Y()[1]-math.Cos(in.T())))
		})
		return most
	}
	for _, m := range []Method{Auto, Explicit3} {
		for _, rtol := range []float64{1e-4, 1e-6} {
			alone := worst(m, rtol, 0, func(float64, []float64, []float64) {})
			for name, crowd := range crowds {
				beside := worst(m, rtol, 5000, crowd)
				most := 1.01
				if name == "slow" || name == "clocks" {
					most = 15 // a hundred count, two alone: local errors seven times as large
				}
				t.Logf("%v %g: error %.2g alone, %.2g beside %s", m, rtol, alone, beside, name)
				if beside > most*alone {
					t.Errorf("%v %g: error %.2g alone, %.2g beside %s", m, rtol, alone, beside, name)
				}
			}
		}
	}
}
