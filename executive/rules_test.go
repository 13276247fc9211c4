package executive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/internal/oracle"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// story is a recorder that keeps, instant by instant, which actions run, end and leave if their names are in small
// letters, the events, and the slots that change.
type story struct {
	record.Nothing
	strings.Builder
	header record.Header
	last   []float64
	t      float64
}

func (s *story) add(t float64, format string, args ...any) {
	switch {
	case s.Len() == 0 || t != s.t:
		fmt.Fprintf(s, "\n%g: ", t)
	default:
		s.WriteString("; ")
	}
	s.t = t
	fmt.Fprintf(s, format, args...)
}

func (s *story) Status(t float64, _ int, c bt.Change) error {
	task := s.header.Tasks[c.Task]
	if task.Kind == "Action" && task.Name >= "a" && (c.To == bt.Running || c.To == bt.Deactivating || c.To.Ended()) {
		s.add(t, "%s %v", task.Name, c.To)
	}
	return nil
}

func (s *story) Event(e record.Event) error {
	if e.Kind != record.KindTolerance && e.Kind != "time" { // x should not move
		s.add(e.T, "%s", e.Text)
	}
	return nil
}

func (s *story) Sample(t float64, values []float64) error {
	for i, x := range s.header.Signals {
		if x.Name != "x" && x.Name != "y" && (s.last == nil || fmt.Sprint(s.last[i]) != fmt.Sprint(values[i])) {
			s.add(t, "%s = %g", x.Name, values[i])
		}
	}
	s.last = append(s.last[:0], values...)
	return nil
}

// play executes a plan along a path of the signals x and y, which jump there, and returns what happens. v and w are
// slots; w keeps what is written.
func play(t *testing.T, body, yaml string, path ...oracle.Point) string {
	t.Helper()
	end := path[len(path)-1].T
	f := cart.Files{"m.yaml": fmt.Sprintf("plan: p.xml\nvehicle: v.yaml\nhorizon: %g\nrecord: {interval: %g}\nsignals:\n"+
		"  w: {default: 1, hold: true}\n%s", end, end, yaml), "p.xml": cart.Plan(body),
		"v.yaml": "states: {x: {derivative: '0 [1/s]'}, y: {derivative: '0 [1/s]'}}\ncommands: {v: {}}\n"}
	m, diags := mission.Read("m.yaml", f.Open, nil, nil)
	if m == nil {
		t.Fatal(diags)
	}
	r, err := run.New(m, oracle.NewWorld(m, path), run.Continuous{}, end)
	if err != nil {
		t.Fatal(err)
	}
	l := &story{header: r.Header()}
	r.Attach(l)
	for more := true; more && err == nil; {
		more, err = r.Step()
	}
	return l.String()
}

// at returns a path on which x has values at each second, and y is 0.
func at(x ...float64) (path []oracle.Point) {
	for i, x := range x {
		path = append(path, oracle.Point{T: float64(i), X: x})
	}
	return path
}

// while is an action that is active while a condition holds, beside another one.
func while(name, on, does string) string {
	return fmt.Sprintf(`<ReactiveFallback name="f%s"><ReactiveSequence name="s%s"><Condition name="c%s" on="%s"/>`+
		`<Action name="%s" %s/></ReactiveSequence><Action name="no_%s"/></ReactiveFallback>`, name, name, name, on, name, does, name)
}

// exits is two actions with procedures that take times.
func exits(a, b string) string {
	return `<ReactiveSequence><Condition name="early" on="x lt 1"/><ReactiveParallel>` +
		`<Action name="a" exit="v := 1; w := 3" exit_time="` + a + `"/>` +
		`<Action name="b" exit="v := 2; w := 4" exit_time="` + b + `"/></ReactiveParallel></ReactiveSequence>`
}

