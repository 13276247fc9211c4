package interval

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Value is what is known of an expression in a box.
type Value struct {
	Interval
	// Slope bounds the partial derivative by each variable of the box where there is one, and its limits at kinks and
	// jumps; nil: all are 0.
	Slope []Interval
	Jumps bool // the value may be discontinuous
}

// Constant returns the value of a number that does not change within the box.
func Constant(x Interval) Value { return Value{Interval: x} }

// Variable returns the value of the variable i of n.
func Variable(x Interval, i, n int) Value {
	v := Value{x, make([]Interval, n), false}
	v.Slope[i] = Point(1)
	return v
}

// Truth is the set of the possible values of a condition.
type Truth struct{ True, False bool }

// not returns the set for the opposite condition.
func (t Truth) not() Truth { return Truth{t.False, t.True} }

// value returns the condition as it is stored among the signals, 1 or 0.
func (t Truth) value() Value {
	v := Value{Jumps: t.True && t.False}
	if t.True {
		v.High = 1
	}
	if !t.False {
		v.Low = 1
	}
	return v
}

// Names are the meanings of names in expressions that Check accepts in the scope. Names of signals that are not in the
// scope have any value.
type Names struct {
	Scope expr.Scope
	Value func(name string) Value // of a signal in the scope; a Boolean signal is 1 or 0
}

// Evaluate returns what is known of the value of an expression that gives the value of a variable, as accepted by
// CheckFor.
func (n Names) Evaluate(e *expr.Expr, v expr.Variable) Value {
	return evaluator{n, v.Values}.any(e.Root(), v.Type == expr.Boolean)
}

// Truth returns the possible values of a condition.
func (n Names) Truth(e *expr.Expr) Truth { return evaluator{n, nil}.truth(e.Root()) }

// evaluator evaluates a part of an expression.
type evaluator struct {
	Names
	values []string // of the enumeration that a name may belong to
}

// condition reports whether a node is a condition.
func (e evaluator) condition(n *expr.Node) bool {
	switch o, ok := n.Op().Operator(); {
	case ok:
		return o.Gives == expr.Boolean
	case n.Op() == expr.OpName:
		return e.Scope[n.Name()].Type == expr.Boolean
	case n.Op() == expr.OpIf:
		return e.condition(n.Arg(1))
	}
	return n.Op() == expr.OpTruth
}

func (e evaluator) any(n *expr.Node, condition bool) Value {
	if condition {
		return e.truth(n).value()
	}
	return e.number(n)
}

// number returns the value of a number, an enumeration or a text.
func (e evaluator) number(n *expr.Node) Value {
	arg := func(i int) Value { return e.number(n.Arg(i)) }
	switch n.Op() {
	case expr.OpNumber:
		return Constant(Point(n.SI()))
	case expr.OpPi:
		return Constant(Point(math.Pi))
	case expr.OpText:
		return Constant(All)
	case expr.OpName:
		return e.name(n.Name())
	case expr.OpNegative:
		return arg(0).negative()
	case expr.OpAdd:
		return arg(0).plus(arg(1))
	case expr.OpSubtract:
		return arg(0).plus(arg(1).negative())
	case expr.OpMultiply:
		if x := n.Arg(0); x.Op() == expr.OpName && n.Arg(1).Op() == expr.OpName && x.Name() == n.Arg(1).Name() {
			return arg(0).power(Constant(Point(2)))
		}
		return arg(0).times(arg(1))
	case expr.OpDivide:
		return arg(0).over(arg(1))
	case expr.OpPower:
		return arg(0).power(arg(1))
	case expr.OpIf:
		return e.choose(n)
	case expr.OpCall:
		return e.call(n)
	}
	panic("interval: not a number")
}

func (e evaluator) name(name string) Value {
	if _, declared := e.Scope[name]; declared {
		return e.Value(name)
	}
	if i := slices.Index(e.values, name); i >= 0 {
		return Constant(Point(float64(i)))
	}
	return Constant(undefined())
}

// choose returns the value of an if.
func (e evaluator) choose(n *expr.Node) Value {
	switch t := e.truth(n.Arg(0)); {
	case !t.False:
		return e.any(n.Arg(1), e.condition(n))
	case !t.True:
		return e.any(n.Arg(2), e.condition(n))
	}
	v := e.given(n.Arg(0), true).any(n.Arg(1), e.condition(n)).Or(e.given(n.Arg(0), false).any(n.Arg(2), e.condition(n)))
	v.Jumps = true
	return v
}

