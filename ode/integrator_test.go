package ode

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/snapshot"
)

func oscillator(_ float64, y, d []float64) { d[0], d[1] = y[1], -y[0] }

// prothero is the stiff linear problem y' = lambda (y - cos t) - sin t with the solution cos t: Prothero & Robinson,
// On the stability and accuracy of one-step methods for solving stiff systems of ordinary differential equations,
// Mathematics of Computation 28 (1974) 145-162.
func prothero(lambda float64) Func {
	return func(t float64, y, d []float64) { d[0] = lambda*(y[0]-math.Cos(t)) - math.Sin(t) }
}

// run integrates to a time, and visits the integrator after each step.
func run(t testing.TB, in *Integrator, end float64, visit ...func()) {
	t.Helper()
	for in.T() < end {
		if err := in.Step(end); err != nil {
			t.Fatal(in.options.Method, err)
		}
		for _, v := range visit {
			v()
		}
	}
}

// started returns an integrator at the start of a problem.
func started(p *problems.Problem, o Options) *Integrator {
	in := New(p.RightHandSide, len(p.Y0), o)
	in.Restart(0, p.Y0)
	return in
}

func TestStiffLinear(t *testing.T) {
	for _, lambda := range []float64{-1e2, -1e5, -1e8} {
		for _, m := range []Method{Auto, Implicit} {
			in := New(prothero(lambda), 1, Options{Method: m})
			in.Restart(0, []float64{1})
			worst, y := 0.0, make([]float64, 1)
			run(t, in, 10, func() {
				for theta := 0.0; theta < 1; theta += 0.125 {
					at := in.From() + theta*(in.T()-in.From())
					in.Interpolate(at, y)
					worst = max(worst, math.Abs(y[0]-math.Cos(at)))
				}
			})
			if worst > 1e-5 {
				t.Errorf("%g %v: error %g", lambda, m, worst)
			}
			if s := in.Stats(); s.Steps > 600 {
				t.Errorf("%g %v: %d steps, stability must not limit them", lambda, m, s.Steps)
			}
		}
	}
}

func TestStiffTransientIsDampedAtOnce(t *testing.T) {
	// Off the slow solution by 1: resolved by tiny steps, forgotten after some tens of them.
	in := New(prothero(-1e8), 1, Options{Method: Implicit})
	in.Restart(0, []float64{2})
	run(t, in, 1)
	if err := math.Abs(in.Y()[0] - math.Cos(1)); err > 1e-6 {
		t.Errorf("error %g", err)
	}
	if s := in.Stats(); s.Steps > 150 {
		t.Errorf("%+v", s)
	}
}

// everyPair returns options with each method, and those with the pair of tight tolerances.
func everyPair() []Options {
	list := []Options{{Method: Auto, RelTol: tight}, {Method: Explicit, RelTol: tight}}
	for _, m := range Methods() {
		list = append(list, Options{Method: m, RelTol: 1e-6})
	}
	return list
}

func TestDenseOutputJoinsTheEnds(t *testing.T) {
	for _, o := range everyPair() {
		in := New(oscillator, 2, o)
		in.Restart(0, []float64{0, 1})
		before, y := []float64{0, 1}, make([]float64, 2)
		run(t, in, 5, func() {
			in.Interpolate(in.From(), y)
			if !slices.Equal(y, before) {
				t.Fatalf("%v: at the start %v, want %v", o.Method, y, before)
			}
			for _, at := range []float64{in.From() + 1e-9*(in.T()-in.From()), in.T() - 1e-9*(in.T()-in.From())} {
				in.Interpolate(at, y)
				if d := distance(y, []float64{math.Sin(at), math.Cos(at)}); d > 1e-5 {
					t.Errorf("%v: near an end off by %g", o.Method, d)
				}
			}
			in.Interpolate(in.T(), y)
			if !slices.Equal(y, in.Y()) {
				t.Fatalf("%v: at the end %v, want %v", o.Method, y, in.Y())
			}
			copy(before, y)
		})
	}
}

