// Package expr implements the language of expressions over signals: conditions with their event indicators, real values
// with their units, and discrete values.
//
// An expression is parsed once into an immutable tree (Parse) of public nodes (Node), checked against the signals that
// it may read (Check), then compiled into a program that one interpreter runs without allocating (Compiler, Code).
// docs/expressions.md is the user's description of the language.
package expr

import (
	"slices"

	"github.com/canopy-uav/canopy/diag"
)

// Error is one mistake in an expression, found by Parse and the other readers, or by Expr.Check.
type Error struct {
	Offset, Length int    // bytes of the text that was parsed; Length 0 marks one place
	Code           string // stable: one of the Code constants
	Text           string // what is wrong
	Hint           string // what to write instead; may be empty
	Node           *Node  // that Check found wrong; nil for a mistake of syntax

	Suggest func() string // finds a better hint when the error is shown, as in [diag.Diagnostic]; may be nil
}

// In returns the error as a diagnostic about a document in which the text begins at the given offset.
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
	CodeValue       = "unknown-value"   // of an enumeration
	CodeArguments   = "wrong-arguments" // too few or too many for the function
	CodeType        = "wrong-type"      // such as a number in place of a condition
	CodeIncoherence = "unit-mismatch"
)

func (e *Error) Error() string {
	if advice := e.In(nil, 0).Advice(); advice != "" {
		return e.Text + " (" + advice + ")"
	}
	return e.Text
}

// IsName reports whether a text is a valid name of a signal in expressions.
func IsName(s string) bool {
	return s != "" && wordIn(s) == s && s[len(s)-1] != '.' && !slices.Contains(reserved, s)
}

// Type is the type of an expression's value.
type Type uint8

// The types of expressions. Only reals change continuously. Values of the other types are discrete: they change only at
// instants, and are stored among the signals as whole numbers: a Boolean as 1 or 0, a value of an enumeration as its
// index in the list of values, a text as its index in Compiler.Texts.
const (
	Real Type = iota
	Boolean
	Integer
	Enumeration
	Text
)

// typeNames are the types as documents and logs write them.
var typeNames = []string{Real: "real", Boolean: "boolean", Integer: "integer", Enumeration: "enumeration", Text: "text"}

// TypeNames returns the names of the types.
func TypeNames() []string { return slices.Clone(typeNames) }

// TypeNamed returns the type of a name.
func TypeNamed(name string) (t Type, ok bool) {
	i := slices.Index(typeNames, name)
	return Type(max(i, 0)), i >= 0
}

// Name returns the name of the type in documents and logs.
func (t Type) Name() string { return typeNames[t] }

func (t Type) String() string {
	return [...]string{"number", "condition", "whole number", "enumeration", "text"}[t]
}

// Variable declares a signal that expressions may read, or the required result of an expression.
type Variable struct {
	Type   Type
	Unit   Unit       // of a real; must be coherent
	Values []string   // of an enumeration
	Table  *Tabulated // the name is that of a function, given by a table, with values in Unit
	Held   bool       // of a real: it changes only at instants, as the values of the other types do
	Given  bool       // of a discrete type: the world changes it; a change is found as that of a real, by indicators

	Constant *float64 // of a real: it never changes; Resolved writes the number

	Sources []string // the value is known while all of these are; nil: always
}

// discrete reports whether a signal changes only at instants at which something else happens.
func (v Variable) discrete() bool { return (v.Type != Real || v.Held) && !v.Given }

// Number is a real in a unit.
func Number(u Unit) Variable { return Variable{Unit: u} }

// Scope declares the signals that an expression may read. A nil scope accepts any name as a signal, of the type that
// its place requires, in any unit.
type Scope map[string]Variable

// Expr is a parsed expression. It is immutable and may be shared.
type Expr struct{ root *Node }

// Root returns the expression's tree.
func (e *Expr) Root() *Node { return e.root }

// String returns the canonical text: words for the logical operators, signs for the others, as few parentheses as
// possible. Parsed again, it gives the same tree.
func (e *Expr) String() string { return e.root.String() }

// Type returns the type of the expression, provided that Check accepts it. A single name in a nil scope is real.
func (e *Expr) Type(scope Scope) Type {
	if t := scope.variable(e.root).Type; t != anyType {
		return t
	}
	return Real
}

// Constant returns the value of a number that Check accepts and that reads no signal.
func (e *Expr) Constant() (value float64, ok bool) {
	if len(e.Names()) > 0 {
		return 0, false
	}
	return NewCompiler(nil, nil).CompileAtOnce(e, Variable{}).Real(nil, nil), true
}

// Truth returns the value of a condition that Check accepts and that reads no signal.
func (e *Expr) Truth() (value, ok bool) {
	if len(e.Names()) > 0 {
		return false, false
	}
	return NewCompiler(nil, nil).CompileAtOnce(e, Variable{Type: Boolean}).Bool(nil, nil), true
}

// Names returns the signals that the expression reads, each once, in the order of their first appearance. In an
// expression that compares enumerations, their values are among the names.
func (e *Expr) Names() []string {
	var names []string
	known := map[string]bool{}
	for n := range e.root.names() {
		if !known[n.name] {
			known[n.name] = true
			names = append(names, n.name)
		}
	}
	return names
}

// Propositions returns the nodes that are names used as conditions, in the order of their appearance.
func (e *Expr) Propositions() []*Node {
	var list []*Node
	var visit func(n *Node)
	visit = func(n *Node) {
		switch n.op {
		case OpName:
			list = append(list, n)
		case OpAnd, OpOr, OpNot:
			for _, a := range n.args {
				visit(a)
			}
		}
	}
	visit(e.root)
	return list
}

// Substitute returns the expression with names replaced by expressions, all at once: a replacement is not searched
// again. Errors that Check finds inside a replacement are reported at the replaced name, which their Node tells.
func (e *Expr) Substitute(with map[string]*Expr) *Expr {
	return &Expr{substitute(e.root, with)}
}

// Parts returns the number of nodes that Substitute would create.
func (e *Expr) Parts(with map[string]*Expr) int {
	count := e.root.parts
	for n := range e.root.names() {
		if r, ok := with[n.name]; ok {
			count += r.root.parts - 1
		}
	}
	return count
}

func substitute(n *Node, with map[string]*Expr) *Node {
	if r, ok := with[n.name]; ok && n.op == OpName && !n.implied {
		return r.root.moved(n)
	}
	return n.rebuilt(func(a *Node) *Node { return substitute(a, with) })
}
