// Package expr is the language of expressions over signals: conditions with their event indicators, real values with
// their units, discrete values.
//
// An expression is parsed once into an immutable tree (Parse), whose nodes anyone may read (Node), compared with the
// signals it may read (Check), then compiled into a program that one interpreter runs without allocating (Compiler,
// Code). docs/expressions.md describes the language to its users.
package expr

import (
	"slices"

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
	CodeValue       = "unknown-value"   // of an enumeration
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
	return s != "" && wordIn(s) == s && s[len(s)-1] != '.' && !slices.Contains(reserved, s)
}

// Type is what an expression evaluates to.
type Type uint8

// The types of expressions. Only reals change continuously; values of the other types are discrete: they change at
// instants alone, and are whole numbers where they stand among the signals. Of a Boolean these are 1 and 0, of an
// enumeration the place in the list of its values, of a text its place in Compiler.Texts.
const (
	Real Type = iota
	Boolean
	Integer
	Enumeration
	Text
)

func (t Type) String() string {
	return [...]string{"number", "condition", "whole number", "enumeration", "text"}[t]
}

// Variable declares a signal that expressions may read, or what an expression must give.
type Variable struct {
	Type   Type
	Unit   Unit     // of a real; must be coherent
	Values []string // of an enumeration
}

// Number is a real in a unit.
func Number(u Unit) Variable { return Variable{Unit: u} }

// Scope declares the signals that an expression may read. A nil scope knows nothing: any name may be a signal, of the
// type that its place asks for, in any unit.
type Scope map[string]Variable

// Expr is a parsed expression. It is immutable and may be shared.
type Expr struct{ root *Node }

// Root returns the expression's tree.
func (e *Expr) Root() *Node { return e.root }

// String returns the canonical text: words for the logical operators, signs for the others, as few parentheses as
// possible. Parsed again, it gives the same tree.
func (e *Expr) String() string { return e.root.String() }

// Type returns what the expression evaluates to, provided that Check accepts it. A single name in a nil scope is real.
func (e *Expr) Type(scope Scope) Type {
	if t := scope.variable(e.root).Type; t != anyType {
		return t
	}
	return Real
}

// Constant returns the value of a number that Check accepts and that reads no signal.
func (e *Expr) Constant() (value float64, ok bool) {
	if e.readsNames() {
		return 0, false
	}
	return NewCompiler(nil, nil).CompileAtOnce(e, Variable{}).Real(nil, nil), true
}

// Truth returns the value of a condition that Check accepts and that reads no signal.
func (e *Expr) Truth() (value, ok bool) {
	if e.readsNames() {
		return false, false
	}
	return NewCompiler(nil, nil).CompileAtOnce(e, Variable{Type: Boolean}).Bool(nil, nil), true
}

func (e *Expr) readsNames() bool { return e.root.any(func(n *Node) bool { return n.op == OpName }) }

// Names returns the signals that the expression reads, each once, in the order of their first appearance. In an
// expression that compares enumerations, their values are among the names.
func (e *Expr) Names() []string {
	var names []string
	known := map[string]bool{}
	e.root.walk(func(n *Node) {
		if n.op == OpName && !known[n.name] {
			known[n.name] = true
			names = append(names, n.name)
		}
	})
	return names
}

// Propositions returns the nodes that are names where a condition is wanted, in the order of their appearance.
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
// again. What Check finds wrong inside a replacement is reported at the name it stands for.
func (e *Expr) Substitute(with map[string]*Expr) *Expr {
	return &Expr{substitute(e.root, with)}
}

// Parts returns how many nodes Substitute would make.
func (e *Expr) Parts(with map[string]*Expr) int {
	count := 0
	e.root.walk(func(n *Node) {
		if r, ok := with[n.name]; ok && n.op == OpName {
			count += r.root.parts
		} else {
			count++
		}
	})
	return count
}

func substitute(n *Node, with map[string]*Expr) *Node {
	if r, ok := with[n.name]; ok && n.op == OpName {
		return r.root.moved(n.at, n.end)
	}
	return n.rebuilt(func(a *Node) *Node { return substitute(a, with) })
}
