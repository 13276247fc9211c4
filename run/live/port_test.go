package live

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// pose is a type that the plan does not know, with a notation as text.
type pose struct{ x, y float64 }

func (p *pose) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%g;%g", &p.x, &p.y)
	return err
}

// say records the value of a port of each type.
func say(r *recorder, id string, ports Ports) Action {
	return Action{Ports: ports, Start: func(a Activation) {
		v, err := a.Port("v")
		if err != nil {
			v = err
		}
		r.note("%s %v", id, v)
		a.Succeed()
	}}
}

func run(t *testing.T, x *Execution) {
	t.Helper()
	if err := x.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// A port has its value through remapping, subtrees, _autoremap and defaults, as the program declares it.
func TestPortsHaveValues(t *testing.T) {
	for body, want := range map[string]string{
		`<Say v="3"/>`:                   "Say 3",
		`<Say v="1 [km]"/>`:              "Say 1000",
		`<Say/>`:                         "Say 7",
		`<SubTree ID="s" w="4"/>`:        "Say 4",
		`<SubTree ID="s"/>`:              "Say 5",
		`<SubTree ID="d" v="6"/>`:        "Say 6",
		`<Say v="{height}"/>`:            "Say 12",
		`<SubTree ID="s" w="{height}"/>`: "Say 12",
		`<Sequence><Script code="n := 2"/><Say v="{n}"/></Sequence>`:                                             "Say 2",
		`<Sequence><Script code="n := 2"/><SubTree ID="s" w="{n}"/></Sequence>`:                                  "Say 2",
		`<Sequence><Script code="v := 2"/><SubTree ID="d" _autoremap="true"/></Sequence>`:                        "Say 2",
		`<Sequence><Script code="n := 2; n += 1"/><SubTree ID="e" w="{n}"/></Sequence>`:                          "Say 3",
		`<Sequence><Script code="n := 1"/><Script code="n := n + 8"/><Say v="{n}"/></Sequence>`:                  "Say 9",
		`<Sequence><Script code="n := 1"/><Parallel><Say v="{n}"/><Script code="n := 2"/></Parallel></Sequence>`: "Say 1",
		`<Sequence><Script code="n := 1"/><Parallel><Script code="n := 2"/><Say v="{n}"/></Parallel></Sequence>`: "Say 2",
		`<Sequence><Put out="{n}" value="8"/><Script code="whole := n"/><Say v="{whole}"/></Sequence>`:           "Say 8",
		`<Sequence><Put out="{n}" value="8"/><Script code="n += 0.5"/><Say v="{n}"/></Sequence>`:                 "Say 8.5",
		`<Sequence><SetBlackboard value="4" output_key="v"/><Say v="{=}"/></Sequence>`:                           "Say 4",
		`<Sequence><Put out="{n}" value="8"/><Say v="{n}"/></Sequence>`:                                          "Say 8",
		`<Sequence><SubTree ID="p" result="{n}"/><Say v="{n}"/></Sequence>`:                                      "Say 8",
		`<Sequence><SubTree ID="p" _autoremap="1"/><Say v="{result}"/></Sequence>`:                               "Say 8",
		`<Sequence><Put out="{n}" value="8"/><Script code="n := n / 2"/><Say v="{n}"/></Sequence>`:               "Say 4",
		`<Sequence><SubTree ID="p" result="{n}"/><SubTree ID="g"/></Sequence>`:                                   "Say 8",
	} {
		x := New("plan.xml", `<root BTCPP_format="4" main_tree_to_execute="main"><BehaviorTree ID="main">`+body+`</BehaviorTree>
			<BehaviorTree ID="s"><Say v="{w}"/></BehaviorTree>
			<BehaviorTree ID="d"><Say v="{v}"/></BehaviorTree>
			<BehaviorTree ID="e"><SubTree ID="s" w="{w}"/></BehaviorTree>
			<BehaviorTree ID="p"><Put out="{result}" value="8"/></BehaviorTree>
			<BehaviorTree ID="g"><Say v="{@n}"/></BehaviorTree>
			<TreeNodesModel><SubTree ID="s"><input_port name="w" default="5"/></SubTree>
			<Action ID="Say"><input_port name="v" default="7"/></Action></TreeNodesModel></root>`)
		x.Use(&Virtual{})
		r := &recorder{x: x}
		x.Action("Say", say(r, "Say", Ports{"v": In[float64]()}))
		x.Action("Put", Action{Ports: Ports{"out": Out[int](), "value": In[int]()}, Start: func(a Activation) {
			v, err := Get[int](a, "value")
			if err := errors.Join(err, a.Set("out", v)); err != nil {
				t.Error(err)
			}
			a.Succeed()
		}})
		x.Number("height", "m").Set(12)
		x.WholeOutput("whole", func(int) {})
		run(t, x)
		if got := strings.Join(r.list, "; "); got != want {
			t.Errorf("%s: %s, not %s", body, got, want)
		}
	}
}

// Values have the type and the unit that the program declares; without, they are as in the plan.
func TestPortsHaveTypes(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`<F v="18 [km/h]"/>`, "F 18"},
		{`<F v="5"/>`, "F 18"},
		{`<F v="{speed}"/>`, "F 36"},
		{`<F v="{n}"/>`, "F 7.2"},
		{`<I v="-3"/>`, "I -3"},
		{`<F v="3.6" done="false" exit_time="2 [s]"/>`, "F 12.96"},
		{`<D v="1.5 [s]"/><D v="{n}"/><D v="12h30m"/>`, "D 1.5s; D 2s; D 12h30m0s"},
		{`<B v="TRUE"/><B v="{truth}"/><B v="0"/>`, "B true; B true; B false"},
		{`<S v="{n}"/><S v="{word}"/><S v="3 [km]"/><S v="{truth}"/>`, "S 2; S hello; S 3 [km]; S true"},
		{`<P v="1;2"/>`, "P {1 2}"},
		{`<P v="{word2}"/>`, "P {3 4}"},
		{`<Any v="1;2"/><Any v="{n}"/><Any v="{truth}"/><Any v="{word}"/><Any v="{mode}"/>`,
			"Any 1;2; Any 2; Any true; Any hello; Any high"},
		{`<Make out="{p}"/><P v="{p}"/>`, "P {5 6}"},
		{`<Make out="{p}"/><Any v="{p}"/>`, "Any {5 6}"},
	} {
		x, _, r := fixture(`<Sequence><Script code="n := 2; truth := true; word := 'hello'; word2 := '3;4'"/>` + c.body + `</Sequence>`)
		x.Number("speed", "m/s").Set(10)
		x.Word("mode", "low", "high").Set("high")
		x.Action("F", say(r, "F", Ports{"v": In[float64]("km/h")}))
		x.Action("D", say(r, "D", Ports{"v": In[time.Duration]()}))
		x.Action("I", say(r, "I", Ports{"v": In[int8]()}))
		x.Action("B", say(r, "B", Ports{"v": In[bool]()}))
		x.Action("S", say(r, "S", Ports{"v": In[string]()}))
		x.Action("P", say(r, "P", Ports{"v": In[pose]()}))
		x.Action("Any", say(r, "Any", nil))
		x.Action("Make", Action{Ports: Ports{"out": Out[pose]()}, Start: func(a Activation) {
			if err := a.Set("out", pose{5, 6}); err != nil {
				t.Error(err)
			}
			if v, err := Get[pose](a, "out"); err != nil || v.x != 5 {
				t.Error(v, err)
			}
			a.Succeed()
		}})
		run(t, x)
		if got := strings.Join(r.list, "; "); got != c.want {
			t.Errorf("%s: %s, not %s", c.body, got, c.want)
		}
	}
}

