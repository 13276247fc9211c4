package expr

// Numbers returns a function that returns an expression with the discrete signals of the scope as the numbers that
// stand for their values.
func (s Scope) Numbers() func(*Expr) *Expr {
	numbers := Scope{}
	for name, v := range s {
		v.Given = v.Type != Real && v.Type != Text
		numbers[name] = v
	}
	return func(e *Expr) *Expr { return &Expr{numbers.given(e.root)} }
}

// given returns the tree with the conditions that read given signals written as relations between numbers, so that
// their changes are those of event indicators:
//
//	armed          armed >= 0.5
//	mode == cruise mode >= 1.5 and mode < 2.5, if cruise is the value 2
//	a == b         a - b >= -0.5 and a - b < 0.5, of Booleans: a and b or not a and not b
func (s Scope) given(n *Node) *Node {
	if !s.readsGiven(n) {
		return n
	}
	build := func(o Op, args ...*Node) *Node {
		return (&Node{op: o, at: n.at, end: n.end, sign: n.sign, args: args}).complete()
	}
	switch {
	case n.op == OpName && n.numeric:
		return n
	case n.op == OpName && s[n.name].Type == Boolean:
		truth := build(OpGreaterEqual, n.number(), literal(0.5))
		truth.given = n
		return truth
	case n.op == OpName:
		return n.number()
	case !n.op.equality():
		c := n.rebuilt(s.given)
		if n.op.relation() {
			c.given = n
		}
		return c
	}
	x, y := n.args[0], n.args[1]
	var equal *Node
	if s.variable(x).Type == Boolean {
		x, y = s.given(x), s.given(y)
		equal = build(OpOr, build(OpAnd, x, y), build(OpAnd, build(OpNot, x), build(OpNot, y)))
	} else {
		values := s.values(n)
		x, y = s.index(x, values), s.index(y, values)
		if x.constant {
			x, y = y, x
		}
		low, high := literal(-0.5), literal(0.5)
		if y.constant {
			low, high = literal(y.folded-0.5), literal(y.folded+0.5)
		} else {
			x = build(OpSubtract, x, y)
		}
		equal = build(OpAnd, build(OpGreaterEqual, x, low), build(OpLess, x, high))
	}
	if n.op == OpNotEqual {
		return build(OpNot, equal)
	}
	return equal
}

// readsGiven reports whether a tree reads a given signal.
func (s Scope) readsGiven(n *Node) bool {
	for n := range n.names() {
		if s[n.name].Given {
			return true
		}
	}
	return false
}

// number returns a name of a discrete signal as that of a number.
func (n *Node) number() *Node {
	c := *n
	c.numeric = true
	return &c
}

// index returns a discrete value that is no Boolean as a number: a value of an enumeration as its place among the
// values.
func (s Scope) index(n *Node, values []string) *Node {
	for i, v := range values {
		if n.op == OpName && n.name == v && !s.declares(v) {
			return literal(float64(i))
		}
	}
	switch {
	case n.op == OpName:
		return n.number()
	case n.op == OpIf && len(n.args) == 3:
		c := *n
		c.args = []*Node{s.given(n.args[0]), s.index(n.args[1], values), s.index(n.args[2], values)}
		return c.complete()
	}
	return s.given(n)
}
