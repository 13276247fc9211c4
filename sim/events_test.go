package sim

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/ode"
)

// Time events are exact to the bit, also inside a step that was interrupted by a state event.
func TestAlarmIsExact(t *testing.T) {
	s := start(t, clockwork(func(t float64) float64 { return t - 1.5 }), []float64{0}, []float64{0}, oneStep())
	want := []float64{0.1, 0.3, math.Pi / 2, 1.6, math.Nextafter(1.6, 2), 7}
	s.Alarm = want[0]
	next := 0
	log := play(t, s, 10, func(_ []int, alarm bool) {
		if alarm {
			if !math.IsInf(s.Alarm, 1) {
				t.Errorf("alarm still %v after it was due", s.Alarm)
			}
			if next++; next < len(want) {
				s.Alarm = want[next]
			}
		} else {
			s.Alarm = want[2] // set again within the rest of the step
		}
	})
	var got []float64
	for _, e := range log {
		if e.Indicator < 0 {
			got = append(got, e.T)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("alarms at %v, want %v", got, want)
	}
	if n := s.Stats(); n.TimeEvents != len(want) || n.StateEvents != 1 || n.Restarts != 0 {
		t.Errorf("stats %+v", n)
	}
}

// With Interpolate, alarms are due exactly and end no step: the integrator takes the steps that it takes without them,
// until a reaction changes something.
func TestInterpolatedAlarms(t *testing.T) {
	fly := func(o Options, period float64) (log []happening, s *Simulator) {
		s = start(t, clockwork(func(t float64) float64 { return t - 1.5 }), []float64{0}, []float64{0}, o)
		next := func() { s.Alarm = period * (1 + math.Round(s.T/period)) }
		next()
		log = play(t, s, 10, func(_ []int, alarm bool) {
			if alarm {
				next()
			}
		})
		return log, s
	}
	o := oneStep()
	_, whole := fly(o, 100)
	o.Interpolate = true
	log, s := fly(o, 0.25)
	if s.Stats().Steps != whole.Stats().Steps || s.Stats().Evaluations != whole.Stats().Evaluations {
		t.Errorf("%+v, without alarms %+v", s.Stats(), whole.Stats())
	}
	ticks := 0
	for _, e := range log {
		if e.Indicator < 0 {
			if ticks++; e.T != 0.25*float64(ticks) {
				t.Errorf("alarm %d at %v", ticks, e.T)
			}
		}
	}
	if ticks != 40 || s.Stats().StateEvents != 1 || s.Y[0] != whole.Y[0] {
		t.Errorf("%d alarms, %+v, ends at %v, want %v", ticks, s.Stats(), s.Y, whole.Y)
	}
}

// A state event and the alarm at the same time are one instant, also if location errs by a few units in the last place.
func TestAlarmAndStateEventAreOneInstant(t *testing.T) {
	exact := func(t float64) float64 { return t - 3 }
	early := func(t float64) float64 { return t - math.Nextafter(3, 0) }
	s := start(t, clockwork(exact, early), []float64{0}, []float64{0}, oneStep())
	s.Alarm = 3
	seg, err := s.Advance(10)
	if err != nil || seg.To != 3 || !seg.Alarm || !slices.Equal(seg.Events, []int{0, 1}) {
		t.Errorf("%+v, %v", seg, err)
	}
}

// latch has two indicators on its inputs alone.
func latch() *System {
	return &System{
		States: []string{"x"}, Inputs: 3,
		Indicators:  []Indicator{{Name: "left"}, {Name: "never"}, {Name: "right"}, {Name: "clock"}},
		Derivatives: func(_ float64, _ []float64, _ *Discrete, dydt []float64) { dydt[0] = 1 },
		Zeros: func(_ float64, y []float64, d *Discrete, _ []int, g []float64) {
			g[0], g[1], g[2], g[3] = d.U[0]-0.5, -1, d.U[1]-0.5, y[0]-1
		},
	}
}

// relaxed is x' = -sign(x), y' = 1, with a bystander indicator: after x = 0 only sliding along x = 0 is a solution.
func relaxed() *System {
	return &System{
		States: []string{"x", "y"}, Indicators: []Indicator{{Name: "y >= 100"}, {Name: "x >= 0", Switches: true}},
		Derivatives: func(_ float64, _ []float64, d *Discrete, dydt []float64) {
			dydt[0], dydt[1] = 1, 1
			if d.Above[1] {
				dydt[0] = -1
			}
		},
		Zeros: func(_ float64, y []float64, _ *Discrete, _ []int, g []float64) { g[0], g[1] = y[1]-100, y[0] },
	}
}

// An indicator that is not finite stops the run where it ceases to be, unless an event before that averts it; one that
// is not watched does not matter.
func TestIndicatorNotFinite(t *testing.T) {
	root := func(t float64) float64 { return 1 + math.Sqrt(4-t) }
	pole := func(t float64) float64 { return 2 + 1/(math.Max(t-6, 0)) }
	s := start(t, clockwork(root), []float64{0}, []float64{0}, oneStep())
	seg, err := s.Advance(10)
	e := (*NotFiniteError)(nil)
	if !errors.As(err, &e) || e.Name != "a" || e.Kind != "indicator" || e.T != math.Nextafter(4, 5) {
		t.Error(err)
	}
	if s.T != 4 || seg.To != 4 {
		t.Errorf("segment %+v, %v", seg, err)
	}
	near(t, "x", s.Y[0], 4, 1e-12)

	s = start(t, clockwork(pole), []float64{0}, []float64{0}, oneStep())
	if _, err = s.Advance(10); !errors.As(err, &e) || e.T != 0 {
		t.Errorf("1/0 at the start: %v", err)
	}

	s = start(t, clockwork(root), []float64{0}, []float64{0}, oneStep())
	s.Watch(0, 0)
	if log := play(t, s, 10, nil); len(log) != 0 {
		t.Error(log)
	}
	s.Watch(0, Either)
	if _, err := s.Iterate(); !errors.As(err, &e) || e.T != 10 {
		t.Errorf("watched at last: %v", err)
	}

	s = start(t, clockwork(root, func(t float64) float64 { return t - 3.9 }), []float64{0}, []float64{0}, oneStep())
	log := play(t, s, 10, func([]int, bool) { s.Watch(0, 0) })
	checkLog(t, log, []happening{{3.9, 1}}, 1e-15)
}

func TestMisusePanics(t *testing.T) {
	thrown := func(o Options) *Simulator { return start(t, system(problems.BouncingBall), []float64{1, 0}, nil, o) }
	for want, f := range map[string]func(){
		"sim: wrong number of states or inputs": func() { _, _ = New(system(problems.BouncingBall), 0, nil, nil, Options{}) },
		"sim: bad options":                      func() { thrown(Options{MaxIterations: -1}) },
		"sim: no function for the indicators": func() {
			_, _ = New(&System{Indicators: []Indicator{{}}}, 0, nil, nil, Options{})
		},
		"sim: bad threshold": func() {
			_, _ = New(&System{Indicators: []Indicator{{Threshold: &Threshold{}}}}, 0, nil, nil, Options{})
		},
		"sim: Advance to the past or alarm not a number": func() { _, _ = thrown(Options{}).Advance(-1) },
		"sim: T was changed from outside": func() {
			s := thrown(Options{})
			s.T = 1
			_, _ = s.Advance(2)
		},
		"sim: Advance after an event without Iterate": func() {
			s := start(t, clockwork(func(t float64) float64 { return t - 1 }), []float64{0}, []float64{0}, oneStep())
			_, _ = s.Advance(10)
			_, _ = s.Advance(10)
		},
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			f()
		}()
	}
}