// rules are what an execution does at its instants, each with a plan, the path of x, and what happens.
var rules = []struct {
	rule, body, yaml string
	path             []oracle.Point
	want             string
}{
	{"one threshold of a condition with hysteresis is watched at a time",
		`<ReactiveFallback><Condition name="far" on="x ge 7" off="x le 3"/><Action name="go"/></ReactiveFallback>`, "",
		at(0, 7, 5, 8, 2, 6, 2, 9), `
0: go Running; v = 0; w = 1
1: x >= 7 becomes true; go Deactivating
4: x <= 3 becomes true; go Running
7: x >= 7 becomes true; go Deactivating`},
	{"the first active writer counts; another pair of writers is another conflict; none is one with itself",
		`<ReactiveParallel>` + while("a", "x lt 1", `entry="v := 9" write="v := 1"`) + `<Action name="b" write="v := 2"/>` +
			while("c", "x ge 1", `entry="v := 9" write="v := 3"`) + `</ReactiveParallel>`, "", at(0, 1, 1), `
0: a Running; b Running; no_c Running; a and b write v at once; a counts; v = 1; w = 1
1: x < 1 becomes false; a Deactivating; no_c Deactivating; no_a Running; c Running; b and c write v at once; b counts; v = 2`},
	{"a captured value is written while the action is active; what holds keeps it",
		`<ReactiveParallel>` + while("a", "x lt 1", `entry="w := w + 1; v := w / 4"`) + `<Action name="b" entry="v := 2"/>` +
			`</ReactiveParallel>`, "", at(0, 1, 1), `
0: a Running; b Running; a and b write v at once; a counts; v = 0.5; w = 2
1: x < 1 becomes false; a Deactivating; no_a Running; v = 2`},
	{"values of exit procedures last as long as these; what holds keeps that of the last one",
		exits("2", "4"), "", at(0, 1, 1, 1, 1, 1, 1), `
0: a Running; b Running; v = 0; w = 1
1: x < 1 becomes false; a Deactivating; b Deactivating; a and b write v at once; a counts; a and b write w at once; a counts; v = 1; w = 3
3: v = 2; w = 4
5: v = 0`},
	{"the same in the other order",
		exits("4", "2"), "", at(0, 1, 1, 1, 1, 1, 1), `
0: a Running; b Running; v = 0; w = 1
1: x < 1 becomes false; a Deactivating; b Deactivating; a and b write v at once; a counts; a and b write w at once; a counts; v = 1; w = 3
5: v = 0`},
	{"procedures take their time, or wait for their condition",
		`<ReactiveFallback><ReactiveSequence><Condition name="early" on="x lt 1"/><Action name="a" entry="v := 5" entry_time="1.5" exit="v := -1"
			exit_until="x ge 2"/></ReactiveSequence><Action name="b" write="v := 2" entry_time="0"/></ReactiveFallback>`, "",
		at(0, 0, 0, 1, 1, 2, 2), `
0: v = 5; w = 1
1.5: a Running
3: x < 1 becomes false; a Deactivating; v = -1
5: x >= 2 becomes true; b Running; v = 2`},
	{"a request precedes the action, failure before success; an outcome ends it, failure before success",
		`<Sequence><Action name="skip" write="v := 7" _successIf="x ge 0"/><Fallback>
			<Action name="never" write="v := 8" _failureIf="y ge 0" _successIf="true"/>
			<Action name="fail" write="v := 1" done="x ge 1" failed="x ge 1"/>
			<Action name="do" write="v := 2" done="x ge 2" exit_time="1"/></Fallback></Sequence>`, "", at(0, 1, 2, 2, 2), `
0: fail Running; v = 1; w = 1
1: x >= 1 becomes true; fail Aborted; fail Deactivating; do Running; v = 2
2: x >= 2 becomes true; do Finished; do Deactivating; v = 0`},
	{"what reads a slot is judged again in the same instant",
		`<ReactiveParallel><Action name="guard" write="armed := x ge 1 and x lt 3"/><ReactiveFallback>
			<ReactiveSequence><Condition name="first" on="mode == one"/><Condition name="near" on="x lt 2"/>
			<Action name="far" entry="legs := legs + 1" exit="note := 'there'; mode := if(armed, two, three)"/></ReactiveSequence>
			<ReactiveSequence><Condition name="counted" on="legs == 1 and mode != three and note == 'there'"/><Condition name="hot" on="armed"/>
			<Action name="back" write="v := -1"/></ReactiveSequence><Action name="wait" write="w := 2 * legs + 5"/></ReactiveFallback>
			</ReactiveParallel>`,
		"  mode: {type: enumeration, values: [one, two, three], hold: true}\n  armed: {type: boolean}\n" +
			"  legs: {type: integer, hold: true}\n  note: {type: text, default: idle, hold: true}\n", at(0, 1, 2, 3, 3), `
0: guard Running; far Running; v = 0; w = 1; mode = 0; armed = 0; legs = 1; note = 0
1: x >= 1 becomes true; armed = 1
2: x < 2 becomes false; far Deactivating; wait Running; wait Deactivating; back Running; v = -1; w = 7; mode = 1; note = 1
3: x < 3 becomes false; back Deactivating; wait Running; v = 0; armed = 0`},
	{"an exit procedure that ends while leaves are visited: readers of its slots are visited next",
		`<ReactiveFallback><Action name="go" write="v := 1; w := 2" done="x ge 1" exit_until="x ge 1"/>
			<Condition name="slow" on="v lt 0.5"/><Action name="late" write="v := w"/></ReactiveFallback>`, "", at(0, 1, 1), `
0: go Running; v = 1; w = 2
1: x >= 1 becomes true; go Finished; go Deactivating; v = 0`},
	{"an action that writes an entry without a value", `<Sequence><Script code="u := 1"/><UnsetBlackboard key="u"/>
			<Action name="a" write="v := u"/></Sequence>`, "", at(0, 0), `
0: a Running; an entry that is not written: a reads u, to which nothing has been written, at t = 0 s; v is NaN at t = 0 s; a Deactivating`},
	{"an action that ends by one", `<Sequence><Script code="u := 1"/><UnsetBlackboard key="u"/>
			<Action name="a" write="v := 1" failed="x gt u"/></Sequence>`, "", at(0, 0), `
0: a Running; v = 1; w = 1; u = NaN; an entry that is not written: a reads u, to which nothing has been written, at t = 0 s; a Deactivating`},
	{"what a task that has ended reads for a later run, at the end of the instant",
		`<Sequence><Script code="n := 1; k := 2"/><ReactiveSequence><Inverter _failureIf="n &gt; k"><ForceFailure><UnsetBlackboard key="k"/></ForceFailure></Inverter>
			<Sleep msec="1"/></ReactiveSequence></Sequence>`, "", at(0, 0), `
0: v = 0; w = 1; n = 1; k = NaN; an entry that is not written: Inverter._failureIf.if reads k, to which nothing has been written, at t = 0 s`},
	{"a duration that is negative", `<Action name="a" entry_time="-1"/>`, "", at(0, 0), `
0: v = 0; w = 1; impossible duration: the procedure of a would take -1 s at t = 0.000 s; a Deactivating`},
	{"an instant of many settlings", `<Sequence><Script code="n := 0"/><Repeat num_cycles="5000"><Script code="n := n + 1"/>
			</Repeat></Sequence>`, "", at(0, 0), `
0: v = 0; w = 1; n = 5000`},
	{"what a script writes does not take its result away: what comes before it reads the new value when the rest is done",
		`<Sequence><Script code="k := 1"/><Fallback><ReactiveSequence><ScriptCondition code="k == 1"/><Action name="work" done="x ge 1"/>
			<Script code="k := 0"/></ReactiveSequence><Action name="other"/></Fallback></Sequence>`, "", at(0, 0, 1), `
0: work Running; v = 0; w = 1; k = 1
2: x >= 1 becomes true; work Finished; work Deactivating; k = 0`},
	{"what comes after it reads it at once", `<Sequence><Script code="k := 1"/><ReactiveFallback><ScriptCondition code="k == 2"/><Sequence>
			<Script code="k := 2"/><ScriptCondition code="k == 2"/><Action name="a"/></Sequence></ReactiveFallback></Sequence>`, "", at(0, 0), `
0: a Running; a Deactivating; v = 0; w = 1; k = 2`},
	{"a guard runs its script again beside the action behind it, which goes on unless the guard's result is another one",
		`<Sequence><Script code="k := 0"/><ReactiveSequence><Fallback><Condition name="C" on="x ge 1" _post="k := k + 1"/>
			<Condition name="d" on="x lt 0.5"/></Fallback><Action name="work" write="v := k"/></ReactiveSequence></Sequence>`, "",
		at(0, 1, 0, 0.7, 0.7), `
0: work Running; v = 1; w = 1; k = 1
1: x >= 1 becomes true; x < 0.5 becomes false; v = 2; k = 2
2: x >= 1 becomes false; x < 0.5 becomes true; v = 3; k = 3
3: x < 0.5 becomes false; work Deactivating; v = 0; k = 4`},
	{"a loop whose run changes nothing waits for a change, and then runs again",
		`<KeepRunningUntilFailure><Fallback><Sequence><Condition name="c" on="x ge 1"/><Script code="k := 2"/></Sequence>
			<Script code="k := 3"/></Fallback></KeepRunningUntilFailure>`, "", at(0, 0, 1), `
0: v = 0; w = 1; k = 3
2: x >= 1 becomes true; k = 2`},
	{"a loop that waits runs its action again once that would not end at once",
		`<Sequence><Script code="k := 1"/><KeepRunningUntilFailure><Action name="work" done="x ge k"/></KeepRunningUntilFailure></Sequence>`,
		"", at(0, 1, 1, 0, 0), `
0: work Running; v = 0; w = 1; k = 1
1: x >= k becomes true; work Finished; work Deactivating; work Running; work Finished; work Deactivating; work Running; work Finished; work Deactivating
3: x >= k becomes false; work Running`},
	{"an instant without end, and the tasks in it", `<Sequence><Script code="n := 1"/><KeepRunningUntilFailure>
			<Script name="Again" code="n := 3 - n"/></KeepRunningUntilFailure></Sequence>`, "", at(0, 0), `
0: v = 0; w = 1; n = 2; the plan and the signals do not settle at t = 0 s: these keep changing: Again`},
	{"one whose states differ", `<Sequence><Script code="n := 1"/><KeepRunningUntilFailure>
			<Script name="Again" code="n := n + 1"/></KeepRunningUntilFailure></Sequence>`, "", at(0, 0), `
0: v = 0; w = 1; n = 50002; the plan and the signals do not settle within 100000 settlings at t = 0 s: these keep changing: Again`},
}

func TestRules(t *testing.T) {
	for _, test := range rules {
		if got := play(t, test.body, test.yaml, test.path...); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.rule, got, test.want)
		}
	}
}