// What does not fit is found before the run, at its place.
func TestPortsAreChecked(t *testing.T) {
	for body, want := range map[string]string{
		`<F v="fast"/>`:       `plan.xml:3:7: error: "fast" is not of the type float64, which the port "v" takes`,
		`<F v="3 [s]"/>`:      `plan.xml:3:7: error: "3 [s]" is not of the type float64`,
		`<F/>`:                `plan.xml:3:1: error: "F" needs a value for its port "v"`,
		`<F v="1" w="2"/>`:    `plan.xml:3:13: error: the Go code of "F" has no port "w"`,
		`<F v="{typo}"/>`:     `plan.xml:3:7: error: nothing gives the entry "typo" a value`,
		`<F v="{word}"/>`:     ``,
		`<B v="{mode}"/>`:     `plan.xml:3:7: error: the entry "mode" has words, but the port "v" takes a bool`,
		`<F v="{height}"/>`:   `plan.xml:3:7: error: the unit of "height" is m, but the port "v" takes km/h`,
		`<Out v="3"/>`:        `plan.xml:3:9: error: the output port "v" names no entry`,
		`<Out v="{height}"/>`: `plan.xml:3:9: error: "height" can be read but not written`,
		`<Out v="{word}"/>`:   `plan.xml:3:9: error: "word" gets a number here, and a text on line 2`,
		`<Out v="{a}"/><ScriptCondition code="a == 'x'"/>`: `plan.xml:3:38: error`,
		`<Pose v="{p}"/><F v="{p}"/>`:                      `plan.xml:3:22: error: the entry "p" has values of the type live.pose, but the port "v" takes a float64`,
		`<Pose v="{p}"/><ScriptCondition code="p == 1"/>`:  `plan.xml:3:44: error: a value of an enumeration is expected`,
	} {
		x, _, _ := fixture("\n<Sequence><Script code=\"word := 'hello'\"/>\n" + body + "</Sequence>")
		x.Number("height", "m")
		x.Word("mode", "low", "high")
		x.Action("F", Action{Ports: Ports{"v": In[float64]("km/h")}})
		x.Action("B", Action{Ports: Ports{"v": In[bool]()}})
		x.Action("Out", Action{Ports: Ports{"v": Out[float64]()}})
		x.Action("Pose", Action{Ports: Ports{"v": Out[pose]()}})
		if err := x.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v\nnot %s", body, err, want)
		}
	}
}