// Some components alone are the same to the last bit, and the others are left alone.
func TestInterpolateOf(t *testing.T) {
	p := problems.HIRES
	for _, o := range everyPair() {
		in := started(p, o)
		all, some := make([]float64, in.n), make([]float64, in.n)
		for i := range 60 {
			if err := in.Step(p.End); err != nil {
				t.Fatal(err)
			}
			for _, x := range []float64{in.From(), in.From() + 0.3*(in.T()-in.From()), in.T()} {
				in.Interpolate(x, all)
				some[0], some[6] = -1, -1
				in.InterpolateOf([]int{1, 5}, x, some)
				if some[1] != all[1] || some[5] != all[5] || some[0] != -1 || some[6] != -1 {
					t.Fatalf("%v, step %d: %v of %v", o.Method, i, some, all)
				}
			}
		}
	}
}

func TestStepLandsOnTheLimit(t *testing.T) {
	for _, m := range Methods() {
		in := New(oscillator, 2, Options{Method: m})
		in.Restart(0, []float64{0, 1})
		// Weeks of ticks that no binary fraction hits, then a limit one unit in the last place away.
		for i := 1; i <= 1000; i++ {
			limit := 2419200 * float64(i) / 1000 / 1000
			run(t, in, limit)
			if in.T() != limit {
				t.Fatalf("%v: at %v, want %v", m, in.T(), limit)
			}
		}
		next := math.Nextafter(in.T(), math.Inf(1))
		run(t, in, next)
		if in.T() != next || in.From() >= next {
			t.Errorf("%v: at %v, want %v", m, in.T(), next)
		}
	}
}

func TestLimitDoesNotShortenTheNextStep(t *testing.T) {
	in := New(oscillator, 2, Options{Method: Explicit})
	in.Restart(0, []float64{0, 1})
	run(t, in, 5)
	free := in.T() - in.From()
	run(t, in, in.T()+1e-6)
	if err := in.Step(100); err != nil {
		t.Fatal(err)
	}
	if h := in.T() - in.From(); h < free/2 {
		t.Errorf("step %g after a limit, %g before", h, free)
	}
}

func TestNoLimit(t *testing.T) {
	for _, m := range Methods() {
		for _, f := range []Func{oscillator, func(_ float64, _, d []float64) { d[0], d[1] = 0, 0 }} {
			in := New(f, 2, Options{Method: m})
			in.Restart(0, []float64{0, 0})
			for range 30 {
				if err := in.Step(math.Inf(1)); err != nil {
					t.Fatal(err)
				}
			}
			if in.T() < 1000 || notFinite(in.Y()) >= 0 {
				t.Errorf("%v: at %g with %v, an equilibrium needs no steps", m, in.T(), in.Y())
			}
		}
	}
}

func TestMaxStepAndInitialStep(t *testing.T) {
	in := New(func(_ float64, _, d []float64) { d[0] = 1 }, 1, Options{MaxStep: 0.25, InitialStep: 0.125})
	in.Restart(0, []float64{0})
	if err := in.Step(10); err != nil || in.T() != 0.125 {
		t.Errorf("first step to %v, %v", in.T(), err)
	}
	run(t, in, 10, func() {
		if h := in.T() - in.From(); h > 0.25 {
			t.Fatal("step", h)
		}
	})
}

func TestNotFinite(t *testing.T) {
	wall := func(at, value float64) Func {
		return func(t float64, y, d []float64) {
			oscillator(t, y, d)
			d[2] = 1
			if t >= at {
				d[2] = value
			}
		}
	}
	for _, m := range Methods() {
		for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, at := range []float64{0, 43200} {
				in := New(wall(at, value), 3, Options{Method: m, RelTol: 1e-3})
				in.Restart(at-math.Min(at, 7), []float64{0, 1, 0})
				var err error
				for err == nil && in.T() < at+10 {
					err = in.Step(at + 10)
				}
				var bad *NotFiniteError
				if !errors.As(err, &bad) {
					t.Fatalf("%v %v: error %v", m, value, err)
				}
				if bad.Index != 2 || math.Abs(bad.T-at) > 64*ulp(at) {
					t.Errorf("%v %v: %v, want component 2 at %v", m, value, bad, at)
				}
				if e := in.Step(at + 10); e == nil || !errors.As(e, &bad) || math.Abs(bad.T-at) > 64*ulp(at) {
					t.Errorf("%v %v: again %v", m, value, e)
				}
				if in.T() > at || notFinite(in.Y()) >= 0 {
					t.Errorf("%v %v: stands at %v with %v", m, value, in.T(), in.Y())
				}
				if s := in.Stats(); at == 0 && s.Evaluations != 2 {
					t.Errorf("%v: two tries of a bad start cost %d evaluations", m, s.Evaluations)
				}
			}
		}
	}
}