// driven is a plant of relative degree two with what switching excites: x' = v, v' = (u - v)/15 as an aircraft's
// altitude, p' = 25 (u - z) - 8 p with p = z' as a drive, and (c, s), which circles forever and has no influence. The
// relay's band lies above zero.
func driven(band float64) *System {
	return &System{
		States: []string{"x", "v", "z", "p", "c", "s"}, Inputs: 1, AbsTol: []float64{1e-6},
		Indicators: []Indicator{{Name: "x >= 0"}, {Name: "x >= band"}},
		Derivatives: func(_ float64, y []float64, d *Discrete, dydt []float64) {
			u := d.U[0]
			dydt[0], dydt[1] = y[1], (u-y[1])/15
			dydt[2], dydt[3] = y[3], 25*(u-y[2])-8*y[3]
			dydt[4], dydt[5] = -0.1*y[5], 0.1*y[4]
		},
		Zeros: func(_ float64, y []float64, _ *Discrete, _ []int, g []float64) { g[0], g[1] = y[0], y[0]-band },
	}
}

// drive runs it to the time given: u is down above the band, up below zero, and as it was in between.
func drive(s *Simulator, until float64) (flight, error) {
	var l flight
	s.Watch(0, Falling)
	s.Watch(1, Rising)
	err := fly(s, s, until, l.see, func([]int, bool) {
		switch {
		case s.Above[1]:
			s.Set(0, -0.5)
		case !s.Above[0]:
			s.Set(0, 0.8)
		}
	})
	return l, err
}

