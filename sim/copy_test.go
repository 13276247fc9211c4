package sim

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/snapshot"
)

// trace runs s to until and returns all that it does, bit for bit.
func trace(t *testing.T, s *Simulator, until float64) (log []float64) {
	t.Helper()
	y := make([]float64, len(s.Y))
	err := fly(s, s, until, func(seg Segment) {
		s.Interpolate((seg.From+seg.To)/2, y)
		log = append(append(append(log, seg.From, seg.To, float64(len(seg.Events))), s.Y...), y...)
		if seg.Chatter != nil {
			log = append(log, math.Pi)
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// copyOf returns a new simulator that is restored to the state of another one.
func copyOf(t *testing.T, s *Simulator) *Simulator {
	t.Helper()
	c := newSimulator(s.sys, s.levels, s.options)
	if err := snapshot.Load(snapshot.Save(nil, s), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// A copy taken anywhere, also in the middle of a step, continues bit for bit like the original, and neither disturbs
// the other.
func TestCopyGoesOnAlike(t *testing.T) {
	chattering := Options{Chattering: Continue, Options: ode.Options{MaxStep: 0.1}}
	relay, slide, oscillator := relay(3), relaxed(), oscillator()
	for name, begin := range map[string]func() *Simulator{
		"relay": func() *Simulator { return start(t, relay, []float64{1, 0}, nil, Options{}) },
		"slide": func() *Simulator { return start(t, slide, []float64{0.2, 0}, nil, chattering) },
		"plain": func() *Simulator { return start(t, oscillator, []float64{1, 0}, nil, tight()) },
	} {
		for _, calls := range []int{0, 1, 2, 3, 5, 20, 60} {
			s := begin()
			var seg Segment
			for range calls {
				var err error
				if seg, err = s.Advance(1.2); err != nil {
					t.Fatal(err)
				}
				if _, err = s.Iterate(); err != nil {
					t.Fatal(err)
				}
			}
			c := copyOf(t, s)
			if !bytes.Equal(snapshot.Save(nil, c), snapshot.Save(nil, s)) {
				t.Fatalf("%s: not restored after %d calls", name, calls)
			}
			y1, y2 := append([]float64(nil), s.Y...), append([]float64(nil), s.Y...)
			s.Interpolate((seg.From+seg.To)/2, y1)
			c.Interpolate((seg.From+seg.To)/2, y2)
			first := trace(t, s, 1.5)
			second := trace(t, c, 1.5)
			if !reflect.DeepEqual(first, second) || !reflect.DeepEqual(y1, y2) {
				t.Errorf("%s: the copies after %d calls go on differently", name, calls)
			}
			if s.Stats() != c.Stats() {
				t.Errorf("%s: other work: %+v, %+v", name, s.Stats(), c.Stats())
			}
		}
	}
}

// A restart that the owner requests discards the rest of the step and changes nothing else: a tick that restarts moves
// the results within the tolerance, and is copied with the rest.
func TestRestartOnRequest(t *testing.T) {
	crossings := func(restart bool) (times []float64, s *Simulator) {
		zero := func(_, y, _ float64) float64 { return y - 0.5 }
		s = start(t, oscillator(zero), []float64{1, 0}, nil, tight())
		y := make([]float64, 2)
		for s.T < 20 {
			s.Alarm = math.Floor(s.T) + 1
			for _, e := range play(t, s, s.Alarm, nil) {
				if e.Indicator >= 0 {
					times = append(times, e.T)
				}
			}
			if s.Interpolate(s.T, y); !reflect.DeepEqual(y, s.Y) {
				t.Fatalf("the states at %v are %v, on the dense output %v", s.T, s.Y, y)
			}
			if restart {
				s.Restart()
				s = copyOf(t, s)
			}
		}
		return times, s
	}
	want, plain := crossings(false)
	got, restarted := crossings(true)
	if len(got) != len(want) || len(got) != 7 {
		t.Fatalf("%d crossings with restarts, %d without, want 7", len(got), len(want))
	}
	for i := range got {
		near(t, "crossing", got[i], want[i], 1e-8)
	}
	if a, b := plain.Stats().Restarts, restarted.Stats().Restarts; a != 0 || b != 19 {
		t.Errorf("%d and %d restarts, want 0 and 19", a, b)
	}
}

// Neither steps nor events allocate.
func TestAllocatesNothing(t *testing.T) {
	s := start(t, relay(4), []float64{1, 0}, nil, Options{Chattering: Continue})
	advance := func() {
		seg, err := s.Advance(math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		if len(seg.Events) > 0 {
			for {
				changed, err := s.Iterate()
				if err != nil {
					t.Fatal(err)
				}
				if len(changed) == 0 {
					break
				}
			}
		}
	}
	for range 200 {
		advance()
	}
	events := s.Stats().StateEvents
	if n := testing.AllocsPerRun(2000, advance); n != 0 {
		t.Errorf("%v allocations per segment", n)
	}
	if s.Stats().StateEvents-events < 500 {
		t.Error("too few events to show anything")
	}
}
