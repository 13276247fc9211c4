// Package expr is the language of expressions over signals: conditions with their event indicators, real values with
// their units.
//
// An expression is parsed once into an immutable tree (Parse), compared with the signals it may read (Check), then
// compiled into a function of the signals' values that allocates nothing (Compiler). docs/expressions.md describes the
// language to its users.
package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"canopy/diag"
)

// Error is one mistake in an expression, found by Parse, ParseAssignments, ParseUnit or Expr.Check.
type Error struct {
	Offset, Length int    // bytes of the text that was parsed; Length 0 marks one place
	Code           string // stable: one of the Code constants
	Text           string // what is wrong
	Hint           string // what to write instead; may be empty

	Suggest func() string // looks for a better hint when the error is shown, as that of [diag.Diagnostic]; may be nil
}

// In returns the error as a diagnostic about a document in which the text begins at an offset.
func (e *Error) In(src *diag.Source, offset int) diag.Diagnostic {
	return diag.Diagnostic{Source: src, Offset: offset + e.Offset, Length: e.Length, Code: e.Code, Text: e.Text,
		Hint: e.Hint, Suggest: e.Suggest}
}

// The codes of errors.
const (
	CodeSyntax      = "syntax"
	CodeEquality    = "equality" // == or != between reals
	CodeUnit        = "unknown-unit"
	CodeDuplicate   = "duplicate-assignment"
	CodeSignal      = "unknown-signal"
	CodeFunction    = "unknown-function"
	CodeArguments   = "wrong-arguments" // a function with too few or too many
	CodeType        = "wrong-type"      // a number for a condition or the reverse
	CodeIncoherence = "unit-mismatch"
)

func (e *Error) Error() string {
	if advice := e.In(nil, 0).Advice(); advice != "" {
		return e.Text + " (" + advice + ")"
	}
	return e.Text
}

// IsName reports whether expressions can name a signal so.
func IsName(s string) bool {
	e, err := Parse(s)
	return err == nil && slices.Equal(e.Names(), []string{s}) && e.String() == s
}

// Type is what an expression evaluates to.
type Type uint8

// The types of expressions.
const (
	Real Type = iota
	Boolean
)

func (t Type) String() string {
	if t == Boolean {
		return "condition"
	}
	return "number"
}

// Expr is a parsed expression. It is immutable and may be shared.
type Expr struct{ root *node }

// op says what a node of the tree is.
type op uint8

const (
	opNumber op = iota
	opPi
	opName
	opTruth
	opNegative
	opAdd
	opSubtract
	opMultiply
	opDivide
	opPower
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opAnd
	opOr
	opNot
	opIf
	opCall
)

// node is one node of an expression's tree.
type node struct {
	op      op
	at, end int     // bytes [at, end) of the source
	depth   int     // levels of the subtree
	value   float64 // of a number, as written; of true 1, of false 0
	unit    Unit    // of a number; AnyUnit if it is bare
	name    string  // of a signal or a function
	args    []*node
}

// si returns a number's value in coherent SI units.
func (n *node) si() float64 { return n.unit.SI(n.value) }

// relation reports whether the node compares two numbers.
func (n *node) relation() bool { return opLess <= n.op && n.op <= opGreaterEqual }

// typ returns the type of the node's value, provided that Check accepts it.
func (n *node) typ() Type {
	if n.op == opTruth || opLess <= n.op && n.op <= opNot {
		return Boolean
	}
	return Real
}

// walk visits the nodes in the order of the text, parents first.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, a := range n.args {
		a.walk(visit)
	}
}

// Type returns what the expression evaluates to.
func (e *Expr) Type() Type { return e.root.typ() }

// Names returns the signals that the expression reads, each once, in the order of their first appearance.
func (e *Expr) Names() []string {
	var names []string
	e.root.walk(func(n *node) {
		if n.op == opName && !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	})
	return names
}

// Substitute returns the expression with names replaced by expressions, all at once: a replacement is not searched
// again. What Check finds wrong inside a replacement is reported at the name it stands for.
func (e *Expr) Substitute(with map[string]*Expr) *Expr {
	return &Expr{substitute(e.root, with)}
}

func substitute(n *node, with map[string]*Expr) *node {
	if r, ok := with[n.name]; ok && n.op == opName {
		return r.root.moved(n.at, n.end)
	}
	return n.rebuilt(func(a *node) *node { return substitute(a, with) })
}

// moved returns a copy of the tree with every node at one place.
func (n *node) moved(at, end int) *node {
	c := n.rebuilt(func(a *node) *node { return a.moved(at, end) })
	c.at, c.end = at, end
	return c
}

