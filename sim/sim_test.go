package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/canopy-uav/canopy/ode"
)

// short returns the first of two numbers with -short.
func short[T any](few, many T) T {
	if testing.Short() {
		return few
	}
	return many
}

// happening is one event in the log that play keeps.
type happening struct {
	T         float64
	Indicator int // -1: the alarm
}

// finder finds events: the simulator, or a second one.
type finder interface {
	Advance(until float64) (Segment, error)
	Iterate() (changed []int, err error)
}

// fly runs s by a finder of events to until, and shows each segment. At an instant it commits the sides, lets react
// answer the indicators that changed (and the alarm), and iterates until nothing changes.
func fly(s *Simulator, f finder, until float64, see func(Segment), react func(changed []int, alarm bool)) error {
	for s.T < until {
		seg, err := f.Advance(until)
		if err != nil {
			return err
		}
		see(seg)
		if len(seg.Events) == 0 && !seg.Alarm {
			continue
		}
		for alarm := seg.Alarm; ; alarm = false {
			changed, err := f.Iterate()
			if err != nil {
				return err
			}
			if len(changed) == 0 && !alarm {
				break
			}
			if react != nil {
				react(changed, alarm)
			}
		}
	}
	return nil
}

// flight counts and lists what happens in a run.
type flight struct {
	log      []happening
	touched  []happening // -1 does not occur
	instants int         // with state events
	reports  int         // of chattering
}

func (l *flight) see(seg Segment) {
	for _, i := range seg.Events {
		l.log = append(l.log, happening{seg.To, i})
	}
	if seg.Alarm {
		l.log = append(l.log, happening{seg.To, -1})
	}
	for _, i := range seg.Touched {
		l.touched = append(l.touched, happening{seg.To, i})
	}
	if len(seg.Events) > 0 {
		l.instants++
	}
	if seg.Chatter != nil {
		l.reports++
	}
}

// watched runs s to until and returns what happens.
func watched(t testing.TB, s *Simulator, until float64, react func(changed []int, alarm bool)) (l flight) {
	t.Helper()
	if err := fly(s, s, until, l.see, react); err != nil {
		t.Fatalf("at t = %v: %v", s.T, err)
	}
	return l
}

// play is watched for the events and alarms alone.
func play(t testing.TB, s *Simulator, until float64, react func(changed []int, alarm bool)) []happening {
	t.Helper()
	return watched(t, s, until, react).log
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

// moving is a system of one state with a derivative, and thresholds of it.
func moving(rate func(t, x float64, d *Discrete) float64, levels ...float64) *System {
	sys := &System{
		States: []string{"x"}, Inputs: 2,
		Derivatives: func(t float64, y []float64, d *Discrete, dydt []float64) { dydt[0] = rate(t, y[0], d) },
	}
	for _, level := range levels {
		sys.Indicators = append(sys.Indicators, Indicator{Name: fmt.Sprint("x >= ", level), Threshold: &Threshold{Level: level}})
	}
	return sys
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
	for watch, c := range map[Direction]struct{ first, step float64 }{Either: {0.5, 1}, Falling: {0.5, 2}, Rising: {1.5, 2}} {
		s := start(t, oscillator(func(_, y, _ float64) float64 { return y }), []float64{1, 0}, nil, tight())
		s.Watch(0, watch)
		var want []happening
		for k := c.first; k*math.Pi < 50; k += c.step {
			want = append(want, happening{k * math.Pi, 0})
		}
		checkLog(t, play(t, s, 50, nil), want, 1e-8)
	}
}
