package simulated

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
)

// passing is a mission whose cart turns around four times and passes n conditions on each of its ways, each of which
// starts or ends an action that writes a slot, if write is given.
func passing(t testing.TB, n int, condition, write string) *mission.Mission {
	t.Helper()
	var rest strings.Builder
	for i := range n {
		fmt.Fprintf(&rest, `<ReactiveFallback name="f%d"><Condition name="c%d" on="%s"/><Action name="a%d" %s/></ReactiveFallback>`,
			i, i, fmt.Sprintf(condition, 3+4*(float64(i)+0.5)/float64(n)), i, write)
	}
	m := cartMission(t, `<ReactiveParallel success_count="-1" failure_count="1">
		<ReactiveParallel success_count="-1" failure_count="1">`+rest.String()+`</ReactiveParallel>
		<ReactiveFallback><ReactiveSequence><Condition ID="far" on="x ge 7 [m]" off="x le 3 [m]"/>
		<Action ID="back" write="v := -1"/></ReactiveSequence>
		<Action ID="forth" write="v := 1"/></ReactiveFallback></ReactiveParallel>`, "", "horizon=16")
	return m
}

// An event looks at the conditions next to it, not at all that a state passes in the step: it is counted.
func TestPassedConditionsAreFoundByOrder(t *testing.T) {
	for _, condition := range []string{"x ge %g [m]", "x lt %g [m]"} {
		var looks, samples [2]float64
		for k, n := range []int{100, 2000} {
			w, r := start(t, passing(t, n, condition, `write="gear := 2"`))
			before := w.sim.Stats()
			roundTrips(t, r)
			s, events := w.sim.Stats(), float64(r.Events())
			looks[k], samples[k] = float64(s.Looks-before.Looks)/events, float64(s.Samples-before.Samples)/events
			if want := 3.25*float64(n) + 4; events < want-1 || events > want+1 {
				t.Errorf("%d conditions: %g events, want %g", n, events, want)
			}
		}
		if looks[1] > 1.3*looks[0]+1 || samples[1] > 1.3*samples[0]+1 {
			t.Errorf("%s: looks for each event %v, samples %v", condition, looks, samples)
		}
	}
}

// BenchmarkPassed measures an event beside many conditions that a step passes.
func BenchmarkPassed(b *testing.B) {
	for name, write := range map[string]string{"nothing": "", "gear": `write="gear := 2"`} {
		for _, n := range []int{10, 300, 10000} {
			b.Run(fmt.Sprintf("%s/conditions=%d", name, n), func(b *testing.B) {
				timeEvents(b, passing(b, n, "x ge %g [m]", write))
			})
		}
	}
}

// The texts of conflicts do not grow with the number of tasks that write a slot.
func TestConflictsOfManyWritersAreShort(t *testing.T) {
	_, l := flown(t, passing(t, 100, "x ge %g [m]", `write="gear := 2"`))
	texts := l.kinds("conflict")
	if want := "a0 and a1 and a2 and a3 and 96 others write gear at once; a0 counts"; len(texts) < 100 || texts[0] != want {
		t.Fatalf("%d conflicts, the first is %.200q", len(texts), texts)
	}
	for _, text := range texts {
		if len(text) > 80 {
			t.Error(text)
		}
	}
}
