package simulated

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"canopy/bt"
	"canopy/executive"
	"canopy/internal/cart"
	"canopy/run"
	"canopy/run/record"
	"canopy/sim"
)

// A condition with hysteresis becomes true by one threshold and false by another: the cart goes to and fro between 3
// m and 7 m at 1 m/s, from 0 m.
func TestHysteresis(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback>
		<ReactiveSequence><Condition ID="far" on="x ge 7 [m]" off="x le 3 [m]"/><Action ID="back" write="v := -1"/></ReactiveSequence>
		<Action ID="forth" write="v := 1"/></ReactiveFallback>`, "", "horizon=16", "tolerance=1e-9")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "far true", l.at(m, "far", bt.Success), 1e-8, 7, 15)
	near(t, "far false", l.at(m, "far", bt.Failure), 1e-8, 11)
	near(t, "x at the end", []float64{l.last(m, "x")}, 1e-8, 6)
	if n := len(l.kinds("state")); n != 3 {
		t.Errorf("%d state events, want 3: the threshold that does not matter must not be one", n)
	}
}

// A step of a command is recorded as two samples of one time, before and after.
func TestBothSidesOfAnEvent(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback><Condition ID="there" on="x ge 5 [m]"/><Action ID="go" write="v := 1"/></ReactiveFallback>`, "")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
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
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}; !reflect.DeepEqual(l.times, want) {
		t.Errorf("sampled at %v, want %v", l.times, want)
	}
	near(t, "x", l.column(m, "x"), 1e-9, l.times...)
}

// Procedures that take a time end exactly then; those that wait for a condition end when it holds. Entry assignments
// hold from the start of the entry procedure to that of the exit procedure, exit assignments during the exit
// procedure.
func TestProcedures(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback>
		<ReactiveSequence><Condition ID="early" on="t lt 20 [s]"/>
			<Action ID="a" entry="v := 0.5" entry_time="4" exit="v := -1" exit_until="x le 0 [m]"/></ReactiveSequence>
		<Action ID="b" write="v := 2" entry_time="0"/></ReactiveFallback>`, "", "tolerance=1e-10", "horizon=40")
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.at(m, "a", bt.Running); len(got) != 1 || got[0] != 4 {
		t.Errorf("a is Running at %v, want exactly 4", got)
	}
	near(t, "a is left", l.at(m, "a", bt.Deactivating), 1e-9, 20)
	near(t, "b starts", l.at(m, "b", bt.Running), 1e-8, 30) // 10 m forth at 0.5 m/s, back at 1 m/s
	near(t, "x at the end", []float64{l.last(m, "x")}, 1e-7, 20)
	if s := r.Summary(); s.TimeEvents != 1 || s.StateEvents != 2 {
		t.Errorf("%d time and %d state events, want 1 and 2", s.TimeEvents, s.StateEvents)
	}
}

// A slot returns to its default when its writer ends, or keeps the last value if it holds.
func TestDefaultAndHold(t *testing.T) {
	m := cartMission(t, `<ReactiveSequence><Condition ID="early" on="t lt 20 [s]"/><Action ID="a" write="v := 3; gear := 1 + t / 10 [s]"/></ReactiveSequence>`, "", "tolerance=1e-9")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "v, gear", []float64{l.last(m, "v"), l.last(m, "gear")}, 1e-8, 0, 3)
}

// Two active writers of one slot: the first in the tree wins, and the log has an event.
func TestConflict(t *testing.T) {
	m, diags := cart.Read(`<ReactiveParallel><Action ID="a" write="v := 1"/><Action ID="b" write="v := 2"/></ReactiveParallel>`, "")
	if m == nil || len(diags) != 1 {
		t.Fatalf("want one warning: %v", diags)
	}
	contains(t, "the warning", diags.Error(), "warning", "v")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "x", []float64{l.last(m, "x")}, 1e-6, 100)
	if got, want := l.kinds("conflict"), []string{"a and b write v at once; a counts"}; !reflect.DeepEqual(got, want) {
		t.Errorf("conflicts %q, want %q", got, want)
	}
}

// An action ends by its outcome, failure before success; its request shows that it is already done or impossible.
func TestOutcomeAndRequest(t *testing.T) {
	m := cartMission(t, `<Sequence>
		<Action ID="skip" write="v := 100" _successIf="x ge 0 [m]"/>
		<Fallback><Action ID="never" write="v := -100" _failureIf="T gt 0 [K]" _successIf="true"/>
			<Action ID="fail" write="v := 1" done="x ge 5 [m]" failed="x ge 5 [m]"/>
			<Action ID="do" write="v := 2" done="x ge 9 [m]" exit_time="2"/></Fallback></Sequence>`, "ends_with_plan: true\n", "tolerance=1e-9")
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "fail", l.at(m, "fail", bt.Aborted), 1e-8, 5)
	near(t, "do", l.at(m, "do", bt.Finished), 1e-8, 7)
	near(t, "do is over", l.at(m, "do", bt.Accept), 1e-8, 9)
	if n := l.at(m, "never", bt.Activating); n != nil {
		t.Errorf("never was activated at %v", n)
	}
	s := r.Summary()
	near(t, "ended", []float64{s.Ended}, 1e-8, 9)
	contains(t, "the reason", s.Reason, "plan ended", "Finished")
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

// A NaN at noon stops the run there; what was recorded before is kept.
func TestNotFinite(t *testing.T) {
	m := cartMission(t, `<Action ID="go" write="v := 1"/>`, "environment: {noon: 55}\n")
	r, l, err := fly(t, m)
	var bad *sim.NotFiniteError
	if !errors.As(err, &bad) || bad.Name != "T" || math.Abs(bad.T-55) > 1 {
		t.Fatalf("error %v, want a NotFiniteError of T at 55 s", err)
	}
	if n := len(l.times); n < 6 || l.times[5] != 50 {
		t.Errorf("samples at %v, want those up to 50 s", l.times)
	}
	contains(t, "the reason", r.Summary().Reason, "T", "55")
}

// A computed signal serves conditions, controllers in tasks and the record; a controller may switch inside.
func TestController(t *testing.T) {
	m := cartMission(t, `<Action ID="go" write="v := if(gap gt 5 [m], 1, 0.2 [1/s] * gap)"/>`,
		"signals: {gap: {unit: m, value: '10 [m] - nearly'}}\n", "tolerance=1e-9", "horizon=15")
	r, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "gap", []float64{l.last(m, "gap")}, 1e-7, 5*math.Exp(-0.2*10))
	if s := r.Summary(); s.StateEvents != 1 {
		t.Errorf("%d state events, want 1: the switch of the controller", s.StateEvents)
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

// Two runs of one mission do not share anything that changes.
func TestRepeatable(t *testing.T) {
	m := cartMission(t, `<ReactiveFallback><Condition ID="there" on="x ge 5 [m]"/><Action ID="go" write="v := 1"/></ReactiveFallback>`, "")
	_, a, _ := fly(t, m)
	_, b, _ := fly(t, m)
	if !reflect.DeepEqual(a, b) {
		t.Error("the second run differs from the first")
	}
}

// An action that captures and writes one slot is not in conflict with itself; another pair of writers is another
// conflict.
func TestWritersOfOneSlot(t *testing.T) {
	during := func(name, on, v string) string {
		return `<ReactiveFallback name="f` + name + `"><ReactiveSequence name="s` + name + `"><Condition ID="c` + name + `" on="` + on +
			`"/><Action ID="` + name + `" entry="v := 9" write="v := ` + v + `"/></ReactiveSequence><Action name="idle` + name + `"/></ReactiveFallback>`
	}
	m := cartMission(t, `<ReactiveParallel>`+during("a", "t lt 20 [s]", "1")+`<Action ID="b" write="v := 2"/>`+
		during("c", "t ge 20 [s]", "3")+`</ReactiveParallel>`, "", "horizon=40", "tolerance=1e-9")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a and b write v at once; a counts", "b and c write v at once; b counts"}
	if got := l.kinds("conflict"); !reflect.DeepEqual(got, want) {
		t.Errorf("conflicts %q, want %q", got, want)
	}
	near(t, "x", []float64{l.last(m, "x")}, 1e-7, 20+40)
}

