package plan

import (
	"maps"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/syntax/xmltree"
	"canopy/vehicle/contract"
)

// The bounds of a plan with all subtrees expanded: a few subtrees that include each other twice grow without limit.
const (
	maxTasks = 100_000
	maxNames = 256 << 20 // bytes of the paths of all tasks
)

// graph determines which trees include each other.
type graph struct {
	*reader
	path   []*tree       // from the tree where the search began
	at     map[*tree]int // the place of each tree on the path
	extent map[*tree]extent
}

// extent is the size of a tree with all subtrees expanded; names is the length of all paths from its root.
type extent struct{ tasks, depth, names int }

// includes cuts cycles, reports them and returns the size of each tree with all subtrees expanded.
func (r *reader) includes(main *tree) map[*tree]extent {
	g := &graph{reader: r, at: map[*tree]int{}, extent: map[*tree]extent{}}
	if main != nil {
		g.visit(main)
	}
	for _, t := range r.order {
		if _, known := g.extent[t]; !known {
			g.visit(t)
		}
	}
	return g.extent
}

func (g *graph) visit(t *tree) extent {
	g.at[t] = len(g.path)
	g.path = append(g.path, t)
	size := extent{}
	if t.root != nil {
		size = g.measure(t.root)
	}
	g.path = g.path[:len(g.path)-1]
	delete(g.at, t)
	g.extent[t] = size
	return size
}

func (g *graph) measure(i *item) extent {
	if t := i.subtree; t != nil {
		if at, cyclic := g.at[t]; cyclic {
			var names []string
			for _, p := range g.path[at:] {
				names = append(names, p.id)
			}
			if n := len(names); n > 10 {
				names = slices.Replace(names, 5, n-4, "...")
			}
			g.reportValue(i.element.Find("ID"), codeCycle, "a tree cannot contain itself", "cyclic subtree: %s",
				strings.Join(append(names, t.id), " -> "))
			i.subtree = &tree{id: t.id} // cut, so that the rest can be expanded
			return extent{}
		}
		size, known := g.extent[t]
		if !known {
			size = g.visit(t)
		}
		size.names = min(size.names+size.tasks*len(i.name+"/"), maxNames+1)
		return size
	}
	size := extent{tasks: 1}
	if len(i.entries) > 0 {
		size = extent{tasks: maxVarying, depth: maxVarying}
	}
	for _, c := range i.children {
		child := g.measure(c)
		size.tasks = min(size.tasks+child.tasks, maxTasks+1)
		size.depth = max(size.depth, child.depth)
		size.names = min(size.names+child.names, maxNames+1)
	}
	size.names = min(size.names+size.tasks*len(i.name+"/"), maxNames+1)
	size.depth = min(size.depth+1, xmltree.MaxDepth+1)
	return size
}

// warnUnused warns of the trees that the main tree does not include.
func (r *reader) warnUnused(main *tree) {
	used := map[*tree]bool{}
	var visit func(i *item)
	mark := func(t *tree) {
		if !used[t] {
			used[t] = true
			if t.root != nil {
				visit(t.root)
			}
		}
	}
	visit = func(i *item) {
		if i.subtree != nil {
			mark(r.trees[i.subtree.id])
		}
		for _, c := range i.children {
			visit(c)
		}
	}
	mark(main)
	for _, t := range r.order {
		if id := t.element.Find("ID"); !used[t] && id != nil && r.trees[t.id] == t && !r.fromLibrary(t.element) {
			r.warn(id.Raw.At, id.Raw.End-id.Raw.At, codeUnusedTree, "", "the tree %q is never used", t.id)
		}
	}
}

// fromLibrary reports whether an element is one of a library, of which a plan uses what it needs: also in a plan that
// is one document, as it is uploaded and recorded.
func (r *reader) fromLibrary(e *xmltree.Element) bool {
	file, _ := r.doc.Source.Origin(e.At)
	return strings.HasPrefix(file.Name, library) || slices.ContainsFunc(contract.Contracts(),
		func(c *contract.Contract) bool { return strings.Contains(c.Library, r.doc.Source.Text[e.At:e.End]) })
}

// checkTree checks the expressions below an item that do not depend on the ports of its tree.
func (r *reader) checkTree(i *item, env environment) {
	if i.subtree == nil && i.kind.Family() == bt.Leaf {
		r.leaf(i, env)
	}
	for _, c := range i.children {
		r.checkTree(c, env)
	}
}

// expansion is the main tree with all subtrees in the place of their uses.
type expansion struct {
	*reader
	leaves   []Leaf
	entries  []BlackboardEntry
	names    []string // of the leaves
	portText int      // bytes of the ports of free leaves
	labels   []string // of all nodes, children first
	nodes    []*xmltree.Element
}

