package codegen

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// craft is a vehicle that is compared with its program in C.
type craft struct {
	*model.Vehicle
	text string
	near float64 // tolerance, relative beyond 1; 0: the same number
}

// steady is a vehicle without switches.
type steady struct{ model.Instance }

func (steady) Switches([]bool) []model.Switch                            { return nil }
func (steady) Memory() []float64                                         { return nil }
func (steady) Hold([]bool, []float64)                                    {}
func (steady) Zeros(float64, []float64, []float64, []int, []float64)     {}
func (steady) React(float64, []float64, []float64, []float64, bool) bool { return false }
func (steady) Undefined() string                                         { return "" }

// fleet is the questions to a program with vehicles, and the answers of their instances in Go.
type fleet struct {
	*rand.Rand
	crafts []craft
	in     bytes.Buffer
	want   []answer

	v        model.Switching // the present one
	craft    *craft
	all      []int // its switches
	switched int   // points where sides that are held change a value
	changes  int   // reactions that change something
}

// answer is a line of the program's output.
type answer struct {
	*craft
	asked  string
	values []float64
}

func (f *fleet) expect(asked string, lists ...[]float64) {
	f.want = append(f.want, answer{f.craft, asked, slices.Concat(lists...)})
}

// line returns the numbers as a line.
func line(lists ...[]float64) string {
	var b strings.Builder
	for _, v := range slices.Concat(lists...) {
		b.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + " ")
	}
	return b.String()
}

func truth(is bool) []float64 { return []float64{float64(number(is))} }

// create asks for an instance, and returns whether it is possible.
func (f *fleet) create(k int, parameters []float64) bool {
	asked := "create " + strconv.Itoa(k) + " " + line(parameters)
	fmt.Fprintln(&f.in, asked)
	f.craft = &f.crafts[k]
	v, err := f.craft.New(parameters)
	if f.expect(asked, truth(err == nil)); err != nil {
		return false
	}
	s, switching := v.(model.Switching)
	if !switching {
		s = steady{v}
	}
	f.v, f.all = s, nil
	for i := range s.Switches(slices.Repeat([]bool{true}, len(f.craft.Outputs))) {
		f.all = append(f.all, i)
	}
	f.expect(asked, f.start())
	f.expect(asked, s.Memory())
	return true
}

func (f *fleet) start() []float64 {
	y := make([]float64, len(f.craft.States))
	f.v.Initial(y)
	return y
}

// zeros returns all indicators.
func (f *fleet) zeros(p *point) []float64 {
	g := make([]float64, len(f.all))
	f.v.Zeros(p.t, p.y, p.commands, f.all, g)
	return g
}

// rates returns derivatives and outputs with some sides.
func (f *fleet) rates(p *point, above []bool) (dydt, out []float64) {
	f.v.Hold(above, p.memory)
	dydt, out = make([]float64, len(p.y)), make([]float64, len(f.craft.Outputs))
	f.v.Derivatives(p.t, p.y, p.commands, dydt)
	f.v.Outputs(p.t, p.y, p.commands, out)
	return dydt, out
}

// point is where a vehicle is evaluated. Without sides, relations are evaluated directly.
type point struct {
	t                   float64
	y, commands, memory []float64
	above               []bool
	settled             bool
}

// ask asks for all values at a point. What the vehicle remembers after it is the memory of the next one.
func (f *fleet) ask(p *point) {
	sides := make([]float64, len(p.above))
	for i, above := range p.above {
		sides[i] = float64(number(above))
	}
	asked := "at " + line([]float64{p.t}, p.y, p.commands, p.memory, truth(p.above != nil), truth(p.settled), sides)
	fmt.Fprintln(&f.in, asked)
	plain, shown := f.rates(p, nil)
	dydt, out := f.rates(p, p.above)
	if line(plain, shown) != line(dydt, out) {
		f.switched++
	}
	f.expect(asked, dydt)
	f.expect(asked, out)
	f.expect(asked, f.zeros(p))
	y, memory := slices.Clone(p.y), slices.Clone(p.memory)
	changed := f.v.React(p.t, y, p.commands, memory, p.settled)
	if changed {
		f.changes++
	}
	f.expect(asked, truth(changed), y)
	f.expect(asked, memory)
	p.memory = memory
}

