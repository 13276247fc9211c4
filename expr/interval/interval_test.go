package interval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/expr"
)

// axes are those of tables.
var axes = []expr.Abscissa{{Unit: expr.One, Points: []float64{-2, -0.5, 1, 3}}, {Unit: expr.One, Points: []float64{-1, 0, 2}}}

// names are the signals of random expressions, in the order of their slots.
var (
	names  = []string{"a", "b", "c", "k", "on", "mode", "h"}
	values = []string{"survey", "transit", "home"}
	scope  = expr.Scope{"a": expr.Number(expr.One), "b": expr.Number(expr.One), "c": expr.Number(expr.One),
		"line": {Unit: expr.One, Table: &expr.Tabulated{Axes: axes[:1], Values: []float64{1, -2, 4, 4.5}, Clamp: true}},
		"open": {Unit: expr.One, Table: &expr.Tabulated{Axes: axes[:1], Values: []float64{0, 1, 1, -3}}},
		"map":  {Unit: expr.One, Table: &expr.Tabulated{Axes: axes, Values: []float64{1, 2, 0, -1, 3, 3, 0, 0, 1, 5, -5, 2}, Clamp: true}},
		"k":    {Type: expr.Integer}, "h": {Unit: expr.One, Held: true}, "on": {Type: expr.Boolean}, "mode": {Type: expr.Enumeration, Values: values}}
)

// number writes a random number.
func number(r *rand.Rand, depth int) string {
	sub := func() string { return "(" + number(r, depth-1) + ")" }
	kind := r.IntN(14)
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0, 1:
		return names[r.IntN(3)]
	case 2:
		return []string{"0", "1", "2", "0.5", "-1", "3.7", "1e-3", "pi", "120"}[r.IntN(9)]
	case 3:
		return names[r.IntN(4)]
	case 4, 5, 6, 7:
		return sub() + []string{"+", "-", "*", "/"}[kind-4] + sub()
	case 8:
		return sub() + "^" + []string{"2", "3", "-1", "0.5", "1.5", "a", "0", "-2", "7"}[r.IntN(9)]
	case 9:
		return []string{"min", "max", "atan2", "mod", "map"}[r.IntN(5)] + "(" + sub() + "," + sub() + ")"
	case 10:
		return "if(" + condition(r, depth-1) + "," + sub() + "," + sub() + ")"
	}
	if kind == 11 {
		f := []string{"(distance(%s,%s,%s,%s) / 1e6 [m])", "bearing(%s,%s,%s,%s)"}[r.IntN(2)]
		return fmt.Sprintf(f, sub(), sub(), sub(), sub())
	}
	functions := []string{"abs", "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "tanh",
		"sign", "floor", "line", "open", "wrap"}
	return functions[r.IntN(len(functions))] + sub()
}

// condition writes a random condition.
func condition(r *rand.Rand, depth int) string {
	kind := r.IntN(9)
	if depth <= 0 {
		kind %= 6
	}
	switch kind {
	case 0, 1, 2, 3:
		return "(" + number(r, max(depth, 0)) + ")" + []string{"<", "<=", ">", ">="}[kind] + "(" + number(r, max(depth, 0)) + ")"
	case 4:
		return []string{"on", "not on", "true", "false"}[r.IntN(4)]
	case 5:
		return []string{"mode == transit", "mode != home", "k == 2", "if(on, survey, home) == mode", "on == (k > 1)",
			"bitand(k, 3) == 2 - k", "bitor(k - 3, 5) < bitnot(k)", "bitxor(k, 1 - k) == -1", "h == k - 1", "h + 0.5 != 2", "bitor(h, k) >= 1"}[r.IntN(11)]
	case 6:
		return "(" + condition(r, depth-1) + ") and (" + condition(r, depth-1) + ")"
	case 7:
		return "(" + condition(r, depth-1) + ") or (" + condition(r, depth-1) + ")"
	}
	return "if(" + condition(r, depth-1) + "," + condition(r, depth-1) + "," + condition(r, depth-1) + ")"
}

// randomBox returns an interval for each signal: wide, narrow, a point, or unbounded.
func randomBox(r *rand.Rand) []Interval {
	box := make([]Interval, len(names))
	for i := range box {
		low := math.Round(r.NormFloat64()*8) / 4
		switch r.IntN(5) {
		case 0:
			box[i] = Point(low)
		case 1:
			box[i] = Between(low, low+1e-6)
		case 2:
			box[i] = Between(low, math.Inf(1))
		default:
			box[i] = Between(low, low+float64(r.IntN(5)))
		}
	}
	box[3] = Between(float64(r.IntN(3)), 4)
	box[4] = []Interval{Point(0), Point(1), Between(0, 1)}[r.IntN(3)]
	box[5] = []Interval{Point(1), Between(0, 2)}[r.IntN(2)]
	box[6] = []Interval{Point(1.5), Between(0, 2), Point(math.NaN())}[r.IntN(3)]
	return box
}