// rebuilt returns a copy of the node with other arguments.
func (n *node) rebuilt(arg func(*node) *node) *node {
	c := *n
	c.args = make([]*node, len(n.args))
	c.depth = 1
	for i, a := range n.args {
		c.args[i] = arg(a)
		c.depth = max(c.depth, c.args[i].depth+1)
	}
	return &c
}

// Binding powers of the operators, from loose to tight; 0 accepts every expression.
const (
	bindOr = 1 + iota
	bindAnd
	bindNot
	bindRelation
	bindSum
	bindProduct
	bindNegative
	bindPower
	bindPrimary
)

// operators gives the canonical text and the binding power of the operators.
var operators = map[op]struct {
	text string
	bind int
}{
	opOr: {" or ", bindOr}, opAnd: {" and ", bindAnd}, opNot: {"not ", bindNot},
	opLess: {" < ", bindRelation}, opLessEqual: {" <= ", bindRelation},
	opGreater: {" > ", bindRelation}, opGreaterEqual: {" >= ", bindRelation},
	opAdd: {" + ", bindSum}, opSubtract: {" - ", bindSum},
	opMultiply: {" * ", bindProduct}, opDivide: {" / ", bindProduct},
	opNegative: {"-", bindNegative}, opPower: {"^", bindPower},
}

// String returns the canonical text: words for the logical operators, signs for the others, as few parentheses as
// possible. Parsed again, it gives the same tree.
func (e *Expr) String() string { return e.root.String() }

func (n *node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// write appends the text of the node, in parentheses if it binds less tightly than asked for.
func (n *node) write(b *strings.Builder, least int) {
	o, isOperator := operators[n.op]
	if isOperator && o.bind < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch {
	case n.op == opNumber:
		b.WriteString(strconv.FormatFloat(n.value, 'g', -1, 64))
		if !n.unit.any {
			b.WriteString(" [" + n.unit.text + "]")
		}
	case n.op == opPi:
		b.WriteString("pi")
	case n.op == opTruth:
		b.WriteString(strconv.FormatBool(n.value != 0))
	case n.op == opName:
		b.WriteString(n.name)
	case n.op == opIf, n.op == opCall:
		b.WriteString(n.name + "(")
		for i, a := range n.args {
			if i > 0 {
				b.WriteString(", ")
			}
			a.write(b, 0)
		}
		b.WriteByte(')')
	case len(n.args) == 1:
		b.WriteString(o.text)
		n.args[0].write(b, o.bind)
	case n.op == opPower: // groups from the right; a sign may stand before an exponent
		n.args[0].write(b, bindPrimary)
		b.WriteString(o.text)
		n.args[1].write(b, bindNegative)
	case n.relation(): // does not chain
		n.args[0].write(b, o.bind+1)
		b.WriteString(o.text)
		n.args[1].write(b, o.bind+1)
	default:
		n.args[0].write(b, o.bind)
		b.WriteString(o.text)
		n.args[1].write(b, o.bind+1)
	}
}

// function describes a function of the language.
type function struct {
	least, most int // arguments
	unit        rule
	one         func(float64) float64          // value, for one argument
	two         func(float64, float64) float64 // value, for two; folded from the left over more
}

// rule says what a function does with units.
type rule uint8

const (
	keeps     rule = iota // arguments of one unit, the value in the same
	pure                  // a dimensionless argument, a dimensionless value
	root                  // the value in the square root of the argument's unit
	ratio                 // arguments of one unit, a dimensionless value
	anyNumber = math.MaxInt
)

var functions = map[string]function{
	"abs":   {1, 1, keeps, math.Abs, nil},
	"min":   {2, anyNumber, keeps, nil, math.Min},
	"max":   {2, anyNumber, keeps, nil, math.Max},
	"sqrt":  {1, 1, root, math.Sqrt, nil},
	"exp":   {1, 1, pure, math.Exp, nil},
	"log":   {1, 1, pure, math.Log, nil},
	"sin":   {1, 1, pure, math.Sin, nil},
	"cos":   {1, 1, pure, math.Cos, nil},
	"tan":   {1, 1, pure, math.Tan, nil},
	"asin":  {1, 1, pure, math.Asin, nil},
	"acos":  {1, 1, pure, math.Acos, nil},
	"atan":  {1, 1, pure, math.Atan, nil},
	"tanh":  {1, 1, pure, math.Tanh, nil},
	"atan2": {2, 2, ratio, nil, math.Atan2},
}