// near returns a value near one that a vehicle had, or that it may have.
func (f *fleet) near(x float64, r model.Range) float64 {
	least, most := r.Bounds()
	switch k := f.IntN(60); {
	case k == 0:
		return 0
	case k == 1:
		return x
	case k == 2 && f.craft.Name != "solar": // nobody asks it about an altitude of NaN
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300, -1e9}[f.IntN(6)]
	}
	if most-least < 1e9 && f.IntN(2) == 0 {
		return least + (most-least)*f.Float64()
	}
	return x*(0.5+f.Float64()) + math.Round(32*f.NormFloat64())/16
}

// visit asks for an instance of a vehicle, and for its values at n points.
func (f *fleet) visit(k, n int) {
	v := f.crafts[k].Vehicle
	parameters := v.Defaults()
	for i, p := range v.Parameters {
		switch least, most := p.Range().Bounds(); {
		case f.IntN(300) == 0:
			parameters[i] = []float64{least, most, math.Nextafter(least, math.Inf(-1)), math.Nextafter(most, math.Inf(1)),
				math.NaN(), -1}[f.IntN(6)]
		case f.IntN(4) == 0 && most-least < 10 && v.Name != "solar":
			parameters[i] = least + (most-least)*f.Float64()
		case f.IntN(2) == 0:
			parameters[i] = max(least, min(most, parameters[i]*(0.9+0.2*f.Float64())))
		}
	}
	if !f.create(k, parameters) && !f.create(k, v.Defaults()) {
		panic("a vehicle is impossible")
	}
	p, began := &point{memory: f.v.Memory()}, f.start()
	for range n {
		p.t, p.settled, p.above = f.Float64()*math.Pow(10, float64(f.IntN(6))), f.IntN(4) > 0, nil
		p.y, p.commands = slices.Clone(began), nil
		for i, s := range v.States {
			if p.y[i] = f.near(p.y[i], s.Range); v.Discrete != nil && v.Discrete[i] != "" {
				p.y[i] = float64(f.IntN(3))
			}
		}
		for _, c := range v.Commands {
			x := f.near(c.Default, c.Range)
			if _, typed := v.Typed[c.Name]; typed {
				x = float64(f.IntN(2))
			}
			p.commands = append(p.commands, x)
		}
		if f.IntN(4) == 0 {
			for i := range p.memory {
				p.memory[i] = float64(f.IntN(4) - 1)
			}
		}
		if f.IntN(4) > 0 {
			p.above = make([]bool, len(f.all)) // not nil
			f.v.Hold(nil, p.memory)
			for i, g := range f.zeros(p) {
				p.above[i] = g >= 0
			}
			for wrong := f.IntN(3); wrong > 0 && len(f.all) > 0; wrong-- {
				i := f.IntN(len(f.all))
				p.above[i] = !p.above[i]
			}
		}
		f.ask(p)
	}
}

