package sim

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// x' = 1/(2-x) leads to x = 2 at t = 2, where the solution ends: beyond, x is pulled back. The run must not crawl
// through it without end.
func TestPoleIsNotCrawledThrough(t *testing.T) {
	for _, horizon := range []float64{5, 1e6} {
		sys := &System{States: []string{"calm", "x"}, AbsTol: []float64{1e-9},
			Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) { dydt[0], dydt[1] = 1, 1/(2-y[1]) }}
		s, err := New(sys, 0, []float64{0, 0}, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; err == nil && n < 300_000 && s.T < horizon; n++ {
			_, err = s.Advance(horizon)
		}
		if !errors.Is(err, ErrCrawl) || !strings.Contains(err.Error(), `"x"`) || math.Abs(s.T-2) > 0.01 {
			t.Errorf("horizon %g: t = %g, error %v", horizon, s.T, err)
		}
	}
}

// Steps that are small from the start on, or that follow fast motion after a long one, are no collapse.
func TestFastMotionIsNoCrawl(t *testing.T) {
	sys := &System{States: []string{"x"}, AbsTol: []float64{1e-9},
		Derivatives: func(t float64, _ []float64, _ *Discrete, dydt []float64) { dydt[0] = math.Cos(1e6 * max(0, t-100)) }}
	s, err := New(sys, 0, []float64{0}, nil, Options{})
	for n := 0; err == nil && n < 250_000; n++ {
		_, err = s.Advance(200)
	}
	if err != nil || s.T < 100 {
		t.Errorf("t = %g, error %v", s.T, err)
	}
}

// A state that overflows stops the simulation before it is infinite.
func TestOverflow(t *testing.T) {
	sys := &System{States: []string{"x"},
		Derivatives: func(_ float64, _ []float64, _ *Discrete, dydt []float64) { dydt[0] = 1e306 }}
	s, err := New(sys, 0, []float64{0}, nil, Options{})
	for err == nil && s.T < 300 {
		_, err = s.Advance(300)
	}
	var bad *NotFiniteError
	if !errors.As(err, &bad) || bad.Name != "x" || s.T > 180 || !finite(s.Y[0]) {
		t.Errorf("t = %g, x = %g, error %v", s.T, s.Y[0], err)
	}
}
