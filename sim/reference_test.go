package sim

import (
	"testing"

	"canopy/ode"
)

// Zero crossings of the Van der Pol oscillator, mu = 1 from (2, 0), and the value at t = 20: recomputed with DOP853 at
// 1e-13 (shared/ode-problems.md).
func TestVanDerPolCrossings(t *testing.T) {
	sys := &System{
		States: []string{"x", "v"}, Indicators: []Indicator{{Name: "x >= 0"}},
		Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) {
			dydt[0], dydt[1] = y[1], (1-y[0]*y[0])*y[1]-y[0]
		},
		Zeros: func(_ float64, y []float64, _ *Discrete, g []float64) { g[0] = y[0] },
	}
	s := start(t, sys, []float64{2, 0}, nil, tight())
	log := play(t, s, 20, nil)
	checkLog(t, log, []happening{
		{2.1616949939, 0}, {5.4931558427, 0}, {8.8247939137, 0}, {12.1564371863, 0}, {15.4880806113, 0},
		{18.8197240409, 0},
	}, 1e-8)
	near(t, "x(20)", s.Y[0], 2.008149762175, 1e-8)
	near(t, "v(20)", s.Y[1], -0.042508875273, 1e-8)
}

// robertson is the chemical reaction of Robertson (1966) with the two roots of the CVODE example cvRoberts_dns.
func robertson() *System {
	return &System{
		States: []string{"y1", "y2", "y3"}, AbsTol: []float64{1e-12, 1e-16, 1e-12},
		Indicators: []Indicator{{Name: "y1 >= 1e-4"}, {Name: "y3 >= 0.01"}},
		Derivatives: func(_ float64, y []float64, _ *Discrete, dydt []float64) {
			dydt[0] = -0.04*y[0] + 1e4*y[1]*y[2]
			dydt[2] = 3e7 * y[1] * y[1]
			dydt[1] = -dydt[0] - dydt[2]
		},
		Zeros: func(_ float64, y []float64, _ *Discrete, g []float64) { g[0], g[1] = y[0]-1e-4, y[2]-0.01 },
	}
}

// The roots, recomputed at tight tolerance: shared/ode-problems.md.
func TestRobertsonRoots(t *testing.T) {
	s := start(t, robertson(), []float64{1, 0, 0}, nil, Options{Options: ode.Options{RelTol: 1e-8}})
	log := play(t, s, 4e8, nil)
	if len(log) != 2 || log[0].Indicator != 1 || log[1].Indicator != 0 {
		t.Fatalf("events %v", log)
	}
	near(t, "y3 = 0.01", log[0].T, 0.264019078187, 1e-8)
	near(t, "y1 = 1e-4", log[1].T, 2.0795496883e7, 2.0795496883e7*1e-6)
}