// program compiles the vehicles to one program, and compares what it answers.
func (f *fleet) program(t *testing.T, compiler string) {
	t.Helper()
	folder := t.TempDir()
	var sources, names, pointers []string
	for i := range f.crafts {
		c := &f.crafts[i]
		v, err := c.New(c.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		name := c.Name
		if s := equations.SystemOf(v); s != nil {
			name = fmt.Sprint(c.Name, "-", i)
		}
		files, err := Vehicle(name, "a test", equations.SystemOf(v))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(folder, file.Name), []byte(file.Text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sources = append(sources, filepath.Join(folder, files[len(files)-1].Name))
		names, pointers = append(names, identifier(name)+"_vehicle"), append(pointers, "&"+identifier(name)+"_vehicle")
	}
	flags := []string{"-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		"-DDECLARATIONS=extern const canopy_vehicle " + strings.Join(names, ", "), "-DVEHICLES=" + strings.Join(pointers, ", ")}
	c := exec.Command(compile(t, compiler, flags, append(sources, "testdata/vehicles.c", "-lm")...))
	c.Stdin, c.Stderr = bytes.NewReader(f.in.Bytes()), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	for i := range f.want {
		w := &f.want[i]
		got := strings.Fields(lines[i])
		same := len(got) == len(w.values)
		for k := 0; same && k < len(got); k++ {
			x, err := strconv.ParseFloat(strings.ReplaceAll(got[k], "-nan", "nan"), 64)
			if err != nil {
				x = math.NaN()
			}
			same = w.same(x, w.values[k])
		}
		if !same {
			t.Fatalf("line %d, %s: %s\nin C: %v\nin Go: %s\n%s", i, w.Name, w.asked, lines[i], line(w.values), w.text)
		}
	}
}

// rounded is how near a value is if C rounds a function otherwise.
const rounded = 1e-12

// same reports whether a number is the same or, if a function may be rounded otherwise, almost the same.
func (c *craft) same(got, want float64) bool {
	if math.IsNaN(want) || math.IsNaN(got) {
		return math.IsNaN(want) == math.IsNaN(got)
	}
	tolerance := c.near
	if runtime.GOARCH != "amd64" { // Go may fuse multiplications and additions
		tolerance = max(tolerance, rounded)
	}
	return got == want || math.Abs(got-want) <= tolerance*max(1, math.Abs(want))
}

// readVehicle reads a vehicle; nil if it has mistakes.
func readVehicle(text string) *model.Vehicle {
	v, _ := equations.Read(&diag.Source{Name: "v.vehicle.yaml", Text: text})
	return v
}

// TestShippedVehiclesInC: the vehicles of equations that Canopy ships, those of the examples, of the pages and of the
// tests have in C the values that they have in Go.
func TestShippedVehiclesInC(t *testing.T) {
	f := &fleet{Rand: rand.New(rand.NewPCG(29, 2))}
	for _, v := range equations.Vehicles() {
		if v.Name != "solar" {
			f.crafts = append(f.crafts, craft{Vehicle: v, near: rounded})
		}
	}
	shipped := len(f.crafts)
	for _, pattern := range []string{"../examples/*/*.vehicle.yaml", "../cmd/canopy/testdata/missions/*.vehicle.yaml",
		"../docs/vehicles.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts := []string{string(text)}
			if strings.HasSuffix(file, ".md") {
				texts = nil
				for _, m := range regexp.MustCompile("(?s)```yaml\n(vehicle: .*?)```").FindAllStringSubmatch(string(text), -1) {
					texts = append(texts, m[1])
				}
			}
			for _, text := range texts {
				v := readVehicle(text)
				if v == nil {
					t.Fatalf("%s:\n%s", file, text)
				}
				f.crafts = append(f.crafts, craft{Vehicle: v, text: text, near: rounded})
			}
		}
	}
	if shipped < 4 || len(f.crafts) < shipped+16 {
		t.Errorf("%d vehicles, %d of them shipped, are not enough", len(f.crafts), shipped)
	}
	for k := range f.crafts {
		for range trees.Count(8, 2) {
			f.visit(k, 25)
		}
	}
	if f.switched < 100 || f.changes < 100 {
		t.Errorf("sides matter at %d points, and %d reactions change something: not enough", f.switched, f.changes)
	}
	f.program(t, "gcc")
	if !testing.Short() {
		f.program(t, "clang")
	}
}

// builder writes random vehicles: with relations, functions that turn or jump, tables, events and discrete states. Unless
// it is exact, they also have functions that C rounds otherwise, and then nothing that magnifies their last digit.
type builder struct {
	*rand.Rand
	exact bool
	names []string // of numbers that may be read
	facts []string // of truths
}

func (b *builder) one(list ...string) string { return list[b.IntN(len(list))] }

func (b *builder) number(depth int) string {
	if depth == 0 || b.IntN(6) == 0 {
		return b.one(b.one(b.names...), b.one(b.names...), b.one("0", "1", "2.5", "-0.25", "3"))
	}
	a := func() string { return b.number(depth - 1) }
	switch b.IntN(10) {
	case 0:
		return "-(" + a() + ")"
	case 1:
		return "if(" + b.truth(depth-1) + ", " + a() + ", " + a() + ")"
	case 2:
		return b.one("min", "max") + "(" + a() + ", " + a() + b.one("", ", "+a()) + ")"
	case 3:
		return b.one("f("+a()+")", "g("+a()+", "+a()+")", "h("+a()+")")
	case 4:
		return b.one("floor("+a()+")", "mod("+a()+", "+b.one("2", "1.5", "x")+")")
	case 5:
		return b.one("abs", "sign") + "(" + a() + ")"
	case 6:
		if b.exact {
			return fmt.Sprintf(b.one("sqrt(max(0, %s))", "sqrt(%s)", "(%s)^2", "2.5 / (%s)"), a())
		}
		return b.one(b.one("sin", "cos", "tanh", "atan")+"("+a()+")", "atan2("+a()+", "+a()+")", "exp(-abs("+a()+"))")
	}
	return "(" + a() + ") " + b.one("+", "-", "*") + " (" + a() + ")"
}

func (b *builder) truth(depth int) string {
	if depth == 0 || b.IntN(6) == 0 {
		return b.one(b.facts...)
	}
	switch b.IntN(5) {
	case 0:
		return "not (" + b.truth(depth-1) + ")"
	case 1:
		return "if(" + b.truth(depth-1) + ", " + b.truth(depth-1) + ", " + b.truth(depth-1) + ")"
	case 2:
		return "(" + b.truth(depth-1) + ") " + b.one("and", "or") + " (" + b.truth(depth-1) + ")"
	}
	return "(" + b.number(depth-1) + ") " + b.one("ge", "le", "gt", "lt", "==", "!=") + " (" + b.number(depth-1) + ")"
}

// vehicle returns the text of a random vehicle.
func (b *builder) vehicle() string {
	depth := 1 + b.IntN(3)
	b.names, b.facts = []string{"a", "k"}, []string{"true", "a ge 1", "k lt 2"}
	start := func() string { return fmt.Sprintf("min(3, max(-3, %s))", b.number(1)) }
	x, y := start(), b.one(start(), "0", "a")
	b.names = append(b.names, "x", "y", "n", "u", "(t / 1 [s])")
	b.facts = append(b.facts, "p", "q", "m == low", "x ge 1", "y lt 2.5", "2 ge u", "x lt y", "n == 1")
	outputs := ""
	for _, name := range []string{"o3", "o2", "o1"} { // each reads those before, which are after it in the file
		outputs = fmt.Sprintf("  %s: {value: \"%s\"}\n", name, b.number(depth)) + outputs
		b.names = append(b.names, name)
	}
	outputs = fmt.Sprintf("  w: {type: boolean, value: \"%s\"}\n", b.truth(depth)) + outputs
	b.facts = append(b.facts, "w")
	events := ""
	for range b.IntN(4) {
		events += fmt.Sprintf("  - {when: \"%s\", then: \"%s; %s\"}\n", b.truth(depth), b.one("x := "+b.number(1), "y := 2 * x - y",
			"x := y; y := x"), b.one("n := n + 1", "n := 0", "p := not p", "p := "+b.truth(1), "m := high", "m := if(p, low, m)"))
	}
	if events != "" {
		events = "events:\n" + events
	}
	clamp := b.one("error", "clamp")
	return fmt.Sprintf(`vehicle: random
parameters: {a: {default: 1.5, min: -2, max: 4}, k: {unit: deg, default: 40}}
states:
  x: {initial: "%s", derivative: "(%s) / 1 [s]", min: -2, max: 2.9}
  y: {initial: "%s", derivative: "(%s) / 1 [s]"}
discrete: {n: {type: integer}, p: {type: boolean, initial: true}, m: {type: enumeration, values: [low, high], initial: high}}
commands: {u: {default: 1}, q: {type: boolean}}
tables:
  f: {arguments: {x: {points: [-1, 0.5, 3]}}, values: [2, -1, 0.25], outside: %s}
  h: {arguments: {x: {points: [0, 2]}}, values: [-1, 3], outside: clamp}
  g: {arguments: {x: {points: [0, 1, 2.5]}, y: {points: [-7, -1, 3]}}, values: [[1, 2, 0], [3, 5, 1], [-8, 13, 2]], outside: %s}
outputs:
%s%s`, x, b.number(depth), y, b.number(depth), clamp, b.one("error", "clamp"), outputs, events)
}

// TestRandomVehiclesInC: random vehicles of equations have in C the values that they have in Go, with any sides and any
// memory: the same number, but for functions that C rounds otherwise.
func TestRandomVehiclesInC(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 3))
	f := &fleet{Rand: r}
	refused, used := 0, map[expr.Opcode]bool{}
	for n := trees.Count(80, 20); len(f.crafts) < n && refused < 10*n; {
		exact := len(f.crafts)%4 > 0
		text := (&builder{Rand: r, exact: exact}).vehicle()
		v := readVehicle(text)
		if v == nil {
			refused++
			continue
		}
		near := 0.0
		if !exact {
			near = rounded
		}
		f.crafts = append(f.crafts, craft{v, text, near})
		for range 8 {
			f.visit(len(f.crafts)-1, 5)
		}
		s := equations.SystemOf(f.v)
		for _, c := range slices.Concat(s.Derivatives, s.Outputs) {
			for _, in := range c.Program(true) {
				used[in.Op] = true
			}
		}
	}
	if n := len(f.crafts); 2*refused > 3*n || f.switched < 10*n || f.changes < 10*n {
		t.Errorf("%d of %d vehicles are refused, sides matter at %d points, %d reactions change something", refused, refused+n,
			f.switched, f.changes)
	}
	for _, o := range []expr.Opcode{expr.Above, expr.Lookup, expr.LookupTwo} {
		if !used[o] {
			t.Errorf("no vehicle has the instruction %s", o)
		}
	}
	f.program(t, "gcc")
}