// Without declarations, entries have the types by which the plan uses them, or any value.
func TestUndeclaredPorts(t *testing.T) {
	for _, c := range []struct {
		value      any
		body, want string
	}{
		{"ok", `<ScriptCondition code="r == 'ok'"/><Say v="{r}"/>`, "Say ok"},
		{3, `<ScriptCondition code="r == 3"/><Condition on="r gt 2"/><Say v="{r}"/>`, "Say 3"},
		{true, `<ScriptCondition code="r"/><Say v="{r}"/>`, "Say true"},
		{[]int{1}, `<Script code="q := r"/><SetBlackboard value="{q}" output_key="p"/><Say v="{p}"/>`, "Say [1]"},
		{"x", `<Script code="q := r"/><Say v="{q}"/>`, "Say x"},
		{"x", `<Say _skipIf="r == 'x'" v="1"/><Say v="{@r}"/>`, "Say x"},
		{2, `<Repeat num_cycles="{r}"><Say v="1"/></Repeat>`, "Say 1; Say 1"},
		{[]int{1}, `<UnsetBlackboard key="r"/><Say v="{r}"/>`, `Say Sequence/Say: port "v": there is no value: nothing has been written to the entry "r"`},
	} {
		x, _, r := fixture(`<Sequence><Put out="{r}"/>` + c.body + `</Sequence>`)
		x.Action("Say", say(r, "Say", nil))
		x.Action("Put", Action{Start: func(a Activation) {
			if err := a.Set("out", c.value); err != nil {
				t.Error(err)
			}
			a.Succeed()
		}})
		run(t, x)
		if got := strings.ReplaceAll(strings.Join(r.list, "; "), "Say Say:", "Say Sequence/Say:"); got != c.want {
			t.Errorf("%s: %s, not %s", c.body, got, c.want)
		}
	}
}

