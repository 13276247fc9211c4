package simulated

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
)

// flyInto flies a configuration into a history.
func flyInto(t testing.TB, m *mission.Mission, c run.Configuration) (*run.Run, *run.History) {
	t.Helper()
	r, err := New(m, c, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	history := run.NewHistory(m)
	r.Attach(history.Recorder())
	if err := r.Fly(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return r, history
}

// Recorded inputs give the same trajectory as the tree that they were recorded from, and no state events.
func TestRecordedInputs(t *testing.T) {
	for name, m := range map[string]*mission.Mission{
		"solar day": solarDay(t),
		"procedures": cartMission(t, `<ReactiveFallback>
			<ReactiveSequence><Condition ID="early" on="t lt 20 [s]"/>
				<Action ID="a" entry="v := 0.5" entry_time="4" exit="v := -1" exit_until="x le 0 [m]"/></ReactiveSequence>
			<Action ID="b" write="v := 2; gear := t / 1 [s]"/></ReactiveFallback>`, ""),
	} {
		_, tree := flyInto(t, m, run.Continuous{})
		r, replay := flyInto(t, m, tree.Inputs)
		d := replay.Minus(tree)
		if !d.Same || d.Time != 0 || d.Signal > 2e-4 {
			t.Errorf("%s: the replay differs: %+v in %s", name, d, m.Record[d.Which])
		}
		if s := r.Summary(); s.StateEvents != 0 || s.TimeEvents != len(tree.Inputs)-1 {
			t.Errorf("%s: %d state events, %d time events for %d inputs", name, s.StateEvents, s.TimeEvents, len(tree.Inputs))
		}
	}
}

// A difference is found where there is one.
func TestDifference(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback><ReactiveSequence><Condition ID="far" on="x ge 7 [m]" off="x le 3 [m]"/><Action ID="back" write="v := -1"/></ReactiveSequence>
		<Action ID="forth" write="v := 1"/></ReactiveFallback>`, "")
	_, a := flyInto(t, m, run.Continuous{})
	late := run.Recorded(nil)
	for _, in := range a.Inputs {
		if in.T > 0 {
			in.T += 0.5
		}
		late = append(late, in)
	}
	_, b := flyInto(t, m, late)
	d := b.Minus(a)
	near(t, "time", []float64{d.Time}, 1e-9, 0.5)
	if !d.Same || d.Signal < 0.05 || m.Record[d.Which] == "T" {
		t.Errorf("the difference is %+v in %s", d, m.Record[d.Which])
	}
	_, b = flyInto(t, m, late[:len(late)-1])
	if d := b.Minus(a); d.Same {
		t.Errorf("a missing switch is not the same: %+v", d)
	}
}
