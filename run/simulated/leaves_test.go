package simulated

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/sim"
)

// inert are conditions, by what they compare: none of them ever holds. %d is another number for each.
var inert = map[string]string{"one": "x gt 500 [m]", "each": "x gt 5%05d [m]", "slot": "v gt 5%05d [m/s]"}

// manyLeaves is a mission whose cart turns around 400 times, with n leaves that have nothing to do with it: rules with
// a condition, and an action that never begins.
func manyLeaves(t testing.TB, n int, condition string) *mission.Mission {
	t.Helper()
	var rules strings.Builder
	for i := range (n - 3) / 2 {
		on := condition
		if strings.Contains(on, "%") {
			on = fmt.Sprintf(on, i)
		}
		fmt.Fprintf(&rules, `<ReactiveSequence name="s%d"><Condition name="c%d" on="%s"/><Action name="a%d" write="v := 0"/></ReactiveSequence>`, i, i, on, i)
	}
	m := cartMission(t, `<ReactiveFallback>`+rules.String()+`<ReactiveSequence><Condition ID="far" on="x ge 7 [m]" off="x le 3 [m]"/><Action ID="back" write="v := -1"/></ReactiveSequence>
		<Action ID="forth" write="v := 1"/></ReactiveFallback>`, "", "horizon=1600")
	return m
}

// start begins a run of a mission, and returns its world.
func start(t testing.TB, m *mission.Mission) (*world, *run.Run) {
	t.Helper()
	w, err := newWorld(m, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.New(m, w, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	r.Attach(&log{})
	if _, err := r.Step(); err != nil { // all leaves have their first inputs
		t.Fatal(err)
	}
	return w, r
}

// roundTrips continues a run to its end.
//
//go:noinline
func roundTrips(t testing.TB, r *run.Run) {
	for more := true; more; {
		var err error
		if more, err = r.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// The work of steps and events does not depend on how many leaves the plan has that they do not concern: it is counted.
func TestInertLeavesAreNotLookedAt(t *testing.T) {
	for name, condition := range inert {
		var want sim.Stats
		for _, n := range []int{11, 101, 5001} {
			w, r := start(t, manyLeaves(t, n, condition))
			roundTrips(t, r)
			got := w.sim.Stats()
			if n == 11 {
				want = got
			}
			if got != want || r.Events() < 390 || got.Looks > 10*r.Events() {
				t.Errorf("%s, %d leaves, %d events: %+v, with 11 leaves %+v", name, n, r.Events(), got, want)
			}
		}
	}
}

// BenchmarkLeaves measures an event, with all that follows from it, beside leaves that it does not concern.
func BenchmarkLeaves(b *testing.B) {
	for name, condition := range inert {
		for _, n := range []int{11, 101, 1001, 10001, 20001} {
			b.Run(fmt.Sprintf("%s/leaves=%d", name, n), func(b *testing.B) {
				timeEvents(b, manyLeaves(b, n, condition))
			})
		}
	}
}

// timeEvents reports the time for each event of a mission's flights.
func timeEvents(b *testing.B, m *mission.Mission) {
	b.StopTimer()
	b.ResetTimer()
	events := 0
	for range b.N {
		_, r := start(b, m)
		b.StartTimer()
		roundTrips(b, r)
		b.StopTimer()
		events += r.Events()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
