package model

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/canopy-uav/canopy/expr"
)

var tagComment = regexp.MustCompile(`^# (?:[DPA]/)?([DPA])\b`)

// Every number of params.yaml is a parameter with that default and that tag, and every parameter is from there, except
// what the maps below say. Of two tags the second, the weaker, counts.
func TestParametersAreThoseGiven(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal(readGiven(t, "params.yaml"), &document); err != nil {
		t.Fatal(err)
	}
	elsewhere := map[string]float64{
		"airframe.g":       gravity,
		"solar.n_panels":   panelCount,
		"autopilot.R_hold": solar.Commands[commandHoldRadius].Default,
		"modes.CL_hold":    solar.Commands[commandCL].Default,
		"modes.h_low":      solar.Commands[commandAltitude].Default,
	}
	renamed := map[string]string{
		"autopilot.x0": "initial.x0", "autopilot.y0": "initial.y0", "autopilot.chi0_deg": "initial.chi0_deg",
	}
	untagged := map[string]Tag{"motor.alphaR": Published} // copper's
	parameters := map[string]Parameter{}
	for _, p := range solar.Parameters {
		parameters[p.Name] = p
	}
	// The trim at the start is that of the plan's hold.
	hold := map[string]string{"initial.CL": "modes.CL_hold", "initial.h": "modes.h_low"}

	root, seen := document.Content[0], map[string]bool{}
	for i := 0; i < len(root.Content); i += 2 {
		group, entries := root.Content[i].Value, root.Content[i+1].Content
		for k := 0; k < len(entries); k += 2 {
			name, node, value := group+"."+entries[k].Value, entries[k+1], 0.0
			if err := node.Decode(&value); err != nil {
				t.Fatal(err)
			}
			if to, ok := renamed[name]; ok {
				name = to
			}
			for own, given := range hold {
				if given == name && parameters[own].Default != value {
					t.Errorf("%s = %g, given %g", own, parameters[own].Default, value)
				}
			}
			if own, ok := elsewhere[name]; ok {
				if own != value {
					t.Errorf("%s is %g, given %g", name, own, value)
				}
				continue
			}
			if group == "modes" { // the plan's
				continue
			}
			p, ok := parameters[name]
			if !ok {
				t.Errorf("%s is not a parameter", name)
				continue
			}
			seen[name] = true
			if p.Default != value {
				t.Errorf("%s = %g, given %g", name, p.Default, value)
			}
			want, tagged := untagged[name].String(), untagged[name] != 0
			if m := tagComment.FindStringSubmatch(node.LineComment); m != nil {
				want, tagged = m[1], true
			}
			if !tagged || p.Tag.String() != want {
				t.Errorf("%s is tagged %v, given %q", name, p.Tag, node.LineComment)
			}
		}
	}
	for name := range parameters {
		if !seen[name] && hold[name] == "" {
			t.Errorf("%s is not in params.yaml", name)
		}
	}
}

// The reference's states and tolerances.
func TestStates(t *testing.T) {
	if len(solar.States) != 72 {
		t.Fatalf("%d states", len(solar.States))
	}
	tolerances := []float64{1e-2, 1e-2, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-5,
		1e-4, 1e-4, 1e-4, 1e-3, 1e-4, 1e-4, 1e-4, 1e-3, 1e-7, 1e-5, 1e-5, 1e-3}
	f := readFixtures(t)[0]
	for i, s := range solar.States {
		want := 1e-3
		if i < len(tolerances) {
			want = tolerances[i]
		}
		if s.AbsTol != want {
			t.Errorf("%s: absolute tolerance %g, want %g", s.Name, s.AbsTol, want)
		}
		if _, ok := f.State[s.Name]; !ok {
			t.Errorf("the reference has no state %s", s.Name)
		}
	}
}

