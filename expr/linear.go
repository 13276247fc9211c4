package expr

import (
	"math"
	"slices"
	"strings"
)

// Term is a multiple of a signal.
type Term struct {
	Signal string
	Factor float64
}

// Linear returns a relation between sums of constant multiples of signals as their difference: the relation holds where
// the sum of the terms is limit or more. The terms are in the order of their signals' names. It returns no terms if the
// structure is not such a relation.
func (l *Logic) Linear() (terms []Term, limit float64) {
	if l.Op != LogicRelation || l.Relation == nil || l.Relation.root.op != OpGreaterEqual {
		return nil, 0
	}
	over, under := l.Relation.root.sides()
	sum, ok := over.sum(1, nil)
	if !ok {
		return nil, 0
	}
	if sum, ok = under.sum(-1, sum); !ok {
		return nil, 0
	}
	slices.SortStableFunc(sum, func(a, b Term) int { return strings.Compare(a.Signal, b.Signal) })
	for _, t := range sum {
		switch last := len(terms) - 1; {
		case t.Signal == "":
			limit -= t.Factor
		case last >= 0 && terms[last].Signal == t.Signal:
			terms[last].Factor += t.Factor
		default:
			terms = append(terms, t)
		}
	}
	terms = slices.DeleteFunc(terms, func(t Term) bool { return t.Factor == 0 })
	if slices.ContainsFunc(append(terms, Term{Factor: limit}), func(t Term) bool {
		return math.IsNaN(t.Factor) || math.IsInf(t.Factor, 0)
	}) {
		return nil, 0
	}
	return terms, limit
}

// sum appends the terms of a number, each multiplied by a factor; a constant is a term without a signal.
func (n *Node) sum(factor float64, terms []Term) (all []Term, ok bool) {
	switch {
	case n.constant:
		return append(terms, Term{"", factor * n.folded}), true
	case n.op == OpName:
		return append(terms, Term{n.name, factor}), true
	case n.op == OpNegative:
		return n.args[0].sum(-factor, terms)
	case n.op == OpAdd, n.op == OpSubtract:
		sign := 1.0
		if n.op == OpSubtract {
			sign = -1
		}
		if terms, ok = n.args[0].sum(factor, terms); !ok {
			return nil, false
		}
		return n.args[1].sum(sign*factor, terms)
	case n.op == OpMultiply && n.args[0].constant:
		return n.args[1].sum(factor*n.args[0].folded, terms)
	case n.op == OpMultiply && n.args[1].constant:
		return n.args[0].sum(factor*n.args[1].folded, terms)
	case n.op == OpDivide && n.args[1].constant:
		return n.args[0].sum(factor/n.args[1].folded, terms)
	}
	return nil, false
}
