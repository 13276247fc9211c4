package temporal

import (
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Watch is what is judged on a run, and the signals that are expressions of others. A relation of such signals is
// judged as one of the signals behind them, as in a proof.
type Watch struct {
	Assertions []Assertion
	Computed   map[string]*expr.Expr
}

// Expanded returns the watch with computed signals replaced by expressions of known signals, where they are arithmetic
// of these. A signal that compares stays: its value depends on the sides of relations.
func (w Watch) Expanded(known func(name string) bool) Watch {
	plain := maps.Clone(w.Computed)
	maps.DeleteFunc(plain, func(_ string, e *expr.Expr) bool { return !arithmetic(e.Root()) })
	names := slices.Sorted(maps.Keys(plain))
	inside := func(name string) bool { return slices.Contains(names, name) }
	for range names { // each round reaches at least one level deeper
		for _, name := range names {
			e := plain[name]
			if slices.ContainsFunc(e.Names(), inside) && e.Parts(plain) <= expr.MaxParts {
				plain[name] = e.Substitute(plain)
			}
		}
	}
	maps.DeleteFunc(plain, func(_ string, e *expr.Expr) bool {
		return slices.ContainsFunc(e.Names(), func(of string) bool { return inside(of) || !known(of) })
	})
	long := Watch{Computed: plain}
	for _, a := range w.Assertions {
		if a.Formula != nil {
			a.Formula = a.Formula.substitute(plain)
		}
		long.Assertions = append(long.Assertions, a)
	}
	return long
}

// arithmetic reports whether an expression consists of numbers, signals, operations and functions.
func arithmetic(n *expr.Node) bool {
	switch n.Op() {
	case expr.OpNumber, expr.OpPi, expr.OpName, expr.OpNegative, expr.OpAdd, expr.OpSubtract, expr.OpMultiply,
		expr.OpDivide, expr.OpPower, expr.OpCall:
		for i := range n.Len() {
			if !arithmetic(n.Arg(i)) {
				return false
			}
		}
		return true
	}
	return false
}

// substitute returns the formula with signals replaced by expressions of others.
func (f *Formula) substitute(with map[string]*expr.Expr) *Formula {
	g := *f
	if f.Op == Condition && f.Cond.Parts(with) <= expr.MaxParts {
		g.Cond = f.Cond.Substitute(with)
	}
	g.Args = nil
	for _, a := range f.Args {
		g.Args = append(g.Args, a.substitute(with))
	}
	return &g
}
