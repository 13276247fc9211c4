package sim

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/ode"
)

// clockwork has a state that a step of any length integrates exactly, and indicators of time (and that state).
func clockwork(zeros ...func(t float64) float64) *System {
	sys := &System{
		States: []string{"x"}, Inputs: 1,
		Derivatives: func(_ float64, _ []float64, _ *Discrete, dydt []float64) { dydt[0] = 1 },
		Zeros: func(t float64, _ []float64, _ *Discrete, _ []int, g []float64) {
			for i, z := range zeros {
				g[i] = z(t)
			}
		},
	}
	for i := range zeros {
		sys.Indicators = append(sys.Indicators, Indicator{Name: string(rune('a' + i))})
	}
	return sys
}

// oneStep makes the first step reach to the horizon of 10.
func oneStep() Options { return Options{Options: ode.Options{RelTol: 1e-6, InitialStep: 10}} }

func checkLog(t *testing.T, log []happening, want []happening, tolerance float64) {
	t.Helper()
	if len(log) != len(want) {
		t.Fatalf("events %v, want %v", log, want)
	}
	for i, w := range want {
		if log[i].Indicator != w.Indicator {
			t.Fatalf("events %v, want %v", log, want)
		}
		near(t, "event", log[i].T, w.T, tolerance)
	}
}

// A signal that enters and leaves within one step: between its ends nothing is to be seen. Down to a tenth of the step
// the samples see it; a smooth one that is far narrower is found because the parabola through the samples turns towards
// zero.
func TestDoubleCrossingWithinAStep(t *testing.T) {
	for _, width := range []float64{3, 1.01, 0.5, 0.1, 1e-3, 1e-6} {
		for centre := width/2 + 0.5; centre < 9.4-width/2; centre += 0.0937 {
			for _, sign := range []float64{1, -1} {
				g := func(t float64) float64 { return sign * ((t-centre)*(t-centre) - width*width/4) }
				s := start(t, clockwork(g), []float64{0}, []float64{0}, oneStep())
				log := play(t, s, 10, nil)
				checkLog(t, log, []happening{{centre - width/2, 0}, {centre + width/2, 0}}, 2e-9)
				if n := s.Stats().Steps; n != 1 {
					t.Fatalf("%d steps, so that this shows nothing", n)
				}
			}
		}
	}
}

// The dip need not be a parabola.
func TestNarrowDipOfAnotherShape(t *testing.T) {
	for _, depth := range []float64{1e-2, 1e-4, 1e-8} {
		for phase := 0.0; phase < 6; phase += 0.1 {
			g := func(t float64) float64 { return 1 - depth + math.Sin(t+phase) }
			s := start(t, clockwork(g), []float64{0}, []float64{0}, oneStep())
			log := play(t, s, 10, nil)
			var want []happening
			for k := -1.0; k < 4; k++ {
				for _, x := range []float64{-math.Acos(1 - depth), math.Acos(1 - depth)} {
					if at := 1.5*math.Pi + 2*math.Pi*k + x - phase; at > 0 && at < 10 {
						want = append(want, happening{at, 0})
					}
				}
			}
			checkLog(t, log, want, 1e-7)
		}
	}
}

// Only one of the two crossings is watched.
func TestDoubleCrossingOneDirection(t *testing.T) {
	for watch, at := range map[Direction]float64{Falling: 3.23, Rising: 3.43} {
		s := start(t, clockwork(func(t float64) float64 { return (t-3.33)*(t-3.33) - 0.01 }), []float64{0}, []float64{0}, oneStep())
		s.Watch(0, watch)
		checkLog(t, play(t, s, 10, nil), []happening{{at, 0}}, 1e-12)
	}
}

// An event exactly at the end of a step, and at the horizon.
func TestEventAtTheEndOfAStep(t *testing.T) {
	crossing := func(at float64) func(float64) float64 { return func(t float64) float64 { return t - at } }
	o := Options{Options: ode.Options{MaxStep: 2, InitialStep: 2}}
	s := start(t, clockwork(crossing(4), crossing(10)), []float64{0}, []float64{0}, o)
	checkLog(t, play(t, s, 10, nil), []happening{{4, 0}, {10, 1}}, 0)
	if n := s.Stats(); n.Steps != 5 || n.Restarts != 0 {
		t.Errorf("steps %d, restarts %d, want 5 and 0", n.Steps, n.Restarts)
	}
}

