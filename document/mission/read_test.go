package mission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/vehicle/model"
)

const idle = `<Action name="idle"/>`

// The mistakes of missions are those of the scripts: each is found, with its place, its code and its hint.
func TestMistakes(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		return func(t *testing.T, d golden.Directive) string {
			var diags diag.List
			switch d.Name {
			case "mission":
				yaml, sets, _ := strings.Cut(d.Input, "--set ")
				_, diags = cart.Read(idle, yaml, strings.Fields(sets)...)
			case "fence":
				_, diags = fenced(d.Args[0].Key, d.Input)
			case "place":
				tasks, yaml, _ := strings.Cut(d.Input, "\n---")
				_, diags = sited(tasks, strings.TrimPrefix(yaml, "\n"))
			}
			var b strings.Builder
			for _, x := range diags {
				line, column := x.Position()
				fmt.Fprintf(&b, "%s:%d:%d: %s: %s", x.Source.Name, line, column, x.Code, x.Text)
				if advice := x.Advice(); advice != "" {
					fmt.Fprintf(&b, "; %s", advice)
				}
				b.WriteString("\n")
			}
			return b.String()
		}
	}, "testdata/mistakes/*.txt")
	_, diags := cart.Read(idle, "text: \xff")
	matches(t, "not UTF-8", diags, "6:7 not-utf8")
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

// A state starts at a value, for proofs in a range around it.
func TestRangesOfStarts(t *testing.T) {
	m, diags := cart.Read(idle, "initial: {x: {value: 3, min: 1, max: 4}}\n")
	if m == nil {
		t.Fatal(diags)
	}
	instance, err := m.Vehicle.New(m.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	if at, among := m.Initial(instance)[0], m.Starts(instance)[0]; at != 3 || among != interval.Between(1, 4) {
		t.Errorf("x starts at %g, for proofs in %v", at, among)
	}
	for text, want := range map[string]string{
		"{value: 5, min: 1, max: 4}":       "out-of-range value min max",
		"{value: 1, max: 4}":               "out-of-range value min max",
		"{value: .nan, min: 1, max: 4}":    "",
		"{}":                               "out-of-range value min max",
		"{value: 1, min: 0, most: 4}":      "unknown-key most max",
		"{value: 1, min: [0], max: 4}":     "not-a-number",
		"{value: '1 [s]', min: 0, max: 4}": "unit-mismatch",
	} {
		if m, diags := cart.Read(idle, "initial: {x: "+text+"}\n"); m != nil {
			t.Errorf("%s is accepted", text)
		} else if want != "" {
			matches(t, text, diags[:1], want)
		}
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
	if len(diags) != 1 || diags[0].Hint != "known vehicles: cart; equations are in a .yaml file, an FMU is a .fmu file" {
		t.Errorf("%v", diags)
	}
}
