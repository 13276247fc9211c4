package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/ode"
)

// sliding is a system with one indicator, whose side decides between two derivatives.
func sliding(g func(y []float64) float64, below, above func(t float64, y, dydt []float64), states int) *System {
	return &System{
		States: make([]string, states), Indicators: []Indicator{{Name: "g", Switches: true}},
		Derivatives: func(t float64, y []float64, d *Discrete, dydt []float64) {
			if d.Above[0] {
				above(t, y, dydt)
			} else {
				below(t, y, dydt)
			}
		},
		Zeros: func(_ float64, y []float64, _ *Discrete, _ []int, out []float64) { out[0] = g(y) },
	}
}

// onward runs s to a time and counts the instants and the reports of chattering.
func onward(t *testing.T, s *Simulator, until float64, react func()) (instants, reports int) {
	t.Helper()
	l := watched(t, s, until, func([]int, bool) {
		if react != nil {
			react()
		}
	})
	return l.instants, l.reports
}

// Sliding motions with exact answers, with each method.
func TestSlidingIsExact(t *testing.T) {
	for _, m := range ode.Methods() {
		o := Options{Chattering: Continue, Options: ode.Options{Method: m, RelTol: 1e-8}}
		check := func(what string, s *Simulator, until float64, most int, want ...float64) {
			t.Helper()
			events, reports := onward(t, s, until, nil)
			if events > most || reports != 1 {
				t.Errorf("%v, %s: %d events, %d reports", m, what, events, reports)
			}
			for i, w := range want {
				near(t, fmt.Sprintf("%v, %s, state %d at %g s", m, what, i, until), s.Y[i], w, 1e-6*max(1, math.Abs(w)))
			}
		}
		first := func(y []float64) float64 { return y[0] }
		// x' = 3 below 0 and -1 above, y' = 2 and -1: a quarter of the time below, three quarters above.
		below := func(_ float64, _, dydt []float64) { dydt[0], dydt[1] = 3, 2 }
		above := func(_ float64, _, dydt []float64) { dydt[0], dydt[1] = -1, -1 }
		check("mean", start(t, sliding(first, below, above, 2), []float64{1, 0}, nil, o), 11, 110, 0, -1-10*0.25)
		// The same, a million times as fast from below.
		below = func(_ float64, _, dydt []float64) { dydt[0], dydt[1] = 1e6, 1e6 }
		above = func(_ float64, _, dydt []float64) { dydt[0], dydt[1] = -1, -2 }
		check("fast and slow", start(t, sliding(first, below, above, 2), []float64{1, 0}, nil, o), 11, 110, 0, -2-10*1e6/(1e6+1))

		// Control in sliding mode: x' = v, v' = -4 sign(x + v). It reaches x + v = 0, where x' = -x.
		below = func(_ float64, y, dydt []float64) { dydt[0], dydt[1] = y[1], 4 }
		above = func(_ float64, y, dydt []float64) { dydt[0], dydt[1] = y[1], -4 }
		sum := func(y []float64) float64 { return y[0] + y[1] }
		s := start(t, sliding(sum, below, above, 2), []float64{1, 0}, nil, o)
		at := (-4 + math.Sqrt(16+8)) / 4 // 1 - 2 t^2 - 4 t = 0
		x := 1 - 2*at*at
		check("surface", s, at+3, 110, x*math.Exp(-3), -x*math.Exp(-3))

		// Dry friction: v' = t/2 - 1 - sign(v) from v = 0.75, which sticks at t = 0.39..., and slips at t = 4.
		below = func(t float64, _, dydt []float64) { dydt[0] = t/2 - 1 + 1 }
		above = func(t float64, _, dydt []float64) { dydt[0] = t/2 - 1 - 1 }
		s = start(t, sliding(first, below, above, 1), []float64{0.75}, nil, o)
		check("stick", s, 3.9, 110, 0)
		events, reports := onward(t, s, 6, nil)
		if events > 1 || reports > 0 || !s.Above[0] {
			t.Errorf("%v, slip: %d events, %d reports", m, events, reports)
		}
		near(t, fmt.Sprint(m, ": slip"), s.Y[0], 1, 1e-6)
	}
}

