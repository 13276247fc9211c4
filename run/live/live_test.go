package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/canopy-uav/canopy/bt"
)

// document returns a plan document with one tree.
func document(body string) string {
	return `<root BTCPP_format="4"><BehaviorTree ID="main">` + body + `</BehaviorTree></root>`
}

// recorder keeps what happens as text.
type recorder struct {
	x    *Execution
	list []string
}

func (r *recorder) note(format string, args ...any) {
	r.list = append(r.list, fmt.Sprintf(format, args...))
}

// action returns an action whose procedures are recorded.
func (r *recorder) action() Action {
	return Action{
		Start: func(a Activation) { r.note("start %s", a.Task()) },
		Stop:  func(a Activation) { r.note("stop %s", a.Task()) },
	}
}

func (r *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.list, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(r.list, "\n  "), strings.Join(want, "\n  "))
	}
}

// fixture returns an execution on a virtual clock.
func fixture(body string) (*Execution, *Virtual, *recorder) {
	x, clock := New("plan.xml", document(body)), &Virtual{}
	x.Use(clock)
	return x, clock, &recorder{x: x}
}

// An action is activated at the beginning of a run and deactivated at its end by no decision of its own.
func TestInputOfActivity(t *testing.T) {
	x, clock, r := fixture(`<Action ID="fly" entry_time="3"/>`)
	x.Action("fly", Action{})
	x.Subscribe(func(c Change) {
		if _, more := c.Cause(); !more {
			r.note("%v %s: %s", c.At, c.To, c.Input())
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	clock.At(time.Second, cancel)
	_ = x.Run(ctx)
	const outside = "a timer has elapsed, or the run has begun or ended"
	r.expect(t, "0s Activating: "+outside, "1s Deactivating: "+outside)
}

// The plan's own expressions read numbers in the program's units, with hysteresis; its actions write outputs.
func TestExpressions(t *testing.T) {
	x, clock, r := fixture(`<ReactiveFallback>
		<ReactiveSequence><Condition name="high" on="altitude ge 500 [m]" off="altitude lt 400 [m]"/>
			<Action name="sink" write="throttle := 0.1 * altitude / 1 [km]"/></ReactiveSequence>
		<Action name="climb" write="throttle := 0.9"/></ReactiveFallback>`)
	altitude := x.Number("altitude", "km")
	x.Output("throttle", "%", 0, func(v float64) { r.note("%v throttle %.4g %%", clock.Now(), v) })
	ctx, cancel := context.WithCancel(t.Context())
	for i, v := range []float64{0.3, 0.499, 0.5, 0.45, 0.4, 0.399, 0.45} {
		clock.At(time.Duration(i)*time.Second, func() { altitude.Set(v) })
	}
	clock.At(time.Minute, cancel)
	if err := x.Serve(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.expect(t, "0s throttle 90 %", "2s throttle 5 %", "3s throttle 4.5 %", "4s throttle 4 %", "5s throttle 90 %",
		"1m0s throttle 0 %")
}

// Attributes of the plan act beside the Go code. Of several values of one input the last one counts.
func TestAttributesBesideCode(t *testing.T) {
	x, clock, r := fixture(`<Sequence><Action ID="a" entry_time="2" done="level ge 3"/><Action ID="b" failed="level ge 9"/></Sequence>`)
	level := x.Number("level", "")
	for _, id := range []string{"a", "b"} {
		x.Action(id, r.action())
	}
	x.Subscribe(func(c Change) {
		if c.Task == "a" || c.To == bt.Aborted {
			r.note("%v %s %v", c.At, c.Task, c.To)
		}
	})
	clock.At(3*time.Second, func() { level.Set(3); level.Set(2) })
	clock.At(4*time.Second, func() { level.Set(3) })
	clock.At(5*time.Second, func() { level.Set(9) })
	if err := x.Run(t.Context()); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	r.expect(t, "0s a Activating", "start a", "2s a Running", "4s a Finished", "4s a Deactivating", "stop a", "4s a Accept", "start b",
		"5s b Aborted", "5s Sequence Aborted", "stop b")
}

// What an earlier activation reports late is ignored.
func TestLateReports(t *testing.T) {
	x, clock, r := fixture(`<ReactiveSequence><Condition ID="on"/><Action ID="a"/></ReactiveSequence>`)
	on := x.Condition("on")
	var first Activation
	x.Action("a", Action{Start: func(a Activation) {
		if r.note("start"); first.x == nil {
			first = a
		} else {
			first.Succeed()
			clock.After(time.Second, func() { a.Fail(nil); a.Succeed() }) // the first counts
		}
	}})
	clock.At(1*time.Second, func() { on.Set(true) })
	clock.At(2*time.Second, func() { on.Set(false) })
	clock.At(3*time.Second, func() { on.Set(true) })
	ctx, cancel := context.WithCancel(t.Context())
	clock.At(9*time.Second, cancel)
	r.x.Subscribe(func(c Change) {
		if c.Task == "a" && c.To.Ended() {
			r.note("%v %v", c.At, c.To)
		}
	})
	if err := x.Serve(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.expect(t, "start", "start", "4s Aborted")
}

var errStalled = errors.New("the motor has stalled")

// The error of a failed plan names the leaf and wraps its error.
func TestFailure(t *testing.T) {
	x, _, _ := fixture(`<Inverter><Fallback><Condition ID="there"/><Inverter><Sequence name="s"><Action ID="drive"/></Sequence></Inverter></Fallback></Inverter>`)
	x.Condition("there")
	x.Action("drive", Action{Start: func(a Activation) { a.Fail(errStalled) }})
	if err := x.Run(t.Context()); !errors.Is(err, ErrFailed) || !errors.Is(err, errStalled) ||
		err.Error() != "the plan has failed: drive: the motor has stalled" {
		t.Error(err)
	}
	y, clock, _ := fixture(`<ReactiveSequence><Condition name="low" on="altitude lt 500 [m]"/><Action ID="climb"/></ReactiveSequence>`)
	altitude := y.Number("altitude", "m")
	y.Action("climb", Action{})
	clock.At(time.Second, func() { altitude.Set(512) })
	if err := y.Run(t.Context()); !errors.Is(err, ErrFailed) ||
		err.Error() != "the plan has failed: low: altitude >= 500 [m] (altitude = 512 m)" {
		t.Error(err)
	}
}

// A plan may include files; a mistake in one is reported at its place in that file.
func TestIncludes(t *testing.T) {
	files := fstest.MapFS{"land.xml": {Data: []byte("<root BTCPP_format=\"4\"><BehaviorTree ID=\"land\">\n" +
		"<Action ID=\"touch_down\"/></BehaviorTree></root>")}}
	x := New("plan.xml", `<root BTCPP_format="4" main_tree_to_execute="main"><include path="land.xml"/>
		<BehaviorTree ID="main"><SubTree ID="land"/></BehaviorTree></root>`)
	x.Include(files.ReadFile)
	if err := x.Check(); err == nil || !strings.Contains(err.Error(), `land.xml:2:1: error: no Go code is registered`) {
		t.Error(err)
	}
	x.Action("touch_down", Action{Start: Activation.Succeed})
	if err := x.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// All mistakes are found before anything runs.
func TestMistakes(t *testing.T) {
	x, _, _ := fixture("\n<Sequence>\n<Condition ID=\"redy\"/>\n<Condition on=\"hight gt 5 [s]\"/>\n<Action ID=\"clim\"/>\n</Sequence>")
	x.Condition("ready")
	x.Number("height", "m")
	x.Number("speed", "mm/blink")
	x.Action("climb", Action{Start: func(Activation) { t.Error("started") }})
	err := x.Run(t.Context())
	if err == nil {
		t.Fatal("no mistakes")
	}
	free, _, _ := fixture(`<Fallback><Action ID="ready"/><Condition ID="redy"/></Fallback>`)
	free.Condition("ready")
	both, _, _ := fixture(`<Sequence><Action ID="in" entry_time="1"/><Action ID="out" exit_time="1" write="o := p"/>
		<Action name="loop" write="o := p"/></Sequence>`)
	both.Output("o", "", 0, nil)
	both.Output("p", "", 0, nil)
	both.Action("in", Action{StartTakesTime: true})
	both.Action("out", Action{StopTakesTime: true})
	both.Condition("a b")
	err = errors.Join(err, free.Check(), both.Check())
	for _, part := range []string{"plan.xml:3:", `condition "redy"`, `write <Condition ID="ready"/>`, "plan.xml:4:", `unknown signal "hight"`, "plan.xml:5:", `"clim"`,
		`did you mean "climb"`, "blink", `when the entry of "in" ends`, `when the exit of "out" ends`, `"loop" writes "o" from the output "p"`,
		`"a b" is not a name`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing:\n%v", part, err)
		}
	}
}

// Scripts write entries of the plan's own, which the program need not know.
func TestEntries(t *testing.T) {
	for code, want := range map[string]string{
		"n == 3 &amp;&amp; word == 'hello'": "<nil>",
		"n == 2":                            "the plan has failed",
		"n == 3 &amp;&amp; later == 1":      "later, to which nothing has been written",
		"n == nobody":                       `nothing gives the entry "nobody" a value`,
	} {
		x := New("plan.xml", `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence>
			<Script code="n := 1; word := 'hello'"/><Action ID="work"/><Script code="n += 2"/>
			<ScriptCondition name="right" code="`+code+`"/><Script code="later := 1"/>
			</Sequence></BehaviorTree></root>`)
		x.Use(&Virtual{})
		x.Action("work", Action{Start: func(a Activation) { a.Succeed() }})
		if err := fmt.Sprint(x.Run(context.Background())); !strings.Contains(err, want) {
			t.Errorf("%s: %s, not %s", code, err, want)
		}
	}
}

// elapsed needs a clock among the signals, which a program does not have.
func TestElapsed(t *testing.T) {
	x, _, _ := fixture(`<Action ID="go" done="elapsed ge 3"/>`)
	x.Action("go", Action{})
	if err := x.Check(); err == nil || !strings.Contains(err.Error(), "elapsed needs the clock") {
		t.Error(err)
	}
}
