package mission_test

import (
	"strings"
	"testing"

	"canopy/diag"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/vehicle/model"
)

const idle = `<Action name="idle"/>`

// Every mistake of a mission file has its place, its code and a suggestion; all are found at once.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name, yaml, want string
		set              []string
	}{
		{name: "misspelt parameter", yaml: "parameters: {tua: 5}", want: `6:14 unknown-parameter tua did you mean "tau"?`},
		{name: "text for a number", yaml: "parameters: {tau: quick}", want: `6:19 not-a-number quick a bare number is in s`},
		{name: "wrong unit", yaml: "parameters: {tau: '5 [m]'}", want: `6:20 unit-mismatch 5 [m]`},
		{name: "out of range", yaml: "parameters: {tau: 5000}", want: `6:19 out-of-range 5000 time constant`},
		{name: "environment", yaml: "environment: {moon: 5}", want: `6:15 unknown-parameter moon did you mean "noon"?`},
		{name: "key of check", yaml: "facts: []", want: "6:1 unknown-key facts write it under `check`, two blanks deeper"},
		{name: "unknown key", yaml: "horizonn: 5", want: `6:1 unknown-key horizonn did you mean "horizon"?`},
		{name: "twice", yaml: "horizon: 5", want: `6:1 duplicate-name horizon`},
		{name: "negative", yaml: "tolerance: -1", want: `6:12 out-of-range -1 1e-6`},
		{name: "chattering", yaml: "chattering: stopp", want: `6:13 unknown-value stopp "stop"`},
		{name: "environment among the parameters", yaml: "parameters: {site.noon: 7}", want: `6:14 unknown-parameter noon environment`},
		{name: "state among the parameters", yaml: "parameters: {x: 7}", want: `6:14 unknown-parameter state initial`},
		{name: "environment by its short name", set: []string{"noon=7"}, want: `--set:1:1 unknown-parameter site.noon`},
		{name: "chattering as a list", yaml: "chattering: [stop]", want: `6:13 wrong-type`},
		{name: "method", yaml: "method: multisteps", want: `6:9 unknown-value multisteps "multistep"`},
		{name: "method beside the file", set: []string{"method=euler"}, want: `--set:1:8 unknown-value "euler"`},
		{name: "signal name", yaml: "signals: {a b: {default: 1}}", want: `6:11 wrong-name`},
		{name: "signal named as a word", yaml: "signals: {if: {default: 1}}", want: `6:11 wrong-name`},
		{name: "time recorded", yaml: "plots: [{title: A, signals: [x, t]}]", want: `6:33 unknown-signal every sample`},
		{name: "outage of nothing", yaml: "outages: [{from: 3}]", want: `6:11 missing-key source`},
		{name: "unknown source", yaml: "outages: [{source: nearby}]", want: `6:20 unknown-source nearby "nearly"?`},
		{name: "outage that ends early", yaml: "outages: [{source: x, from: 3, to: 3}]", want: `6:36 out-of-range 3`},
		{name: "outage before the start", yaml: "outages: [{source: x, from: -3}]", want: `6:29 out-of-range -3`},
		{name: "known of a slot", yaml: "signals: {w: {type: boolean, value: known(gear)}}", want: `6:37 always-known outages`},
		{name: "name of a source", yaml: "outages: [{source: x}]\nsignals: {known.x: {type: boolean}}", want: `7:11 duplicate-name`},
		{name: "empty plot", yaml: "plots: [{title: A}]", want: `6:9 missing-key signals`},
		{name: "second document", yaml: "---\nplan: other.xml", want: `second-document`},
		{name: "not UTF-8", yaml: "text: \xff", want: `6:7 not-utf8`},
		{name: "boolean", yaml: "ends_with_plan: 7", want: `6:17 wrong-type 7 true or false`},
		{name: "initial", yaml: "initial: {xx: 7}", want: `6:11 unknown-state xx did you mean "x"?`},
		{name: "command", yaml: "commands: {geer: {hold: true}}", want: `6:12 unknown-signal geer did you mean "gear"?`},
		{name: "signal expression", yaml: "signals: {gap: {unit: m, value: x + tee}}", want: `6:37 unknown-signal tee`},
		{name: "signal unit", yaml: "signals: {gap: {unit: m, value: x + v}}", want: `6:37 unit-mismatch x + v`},
		{name: "type", yaml: "signals: {g: {type: bool}}", want: `6:21 unknown-value bool`},
		{name: "value of an enumeration", yaml: "signals: {g: {type: enumeration, values: [up, down], default: upp}}", want: `6:63 unknown-value "up"`},
		{name: "no values", yaml: "signals: {g: {type: enumeration}}", want: `6:11 missing-key values`},
		{name: "value twice", yaml: "signals: {g: {type: enumeration, values: [up, up]}}", want: `6:47 duplicate-name up`},
		{name: "value named as a signal", yaml: "signals: {g: {type: enumeration, values: [x]}}", want: `6:10 duplicate-name x`},
		{name: "values of a real", yaml: "signals: {g: {values: [up]}}", want: `6:23 wrong-type enumeration`},
		{name: "unit of an integer", yaml: "signals: {g: {type: integer, unit: m}}", want: `6:36 wrong-type unit`},
		{name: "half an integer", yaml: "signals: {g: {type: integer, default: 0.5}}", want: `6:39 wrong-type 0.5`},
		{name: "computed fraction", yaml: "signals: {g: {type: integer, value: 'x / 2 [m]'}}", want: `6:38 wrong-type fraction`},
		{name: "computed value", yaml: "signals: {g: {type: enumeration, values: [a], value: b}}", want: `6:54 unknown-value b`},
		{name: "value named as a computed signal", yaml: "signals: {g: {type: enumeration, values: [c]}, c: {value: '1'}}",
			want: "6:10 duplicate-name c"},
		{name: "signal named as another", yaml: "signals: {x: {unit: m}}", want: `6:11 duplicate-name x`},
		{name: "two sources", yaml: "signals: {g: {hold: true, value: '1'}}", want: "6:11 two-sources g `value`"},
		{name: "unit unknown", yaml: "signals: {g: {unit: furlong}}", want: `6:21 unknown-unit furlong`},
		{name: "unit not SI", yaml: "signals: {g: {unit: km}}", want: `6:21 unknown-unit km SI units`},
		{name: "plots", yaml: "plots: [{title: A, signals: [y]}]", want: `6:30 unknown-signal y`},
		{name: "loop", yaml: "signals: {a: {value: b}, b: {value: a}}", want: `6:22 algebraic-loop b a reads b reads a`},
		{name: "loop through the vehicle", yaml: "signals: {a: {unit: m/s, default: 1}}\ncommands: {v: {default: 0}}",
			want: `0:0`},
		{name: "syntax", yaml: "plots: [", want: `yaml-syntax`},
		{name: "list for a mapping", yaml: "parameters: [1]", want: `6:13 wrong-type parameters must be a mapping`},
		{name: "command out of range", yaml: "commands: {gear: {default: 9}}", want: `6:28 out-of-range gear 9`},
		{name: "state out of range", yaml: "initial: {x: -2000}", want: `6:14 out-of-range x -2000`},
		{name: "endless", set: []string{"horizon=1e300"}, want: `--set:1:9 out-of-range centuries`},
		{name: "override unknown", set: []string{"tao=7"}, want: `--set:1:1 unknown-parameter tao did you mean "tau"?`},
		{name: "override without value", set: []string{"tau"}, want: `--set:1:1 syntax tau name=value`},
		{name: "override with text", set: []string{"tau=fast"}, want: `--set:1:5 not-a-number fast`},
	} {
		_, diags := cart.Read(idle, c.yaml, c.set...)
		if c.want == "0:0" {
			if diags.HasErrors() {
				t.Errorf("%s: %v", c.name, diags)
			}
			continue
		}
		matches(t, c.name, diags, c.want)
	}
}

