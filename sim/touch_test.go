package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/ode"
)

// visits runs s to until and returns the events and the indicators that touch zero.
func visits(t *testing.T, s *Simulator, until float64) (events, touched []happening) {
	t.Helper()
	l := watched(t, s, until, nil)
	return slices.DeleteFunc(l.log, func(e happening) bool { return e.Indicator < 0 }), l.touched
}

// lags is a chain of n first-order lags of 10 s towards 1, critically damped, beside other states that rest, and the
// condition that the last of them has reached 1: as a threshold, as a function of it alone, and as a function of two
// states.
func lags(n, others int, kind string) *System {
	sys := &System{
		States: make([]string, n+1+others), Indicators: []Indicator{{Name: "reached"}},
		Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) {
			before := y[n]
			for i, v := range y[:n] {
				dydt[i] = (before - v) / 10
				before = v
			}
			clear(dydt[n:])
		},
		Zeros: func(_ float64, y []float64, _ *Discrete, _ []int, g []float64) { g[0] = y[n-1] - 1 },
	}
	switch kind {
	case "threshold":
		sys.Indicators[0].Threshold = &Threshold{Of: n - 1, Level: 1}
	case "two states":
		sys.Zeros = func(_ float64, y []float64, _ *Discrete, _ []int, g []float64) { g[0] = y[n-1] - y[n] }
	}
	return sys
}

// The exact solution approaches the set point and never reaches it: no event, at most one touch at a time, with every
// method, at every tolerance, from both sides, and with an alarm each 7 s.
func TestSetPointIsNoEvent(t *testing.T) {
	touches, sizes := 0, [][2]int{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {10, 0}, {1, 10}, {2, 70}, {10, 70}}
	sizes = short(sizes[:3], sizes)
	for _, size := range sizes {
		n, others := size[0], size[1]
		for _, kind := range []string{"threshold", "function", "two states"} {
			for _, m := range ode.Methods() {
				for _, r := range []float64{1e-3, 1e-6, 1e-8, 1e-10, 1e-12} {
					for from := range 2 {
						y := make([]float64, n+1+others)
						for i := range n {
							y[i] = 2 * float64(from)
						}
						y[n] = 1
						s := start(t, lags(n, others, kind), y, nil, Options{Options: ode.Options{Method: m, RelTol: r}})
						before := slices.Clone(s.Above)
						var events, touched []happening
						for k := range 100 {
							s.Alarm = float64(7 * k)
							e, x := visits(t, s, min(float64(7*k+7), 1000))
							events, touched = append(events, e...), append(touched, x...)
						}
						what := fmt.Sprintf("%d lags, %d others, %s, %v, %g, from %d", n, others, kind, m, r, 2*from)
						if len(events) > 0 || !slices.Equal(s.Above, before) {
							t.Errorf("%s: events %v", what, events)
						}
						if len(touched) > 1 {
							t.Errorf("%s: %d touches", what, len(touched))
						}
						touches += len(touched)
					}
				}
			}
		}
	}
	t.Logf("%d touches", touches)
	if touches < 12*len(sizes) {
		t.Error("the approach is too exact to show anything")
	}
}

// A tangent parabola, shifted by a multiple of the tolerance 2e-6 of values near 1: what exceeds the accuracy at the
// sharpest tolerances is an event, both ways and at the exact times; what does not is a touch, or nothing.
func TestTangent(t *testing.T) {
	sys := func() *System {
		return &System{
			States: []string{"x", "v"}, Indicators: []Indicator{{Name: "x >= 1", Threshold: &Threshold{Level: 1}}},
			Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) { dydt[0], dydt[1] = y[1], -1 },
		}
	}
	for _, above := range []float64{-10, -1, 0, 3e-5, 1e-2, 1, 3, 100} {
		top := 2e-6 * above // of the parabola above 1, at t = 1
		for _, m := range ode.Methods() {
			s := start(t, sys(), []float64{0.5 + top, 1}, nil, Options{Options: ode.Options{Method: m, RelTol: 1e-6}})
			events, touched := visits(t, s, 3)
			if above < 1e-3 {
				if len(events) > 0 || len(touched) > 1 {
					t.Errorf("%v, %g tolerances above: events %v, touches %v", m, above, events, touched)
				}
				continue
			}
			half := math.Sqrt(2 * top)
			checkLog(t, events, []happening{{1 - half, 0}, {1 + half, 0}}, 1e-9)
		}
	}
}

