package sim

import (
	"math"
	"testing"

	"canopy/ode"
)

// happening is one event in the log that play keeps.
type happening struct {
	T         float64
	Indicator int // -1: the alarm
}

// play runs s to until. At every event it commits the sides, lets react answer the indicators that changed (and the
// alarm) and iterates until nothing changes.
func play(t testing.TB, s *Simulator, until float64, react func(changed []int, alarm bool)) []happening {
	t.Helper()
	var log []happening
	for s.T < until {
		seg, err := s.Advance(until)
		if err != nil {
			t.Fatalf("at t = %v: %v", s.T, err)
		}
		for _, i := range seg.Events {
			log = append(log, happening{seg.To, i})
		}
		if seg.Alarm {
			log = append(log, happening{seg.To, -1})
		}
		if len(seg.Events) == 0 && !seg.Alarm {
			continue
		}
		for alarm := seg.Alarm; ; alarm = false {
			changed, err := s.Iterate()
			if err != nil {
				t.Fatalf("at t = %v: %v", s.T, err)
			}
			if len(changed) == 0 && !alarm {
				break
			}
			if react != nil {
				react(changed, alarm)
			}
		}
	}
	return log
}

func start(t testing.TB, sys *System, y0, u0 []float64, o Options) *Simulator {
	t.Helper()
	s, err := New(sys, 0, y0, u0, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Above {
		s.Watch(i, Either)
	}
	return s
}

func tight() Options { return Options{Options: ode.Options{RelTol: 1e-10}} }

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.15g, want %.15g, difference %.2g, allowed %.2g", what, got, want, got-want, tolerance)
	}
}

// oscillator is y” = -y with one indicator for each function of the time and the states.
func oscillator(zeros ...func(t, y, v float64) float64) *System {
	sys := &System{
		States:      []string{"y", "v"},
		Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) { dydt[0], dydt[1] = y[1], -y[0] },
		Zeros: func(t float64, y []float64, _ *Discrete, _ []int, g []float64) {
			for i, z := range zeros {
				g[i] = z(t, y[0], y[1])
			}
		},
	}
	for i := range zeros {
		sys.Indicators = append(sys.Indicators, Indicator{Name: string(rune('a' + i))})
	}
	return sys
}

// Closed form: cos t crosses zero at (k + 1/2) pi, falling and rising in turn.
func TestOscillatorCrossings(t *testing.T) {
	position := func(_, y, _ float64) float64 { return y }
	for _, c := range []struct {
		watch Direction
		first float64
		step  float64
	}{{Either, 0.5, 1}, {Falling, 0.5, 2}, {Rising, 1.5, 2}} {
		s := start(t, oscillator(position), []float64{1, 0}, nil, tight())
		s.Watch(0, c.watch)
		log := play(t, s, 50, nil)
		want := 0
		for k := c.first; k*math.Pi < 50; k += c.step {
			if want < len(log) {
				near(t, "crossing", log[want].T, k*math.Pi, 1e-8)
			}
			want++
		}
		if len(log) != want {
			t.Errorf("watch %v: %d crossings, want %d", c.watch, len(log), want)
		}
	}
}
