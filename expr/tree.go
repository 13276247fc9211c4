package expr

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Op is the kind of a node of an expression's tree.
type Op uint8

// The nodes of a tree.
const (
	OpNumber       Op = iota // Value, Unit
	OpPi                     // the number pi
	OpText                   // Name is a text
	OpName                   // Name is a signal or a value of an enumeration
	OpTruth                  // Value is 1 for true, 0 for false
	OpNegative               // - a
	OpAdd                    // a + b
	OpSubtract               // a - b
	OpMultiply               // a * b
	OpDivide                 // a / b
	OpPower                  // a ^ b
	OpLess                   // a < b, not a >= b
	OpLessEqual              // a <= b
	OpGreater                // a > b, not a <= b
	OpGreaterEqual           // a >= b
	OpEqual                  // a == b
	OpNotEqual               // a != b
	OpAnd                    // a and b
	OpOr                     // a or b
	OpNot                    // not a
	OpIf                     // b if a holds, else c
	OpCall                   // the function Name applied to the arguments
)

// Operator describes an operator, for code that writes expressions in another language.
type Operator struct {
	Text  string // canonical
	Bind  int    // how tightly it binds; more is tighter
	Args  int    // 1: written before its argument; 2: between its arguments
	Of    Type   // its arguments; those of == and != are two of one discrete type
	Gives Type
}

// Binding powers of the operators, from loose to tight; 0 accepts every expression.
const (
	bindOr = 1 + iota
	bindAnd
	bindNot
	bindRelation
	bindEither // of bits
	bindBits
	bindSum
	bindProduct
	bindNegative
	bindPower
	bindPrimary
)

// operators is the table of the operators.
var operators = map[Op]Operator{
	OpOr: {"or", bindOr, 2, Boolean, Boolean}, OpAnd: {"and", bindAnd, 2, Boolean, Boolean},
	OpNot:  {"not", bindNot, 1, Boolean, Boolean},
	OpLess: {"<", bindRelation, 2, Real, Boolean}, OpLessEqual: {"<=", bindRelation, 2, Real, Boolean},
	OpGreater: {">", bindRelation, 2, Real, Boolean}, OpGreaterEqual: {">=", bindRelation, 2, Real, Boolean},
	OpEqual: {"==", bindRelation, 2, Integer, Boolean}, OpNotEqual: {"!=", bindRelation, 2, Integer, Boolean},
	OpAdd: {"+", bindSum, 2, Real, Real}, OpSubtract: {"-", bindSum, 2, Real, Real},
	OpMultiply: {"*", bindProduct, 2, Real, Real}, OpDivide: {"/", bindProduct, 2, Real, Real},
	OpNegative: {"-", bindNegative, 1, Real, Real}, OpPower: {"^", bindPower, 2, Real, Real},
}

// Operator returns the description of an operator; ok is false for other nodes.
func (o Op) Operator() (d Operator, ok bool) {
	d, ok = operators[o]
	return d, ok
}

// relation reports whether the operator compares two numbers; it is an event if one of them is real.
func (o Op) relation() bool { return OpLess <= o && o <= OpGreaterEqual }

// equality reports whether the operator compares two discrete values.
func (o Op) equality() bool { return o == OpEqual || o == OpNotEqual }

// Node is one node of an expression's tree. It is immutable. Operators that group from the left nest in their first
// argument.
type Node struct {
	op      Op
	at, end int    // bytes [at, end) of the source
	sign    int    // of an equality: offset of its sign
	spelled string // of an equality: the sign as it was written; of a sum that joins texts: ".."
	value   float64
	unit    Unit // of a number; AnyUnit if it is bare
	name    string
	args    []*Node

	implied  bool   // of a name: a function reads it without naming it
	numeric  bool   // of a name: the number that stands for the discrete value of a given signal
	replaced string // the name in whose place Substitute set the node; may be empty
	given    *Node  // the condition that reads given signals, of which it is the relation between numbers; else nil

	// Computed by complete.
	means    *Node   // what a function stands for that is short for others; else nil
	parts    int     // nodes of the tree, or of what it means
	need     int     // registers that its value needs
	constant bool    // a number that depends on no signal
	folded   float64 // its value in coherent SI units
}

