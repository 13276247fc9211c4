package simulated

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// A step of a command is recorded as two samples of one time, before and after.
func TestBothSidesOfAnEvent(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback><Condition ID="there" on="x ge 5 [m]"/><Action ID="go" write="v := 1"/></ReactiveFallback>`, "")
	_, l := flown(t, m)
	v := l.column(m, "v")
	for i, time := range l.times {
		if i > 0 && time == l.times[i-1] && v[i-1] == 1 && v[i] == 0 {
			near(t, "time of the step", []float64{time}, 1e-6, 5)
			return
		}
	}
	t.Errorf("no step in v: %v at %v", v, l.times)
}

// The recording grid is exact and complete, and nothing but the grid is recorded where nothing happens.
func TestGrid(t *testing.T) {
	m := cartMission(t, `<Action ID="go" write="v := 1"/>`, "")
	_, l := flown(t, m)
	if want := []float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}; !reflect.DeepEqual(l.times, want) {
		t.Errorf("sampled at %v, want %v", l.times, want)
	}
	near(t, "x", l.column(m, "x"), 1e-9, l.times...)
}

// Conditions that the tree's own commands turn at once never settle: the run stops, and names the tasks.
func TestNeverSettles(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback>
		<ReactiveSequence><Condition ID="off" on="v lt 1"/><Action ID="on" write="v := 2" exit="gear := 7"/></ReactiveSequence>
		<Action ID="stop" write="v := 0"/></ReactiveFallback>`, "")
	w, err := newWorld(m, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.New(m, w, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	r.Attach(l)
	_, err = r.Step()
	if !errors.Is(err, executive.ErrUnsettled) {
		t.Fatalf("error %v, want %v", err, executive.ErrUnsettled)
	}
	contains(t, "the error", err.Error(), "off", "on", "stop", "t = 0")
	if r.Summary().Outcome != record.Failed || len(l.kinds("error")) != 1 {
		t.Error("the failure is not in the summary and the log")
	}
	for i, s := range r.Statuses() {
		if !s.Transient() {
			t.Errorf("%s is still %v", m.Plan.Tree.Name(bt.Task(i)), s)
		}
	}
	if got := w.sim.U[m.Program.Held(1)]; got != 7 {
		t.Errorf("the exit procedure was not run: gear = %g", got)
	}
}

// The results do not depend on how much is recorded.
func TestRecordingMore(t *testing.T) {
	body := `<ReactiveFallback><ReactiveSequence><Condition ID="far" on="x ge 7 [m]" off="x le 3 [m]"/><Action ID="back" write="v := -T / 300 [K s/m]"/></ReactiveSequence>
		<Action ID="forth" write="v := 1"/></ReactiveFallback>`
	few := cartMission(t, body, "")
	few.Record = []string{"x"}
	many := cartMission(t, body, "", "tolerance=1e-6")
	many.Interval = 0.1
	_, a, _ := fly(t, few)
	_, b, _ := fly(t, many)
	if !reflect.DeepEqual(a.statuses, b.statuses) || len(a.statuses) < 10 {
		t.Errorf("the status changes differ:\n%v\n%v", a.statuses, b.statuses)
	}
}

// A failure at the start still leaves a sample; a slot that is not finite is named.
func TestFailureAtOnce(t *testing.T) {
	_, l, err := fly(t, cartMission(t, `<Action ID="a" entry_time="-1"/>`, ""))
	if !errors.Is(err, executive.ErrDuration) || len(l.times) != 1 {
		t.Errorf("error %v, %d samples", err, len(l.times))
	}
	_, _, err = fly(t, cartMission(t, `<Action ID="a" write="v := sqrt((5 [s] - t) / 1 [s]) * 1 [m/s]"/>`, ""))
	if err == nil {
		t.Fatal("no error")
	}
	contains(t, "the error", err.Error(), "v is NaN", "t = 5")
}

// A state that leaves the range of the model is written down once each time.
func TestRanges(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback><ReactiveSequence><Condition ID="far" on="x ge 1050 [m]" off="x le 950 [m]"/><Action ID="back" write="v := -50"/></ReactiveSequence>
		<Action ID="forth" write="v := 50"/></ReactiveFallback>`, "")
	_, l := flown(t, m)
	got := l.kinds("range")
	if len(got) < 10 || len(got) > 20 { // 50 m to and fro in 2 s each, sampled at the events
		t.Errorf("%d events: %v", len(got), got)
	}
	contains(t, "the event", got[0], "x = 1", "outside", "1000")
}

// Every method flies the same mission, to the tolerance, and the implicit one its own way.
func TestMethods(t *testing.T) {
	times := map[float64]bool{}
	for _, method := range []string{"multistep", "auto", "implicit", "explicit"} {
		m := cartMission(t, `<ReactiveSequence><Condition ID="cold" on="T le 150 [K]"/><Action name="a"/></ReactiveSequence>`, "",
			"method="+method)
		if m.Method.String() != method {
			t.Errorf("method %v, want %s", m.Method, method)
		}
		_, l := flown(t, m)
		cold := l.at(m, "cold", bt.Success)
		near(t, method, cold, 1e-3, 100*math.Ln2)
		times[cold[0]] = true
	}
	if len(times) < 2 { // this problem is not stiff, so that three of them are
		t.Errorf("the methods are the same: %v", times)
	}
}