// Values of the program that no entry has any more are forgotten.
func TestObjectsAreForgotten(t *testing.T) {
	x, _, _ := fixture(`<Repeat num_cycles="200"><Sequence><Put out="{a}"/><Script code="b := a"/><Put out="{a}"/></Sequence></Repeat>`)
	most := 0
	x.Action("Put", Action{Start: func(a Activation) {
		if err := a.Set("out", pose{}); err != nil {
			t.Error(err)
		}
		most = max(most, len(x.kept))
		a.Succeed()
	}})
	if run(t, x); most > 100 {
		t.Errorf("%d values are kept", most)
	}
}

// What depends on the run is an error of the call, which the program handles.
func TestErrorsOfPorts(t *testing.T) {
	x, _, r := fixture(`<Sequence><Action ID="a" v="{unset}" w="word" out="{n}" none="1"/><Script code="unset := 1"/>
		<ScriptCondition code="n == 3"/></Sequence>`)
	var late Activation
	x.Action("a", Action{Start: func(a Activation) {
		late = a
		_, err := a.Port("v")
		r.note("%v: %t", err, errors.Is(err, ErrNoValue))
		_, err = a.Port("missing")
		r.note("%v: %t", err, errors.Is(err, ErrNoValue))
		_, err = Get[int](a, "w")
		r.note("%v: %t", err, errors.Is(err, ErrType))
		err = a.Set("out", pose{})
		r.note("%v: %t", err, errors.Is(err, ErrType))
		if err := a.Set("out", 3); err != nil {
			t.Error(err)
		}
		a.Succeed()
	}})
	run(t, x)
	err := late.Set("out", 4)
	r.note("%v: %t", err, errors.Is(err, ErrOver))
	r.expect(t, `a: port "v": there is no value: nothing has been written to the entry "unset": true`,
		`a: port "missing": there is no value: true`, `a: port "w": wrong type: "word" is not of the type int: true`,
		`a: port "out": wrong type: live.pose{x:0, y:0} is not of the type float64: true`,
		`a: port "out": the activity has ended: true`)
}

// What an action writes counts in the instant of its report: for conditions, scripts and the next action. The entry
// keeps its value.
func TestOutputsCountAtOnce(t *testing.T) {
	x, clock, r := fixture(`<Sequence><Measure result="{n}" text="{s}"/><ScriptCondition code="n == 3 &amp;&amp; s == 'far'"/>
		<Script code="m := n + 1"/><Say v="{m}"/><Sleep msec="1000"/><Say v="{n}"/><WasEntryUpdated entry="{n}"/></Sequence>`)
	x.Action("Say", say(r, "Say", Ports{"v": In[int]()}))
	x.Action("Measure", Action{Ports: Ports{"result": Out[int](), "text": Out[string]()}, Start: func(a Activation) {
		clock.After(time.Minute, func() {
			if err := errors.Join(a.Set("result", 3), a.Set("text", "far")); err != nil {
				t.Error(err)
			}
			a.Succeed()
		})
	}})
	x.Subscribe(func(c Change) {
		if c.To.Ended() {
			r.note("%v %s %v", c.At, c.Task, c.To)
		}
	})
	run(t, x)
	r.expect(t, "1m0s Measure Finished", "1m0s Script Finished", "Say 4", "1m0s Sequence/Say Finished", "1m1s Sleep Finished",
		"Say 3", "1m1s Sequence/Say[2] Finished", "1m1s WasEntryUpdated Finished", "1m1s Sequence Finished")
}

// Conditions with one ID and other ports are other conditions, which the plan asks when it needs them.
func TestConditionFunc(t *testing.T) {
	x, clock, r := fixture(`<ReactiveFallback>
		<ReactiveSequence><Near goal="{a}"/><Near name="b" goal="{b}"/><Action ID="both"/></ReactiveSequence>
		<Action ID="fly" to="{b}"/></ReactiveFallback>`)
	at := 0.0
	near := x.ConditionFunc("Near", Ports{"goal": In[float64]("m")}, func(l Leaf) bool {
		goal, err := Get[float64](l, "goal")
		if err != nil {
			t.Error(err)
		}
		r.note("%v %s %v", clock.Now(), l.Task(), at == goal)
		return at == goal
	})
	x.Whole("a").Set(1)
	b := x.Number("b", "m")
	for _, id := range []string{"both", "fly"} {
		x.Action(id, r.action())
	}
	b.Set(2)
	clock.At(time.Second, func() { at = 1; near.Changed() })
	clock.At(2*time.Second, func() { b.Set(3) })
	clock.At(3*time.Second, func() { b.Set(1) })
	clock.At(4*time.Second, func() { b.Set(1) })
	r.expect(t)
	clock.At(5*time.Second, func() { panic("over") })
	_ = x.Run(t.Context())
	r.expect(t, "0s Near false", "start fly", "1s Near true", "1s b false", "2s b false", "3s b true", "stop fly", "start both",
		"stop both")
}

