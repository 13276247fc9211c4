package expr

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Compiler turns expressions into code. Relations that ask the same of the signals share one Indicator, in whatever
// expressions they stand. A compiler is for one goroutine; what it returns may be shared.
type Compiler struct {
	slot       func(name string) (index int, ok bool)
	indicators []Indicator
	numbers    map[string]int // of the indicators, by the key of their difference
}

// NewCompiler returns a compiler that asks the given function for the index of a signal's value.
func NewCompiler(slot func(name string) (index int, ok bool)) *Compiler {
	return &Compiler{slot: slot, numbers: map[string]int{}}
}

// Indicators returns all distinct indicators of the expressions compiled so far, in the order of their first use. An
// indicator's index never changes.
func (c *Compiler) Indicators() []Indicator { return slices.Clone(c.indicators) }

// Indicator is the event indicator g of a relation, whose zeros are where the relation may change. A relation knows of
// its signals nothing but the side g >= 0, called above:
//
//	a >= b   above of g = a - b        a < b   not above of g = a - b
//	a <= b   above of g = b - a        a > b   not above of g = b - a
//
// so that a < b is always the negation of a >= b, and a <= b that of a > b. A NaN is not above, hence >= and <= of a
// NaN are false while < and > are true; whoever cannot have that looks whether Value is NaN.
type Indicator struct {
	Text    string // the relation as first written, in canonical text
	negated bool   // Text holds below, not above
	g       realFunc

	threshold *Threshold
}

// Threshold says that an indicator compares a signal with a number: g is the signal less the level.
type Threshold struct {
	Slot  int // of the signal
	Level float64
	Falls bool // g is the level less the signal instead
}

// Holds reports whether the relation of Text holds on a side.
func (i Indicator) Holds(above bool) bool { return above != i.negated }

// Threshold returns the threshold that the relation is, if it is one.
func (i Indicator) Threshold() (h Threshold, ok bool) {
	if i.threshold == nil {
		return h, false
	}
	return *i.threshold, true
}

// Value returns g. Relations inside the sides of the relation, in an if, are judged directly from the signals.
func (i Indicator) Value(signals []float64) float64 { return i.g(signals, nil) }

// Code is a compiled expression. It is immutable, may be shared by goroutines and allocates nothing when it runs.
//
// It is given the signals' values by slot, and above, the side g >= 0 of each of the compiler's indicators: relations
// follow these frozen sides, so that an integrator sees no jump within a step. If above is nil, relations are judged
// directly from the signals.
type Code struct {
	real       realFunc
	boolean    boolFunc
	indicators []int
	reads      []int
}

type (
	realFunc func(signals []float64, above []bool) float64
	boolFunc func(signals []float64, above []bool) bool
)

// Real returns the value of a number.
func (f *Code) Real(signals []float64, above []bool) float64 {
	if f.real == nil {
		panic("expr: Real of a condition")
	}
	return f.real(signals, above)
}

// Bool returns the value of a condition.
func (f *Code) Bool(signals []float64, above []bool) bool {
	if f.boolean == nil {
		panic("expr: Bool of a number")
	}
	return f.boolean(signals, above)
}

// Indicators returns the indicators that the code's relations have, also those inside an if, in ascending order.
func (f *Code) Indicators() []int { return slices.Clone(f.indicators) }

// Reads returns the slots of the signals that the code reads, directly or through its relations, in ascending order.
func (f *Code) Reads() []int { return slices.Clone(f.reads) }

// misuse is the panic of Compile.
const misuse = "expr: Compile of an expression that Check refuses"

// Compile returns the expression's code. It panics if Check would find a mistake other than one of units.
func (c *Compiler) Compile(e *Expr) *Code {
	b := builder{Compiler: c}
	if e.root.typ() == Boolean {
		b.code.boolean = b.boolean(e.root)
	} else {
		b.code.real = b.real(e.root)
	}
	for _, list := range []*[]int{&b.code.indicators, &b.code.reads} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return &b.code
}

