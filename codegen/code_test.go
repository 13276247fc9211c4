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

// TestExpressionsInC: an expression in C has the value that it has in Go, but for the last digits of functions such as a
// sine.
func TestExpressionsInC(t *testing.T) {
	r := wording{rand.New(rand.NewPCG(52, 1))}
	scope := expr.Scope{}
	names := []string{"t", "x", "y", "z", "p", "q"}
	for i, name := range names {
		scope[name] = expr.Variable{Unit: expr.AnyUnit, Held: true}
		if i > 3 {
			scope[name] = expr.Variable{Type: expr.Boolean}
		}
	}
	var source bytes.Buffer
	source.WriteString("#include \"canopy_program.h\"\n#include <math.h>\n#include <stdio.h>\n")
	axis := func(points ...float64) expr.Abscissa { return expr.Abscissa{Unit: expr.AnyUnit, Points: points} }
	for name, table := range map[string]*expr.Tabulated{
		"f": {Axes: []expr.Abscissa{axis(-1, 0.5, 3)}, Values: []float64{2, -1, 0.25}},
		"g": {Axes: []expr.Abscissa{axis(0, 1, 2.5), axis(-7, 3)}, Values: []float64{1, 2, 3, 5, -8, 13}, Clamp: true},
	} {
		table.Text = name
		scope[name] = expr.Variable{Unit: expr.AnyUnit, Table: table}
		source.WriteString(tableText(name, table))
	}
	var codes []*expr.Code
	var texts []string
	list, refused, used := "", 0, map[expr.Opcode]bool{expr.Above: true} // which follows the sides of a simulation
	for len(codes) < trees.Count(3_000, 400) {
		text := r.number(r.IntN(4))
		if len(codes)%2 == 1 {
			text = r.truth(r.IntN(4))
		}
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		typ := expr.Real
		if len(codes)%2 == 1 {
			typ = expr.Boolean
		}
		if e.Check(typ, expr.AnyUnit, scope) != nil {
			refused++
			continue
		}
		c := expr.NewCompiler(scope, func(name string) (int, bool) {
			for i, n := range names {
				if n == name {
					return i, true
				}
			}
			return 0, false
		}).Compile(e)
		statements := inC.body(c, false, func(i int) int { return i }, func(t *expr.Tabulated) string { return t.Text })
		fmt.Fprintf(&source, "static double f%d(const double *s) {\n  (void)s;\n%s}\n", len(codes), statements)
		list += fmt.Sprintf("f%d, ", len(codes))
		for _, in := range c.Program(false) {
			used[in.Op] = true
		}
		codes, texts = append(codes, c), append(texts, text)
	}
	for o := expr.Constant; o <= expr.Jump; o++ {
		if !used[o] && !testing.Short() {
			t.Errorf("no expression has the instruction %s", o)
		}
	}
	if refused > len(codes) {
		t.Errorf("%d expressions are refused", refused)
	}
	fmt.Fprintf(&source, "static const canopy_value all[] = {%s};\nint main(void) {\n  double s[6];\n  while (scanf(\"%%lf %%lf %%lf"+
		" %%lf %%lf %%lf\", &s[0], &s[1], &s[2], &s[3], &s[4], &s[5]) == 6) {\n    for (int i = 0; i < %d; i++) {\n"+
		"      printf(\"%%.17g\\n\", all[i](s));\n    }\n  }\n  return 0;\n}\n", list, len(codes))
	file := filepath.Join(t.TempDir(), "all.c")
	if err := os.WriteFile(file, source.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	program := compile(t, "gcc", []string{"-O1"}, file, "runtime/canopy_program.c", "runtime/canopy.c", "-lm")
	values := []float64{0, 1, 2.5, -1, 3, 0.5, 1e300, -7, 1 << 53, math.Inf(1), math.NaN()}
	var in bytes.Buffer
	var vectors [][]float64
	for range 40 {
		s := []float64{0, values[r.IntN(len(values))], values[r.IntN(len(values))], r.Float64()*8 - 4, float64(r.IntN(2)), float64(r.IntN(2))}
		vectors = append(vectors, s)
		fmt.Fprintln(&in, strings.Trim(fmt.Sprint(s), "[]"))
	}
	c := exec.Command(program)
	c.Stdin = &in
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	for k, s := range vectors {
		for i, code := range codes {
			got, err := strconv.ParseFloat(strings.ReplaceAll(lines[k*len(codes)+i], "-nan", "nan"), 64)
			if err != nil {
				t.Fatal(err)
			}
			want := code.Value(s, nil)
			near := math.Abs(got-want) <= 1e-9*math.Max(1, math.Abs(want)) || math.IsNaN(got) && math.IsNaN(want) || got == want
			if !near && !strings.ContainsAny(texts[i], "^") && !transcendental(texts[i]) {
				t.Fatalf("%s at %v: %g in C, %g in Go", texts[i], s, got, want)
			}
		}
	}
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

// TestFunctionsInC: every function has its form in C, or is compiled to others.
func TestFunctionsInC(t *testing.T) {
	composed := []string{"wrap", "distance", "bearing", "distance_to", "north_of", "east_of"}
	for _, name := range expr.Functions() {
		if inC.calls[name] == "" && !slices.Contains(composed, name) {
			t.Error(name)
		}
	}
}