// A relay without hysteresis on a plant of relative degree two switches ever faster, the n-th time after about 1/n of
// the first phase: so slowly that the steps of the last hundred phases are as short as those of the present one.
func TestConvergingSwitchingIsChattering(t *testing.T) {
	y0 := []float64{-0.5, 0, 0, 0, 1000, 0}
	for _, rtol := range short([]float64{1e-3}, []float64{1e-3, 1e-6, 1e-9}) {
		o := Options{Options: ode.Options{RelTol: rtol}}
		s := start(t, driven(0), y0, []float64{0.8}, o)
		l, err := drive(s, 2000)
		c := (*ChatterError)(nil)
		if !errors.As(err, &c) {
			t.Errorf("%g: at t = %g s after %d events: %v", rtol, s.T, l.instants, err)
			continue
		}
		if t.Logf("%g: %v, after %d events", rtol, c, l.instants); l.instants > 10000 {
			t.Errorf("%g: noticed late, after %d events", rtol, l.instants)
		}
		o.Chattering = Continue
		s = start(t, driven(0), y0, []float64{0.8}, o)
		if l, err := drive(s, 600); !errors.As(err, &c) || l.reports > 0 || c.Obstacle == "" {
			t.Errorf("%g: going on: %d reports, %v", rtol, l.reports, err)
		}
		near(t, "x", s.Y[0], 0, 1e-3)
	}
}

// TestRoundingIsChattering: a function that is at its limit but for rounding, such as y + |y - a| - a where y falls below a,
// chatters within a few hundred events, and does not take a million.
func TestRoundingIsChattering(t *testing.T) {
	for _, a := range []float64{0.3, 1, 7, 1e3, -7, 1e-3} {
		sys := &System{Functions: 1, Indicators: []Indicator{{Name: "sum"}},
			Derivatives: func(_ float64, _ []float64, _ *Discrete, dydt []float64) { dydt[0] = -0.53 },
			Zeros:       func(_ float64, y []float64, _ *Discrete, _ []int, g []float64) { g[0] = y[0] + math.Abs(y[0]-a) - a },
			States:      []string{"y"}}
		s := start(t, sys, []float64{a + 0.1}, nil, Options{})
		events, err := 0, error(nil)
		for ; s.T < 400 && err == nil && events < 10_000; events++ {
			if _, err = s.Advance(400); err == nil {
				_, err = s.Iterate()
			}
		}
		if c := (*ChatterError)(nil); s.T < 400 && !errors.As(err, &c) || events > 1000 {
			t.Errorf("%g: at t = %g s after %d events: %v", a, s.T, events, err)
		}
	}
}

// The same relay up to an earlier end is flown through: before that it needs no more than ten thousand events.
func TestConvergingSwitchingThatEnds(t *testing.T) {
	s := start(t, driven(0), []float64{-0.5, 0, 0, 0, 1000, 0}, []float64{0.8}, Options{})
	l, err := drive(s, 340)
	if err != nil || s.T != 340 || l.instants < 5000 || l.instants > 10000 {
		t.Errorf("%d events up to t = %g s: %v", l.instants, s.T, err)
	}
	near(t, "x", s.Y[0], 0, 1e-5)
}