// builder makes the closures of one expression and gathers what they depend on.
type builder struct {
	*Compiler
	code Code
}

// constant reports whether the node is a number that depends on no signal.
func (n *node) constant() bool {
	switch f, known := functions[n.name]; {
	case n.op == opName, n.op == opIf, n.typ() == Boolean:
		return false
	case n.op == opCall && (!known || len(n.args) < f.least || len(n.args) > f.most):
		return false
	}
	return !slices.ContainsFunc(n.args, func(a *node) bool { return !a.constant() })
}

// constantValue returns the value of a constant node.
func constantValue(n *node) float64 {
	return (&builder{}).computed(n)(nil, nil)
}

func (b *builder) boolean(n *node) boolFunc {
	switch {
	case n.relation():
		return b.relation(n)
	case n.op == opTruth:
		truth := n.value != 0
		return func([]float64, []bool) bool { return truth }
	case n.op == opAnd:
		x, y := b.boolean(n.args[0]), b.boolean(n.args[1])
		return func(s []float64, above []bool) bool { return x(s, above) && y(s, above) }
	case n.op == opOr:
		x, y := b.boolean(n.args[0]), b.boolean(n.args[1])
		return func(s []float64, above []bool) bool { return x(s, above) || y(s, above) }
	case n.op == opNot:
		x := b.boolean(n.args[0])
		return func(s []float64, above []bool) bool { return !x(s, above) }
	}
	panic(misuse)
}

// relation compiles a relation into its indicator's side, or the opposite of it.
func (b *builder) relation(n *node) boolFunc {
	over, under := n.args[0], n.args[1]
	if n.op == opGreater || n.op == opLessEqual {
		over, under = under, over
	}
	g, threshold := b.difference(over, under) // also if the indicator exists, to gather what it depends on
	key := key(over) + " - " + key(under)
	negated := n.op == opLess || n.op == opGreater
	i, ok := b.numbers[key]
	if !ok {
		i = len(b.indicators)
		b.numbers[key] = i
		b.indicators = append(b.indicators, Indicator{n.String(), negated, g, threshold})
	}
	b.code.indicators = append(b.code.indicators, i)
	if negated {
		return func(s []float64, above []bool) bool {
			if above != nil {
				return !above[i]
			}
			return !(g(s, nil) >= 0)
		}
	}
	return func(s []float64, above []bool) bool {
		if above != nil {
			return above[i]
		}
		return g(s, nil) >= 0
	}
}

