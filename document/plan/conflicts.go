package plan

import (
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// writer is the first action of a subtree that gives a slot a value.
type writer struct {
	name       string // its own
	leaf       int
	assignment Assignment
	entry      bool  // it is made on entry only
	needs      []int // the resources of the guards around it
}

// writers returns the slots to which a node's leaves give values; leaf is the number of the next leaf. It warns of
// actions that give one slot a value below different children of a parallel: both may be active, and an assignment on
// entry lasts until the exit.
func (c *compiler) writers(n *bt.Node, leaf *int) map[string]writer {
	all := map[string]writer{}
	if n.Kind.Family() == bt.Leaf {
		for _, a := range c.leaves[*leaf].Entry {
			if !a.Notes {
				all[a.Target] = writer{name: n.Name, leaf: *leaf, assignment: a, entry: true}
			}
		}
		for _, a := range c.leaves[*leaf].Write {
			all[a.Target] = writer{name: n.Name, leaf: *leaf, assignment: a}
		}
		*leaf++
	}
	for _, child := range n.Children {
		some := c.writers(child, leaf)
		if len(all) == 0 {
			all = some
			continue
		}
		for _, slot := range slices.Sorted(maps.Keys(some)) {
			first, ok := all[slot]
			excluded := slices.ContainsFunc(first.needs, func(r int) bool { return slices.Contains(some[slot].needs, r) })
			if ok && n.Kind.Family() == bt.Count && !excluded {
				c.warnConflict(slot, first, some[slot])
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
func (c *compiler) warnConflict(slot string, first, second writer) {
	at, length := second.assignment.Offset, second.assignment.Length
	if l := c.leaves[second.leaf]; at < l.Offset || at >= l.Offset+l.Length { // the assignment is in a model
		at, length = l.Offset, l.Length
	}
	written := "written"
	if first.entry {
		written = "assigned on entry"
	}
	c.warn(at, length, CodeWriteConflict, "`canopy check` decides whether they are; the first in the tree then counts",
		"%q is also %s by the action %q, which may be active at the same time", slot, written, first.name)
}
