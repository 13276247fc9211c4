package codegen

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/trees"
)

// wording writes random expressions over x, y, z, and the truths p and q.
type wording struct{ *rand.Rand }

func (r wording) one(list ...string) string { return list[r.IntN(len(list))] }

func (r wording) number(depth int) string {
	if depth == 0 {
		return r.one("x", "y", "z", "0", "1", "2.5", "-0.25", "1e9", "3")
	}
	a := func() string { return r.number(depth - 1) }
	switch r.IntN(8) {
	case 0:
		return "-(" + a() + ")"
	case 1:
		return "if(" + r.truth(depth-1) + ", " + a() + ", " + a() + ")"
	case 2:
		return r.one("abs", "sqrt", "sign", "floor", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "tanh", "bitnot") +
			"(" + a() + ")"
	case 3:
		return r.one("min", "max", "atan2", "mod", "bitand", "bitor", "bitxor") + "(" + a() + ", " + a() + ")"
	case 4:
		return r.one("("+a()+")^"+r.one("2", "3", "0.5"), "f("+a()+")", "g("+a()+", "+a()+")")
	}
	return "(" + a() + ") " + r.one("+", "-", "*", "/") + " (" + a() + ")"
}

func (r wording) truth(depth int) string {
	if depth == 0 {
		return r.one("p", "q", "x ge 1", "y lt 2.5", "2 ge z", "x lt y", "true")
	}
	switch r.IntN(5) {
	case 0:
		return "not (" + r.truth(depth-1) + ")"
	case 1:
		return "if(" + r.truth(depth-1) + ", " + r.truth(depth-1) + ", " + r.truth(depth-1) + ")"
	case 2:
		return "(" + r.number(depth-1) + ") " + r.one("ge", "le", "gt", "lt", "==", "!=") + " (" + r.number(depth-1) + ")"
	}
	return "(" + r.truth(depth-1) + ") " + r.one("and", "or") + " (" + r.truth(depth-1) + ")"
}

// expressions are random ones over six signals, with tables f and g, and vectors of their signals.
type expressions struct {
	codes   []*expr.Code
	texts   []string
	tables  map[string]*expr.Tabulated
	vectors [][]float64
}

func randomExpressions(t *testing.T) *expressions {
	r := wording{rand.New(rand.NewPCG(52, 1))}
	scope := expr.Scope{}
	names := []string{"t", "x", "y", "z", "p", "q"}
	for i, name := range names {
		scope[name] = expr.Variable{Unit: expr.AnyUnit, Held: true}
		if i > 3 {
			scope[name] = expr.Variable{Type: expr.Boolean}
		}
	}
	axis := func(points ...float64) expr.Abscissa { return expr.Abscissa{Unit: expr.AnyUnit, Points: points} }
	x := &expressions{tables: map[string]*expr.Tabulated{
		"f": {Axes: []expr.Abscissa{axis(-1, 0.5, 3)}, Values: []float64{2, -1, 0.25}},
		"g": {Axes: []expr.Abscissa{axis(0, 1, 2.5), axis(-7, 3)}, Values: []float64{1, 2, 3, 5, -8, 13}, Clamp: true},
	}}
	for name, table := range x.tables {
		table.Text = name
		scope[name] = expr.Variable{Unit: expr.AnyUnit, Table: table}
	}
	refused, used := 0, map[expr.Opcode]bool{expr.Above: true} // which follows the sides of a simulation
	for len(x.codes) < trees.Count(3_000, 400) {
		text, typ := r.number(r.IntN(4)), expr.Real
		if len(x.codes)%2 == 1 {
			text, typ = r.truth(r.IntN(4)), expr.Boolean
		}
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if e.Check(typ, expr.AnyUnit, scope) != nil {
			refused++
			continue
		}
		c := expr.NewCompiler(scope, func(name string) (int, bool) {
			i := slices.Index(names, name)
			return i, i >= 0
		}).Compile(e)
		for _, in := range c.Program(false) {
			used[in.Op] = true
		}
		x.codes, x.texts = append(x.codes, c), append(x.texts, text)
	}
	for o := expr.Constant; o <= expr.Jump; o++ {
		if !used[o] && !testing.Short() {
			t.Errorf("no expression has the instruction %s", o)
		}
	}
	if refused > len(x.codes) {
		t.Errorf("%d expressions are refused", refused)
	}
	values := []float64{0, 1, 2.5, -1, 3, 0.5, 1e300, -7, 1 << 53, math.Inf(1), math.NaN()}
	for range 40 {
		x.vectors = append(x.vectors, []float64{0, values[r.IntN(len(values))], values[r.IntN(len(values))], r.Float64()*8 - 4,
			float64(r.IntN(2)), float64(r.IntN(2))})
	}
	return x
}

