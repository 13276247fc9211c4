package equations

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/vehicle/model"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/vehicles.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tank is the example of docs/vehicles.md.
func tank(t *testing.T) *model.Vehicle {
	t.Helper()
	_, rest, _ := strings.Cut(page(t), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	v, diags := Read(&diag.Source{Name: "tank.vehicle.yaml", Text: example})
	if v == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	return v
}

// The example of the page is a vehicle, and its derivatives and outputs equal manually computed ones.
func TestDocumentedExample(t *testing.T) {
	v := tank(t)
	if v.Name != "tank" || len(v.Parameters) != 4 || len(v.States) != 2 || len(v.Outputs) != 3 || len(v.Commands) != 2 {
		t.Fatalf("read %+v", v)
	}
	p := v.Defaults()
	p[2] = 2 // tau [h]
	i, err := v.New(p)
	if err != nil {
		t.Fatal(err)
	}
	y, dydt, out := make([]float64, 2), make([]float64, 2), make([]float64, 3)
	i.Initial(y)
	if !slices.Equal(y, []float64{1, 290}) {
		t.Errorf("starts at %v", y)
	}
	y[0], y[1] = 0.5, 300
	commands := []float64{0.01, 1000}
	i.Derivatives(7, y, commands, dydt)
	drain := 0.002 * math.Sqrt(2*9.81*0.5)
	want := []float64{(0.01 - drain) / 2, -10./7200 + 1000/(4.2e6*2*0.5)}
	i.Outputs(7, y, commands, out)
	for k, got := range append(dydt, out...) {
		if w := append(want, drain, 8.4e6, 8.4e6*0.5*10)[k]; math.Abs(got-w) > 1e-14*math.Abs(w) {
			t.Errorf("value %d is %v, want %v", k, got, w)
		}
	}
	if v.Outputs[0].Direct != nil || v.Outputs[2].Direct != nil || !v.Commands[1].Hold || v.Parameters[0].Tag != model.Published {
		t.Errorf("read %+v", v)
	}
}

// Every example of the page is a vehicle.
func TestDocumentedExamples(t *testing.T) {
	parts := strings.Split(page(t), "```yaml\n")[1:]
	for _, part := range parts {
		example, _, _ := strings.Cut(part, "```")
		if v, diags := Read(&diag.Source{Name: "v.yaml", Text: example}); v == nil || len(diags) > 0 {
			t.Error(diags)
		}
	}
	if len(parts) < 2 {
		t.Errorf("%d examples", len(parts))
	}
}

// A value outside its parameter's range is refused, also one that puts a state outside.
func TestParametersAreChecked(t *testing.T) {
	v := tank(t)
	for _, wrong := range []struct {
		parameter int
		value     float64
	}{{0, 0}, {0, 101}, {2, math.NaN()}, {1, math.Inf(1)}, {3, 4}} {
		p := v.Defaults()
		p[wrong.parameter] = wrong.value
		if _, err := v.New(p); !errors.Is(err, model.ErrParameters) {
			t.Errorf("%s = %g: %v", v.Parameters[wrong.parameter].Name, wrong.value, err)
		}
	}
}

// Outputs are computed in the order in which they need each other, and depend on commands through others.
func TestOutputsReadOutputs(t *testing.T) {
	_, diags := Read(&diag.Source{Name: "v.yaml", Text: `
states: {x: {derivative: c}}
outputs: {a: {value: 2 * b}, b: {value: x + c}, c: {value: -u}, d: {value: x}}
commands: {u: {}}
`})
	// the derivative of a pure number is in 1/s
	if len(diags) != 1 || diags[0].Code != "unit-mismatch" {
		t.Fatal(diags)
	}
	v, diags := Read(&diag.Source{Name: "v.yaml", Text: `
states: {x: {unit: m, derivative: c}}
outputs: {a: {unit: m, value: 2 * b}, b: {unit: m, value: "x + c * 1 [s]"}, c: {unit: m/s, value: -u}, d: {unit: m, value: x}}
commands: {idle: {unit: m/s}, u: {unit: m/s}}
`})
	if v == nil {
		t.Fatal(diags)
	}
	i, _ := v.New(nil)
	out := make([]float64, 4)
	i.Outputs(0, []float64{5}, []float64{0, 3}, out)
	if !slices.Equal(out, []float64{4, 2, -3, 5}) {
		t.Errorf("outputs %v", out)
	}
	for k, direct := range [][]string{{"u"}, {"u"}, {"u"}, nil} {
		if !slices.Equal(v.Outputs[k].Direct, direct) {
			t.Errorf("%s depends on %v", v.Outputs[k].Name, v.Outputs[k].Direct)
		}
	}
	i.Outputs(0, []float64{5}, []float64{0, 7}, out)
	dydt := make([]float64, 1)
	if i.Derivatives(0, []float64{5}, []float64{0, 3}, dydt); dydt[0] != -3 {
		t.Errorf("the derivative %g remembers an earlier command", dydt[0])
	}
}

// Formulas contain numbers in place of parameters, converted to SI.
func TestFormulas(t *testing.T) {
	i, err := tank(t).New([]float64{0.5, 300, 4, 1})
	if err != nil {
		t.Fatal(err)
	}
	f, ok := FormulasOf(i)
	if !ok || len(f.Derivatives) != 2 || len(f.Outputs) != 3 {
		t.Fatal(f, ok)
	}
	for _, c := range [][2]string{
		{f.Derivatives[0].String(), "(inflow - drain) / 0.5"},
		{f.Derivatives[1].String(), "(300 - T) / 14400 + heating / (capacity * h)"},
		{f.Outputs[1].String(), "4.2e+06 [J/(m^3 K)] * 0.5"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	v := tank(t)
	i, err := v.New(v.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	y, dydt, out, commands := []float64{1, 300}, make([]float64, 2), make([]float64, 3), []float64{0.01, 5}
	x := i.(model.Switching)
	if list := x.Switches([]bool{true, true, true}); len(list) != 1 || list[0].Text != "h >= 0" || !list[0].Rates ||
		!list[0].Steady || list[0].Of != 0 {
		t.Fatalf("switches %+v", list)
	}
	above, which, g := []bool{true}, []int{0}, make([]float64, 1)
	if n := testing.AllocsPerRun(100, func() {
		x.Hold(above, nil)
		i.Derivatives(1, y, commands, dydt)
		i.Outputs(1, y, commands, out)
		x.Zeros(1, y, commands, which, g)
	}); n != 0 || g[0] != 1 {
		t.Errorf("%g allocations", n)
	}
}

// Reading a vehicle and taking its formulas allocates in proportion to its states.
func TestReadingIsLinear(t *testing.T) {
	bytes := func(n int) (allocated float64) {
		text := fmt.Sprintf("sizes: {n: %d}\nstates: {T: {for: i in 1:n, initial: i, derivative: \"-T[i] / 1 [s] * u[i]\"}}\n"+
			"discrete: {d: {for: i in 1:n, type: boolean, initial: 'false'}}\n"+
			"outputs: {u: {for: i in 1:n, value: 'if(d[i], T[i], 1)'}}\n"+
			"events: [{for: i in 1:n, when: 'T[i] lt 0.5', then: 'd[i] := true'}]\n", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, diags := Read(&diag.Source{Name: "v.yaml", Text: text})
		if v == nil {
			t.Fatal(diags)
		}
		i, err := v.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := FormulasOf(i); !ok || len(f.Derivatives) != 2*n || f.Outputs[0].String() != "if(d.1 >= 0.5, T.1, 1)" {
			t.Fatalf("formulas %v %v", ok, f.Outputs[0])
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	bytes(1) // what only the first call allocates
	if few, many := bytes(300), bytes(1200); many > 5*few {
		t.Errorf("%.1f times the memory for four times the states", many/few)
	}
}

// The scripts in testdata/golden read files with mistakes.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		return func(_ *testing.T, d golden.Directive) string {
			var b strings.Builder
			v, diags := Read(&diag.Source{Name: "v.yaml", Text: d.Input + "\n"})
			diags.Write(&b, false)
			if v != nil {
				b.WriteString("a vehicle\n")
			}
			return b.String()
		}
	}, "testdata/golden/*")
}

// The table of codes on the page is that of the source and of what comes from expressions; docs/missions.md has those of
// every YAML file.
func TestDocumentedCodes(t *testing.T) {
	want := []string{"unit-mismatch", "unknown-signal"} // found by expr
	for _, file := range []string{"read.go", "arrays.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:Code: |Add\(.+?, |Unknown\(\w+, )"([a-z0-9-]+)"`).FindAllStringSubmatch(string(text), -1) {
			want = append(want, m[1])
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(page(t), -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the codes\n%v\nthe source\n%v", got, want)
	}
}

// FuzzRead: no text makes Read panic; a vehicle that it accepts can be made and evaluated; every mistake lies in the
// file.
func FuzzRead(f *testing.F) {
	f.Add("states: {x: {unit: m, derivative: v, initial: a}}\ncommands: {v: {unit: m/s, min: 0}}\nparameters: {a: {unit: km, default: 1}}")
	f.Add("states: {x: {derivative: y}}\noutputs: {y: {unit: 1/s, value: z}, z: {unit: 1/s, value: y}}")
	f.Add("states: &s {x: {derivative: 0, tolerance: -1}}\noutputs: *s")
	f.Add("sizes: {n: 3}\nstates: {x: {for: i in 1:n, derivative: \"sum(k in 1:n, x[k]) / 1 [s]\"}}")
	f.Add("states: {x: {derivative: \"f(x) / 1 [s]\"}}\ntables: {f: {arguments: {a: {points: [0, 1]}}, values: [1, 2]}}")
	f.Add("states: {x: {derivative: 1}}\ndiscrete: {n: {type: integer}}\nevents: [{when: x gt n, then: n := n + 1}]")
	f.Fuzz(func(t *testing.T, text string) {
		v, diags := Read(&diag.Source{Name: "v.yaml", Text: text})
		if (v == nil) != diags.HasErrors() {
			t.Fatalf("vehicle %v with diagnostics %v", v, diags)
		}
		for _, d := range diags {
			if d.Offset < 0 || d.Offset+d.Length > len(text) {
				t.Errorf("a diagnostic outside its file: %v", d)
			}
		}
		if v == nil {
			return
		}
		i, err := v.New(v.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, len(v.States))
		i.Initial(y)
		commands := make([]float64, len(v.Commands))
		i.Derivatives(0, y, commands, make([]float64, len(y)))
		i.Outputs(0, y, commands, make([]float64, len(v.Outputs)))
	})
}
