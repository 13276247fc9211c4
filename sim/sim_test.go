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
	for i := range s.Watch {
		s.Watch[i] = Either
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

// ball is a point mass under gravity, y = (height, velocity).
func ball() *System {
	return &System{
		States: []string{"h", "v"}, Indicators: []Indicator{{Name: "h >= 0"}},
		Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) { dydt[0], dydt[1] = y[1], -9.81 },
		Zeros:       func(_ float64, y []float64, _ *Discrete, g []float64) { g[0] = y[0] },
	}
}

// Closed form: the first fall takes t1 = sqrt(2h/g), each flight e times as long as the one before.
func TestBouncingBallImpacts(t *testing.T) {
	s := start(t, ball(), []float64{1, 0}, nil, tight())
	s.Watch[0] = Falling
	log := play(t, s, 2.45, func([]int, bool) {
		if !s.Above[0] {
			s.Y[1] *= -0.7
		}
	})
	want := []float64{
		0.451523640986, 1.083656738366, 1.526149906532, 1.835895124248, 2.052716776649, 2.204491933330,
		2.310734543007, 2.385104369781, 2.437163248522,
	}
	if len(log) != len(want) {
		t.Fatalf("%d impacts, want %d: %v", len(log), len(want), log)
	}
	t1 := math.Sqrt(2 / 9.81)
	for k, w := range want {
		near(t, "impact", log[k].T, w, 1e-8)
		near(t, "impact", log[k].T, t1+2*t1*0.7*(1-math.Pow(0.7, float64(k)))/(1-0.7), 1e-8)
	}
}

// thermostat heats with hysteresis between 280 and 290 K; u = 1 heats.
func thermostat() *System {
	return &System{
		States: []string{"T"}, Inputs: 1, Indicators: []Indicator{{Name: "T >= 290"}, {Name: "T >= 280"}},
		Derivatives: func(_ float64, y []float64, d *Discrete, dydt []float64) {
			dydt[0] = (250 + 60*d.U[0] - y[0]) / 300
		},
		Zeros: func(_ float64, y []float64, _ *Discrete, g []float64) { g[0], g[1] = y[0]-290, y[0]-280 },
	}
}

// Closed form: heating takes 300 ln(30/20) s, cooling 300 ln(40/30) s; 200 cycles without drift.
func TestThermostatKeepsItsPeriod(t *testing.T) {
	s := start(t, thermostat(), []float64{280}, []float64{1}, tight())
	on, off := 300*math.Log(1.5), 300*math.Log(4.0/3)
	near(t, "period", on+off, 207.944154167984, 1e-11)
	log := play(t, s, 200*(on+off)-1, func(changed []int, _ bool) {
		switch {
		case s.Above[0]:
			s.U[0] = 0
		case !s.Above[1]:
			s.U[0] = 1
		}
	})
	var ends []float64
	for _, e := range log {
		if n := len(ends); n%2 == 0 && e.Indicator == 0 || n%2 == 1 && e.Indicator == 1 {
			ends = append(ends, e.T)
		}
	}
	last := 0.0
	for k, x := range ends {
		want := on
		if k%2 == 1 {
			want = off
		}
		near(t, "duration", x-last, want, 1e-8)
		last = x
	}
	near(t, "end of the last whole phase", last, 200*(on+off)-off, 1e-8*399)
}

// Closed form: from x = 1 at rest full deceleration to x = 0 switches at t = 1 and arrives at t = 2.
func TestMinimumTimeDoubleIntegrator(t *testing.T) {
	sys := &System{
		States: []string{"x", "v"}, Inputs: 1, Indicators: []Indicator{{Name: "switching curve"}, {Name: "v < 0"}},
		Derivatives: func(_ float64, y []float64, d *Discrete, dydt []float64) { dydt[0], dydt[1] = y[1], d.U[0] },
		Zeros: func(_ float64, y []float64, _ *Discrete, g []float64) {
			g[0], g[1] = y[0]+y[1]*math.Abs(y[1])/2, y[1]
		},
	}
	s := start(t, sys, []float64{1, -1e-300}, []float64{-1}, tight())
	s.Watch[0], s.Watch[1] = Falling, 0
	var x, v float64
	log := play(t, s, 3, func(changed []int, _ bool) {
		switch {
		case s.U[0] < 0:
			s.U[0] = 1
			s.Watch[0], s.Watch[1] = 0, Rising
		case s.U[0] > 0:
			s.U[0] = 0
			x, v = s.Y[0], s.Y[1]
		}
	})
	if len(log) != 2 {
		t.Fatalf("events %v, want 2", log)
	}
	near(t, "switch", log[0].T, 1, 1e-8)
	near(t, "origin", log[1].T, 2, 1e-8)
	near(t, "x", x, 0, 1e-8)
	near(t, "v", v, 0, 1e-8)
}

// oscillator is y” = -y with one indicator for each function of the time and the states.
func oscillator(zeros ...func(t, y, v float64) float64) *System {
	sys := &System{
		States:      []string{"y", "v"},
		Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) { dydt[0], dydt[1] = y[1], -y[0] },
		Zeros: func(t float64, y []float64, _ *Discrete, g []float64) {
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
		s.Watch[0] = c.watch
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
