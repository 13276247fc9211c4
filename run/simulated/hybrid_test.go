package simulated

import (
	"errors"
	"testing"

	"canopy/sim"
)

// Events at one instant are simultaneous: two states exchange their values, and the first event for a state counts.
func TestEventsAreSimultaneous(t *testing.T) {
	m := equationsMission(t, `
states: {x: {initial: 1, derivative: 0}, y: {initial: 2, derivative: 0}, z: {derivative: 0}}
discrete: {on: {type: boolean}, n: {type: integer}}
events:
  - {when: "t ge 5 [s]", then: "x := y; z := 3"}
  - {when: "t ge 5 [s]", then: "y := x; z := 4"}
  - {when: "z ge 3", then: "on := true; n := n + 1"}
  - {when: on, then: "n := 10 * n"}
  - {when: "t ge 0 [s]", then: "n := 100"}
`, idle, "horizon: 10\nrecord: {interval: 1}\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"x": 2, "y": 1, "z": 3, "on": 1, "n": 10} {
		near(t, name, []float64{l.last(m, name)}, 0, want)
	}
	if got := l.column(m, "x"); got[5] != 1 || got[6] != 2 || l.times[5] != 5 || l.times[6] != 5 {
		t.Errorf("both sides of the instant are not recorded: %v at %v", got, l.times)
	}
}

// Steps of floor, mod and sign are events: a clock that strikes for a second each hour is heard however long the
// integrator's steps are.
func TestStepsAreEvents(t *testing.T) {
	m := equationsMission(t, `
states:
  x: {derivative: "if(mod(t, 1 [h]) lt 1 [s], 1, 0) * 1 [1/s]"}
  y: {derivative: "floor(t / 1 [h]) / 1 [h]"}
  z: {derivative: "mod(t, 1 [h]) / 1 [h^2]"}
  s: {derivative: "sign(cos(2 * pi * t / 1 [d])) / 1 [d]"}
  f: {derivative: "floor(3 * sin(2 * pi * t / 1 [d])) / 1 [d]"}
`, idle, "horizon: 86400\nrecord: {interval: 21600}\n")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "x", []float64{l.last(m, "x")}, 1e-9, 24)
	near(t, "y, z", []float64{l.last(m, "y"), l.last(m, "z")}, 1e-7, 23*24/2, 12)
	near(t, "s", []float64{l.last(m, "s")}, 1e-7, 0)
	near(t, "f", []float64{l.last(m, "f")}, 1e-6, -0.5)
}

// A table is linear between its points: the kinks are events, so that the integral along it is exact. Beyond its points
// it keeps its value, or the run stops with the call.
func TestTables(t *testing.T) {
	vehicle := `
states:
  x: {unit: m, derivative: "speed(t)", tolerance: 1e-9}
  y: {unit: m, derivative: "grid(t, x / 10)", tolerance: 1e-9}
tables:
  speed: {unit: km/h, arguments: {time: {unit: min, points: [1, 2, 4]}}, values: [0, 36, 0], outside: clamp}
  grid:
    unit: m/s
    arguments: {time: {unit: s, points: [0, 100, 200]}, place: {unit: m, points: [0, 1000]}}
    values: [[0, 0], [1, 1], [0, 0]]
    outside: error
`
	run := `record: {interval: 10}
tolerance: 1e-9
`
	m := equationsMission(t, vehicle, idle, "horizon: 200\n"+run)
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "x, y", []float64{l.last(m, "x"), l.last(m, "y")}, 1e-6, 300+600-0.5*40*10*40/120, 100)
	if n := r.Summary().StateEvents; n != 3 {
		t.Errorf("%d state events, want 3", n)
	}
	m = equationsMission(t, vehicle, idle, "horizon: 300\n"+run)
	_, l, err = fly(t, m)
	if err == nil {
		t.Fatal("the run goes on beyond the table")
	}
	near(t, "the end", l.times[len(l.times)-1:], 1e-9, 200)
	contains(t, "the error", err.Error(), "grid(t, x / 10) is undefined: 200", "outside of its points, 0 to 200")
}

// Events that set each other off without end stop the run.
func TestEventsWithoutEnd(t *testing.T) {
	m := equationsMission(t, `
states: {x: {derivative: 0}}
discrete: {a: {type: boolean}, b: {type: boolean}}
events:
  - {when: "t ge 5 [s]", then: a := true}
  - {when: a, then: "a := false; b := true"}
  - {when: b, then: "b := false; a := true"}
`, idle, "horizon: 10\nrecord: {interval: 1}\n")
	_, l, err := fly(t, m)
	if !errors.Is(err, sim.ErrEventIteration) {
		t.Fatal(err)
	}
	contains(t, "the error", err.Error(), "t = 5 s", "events of the vehicle")
	near(t, "the end", l.times[len(l.times)-1:], 0, 5)
}