// A signal may touch zero from the side below: at a single time, exact only by chance. Either both changes are events
// or none.
func TestGrazing(t *testing.T) {
	for centre := 0.5; centre < 9; centre += 0.377 {
		above := func(t float64) float64 { return (t - centre) * (t - centre) }
		below := func(t float64) float64 { return -(t - centre) * (t - centre) }
		s := start(t, clockwork(above, below), []float64{0}, []float64{0}, oneStep())
		log := play(t, s, 10, nil)
		for _, e := range log {
			near(t, "graze", e.T, centre, 1e-7)
			if e.Indicator == 0 {
				t.Errorf("a touch from above is no change of side: %v", log)
			}
		}
		if len(log)%2 != 0 {
			t.Errorf("one of two changes: %v", log)
		}
	}
}

func TestFlatCrossing(t *testing.T) {
	cube := func(t float64) float64 { return (t - 3.7) * (t - 3.7) * (t - 3.7) }
	ninth := func(t float64) float64 { return -math.Pow(t-4.1, 9) }
	s := start(t, clockwork(cube, ninth), []float64{0}, []float64{0}, oneStep())
	checkLog(t, play(t, s, 10, nil), []happening{{3.7, 0}, {4.1, 1}}, 2e-15)
}

// A jump of the indicator is located like a zero, and fires at the first number at which it has jumped.
func TestDiscontinuousIndicator(t *testing.T) {
	jump := func(t float64) float64 {
		if t < math.Pi {
			return -5
		}
		return 1e-3
	}
	s := start(t, clockwork(jump), []float64{0}, []float64{0}, oneStep())
	log := play(t, s, 10, nil)
	if len(log) != 1 || log[0].T != math.Pi {
		t.Errorf("got %v, want the jump at %v exactly", log, math.Pi)
	}
}

// relay is an oscillator whose spring has two stiffnesses: it truly switches at y = 0. More indicators only record.
func relay(extra int) *System {
	sys := &System{
		States: []string{"y", "v"}, Indicators: []Indicator{{Name: "y >= 0", Switches: true}},
		Derivatives: func(_ float64, y []float64, d *Discrete, dydt []float64) {
			k := 1.0
			if d.Above[0] {
				k = 9
			}
			dydt[0], dydt[1] = y[1], -k*y[0]
		},
		Zeros: func(t float64, y []float64, _ *Discrete, _ []int, g []float64) {
			g[0] = y[0]
			for i := 1; i < len(g); i++ {
				g[i] = math.Sin(float64(i)*t) - y[1]/3 + 0.01*float64(i-3)
			}
		},
	}
	for range extra {
		sys.Indicators = append(sys.Indicators, Indicator{Name: "recorded"})
	}
	return sys
}

// Watching more only for the record changes no bit of the results, and restarts nothing.
func TestRecordingMoreChangesNothing(t *testing.T) {
	type result struct {
		events   []float64
		y        []float64
		restarts int
		steps    int
	}
	until, enough := short(60.0, 200), short(27, 90)
	run := func(extra int) (result, int) {
		s := start(t, relay(extra), []float64{1, 0}, nil, Options{})
		var r result
		log := play(t, s, until, nil)
		for _, e := range log {
			if e.Indicator == 0 {
				r.events = append(r.events, e.T)
			}
		}
		r.y, r.restarts, r.steps = s.Y, s.Stats().Restarts, s.Stats().Steps
		return r, len(log)
	}
	want, _ := run(0)
	if len(want.events) < enough {
		t.Fatalf("%d events show nothing", len(want.events))
	}
	for _, extra := range []int{1, 5, 20} {
		got, all := run(extra)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with %d more watched (%d events): not the same", extra, all)
		}
		if all < 3*len(want.events)/2 {
			t.Errorf("with %d more watched only %d events", extra, all)
		}
	}
}

// Declaring what the indicators read changes no bit of the results either.
func TestReadsChangeNothing(t *testing.T) {
	p := problems.Solar72
	for _, m := range []ode.Method{ode.Auto, ode.Multistep} {
		o := ode.Options{Method: m}
		want := follow(t, p, begin(t, p, o), 7200)
		s := begin(t, p, o)
		sys := *s.sys
		y, g, h := slices.Clone(s.Y), make([]float64, len(s.Above)), make([]float64, len(s.Above))
		for i := range y { // by asking the indicators
			sys.Zeros(100, y, &s.Discrete, nil, g)
			y[i]++
			sys.Zeros(100, y, &s.Discrete, nil, h)
			y[i]--
			if !slices.Equal(g, h) {
				sys.Reads = append(sys.Reads, i)
			}
		}
		if n := len(sys.Reads); n == 0 || n > 20 {
			t.Fatalf("the indicators read %d states", n)
		}
		s.sys = &sys
		if got := follow(t, p, s, 7200); !reflect.DeepEqual(got, want) || len(got) < 20 {
			t.Errorf("%v: %d events, %d without a declaration, or at other times", m, len(got), len(want))
		}
	}
}

