package expr

import (
	"slices"
	"strconv"
)

// LogicOp is the operation of a Logic.
type LogicOp uint8

// The operations of a condition's Boolean structure.
const (
	LogicTruth       LogicOp = iota // Value
	LogicProposition                // the name of a task used as a condition: Text
	LogicRelation                   // a relation that is not reducible to thresholds: Text, Key, Relation
	LogicThreshold                  // Signal >= Limit, or Signal > Limit if Strict
	LogicNot
	LogicAnd
	LogicOr
)

// Logic is the Boolean structure of a condition: its tests of signals, and how their results are joined.
type Logic struct {
	Op       LogicOp
	Value    bool    // LogicTruth
	Text     string  // LogicProposition: the name; LogicRelation: the relation that holds when this does
	Key      string  // LogicRelation, and the thresholds of a relation: equal for equivalent relations
	Reverse  string  // the key of under >= over, if this is over >= under
	Relation *Expr   // LogicRelation: the condition of Text, without and, or, not
	Signal   string  // LogicThreshold
	Limit    float64 // LogicThreshold, in coherent SI units
	Strict   bool    // LogicThreshold
	Args     []Logic // LogicNot: one; LogicAnd, LogicOr: two or more
}

// Logic returns the Boolean structure of a condition. A relation becomes thresholds of single signals where its sides
// consist of sums and constant multiples of one signal, and of abs, min and max of these; limits are computed in
// floating point. Relations without signals are evaluated. All others remain relations, as do equalities and Boolean
// signals. NaN is not considered: of a signal, either s >= c or s < c holds. A name used as a condition names a task if
// task returns true for it, else a signal; task may be nil. It panics if the expression is a number.
func (e *Expr) Logic(task func(name string) bool) Logic {
	if t := Scope(nil).variable(e.root).Type; t != Boolean && t != anyType {
		panic("expr: Logic of a number")
	}
	return e.root.logic(task)
}

// Judged returns the expression with some of its propositions replaced by a truth value, so that Check accepts them.
func (e *Expr) Judged(known func(name string) bool) *Expr {
	return &Expr{e.root.judged(known)}
}

func (n *Node) judged(known func(string) bool) *Node {
	switch {
	case n.op == OpName && known(n.name):
		return (&Node{op: OpTruth, at: n.at, end: n.end, value: 1}).complete()
	case n.op == OpAnd, n.op == OpOr, n.op == OpNot:
		return n.rebuilt(func(a *Node) *Node { return a.judged(known) })
	}
	return n
}

// Identity returns a text that is equal for structures that are equal, whatever the units and the notation of their
// expressions are.
func (l *Logic) Identity() string {
	switch l.Op {
	case LogicTruth:
		return strconv.FormatBool(l.Value)
	case LogicProposition:
		return "task " + strconv.Quote(l.Text)
	case LogicRelation:
		return l.Key
	case LogicThreshold:
		return l.Signal + map[bool]string{false: " >= ", true: " > "}[l.Strict] + strconv.FormatFloat(l.Limit, 'g', -1, 64)
	case LogicNot, LogicAnd, LogicOr:
		text := [...]string{LogicNot: "not", LogicAnd: "and", LogicOr: "or"}[l.Op] + "("
		for i := range l.Args {
			text += l.Args[i].Identity() + ";"
		}
		return text + ")"
	}
	panic(misuse)
}

// Keys returns texts for the relation that a structure stands for, without not, and for that with its sides exchanged;
// "" if there is none.
func (l *Logic) Keys() (key, reverse string) {
	if l.Op == LogicThreshold {
		return l.Identity(), ""
	}
	return l.Key, l.Reverse
}

// Signals returns the names of the signals that a structure reads, some perhaps twice.
func (l *Logic) Signals() []string {
	var names []string
	switch {
	case l.Op == LogicThreshold:
		names = append(names, l.Signal)
	case l.Relation != nil:
		names = append(names, l.Relation.Names()...)
	}
	for i := range l.Args {
		names = append(names, l.Args[i].Signals()...)
	}
	return names
}

