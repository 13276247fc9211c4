package ode

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// backward returns the backward differences at t of f, spaced by h, by their order.
func backward(f func(float64) float64, t, h float64) (d [highest + 3]float64) {
	v := d
	for k := range v {
		v[k] = f(t - float64(k)*h)
	}
	for k := 1; k < len(v); k++ {
		for j := range len(v) - k {
			v[j] -= v[j+1]
		}
		d[k] = v[0]
	}
	return d
}

// follow gives component i the backward differences at t of f.
func (m *multistep) follow(i int, f func(float64) float64, t float64) {
	d := backward(f, t, m.h)
	for k := 1; k < len(d); k++ {
		m.differences(k)[i] = d[k]
	}
}

// The formula of order k is exact for polynomials of degree k, and errs by errorConst times the difference of degree k + 1.
func TestFormulas(t *testing.T) {
	for k := 1; k <= highest; k++ {
		for p := 1; p <= k+1; p++ {
			d := backward(func(x float64) float64 { return math.Pow(x, float64(p)) }, 3, 1)
			sum := -kappa[k] * harmonic[k] * d[k+1]
			for j := 1; j <= k; j++ {
				sum += d[j] / float64(j)
			}
			slope := float64(p) * math.Pow(3, float64(p-1))
			if want := -errorConst[k] * d[k+1]; math.Abs(sum-slope-want) > 1e-9*slope {
				t.Errorf("order %d, degree %d: error %g, want %g", k, p, sum-slope, want)
			}
		}
	}
}

// Shampine & Reichelt, table 1: the angle of the sector next to the negative real axis in which the formulas are stable.
func TestFormulasAreStable(t *testing.T) {
	for k, want := range []float64{1: 90, 2: 90, 3: 80, 4: 66, 5: 51} {
		angle := 90.0
		for i := 1; i < 20000; i++ { // the boundary of the region of stability
			d := 1 - cmplx.Exp(complex(0, -math.Pi*float64(i)/20000))
			z := complex(0, 0)
			for j := 1; j <= k; j++ {
				z += cmplx.Pow(d, complex(float64(j), 0)) / complex(float64(j), 0)
			}
			z -= complex(kappa[k]*harmonic[k], 0) * cmplx.Pow(d, complex(float64(k+1), 0))
			if real(z) < -1e-9 {
				angle = min(angle, math.Atan2(math.Abs(imag(z)), -real(z))/math.Pi*180)
			}
		}
		if k > 0 && math.Abs(angle-want) > 1 {
			t.Errorf("order %d is stable within %.1f degrees, want %g", k, angle, want)
		}
	}
}

// Differences at another spacing belong to the same polynomial, whose values and slopes the dense output has.
func TestSpacing(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for q := 1; q <= highest; q++ {
		var c [highest + 1]float64
		for i := range q + 1 {
			c[i] = r.NormFloat64()
		}
		value := func(x float64) (v float64) {
			for i := highest; i >= 0; i-- {
				v = v*x + c[i]
			}
			return v
		}
		m := newMultistep(1, switches{})
		m.order, m.h = q, 0.5
		m.follow(0, value, 2)
		for _, h := range []float64{0.5, 0.2, 0.9} {
			m.space(h)
			for _, x := range []float64{2, 2 - h/3, 2 - h} {
				w, s := m.values(x-2), m.slopes(x-2)
				y, dydt := []float64{0}, []float64{0}
				m.combine(y, []float64{value(2)}, w)
				m.combine(dydt, nil, s)
				slope := (value(x+1e-5) - value(x-1e-5)) / 2e-5
				if got := y[0]; math.Abs(got-value(x)) > 1e-11 {
					t.Errorf("order %d, spacing %g: value %v at %g, want %v", q, h, got, x, value(x))
				}
				if got := dydt[0]; math.Abs(got-slope) > 1e-7 {
					t.Errorf("order %d, spacing %g: slope %v at %g, want %v", q, h, got, x, slope)
				}
			}
		}
	}
}