// matches compares a list of one diagnostic with `[file:]line:column code word...`; each word must be in the message,
// its marked text or its hint.
func matches(t *testing.T, name string, diags diag.List, want string) {
	t.Helper()
	if len(diags) != 1 {
		t.Errorf("%s: want one diagnostic, got:\n%v", name, diags)
		return
	}
	var b strings.Builder
	diags.Write(&b, false)
	text := strings.Replace(b.String(), "m/test.yaml:", "", 1)
	for _, w := range strings.Fields(want) {
		if !strings.Contains(text, w) {
			t.Errorf("%s: no %q in:\n%s", name, w, text)
		}
	}
}

// Several mistakes, in the mission and in its plan, are reported together.
func TestAllMistakesAtOnce(t *testing.T) {
	_, diags := cart.Read(`<Sequence><Condition ID="a" on="xx gt 1"/><Condition ID="b" on="x gt 1 [s]"/></Sequence>`,
		"parameters: {tua: 1}\nrecords: 7\nplots: [{title: A, signals: [y]}]\n")
	var codes []string
	for _, d := range diags {
		codes = append(codes, d.Code)
	}
	got := strings.Join(codes, " ")
	for _, want := range []string{"unknown-key", "unknown-parameter", "unknown-signal", "unit-mismatch"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s among %s", want, got)
		}
	}
	if len(diags) != 5 {
		t.Errorf("%d diagnostics, want 5:\n%v", len(diags), diags)
	}
}

