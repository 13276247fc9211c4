package expr

import "slices"

// A signal may come from sources that can be lost, such as sensors: its value is known while all of them are. Of each
// source two signals tell this, which Known and Stamp name; where they come from is not a matter of this package.

// Known returns the name of the Boolean signal that holds while a source is known.
func Known(source string) string { return "known." + source }

// Stamp returns the name of the signal with the time [s] of the last value from a source.
func Stamp(source string) string { return "stamp." + source }

// clock is the signal of the time.
const clock = "t"

// CodeSource is the code of an error about a value that is always known.
const CodeSource = "always-known"

// The functions of sources. A table of that name precedes them.
const (
	isKnown = "known" // a condition: the value of the argument is known
	age     = "age"   // the time [s] since the oldest source of the argument had a value
)

// ofSource reports whether a node is a function of sources.
func (s Scope) ofSource(n *Node) bool {
	return n.op == OpCall && (n.name == isKnown || n.name == age) && s[n.name].Table == nil
}

// sources returns the sources of the signals that a node reads, each once. In a nil scope each signal is one.
func (s Scope) sources(n *Node) []string {
	var list []string
	for name := range n.names() {
		from := s[name.name].Sources
		if s == nil {
			from = []string{name.name}
		}
		list = append(list, from...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Sources returns the sources of the signals that the expression reads, each once, in the order of their names.
func (e *Expr) Sources(scope Scope) []string { return scope.sources(e.root) }

// source checks a function of sources.
func (c *checker) source(n *Node) quantity {
	if !c.counted(n, 1, 1) {
		return unknown
	}
	before := len(c.errors)
	c.value(n.args[0])
	if len(c.errors) == before && len(c.scope.sources(n.args[0])) == 0 {
		c.report(n, CodeSource, short(n.args[0])+" is always known: it reads no signal that may be lost",
			"signals of the vehicle may be lost if it declares their sources, or if `outages` of the mission names them")
	}
	if n.name == isKnown {
		return unknown
	}
	return quantity{unit: Second}
}

// Resolved returns an expression that Check accepts without functions of sources: known becomes a condition over the
// signals of the sources, age a difference of times. Constants of the scope become numbers. In a nil scope each signal
// is a source of its own.
func (e *Expr) Resolved(scope Scope) *Expr {
	if !e.root.walk(func(n *Node) bool { return n.op != OpName || scope[n.name].Constant == nil }) {
		e = &Expr{scope.located(e.root)}
	}
	if e.root.walk(func(n *Node) bool { return !scope.ofSource(n) }) {
		return e
	}
	return &Expr{newCertainty(scope).resolved(e.root)}
}

// Certain returns when a condition that Check accepts holds for certain, and when its opposite does, if signals are
// unknown while their sources are: the strong logic of three values by S. C. Kleene. So a condition holds if it does
// whatever the unknown signals are, as far as "and", "or", "not" and "if" show it. Without sources it is the
// expression itself, and fails is nil. ok is false if the expressions would be too large.
func (e *Expr) Certain(scope Scope) (holds, fails *Expr, ok bool) {
	if len(e.Sources(scope)) == 0 {
		return e, nil, true
	}
	c := newCertainty(scope)
	t, f := c.sides(e.root)
	return &Expr{t}, &Expr{f}, max(t.parts, f.parts) <= MaxParts
}

// KnownIn returns the condition that the value of an expression that Check accepts is known; nil: it always is. ok is
// false if the condition would be too large.
func (e *Expr) KnownIn(scope Scope) (known *Expr, ok bool) {
	k := newCertainty(scope).known(e.root)
	if k == nil {
		return nil, true
	}
	return &Expr{k}, k.parts <= MaxParts
}

// Not returns the opposite of a condition.
func (e *Expr) Not() *Expr { return &Expr{opposite(e.root)} }

// And returns the condition that this one and another one hold.
func (e *Expr) And(o *Expr) *Expr { return &Expr{join(e.root, OpAnd, e.root, o.root)} }

// certainty derives when nodes are known. Nodes that several results have in common are shared.
type certainty struct {
	scope Scope
	loses map[*Node]bool     // of lossy
	memo  map[*Node]*Node    // of known
	both  map[*Node][2]*Node // of sides
}

func newCertainty(scope Scope) *certainty {
	return &certainty{scope, map[*Node]bool{}, map[*Node]*Node{}, map[*Node][2]*Node{}}
}

// lossy reports whether a node reads a signal that has a source.
func (c *certainty) lossy(n *Node) bool {
	is, done := c.loses[n]
	if !done {
		is = n.op == OpName && (c.scope == nil || len(c.scope[n.name].Sources) > 0) || slices.ContainsFunc(n.args, c.lossy)
		c.loses[n] = is
	}
	return is
}

// known returns the condition that a node's value is known, nil: it always is.
func (c *certainty) known(n *Node) *Node {
	if k, done := c.memo[n]; done {
		return k
	}
	var k *Node
	switch {
	case !c.lossy(n):
	case n.op == OpIf && len(n.args) == 3 && c.scope.variable(n).Type != Boolean:
		t, f := c.sides(n.args[0])
		k = join(n, OpOr, join(n, OpAnd, t, c.known(n.args[1])), join(n, OpAnd, f, c.known(n.args[2])))
	case n.propositional(), n.op == OpIf:
		t, f := c.sides(n)
		k = join(n, OpOr, t, f)
	case n.walk(func(n *Node) bool { return n.op != OpIf && !n.propositional() }): // no condition decides what it reads
		for _, s := range c.scope.sources(n) {
			k = join(n, OpAnd, k, named(n, Known(s)))
		}
	default:
		for _, a := range n.args {
			k = join(n, OpAnd, k, c.known(a))
		}
	}
	c.memo[n] = k
	return k
}

// sides returns when a condition holds for certain, and when it does not.
func (c *certainty) sides(n *Node) (holds, fails *Node) {
	if s, done := c.both[n]; done {
		return s[0], s[1]
	}
	switch {
	case !c.lossy(n):
		holds, fails = n, opposite(n)
	case n.op == OpNot:
		fails, holds = c.sides(n.args[0])
	case n.op == OpAnd, n.op == OpOr:
		dual := OpAnd + OpOr - n.op
		t, f := c.sides(n.args[0])
		u, g := c.sides(n.args[1])
		holds, fails = join(n, n.op, t, u), join(n, dual, f, g)
	case n.op == OpIf && len(n.args) == 3:
		t, f := c.sides(n.args[0])
		yes, no := c.sides(n.args[1])
		other, not := c.sides(n.args[2])
		holds = join(n, OpOr, join(n, OpAnd, t, yes), join(n, OpAnd, f, other))
		fails = join(n, OpOr, join(n, OpAnd, t, no), join(n, OpAnd, f, not))
	default:
		k := c.known(n)
		holds, fails = join(n, OpAnd, k, n), join(n, OpAnd, k, opposite(n))
	}
	c.both[n] = [2]*Node{holds, fails}
	return holds, fails
}

// resolved returns a node without functions of sources.
func (c *certainty) resolved(n *Node) *Node {
	if !c.scope.ofSource(n) {
		return n.rebuilt(c.resolved)
	}
	if n.name == isKnown {
		if k := c.known(c.resolved(n.args[0])); k != nil {
			return k
		}
		return True.root.moved(n)
	}
	stamps := (&Node{op: OpCall, name: "min", at: n.at, end: n.end})
	for _, s := range c.scope.sources(n.args[0]) {
		stamps.args = append(stamps.args, named(n, Stamp(s)))
	}
	if len(stamps.args) == 1 {
		stamps = stamps.args[0]
	}
	return (&Node{op: OpSubtract, at: n.at, end: n.end, args: []*Node{named(n, clock), stamps.complete()}}).complete()
}

// named returns a name at the place of a node.
func named(at *Node, name string) *Node {
	return (&Node{op: OpName, name: name, at: at.at, end: at.end}).complete()
}

// join returns the conjunction or disjunction of conditions at the place of a node; nil is true.
func join(at *Node, o Op, a, b *Node) *Node {
	switch {
	case a == nil && o == OpAnd, b == nil && o == OpOr:
		return b
	case b == nil && o == OpAnd, a == nil && o == OpOr:
		return a
	}
	return (&Node{op: o, at: at.at, end: at.end, args: []*Node{a, b}}).complete()
}

// opposite returns the opposite of a condition.
func opposite(n *Node) *Node {
	if n.op == OpNot {
		return n.args[0]
	}
	return (&Node{op: OpNot, at: n.at, end: n.end, args: []*Node{n}}).complete()
}
