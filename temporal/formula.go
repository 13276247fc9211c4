// Package temporal is a language for properties of runs: a condition always holds, holds eventually, in some order, or
// within some time. A property is read once into an immutable formula (Read) and judged on a trace of signals and
// tasks, with a margin (Trace.Judge). Package verify proves properties of plans. docs/temporal.md describes the
// language.
package temporal

import (
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Op is the operation of a formula.
type Op uint8

// The operations. The language has more words; Read expands them to these.
const (
	Condition Op = iota // Cond holds now
	Not
	And    // both arguments
	Or     // one of both arguments
	Until  // the second argument holds at some time, and the first at all times before that
	Weak   // the same, or the first argument holds at all times
	Within // the argument holds at some time up to Bound from now
	For    // the argument holds at all times up to Bound from now
)

// Formula is a statement about the times from now on. It is immutable.
type Formula struct {
	Op    Op
	Cond  *expr.Expr // Condition; names used as conditions are those of tasks
	Args  []*Formula // two of And, Or, Until and Weak, else one
	Bound float64    // Within, For [s]
}

// Property is a formula with the text that it was read from.
type Property struct {
	Text    string
	Formula *Formula
}

// Words of the language. A signal or task of the same name is written in {}.
var words = []string{"always", "eventually", "never", "both", "until", "before", "after", "within", "for"}

func condition(e *expr.Expr) *Formula       { return &Formula{Op: Condition, Cond: e} }
func join(op Op, args ...*Formula) *Formula { return &Formula{Op: op, Args: args} }
func always(f *Formula) *Formula            { return join(Weak, f, condition(expr.False)) }
func eventually(f *Formula) *Formula        { return join(Until, condition(expr.True), f) }
func implies(f, g *Formula) *Formula        { return join(Or, join(Not, f), g) }
func timed(op Op, t float64, f *Formula) *Formula {
	return &Formula{Op: op, Args: []*Formula{f}, Bound: t}
}

// Conditions calls visit with the conditions of the formula, in the order of the text.
func (f *Formula) Conditions(visit func(e *expr.Expr)) {
	if f.Op == Condition {
		visit(f.Cond)
	}
	for _, a := range f.Args {
		a.Conditions(visit)
	}
}

// bounded reports whether the formula has an operation with a bound.
func (f *Formula) bounded() bool {
	return f.Op == Within || f.Op == For || slices.ContainsFunc(f.Args, (*Formula).bounded)
}

// Positive returns the formula, or its negation, with Not only on conditions.
//
//	not (a until b)  =  not b weakly until (not a and not b)
//	not within T a   =  for T not a
func (f *Formula) Positive(opposite bool) *Formula {
	switch f.Op {
	case Condition:
		if !opposite {
			return f
		}
		return join(Not, f)
	case Not:
		return f.Args[0].Positive(!opposite)
	}
	op := f.Op
	if !opposite {
		args := make([]*Formula, len(f.Args))
		for i, a := range f.Args {
			args[i] = a.Positive(false)
		}
		return &Formula{Op: op, Args: args, Bound: f.Bound}
	}
	op = [...]Op{And: Or, Or: And, Until: Weak, Weak: Until, Within: For, For: Within}[op]
	a := f.Args[0].Positive(true)
	switch op {
	case Within, For:
		return timed(op, f.Bound, a)
	case And, Or:
		return join(op, a, f.Args[1].Positive(true))
	}
	b := f.Args[1].Positive(true)
	return join(op, b, join(And, a, b))
}
