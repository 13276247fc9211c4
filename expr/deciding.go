package expr

import (
	"math"
	"slices"
)

// Deciding returns why a condition holds, given values of its names in SI units: of alternatives joined by "or",
// without those that do not hold there; all, and not ok, if none does. A relation at its limit may hold: the values are
// those of an event.
func (e *Expr) Deciding(at map[string]float64) (decides *Expr, ok bool) {
	with := map[string]*Expr{}
	for name, v := range at {
		with[name] = &Expr{literal(v)}
	}
	all := e.root.alternatives(false)
	some := slices.DeleteFunc(slices.Clone(all), func(n *Node) bool { return n.surely(false, with) })
	if ok = len(some) > 0; ok {
		all = some
	}
	held := all[0]
	for _, n := range all[1:] {
		held = join(n, OpOr, held, n)
	}
	return &Expr{held.simpler()}, ok
}

// simpler returns a node without choices that no signal decides, and without zeros that are subtracted.
func (n *Node) simpler() *Node {
	switch {
	case n.op == OpIf && len(n.args) == 3:
		if truth, ok := (&Expr{n.args[0]}).Truth(); ok && truth {
			return n.args[1].simpler()
		} else if ok {
			return n.args[2].simpler()
		}
	case n.op == OpSubtract && n.args[1].op == OpNumber && n.args[1].value == 0:
		return n.args[0].simpler()
	}
	return n.rebuilt((*Node).simpler)
}

// alternatives returns the conditions of which one holds if a condition, or its opposite, does.
func (n *Node) alternatives(opposed bool) []*Node {
	reversed := map[Op]Op{OpLess: OpGreaterEqual, OpGreaterEqual: OpLess, OpGreater: OpLessEqual, OpLessEqual: OpGreater,
		OpEqual: OpNotEqual, OpNotEqual: OpEqual}
	switch {
	case n.op == OpNot:
		return n.args[0].alternatives(!opposed)
	case n.op == OpOr && !opposed, n.op == OpAnd && opposed:
		return append(n.args[0].alternatives(opposed), n.args[1].alternatives(opposed)...)
	case !opposed:
		return []*Node{n}
	case n.op.relation(), n.op.equality():
		c := *n
		c.op, c.spelled = reversed[n.op], ""
		return []*Node{c.complete()}
	}
	return []*Node{opposite(n)}
}

// surely reports whether a condition has a truth value at values of its names, and is not close to the other one.
func (n *Node) surely(truth bool, at map[string]*Expr) bool {
	is := func(a *Node) bool { return a.surely(truth, at) }
	switch {
	case n.op == OpTruth:
		return (n.value != 0) == truth
	case n.op == OpName:
		v, known := at[n.name]
		return known && (v.root.folded != 0) == truth
	case n.op == OpNot:
		return n.args[0].surely(!truth, at)
	case n.op == OpAnd && truth, n.op == OpOr && !truth:
		return !slices.ContainsFunc(n.args, func(a *Node) bool { return !is(a) })
	case n.op == OpAnd, n.op == OpOr:
		return slices.ContainsFunc(n.args, is)
	case !n.op.relation():
		return false
	}
	a, b := substitute(n.args[0], at), substitute(n.args[1], at)
	x, y, less := a.folded, b.folded, n.op == OpLess || n.op == OpLessEqual
	return a.constant && b.constant && math.Abs(x-y) > 1e-6*max(math.Abs(x), math.Abs(y), 1e-6) && (x < y == less) == truth
}