// A value that an entry procedure captures is written while the action is active: the first in the tree wins, the log
// shows of a conflict, and a slot that does not hold returns to its default.
func TestCaptured(t *testing.T) {
	m := cartMission(t, `<ReactiveParallel success_count="1" failure_count="2">
		<ReactiveSequence><Condition ID="early" on="t lt 20 [s]"/><Action ID="a" entry="gear := gear + 1; v := gear / 4 * 1 [m/s]"/></ReactiveSequence>
		<Action ID="b" entry="v := 2"/></ReactiveParallel>`, "", "horizon=40", "tolerance=1e-9")
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.kinds("conflict"), []string{"a and b write v at once; a counts"}; !reflect.DeepEqual(got, want) {
		t.Errorf("conflicts %q, want %q", got, want)
	}
	near(t, "x, gear", []float64{l.last(m, "x"), l.last(m, "gear")}, 1e-7, 20*0.5+20*2, 2)
}

// The assignments of exit procedures that take time last until they are over; the first in the tree has priority.
func TestExitsAtOnce(t *testing.T) {
	for _, c := range []struct {
		a, b string
		x    float64
	}{
		{"4", "10", 4*1 + 6*2},
		{"10", "4", 10 * 1},
	} {
		m := cartMission(t, `<ReactiveFallback>
			<ReactiveSequence><Condition ID="early" on="t lt 20 [s]"/><ReactiveParallel>
				<Action ID="a" exit="v := 1; gear := 3" exit_time="`+c.a+`"/><Action ID="b" exit="v := 2; gear := 4" exit_time="`+c.b+`"/>
			</ReactiveParallel></ReactiveSequence>
			<Action name="c"/></ReactiveFallback>`, "", "horizon=40", "tolerance=1e-9")
		_, l, err := fly(t, m)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "x", []float64{l.last(m, "x")}, 1e-7, c.x)
		last := 4.0 // the value that a slot keeps is that of the procedure that ends last
		if c.a == "10" {
			last = 3
		}
		near(t, "gear", []float64{l.last(m, "gear")}, 0, last)
		want := []string{"a and b write v at once; a counts", "a and b write gear at once; a counts"}
		if got := l.kinds("conflict"); !reflect.DeepEqual(got, want) {
			t.Errorf("conflicts %q, want %q", got, want)
		}
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
	_, l, err := fly(t, m)
	if err != nil {
		t.Fatal(err)
	}
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
		_, l, err := fly(t, m)
		if err != nil {
			t.Fatal(err)
		}
		cold := l.at(m, "cold", bt.Success)
		near(t, method, cold, 1e-3, 100*math.Ln2)
		times[cold[0]] = true
	}
	if len(times) < 2 { // this problem is not stiff, so that three of them are
		t.Errorf("the methods are the same: %v", times)
	}
}
