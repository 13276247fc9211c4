package simulated

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
)

// gated are conditions behind a guard, by what they compare: the cart passes all of them on each of its ways. %g is
// another number from 3 to 7 for each.
var gated = map[string]string{
	"state":    "x gt %g [m]",
	"falling":  "x lt %g [m]",
	"output":   "nearly gt %g [m]",
	"function": "x * nearly gt 5 [m] * %g [m]",
}

// behindGuard is a mission whose cart turns around 400 times, with n conditions behind a guard that is false.
func behindGuard(t testing.TB, n int, condition string) *mission.Mission {
	t.Helper()
	var rest strings.Builder
	for i := range n {
		fmt.Fprintf(&rest, `<Condition name="c%d" on="%s"/>`, i, fmt.Sprintf(condition, 3+4*(float64(i)+0.5)/float64(n)))
	}
	m := cartMission(t, `<ReactiveFallback><ReactiveSequence><Condition ID="guard" on="t lt 0 [s]"/>
		<ReactiveParallel success_count="1" failure_count="-1">`+rest.String()+`</ReactiveParallel></ReactiveSequence>
		<ReactiveSequence><Condition ID="far" on="x ge 7 [m]" off="x le 3 [m]"/><Action ID="back" write="v := -1"/></ReactiveSequence>
		<Action ID="forth" write="v := 1"/></ReactiveFallback>`, "", "horizon=1600")
	return m
}

// Conditions behind a false guard make neither events nor rows, and no work: it is counted.
func TestGatedConditionsCostNothing(t *testing.T) {
	for name, condition := range gated {
		var want [5]int
		for _, n := range []int{10, 3000} {
			w, r := start(t, behindGuard(t, n, condition))
			before := w.sim.Stats()
			roundTrips(t, r)
			s := w.sim.Stats()
			got := [5]int{s.Evaluations - before.Evaluations, s.Values - before.Values, s.Looks - before.Looks, r.Events(),
				r.Summary().StatusChanges}
			if n == 10 {
				want = got
			}
			if got != want || r.Events() > 400 || s.Looks-before.Looks > 6*r.Events() {
				t.Errorf("%s, %d conditions: evaluations, values, looks, events, rows %v, with 10 conditions %v", name, n, got,
					want)
			}
		}
	}
}

// BenchmarkGated measures a flight of 400 events beside conditions behind a false guard, in comparison with one beside
// ten of them.
func BenchmarkGated(b *testing.B) {
	for name, condition := range gated {
		for _, n := range []int{10, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/conditions=%d", name, n), func(b *testing.B) {
				timeEvents(b, behindGuard(b, n, condition))
			})
		}
	}
}

// opening is a plan whose guard holds from 3.5 s to 6.5 s, while the cart passes limits behind it at 1 to 9 m.
const opening = `<ReactiveParallel><ReactiveFallback><ReactiveSequence><Condition ID="guard" on="abs(t - 5 [s]) lt 1.5 [s]"/>
	<Condition ID="c1" on="x ge 1 [m]"/><Condition ID="c3" on="nearly ge 3 [m]"/><Condition ID="c5" on="x * nearly ge 25 [m^2]"/>
	<Action ID="a" write="gear := 2" entry="gear := if(x gt 4 [m], 7, 3)"/></ReactiveSequence>
	<Condition ID="c2" on="x ge 2 [m]"/><Action ID="b" write="gear := 1"/></ReactiveFallback><Action ID="go" write="v := 1"/></ReactiveParallel>`

// When a guard opens, what is behind it is judged from the signals there, up to what can change something; a change
// from then on is an event at its exact time.
func TestGuardOpens(t *testing.T) {
	m := cartMission(t, opening, "", "tolerance=1e-10", "horizon=10")
	r, l := flown(t, m)
	for task, want := range map[string][]float64{"c1": {3.5}, "c3": {3.5}, "c5": {5}, "guard": {3.5}, "c2": {2}} {
		near(t, task, l.at(m, task, bt.Success), 1e-8, want...)
	}
	near(t, "c5", l.at(m, "c5", bt.Failure), 1e-8)
	for _, task := range r.Header().Tasks { // the guard is always heard
		if rests := strings.HasPrefix(task.Name, "c"); task.Rests != rests {
			t.Errorf("%s rests: %v", task.Name, task.Rests)
		}
	}
	near(t, "a", l.at(m, "a", bt.Running), 1e-8, 5)
	if r.Summary().StateEvents != 5 { // 2, 3.5, 5, 5 and 6.5 s: the kink of abs is one
		t.Errorf("%d events, want 5", r.Summary().StateEvents)
	}
}

// What the mission asserts is watched, heard or not: a condition that an assertion names, and relations of signals that
// it reads.
func TestAssertionsAreAttended(t *testing.T) {
	for text, want := range map[string]map[string]int{
		"":                         {"c1": 1, "c3": 1, "c5": 1}, // when they are heard
		"never both(c5, b)":        {"c1": 1, "c3": 1, "c5": 3},
		"always (x lt 50 [m])":     {"c1": 2, "c3": 1, "c5": 1},
		"always (nearly lt 1 [m])": {"c1": 1, "c3": 2, "c5": 1},
	} {
		yaml := ""
		if text != "" {
			yaml = "check: {properties: ['" + text + "']}\n"
		}
		m := cartMission(t, strings.Replace(opening, "v := 1", "v := if(t lt 9 [s], 1, -2)", 1), yaml, "horizon=20")
		_, l := flown(t, m)
		for task, n := range want {
			if got := len(l.at(m, task, bt.Success)) + len(l.at(m, task, bt.Failure)); got != n {
				t.Errorf("%q: %s changes %d times, want %d", text, task, got, n)
			}
		}
	}
}
