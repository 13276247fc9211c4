package plan

import (
	"fmt"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// rounds says how a task whose number of runs is an entry is rewritten, by the judgement of its child after which this
// runs again: the effect counts the runs down, and otherwise is the result when none is left.
var rounds = [...]struct{ effect, otherwise bt.Kind }{
	bt.Success: {bt.OnSuccess, bt.AlwaysSuccess},
	bt.Failure: {bt.OnFailure, bt.AlwaysFailure},
}

// maxVarying is the maximum number of tasks in the place of one with a parameter that is an entry.
const maxVarying = 8

// counter is an entry of a task's own: a copy of the entry that is its parameter, or what is left of it.
type counter struct {
	of    string             // the task
	entry string             // that is copied
	at    *xmltree.Attribute // the parameter
	name  string             // in expressions, once it is known
}

// countStep is what a leaf does for a counter.
type countStep struct {
	*counter
	part countPart
}

type countPart string

const (
	countStart countPart = "start" // copies the entry
	countWait  countPart = "wait"  // copies the entry, and ends after that time [ms]
	countMore  countPart = "more"  // whether runs are left
	countDown  countPart = "down"  // counts one run
	countLimit countPart = "limit" // copies the time that is that long [ms] after now; 0: none
	countOver  countPart = "over"  // whether it is that time
)

// copies reports whether a leaf begins with a copy of the entry.
func (p countPart) copies() bool { return p == countStart || p == countWait || p == countLimit }

func (s countStep) describe(m *xmltree.Markup) {
	m.Add("counter", s.of)
	m.Add("step", string(s.part))
	if s.part.copies() {
		m.Add("of", s.at.Value)
	}
}

// vary rewrites the tasks with a parameter that is an entry: they read it when they are activated. One whose value the
// use of a subtree gives and no task changes is a number. A task that copies an entry which no task writes fails while
// that has no value.
func (in *inliner) vary(root *instance) {
	written := map[entryKey]bool{}
	root.visit(func(i *instance) {
		if i.access == nil {
			return
		}
		for _, w := range i.access.writes {
			key, _ := i.scope.origin(w.target)
			written[key] = true
		}
	})
	var copies []*instance
	root.visit(func(i *instance) {
		if a, name := i.varies(written); a != nil {
			i.varying(&counter{of: i.name, entry: name, at: a})
		} else if in.signals == nil && i.copies(written) {
			copies = append(copies, i)
		}
	})
	for _, i := range copies {
		i.failing()
	}
}

// copies reports whether a task copies an entry that may never have a value.
func (i *instance) copies(written map[entryKey]bool) bool {
	if i.id != elementSetBlackboard || len(i.access.writes) == 0 || i.access.writes[0].value == nil {
		return false
	}
	key, value := i.scope.origin(i.access.writes[0].value.String())
	return value == nil && !written[key] && len(i.given(requests)) == 0
}

// failing puts before a task that copies an entry the condition that this has a value: that it equals itself.
func (i *instance) failing() {
	of, set := i.access.writes[0].value, *i.node
	set.name += ".set"
	known := i.newCondition(i.name + ".known")
	known.lenient = true
	known.access = &access{at: i.element.Find(attrValue),
		does: caseStep{entry: of, value: i.element.Find(attrValue), other: of, isEntry: true}}
	top := &node{element: i.element, kind: bt.IfThenElse, id: bt.IfThenElse.String(), name: i.name}
	*i = instance{top, i.scope, []*instance{{node: known, scope: i.scope}, {node: &set, scope: i.scope}}, i.trees}
}

// visit calls f for the instance, then for those below it as they are then.
func (i *instance) visit(f func(i *instance)) {
	f(i)
	for _, c := range i.below {
		c.visit(f)
	}
}

// varies returns the only parameter of a task, and the name of the entry that it is, if that may change.
func (i *instance) varies(written map[entryKey]bool) (a *xmltree.Attribute, name string) {
	_, counts := i.kind.Again()
	if len(i.entries) != 1 || !counts && !i.kind.Timer() || single(i.kind) && len(i.below) != 1 {
		return nil, ""
	}
	a = i.element.Find(i.kind.Params()[i.entries[0]].Name)
	name, _ = entry(a.Value, a.Name)
	if key, value := i.scope.origin(name); value != nil && !written[key] {
		return nil, ""
	}
	return a, name
}

// varying rewrites a task with a parameter that is an entry: an action copies the entry, and conditions and actions
// over the copy decide what runs.
func (i *instance) varying(c *counter) {
	made := func(kind bt.Kind, name string, part countPart, below ...*instance) *instance {
		n := &node{element: i.element, kind: kind, id: kind.String(), name: name, wraps: part == "", wrapped: true}
		if part != "" {
			n.access = &access{at: c.at, does: countStep{c, part}}
		} else if len(kind.Params()) > 0 {
			n.params = []int{-1} // no limit
		}
		return &instance{node: n, scope: i.scope, below: below}
	}
	name, below := i.name, i.below
	top := made(bt.IfThenElse, name, "")
	top.wraps = false
	judgement, counts := i.kind.Again()
	switch {
	case counts:
		r := rounds[judgement]
		round := made(r.effect, name+".round", "", made(bt.Action, name+".count", countDown), below[0])
		top.below = []*instance{made(bt.Action, name+".start", countStart),
			made(bt.WhileDoElse, name+".rounds", "", made(bt.Condition, name+".more", countMore),
				made(i.kind, name+".again", "", round), made(r.otherwise, name+".over", ""))}
	case len(below) == 0:
		top = made(bt.Action, name, countWait)
	case i.kind.Limits():
		top.below = []*instance{made(bt.Action, name+".start", countLimit),
			made(bt.WhileDoElse, name+".limit", "", made(bt.Condition, name+".over", countOver),
				made(bt.AlwaysFailure, name+".late", ""), below[0])}
	default:
		top.below = []*instance{made(bt.Action, name+".wait", countWait), below[0]}
	}
	top.trees = i.trees
	*i = *top
}

func (s countStep) compile(l leafReader, leaf *Leaf, _ *node) {
	c := s.counter
	if s.part.copies() {
		e := l.named(c.at, c.entry)
		if e != nil {
			e = l.script(e, c.at, expr.Variable{Unit: expr.AnyUnit, Held: true})
		}
		if e == nil {
			return
		}
		c.name = l.unused(l.outer.scope.path+c.of+".left", xmltree.Span{At: leaf.Offset, End: leaf.Offset + leaf.Length})
		l.entries = append(l.entries,
			BlackboardEntry{Name: c.name, Initial: must("0"), Offset: leaf.Offset, Length: leaf.Length})
		leaf.Entry, leaf.Done = []Assignment{{Value: e}}, always
	}
	switch {
	case c.name == "": // the parameter has a mistake
		leaf.On, leaf.Done = always, always
	case s.part == countLimit && l.clocked(leaf, c.of):
		time := must(fmt.Sprintf("if(%[1]s gt 0, t + %[1]s / 1000, %[1]s)", c.name))
		leaf.Entry = append(leaf.Entry, Assignment{Value: time})
	case s.part == countWait:
		leaf.Done = must("elapsed ge " + c.name + " / 1000")
	case s.part == countOver:
		leaf.On = must(c.name + " gt 0 and t ge " + c.name)
	case s.part == countMore:
		leaf.On = must(c.name + " ge 1 or " + c.name + " == -1")
	case s.part == countDown:
		leaf.Entry, leaf.Done = []Assignment{{Value: must("max(" + c.name + " - 1, -1)")}}, always
	}
	for k := range leaf.Entry {
		leaf.Entry[k].Target, leaf.Entry[k].Offset, leaf.Entry[k].Length = c.name, leaf.Offset, leaf.Length
	}
}
