package simulated

import (
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// lamp is a branch that writes a signal, which nothing reads, every five minutes: at state events or at time events.
var lamp = map[string]string{
	"state": `<ReactiveFallback><ReactiveSequence><Condition name="up" on="sin(2 * pi * t / 600 [s]) gt 0"/>
		<Action name="on" write="lamp := 1"/></ReactiveSequence><Action name="off" write="lamp := 0"/></ReactiveFallback>`,
	"time": `<KeepRunningUntilFailure><Sequence><Action name="on" entry_time="300" done="true" write="lamp := 1"/>
		<Action name="off" entry_time="300" done="true" write="lamp := 0"/></Sequence></KeepRunningUntilFailure>`,
}

// dayWith is the solar day with another branch of its parallel, which may write the signal lamp.
func dayWith(t *testing.T, branch string) *mission.Mission {
	t.Helper()
	return read(t, "solar-day.yaml", edited("l", func(text string) string {
		return strings.NewReplacer("<Action name=\"loiter\"", branch+"<Action name=\"loiter\"",
			"signals:\n  h_hold", "signals:\n  lamp: {unit: \"1\"}\n  h_hold").Replace(text)
	}), shipped, nil)
}

// What an action writes costs the integrator nothing if no derivative depends on it: a day with a branch that switches
// a lamp 288 times takes as many evaluations, and at state events every value of the trajectory is the same number.
func TestActionsWithoutInfluenceCostNothing(t *testing.T) {
	fly := func(branch string) (record.Summary, *run.History) {
		r, history := flyInto(t, dayWith(t, branch), run.Continuous{})
		return r.Summary(), history
	}
	plain, want := fly("")
	s, got := fly(lamp["state"])
	if s.RHSEvaluations != plain.RHSEvaluations || s.Steps != plain.Steps || got.Minus(want).Signal != 0 {
		t.Errorf("%d evaluations, %d steps, without the lamp %d, %d", s.RHSEvaluations, s.Steps, plain.RHSEvaluations,
			plain.Steps)
	}
	s, _ = fly(lamp["time"]) // steps land on time events
	if s.TimeEvents < 280 || float64(s.RHSEvaluations) > 1.05*float64(plain.RHSEvaluations) {
		t.Errorf("%d evaluations, %d time events, without them %d evaluations", s.RHSEvaluations, s.TimeEvents,
			plain.RHSEvaluations)
	}
}

// The derivatives of the cart ignore its gear, and a speed that is written again is the same.
func TestEqualDerivativesAreNoRestart(t *testing.T) {
	steady := `<ReactiveSequence><Action name="go" write="v := 0.5"/></ReactiveSequence>`
	shift := func(a, b string) string {
		return `<ReactiveFallback><ReactiveSequence><Condition name="even" on="sin(t * 1 [1/s]) gt 0"/><Action name="a" write="` +
			a + `"/></ReactiveSequence><Action name="b" write="` + b + `"/></ReactiveFallback>`
	}
	for name, c := range map[string]struct {
		body     string
		restarts int
	}{
		"gear":       {`<ReactiveParallel>` + steady + shift("gear := 2", "gear := 3") + `</ReactiveParallel>`, 1},
		"same speed": {shift("v := 0.5", "v := 1 / 2"), 1},
		"speed":      {shift("v := 0.5", "v := 1"), 33},
	} {
		m := cartMission(t, c.body, "")
		w, r := start(t, m)
		roundTrips(t, r)
		if got := w.sim.Stats().Restarts; got != c.restarts || r.Events() != 32 {
			t.Errorf("%s: %d restarts, want %d; %d events", name, got, c.restarts, r.Events())
		}
	}
}

// An action that toggles a small input of a stiff vehicle costs a few evaluations each time, not a restart of the method:
// beside the same plan whose input is zero.
func TestSmallInputsCostLittle(t *testing.T) {
	cost := func(size string) record.Summary {
		r, _, err := fly(t, equationsMission(t, `
states:
  x: {initial: 2, derivative: "y / 1 [s]"}
  y: {derivative: "(100 * (1 - x^2) * y - x) / 1 [s] + u"}
  T: {unit: K, initial: 300, derivative: "(290 [K] + 10 [K] * sin(t / 1000 [s]) - T) / 50 [s] + 100 [K] * u"}
commands: {u: {unit: 1/s}}
`, `<KeepRunningUntilFailure><Sequence><Action name="on" entry_time="7" done="true" write="u := `+size+` [1/s]"/>
	<Action name="off" entry_time="7" done="true" write="u := 0 [1/s]"/></Sequence></KeepRunningUntilFailure>`,
			"horizon: 5000\nrecord: {interval: 100}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return r.Summary()
	}
	without := cost("0")
	for _, size := range []string{"1e-9", "1e-7", "1e-6"} {
		with := cost(size)
		each := float64(with.RHSEvaluations-without.RHSEvaluations) / float64(with.TimeEvents)
		t.Logf("%s: %.1f evaluations each", size, each)
		if with.TimeEvents != 714 || each > 6 {
			t.Errorf("%s: %.1f evaluations each, %d time events", size, each, with.TimeEvents)
		}
	}
}
