package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/snapshot"
)

// pendulum swings with the amplitude 1: its indicators compare the angle, the rate, the product of both and the input
// with n numbers each.
func pendulum(n int) *System {
	sys := &System{States: []string{"angle", "rate"}, Inputs: 1, Functions: 2, Loose: []int{1},
		Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) { dydt[0], dydt[1] = y[1], -y[0] },
		Zeros: func(_ float64, y []float64, d *Discrete, which []int, g []float64) {
			for _, f := range which {
				g[f] = []float64{y[0] * y[1], d.U[0] + y[0]}[f]
			}
		}}
	for of := range 4 {
		for i := range n {
			level := (float64(i)+0.5)/float64(n)*2 - 1
			sys.Indicators = append(sys.Indicators, Indicator{Name: fmt.Sprintf("%d.%d", of, i),
				Threshold: &Threshold{Of: of, Level: level, Falls: i%3 == 0}})
		}
	}
	return sys
}

// Indicators that rest take no work and change no bit of what the others do; Look brings their sides up to date, Watch
// wakes them: from then on they are found as if they had never rested.
func TestRestingIndicators(t *testing.T) {
	const n = 40
	sys := pendulum(n)
	run := func(rest bool) (log []happening, s *Simulator) {
		s = start(t, sys, []float64{1, 0}, []float64{0}, tight())
		idle := func(i int) bool { return i%8 != 3 }
		for i := range s.Above {
			if idle(i) {
				s.Watch(i, 0)
				if rest {
					s.Rest(i)
				}
			}
		}
		some := []int{1, 2, n + 5, 2*n + 7, 3*n + 10, 3*n + 12}
		woken, last := false, -1.0
		log = play(t, s, 20, func([]int, bool) {
			if s.T == last { // sides that are not watched may change again
				return
			}
			last = s.T
			s.Set(0, math.Sin(s.T))
			switch {
			case s.T > 3 && s.T < 12 && !woken:
				woken = true
				for _, i := range some {
					s.Watch(i, Either)
				}
			case s.T > 12 && woken:
				woken = false
				for _, i := range some {
					if s.Watch(i, 0); rest {
						s.Rest(i)
					}
				}
			default:
				s.Look([]int{0, 4, n, 2 * n, 3 * n})
				for _, i := range []int{0, 4, n, 2 * n, 3 * n} {
					q := []float64{s.Y[0], s.Y[1], s.Y[0] * s.Y[1], s.U[0] + s.Y[0]}
					if rest && s.Above[i] != (s.levels.value(q, i) >= 0) {
						t.Fatalf("at %v: indicator %d is on the wrong side", s.T, i)
					}
				}
			}
			if saved := snapshot.Save(nil, copyOf(t, s)); !slices.Equal(saved, snapshot.Save(nil, s)) {
				t.Fatalf("at %v: a copy is saved otherwise", s.T)
			}
		})
		return log, s
	}
	want, kept := run(false)
	got, resting := run(true)
	if !slices.Equal(got, want) || len(want) < 100 {
		t.Errorf("%d events, without rest %d", len(got), len(want))
	}
	if a, b := kept.Stats(), resting.Stats(); a.Looks < 2*b.Looks || a.Evaluations != b.Evaluations || a.Steps != b.Steps {
		t.Errorf("work %+v, without rest %+v", b, a)
	}
}

// Bounds over many steps end with the inputs and sides that they are for: after a copy, a restored state, and a change of
// a side that is no event.
func TestBoundsEndWithTheirInputs(t *testing.T) {
	sys := &System{States: []string{"y"}, Inputs: 1, Functions: 1,
		Indicators: []Indicator{{Name: "side", Threshold: &Threshold{Of: 0, Level: 0.5}},
			{Name: "function", Threshold: &Threshold{Of: 1, Level: 10}}}}
	offset := func(d *Discrete) (x float64) {
		if d.Above[0] {
			x = 9.45
		}
		return x + d.U[0]
	}
	sys.Derivatives = func(_ float64, _ []float64, _ *Discrete, dydt []float64) { dydt[0] = 0.01 }
	sys.Zeros = func(_ float64, y []float64, d *Discrete, _ []int, g []float64) { g[0] = y[0] + offset(d) }
	sys.Enclose = func(_, _ float64, y []ode.Enclosure, d *Discrete, _ int) (ode.Enclosure, []int, bool) {
		r := y[0]
		r.Low, r.High = r.Low+offset(d), r.High+offset(d)
		return r, []int{0}, true
	}
	o := Options{Options: ode.Options{MaxStep: 1}}
	near := func(u float64) *Simulator {
		s := start(t, sys, []float64{0}, []float64{u}, o)
		s.Watch(0, Falling)
		return s
	}
	other := near(9.7)
	play(t, other, 10, nil)
	restored := near(0)
	play(t, restored, 5, nil)
	if err := snapshot.Load(snapshot.Save(nil, other), restored); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Simulator{"copy": copyOf(t, other), "restored": restored} {
		if got := play(t, s, 45, nil); len(got) != 1 || math.Abs(got[0].T-30) > 1e-9 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := play(t, near(0), 200, nil); len(got) != 1 || math.Abs(got[0].T-55) > 1e-9 {
		t.Errorf("a side: %v", got)
	}
}

// Where a step passes many thresholds, the search goes through it part by part. They are found at the same times, to
// the bit, as if they were functions, which are searched in the whole step.
func TestManyThresholds(t *testing.T) {
	thresholds := pendulum(0)
	for i := range 600 {
		thresholds.Indicators = append(thresholds.Indicators, Indicator{Threshold: &Threshold{Of: i % 2,
			Level: 1e-4*float64(i+1) + 0.9*float64(i%2), Falls: i%3 == 0}})
	}
	functions := *thresholds
	functions.Indicators = slices.Clone(thresholds.Indicators)
	for i := range functions.Indicators {
		functions.Indicators[i].Threshold = nil
	}
	functions.Zeros = func(_ float64, y []float64, _ *Discrete, which []int, g []float64) {
		for _, f := range which {
			h := thresholds.Indicators[f].Threshold
			g[f] = h.sign() * (y[h.Of] - h.Level)
		}
	}
	functions.Enclose = func(_, _ float64, y []ode.Enclosure, _ *Discrete, f int) (ode.Enclosure, []int, bool) {
		h := thresholds.Indicators[f].Threshold
		return shifted(y[h.Of], h.Level, h.Falls), []int{h.Of}, true
	}
	for _, method := range short(ode.Methods()[:1], ode.Methods()) {
		events := func(sys *System) []happening {
			s := start(t, sys, []float64{0, 1}, []float64{0}, Options{Options: ode.Options{Method: method}})
			return play(t, s, 4, func([]int, bool) {})
		}
		got, want := events(thresholds), events(&functions)
		if len(got) < 500 || len(got) != len(want) {
			t.Errorf("%d events, as functions %d", len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("event %d is %v, as a function %v", i, got[i], want[i])
			}
		}
	}
}