func TestMissingFilesAndVehicles(t *testing.T) {
	vehicles := model.Offers(cart.Vehicle)
	f := cart.Files{"a.yaml": "", "b.yaml": "mission: b\nplan: no.xml\nvehicle: cart\nhorizon: 5",
		"plan.xml": cart.Plan(idle), "c.yaml": "plan: plan.xml\nvehicle: cat\nhorizon: 5", "d.yaml": "mission: d", "e.yaml": "just words"}
	for name, want := range map[string]string{
		"none.yaml": "unreadable-file none.yaml not exist",
		"a.yaml":    "a.yaml:1:1 empty-file",
		"b.yaml":    "b.yaml:2:7 unreadable-file no.xml relative",
		"c.yaml":    `c.yaml:2:10 unknown-vehicle "cat" "cart"`,
		"e.yaml":    "e.yaml:1:1 wrong-type mapping",
	} {
		m, diags := mission.Read(name, f.Open, vehicles, nil)
		if m != nil {
			t.Errorf("%s: a mission in spite of mistakes", name)
		}
		if name == "e.yaml" {
			diags = diags[:1]
		}
		matches(t, name, diags, want)
	}
	if _, diags := mission.Read("d.yaml", f.Open, vehicles, nil); len(diags) != 3 {
		t.Errorf("a mission without plan, vehicle and horizon: %v", diags)
	}
}

// The plan's path is relative to the mission's folder; parameters, environment and --set arrive at the vehicle.
func TestSettings(t *testing.T) {
	m, diags := cart.Read(idle, "parameters: {tau: '2 [min]'}\nenvironment: {noon: 7}\ncommands: {gear: {default: 4}}\ninitial: {x: 3}\n", "site.noon=9", "horizon=1h30s")
	if m == nil {
		t.Fatal(diags)
	}
	if m.Parameters[0] != 120 || m.Parameters[1] != 9 || m.Horizon != 3630 {
		t.Errorf("tau %g, noon %g, horizon %g; want 120, 9, 3630", m.Parameters[0], m.Parameters[1], m.Horizon)
	}
	if instance, err := m.Vehicle.New(m.Parameters); err != nil || m.Initial(instance)[0] != 3 {
		t.Errorf("x does not start at 3: %v", err)
	}
	if got := m.Program.Slots[1].Initial; got != 4 {
		t.Errorf("gear starts at %g, want 4", got)
	}
}