// The formula of order k converges with that order, at equal steps, for a component that follows and for one that leads.
func TestFormulasConverge(t *testing.T) {
	lead := func(t float64) float64 { return math.Exp(math.Sin(t)) }
	follow := func(_ float64, y, d []float64) { d[0] = y[1] - y[0]; d[1] = 1 }
	exact := []func(float64) float64{
		func(t float64) float64 { return t - 1 + math.Exp(-t) }, func(t float64) float64 { return t },
	}
	curved := func(t float64, y, d []float64) {
		d[0] = lead(t)*math.Cos(t) - 3*(y[0]-lead(t))
		d[1] = y[0] * math.Cos(t)
	}
	for name, p := range map[string]struct {
		f     Func
		exact []func(float64) float64
	}{"linear": {follow, exact}, "curved": {curved, []func(float64) float64{lead, lead}}} {
		for k := 1; k <= highest; k++ {
			var errs [2]float64
			for i, h := range []float64{0.02, 0.01} {
				in := New(p.f, 2, Options{Method: Multistep, RelTol: 1e-12})
				in.method = kennedyCarpenter
				m := &in.multi
				m.on, m.order, m.h = true, k, h
				in.t = 1
				for c, f := range p.exact {
					in.y[c] = f(1)
					m.follow(c, f, 1)
				}
				for n := 1; float64(n)*h < 3; n++ {
					in.weigh()
					if _, o := in.tryMultistep(1 + float64(n)*h); o != stepped {
						t.Fatalf("%s, order %d: outcome %v", name, k, o)
					}
					in.acceptMultistep(1+float64(n)*h, 1)
					m.next = k
				}
				for c, f := range p.exact {
					errs[i] = max(errs[i], math.Abs(in.y[c]-f(in.t)))
				}
			}
			if order := math.Log2(errs[0] / errs[1]); errs[1] > 1e-11 && math.Abs(order-float64(k)) > 0.5 {
				t.Errorf("%s, order %d: errors %.3g and %.3g, order %.2f", name, k, errs[0], errs[1], order)
			}
		}
	}
}

// On a long smooth stretch the multistep formulas take over and save more than half of the evaluations; with Auto, which
// waits until the stages of the implicit method have a low order, more than a third.
func TestMultistepTakesOver(t *testing.T) {
	p := problems.Robertson
	evaluations := func(m Method) int {
		in, err, failure := integrate(p, m, 1e-6)
		if failure != nil || err > 10 {
			t.Fatalf("%v: error of %g tolerances, %v", m, err, failure)
		}
		if on := m != Implicit; in.multi.on != on {
			t.Errorf("%v ends with the multistep formulas: %t, want %t", m, in.multi.on, on)
		}
		return in.Stats().Evaluations
	}
	one := evaluations(Implicit)
	for m, share := range map[Method]float64{Auto: 0.66, Multistep: 0.5} {
		if several := evaluations(m); float64(several) > share*float64(one) {
			t.Errorf("%v: %d evaluations, %d without the formulas", m, several, one)
		}
	}
}

// Equal steps add up without an error of rounding: the times are multiples of what the time resolves.
func TestTimeDoesNotDrift(t *testing.T) {
	in := New(prothero(-1e4), 1, Options{Method: Multistep, RelTol: 1e-4, MaxStep: 0.7})
	in.Restart(2e6, []float64{math.Cos(2e6)})
	run(t, in, 2e6+300)
	if !in.multi.on {
		t.Fatal("no multistep method")
	}
	for range 200 {
		from, h := in.T(), in.multi.h
		if err := in.Step(3e6); err != nil {
			t.Fatal(err)
		}
		if in.multi.h == h && in.T()-from != h {
			t.Fatalf("a step of %v from %v to %v", h, from, in.T())
		}
	}
}