// sample returns a point of a box, often at an end.
func sample(r *rand.Rand, box []Interval) []float64 {
	at := make([]float64, len(box))
	for i, x := range box {
		high := min(x.High, x.Low+100)
		at[i] = []float64{x.Low, high, x.Low + r.Float64()*(high-x.Low)}[r.IntN(3)]
		if 3 <= i && i < 6 {
			at[i] = math.Round(at[i])
		}
		at[i] = min(max(at[i], x.Low), high)
	}
	return at
}

// in returns the names with the values of a box, the first three as its variables.
func in(box []Interval) Names {
	return Names{scope, func(name string) Value {
		if i := slices.Index(names, name); i < 3 {
			return Variable(box[i], i, 3)
		}
		return Constant(box[slices.Index(names, name)])
	}}
}

// function returns an expression as a function of the first three signals.
func function(e *expr.Expr, v expr.Variable, box []Interval) Function {
	return func(part []Interval) (Value, bool) {
		return in(append(slices.Clone(part), box[3:]...)).Evaluate(e, v), true
	}
}

// TestBounds: compiled code never leaves the bounds of an expression, nor those of Range by more than errors of rounding.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	count, undecided := 0, 0
	rounds := 10_000
	if testing.Short() {
		rounds = 4_000
	}
	for range rounds {
		want, text := expr.Number(expr.One), ""
		if r.IntN(4) == 0 {
			want, text = expr.Variable{Type: expr.Boolean}, condition(r, 3)
		} else {
			text = number(r, 4)
		}
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if e.CheckFor(want, scope) != nil {
			continue
		}
		code := expr.NewCompiler(scope, func(name string) (int, bool) { return slices.Index(names, name), true }).CompileFor(e, want)
		box := randomBox(r)
		bounds := in(box).Evaluate(e, want)
		if !bounds.Bounded() {
			undecided++
		}
		ranged := bounds.Interval
		if count%20 == 0 {
			ranged, _, _ = Range(function(e, want, box), box[:3], 200)
		}
		for range 30 {
			at := sample(r, box)
			y := code.Value(at, nil)
			if !bounds.Contains(y) {
				t.Fatalf("%s = %v at %v, outside %v in %v", e, y, at, bounds.Interval, box)
			}
			slack := 1e-9 * (1 + math.Abs(y)) // Range bounds exact values, without errors of rounding
			if y == y && !math.IsInf(y, 0) && (y < ranged.Low-slack || y > ranged.High+slack) {
				t.Fatalf("%s = %v at %v, outside the range %v in %v", e, y, at, ranged, box)
			}
		}
		count++
	}
	if count < rounds/2 || undecided > count*2/3 {
		t.Errorf("%d expressions, %d of them without bounds", count, undecided)
	}
}

// TestSlopes: the change between two values of a continuous function is within its slopes.
func TestSlopes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	count := 0
	for range 20_000 {
		e, _ := expr.Parse(number(r, 3))
		if e.CheckFor(expr.Number(expr.One), scope) != nil {
			continue
		}
		box := randomBox(r)
		v := in(box).Evaluate(e, expr.Number(expr.One))
		if v.Jumps || v.NaN || v.Slope == nil || !v.Bounded() {
			continue
		}
		code := expr.NewCompiler(scope, func(name string) (int, bool) { return slices.Index(names, name), true }).Compile(e)
		for range 10 {
			at := sample(r, box)
			to := slices.Clone(at)
			i := r.IntN(3)
			to[i] = sample(r, box)[i]
			a, b := code.Value(at, nil), code.Value(to, nil)
			bounds := v.Slope[i].part(Point(to[i]).Minus(Point(at[i]))).Plus(Interval{-1e-9, 1e-9, false})
			if slack := 1e-9 * (math.Abs(a) + math.Abs(b)); b-a < bounds.Low-slack || b-a > bounds.High+slack {
				t.Fatalf("%s goes from %v at %v to %v at %v, slope %v", e, a, at, b, to, v.Slope[i])
			}
		}
		count++
	}
	if count < 2000 {
		t.Errorf("only %d functions", count)
	}
}

// rangeOf returns bounds over a box of the signals a, b and c.
func rangeOf(t *testing.T, text string, box ...Interval) Interval {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	box = append(box, slices.Repeat([]Interval{Point(0)}, len(names)-len(box))...)
	got, _, _ := Range(function(e, expr.Number(expr.One), box), box[:3], 2000)
	return got
}