func TestNotFiniteIsAvoidedWhereItCanBe(t *testing.T) {
	// Torricelli's emptying vessel near its end: a step too long asks for the root of a negative level.
	f := func(_ float64, y, d []float64) { d[0] = -2 * math.Sqrt(y[0]-1e-6) }
	for _, m := range Methods() {
		in := New(f, 1, Options{Method: m, InitialStep: 5})
		in.Restart(0, []float64{1 + 1e-6})
		run(t, in, 0.99)
		if want := 1e-4 + 1e-6; math.Abs(in.Y()[0]-want) > 1e-5 {
			t.Errorf("%v: level %g, want %g", m, in.Y()[0], want)
		}
		if in.Stats().Rejected == 0 {
			t.Errorf("%v: nothing had to be avoided", m)
		}
	}
}

func TestSingularity(t *testing.T) {
	for _, m := range Methods() { // y = 1/(1-t)
		in := New(func(_ float64, y, d []float64) { d[0] = y[0] * y[0] }, 1, Options{Method: m})
		in.Restart(0, []float64{1})
		var err error
		for err == nil && in.T() < 2 {
			err = in.Step(2)
		}
		var bad *NotFiniteError
		if !errors.Is(err, ErrStepTooSmall) && !errors.As(err, &bad) {
			t.Errorf("%v: %v", m, err)
		}
		if math.Abs(in.T()-1) > 1e-5 {
			t.Errorf("%v: stops at %v, want 1", m, in.T())
		}
	}
}

func TestCopiesGoOnAlike(t *testing.T) {
	for _, o := range everyPair() {
		for _, p := range []*problems.Problem{problems.HIRES, problems.Pleiades} {
			if o.Floating = nil; p == problems.HIRES {
				o.Floating = slices.Repeat([]bool{true}, len(p.Y0))
			}
			in := started(p, o)
			run(t, in, p.End/50)
			other := New(p.RightHandSide, len(p.Y0), o)
			other.Restart(1, make([]float64, len(p.Y0)))
			other.CopyFrom(in)
			fresh := New(p.RightHandSide, len(p.Y0), o)
			restored := func() *Integrator {
				saved := snapshot.Save(nil, in)
				if err := snapshot.Load(saved, fresh); err != nil || !bytes.Equal(snapshot.Save(nil, fresh), saved) {
					t.Fatalf("%v %s: not restored: %v", o.Method, p.Name, err)
				}
				return fresh
			}
			copies := []*Integrator{other, restored()}
			a, b := make([]float64, in.n), make([]float64, in.n)
			for i := range 40 {
				if in.T() == p.End {
					break
				}
				err := in.Step(p.End)
				for _, c := range copies {
					if e := c.Step(p.End); (e == nil) != (err == nil) {
						t.Fatal(e, err)
					}
					at := in.From() + 0.3*(in.T()-in.From())
					in.Interpolate(at, a)
					c.Interpolate(at, b)
					if in.T() != c.T() || !slices.Equal(in.Y(), c.Y()) || !slices.Equal(a, b) || in.Stats() != c.Stats() {
						t.Fatalf("%v %s: step %d differs", o.Method, p.Name, i)
					}
				}
				if i%10 == 9 { // copies of what a restart leaves, taken before the step that uses it
					in.Interpolate(in.From()+0.5*(in.T()-in.From()), a)
					in.Restart(in.From()+0.5*(in.T()-in.From()), a)
					copies[0].CopyFrom(in)
					copies[1] = restored()
				}
			}
		}
	}
}