// Values, objects of the program included, survive an exchange of the plan, after which the plan asks conditions again.
func TestPortsAfterSwap(t *testing.T) {
	plan := func(id string) string {
		return document(`<Sequence><Put out="{p}"/><Script code="n := 2"/><Wait/><ReactiveFallback><ReactiveSequence><Near goal="{n}"/>
			<Action ID="` + id + `"/></ReactiveSequence><Action ID="Fly"/></ReactiveFallback><Say v="{p}"/></Sequence>`)
	}
	x, clock := New("plan.xml", plan("Old")), &Virtual{}
	x.Use(clock)
	r := &recorder{x: x}
	x.Action("Put", Action{Ports: Ports{"out": Out[pose]()}, Start: func(a Activation) {
		if err := a.Set("out", pose{1, 2}); err != nil {
			t.Error(err)
		}
		a.Succeed()
	}})
	x.Action("Say", say(r, "Say", Ports{"v": In[pose]()}))
	x.Action("Wait", Action{Start: func(a Activation) { clock.After(2*time.Second, a.Succeed) }})
	x.Action("Old", Action{Start: func(Activation) { t.Error("the old plan goes on") }})
	for _, id := range []string{"New", "Fly"} {
		x.Action(id, Action{Start: func(a Activation) { r.note("%s", id); clock.After(time.Second, a.Succeed) }})
	}
	at := 1.0
	near := x.ConditionFunc("Near", nil, func(l Leaf) bool {
		goal, err := Get[float64](l, "goal")
		return err == nil && goal == at
	})
	clock.At(time.Second, func() {
		x.Swap("new.xml", plan("New"), func(err error) { r.note("swap %v", err) })
	})
	clock.At(2500*time.Millisecond, func() { at = 2; near.Changed() })
	run(t, x)
	r.expect(t, "swap <nil>", "Fly", "New", "Say {1 2}")
}

// Ports may have any value: Check reports what cannot be, and a run ends.
func TestAnyPort(t *testing.T) {
	values := []string{"{a b}", "{}", "{1x}", "{x:y}", "{@}", "{-}", "{and}", "{@s}", "{=}", "=", "{", "}", "{{x}}", " {x} ", "{x", "", "json:{", "json:3",
		"{n}", "{height}", "{@height}", "{x.y}", "{x/y}", "{Put/x}", "NaN", "1e999", "0x10", "true"}
	ports := Ports{"f": In[float64]("m"), "t": In[string](), "p": In[pose](), "of": Out[float64](), "ot": Out[string](), "op": Out[pose]()}
	for _, v := range values {
		for name := range ports {
			for _, declared := range []Ports{nil, {name: ports[name]}} {
				x, _, r := fixture(`<Sequence><Script code="n := 1"/><Put ` + name + `="` + v + `"/><SubTree ID="s" q="` + v + `"/></Sequence></BehaviorTree>
					<BehaviorTree ID="s"><Put ` + name + `="{q}"/>`)
				x.source.Text = strings.Replace(x.source.Text, `<root`, `<root main_tree_to_execute="main"`, 1)
				x.Number("height", "m")
				x.Action("Put", Action{Ports: declared, Start: func(a Activation) {
					got, err := a.Port(name)
					r.note("%v %v", got, err)
					r.note("%v", a.Set(name, 1))
					r.note("%v", a.Set(name, pose{}))
					a.Succeed()
				}})
				if x.Check() == nil {
					_ = x.Run(t.Context())
				}
			}
		}
	}
}
