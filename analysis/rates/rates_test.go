package rates

import (
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// readTable reads a mission and returns its rates.
func readTable(t *testing.T, name string, open func(string) ([]byte, error)) *Table {
	t.Helper()
	m, diags := mission.Read(name, open, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	table, err := Of(m)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// tableOf returns the rates of a mission with the given texts of its vehicle, its plan and further sections.
func tableOf(t *testing.T, vehicle, plan, sections string) *Table {
	t.Helper()
	files := map[string]string{"v.yaml": vehicle,
		"p.xml":  `<root BTCPP_format="4"><BehaviorTree ID="p">` + plan + `</BehaviorTree></root>`,
		"m.yaml": "plan: p.xml\nvehicle: v.yaml\nhorizon: 100\n" + sections}
	return readTable(t, "m.yaml", func(name string) ([]byte, error) { return []byte(files[path.Base(name)]), nil })
}

// task returns a task by its name.
func (t *Table) task(test *testing.T, name string) bt.Task {
	test.Helper()
	task, ok := t.m.Plan.Tree.Find(name)
	if !ok {
		test.Fatal("no task", name)
	}
	return task
}

// expect is a rate that a test requires.
type expect struct {
	task, signal string
	in           map[string]interval.Interval
	low, high    float64
}

// requires fails unless the rates are the required ones, and not much wider.
func (t *Table) requires(test *testing.T, list ...expect) {
	test.Helper()
	for _, e := range list {
		r, ok := t.Rate(t.task(test, e.task), e.signal, e.in)
		if math.IsInf(e.low, -1) && math.IsInf(e.high, 1) {
			if ok {
				test.Errorf("the rate of %s while %s is active is %v to %v, want none", e.signal, e.task, r.Low, r.High)
			}
			continue
		}
		slack := 2e-3*(e.high-e.low) + 1e-12*math.Max(math.Abs(e.low), math.Abs(e.high))
		tight := func(got, want float64) bool { return got == want || math.Abs(got-want) <= slack }
		rounding := 1e-12 * math.Max(math.Abs(e.low), math.Abs(e.high))
		if !ok || r.Low > e.low+rounding || r.High < e.high-rounding || !tight(r.Low, e.low) || !tight(r.High, e.high) {
			test.Errorf("the rate of %s while %s is active is %v to %v (%v), want %v to %v", e.signal, e.task, r.Low, r.High,
				ok, e.low, e.high)
		}
	}
}

// TestShippedExample: the declared effects of an example are those that are derived.
func TestShippedExample(t *testing.T) {
	x := readTable(t, "../../examples/09-regression/courier.yaml", os.ReadFile)
	x.requires(t, expect{"fly", "x", nil, 1, 1}, expect{"fly", "y", nil, -1, -1}, expect{"recharge", "x", nil, -1, -1},
		expect{"recharge", "y", nil, 1, 1})
	for _, row := range x.Rows() {
		if row.Found.From != declare.Derived || row.Found.Jumps {
			t.Errorf("%+v", row)
		}
	}
}

// TestLag: x' = (u - x) / tau. Over all of its range the rate has both signs; in a part below the command it is bounded
// away from zero.
func TestLag(t *testing.T) {
	x := tableOf(t, `
parameters: {tau: {unit: s, default: 2}}
states: {x: {derivative: (u - x) / tau, min: 0, max: 1}}
commands: {u: {}}
`, `<ReactiveFallback><Condition name="there" on="x ge 0.8"/><Action name="rise" write="u := 0.9"/></ReactiveFallback>`, "")
	below := map[string]interval.Interval{"x": interval.Between(0, 0.8)}
	x.requires(t, expect{"rise", "x", nil, -0.05, 0.45}, expect{"rise", "x", below, 0.05, 0.45})
}

// TestPendulum: the rates of angle and angular velocity, and bounds of that of an output of both, the energy per mass,
// which only friction changes: -c w^2.
func TestPendulum(t *testing.T) {
	x := tableOf(t, `
states:
  phi: {unit: rad, derivative: w, min: -4, max: 4}
  w: {unit: rad/s, derivative: "-9.81 [1/s^2] * sin(phi) - 0.5 [1/s] * w + u", min: -2, max: 2}
outputs:
  E: {unit: 1/s^2, value: "w^2 / 2 - 9.81 [1/s^2] * cos(phi)"}
commands: {u: {unit: 1/s^2}}
`, `<Sequence><Condition name="high" on="E ge 3"/><Action name="swing"/><Action name="push" write="u := 1"/></Sequence>`, "")
	x.requires(t, expect{"swing", "phi", nil, -2, 2}, expect{"swing", "w", nil, -10.81, 10.81},
		expect{"push", "w", nil, -9.81, 11.81})
	r, ok := x.Rate(x.task(t, "swing"), "E", nil)
	if !ok || r.Jumps || r.Low > -2 || r.High < 0 || r.Low < -15 || r.High > 15 {
		t.Errorf("the energy changes by %+v", r)
	}
}

// TestDoubleIntegrator: position and velocity, with a saturated controller that the task writes.
func TestDoubleIntegrator(t *testing.T) {
	x := tableOf(t, `
states:
  x: {unit: m, derivative: v, min: -10, max: 10}
  v: {unit: m/s, derivative: a, min: -3, max: 3}
commands: {a: {unit: m/s^2, hold: true}}
`, `<Sequence><Action name="go" write="a := max(-1 [m/s^2], min(1 [m/s^2], -x * 1 [1/s^2] - v * 2 [1/s]))" done="abs(x) le 0.1 [m]"/>
	<Action name="coast"/></Sequence>`, "")
	x.requires(t, expect{"go", "x", nil, -3, 3}, expect{"go", "v", nil, -1, 1},
		expect{"go", "v", map[string]interval.Interval{"x": interval.Between(2, 10), "v": interval.Between(0, 3)}, -1, -1},
		expect{"coast", "v", nil, -1, 1}, // the last value written
		expect{"go", "a", map[string]interval.Interval{"x": interval.Between(0.1, 0.2), "v": interval.Between(0.1, 0.2)}, // 2 x + 3 v
			0.5, 1})
}

// TestBattery: the charge falls by the power of all loads; which of them is on depends on the tasks.
func TestBattery(t *testing.T) {
	x := tableOf(t, `
parameters: {E: {unit: W h, default: 10}}
states:
  soc: {derivative: -P / E, initial: 1, min: 0, max: 1}
  h: {unit: m, derivative: w, min: 0}
outputs:
  P: {unit: W, value: "5 [W] + 100 [W s/m] * max(w, 0) + light * 10 [W]"}
commands: {w: {unit: m/s}, light: {}}
`, `<ReactiveParallel><ReactiveFallback><ReactiveSequence><Condition name="low" on="soc lt 0.2"/><Action name="sink" write="w := -1"/></ReactiveSequence>
	<Action name="climb" write="w := if(h lt 100 [m], 2 [m/s], 0.5 [m/s])"/></ReactiveFallback>
	<ReactiveSequence><Condition name="dark" on="t ge 50"/><Action name="lamp" write="light := 1"/></ReactiveSequence></ReactiveParallel>`, "")
	per := 1 / 36000.0
	x.requires(t, expect{"sink", "soc", nil, -15 * per, -5 * per}, expect{"climb", "soc", nil, -215 * per, -55 * per},
		expect{"lamp", "soc", nil, -215 * per, -15 * per}, expect{"sink", "h", nil, -1, -1}, expect{"climb", "h", nil, 0.5, 2},
		expect{"climb", "h", map[string]interval.Interval{"h": interval.Between(0, 99)}, 2, 2})
	if r, _ := x.Rate(x.task(t, "climb"), "P", nil); !r.Jumps {
		t.Error("the power does not jump")
	}
	if r, _ := x.Rate(x.task(t, "climb"), "h", nil); r.Jumps {
		t.Error("the altitude jumps")
	}
}

// TestSlots: what a slot may have while a task is active: its own value, that of an earlier writer that may be active,
// the default, a held or captured value.
func TestSlots(t *testing.T) {
	vehicle := `
states: {x: {unit: m, derivative: u, min: 0, max: 10}}
commands: {u: {unit: m/s}}
`
	inf := math.Inf(1)
	for _, c := range []struct {
		name, plan, sections, signal string
		low, high                    float64
	}{
		{"default", `<Sequence><Action name="a"/><Action name="b" write="u := 3"/></Sequence>`, "", "x", 0, 0},
		{"held", `<Sequence><Action name="a"/><Action name="b" write="u := 3"/></Sequence>`,
			"commands: {u: {hold: true, default: -1}}", "x", -1, 3},
		{"in parallel", `<Parallel><Action name="a"/><Action name="b" write="u := 3"/></Parallel>`, "", "x", 0, 3},
		{"the first writer counts", `<Parallel><Action name="a" write="u := 1"/><Action name="b" write="u := 3"/></Parallel>`, "", "x", 1, 1},
		{"an earlier writer", `<Parallel><Action name="b" write="u := 3"/><Action name="a" write="u := 1"/></Parallel>`, "", "x", 1, 3},
		{"captured", `<Sequence><Action name="a" entry="u := x * 0.5 [1/s]"/></Sequence>`, "", "x", 0, 5},
		{"an exit procedure that takes time", `<Parallel><Action name="b" exit="u := 3" exit_time="2"/><Action name="a"/></Parallel>`, "", "x", 0, 3},
		{"an exit procedure before", `<Sequence><Action name="b" exit="u := 3" exit_time="2"/><Action name="a"/></Sequence>`, "", "x", 0, 0},
		{"an exit procedure without time", `<Parallel><Action name="b" exit="u := 3"/><Action name="a"/></Parallel>`, "", "x", 0, 0},
		{"the mission's slot", `<Sequence><Action name="b" entry="k := 2"/><Action name="a" write="u := k * 1 [m/s]"/></Sequence>`,
			"signals: {k: {default: 1, hold: true}}", "x", 1, 2},
		{"counting", `<Sequence><Action name="b" entry="k := min(k + 1, 4)"/><Action name="a" write="u := k * 1 [m/s]"/></Sequence>`,
			"signals: {k: {default: 1, hold: true}}", "x", 1, 4},
		{"counting without end", `<Sequence><Action name="b" entry="k := k + 1"/><Action name="a" write="u := k * 1 [m/s]"/></Sequence>`,
			"signals: {k: {default: 1, hold: true}}", "x", -inf, inf},
		{"counting to what is undefined", `<Sequence><Action name="b" entry="k := k + 1 + 0 * log(k)"/><Action name="a" write="u := k * 1 [m/s]"/></Sequence>`,
			"signals: {k: {default: 1, hold: true}}", "x", -inf, inf},
		{"a slot that a script assigns twice", `<Sequence><Script code="k := 2; k := 4"/><Action name="a" write="u := k * 1 [m/s]"/></Sequence>`,
			"signals: {k: {default: 1, hold: true}}", "x", 1, 4},
		{"a value between two assignments", `<Sequence><Script code="k := 2; j := k; k := 4; k := 3"/><Action name="a" write="u := j * 1 [m/s]"/></Sequence>`,
			"signals: {k: {default: 1, hold: true}, j: {default: 1, hold: true}}", "x", 1, 4},
		{"a slot that a script counts", `<Sequence><Script code="k := 2; k := min(k + 1, 5)"/><Action name="a" write="u := k * 1 [m/s]"/></Sequence>`,
			"signals: {k: {default: 1, hold: true}}", "x", 1, 5},
		{"an entry that is unset", `<Sequence><Script code="k := 2"/><UnsetBlackboard key="k"/><Action name="a" write="u := k"/></Sequence>`,
			"", "x", -inf, inf},
		{"typed", `<Sequence><Action name="b" entry="mode := fast"/><Action name="a" write="u := if(mode == fast, 7 [m/s], 2 [m/s])"/></Sequence>`,
			"signals: {mode: {type: enumeration, values: [slow, fast]}}", "x", 2, 2},
		{"computed", `<Sequence><Action name="a" write="u := 2"/></Sequence>`,
			"signals: {y: {unit: m, value: \"3 * x + t * 1 [m/s]\"}}", "y", 7, 7},
		{"the mission's slot itself", `<Sequence><Action name="a" write="k := 2 * t / 1 [s]"/></Sequence>`, "signals: {k: {}}", "k", 2, 2},
		{"a fact", `<Sequence><Action name="a" write="u := x * 1 [1/s]"/></Sequence>`, "check: {facts: [x >= 2 and x <= 3]}", "x", 2, 3},
		{"a fact of two signals", `<Sequence><Action name="a" write="u := x * 1 [1/s]"/></Sequence>`,
			"signals: {y: {unit: m, value: 2 * x}}\ncheck: {facts: ['x >= 1 -> y <= 8 [m]']}", "x", 0, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			tableOf(t, vehicle, c.plan, c.sections).requires(t, expect{"a", c.signal, nil, c.low, c.high})
		})
	}
}

// TestMissingRange: without a range of a state that matters there is no rate, and the state is named.
func TestMissingRange(t *testing.T) {
	x := tableOf(t, `
states: {x: {unit: m, derivative: v}, v: {unit: m/s, derivative: "-v / 1 [s]"}, z: {derivative: "0 [1/s]"}}
`, `<Sequence><Condition name="c" on="x + z * 1 [m] ge 2 [m]"/><Action name="a"/></Sequence>`, "")
	x.requires(t, expect{"a", "x", nil, math.Inf(-1), math.Inf(1)}, expect{"a", "z", nil, 0, 0})
	if got := x.Missing(x.task(t, "a"), "x"); !slices.Equal(got, []string{"v"}) {
		t.Errorf("missing %v", got)
	}
}

// TestManySettings: where slots may have too many combinations of values, the rate still covers all.
func TestManySettings(t *testing.T) {
	var states, commands, plan strings.Builder
	sum := "0 [1/s]"
	for i := range 8 {
		c := string(rune('a' + i))
		commands.WriteString(c + ": {hold: true}, ")
		sum += " + " + c + " * 1 [1/s]"
		for k := range 3 {
			plan.WriteString(`<Action name="` + c + string(rune('0'+k)) + `" entry="` + c + ` := ` + string(rune('1'+k)) + `"/>`)
		}
	}
	states.WriteString("states: {x: {derivative: \"" + sum + "\", min: 0, max: 1}}\ncommands: {" + commands.String() + "}\n")
	x := tableOf(t, states.String(), "<Sequence>"+plan.String()+`<Action name="z"/></Sequence>`, "")
	x.requires(t, expect{"z", "x", nil, 0, 24})
}

// States that events of the vehicle set jump, and so do signals that read them; a discrete state has no rate otherwise.
func TestEventsMakeStatesJump(t *testing.T) {
	table := tableOf(t, `
states:
  h: {unit: m, derivative: v, initial: 1, min: -1, max: 10}
  v: {unit: m/s, derivative: "if(stuck, 0, -10) * 1 [m/s^2]", min: -20, max: 20}
discrete: {stuck: {type: boolean}, n: {type: integer, max: 100}}
outputs: {energy: {unit: m^2/s^2, value: "v * v / 2"}, level: {unit: m, value: 2 * h}}
events: [{when: "h le 0 and v lt 0", then: "v := -0.8 * v; n := n + 1; stuck := n gt 10"}]
`, `<Sequence><Condition name="c" on="h lt 3 and v lt 1 and n lt 3 and energy lt 2 and level lt 1 and stuck lt 0.5"/><Action name="a"/></Sequence>`, "")
	for signal, want := range map[string]declare.Rate{"h": {Low: -20, High: 20}, "v": {Low: -10, High: 0, Jumps: true},
		"n": {Jumps: true}, "stuck": {Jumps: true}, "energy": {Low: -200, High: 200, Jumps: true}, "level": {Low: -40, High: 40}} {
		want.From = declare.Derived
		if got, ok := table.Rate(table.task(t, "a"), signal, nil); !ok || got.Jumps != want.Jumps || got.From != want.From ||
			math.Abs(got.Low-want.Low) > 1e-6 || math.Abs(got.High-want.High) > 1e-6 {
			t.Errorf("%s: %+v, want %+v", signal, got, want)
		}
	}
}

// While no action is active, exit procedures, held values and defaults decide, not what active tasks write.
func TestIdleRates(t *testing.T) {
	const vehicle = `
vehicle: v
states:
  x: {unit: m, min: -10, max: 10, derivative: "speed"}
  y: {unit: m, min: -10, max: 10, derivative: "drive"}
  z: {unit: m, min: -10, max: 10, derivative: "kept"}
commands:
  speed: {unit: m/s, default: 0}
  drive: {unit: m/s, default: 1}
  kept: {unit: m/s, default: 0, hold: true}
`
	table := tableOf(t, vehicle, `<Action name="go" write="speed := 5 [m/s]; kept := 3 [m/s]" exit="drive := -2 [m/s]"
		exit_time="4"/>`, "")
	for _, c := range []struct {
		signal    string
		low, high float64
	}{{"x", 0, 0}, {"y", -2, 1}, {"z", 0, 3}} {
		r, ok := table.Rate(declare.Idle, c.signal, nil)
		if !ok || r.Low > c.low || r.High < c.high || r.Low < c.low-0.01 || r.High > c.high+0.01 {
			t.Errorf("%s: [%g, %g], %v", c.signal, r.Low, r.High, ok)
		}
	}
}

// The rate that is declared of a state without a range does not hide that an event sets the state.
func TestDeclaredRatesOfStatesThatJump(t *testing.T) {
	for _, events := range []string{"", `events: [{when: "x ge 5", then: "x := 0"}]`} {
		table := tableOf(t, `
states: {x: {derivative: "y / 1 [s]"}, y: {derivative: "x / 1 [s]"}}
`+events, `<Sequence><Condition name="c" on="x lt 3"/><Action name="a"/></Sequence>`, "check: {effects: {a: {x: [1, 2]}}}\n")
		subject := table.m.Subject()
		subject.Rates = table
		r, ok := subject.Rate(table.task(t, "a"), "x", nil)
		r.Place = declare.Place{}
		if want := (declare.Rate{Low: 1, High: 2, Jumps: events != ""}); !ok || r != want {
			t.Errorf("%q: %+v, want %+v", events, r, want)
		}
	}
}

// While a signal is lost that a value reads, the slot keeps what it had: its default, or what another task has written.
func TestRatesWhileSignalsAreLost(t *testing.T) {
	const vehicle = "states: {x: {derivative: u, min: -9, max: 9}, y: {derivative: \"0 [1/s]\", min: 0, max: 9}}\n" +
		"commands: {u: {unit: 1/s, default: -1, min: -9, max: 9}}\n"
	const plan = `<Sequence><Action name="a" write="u := 5 [1/s]"/><Action name="b" write="u := if(y gt 1, 1, 2) * 1 [1/s]"/>
		</Sequence>`
	for sections, low := range map[string]float64{"": 1, "outages: [{source: y, from: 1, to: 2}]\n": -1} {
		high := 2.0
		if low < 0 {
			high = 5
		}
		tableOf(t, vehicle, plan, sections).requires(t, expect{"a", "x", nil, 5, 5}, expect{"b", "x", nil, low, high})
	}
}