// Reading the trajectory at many times, as a dense recording does, changes no bit of the results.
func TestReadingMoreChangesNothing(t *testing.T) {
	for _, p := range []*problems.Problem{problems.VanDerPol, problems.BouncingBall, problems.Robertson} {
		bare, read := begin(t, p, ode.Options{}), begin(t, p, ode.Options{})
		y := make([]float64, len(p.Y0))
		for bare.T < p.End {
			want, err := bare.Advance(p.End)
			got, e := read.Advance(p.End)
			if err != nil || e != nil {
				t.Fatal(err, e)
			}
			for k := range 51 {
				read.Interpolate(got.From+(got.To-got.From)*float64(k)/50, y)
			}
			if !reflect.DeepEqual(got, want) || !slices.Equal(read.Y, bare.Y) || read.Stats() != bare.Stats() {
				t.Fatalf("%s: %+v with much reading, %+v without", p.Name, got, want)
			}
			for _, s := range []*Simulator{bare, read} {
				if len(want.Events) == 0 {
					continue
				}
				if _, err := s.Iterate(); err != nil {
					t.Fatal(err)
				}
				if p.React != nil {
					answer(s, p.React, want.Events[0])
				}
			}
		}
	}
}

// A flat signal with a pulse gives no hint of it: only samples find it, four in a step.
func TestPulseOnAFlatSignal(t *testing.T) {
	const width = 2.51
	for centre := width/2 + 0.01; centre < 10-width/2; centre += 0.0618 {
		pulse := func(t float64) float64 {
			if math.Abs(t-centre) < width/2 {
				return 1
			}
			return -1
		}
		s := start(t, clockwork(pulse), []float64{0}, []float64{0}, oneStep())
		checkLog(t, play(t, s, 10, nil), []happening{{centre - width/2, 0}, {centre + width/2, 0}}, 1e-14)
	}
}

// The rest of a step is cut by an alarm set meanwhile: a crossing after it is found there, in the same step.
func TestRestOfAStepCutByAnAlarm(t *testing.T) {
	crossing := func(at float64) func(float64) float64 { return func(t float64) float64 { return t - at } }
	s := start(t, clockwork(crossing(2), crossing(2.52), crossing(2.58)), []float64{0}, []float64{0}, oneStep())
	log := play(t, s, 10, func(changed []int, _ bool) {
		if slices.Equal(changed, []int{0}) {
			s.Alarm = 2.55
		}
	})
	checkLog(t, log, []happening{{2, 0}, {2.52, 1}, {2.55, -1}, {2.58, 2}}, 1e-15)
	if n := s.Stats().Steps; n != 1 {
		t.Errorf("%d steps, want 1", n)
	}
}

// shifted returns the bounds of a value in r minus a level, or of the negative.
func shifted(r ode.Enclosure, level float64, falls bool) ode.Enclosure {
	if falls {
		return ode.Enclosure{Low: level - r.High, High: level - r.Low, SlopeLow: -r.SlopeHigh, SlopeHigh: -r.SlopeLow}
	}
	return ode.Enclosure{Low: r.Low - level, High: r.High - level, SlopeLow: r.SlopeLow, SlopeHigh: r.SlopeHigh}
}

// compared is a system of two states with thresholds of these and of two functions in common, or with a function for
// each threshold.
func compared(thresholds []Threshold, common bool) *System {
	quantity := func(of int, at float64, y []float64, d *Discrete) float64 {
		return []float64{y[0], y[1], y[0]*y[1] + d.U[0], math.Floor(3*math.Cos(3*at)) + y[0]/2}[of]
	}
	sys := &System{States: []string{"y", "v"}, Inputs: 1, Functions: 2}
	sys.Derivatives = func(at float64, y []float64, d *Discrete, dydt []float64) {
		dydt[0], dydt[1] = y[1]+d.U[0], -y[0]+math.Sin(4*at)
	}
	sys.Zeros = func(at float64, y []float64, d *Discrete, which []int, g []float64) {
		for _, k := range which {
			if common {
				g[k] = quantity(2+k, at, y, d)
				continue
			}
			h := &thresholds[k]
			g[k] = h.sign() * (quantity(h.Of, at, y, d) - h.Level)
		}
	}
	sys.Enclose = func(_, _ float64, y []ode.Enclosure, _ *Discrete, k int) (ode.Enclosure, []int, bool) {
		if common || thresholds[k].Of >= 2 {
			return ode.Enclosure{}, nil, false
		}
		h := &thresholds[k]
		return shifted(y[h.Of], h.Level, h.Falls), []int{h.Of}, true
	}
	for i := range thresholds {
		x := Indicator{Name: "threshold"}
		if common {
			x.Threshold = &thresholds[i]
		}
		sys.Indicators = append(sys.Indicators, x)
	}
	return sys
}

