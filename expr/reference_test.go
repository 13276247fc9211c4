package expr

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMain fixes the seed of the random tests, unless the command line gives one.
func TestMain(m *testing.M) {
	flag.Parse()
	fixed := map[string]string{"rapid.seed": "1", "rapid.checks": "3000", "rapid.nofailfile": "true"}
	if testing.Short() {
		fixed["rapid.checks"] = "300"
	}
	flag.Visit(func(f *flag.Flag) { delete(fixed, f.Name) })
	for name, value := range fixed {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// signalNames are the signals of random expressions.
var signalNames = []string{"a", "b", "c.d", "_e"}

// ofLibrary are the functions that Go's library has under the same names.
var ofLibrary = map[string]func(float64) float64{"abs": math.Abs, "sqrt": math.Sqrt, "exp": math.Exp, "log": math.Log,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"tanh": math.Tanh, "floor": math.Floor}

// reference evaluates a tree by walking it. Relations look at their own signals, so that a difference between the two
// sets shows what is frozen.
type reference struct{ signals, frozen map[string]float64 }

func (r reference) real(n *Node) float64 {
	arg := func(i int) float64 { return r.real(n.args[i]) }
	switch n.op {
	case OpNumber:
		return n.unit.SI(n.value)
	case OpPi:
		return math.Pi
	case OpName:
		return r.signals[n.name]
	case OpNegative:
		return -arg(0)
	case OpAdd:
		return arg(0) + arg(1)
	case OpSubtract:
		return arg(0) - arg(1)
	case OpMultiply:
		return arg(0) * arg(1)
	case OpDivide:
		return arg(0) / arg(1)
	case OpPower:
		if n.args[1].constant && arg(1) == 2 { // a square is x * x, which math.Pow misses if it is subnormal
			return arg(0) * arg(0)
		}
		return math.Pow(arg(0), arg(1))
	case OpIf:
		if r.boolean(n.args[0]) {
			return arg(1)
		}
		return arg(2)
	}
	return r.call(n, arg)
}

// call returns the value of a function of arguments.
func (r reference) call(n *Node, arg func(i int) float64) float64 {
	if f := ofLibrary[n.name]; f != nil {
		return f(arg(0))
	}
	switch n.name {
	case "atan2":
		return math.Atan2(arg(0), arg(1))
	case "sign":
		switch x := arg(0); {
		case x > 0:
			return 1
		case x < 0:
			return -1
		default:
			return x
		}
	case "mod":
		return modulo(arg(0), arg(1))
	case "bitnot":
		return -1 - arg(0)
	case "bitand", "bitor", "bitxor":
		return bitByBit(n.name, arg(0), arg(1))
	case "wrap":
		return modulo(arg(0)+math.Pi, 2*math.Pi) - math.Pi
	case "distance", "bearing":
		turn := arg(3) - arg(1)
		level := math.Cos(arg(2)) * math.Cos(turn)
		east := math.Cos(arg(2)) * math.Sin(turn)
		north := math.Cos(arg(0))*math.Sin(arg(2)) - math.Sin(arg(0))*level
		if n.name == "bearing" {
			return modulo(math.Atan2(east, north), 2*math.Pi)
		}
		up := math.Sin(arg(0))*math.Sin(arg(2)) + math.Cos(arg(0))*level
		return EarthRadius * math.Atan2(math.Sqrt(east*east+north*north), up)
	case "distance_to":
		call := func(name string, args ...*Node) float64 {
			return r.real((&Node{op: OpCall, name: name, args: args}).complete())
		}
		north, east := arg(6)-call("north_of", n.args[0], n.args[2], n.args[3]), arg(7)-call("east_of", n.args[1], n.args[4], n.args[5])
		return math.Sqrt(north*north + east*east)
	case "north_of", "east_of":
		from := arg(0)
		if n.args[0].unitless() {
			from *= math.Pi / 180
		}
		if from -= arg(1); n.name == "east_of" {
			from = math.Asin(math.Sin(from))
		}
		return from * arg(2)
	case "min", "max":
		best := arg(0)
		for i := range n.args {
			if n.name == "min" {
				best = math.Min(best, arg(i))
			} else {
				best = math.Max(best, arg(i))
			}
		}
		return best
	}
	panic(n.name)
}

// bitByBit combines the bits of two integers, of which each half is floor(x / 2).
func bitByBit(operation string, x, y float64) float64 {
	exact := func(x float64) bool { return x == math.Floor(x) && x >= -1<<53 && x <= 1<<53 }
	if !exact(x) || !exact(y) {
		return math.NaN()
	}
	negative := map[string]bool{"bitand": x < 0 && y < 0, "bitor": x < 0 || y < 0, "bitxor": (x < 0) != (y < 0)}[operation]
	sum := 0.0 // of the places whose bit is not that of the sign
	for place := 1.0; place <= 1<<53; place *= 2 {
		p, q := modulo(math.Floor(x/place), 2) == 1, modulo(math.Floor(y/place), 2) == 1
		bit := operation == "bitand" && p && q || operation == "bitor" && (p || q) || operation == "bitxor" && p != q
		if bit != negative {
			sum += place
		}
	}
	if negative {
		return -1 - sum
	}
	return sum
}

func modulo(x, y float64) float64 { return x - y*math.Floor(x/y) }

func (r reference) boolean(n *Node) bool {
	switch n.op {
	case OpTruth:
		return n.value == 1
	case OpAnd:
		return r.boolean(n.args[0]) && r.boolean(n.args[1])
	case OpOr:
		return r.boolean(n.args[0]) || r.boolean(n.args[1])
	case OpNot:
		return !r.boolean(n.args[0])
	}
	judge := reference{r.frozen, r.frozen}
	x, y := judge.real(n.args[0]), judge.real(n.args[1])
	switch n.op {
	case OpGreaterEqual:
		return x-y >= 0
	case OpLessEqual:
		return y-x >= 0
	case OpLess:
		return !(x-y >= 0)
	case OpGreater:
		return !(y-x >= 0)
	}
	panic(n.op)
}

// node completes a node.
func node(n Node) *Node { return n.complete() }

// randomReal draws the tree of a number, with units where they fall.
func randomReal(t *rapid.T, depth int) *Node {
	kind := rapid.IntRange(0, 11).Draw(t, "real")
	if depth == 0 {
		kind %= 4
	}
	arg := func() *Node { return randomReal(t, depth-1) }
	switch kind {
	case 0, 1:
		return node(Node{op: OpName, name: rapid.SampledFrom(signalNames).Draw(t, "name")})
	case 2:
		special := rapid.SampledFrom([]float64{0, 1, 2, 0.5, 1e-9, 12980, 1e21})
		value := rapid.OneOf(special, rapid.Float64Range(0, 10)).Draw(t, "value")
		units := []Unit{AnyUnit, AnyUnit, One}
		for _, s := range []string{"m", "deg", "%", "W/(m^2 K)"} {
			u, _ := ParseUnit(s)
			units = append(units, u)
		}
		return node(Node{op: OpNumber, value: math.Abs(value), unit: rapid.SampledFrom(units).Draw(t, "unit")})
	case 3:
		return node(Node{op: OpPi})
	case 4:
		return node(Node{op: OpNegative, args: []*Node{arg()}})
	case 5:
		return node(Node{op: OpPower, args: []*Node{arg(), node(Node{op: OpNumber, value: 2, unit: AnyUnit})}})
	case 6:
		return node(Node{op: OpIf, name: "if", args: []*Node{randomBoolean(t, depth-1), arg(), arg()}})
	case 7:
		f := rapid.SampledFrom(functions[:]).Draw(t, "function")
		n := Node{op: OpCall, name: f.name}
		for range f.least {
			n.args = append(n.args, arg())
		}
		if f.most == anyNumber {
			n.args = append(n.args, arg())
		}
		return node(n)
	}
	o := rapid.SampledFrom([]Op{OpAdd, OpSubtract, OpMultiply, OpDivide, OpPower}).Draw(t, "op")
	return node(Node{op: o, args: []*Node{arg(), arg()}})
}

// randomBoolean draws the tree of a condition.
func randomBoolean(t *rapid.T, depth int) *Node {
	kind := rapid.IntRange(0, 7).Draw(t, "boolean")
	switch {
	case depth == 0, kind == 0:
		return node(Node{op: OpTruth, value: float64(rapid.IntRange(0, 1).Draw(t, "truth"))})
	case kind == 1:
		return node(Node{op: OpNot, args: []*Node{randomBoolean(t, depth-1)}})
	case kind < 4:
		o := rapid.SampledFrom([]Op{OpAnd, OpOr}).Draw(t, "op")
		return node(Node{op: o, args: []*Node{randomBoolean(t, depth-1), randomBoolean(t, depth-1)}})
	}
	o := rapid.SampledFrom([]Op{OpLess, OpLessEqual, OpGreater, OpGreaterEqual}).Draw(t, "op")
	return node(Node{op: o, args: []*Node{randomReal(t, depth-1), randomReal(t, depth-1)}})
}

// sameTree reports whether two trees differ in nothing but their places.
func sameTree(a, b *Node) bool {
	return a.op == b.op && a.name == b.name && a.value == b.value && a.unit == b.unit &&
		slices.EqualFunc(a.args, b.args, sameTree)
}

// same reports whether two results are the same number.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// TestStringParsesToTheSameTree holds canonical text against trees that no parser has made.
func TestStringParsesToTheSameTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := randomBoolean(t, 5)
		if rapid.Bool().Draw(t, "real?") {
			n = randomReal(t, 5)
		}
		e, err := Parse(n.String())
		if err != nil {
			t.Fatalf("%v: %v", n, err)
		}
		if !sameTree(n, e.root) {
			t.Fatalf("%v\ncame back as another tree, %v", n, e)
		}
	})
}