// given returns an evaluator where a condition is known to hold, or not to: signals that it compares are limited.
func (e evaluator) given(n *expr.Node, is bool) evaluator {
	switch op := n.Op(); op {
	case expr.OpNot:
		return e.given(n.Arg(0), !is)
	case expr.OpAnd, expr.OpOr:
		if is == (op == expr.OpAnd) {
			return e.given(n.Arg(0), is).given(n.Arg(1), is)
		}
		for i := range 2 { // the other one decides
			if t := e.truth(n.Arg(i)); op == expr.OpAnd && !t.False || op == expr.OpOr && !t.True {
				return e.given(n.Arg(1-i), is)
			}
		}
	case expr.OpGreaterEqual, expr.OpGreater, expr.OpLess, expr.OpLessEqual:
		most, least := n.Arg(0), n.Arg(1)
		if (op == expr.OpGreaterEqual || op == expr.OpGreater) != is {
			most, least = least, most
		}
		if x, y := e.number(most), e.number(least); !x.NaN && !y.NaN {
			above, below := Interval{Low: y.Low, High: math.Inf(1)}, Interval{Low: math.Inf(-1), High: x.High}
			return e.limited(most, above).limited(least, below)
		}
	}
	return e
}

// limited returns an evaluator in which a node, if it is a signal, is in an interval.
func (e evaluator) limited(n *expr.Node, in Interval) evaluator {
	value := e.Value
	e.Value = func(name string) Value {
		v := value(name)
		if both, ok := v.Meet(in); ok && n.Op() == expr.OpName && name == n.Name() {
			v.Low, v.High = both.Low, both.High
		}
		return v
	}
	return e
}

// truth returns the possible values of a condition.
func (e evaluator) truth(n *expr.Node) Truth {
	arg := func(i int) Truth { return e.truth(n.Arg(i)) }
	switch n.Op() {
	case expr.OpTruth:
		return Truth{n.Value() != 0, n.Value() == 0}
	case expr.OpName:
		v := e.name(n.Name())
		return Truth{v.Low != 0 || v.High != 0 || v.NaN, v.Contains(0)}
	case expr.OpNot:
		return arg(0).not()
	case expr.OpAnd:
		x, y := arg(0), arg(1)
		return Truth{x.True && y.True, x.False || y.False}
	case expr.OpOr:
		x, y := arg(0), arg(1)
		return Truth{x.True || y.True, x.False && y.False}
	case expr.OpIf:
		c, yes, no := arg(0), arg(1), arg(2)
		return Truth{c.True && yes.True || c.False && no.True, c.True && yes.False || c.False && no.False}
	case expr.OpGreaterEqual:
		return above(e.number(n.Arg(0)), e.number(n.Arg(1)))
	case expr.OpLessEqual:
		return above(e.number(n.Arg(1)), e.number(n.Arg(0)))
	case expr.OpLess:
		return above(e.number(n.Arg(0)), e.number(n.Arg(1))).not()
	case expr.OpGreater:
		return above(e.number(n.Arg(1)), e.number(n.Arg(0))).not()
	case expr.OpEqual:
		return e.equal(n)
	case expr.OpNotEqual:
		return e.equal(n).not()
	}
	panic("interval: not a condition")
}

// above returns the possible values of x - y >= 0, which does not hold of NaN.
func above(x, y Value) Truth {
	nan := x.Minus(y.Interval).NaN
	return Truth{x.High >= y.Low, x.Low < y.High || nan}
}

// equal compares two values that change only at instants.
func (e evaluator) equal(n *expr.Node) Truth {
	for i := range 2 {
		if v := e.valuesOf(n.Arg(i)); v != nil {
			e.values = v
		}
	}
	x, y := e.any(n.Arg(0), e.condition(n.Arg(0))), e.any(n.Arg(1), e.condition(n.Arg(1)))
	d := x.Minus(y.Interval)
	const near = expr.Tolerance // far less than the distance of two values that are not reals
	return Truth{d.Low <= near && d.High >= -near, d.NaN || d.Low < -near || d.High > near}
}