// However slowly a state passes a threshold, and however often alarms cut the steps: the event is where it is reached.
func TestSlowCrossingIsExact(t *testing.T) {
	for _, rate := range []float64{1e-1, 1e-4, 1e-7, 1e-9} {
		sys := moving(func(float64, float64, *Discrete) float64 { return rate }, 1)
		s := start(t, sys, []float64{1 - 10.5*rate}, []float64{0, 0}, Options{})
		var events []happening
		for k := range 20 {
			s.Alarm = float64(k)
			s.Restart()
			e, touched := visits(t, s, float64(k+1))
			if events = append(events, e...); len(touched) > 0 {
				t.Errorf("rate %g: touches %v", rate, touched)
			}
		}
		if len(events) != 1 {
			t.Fatalf("rate %g: events %v", rate, events)
		}
		near(t, "event", events[0].T, 10.5, max(1e-10, 1e-15/rate))
	}
}

// A touch ends where the indicator leaves the zone: beyond zero with an event, and on its own side without one; a
// later crossing is then exact again. The owner's values are exact at any time.
func TestTouchEnds(t *testing.T) {
	fresh := func() *Simulator {
		sys := moving(func(_, x float64, d *Discrete) float64 { return d.U[0] - d.U[1]*x }, 1)
		s := start(t, sys, []float64{0}, []float64{1, 1}, Options{})
		events, touched := visits(t, s, 100)
		if len(events) > 0 || len(touched) != 1 || s.Above[0] || len(s.search.touching) != 1 {
			t.Fatalf("events %v, touches %v, above %v", events, touched, s.Above)
		}
		return s
	}
	s := fresh()
	s.Set(0, 1.1) // x rises
	if events, _ := visits(t, s, 101); len(events) != 1 || !s.Above[0] || events[0].T > 100.001 {
		t.Errorf("beyond zero: %v", events)
	}
	s = fresh()
	s.Set(0, 0.5)
	events, _ := visits(t, s, 110)
	x := s.Y[0]
	s.Set(0, 2) // x = 2 - (2 - x) exp(-t)
	more, _ := visits(t, s, 120)
	if len(events) > 0 || len(more) != 1 || len(s.search.touching) > 0 {
		t.Fatalf("own side: %v, %v", events, more)
	}
	near(t, "a later crossing", more[0].T, 110+math.Log(2-x), 1e-5)
	for _, c := range []struct {
		x     float64
		above bool
	}{{1, true}, {math.Nextafter(1, 0), false}} {
		s = fresh()
		s.Alarm = 101
		if seg, err := s.Advance(102); err != nil || !seg.Alarm {
			t.Fatal(seg, err)
		}
		if _, err := s.Iterate(); err != nil {
			t.Fatal(err)
		}
		s.Y[0] = c.x
		if _, err := s.Iterate(); err != nil || s.Above[0] != c.above || len(s.search.touching) > 0 {
			t.Errorf("owner's %v: above %v, %v", c.x, s.Above[0], err)
		}
	}
}

// A restored state knows what touches zero.
func TestTouchIsCopied(t *testing.T) {
	sys := lags(2, 0, "function")
	s := start(t, sys, []float64{0, 0, 1}, nil, Options{})
	visits(t, s, 600)
	if len(s.search.touching) != 1 {
		t.Fatal("no touch")
	}
	if events, touched := visits(t, copyOf(t, s), 2000); len(events)+len(touched) > 0 {
		t.Errorf("events %v, touches %v", events, touched)
	}
}

// An indicator that rests and is looked at, or watched again, has the side of another one with its threshold, also where
// both touch zero.
func TestOneThresholdHasOneSide(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		for _, m := range ode.Methods() {
			for from := range 2 {
				sys := lags(n, 0, "threshold")
				sys.Indicators = append(sys.Indicators, sys.Indicators[0])
				y := append(slices.Repeat([]float64{2 * float64(from)}, n), 1)
				s := start(t, sys, y, nil, Options{Options: ode.Options{Method: m, RelTol: 1e-6}})
				for k := range 200 {
					if s.Rest(1); k%3 == 2 {
						s.Watch(1, Either)
					}
					visits(t, s, float64(5*k+5))
					if s.Look([]int{1}); s.Above[0] != s.Above[1] {
						t.Fatalf("%d lags, %v, from %d: sides %v at %g", n, m, 2*from, s.Above, s.T)
					}
				}
			}
		}
	}
}