// Sliding between inputs that the owner sets, as a plan does: x = 0 under u = 1 and -1 with a wind w that grows. An
// input changed by something else ends it; if the new derivatives chatter as well, it begins again.
func TestSlidingBetweenInputs(t *testing.T) {
	sys := &System{
		States: []string{"x", "w", "fuel"}, Inputs: 2, Indicators: []Indicator{{Name: "x >= 0", Threshold: &Threshold{}}},
		Derivatives: func(_ float64, y []float64, d *Discrete, dydt []float64) {
			dydt[0], dydt[1], dydt[2] = d.U[0]*d.U[1]+y[1], 0.1, d.U[0]
		},
	}
	s := start(t, sys, []float64{-1, -0.5, 0}, []float64{1, 1}, Options{Chattering: Continue})
	react := func() {
		if s.Set(0, 1); s.Above[0] {
			s.Set(0, -1)
		}
		if s.T == 7 {
			s.Set(1, 2)
		}
	}
	s.Alarm = 7
	events, reports := onward(t, s, 10, react)
	if events > 230 || reports != 2 {
		t.Errorf("%d events, %d reports", events, reports)
	}
	// Up to the first event u = 1; then u = -w = 0.5 - 0.1 t, from 7 s on u = -w/2.
	hit := (-0.5 + math.Sqrt(0.25+4*0.05)) / 0.1 // -1 + 0.5 t + 0.05 t^2 = 0
	fuel := func(from, to float64) float64 { return 0.5*(to-from) - 0.05*(to*to-from*from) }
	near(t, "x", s.Y[0], 0, 1e-9)
	near(t, "fuel", s.Y[2], hit+fuel(hit, 7)+fuel(7, 10)/2, 1e-6)

	c := copyOf(t, s)
	onward(t, s, 12, react)
	if onward(t, c, 12, nil); !slices.Equal(c.Y, s.Y) {
		t.Errorf("a copy goes on differently: %v, %v", c.Y, s.Y)
	}
	// From w = 2 on, at 25 s, u = -2 does not hold x any more. It leaves upwards with x = (t - 25)^2 / 20.
	events, _ = onward(t, s, 26, react)
	if events > 1 || !s.Above[0] {
		t.Errorf("%d events", events)
	}
	near(t, "x", s.Y[0], 0.05, 1e-6)
}

// What chatters but has no sliding motion stops with the reason, also with Continue: a Zeno sequence at its limit, in
// closed form t1 (1+e)/(1-e).
func TestNoSlidingMotion(t *testing.T) {
	p := problems.Zeno
	for _, policy := range []Chattering{Stop, Continue} {
		s := begin(t, p, ode.Options{})
		s.options.Chattering = policy
		var l flight
		c := (*ChatterError)(nil)
		if err := fly(s, s, p.End, l.see, reaction(p, s)); !errors.As(err, &c) {
			t.Fatal(err)
		}
		near(t, "time", c.T, 2.558633965585808, 1e-9)
		if (c.Obstacle != "") != (policy == Continue) || l.reports > 0 {
			t.Errorf("%v, %+v", c, l)
		}
	}
}

// A relay with a hysteresis of 1e-3 switches 94,330 times in 100 s, after 5.67 s without an event: events that make
// progress never chatter, whatever the tolerance and the size of the value.
func TestRelayMakesProgress(t *testing.T) {
	until, want := short(20.0, 100), short(14330, 94330)
	for _, level := range []float64{0, 1000} {
		for _, r := range []float64{1e-3, 1e-6} {
			sys := moving(func(_, _ float64, d *Discrete) float64 { return d.U[0] }, level, level-1e-3)
			s := start(t, sys, []float64{level - 5.6705}, []float64{1, 0}, Options{Options: ode.Options{RelTol: r}})
			events := 0
			log := play(t, s, until, func([]int, bool) {
				switch {
				case s.Above[0] && s.U[0] > 0:
					s.Set(0, -1)
					events++
				case !s.Above[1] && s.U[0] < 0:
					s.Set(0, 1)
					events++
				}
			})
			if events != want {
				t.Errorf("at %g, %g: %d switches, %d events", level, r, events, len(log))
			}
		}
	}
}