// valuesOf returns the values of an enumeration.
func (e evaluator) valuesOf(n *expr.Node) []string {
	if n.Op() == expr.OpIf {
		if v := e.valuesOf(n.Arg(1)); v != nil {
			return v
		}
		return e.valuesOf(n.Arg(2))
	}
	return e.Scope[n.Name()].Values
}

// call returns the value of a function.
func (e evaluator) call(n *expr.Node) Value {
	if m := n.Means(); m != nil {
		return e.number(m)
	}
	x := e.number(n.Arg(0))
	if t := e.Scope[n.Name()].Table; t != nil {
		y := Constant(Point(0))
		if n.Len() == 2 {
			y = e.number(n.Arg(1))
		}
		return table(t, x, y)
	}
	switch n.Name() {
	case "min":
		for i := range n.Len() - 1 {
			y := e.number(n.Arg(i + 1))
			x = x.selected(y, x.High < y.Low, y.High < x.Low, x.Min(y.Interval))
		}
		return x
	case "max":
		for i := range n.Len() - 1 {
			y := e.number(n.Arg(i + 1))
			x = x.selected(y, x.Low > y.High, y.Low > x.High, x.Max(y.Interval))
		}
		return x
	case "atan2":
		return x.atan2(e.number(n.Arg(1)))
	case "mod":
		return x.mod(e.number(n.Arg(1)))
	case "bitand", "bitor", "bitxor":
		return Value{Interval: x.bits(n.Name(), e.number(n.Arg(1)).Interval), Jumps: true}
	case "bitnot":
		return x.negative().plus(Constant(Point(-1)))
	}
	f, ok := functions[n.Name()]
	if !ok {
		panic("interval: unknown function")
	}
	return x.through(f)
}

// through returns the value of a function of one argument.
func (x Value) through(f func(Interval) (y, slope Interval, jumps bool)) Value {
	y, slope, jumps := f(x.Interval)
	v := x.scaled(y, slope)
	v.Jumps = x.Jumps || jumps
	return v
}

// functions are the functions of one argument: the value, its derivative, and whether it may jump.
var functions = map[string]func(x Interval) (y, slope Interval, jumps bool){
	"abs": func(x Interval) (y, slope Interval, jumps bool) {
		slope = Interval{Low: -1, High: 1}
		switch {
		case x.Low >= 0:
			slope = Point(1)
		case x.High <= 0:
			slope = Point(-1)
		}
		return x.Abs(), slope, false
	},
	"sqrt": func(x Interval) (y, slope Interval, jumps bool) {
		y = x.Sqrt()
		return y, Point(0.5).Over(y).Max(Point(0)), false
	},
	"exp": func(x Interval) (y, slope Interval, jumps bool) {
		y = x.Exp()
		return y, y, false
	},
	"log": func(x Interval) (y, slope Interval, jumps bool) {
		return x.Log(), Point(1).Over(x.clipped(0, math.Inf(1))).Max(Point(0)), false
	},
	"sin": func(x Interval) (y, slope Interval, jumps bool) { return x.Sin(), x.Cos(), false },
	"cos": func(x Interval) (y, slope Interval, jumps bool) { return x.Cos(), x.Sin().Negative(), false },
	"tan": func(x Interval) (y, slope Interval, jumps bool) {
		y = x.Tan()
		return y, Point(1).Plus(y.Square()), !y.Bounded()
	},
	"asin": func(x Interval) (y, slope Interval, jumps bool) { return x.Asin(), x.arc(), false },
	"acos": func(x Interval) (y, slope Interval, jumps bool) { return x.Acos(), x.arc().Negative(), false },
	"atan": func(x Interval) (y, slope Interval, jumps bool) {
		return x.Atan(), Point(1).Over(Point(1).Plus(x.Square())), false
	},
	"sign": func(x Interval) (y, slope Interval, jumps bool) {
		y = Interval{Low: 1, High: -1, NaN: x.NaN}
		for _, c := range []struct {
			is   bool
			sign float64
		}{{x.Low < 0, -1}, {x.Low <= 0 && x.High >= 0, 0}, {x.High > 0, 1}} {
			if c.is {
				y.Low, y.High = min(y.Low, c.sign), max(y.High, c.sign)
			}
		}
		return y, Interval{}, y.Low < y.High
	},
	"floor": floor,
	"tanh": func(x Interval) (y, slope Interval, jumps bool) {
		y = x.Tanh()
		return y, Point(1).Minus(y.Square()).Max(Point(0)), false
	},
}