func (n *Node) logic(task func(string) bool) Logic {
	switch {
	case n.op == OpTruth:
		return Logic{Op: LogicTruth, Value: n.value != 0}
	case n.op == OpName && task != nil && task(n.name):
		return Logic{Op: LogicProposition, Text: n.name}
	case n.op == OpName:
		return (&Node{op: OpName, name: n.name, at: n.at, end: n.end}).whole()
	case n.op == OpNot:
		return not(n.args[0].logic(task))
	case n.op == OpAnd:
		return joined(LogicAnd, n.args[0].logic(task), n.args[1].logic(task))
	case n.op == OpOr:
		return joined(LogicOr, n.args[0].logic(task), n.args[1].logic(task))
	case n.op.relation():
		return n.relationLogic()
	case n.op.equality():
		return n.equalityLogic()
	case n.op == OpIf && len(n.args) == 3:
		c, yes, no := n.args[0].logic(task), n.args[1].logic(task), n.args[2].logic(task)
		return joined(LogicOr, joined(LogicAnd, c, yes), joined(LogicAnd, not(c), no))
	}
	panic(misuse)
}

func not(l Logic) Logic {
	if l.Op == LogicNot {
		return l.Args[0]
	}
	return Logic{Op: LogicNot, Args: []Logic{l}}
}

func joined(op LogicOp, parts ...Logic) Logic { return Logic{Op: op, Args: parts} }

// relationLogic treats a relation as the side g >= 0 of its indicator, or as its opposite.
func (n *Node) relationLogic() Logic {
	g := n.margin()
	above, ok := g.above()
	if !ok {
		over, under := n.sides()
		above = (&Node{op: OpGreaterEqual, args: []*Node{over, under}}).whole()
	}
	if above.Op != LogicThreshold && above.Op != LogicTruth {
		above.Key, above.Reverse = g.key(), g.times(-1).key()
	}
	if n.op == OpLess || n.op == OpGreater {
		return not(above)
	}
	return above
}

// whole returns the structure of a condition without reduction.
func (n *Node) whole() Logic {
	e := &Expr{n.complete()}
	return Logic{Op: LogicRelation, Text: e.String(), Key: n.key(), Relation: e}
}

// equalityLogic treats an equality as one relation, whatever the order of its sides.
func (n *Node) equalityLogic() Logic {
	x, y := n.args[0], n.args[1]
	if x.key() > y.key() {
		x, y = y, x
	}
	equal := (&Node{op: OpEqual, spelled: operators[OpEqual].Text, args: []*Node{x, y}}).whole()
	equal.Text = (&Node{op: OpEqual, args: n.args}).String()
	if n.op == OpNotEqual {
		return not(equal)
	}
	return equal
}

// above reduces f >= 0 to thresholds, if f has one term at most.
func (f linear) above() (Logic, bool) {
	if !slices.ContainsFunc(f.terms, func(t multiple) bool { return t.factor != 0 }) {
		return Logic{Op: LogicTruth, Value: f.offset >= 0}, f.offset == f.offset
	}
	limit := -f.offset / f.terms[0].factor
	if len(f.terms) > 1 || limit-limit != 0 {
		return Logic{}, false
	}
	return f.terms[0].of.compare(limit, f.terms[0].factor > 0)
}

// compare reduces n >= limit, or n <= limit, to thresholds.
func (n *Node) compare(limit float64, atLeast bool) (Logic, bool) {
	if n.op == OpName {
		if atLeast {
			return Logic{Op: LogicThreshold, Signal: n.name, Limit: limit}, true
		}
		return not(Logic{Op: LogicThreshold, Signal: n.name, Limit: limit, Strict: true}), true
	}
	if n.op != OpCall {
		return Logic{}, false
	}
	sign := 1.0
	if !atLeast {
		sign = -1
	}
	var parts []linear // of which all must be within the limit
	one := atLeast     // or only one
	switch n.name {
	case "abs":
		x := n.args[0].linear()
		parts = []linear{x, x.times(-1)}
	case "min", "max":
		one = atLeast == (n.name == "max")
		for _, a := range n.args {
			parts = append(parts, a.linear())
		}
	default:
		return Logic{}, false
	}
	all := Logic{Op: LogicAnd}
	if one {
		all.Op = LogicOr
	}
	for _, p := range parts {
		p.offset -= limit
		l, ok := p.times(sign).above()
		if !ok {
			return Logic{}, false
		}
		all.Args = append(all.Args, l)
	}
	return all, true
}
