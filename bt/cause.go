package bt

import "slices"

// Cause returns the place of the change, among those of one instant and before place i, that changes[i] follows from;
// -1 if it follows from none: an input of that leaf, an elapsed timer, the begin or the end of the run. Repeated, it
// leads from any change to the input behind it.
//
// A leaf's judgement, outcome or slow procedure follows from its own input, or a condition from the end of the task
// until which it lasts. Activity is passed down after each iteration: activation and deactivation follow from a change
// in the iteration before, of the task, a sibling, a condition that ends a sibling's held result, or the parent, else
// of the next task above and its siblings. The verdict of any other task follows from that of a child: in a chain the
// first child that decides, in any other kind the latest one.
func Cause(tree *Tree, changes []Change, i int) int {
	c := &changes[i]
	own := i > 0 && changes[i-1].Task == c.Task && changes[i-1].To == c.From
	switch {
	case c.To.in(switching):
		return passing(tree, changes, i)
	case own && c.From.in(switching):
		return i - 1
	}
	if tree.Kind(c.Task).Family() == Leaf {
		return tree.spent(changes, i)
	}
	if k := deciding(tree, changes, i); k >= 0 {
		return k
	}
	if own {
		return i - 1
	}
	return -1
}

// passing returns the place of the change by which a task has received or lost activity; -1 if there is none.
func passing(tree *Tree, changes []Change, i int) int {
	if k := freed(tree, changes, i, changes[i].Task); k >= 0 {
		return k
	}
	for t := changes[i].Task; t >= 0; t = tree.Parent(t) {
		parent := tree.Parent(t)
		for k := i - 1; k >= 0 && changes[k].Iteration >= changes[i].Iteration-1; k-- {
			c := &changes[k]
			near := c.Task == t || parent >= 0 &&
				(c.Task == parent || tree.Parent(c.Task) == parent || tree.Revises(c.Task, parent))
			if near && c.Iteration == changes[i].Iteration-1 {
				return k
			}
		}
	}
	for t := tree.Parent(changes[i].Task); t >= 0; t = tree.Parent(t) { // its composite has waited, and is active
		if k := freed(tree, changes, i, t); k >= 0 {
			return k
		}
	}
	return -1
}

// Revises reports whether a change of a task may end the held result of a child of a parent; -1: of any.
func (t *Tree) Revises(task, parent Task) bool {
	for task = t.Parent(task); task >= 0 && t.nodes[task].quick; task = t.Parent(task) {
		if t.Revised(task) && (parent < 0 || t.Parent(task) == parent) {
			return true
		}
	}
	return false
}

// freed returns the place of the change by which the resource became free for which a task has waited, to activate it
// or one below it; -1 if it has not.
func freed(tree *Tree, changes []Change, i int, waiting Task) int {
	c := &changes[i]
	guard := tree.Parent(waiting)
	if c.To != Activating || guard < 0 || tree.nodes[guard].shared == 0 {
		return -1
	}
	for k := i - 1; k >= 0 && changes[k].Iteration >= c.Iteration-1; k-- {
		other := &changes[k]
		if p := tree.Parent(other.Task); other.Iteration == c.Iteration-1 && p >= 0 && p != guard &&
			tree.nodes[p].shared == tree.nodes[guard].shared && other.To.Transient() {
			return k
		}
	}
	return -1
}

// deciding returns the place of the change of a child that has decided a task's verdict; -1 if no child has changed.
func deciding(tree *Tree, changes []Change, i int) int {
	c := &changes[i]
	kind := tree.Kind(c.Task)
	latest, first := -1, -1
	for k := i - 1; k >= 0; k-- {
		t := changes[k].Task
		if tree.Parent(t) != c.Task {
			continue
		}
		if latest < 0 {
			latest = k
		}
		if kind.Family() != Chain || slices.ContainsFunc(changes[k+1:i], func(c Change) bool { return c.Task == t }) {
			continue
		}
		j := judgement[changes[k].To]
		if j != kind.Over() && kind.Verdict(j) == judgement[c.To] && (first < 0 || t < changes[first].Task) {
			first = k
		}
	}
	if first >= 0 {
		return first
	}
	return latest
}