// A stage that only the dense output has and that is not finite leaves it finite, with the right ends.
func TestDenseOutputNextToTheDomain(t *testing.T) {
	alone := false
	in := New(func(_ float64, y, d []float64) {
		if d[0] = -y[0]; alone {
			d[0] = math.NaN()
		}
	}, 1, Options{Method: Explicit, RelTol: tight})
	in.Restart(0, []float64{1})
	if err := in.Step(0.1); err != nil {
		t.Fatal(err)
	}
	alone = true
	y := []float64{0}
	for k := range 100 {
		at := in.From() + (in.T()-in.From())*float64(k)/100
		if in.Interpolate(at, y); !(math.Abs(y[0]-math.Exp(-at)) < 1e-3*in.T()) {
			t.Errorf("at %g of %g: %g", at, in.T(), y[0])
		}
	}
}

func TestRestartIsCheap(t *testing.T) {
	for _, m := range []Method{Auto, Implicit} {
		in := New(prothero(-1e6), 1, Options{Method: m})
		in.Restart(0, []float64{1})
		run(t, in, 3)
		before, h := in.Stats(), in.T()-in.From()
		// Nothing has happened: the integration goes on as it was.
		for range 10 {
			in.Restart(in.T(), in.Y())
			if err := in.Step(100); err != nil {
				t.Fatal(err)
			}
			if got := in.T() - in.From(); got < h/4 {
				t.Fatalf("%v: step %g after a restart, %g before", m, got, h)
			}
		}
		s := in.Stats()
		if s.Jacobians != before.Jacobians || s.Evaluations-before.Evaluations > 10*14 {
			t.Errorf("%v: ten restarts went from %+v to %+v", m, before, s)
		}
		// Two restarts at one instant are the same as one.
		in.Restart(in.T(), in.Y())
		in.Restart(in.T(), in.Y())
		if err := in.Step(100); err != nil || in.T()-in.From() < h/4 {
			t.Errorf("%v: step %g after two restarts, %g before; %v", m, in.T()-in.From(), h, err)
		}
		// A jump of y: resolved again.
		in.Restart(in.T(), []float64{5})
		end := in.T() + 1
		run(t, in, end)
		if err := math.Abs(in.Y()[0] - math.Cos(end)); err > 1e-5 {
			t.Errorf("%v: error %g after a jump", m, err)
		}
	}
}