// Many thresholds of few quantities are found as when each is a function of its own: every segment, side and state is
// the same to the last bit, whatever is watched, and whatever reactions change.
func TestQuantitiesInCommonChangeNothing(t *testing.T) {
	systems := short(60, 300)
	events := 0
	for seed := range systems {
		d := dice(7000 + seed)
		number := func(n int) int { return min(int((d.next()+1)/2*float64(n)), n-1) }
		y0, thresholds := []float64{2 * d.next(), 2 * d.next()}, []Threshold{}
		for range 2 + number(60) {
			h := Threshold{Of: number(4), Level: 2 * d.next(), Falls: d.next() > 0}
			switch k := number(6); {
			case k == 0 && h.Of < 2:
				h.Level = y0[h.Of]
			case k == 1 && len(thresholds) > 0:
				h.Of, h.Level = thresholds[0].Of, thresholds[0].Level
			case k == 2:
				h.Level *= 50
			}
			thresholds = append(thresholds, h)
		}
		o := Options{Options: ode.Options{RelTol: 1e-5, Method: ode.Methods()[seed%len(ode.Methods())]}, Chattering: Continue}
		a, b := start(t, compared(thresholds, true), y0, []float64{0}, o), start(t, compared(thresholds, false), y0, []float64{0}, o)
		both := func(f func(s *Simulator)) { f(a); f(b) }
		for a.T < 6 && a.Stats().StateEvents < 100 {
			got, err := a.Advance(6)
			want, other := b.Advance(6)
			if !reflect.DeepEqual(err, other) || !reflect.DeepEqual(got, want) || !slices.Equal(a.Y, b.Y) || !slices.Equal(a.Above, b.Above) {
				t.Fatalf("system %d: %+v, sides %v, %v; want %+v, sides %v, %v", seed, got, a.Above, err, want, b.Above, other)
			}
			for range min(len(got.Events), 3) {
				changed, err := a.Iterate()
				if also, other := b.Iterate(); !slices.Equal(changed, also) || !slices.Equal(a.Above, b.Above) || !reflect.DeepEqual(err, other) {
					t.Fatalf("system %d: %v changed, %v; want %v, %v", seed, changed, err, also, other)
				}
				what, i, w := number(4), number(len(thresholds)), Direction(number(4))
				switch value := d.next(); what {
				case 0:
					both(func(s *Simulator) { s.Set(0, value) })
				case 1:
					both(func(s *Simulator) { s.Y[0] = 2 * value })
				case 2:
					both(func(s *Simulator) { s.Watch(i, w) })
				}
			}
			if len(got.Events) > 0 { // sides that the last reaction has changed
				both(func(s *Simulator) { _, _ = s.Iterate() })
			}
		}
		events += a.Stats().StateEvents
	}
	if t.Logf("%d events", events); events < 20*systems {
		t.Error("too few events to show anything")
	}
}

// A ball whose impacts only reverse its speed is sent back however low it bounces, until it chatters or until a bounce
// takes less than the numbers next to the time.
func TestBallBouncesAsLongAsTimeResolvesIt(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, e := range []float64{0.2, 0.5, 0.7, 0.8, 0.95} {
			ground := Indicator{Name: "h >= 0"}
			if !own {
				ground.Threshold = &Threshold{Of: 0}
			}
			s := start(t, &System{
				States: []string{"h", "w"}, Indicators: []Indicator{ground},
				Derivatives: func(_ float64, y []float64, _ *Discrete, d []float64) { d[0], d[1] = y[1], -2 },
				Zeros:       func(_ float64, y []float64, _ *Discrete, _ []int, g []float64) { g[0] = y[0] },
			}, []float64{1, 0}, nil, Options{Options: ode.Options{RelTol: 1e-6}})
			slowest := math.Inf(1)
			err := fly(s, s, 100, func(Segment) {}, func([]int, bool) {
				if !s.Above[0] {
					s.Y[1] *= -e
					slowest = min(slowest, s.Y[1])
				}
			})
			if chatter := (*ChatterError)(nil); !errors.As(err, &chatter) && slowest > 1e-14 {
				t.Errorf("restitution %g, own function %v: falls through the ground at %g m/s: %v", e, own, slowest, err)
			}
		}
	}
}