// Events that become denser are too many if more than a million would follow; those at an even pace, after a hundred
// thousand of them, if more than a hundred million would.
func TestEndlessly(t *testing.T) {
	for _, c := range []struct {
		n, span, ratio, within float64
		want                   bool
	}{
		{100, 1, 2, 1e12, false},     // at an even pace
		{102400, 0.1, 2, 1e2, false}, // at an even pace, up to 102400 * 2^9
		{102400, 0.1, 2, 1e3, true}, {102400, 0.1, 4, 1e3, false},
		{100, 1, 1, 10, false},     // as 1/n, up to 100 * 2^10 events
		{100, 1, 1, 15, true},      // up to 100 * 2^15
		{100, 1, 0.5, 0.99, false}, // up to just before the limit of a geometric series
		{100, 1, 0.5, 1, true},
		{100, 1, 0, 1e-9, true}, {100, 0, math.NaN(), 1, false}, {100, 1, 1.4, math.Inf(1), true},
	} {
		if got := endlessly(c.n, c.span, c.ratio, c.within); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A relay whose hysteresis is far below the accuracy of its value, from the start on and at an even pace, stops or
// slides soon, instead of switching for hours. If its hysteresis is far above, because the state is small and its
// tolerance with it, it makes progress, but no end is in sight: it stops.
func TestNarrowRelayFromTheStart(t *testing.T) {
	system := moving(func(_, _ float64, d *Discrete) float64 { return d.U[0] }, 1e-9, -1e-9)
	relay := func(o Options) (*Simulator, error) {
		s := start(t, system, []float64{0}, []float64{1, 0}, o)
		s.Watch(0, Rising)
		s.Watch(1, Falling)
		return s, fly(s, s, 100, func(Segment) {}, func(changed []int, _ bool) { s.Set(0, float64(2*changed[0]-1)) })
	}
	s, err := relay(Options{})
	report := (*ChatterError)(nil)
	if !errors.As(err, &report) || len(report.Names) != 2 || s.Stats().StateEvents > 110000 {
		t.Errorf("%d events, %v", s.Stats().StateEvents, err)
	}
	if testing.Short() {
		return
	}
	if s, err = relay(Options{Chattering: Continue}); err != nil || s.Stats().StateEvents > 110000 {
		t.Errorf("%d events up to t = %g s, %v", s.Stats().StateEvents, s.T, err)
	}
	s, err = relay(Options{Options: ode.Options{AbsTol: []float64{1e-15}}})
	if !errors.Is(err, ErrEndless) || s.Stats().StateEvents != million {
		t.Fatalf("%d events, %v", s.Stats().StateEvents, err)
	}
	const want = "a million within 0.002 s by x >= 1e-09, x >= -1e-09; at this pace, 5e+10 would follow up to 100 s"
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// The first million events are counted from the start, which need not be at zero.
func TestPaceFromALateStart(t *testing.T) {
	rest := &System{States: []string{"x"}, Derivatives: func(_ float64, _ []float64, _ *Discrete, dydt []float64) { dydt[0] = 0 }}
	s, err := New(rest, 1000, []float64{0}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.T, s.stats.StateEvents = 1000.002, million
	if err := s.pace(1100); !errors.Is(err, ErrEndless) {
		t.Error(err)
	}
}

// With hysteresis that leaves the integrator a step between the events the same relay does not chatter, although a
// hundred of its phases are shorter than the steps of the quiet time before.
func TestBusyAfterQuietIsNotChattering(t *testing.T) {
	s := start(t, driven(0.003), []float64{-4000, 0.8, 0.8, 0, 0, 0}, []float64{0.8}, Options{})
	if _, err := drive(s, 4900); err != nil || s.Stats().StateEvents > 0 {
		t.Fatalf("%d events at rest, %v", s.Stats().StateEvents, err)
	}
	quiet := s.crawl.longest
	l, err := drive(s, 5020+quiet)
	if err != nil || l.instants < 120 {
		t.Errorf("%d events up to t = %g s after a step of %g s: %v", l.instants, s.T, quiet, err)
	}
}

// A thermostat at a loose tolerance, with a phase in few steps or in one, does not chatter: a hundred phases last
// longer than a step.
func TestThermostatInFewStepsIsNotChattering(t *testing.T) {
	p := problems.Thermostat
	for _, m := range []ode.Method{ode.Auto, ode.Explicit, ode.Implicit} {
		for _, rtol := range []float64{0.1, 1e-2} {
			s := begin(t, p, ode.Options{RelTol: rtol, Method: m})
			events := follow(t, p, s, 86400)
			steps := s.Stats().Steps
			if len(events) < 700 || steps > 5*len(events) {
				t.Errorf("%v %g: %d events, %d steps: not what is to be shown", m, rtol, len(events), steps)
			}
		}
	}
}

// At an instant, only functions that may have changed since are evaluated: none, the loose ones after an input or a side
// has changed, all after a state has changed.
func TestInstantEvaluatesWhatChanged(t *testing.T) {
	sys := latch()
	sys.Loose = []int{0, 2}
	s := start(t, sys, []float64{0}, []float64{0, 0, 0}, Options{})
	for s.T < 1 {
		if _, err := s.Advance(2); err != nil {
			t.Fatal(err)
		}
	}
	for k, c := range []struct {
		react   func()
		changed []int
		values  int
	}{
		{func() {}, []int{3}, 0},
		{func() {}, nil, 2}, // the side that the iteration before committed
		{func() {}, nil, 0},
		{func() { s.Set(0, 1) }, []int{0}, 2},
		{func() { s.Set(0, 1) }, nil, 2},
		{func() { s.Set(1, 0) }, nil, 0},
		{func() { s.Y[0] = 0 }, []int{3}, 4},
	} {
		c.react()
		before := s.Stats().Values
		changed, err := s.Iterate()
		if err != nil || !slices.Equal(changed, c.changed) || s.Stats().Values-before != c.values {
			t.Errorf("iteration %d: %v changed, %d values, %v", k, changed, s.Stats().Values-before, err)
		}
	}
}
