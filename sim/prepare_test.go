package sim

import (
	"fmt"
	"math"
	"testing"
)

// The points that a system is told are those at which its functions are evaluated next, with the same states; and it
// makes no difference that it is told.
func TestPrepare(t *testing.T) {
	run := func(prepare bool) (events []float64, told, met int) {
		waiting := map[string]bool{}
		sys := &System{States: []string{"x", "y"}, Functions: 1,
			Indicators:  []Indicator{{Name: "g", Threshold: &Threshold{Of: 2, Level: 0.5}}},
			Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) { dydt[0], dydt[1] = y[1], -y[0] },
			Zeros: func(t float64, y []float64, _ *Discrete, _ []int, g []float64) {
				g[0] = y[0]
				if point := fmt.Sprint(t, y); waiting[point] {
					delete(waiting, point)
					met++
				}
			}}
		if prepare {
			sys.Prepare = func(times []float64, y [][]float64, _ *Discrete) {
				if len(waiting) > 0 || len(times) > samples {
					t.Errorf("%d points were not asked for, %d are new", len(waiting), len(times))
				}
				for i := range times {
					waiting[fmt.Sprint(times[i], y[i])] = true
				}
				told += len(times)
			}
		}
		s, err := New(sys, 0, []float64{0, 1}, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Watch(0, Either)
		for s.T < 20 {
			segment, err := s.Advance(20)
			if err != nil {
				t.Fatal(err)
			}
			if len(segment.Events) > 0 {
				events = append(events, segment.To)
				if _, err := s.Iterate(); err != nil {
					t.Fatal(err)
				}
			}
		}
		return events, told, met
	}
	plain, _, _ := run(false)
	events, told, met := run(true)
	if told < 20 || met != told || fmt.Sprint(events) != fmt.Sprint(plain) || len(plain) != 7 ||
		math.Abs(plain[0]-math.Pi/6) > 1e-5 {
		t.Errorf("told %d points, of which %d were met; events %v, without %v", told, met, events, plain)
	}
}