// True and False are the constant conditions.
var (
	True  = &Expr{(&Node{op: OpTruth, value: 1}).complete()}
	False = &Expr{(&Node{op: OpTruth}).complete()}
)

// Op returns the kind of the node.
func (n *Node) Op() Op { return n.op }

// Span returns the bytes [at, end) of the parsed text that the node covers, with its parentheses.
func (n *Node) Span() (at, end int) { return n.at, n.end }

// Value returns a number as written, in its unit; 1 for true, 0 for false.
func (n *Node) Value() float64 { return n.value }

// SI returns a number in coherent SI units.
func (n *Node) SI() float64 { return n.unit.SI(n.value) }

// Name returns the name of a signal, of a value of an enumeration or of a function, or the text itself.
func (n *Node) Name() string { return n.name }

// Replaced returns the name in whose place Substitute set the node; it may be empty.
func (n *Node) Replaced() string { return n.replaced }

// Means returns the node that a function stands for, which is short for an expression of others; else nil.
func (n *Node) Means() *Node { return n.means }

// Len returns the number of arguments.
func (n *Node) Len() int { return len(n.args) }

// Arg returns an argument.
func (n *Node) Arg(i int) *Node { return n.args[i] }

// complete computes the derived fields of a node from its arguments, which are complete.
func (n *Node) complete() *Node {
	if text, ok := n.joined(); ok {
		n.op, n.name, n.args = OpText, text, nil
	}
	n.parts, n.means = 1, nil
	for _, a := range n.args {
		n.parts = min(n.parts+a.parts, math.MaxInt32)
	}
	if f := functionIndex(n.name); n.op == OpCall && f >= 0 && functions[f].takes(len(n.args)) {
		if n.means = n.meaning(); n.means != nil {
			n.parts = n.means.parts
		}
	}
	n.need = n.registers()
	if n.constant = n.isConstant(); n.constant {
		n.folded = n.fold()
	}
	return n
}

// joined returns the text that a sum of literal texts is. The sign ".." also joins a text and an integer.
func (n *Node) joined() (text string, ok bool) {
	if n.op != OpAdd {
		return "", false
	}
	texts := 0
	for _, a := range n.args {
		switch {
		case a.op == OpText:
			text += a.name
			texts++
		case n.spelled != "" && a.op == OpNumber && Scope(nil).integer(a):
			text += strconv.FormatFloat(a.value, 'f', -1, 64)
		default:
			return "", false
		}
	}
	return text, texts > 0 && !(strings.Contains(text, `"`) && strings.Contains(text, "'")) // else it has no notation
}

// rebuilt returns a copy of the node with other arguments.
func (n *Node) rebuilt(arg func(*Node) *Node) *Node {
	c := *n
	c.args = make([]*Node, len(n.args))
	for i, a := range n.args {
		c.args[i] = arg(a)
	}
	return c.complete()
}

// moved returns a copy of the tree with every node at the place of a name that it replaces.
func (n *Node) moved(to *Node) *Node {
	c := n.rebuilt(func(a *Node) *Node { return a.moved(to) })
	c.at, c.end, c.sign, c.replaced = to.at, to.end, to.at, to.name
	return c
}

// walk visits the nodes in the order of the text, parents first, as long as visit returns true.
func (n *Node) walk(visit func(*Node) bool) bool {
	return visit(n) && !slices.ContainsFunc(n.args, func(a *Node) bool { return !a.walk(visit) })
}

// names returns the names of signals and of values in the order of the text.
func (n *Node) names() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		n.walk(func(n *Node) bool { return n.op != OpName || yield(n) })
	}
}