// run runs a program that reads the vectors, and compares the values that it writes: those of all expressions for each.
func (x *expressions) run(t *testing.T, program ...string) {
	var in bytes.Buffer
	for _, s := range x.vectors {
		fmt.Fprintln(&in, strings.Trim(fmt.Sprint(s), "[]"))
	}
	c := exec.Command(program[0], program[1:]...)
	c.Stdin = &in
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	for k, s := range x.vectors {
		for i, code := range x.codes {
			got, err := strconv.ParseFloat(strings.ReplaceAll(lines[k*len(x.codes)+i], "-nan", "nan"), 64)
			if err != nil {
				t.Fatal(err)
			}
			want := code.Value(s, nil)
			near := math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want)) || math.IsNaN(got) && math.IsNaN(want) || got == want
			if !near && !strings.ContainsAny(x.texts[i], "^") && !transcendental(x.texts[i]) {
				t.Fatalf("%s at %v: %g in the program, %g in Go", x.texts[i], s, got, want)
			}
		}
	}
}

// TestExpressions: an expression in C or Lua has the value that it has in Go, but for the last digits of functions such
// as a sine.
func TestExpressions(t *testing.T) {
	x := randomExpressions(t)
	place, table := func(i int) int { return i }, func(t *expr.Tabulated) string { return t.Text }
	t.Run("C", func(t *testing.T) {
		var source bytes.Buffer
		source.WriteString("#include \"canopy_program.h\"\n#include <math.h>\n#include <stdio.h>\n")
		for name, table := range x.tables {
			source.WriteString(tableText(name, table))
		}
		list := ""
		for i, c := range x.codes {
			fmt.Fprintf(&source, "static double f%d(const double *s) {\n  (void)s;\n%s}\n", i, inC.body(c, false, false, terms{place: place, table: table}))
			list += fmt.Sprintf("f%d, ", i)
		}
		fmt.Fprintf(&source, "static const canopy_value all[] = {%s};\nint main(void) {\n  double s[6];\n  while (scanf(\"%%lf %%lf"+
			" %%lf %%lf %%lf %%lf\", &s[0], &s[1], &s[2], &s[3], &s[4], &s[5]) == 6) {\n    for (int i = 0; i < %d; i++) {\n"+
			"      printf(\"%%.17g\\n\", all[i](s));\n    }\n  }\n  return 0;\n}\n", list, len(x.codes))
		file := filepath.Join(t.TempDir(), "all.c")
		if err := os.WriteFile(file, source.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		x.run(t, compile(t, "gcc", []string{"-O1"}, file, "runtime/canopy_program.c", "runtime/canopy.c", "-lm"))
	})
	t.Run("Lua", func(t *testing.T) {
		interpreter := lua(t)
		if short(t, interpreter) {
			t.Skip(interpreter + " has numbers of 32 bits")
		}
		var source strings.Builder
		source.WriteString(luaTree + luaProgram)
		l := &luaPrinter{}
		for name, table := range x.tables {
			fmt.Fprintf(&source, "local %s = %s\n", name, l.row(tabulated(table)))
		}
		source.WriteString("local all = {\n")
		for _, c := range x.codes {
			fmt.Fprintf(&source, "function(s)\n%send,\n", inLua.body(c, false, false, terms{place: place, table: table}))
		}
		source.WriteString("}\nfor line in io.lines() do\n  local s = {}\n  for word in line:gmatch(\"%S+\") do\n" +
			"    s[#s + 1] = ({NaN = 0.0 / 0.0, [\"+Inf\"] = math.huge})[word] or word + 0.0\n  end\n" +
			"  for _, f in ipairs(all) do\n    print(string.format(\"%.17g\", f(s)))\n  end\nend\n")
		file := filepath.Join(t.TempDir(), "all.lua")
		if err := os.WriteFile(file, []byte(source.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		x.run(t, interpreter, file)
	})
}

// transcendental reports whether an expression has a function whose last digits may decide a relation.
func transcendental(text string) bool {
	for _, name := range []string{"exp", "log", "sin", "cos", "tan", "atan2"} {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// TestFunctions: every function has its form in each language, or is compiled to others.
func TestFunctions(t *testing.T) {
	composed := []string{"wrap", "distance", "bearing", "distance_to", "north_of", "east_of"}
	for _, name := range expr.Functions() {
		for language, d := range map[string]*dialect{"C": inC, "Lua": inLua} {
			if d.calls[name] == "" && !slices.Contains(composed, name) {
				t.Errorf("%s in %s", name, language)
			}
		}
	}
}