// Every vehicle can be shown, checked and set by its metadata alone.
func TestMetadata(t *testing.T) {
	name := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
	dotted := regexp.MustCompile(`^[a-z]+\.[A-Za-z][A-Za-z0-9_]*$`)
	for _, v := range Vehicles() {
		seen := map[string]bool{}
		declare := func(name, unit, text string, pattern *regexp.Regexp, coherent bool) {
			t.Helper()
			if !pattern.MatchString(name) || seen[name] {
				t.Errorf("%s: the name %q is malformed or not unique", v.Name, name)
			}
			seen[name] = true
			u, err := expr.ParseUnit(unit)
			if err != nil {
				t.Errorf("%s: %s: %v", v.Name, name, err)
			} else if coherent && !u.Coherent() {
				t.Errorf("%s: the unit of %s, %s, is not coherent SI", v.Name, name, unit)
			}
			if text == "" || strings.ContainsAny(text, "\n|") {
				t.Errorf("%s: the text of %s is not one line", v.Name, name)
			}
		}
		for _, p := range v.Parameters {
			declare(p.Name, p.Unit, p.Text, dotted, false)
			if !(p.Min <= p.Default && p.Default <= p.Max) || !(p.Min < p.Max) || math.IsInf(p.Max-p.Min, 0) {
				t.Errorf("%s: %s = %g is not within %g to %g", v.Name, p.Name, p.Default, p.Min, p.Max)
			}
		}
		for _, s := range v.States {
			declare(s.Name, s.Unit, s.Text, name, true)
			if !(s.AbsTol > 0) {
				t.Errorf("%s: the tolerance of %s is %g", v.Name, s.Name, s.AbsTol)
			}
		}
		for _, o := range v.Outputs {
			declare(o.Name, o.Unit, o.Text, name, true)
		}
		for _, c := range v.Commands {
			declare(c.Name, c.Unit, c.Text, name, true)
			if !c.Range.Contains(c.Default) {
				t.Errorf("%s: %s = %g is not %v", v.Name, c.Name, c.Default, c.Range)
			}
		}
		instance, err := v.New(v.Defaults())
		if err != nil {
			t.Errorf("%s with its defaults: %v", v.Name, err)
			continue
		}
		y := make([]float64, len(v.States))
		instance.Initial(y)
		for i, s := range v.States {
			if !s.Range.Contains(y[i]) {
				t.Errorf("%s: %s starts at %g, which is not %v", v.Name, s.Name, y[i], s.Range)
			}
		}
	}
}

// At either end of its range every parameter, alone, still gives an aircraft whose derivatives at the start are finite,
// or an error with the reason.
func TestRangesAreSensible(t *testing.T) {
	y, rates := make([]float64, stateCount), make([]float64, stateCount)
	for i, p := range solar.Parameters {
		for _, value := range []float64{p.Min, p.Max} {
			values := solar.Defaults()
			values[i] = value
			instance, err := solar.New(values)
			if err != nil {
				t.Logf("%s = %g: %v", p.Name, value, err)
				continue
			}
			instance.Initial(y)
			for _, time := range []float64{0, 12 * 3600} {
				instance.Derivatives(time, y, defaultCommands(), rates)
				for k, r := range rates {
					if math.IsNaN(r) || math.IsInf(r, 0) {
						t.Fatalf("%s = %g: d%s/dt = %g at t = %g", p.Name, value, solar.States[k].Name, r, time)
					}
				}
			}
		}
	}
}

// An output changes with the commands that it declares, and with no other one.
func TestDirectOutputs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range Vehicles() {
		a, err := v.New(v.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		command := func(c Command) float64 {
			low, high := c.Range.Bounds()
			low, high = max(low, -1e4), min(high, 1e4)
			if r.IntN(4) == 0 {
				return low
			}
			return low + r.Float64()*(high-low)
		}
		moved := make([][]string, len(v.Outputs))
		y, u := make([]float64, len(v.States)), make([]float64, len(v.Commands))
		before, after := make([]float64, len(v.Outputs)), make([]float64, len(v.Outputs))
		for range 500 {
			a.Initial(y)
			for i := range y {
				y[i] *= 0.9 + 0.2*r.Float64()
			}
			for i, c := range v.Commands {
				u[i] = command(c)
			}
			now := 86400 * r.Float64()
			a.Outputs(now, y, u, before)
			for i, c := range v.Commands {
				other := slices.Clone(u)
				other[i] = command(c)
				a.Outputs(now, y, other, after)
				for k := range after {
					if after[k] != before[k] && !slices.Contains(moved[k], c.Name) {
						moved[k] = append(moved[k], c.Name)
					}
				}
			}
		}
		for k, o := range v.Outputs {
			slices.Sort(moved[k])
			if !slices.Equal(moved[k], slices.Sorted(slices.Values(o.Direct))) {
				t.Errorf("%s of %s changes with %v, declared are %v", o.Name, v.Name, moved[k], o.Direct)
			}
		}
	}
}
