package ode

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// The estimated error of a step of the pair of order 8 covers that of its dense output inside the step for components
// of all rates and frequencies, at the limit of stability and beyond.
func TestEstimateCoversTheDenseOutput(t *testing.T) {
	for _, angle := range []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1} {
		for size := 1.0; size < 12; size += 0.05 {
			z := cmplx.Rect(size, angle*math.Pi)
			in := New(func(_ float64, y, d []float64) {
				d[0], d[1] = real(z)*y[0]-imag(z)*y[1], imag(z)*y[0]+real(z)*y[1]
			}, 2, Options{Method: Explicit, RelTol: tight, AbsTol: []float64{1}})
			in.Restart(0, []float64{1, 0})
			if err := in.begin(1); err != nil {
				t.Fatal(err)
			}
			in.weigh()
			estimate, _ := in.tryExplicit(1)
			in.accept(1)
			worst, y := 0.0, make([]float64, 2)
			for k := range 40 {
				at := float64(k) / 40
				in.Interpolate(at, y)
				worst = max(worst, cmplx.Abs(complex(y[0], y[1])-cmplx.Exp(z*complex(at, 0))))
			}
			if worst > 9*estimate {
				t.Errorf("%.2f: %.3g inside the step, estimated %.3g", z, worst, estimate)
			}
		}
	}
}

// Lags at rest stay within three tolerances inside all steps, alone, one behind the other, or beside an oscillation
// that limits the steps as they do: whoever watches a set point sees it at rest.
func TestLagsAtRestStayThere(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 8))
	random := func(low, high float64) float64 { return low * math.Pow(high/low, r.Float64()) }
	for range 400 {
		m := []Method{Auto, Explicit, Multistep}[r.IntN(3)]
		rtol, chain, beside := random(1e-12, 1e-7), r.IntN(2) == 0, r.IntN(3) == 0
		rates, aims := []float64{1, random(0.3, 3), random(0.3, 3)}[:1+r.IntN(3)], make([]float64, 3)
		for i := range aims {
			if aims[i] = random(1e-3, 1e3); r.IntN(4) == 0 {
				aims[i] = 0
			}
		}
		n := len(rates)
		omega := random(1./30, 1./3)
		in := New(func(_ float64, y, d []float64) {
			for i, rate := range rates {
				aim := aims[i]
				if chain && i > 0 {
					aim = y[i-1]
				}
				d[i] = rate * (aim - y[i])
			}
			d[n], d[n+1] = omega*y[n+1], -omega*y[n]
		}, n+2, Options{Method: m, RelTol: rtol})
		y := make([]float64, n+2)
		for i := range rates {
			y[i] = aims[i] + 1
			if chain {
				aims[i] = aims[0]
			}
		}
		if beside {
			y[n] = 1
		}
		in.Restart(0, y)
		const settled, end = 150, 400
		run(t, in, end, func() {
			for k := 1; k <= 20 && in.From() > settled; k++ {
				in.Interpolate(in.From()+(in.T()-in.From())*float64(k)/20, y)
				for i, aim := range aims[:n] {
					if e := math.Abs(y[i]-aim) / (rtol + rtol*math.Abs(aim)); !(e < 3) {
						t.Fatalf("%v %g, rates %g, chain %v, beside %v: %g tolerances off", m, rtol, rates, chain, beside, e)
					}
				}
			}
		})
	}
}