// daylog has the rows of a run.
type daylog struct {
	record.Nothing
	times []float64
	rows  [][]float64
}

func (l *daylog) Sample(t float64, values []float64) error {
	l.times, l.rows = append(l.times, t), append(l.rows, slices.Clone(values))
	return nil
}

// TestSolarInC: the solar aircraft in C has the values of the one in Go at random points, also with other parameters,
// and on the way of the solar day. It refuses the same parameters.
func TestSolarInC(t *testing.T) {
	f := &fleet{Rand: rand.New(rand.NewPCG(29, 4)), crafts: []craft{{Vehicle: model.Vehicles()[0], near: 1e-11}}}
	v := f.crafts[0].Vehicle
	m, diags := mission.Read("../missions/solar-day.yaml", os.ReadFile, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	var names []string
	for _, s := range v.States {
		names = append(names, s.Name)
	}
	for _, c := range v.Commands {
		names = append(names, c.Name)
	}
	m = m.From(nil, nil, names, 300)
	x, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	l, more := &daylog{}, true
	x.Attach(l)
	for more && err == nil {
		more, err = x.Step()
	}
	if err != nil || len(l.rows) < 288 {
		t.Fatal(len(l.rows), err)
	}
	f.create(0, v.Defaults())
	for i, row := range l.rows {
		f.ask(&point{t: l.times[i], y: row[:len(v.States)], commands: row[len(v.States):]})
	}
	for i, p := range v.Parameters {
		parameters, possible := v.Defaults(), 0
		for _, value := range []float64{p.Min, p.Max, math.Nextafter(p.Min, math.Inf(-1)), math.Nextafter(p.Max, math.Inf(1)), math.NaN()} {
			parameters[i] = value
			possible += number(f.create(0, parameters))
		}
		if possible == 0 || possible > 2 {
			t.Errorf("%s: %d values are possible", p.Name, possible)
		}
	}
	for _, date := range [][3]float64{{2012, 2, 29}, {2013, 2, 29}, {2000, 2, 29}, {2013, 4, 31}, {2013, 1, 31}, {2013, 1.5, 3}, {2013.5, 1, 3}, {2013, 1, 3.5}} {
		parameters := v.Defaults()
		copy(parameters[2:], date[:])
		f.create(0, parameters)
	}
	for range trees.Count(60, 20) {
		f.visit(0, 40)
	}
	f.program(t, "gcc")
	if !testing.Short() {
		f.program(t, "clang")
	}
}

// TestVehiclesNotInC: a vehicle that is Go code without a port, and one that is too large, are refused.
func TestVehiclesNotInC(t *testing.T) {
	for want, e := range map[string]*expr.System{
		"the vehicle cart is Go code, of which there is no program in C":         nil,
		"the vehicle cart has 70000 numbers of a kind; C supports at most 65535": {Inputs: 70_000},
	} {
		if _, err := Vehicle("cart", "a test", e); err == nil || err.Error() != want {
			t.Errorf("%v, not: %s", err, want)
		}
	}
}