// expand returns the node of an item in a scope, nil for a tree without root.
func (x *expansion) expand(i *item, env environment, s *scope) *bt.Node {
	if t := i.subtree; t != nil {
		if t.root == nil || x.parts > x.mostParts {
			return nil
		}
		inner := s.inner[i]
		n := x.expand(t.root, x.bind(i, env).in(inner), inner)
		if n != nil {
			n.Trees = append([]string{i.name}, n.Trees...)
			if i.name != i.id {
				n.Trees = append([]string{i.id}, n.Trees...)
			}
		}
		return n
	}
	if a, name := x.varies(i, s); a != nil {
		return x.varying(i, a, name, env, s)
	}
	n := &bt.Node{Kind: i.kind, Name: i.name, Params: x.params(i, s), Wraps: i.wraps}
	if i.kind.Family() == bt.Leaf {
		leaf := x.certain(x.measured(x.leaf(i, env), s.path+i.name))
		if leaf.Free {
			leaf.Ports = x.ports(i, s)
		}
		x.leaves = append(x.leaves, leaf)
		x.names = append(x.names, i.name)
	}
	for _, c := range i.children {
		if child := x.expand(c, env, s); child != nil {
			n.Children = append(n.Children, child)
		}
	}
	return x.made(i, n)
}

// params returns the values of a task's parameters in a scope.
func (x *expansion) params(i *item, s *scope) []int {
	if len(i.entries) == 0 {
		return i.params
	}
	values := slices.Clone(i.params)
	for _, at := range i.entries {
		p := &i.kind.Params()[at]
		a := i.element.Find(p.Name)
		value := s.value(p.Name, strings.TrimSpace(a.Value))
		if name, open := entry(value); open {
			x.reportValue(a, codeCount, "write a number here, at the use of the tree, in its model or in its <BehaviorTree>",
				"%s is the entry %q, but parameters do not change while the plan runs", p.Name, name)
			continue
		}
		values[at] = x.number(i, p, a, value)
	}
	return values
}

// warnConflicts warns of actions that give one slot a value below different children of a parallel: both may be active,
// and an assignment on entry lasts until the exit.
func (x *expansion) warnConflicts(root *bt.Node) {
	leaf := 0
	x.writers(root, &leaf)
}

// writer is the first action of a subtree that gives a slot a value.
type writer struct {
	leaf       int
	assignment Assignment
	entry      bool  // it is made on entry only
	needs      []int // the resources of the guards around it
}

// writers returns the slots to which a node's leaves give values; leaf is the number of the next leaf.
func (x *expansion) writers(n *bt.Node, leaf *int) map[string]writer {
	all := map[string]writer{}
	if n.Kind.Family() == bt.Leaf {
		for _, a := range x.leaves[*leaf].Entry {
			if !a.Notes {
				all[a.Target] = writer{leaf: *leaf, assignment: a, entry: true}
			}
		}
		for _, a := range x.leaves[*leaf].Write {
			all[a.Target] = writer{leaf: *leaf, assignment: a}
		}
		*leaf++
	}
	for _, c := range n.Children {
		some := x.writers(c, leaf)
		if len(all) == 0 {
			all = some
			continue
		}
		for _, slot := range slices.Sorted(maps.Keys(some)) {
			first, ok := all[slot]
			excluded := slices.ContainsFunc(first.needs, func(r int) bool { return slices.Contains(some[slot].needs, r) })
			if ok && n.Kind.Family() == bt.Count && !excluded {
				x.warnConflict(slot, first, some[slot])
			} else if !ok {
				all[slot] = some[slot]
			}
		}
	}
	if i := slices.IndexFunc(n.Kind.Params(), func(p bt.Param) bool { return p.Type == bt.Resource }); i >= 0 {
		for slot, w := range all {
			w.needs = append(w.needs, n.Params[i])
			all[slot] = w
		}
	}
	return all
}

// warnConflict reports the second of two writers where it is used.
func (x *expansion) warnConflict(slot string, first, second writer) {
	at, length := second.assignment.Offset, second.assignment.Length
	if l := x.leaves[second.leaf]; at < l.Offset || at >= l.Offset+l.Length { // the assignment is in a model
		at, length = l.Offset, l.Length
	}
	written := "written"
	if first.entry {
		written = "assigned on entry"
	}
	x.warn(at, length, CodeWriteConflict, "`canopy check` decides whether they are; the first in the tree then counts",
		"%q is also %s by the action %q, which may be active at the same time", slot, written, x.names[first.leaf])
}