func floor(x Interval) (y, slope Interval, jumps bool) {
	y = Interval{math.Floor(x.Low), math.Floor(x.High), x.NaN}
	return y, Interval{}, y.Low < y.High
}

// arc returns the derivative of the arc sine.
func (x Interval) arc() Interval {
	return Point(1).Over(Point(1).Minus(x.clipped(-1, 1).Square()).Sqrt()).Max(Point(0))
}

// scaled returns a value of x with the derivative of the function.
func (x Value) scaled(y, slope Interval) Value {
	return Value{y, combined(x.Slope, slope, nil, Interval{}), x.Jumps}
}

// combined returns a * f + b * g, by variable.
func combined(f []Interval, a Interval, g []Interval, b Interval) []Interval {
	if f == nil && g == nil {
		return nil
	}
	list := make([]Interval, max(len(f), len(g)))
	for i := range list {
		if f != nil {
			list[i] = f[i].part(a)
		}
		if g != nil {
			list[i] = list[i].Plus(g[i].part(b))
		}
		list[i].NaN = false
	}
	return list
}

// part returns x * y, which is 0 if x is 0 everywhere.
func (x Interval) part(y Interval) Interval {
	if x.Low == 0 && x.High == 0 {
		return Interval{}
	}
	return x.Times(y)
}

func (x Value) negative() Value { return x.scaled(x.Negative(), Point(-1)) }

func (x Value) plus(y Value) Value {
	return Value{x.Plus(y.Interval), combined(x.Slope, Point(1), y.Slope, Point(1)), x.Jumps || y.Jumps}
}

func (x Value) times(y Value) Value {
	return Value{x.Times(y.Interval), combined(x.Slope, y.Interval, y.Slope, x.Interval), x.Jumps || y.Jumps}
}

func (x Value) over(y Value) Value {
	v := x.Over(y.Interval)
	return Value{v, combined(x.Slope, Point(1).Over(y.Interval), y.Slope, v.Over(y.Interval).Negative()),
		x.Jumps || y.Jumps || y.Contains(0)}
}

func (x Value) power(y Value) Value {
	v := x.Power(y.Interval)
	out := x.scaled(v, y.Times(x.Power(y.Minus(Point(1)))))
	out.Jumps = x.Jumps || y.Jumps || !v.Bounded() && x.Contains(0)
	if y.Slope != nil {
		out.Slope = combined(out.Slope, Point(1), y.Slope, v.Times(x.Log()))
		out.Jumps = out.Jumps || x.Low <= 0
	}
	return out
}

func (x Value) atan2(y Value) Value {
	square := x.Square().Plus(y.Square())
	return Value{x.Atan2(y.Interval), combined(x.Slope, y.Over(square), y.Slope, x.Over(square).Negative()),
		x.Jumps || y.Jumps || x.cut(y.Interval)}
}

// mod returns x - y * floor(x / y). It lies between 0 and y, except for what rounding takes it beyond.
func (x Value) mod(y Value) Value {
	v := x.plus(y.times(x.over(y).through(floor)).negative())
	if slack := 4 * relative * max(math.Abs(x.Low), math.Abs(x.High)); y.Low > 0 || y.High < 0 {
		if part, ok := v.Meet(Between(min(y.Low, 0)-slack, max(y.High, 0)+slack)); ok {
			v.Interval = Interval{part.Low, part.High, v.NaN}
		}
	}
	return v
}

// Or returns what is known of a value that is one of two.
func (x Value) Or(y Value) Value {
	v := Value{Interval: x.Join(y.Interval), Jumps: x.Jumps || y.Jumps}
	if n := max(len(x.Slope), len(y.Slope)); n > 0 {
		v.Slope = make([]Interval, n)
		for i := range v.Slope {
			v.Slope[i] = x.slope(i).Join(y.slope(i))
		}
	}
	return v
}

func (x Value) slope(i int) Interval {
	if x.Slope == nil {
		return Interval{}
	}
	return x.Slope[i]
}

// selected returns the one of two values that a function selects, in an interval; which one decides the derivative.
func (x Value) selected(y Value, first, second bool, in Interval) Value {
	v := y
	switch {
	case first:
		v = x
	case !second:
		v = x.Or(y)
	}
	v.Interval = in
	return v
}
