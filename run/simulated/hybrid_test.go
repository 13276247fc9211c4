package simulated

import (
	"math"
	"testing"
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
	_, l := flown(t, m)
	for name, want := range map[string]float64{"x": 2, "y": 1, "z": 3, "on": 1, "n": 10} {
		near(t, name, []float64{l.last(m, name)}, 0, want)
	}
	if got := l.column(m, "x"); got[5] != 1 || got[6] != 2 || l.times[5] != 5 || l.times[6] != 5 {
		t.Errorf("both sides of the instant are not recorded: %v at %v", got, l.times)
	}
}

// An instant that begins with an event of the vehicle and does not end is recorded from its left side: the command that
// the plan switches on and off there is not seen before.
func TestInstantsThatFailHaveALeftSide(t *testing.T) {
	m := equationsMission(t, `
states: {x: {initial: 0, derivative: "1 [1/s]"}}
discrete: {hot: {type: boolean}}
commands: {u: {min: -1, max: 1}}
events: [{when: x ge 5, then: hot := true}]
`, `<ReactiveFallback><Condition on="u lt 0"/><ReactiveSequence><Condition on="hot gt 0.5"/><Action name="a" write="u := -1"/></ReactiveSequence>
</ReactiveFallback>`, "horizon: 10\nrecord: {interval: 2}\n")
	_, l, err := fly(t, m)
	if err == nil {
		t.Fatal("the plan settles")
	}
	for i, u := range l.column(m, "u") {
		if at := l.times[i]; at < 5-1e-9 && u != 0 {
			t.Errorf("u is %v at %v", u, at)
		}
	}
	if n := len(l.times); n < 4 || math.Abs(l.times[n-1]-5) > 1e-9 || l.column(m, "u")[3] != 0 {
		t.Errorf("u is %v at %v", l.column(m, "u"), l.times)
	}
}