func TestRestartWithinTheStepSeesAJumpOfTheDerivative(t *testing.T) {
	for _, m := range Methods() {
		rate := 1.0
		in := New(func(_ float64, y, d []float64) { d[0], d[1] = rate*y[1], -rate*y[0] }, 2, Options{Method: m, RelTol: 1e-8})
		in.Restart(0, []float64{0, 1})
		run(t, in, 2)
		at := in.From() + 0.4*(in.T()-in.From())
		y := make([]float64, 2)
		in.Interpolate(at, y)
		rate = 50
		in.Restart(at, y)
		run(t, in, at+1)
		want := []float64{math.Sin(at + 50), math.Cos(at + 50)}
		if d := distance(in.Y(), want); d > 1e-5 {
			t.Errorf("%v: off by %g", m, d)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, o := range everyPair() {
		for _, p := range []*problems.Problem{problems.HIRES, problems.Pleiades} {
			in := started(p, o)
			y := make([]float64, in.n)
			step := func() {
				if in.T() == p.End {
					in.Restart(0, p.Y0)
				}
				if err := in.Step(p.End); err != nil {
					t.Fatal(err)
				}
				in.Interpolate((in.From()+in.T())/2, y)
			}
			for range 500 {
				step()
			}
			if a := testing.AllocsPerRun(200, step); a != 0 {
				t.Errorf("%v %s: %v allocations per step", o.Method, p.Name, a)
			}
		}
	}
}

func TestAutoChooses(t *testing.T) {
	smooth := New(oscillator, 2, Options{})
	smooth.Restart(0, []float64{0, 1})
	run(t, smooth, 100)
	if s := smooth.Stats(); s.Jacobians != 0 {
		t.Errorf("a smooth problem was taken for stiff: %+v", s)
	}
	for _, p := range continuous() {
		if !p.Stiff || p.Name == "central" { // the waves that the explicit method excites at its limit take long to leave
			continue
		}
		auto, _, err := integrate(p, Auto, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		implicit, _, err := integrate(p, Implicit, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := auto.Stats(), implicit.Stats(); float64(a.Evaluations) > 1.3*float64(b.Evaluations)+200 {
			t.Errorf("%s: %+v, implicit alone %+v", p.Name, a, b)
		}
	}
	// Back again: a system that stops being stiff.
	in := New(func(t float64, y, d []float64) {
		lambda := -1e4
		if t > 10 {
			lambda = -1
		}
		d[0] = lambda*(y[0]-math.Cos(5*t)) - 5*math.Sin(5*t)
	}, 1, Options{})
	in.Restart(0, []float64{1})
	run(t, in, 10)
	if in.method.gamma == 0 {
		t.Error("still explicit where the problem is stiff")
	}
	in.Restart(in.T(), in.Y())
	run(t, in, 50)
	if in.method.gamma != 0 {
		t.Error("still implicit where the problem is not stiff")
	}
}

func TestMisusePanics(t *testing.T) {
	f := oscillator
	in := New(f, 2, Options{})
	in.Restart(1, []float64{0, 1})
	for name, misuse := range map[string]func(){
		"no function":    func() { New(nil, 1, Options{}) },
		"no component":   func() { New(f, 0, Options{}) },
		"tolerance":      func() { New(f, 2, Options{RelTol: -1}) },
		"tolerances":     func() { New(f, 2, Options{AbsTol: []float64{1, -1}}) },
		"NaN":            func() { New(f, 2, Options{AbsTol: []float64{math.NaN()}}) },
		"lengths":        func() { New(f, 3, Options{AbsTol: []float64{1, 1}}) },
		"method":         func() { New(f, 2, Options{Method: 9}) },
		"restart":        func() { in.Restart(0, []float64{1}) },
		"limit":          func() { _ = in.Step(1) },
		"NaN limit":      func() { _ = in.Step(math.NaN()) },
		"interpolate":    func() { in.Interpolate(1, make([]float64, 3)) },
		"copy":           func() { in.CopyFrom(New(f, 3, Options{})) },
		"copy of others": func() { in.CopyFrom(New(f, 2, Options{RelTol: 1e-3})) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse()
		})
	}
}

// The dense output of every step lies within its bounds, and those are of use: mostly not ten times as wide.
func TestBounds(t *testing.T) {
	for _, o := range everyPair() {
		for _, p := range []*problems.Problem{problems.HIRES, problems.Pleiades} {
			in := started(p, o)
			y := make([]float64, in.n)
			count, wide := 0, 0
			run(t, in, p.End/3, func() {
				least, most := slices.Clone(in.Y()), slices.Clone(in.Y())
				for k := range 21 {
					in.Interpolate(in.From()+(in.T()-in.From())*float64(k)/20, y)
					for i, v := range y {
						least[i], most[i] = min(least[i], v), max(most[i], v)
					}
				}
				for i := range y {
					low, high := in.Bounds(i)
					rounding := 1e-12 * (math.Abs(low) + math.Abs(high))
					if !(low-rounding <= least[i] && most[i] <= high+rounding) {
						t.Fatalf("%v %s: component %d goes from %v to %v, bounds %v to %v", o.Method, p.Name, i, least[i], most[i], low,
							high)
					}
					count++
					if high-low > 10*(most[i]-least[i])+rounding {
						wide++
					}
				}
			})
			if wide > count/3 {
				t.Errorf("%v %s: %d of %d bounds are wide", o.Method, p.Name, wide, count)
			}
		}
	}
}

// A component that never changes stays the same number, although a derivative jumps beside it, and costs no accuracy.
func TestConstantComponents(t *testing.T) {
	for _, m := range Methods() {
		f := func(t float64, y, d []float64) {
			if d[0], d[1] = -1000*(y[0]-math.Cos(t)), 0; y[1] != 0 {
				d[0] = 1e9
			}
		}
		in := New(f, 2, Options{Method: m, Constant: []bool{false, true}})
		in.Restart(0, []float64{0, 0})
		run(t, in, 10)
		if y := in.Y(); y[1] != 0 || math.Abs(y[0]-math.Cos(10)) > 1e-3 {
			t.Errorf("%v: %v", m, y)
		}
	}
}
