package plan

import (
	"slices"
	"strings"

	"canopy/bt"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// rounds says how a task whose number of runs is an entry is expanded, by the judgement of its child after which this
// runs again: the effect counts the runs down, and otherwise is the result when none is left.
var rounds = [...]struct{ effect, otherwise bt.Kind }{
	bt.Success: {bt.OnSuccess, bt.AlwaysSuccess},
	bt.Failure: {bt.OnFailure, bt.AlwaysFailure},
}

// maxVarying is the maximum number of tasks in the place of one with a parameter that is an entry.
const maxVarying = 8

// waits are the kinds that first wait for their time.
var waits = []bt.Kind{bt.Sleep, bt.Delay}

// varies returns the only parameter of an item, and the name of the entry that it is in a scope, if a task writes that
// entry.
func (x *expansion) varies(i *item, s *scope) (a *xmltree.Attribute, name string) {
	if _, counts := i.kind.Again(); len(i.entries) != 1 || !counts && !slices.Contains(waits, i.kind) {
		return nil, ""
	}
	a = i.element.Find(i.kind.Params()[i.entries[0]].Name)
	name, _ = entry(strings.TrimSpace(a.Value))
	if a.Value == sameName {
		name = a.Name
	}
	at, local, given := s.origin(name)
	if given != nil || !x.written[owned{at, local}] {
		return nil, ""
	}
	return a, name
}

// varying expands a task with a parameter that is an entry, which it reads when it is activated: an action copies the
// entry, and conditions and actions over the copy decide what runs.
func (x *expansion) varying(i *item, a *xmltree.Attribute, name string, env environment, s *scope) *bt.Node {
	e := x.named(a, name)
	if e == nil {
		return nil
	}
	l := leafReader{reader: x.reader, element: i.element, outer: env}
	if e = l.script(e, a, expr.Variable{Unit: expr.AnyUnit, Held: true}); e == nil {
		return nil
	}
	at := xmltree.Span{At: i.element.At, End: i.element.Tag.End}
	left := x.unused(s.path+i.name+".left", at)
	x.entries = append(x.entries, BlackboardEntry{Name: left, Initial: x.parse("0"), Offset: at.At, Length: at.Len()})
	leaf := func(kind bt.Kind, label string, l Leaf) *bt.Node {
		l.ID, l.Offset, l.Length = kind.String(), at.At, at.Len()
		for k := range l.Entry {
			l.Entry[k].Target, l.Entry[k].Offset, l.Entry[k].Length = left, at.At, at.Len()
		}
		l = x.measured(l, s.path+i.name)
		x.leaves, x.names = append(x.leaves, l), append(x.names, label)
		return x.made(i, &bt.Node{Kind: kind, Name: label})
	}
	node := func(kind bt.Kind, label string, children ...*bt.Node) *bt.Node {
		n := &bt.Node{Kind: kind, Name: label, Wraps: label != i.name}
		if slices.Contains(children, nil) {
			return nil
		}
		if n.Children = children; len(kind.Params()) > 0 {
			n.Params = []int{-1} // no limit
		}
		return x.made(i, n)
	}
	judgement, counts := i.kind.Again()
	if !counts {
		wait := Leaf{Entry: []Assignment{{Value: e}}, Done: x.parse("elapsed ge " + left + " / 1000")}
		if len(i.children) == 0 {
			return leaf(bt.Action, i.name, wait)
		}
		first := leaf(bt.Action, i.name+".wait", wait)
		return node(bt.IfThenElse, i.name, first, x.expand(i.children[0], env, s))
	}
	r := rounds[judgement]
	start := leaf(bt.Action, i.name+".start", Leaf{Entry: []Assignment{{Value: e}}, Done: always})
	more := leaf(bt.Condition, i.name+".more", Leaf{On: x.parse(left + " ge 1 or " + left + " == -1")})
	count := leaf(bt.Action, i.name+".count",
		Leaf{Entry: []Assignment{{Value: x.parse("max(" + left + " - 1, -1)")}}, Done: always})
	round := node(r.effect, i.name+".round", count, x.expand(i.children[0], env, s))
	again := node(i.kind, i.name+".again", round)
	return node(bt.IfThenElse, i.name, start,
		node(bt.WhileDoElse, i.name+".rounds", more, again, node(r.otherwise, i.name+".over")))
}

// made notes the label and the element of a node.
func (x *expansion) made(i *item, n *bt.Node) *bt.Node {
	x.labels, x.nodes = append(x.labels, n.Name), append(x.nodes, i.element)
	return n
}