// TestRanges: bounds are those of closed forms, exact where the arithmetic is.
func TestRanges(t *testing.T) {
	unit, sym := Between(0, 1), Between(-1, 1)
	for _, c := range []struct {
		text      string
		box       []Interval
		low, high float64
		by        float64 // relative to the width
	}{
		{"2 * 3 + 1", nil, 7, 7, 0},
		{"a - a", []Interval{sym}, 0, 0, 1e-2},
		{"(1 - a) / 4", []Interval{unit}, 0, 0.25, 0},
		{"a * (1 - a)", []Interval{unit}, 0, 0.25, 2e-3},
		{"a^2 - 2 * a", []Interval{Between(0, 3)}, -1, 3, 2e-3},
		{"a * a", []Interval{sym}, 0, 1, 0},
		{"a / (1 + a^2)", []Interval{Between(-10, 10)}, -0.5, 0.5, 2e-3},
		{"sin(a) * cos(a)", []Interval{Between(0, 10)}, -0.5, 0.5, 2e-3},
		{"sqrt(a^2 + b^2) - a", []Interval{unit, unit}, 0, 1, 2e-3},
		{"min(a, 1 - a)", []Interval{unit}, 0, 0.5, 2e-3},
		{"if(a > 0.5, a - 1, a)", []Interval{unit}, -0.5, 0.5, 0},
		{"if(a >= 1 and b > 0, 0, b)", []Interval{Between(1, 2), sym}, -1, 0, 0},
		{"if(a < 1 or not (b > 0), b - 2, b)", []Interval{Between(1, 2), sym}, -3, 1, 0},
		{"if(a >= log(b), 0, a)", []Interval{unit, sym}, 0, 1, 0},
		{"a * exp(-a)", []Interval{Between(0, 100)}, 0, 1 / math.E, 5e-3},
		{"1 / a", []Interval{sym}, math.Inf(-1), math.Inf(1), 0},
		{"atan2(a, b)", []Interval{Between(1, 2), Between(-1, 1)}, math.Pi / 4, 3 * math.Pi / 4, 1e-6},
	} {
		got := rangeOf(t, c.text, c.box...)
		slack := c.by * max(c.high-c.low, 0.01)
		if c.by == 0 {
			slack = 0
		}
		ok := got.Low <= c.low && got.High >= c.high && (got.Low >= c.low-slack || c.low == got.Low) &&
			(got.High <= c.high+slack || c.high == got.High)
		if !ok {
			t.Errorf("%s in %v is in %v, want %v to %v within %v", c.text, c.box, got, c.low, c.high, slack)
		}
	}
}

// TestImpossibleParts: bounds are those of the possible points.
func TestImpossibleParts(t *testing.T) {
	e, _ := expr.Parse("a + b")
	disc, _ := expr.Parse("a^2 + b^2 <= 1")
	box := append(slices.Repeat([]Interval{Between(-2, 2)}, 2), slices.Repeat([]Interval{Point(0)}, len(names)-2)...)
	f := func(part []Interval) (Value, bool) {
		n := in(append(slices.Clone(part), box[3:]...))
		return n.Evaluate(e, expr.Number(expr.One)), n.Truth(disc).True
	}
	if got, _, ok := Range(f, box[:3], 20_000); !ok || math.Abs(got.High-math.Sqrt2) > 0.05 || got.High < math.Sqrt2 {
		t.Errorf("%v %v", got, ok)
	}
	if _, _, ok := Range(f, []Interval{Between(1.5, 2), Between(0, 1), Point(0)}, 100); ok {
		t.Error("a point outside the disc is possible")
	}
}

// TestMissingBoundsTakeNoSearch: where a function has no bound, few calls tell it, and a bound at the other end is
// still found; a bound that only parts of the box show is not given up.
func TestMissingBoundsTakeNoSearch(t *testing.T) {
	all, up, unit := All, Between(0, math.Inf(1)), Between(0, 1)
	for _, c := range []struct {
		text      string
		box       []Interval
		low, high float64
		most      int // calls
	}{
		{"a + 0.3 * b", []Interval{unit, all}, math.Inf(-1), math.Inf(1), 8},
		{"if(b > 0, 1, 2) - a * b + a * b", []Interval{unit, all}, math.Inf(-1), math.Inf(1), 8},
		{"sin(10 * a) - a + b", []Interval{unit, up}, -1.544, math.Inf(1), 500},
		{"1 / (b + 1) + a / (b + 1)", []Interval{unit, up}, 0, 2, 500},
		{"if(b > 3, 1, b)", []Interval{unit, up}, 0, 3, 500},
	} {
		e, err := expr.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		box := append(c.box, unit)
		f := function(e, expr.Number(expr.One), box)
		got, _, _ := Range(func(box []Interval) (Value, bool) {
			calls++
			return f(box)
		}, box, 500)
		if calls > c.most || math.Abs(got.Low-c.low) > 1e-3 || math.Abs(got.High-c.high) > 1e-2 {
			t.Errorf("%s is in %v after %d calls, want [%v, %v] after %d", c.text, got, calls, c.low, c.high, c.most)
		}
	}
}