// sidesOf returns the sides of all indicators, and how many of them are thresholds.
func sidesOf(t *rapid.T, c *Compiler, signals []float64) (above []bool, thresholds int) {
	above = []bool{}
	for _, i := range c.Indicators() {
		above = append(above, i.Value(signals, nil) >= 0)
		if h, ok := i.Threshold(); ok {
			g := signals[h.Slot] - h.Level
			if h.Falls {
				g = h.Level - signals[h.Slot]
			}
			thresholds++
			if !same(i.Value(signals, nil), g) {
				t.Fatalf("%s is no threshold %+v: %v at %v", i.Text, h, i.Value(signals, nil), signals)
			}
		}
	}
	return above, thresholds
}

// TestCodeAgreesWithReference compares compiled code with the reference: judged directly, with sides taken from the
// same signals, and with sides frozen at other signals.
func TestCodeAgreesWithReference(t *testing.T) {
	truths, thresholds := map[bool]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		c := NewCompiler(nil, slotsOf(signalNames...))
		trees := make([]*Node, 4)
		codes := make([]*Code, len(trees))
		for i := range trees {
			if i%2 == 0 {
				trees[i] = randomReal(t, 4)
			} else {
				trees[i] = randomBoolean(t, 4)
			}
			codes[i] = c.Compile(&Expr{trees[i]})
		}
		special := rapid.SampledFrom([]float64{0, 1, 12980, math.NaN(), math.Inf(1)})
		value := rapid.OneOf(rapid.Float64Range(-10, 10), special)
		now, before := map[string]float64{}, map[string]float64{}
		var nowSlots, beforeSlots []float64
		for _, name := range signalNames {
			now[name], before[name] = value.Draw(t, name), value.Draw(t, name+" before")
			nowSlots, beforeSlots = append(nowSlots, now[name]), append(beforeSlots, before[name])
		}
		sides := func(signals []float64) (above []bool) {
			above, n := sidesOf(t, c, signals)
			thresholds += n
			return above
		}
		check := func(i int, got, want any, how string) {
			if g, ok := got.(float64); ok && same(g, want.(float64)) || got == want {
				return
			}
			t.Fatalf("%v\nat %v, sides of %v, %s:\ngot %v, want %v", trees[i], now, before, how, got, want)
		}
		for i, n := range trees {
			code, direct, frozen := codes[i], reference{now, now}, reference{now, before}
			if Scope(nil).variable(n).Type == Boolean {
				want := direct.boolean(n)
				truths[want]++
				check(i, code.Bool(nowSlots, nil), want, "direct")
				check(i, code.Bool(nowSlots, sides(nowSlots)), want, "sides")
				check(i, code.Bool(nowSlots, sides(beforeSlots)), frozen.boolean(n), "frozen")
			} else {
				want := direct.real(n)
				check(i, code.Real(nowSlots, nil), want, "direct")
				check(i, code.Real(nowSlots, sides(nowSlots)), want, "sides")
				check(i, code.Real(nowSlots, sides(beforeSlots)), frozen.real(n), "frozen")
			}
			var reads []int
			for _, name := range (&Expr{n}).Names() {
				slot, _ := c.slot(name)
				reads = append(reads, slot)
			}
			slices.Sort(reads)
			check(i, fmt.Sprint(code.Reads()), fmt.Sprint(reads), "slots")
			relations := 0
			n.walk(func(n *Node) bool {
				if n.op.relation() {
					relations++
				}
				return true
			})
			if k := len(code.Indicators()); k > relations || k == 0 && relations > 0 {
				t.Fatalf("%v has %d relations and indicators %v", n, relations, code.Indicators())
			}
		}
	})
	if truths[true] == 0 || truths[false] == 0 || thresholds == 0 {
		t.Errorf("the random conditions are of no use: %v, %d thresholds", truths, thresholds)
	}
}
