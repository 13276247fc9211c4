package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// linear is a sum of multiples of nodes that are no sums themselves, and of a constant.
type linear struct {
	terms          []multiple // each node once, in the order of the text; one that cancels itself has the factor 0
	offset, extent float64    // extent is the sum of the magnitudes of the constants in the offset
}

type multiple struct {
	of     *Node
	factor float64
}

// linear returns a number as a sum of multiples.
func (n *Node) linear() linear {
	switch {
	case n.constant:
		return linear{offset: n.folded, extent: math.Abs(n.folded)}
	case n.op == OpNegative:
		return n.args[0].linear().times(-1)
	case n.op == OpAdd:
		return n.args[0].linear().plus(n.args[1].linear())
	case n.op == OpSubtract:
		return n.args[0].linear().plus(n.args[1].linear().times(-1))
	case n.op == OpMultiply && n.args[0].constant:
		return n.args[1].linear().times(n.args[0].folded)
	case n.op == OpMultiply && n.args[1].constant:
		return n.args[0].linear().times(n.args[1].folded)
	case n.op == OpDivide && n.args[1].constant:
		return n.args[0].linear().times(1 / n.args[1].folded)
	}
	return linear{terms: []multiple{{n, 1}}}
}

// times returns the sum multiplied by a number.
func (f linear) times(k float64) linear {
	f.terms = slices.Clone(f.terms)
	for i := range f.terms {
		f.terms[i].factor *= k
	}
	f.offset, f.extent = f.offset*k, f.extent*math.Abs(k)
	return f
}

// plus returns the sum of both. It takes over the terms of f.
func (f linear) plus(g linear) linear {
	own := f.terms
	for _, t := range g.terms {
		if i := slices.IndexFunc(own, func(o multiple) bool { return o.of.same(t.of) }); i >= 0 {
			own[i].factor += t.factor
		} else {
			f.terms = append(f.terms, t)
		}
	}
	f.offset, f.extent = f.offset+g.offset, f.extent+g.extent
	return f
}

// Term is a multiple of a signal.
type Term struct {
	Signal string
	Factor float64
}

// sorted returns the terms that do not cancel themselves, each with a text for its node, in the order of these texts.
func (f linear) sorted(text func(*Node) string) (terms []Term) {
	for _, t := range f.terms {
		if t.factor != 0 {
			terms = append(terms, Term{text(t.of), t.factor})
		}
	}
	slices.SortFunc(terms, func(a, b Term) int { return strings.Compare(a.Signal, b.Signal) })
	return terms
}

// key returns a text that relations f >= 0 share if they are positive multiples of each other, up to rounding.
func (f linear) key() string {
	terms := f.sorted((*Node).key)
	if len(terms) == 0 {
		return "constant " + strconv.FormatFloat(f.offset, 'g', -1, 64)
	}
	scale := math.Abs(terms[0].Factor)
	var b strings.Builder
	number := func(x float64) { b.WriteString(strconv.FormatFloat(x/scale, 'e', 13, 64)) }
	for _, t := range terms {
		number(t.Factor)
		b.WriteString(" " + t.Signal + " ")
	}
	if math.Abs(f.offset) <= 1e-14*f.extent { // the constants cancel
		f.offset = 0
	}
	number(f.offset + 0) // no -0
	return b.String()
}

// Linear returns a relation between sums of constant multiples of signals as their difference: the relation holds where
// the sum of the terms is limit or more. The terms are in the order of their signals' names. It returns no terms if the
// structure is not such a relation.
func (l *Logic) Linear() (terms []Term, limit float64) {
	if l.Op != LogicRelation || l.Relation == nil || l.Relation.root.op != OpGreaterEqual {
		return nil, 0
	}
	f := l.Relation.root.margin()
	infinite := func(x float64) bool { return x-x != 0 }
	if infinite(f.offset) || slices.ContainsFunc(f.terms, func(t multiple) bool {
		return t.of.op != OpName || infinite(t.factor)
	}) {
		return nil, 0
	}
	return f.sorted((*Node).Name), 0 - f.offset
}

// margin returns what is at least zero where a relation holds, or where its opposite does not.
func (n *Node) margin() linear {
	over, under := n.sides()
	return over.linear().plus(under.linear().times(-1))
}
