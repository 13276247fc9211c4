package expr

import (
	"slices"
	"strconv"
)

// Adapted returns the expression with the conversions of types that BehaviorTree.CPP makes when it executes a script: a
// number that stands for a condition is compared with 0, a condition that stands for a number is 1 or 0, and a literal
// text becomes the number, the truth value or the value of an enumeration that it is. What has no conversion is left
// for CheckFor, which reports it.
func (e *Expr) Adapted(want Variable, scope Scope) *Expr {
	return &Expr{scope.adapted(e.root, want)}
}

func (s Scope) adapted(n *Node, want Variable) *Node {
	i := -1
	n = n.rebuilt(func(arg *Node) *Node {
		i++
		return s.adapted(arg, s.argument(n, i, want))
	})
	switch {
	case n.op.equality():
		x, y := n.args[0], n.args[1]
		n.args[0], n.args[1] = s.converted(x, s.compared(x, y)), s.converted(y, s.compared(y, x))
		n.complete()
	case n.op == OpAdd && !slices.ContainsFunc(n.args, func(n *Node) bool { return s.variable(n).Type == Text }):
		n = n.rebuilt(func(arg *Node) *Node { return s.converted(arg, Number(AnyUnit)) })
	}
	return s.converted(n, want)
}

// free is the type of what is not converted.
var free = Variable{Type: anyType}

// argument returns what an argument of a node should be.
func (s Scope) argument(n *Node, i int, want Variable) Variable {
	o, ok := operators[n.op]
	switch {
	case n.op.equality(), n.op == OpAdd: // of texts it joins them
		return free
	case ok:
		return Variable{Type: o.Of}
	case n.op == OpIf && i > 0:
		return want
	case n.op == OpIf:
		return Variable{Type: Boolean}
	}
	return Number(AnyUnit)
}

// compared returns what x should be when it is compared with y.
func (s Scope) compared(x, y *Node) Variable {
	is, other := s.variable(x).Type, s.variable(y)
	switch {
	case other.Type == Boolean && (x.op == OpText || x.constant && (x.folded == 0 || x.folded == 1)):
		return other
	case other.Type == Boolean || y.op == OpText, is == Enumeration:
		return free
	case is == Boolean && y.constant && (y.folded == 0 || y.folded == 1): // y becomes a condition
		return free
	}
	return other
}

// converted returns a node of the type that is wanted, if there is a conversion.
func (s Scope) converted(n *Node, want Variable) *Node {
	place := func(m Node) *Node {
		m.at, m.end, m.sign, m.replaced = n.at, n.end, n.at, n.replaced
		return m.complete()
	}
	is, isNumber := s.variable(n).Type, want.Type == Real || want.Type == Integer
	switch {
	case n.op == OpText && want.Type == Enumeration && slices.Contains(want.Values, n.name):
		return place(Node{op: OpName, name: n.name})
	case n.op == OpText && (isNumber || want.Type == Boolean):
		value, err := strconv.ParseFloat(n.name, 64)
		if truth, ok := words[n.name]; ok && truth.op == OpTruth {
			value, err = truth.value, nil
		}
		if err == nil && value-value == 0 {
			return s.converted(place(Node{op: OpNumber, value: value, unit: AnyUnit}), want)
		}
	case want.Type == Boolean && n.constant:
		return place(Node{op: OpTruth, value: map[bool]float64{true: 1}[n.folded != 0]})
	case want.Type == Boolean && (is == Integer || is == Real) && s.discrete(n):
		return place(Node{op: OpNotEqual, spelled: "!=", args: []*Node{n, literal(0)}})
	case n.op == OpTruth && isNumber:
		return place(Node{op: OpNumber, value: n.value, unit: AnyUnit})
	case is == Boolean && isNumber:
		return place(Node{op: OpIf, name: "if", args: []*Node{n, literal(1), literal(0)}})
	}
	return n
}