// isConstant reports whether the node is a number that depends on no signal.
func (n *Node) isConstant() bool {
	switch n.op {
	case OpNumber, OpPi:
		return true
	case OpCall:
		if f := functionIndex(n.name); f < 0 || !functions[f].takes(len(n.args)) {
			return false
		}
	case OpNegative, OpAdd, OpSubtract, OpMultiply, OpDivide, OpPower:
	default:
		return false
	}
	return !slices.ContainsFunc(n.args, func(a *Node) bool { return !a.constant })
}

// String returns the node's canonical text.
func (n *Node) String() string { return n.text(0) }

// text returns the canonical text, in parentheses if the node binds less tightly than required.
func (n *Node) text(bind int) string {
	b := writer{most: math.MaxInt}
	n.write(&b, bind)
	return b.String()
}

// writer builds the text of a tree. If it is longer than most bytes, it writes only a prefix of at least that length.
type writer struct {
	strings.Builder
	most int
}

// write appends the text of the node, in parentheses if it binds less tightly than required.
func (n *Node) write(b *writer, bind int) {
	if b.Len() > b.most {
		return
	}
	o, isOperator := operators[n.op]
	if isOperator && o.Bind < bind {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch {
	case n.op == OpNumber:
		b.WriteString(strconv.FormatFloat(n.value, 'g', -1, 64))
		if !n.unit.any {
			b.WriteString(" [" + n.unit.text + "]")
		}
	case n.op == OpPi:
		b.WriteString("pi")
	case n.op == OpTruth:
		b.WriteString(strconv.FormatBool(n.value != 0))
	case n.op == OpName && strings.ContainsAny(n.name, "/[ "):
		b.WriteString("{" + n.name + "}")
	case n.op == OpName:
		b.WriteString(n.name)
	case n.op == OpText:
		quote := `"`
		if strings.Contains(n.name, quote) {
			quote = "'"
		}
		b.WriteString(quote + n.name + quote)
	case n.op == OpIf, n.op == OpCall:
		b.WriteString(n.name + "(")
		for i, a := range n.args {
			if a.implied {
				break
			}
			if i > 0 {
				b.WriteString(", ")
			}
			a.write(b, 0)
		}
		b.WriteByte(')')
	case n.op == OpNot:
		b.WriteString("not ")
		n.args[0].write(b, o.Bind)
	case n.op == OpNegative:
		b.WriteByte('-')
		n.args[0].write(b, o.Bind)
	case n.op == OpPower: // right-associative; an exponent may have a sign
		n.args[0].write(b, bindPrimary)
		b.WriteByte('^')
		n.args[1].write(b, bindNegative)
	default:
		left := o.Bind
		if o.Bind == bindRelation { // does not chain
			left++
		}
		n.args[0].write(b, left)
		sign := o.Text
		if n.op == OpAdd && n.spelled != "" {
			sign = n.spelled
		}
		b.WriteString(" " + sign + " ")
		n.args[1].write(b, o.Bind+1)
	}
}

// function describes a function of the language: of one argument, of two, or else short for an expression of its
// arguments. One of two that takes more is applied from the left.
type function struct {
	name        string
	least, most int // arguments
	unit        rule
	breaks      breaks
	one         func(x float64) float64
	two         func(x, y float64) float64
}

// takes reports whether the function takes a number of arguments.
func (f *function) takes(args int) bool { return f.least <= args && args <= f.most }

// rule is a function's effect on units.
type rule uint8

const (
	keeps     rule = iota // arguments of one unit, the value in the same
	pure                  // a dimensionless argument, a dimensionless value
	root                  // the value in the square root of the argument's unit
	ratio                 // arguments of one unit, a dimensionless value
	onEarth               // dimensionless arguments, a value in metres
	placed                // a latitude, a longitude or both, then implied signals; a value in metres
	integers              // integers, the value an integer
	anyNumber = math.MaxInt
)

// breaks says where a function is not smooth, or not defined.
type breaks uint8

const (
	smooth   breaks = iota // nowhere
	switches               // it turns or jumps, where its branches or pieces meet: these are held between events
	poles                  // at its poles, where its value alone tells
	edges                  // at an end of its domain, beyond which it is not a number
	composed               // where the functions are for which it is short
	stepwise               // everywhere: it is for discrete signals, which change at instants
)

// functions is the table of the functions.
var functions = [...]function{
	{"abs", 1, 1, keeps, switches, math.Abs, nil},
	{"min", 2, anyNumber, keeps, switches, nil, math.Min},
	{"max", 2, anyNumber, keeps, switches, nil, math.Max},
	{"sqrt", 1, 1, root, edges, math.Sqrt, nil},
	{"exp", 1, 1, pure, smooth, math.Exp, nil},
	{"log", 1, 1, pure, edges, math.Log, nil},
	{"sin", 1, 1, pure, smooth, math.Sin, nil},
	{"cos", 1, 1, pure, smooth, math.Cos, nil},
	{"tan", 1, 1, pure, poles, math.Tan, nil},
	{"asin", 1, 1, pure, edges, math.Asin, nil},
	{"acos", 1, 1, pure, edges, math.Acos, nil},
	{"atan", 1, 1, pure, smooth, math.Atan, nil},
	{"tanh", 1, 1, pure, smooth, math.Tanh, nil},
	{"atan2", 2, 2, ratio, switches, nil, math.Atan2},
	{"sign", 1, 1, ratio, switches, sign, nil},
	{"floor", 1, 1, pure, switches, math.Floor, nil},
	{"mod", 2, 2, keeps, switches, nil, func(x, y float64) float64 { return x - y*math.Floor(x/y) }},
	{"bitand", 2, 2, integers, stepwise, nil, bits["bitand"]},
	{"bitor", 2, 2, integers, stepwise, nil, bits["bitor"]},
	{"bitxor", 2, 2, integers, stepwise, nil, bits["bitxor"]},
	{"bitnot", 1, 1, integers, stepwise, func(x float64) float64 { return -x - 1 }, nil},
	{"wrap", 1, 1, pure, composed, nil, nil},
	{"distance", 4, 4, onEarth, composed, nil, nil},
	{"bearing", 4, 4, pure, composed, nil, nil},
	{"distance_to", 8, 8, placed, composed, nil, nil},
	{"north_of", 3, 3, placed, composed, nil, nil},
	{"east_of", 3, 3, placed, composed, nil, nil},
}

// MaxInteger is the largest magnitude up to which every integer is exact.
const MaxInteger = 1 << 53

// bits are the operations on the bits of two integers.
var bits = map[string]func(x, y float64) float64{
	"bitand": bitwise(func(x, y int64) int64 { return x & y }),
	"bitor":  bitwise(func(x, y int64) int64 { return x | y }),
	"bitxor": bitwise(func(x, y int64) int64 { return x ^ y }),
}

// bitwise returns an operation on the bits of two integers; those of a negative one are its two's complement. It is NaN
// of what is no integer.
func bitwise(operation func(x, y int64) int64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if x != math.Trunc(x) || y != math.Trunc(y) || max(math.Abs(x), math.Abs(y)) > MaxInteger {
			return math.NaN()
		}
		return float64(operation(int64(x), int64(y)))
	}
}

// Bits returns the value of the function bitand, bitor or bitxor.
func Bits(function string, x, y float64) float64 { return bits[function](x, y) }

// sign returns 1, 0 or -1; NaN of NaN.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// functionIndex returns the place of a function in the table, -1 if there is none.
func functionIndex(name string) int {
	return slices.IndexFunc(functions[:], func(f function) bool { return f.name == name })
}

// IsFunction reports whether a name is that of a function of the language.
func IsFunction(name string) bool { return functionIndex(name) >= 0 }

// functionNames returns the names of all functions.
func functionNames() []string { return append(Functions(), "if", isKnown, age) }
