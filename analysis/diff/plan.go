package diff

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
)

// none means no task.
const none bt.Task = -1

// Plans compares two plans, subtrees expanded. A connection leads from a node to a child.
//
// Nodes with a name that is unique in both plans are the same node. The others are matched by their neighbours: parents
// of such nodes are the same if they have the same kind; so are children of the same parent that agree in kind and
// name, and leaves that agree in kind and all attributes, from left to right. So a node stays the same if it is
// renamed or its attributes change, and a node that moves with its name is not removed and added.
func Plans(old, updated *plan.Plan) Difference {
	m := &matching{old, updated, behaviours(old), behaviours(updated),
		slices.Repeat([]bt.Task{none}, old.Tree.Len()), slices.Repeat([]bt.Task{none}, updated.Tree.Len())}
	m.byName()
	m.byChildren()
	m.byParents()
	key := func(t bt.Task) string { return fmt.Sprint(t) }
	oldKey := func(t bt.Task) string {
		if m.to[t] == none {
			return "old " + key(t)
		}
		return key(m.to[t])
	}
	return compare("plan", []string{"node", "connection"}, planParts(old, oldKey), planParts(updated, key))
}

// matching records which tasks of two plans are the same.
type matching struct {
	old, updated     *plan.Plan
	oldSays, newSays [][]string
	to, from         []bt.Task // by task of the old plan the task of the new one, and the reverse; none
}

// same matches two tasks if they have the same kind and are not matched yet.
func (m *matching) same(a, b bt.Task) bool {
	if m.to[a] != none || m.from[b] != none || m.old.Tree.Kind(a) != m.updated.Tree.Kind(b) {
		return false
	}
	m.to[a], m.from[b] = b, a
	return true
}

// byName matches tasks by names that are unique in both plans; a kind is not a name.
func (m *matching) byName() {
	unique := func(p *plan.Plan) map[string]bt.Task {
		tasks := map[string]bt.Task{}
		for i := range p.Tree.Len() {
			t := bt.Task(i)
			label := p.Label(t)
			if _, again := tasks[label]; again || label == p.Tree.Kind(t).String() {
				t = none
			}
			tasks[label] = t
		}
		return tasks
	}
	old, updated := unique(m.old), unique(m.updated)
	for label, a := range old {
		if b, ok := updated[label]; ok && a != none && b != none {
			m.to[a], m.from[b] = b, a // also if the kind has changed
		}
	}
}

// byChildren matches parents of tasks that are the same, from the leaves to the root.
func (m *matching) byChildren() {
	for i := range m.to {
		a := bt.Task(i)
		for _, child := range m.old.Tree.Children(a) {
			if b := m.to[child]; m.to[a] == none && b != none && m.updated.Tree.Parent(b) != none {
				m.same(a, m.updated.Tree.Parent(b))
			}
		}
	}
}

// byParents matches the roots and then children of tasks that are the same.
func (m *matching) byParents() {
	m.same(m.old.Tree.Root(), m.updated.Tree.Root())
	for i := len(m.to) - 1; i >= 0; i-- {
		a := bt.Task(i)
		b := m.to[a]
		if b == none {
			continue
		}
		m.pair(a, b, func(x, y bt.Task) bool { return m.old.Label(x) == m.updated.Label(y) })
		m.pair(a, b, func(x, y bt.Task) bool {
			return m.old.Tree.Kind(x).Family() == bt.Leaf && len(m.oldSays[x]) > 0 && slices.Equal(m.oldSays[x], m.newSays[y])
		})
	}
}

// pair matches free children of two tasks that are alike, from left to right.
func (m *matching) pair(a, b bt.Task, alike func(x, y bt.Task) bool) {
	for _, x := range m.old.Tree.Children(a) {
		for _, y := range m.updated.Tree.Children(b) {
			if alike(x, y) && m.same(x, y) {
				break
			}
		}
	}
}

// planParts returns the nodes and connections of a plan, from the root on.
func planParts(p *plan.Plan, key func(bt.Task) string) []part {
	says := behaviours(p)
	var parts []part
	for i := p.Tree.Len() - 1; i >= 0; i-- {
		t := bt.Task(i)
		details := []string{p.Tree.Kind(t).String()}
		if p.Label(t) != details[0] {
			details = append(details, "name: "+p.Label(t))
		}
		line, file := p.Place(t)
		parts = append(parts, part{element: "node", key: key(t), name: p.Tree.Name(t), line: line, file: file,
			details: append(details, says[t]...)})
	}
	for i := p.Tree.Len() - 1; i >= 0; i-- {
		t := bt.Task(i)
		for _, child := range p.Tree.Children(t) {
			line, file := p.Place(child)
			parts = append(parts, part{element: "connection", key: key(t) + " to " + key(child), line: line, file: file,
				name: p.Tree.Name(t) + " -> " + p.Tree.Name(child), ends: []string{key(t), key(child)}, group: key(t)})
		}
	}
	return parts
}

// behaviours returns the attributes of each task except its kind and name.
func behaviours(p *plan.Plan) [][]string {
	says := make([][]string, p.Tree.Len())
	for i := range says {
		t := bt.Task(i)
		n := len(p.Tree.Children(t))
		for j, param := range p.Tree.Kind(t).Params() {
			value := p.Param(t, j)
			if all, ok := param.Resolve(-1, n); ok && param.Default == -1 && p.Tree.Params(t)[j] == all {
				value = "all" // also with a child more
			}
			says[t] = append(says[t], param.Name+": "+value)
		}
	}
	for i := range p.Leaves {
		says[p.Leaves[i].Task] = p.Leaves[i].Details()
	}
	return says
}