// A controller that reads what its own command decides at the same instant is refused.
func TestAlgebraicLoop(t *testing.T) {
	_, diags := cart.Read(`<Action ID="go" write="v := 2 * push"/>`, "")
	matches(t, "loop", diags, `m/plan.xml:1: algebraic-loop v push reads`)
	if m, diags := cart.Read(`<Action ID="go" write="v := 0.1 [1/s] * nearly"/>`, ""); m == nil {
		t.Errorf("an output that does not depend on the commands is no loop: %v", diags)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(cart.Head)
	f.Add("mission: [")
	f.Add("plan: plan.xml\nvehicle: cart\nhorizon: 1\nsignals: {a: {value: b}, b: {value: a}}\nplots: [{signals: [a]}]")
	f.Fuzz(func(t *testing.T, text string) {
		files := cart.Files{"m/test.yaml": text, "m/plan.xml": cart.Plan(idle)}
		m, diags := mission.Read("m/test.yaml", files.Open, model.Offers(cart.Vehicle), nil)
		if (m == nil) != diags.HasErrors() {
			t.Errorf("mission %v with diagnostics %v", m, diags)
		}
		for _, d := range diags {
			if d.Offset < 0 || d.Offset+d.Length > len(d.Source.Text) {
				t.Errorf("a diagnostic outside its file: %v", d)
			}
		}
	})
}

// A recording grid so fine that it fills a disk is refused.
func TestFineGrid(t *testing.T) {
	f := cart.Files{"m.yaml": "plan: plan.xml\nvehicle: cart\nhorizon: 5\nrecord: {interval: 1e-9}", "plan.xml": cart.Plan(idle)}
	_, diags := mission.Read("m.yaml", f.Open, model.Offers(cart.Vehicle), nil)
	matches(t, "grid", diags, `m.yaml:4:20 out-of-range 0.001`)
}

// Mistakes in a vehicle's file come with those of the mission and of the plan.
func TestMistakesOfEquations(t *testing.T) {
	wrong := strings.Replace(cart.Equations, "-T / tau", "-T / tua", 1)
	f := cart.Files{"m.yaml": "plan: plan.xml\nvehicle: cart.vehicle.yaml\nhorizon: -1", "cart.vehicle.yaml": wrong,
		"plan.xml": cart.Plan(`<Action on="x"/>`)}
	_, diags := mission.Read("m.yaml", f.Open, nil, nil)
	for _, part := range []string{"m.yaml:3:10: error: horizon must be positive", `did you mean "tau"?`,
		"cart.vehicle.yaml:7:48: error: unknown signal", `no attribute "on"`} {
		if !strings.Contains(diags.Error(), part) {
			t.Errorf("the list lacks %q:\n%s", part, diags)
		}
	}
	f["m.yaml"] = "plan: plan.xml\nvehicle: crat.vehicle.yaml\nhorizon: 1"
	f["plan.xml"] = cart.Plan(idle)
	_, diags = mission.Read("m.yaml", f.Open, nil, nil)
	matches(t, "m.yaml", diags, `m.yaml:2:10 unreadable-file crat relative to the mission file`)
}

// A mission without a vehicle is told which there are.
func TestMissingVehicle(t *testing.T) {
	f := cart.Files{"m/test.yaml": "mission: m\nplan: plan.xml\nhorizon: 9\n", "m/plan.xml": cart.Plan(`<Action name="a"/>`)}
	_, diags := mission.Read("m/test.yaml", f.Open, model.Offers(cart.Vehicle), nil)
	if len(diags) != 1 || diags[0].Hint != "known vehicles: cart; equations are in a .yaml file" {
		t.Errorf("%v", diags)
	}
}