// key returns a text that two nodes share only if they have the same value always.
func key(n *node) string {
	if n.constant() {
		return fmt.Sprintf("#%x", math.Float64bits(constantValue(n)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d%s", n.op, n.name)
	if n.op == opTruth {
		fmt.Fprint(&b, n.value)
	}
	for _, a := range n.args {
		b.WriteString("(" + key(a) + ")")
	}
	return b.String()
}

// difference compiles over - under. The comparison of a signal with a constant, far the most frequent relation, is one
// call instead of three.
func (b *builder) difference(over, under *node) (realFunc, *Threshold) {
	switch {
	case over.op == opName && under.constant():
		i, v := b.signal(over), constantValue(under)
		return func(s []float64, _ []bool) float64 { return s[i] - v }, &Threshold{Slot: i, Level: v}
	case over.constant() && under.op == opName:
		v, i := constantValue(over), b.signal(under)
		return func(s []float64, _ []bool) float64 { return v - s[i] }, &Threshold{Slot: i, Level: v, Falls: true}
	}
	x, y := b.real(over), b.real(under)
	return func(s []float64, above []bool) float64 { return x(s, above) - y(s, above) }, nil
}

// sum compiles x + y; a constant or a signal among them costs no call.
func (b *builder) sum(x, y *node) realFunc {
	f, y := b.leafLast(x, y)
	switch {
	case y.constant():
		v := constantValue(y)
		return func(s []float64, above []bool) float64 { return f(s, above) + v }
	case y.op == opName:
		i := b.signal(y)
		return func(s []float64, above []bool) float64 { return f(s, above) + s[i] }
	}
	g := b.real(y)
	return func(s []float64, above []bool) float64 { return f(s, above) + g(s, above) }
}

// product compiles x * y like sum.
func (b *builder) product(x, y *node) realFunc {
	f, y := b.leafLast(x, y)
	switch {
	case y.constant():
		v := constantValue(y)
		return func(s []float64, above []bool) float64 { return f(s, above) * v }
	case y.op == opName:
		i := b.signal(y)
		return func(s []float64, above []bool) float64 { return f(s, above) * s[i] }
	}
	g := b.real(y)
	return func(s []float64, above []bool) float64 { return f(s, above) * g(s, above) }
}

// leafLast orders the arguments of a commutative operation so that a constant or a signal comes second, and compiles
// the first.
func (b *builder) leafLast(x, y *node) (first realFunc, second *node) {
	if x.op == opName || x.constant() {
		x, y = y, x
	}
	return b.real(x), y
}

// signal returns the slot of a name.
func (b *builder) signal(n *node) int {
	i, ok := b.slot(n.name)
	if !ok {
		panic(misuse)
	}
	b.code.reads = append(b.code.reads, i)
	return i
}

func (b *builder) real(n *node) realFunc {
	if n.constant() {
		v := constantValue(n)
		return func([]float64, []bool) float64 { return v }
	}
	return b.computed(n)
}

func (b *builder) computed(n *node) realFunc {
	switch n.op {
	case opNumber:
		v := n.si()
		return func([]float64, []bool) float64 { return v }
	case opPi:
		return func([]float64, []bool) float64 { return math.Pi }
	case opName:
		i := b.signal(n)
		return func(s []float64, _ []bool) float64 { return s[i] }
	case opNegative:
		x := b.real(n.args[0])
		return func(s []float64, above []bool) float64 { return -x(s, above) }
	case opAdd:
		return b.sum(n.args[0], n.args[1])
	case opSubtract:
		f, _ := b.difference(n.args[0], n.args[1])
		return f
	case opMultiply:
		return b.product(n.args[0], n.args[1])
	case opDivide:
		x, y := b.real(n.args[0]), b.real(n.args[1])
		return func(s []float64, above []bool) float64 { return x(s, above) / y(s, above) }
	case opPower:
		return b.power(n)
	case opIf:
		if len(n.args) == 3 {
			c, x, y := b.boolean(n.args[0]), b.real(n.args[1]), b.real(n.args[2])
			return func(s []float64, above []bool) float64 {
				if c(s, above) {
					return x(s, above)
				}
				return y(s, above)
			}
		}
	case opCall:
		return b.call(n)
	}
	panic(misuse)
}

func (b *builder) power(n *node) realFunc {
	x, y := b.real(n.args[0]), b.real(n.args[1])
	if n.args[1].constant() && constantValue(n.args[1]) == 2 { // faster than math.Pow, never less exact
		return func(s []float64, above []bool) float64 {
			v := x(s, above)
			return v * v
		}
	}
	return func(s []float64, above []bool) float64 { return math.Pow(x(s, above), y(s, above)) }
}

func (b *builder) call(n *node) realFunc {
	f, ok := functions[n.name]
	if !ok || len(n.args) < f.least || len(n.args) > f.most {
		panic(misuse)
	}
	x := b.real(n.args[0])
	if f.one != nil {
		return func(s []float64, above []bool) float64 { return f.one(x(s, above)) }
	}
	for _, a := range n.args[1:] {
		left, right := x, b.real(a)
		x = func(s []float64, above []bool) float64 { return f.two(left(s, above), right(s, above)) }
	}
	return x
}
