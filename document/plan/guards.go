package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// guards puts a node below its preconditions, the first of which is the outermost, and its postconditions. An action
// that has no preconditions but those that it has as a leaf judges these by itself, unless it judges its entry.
func (d *desugarer) guards(n *node) *node {
	leaf, all := n.subtree == nil && n.kind.Acts() && n.id != elementWasEntryUpdated, n
	for _, does := range d.caught(n) {
		does.name = n.name + "." + n.kind.Cleanup() + ".do"
		all = n.around(bt.OnHalted, n.kind.Cleanup(), nil, does, all)
	}
	effects := func(halts bool) {
		for _, name := range postconditions {
			if a := n.element.Find(name); a != nil && attributed[name].Halts() == halts {
				all = n.around(attributed[name], name, nil, d.newEffect(n, a, n.name+"."+name+".do"), all)
			}
		}
	}
	effects(true)
	n.wrapped = slices.ContainsFunc(preconditions, func(name string) bool {
		return n.element.Find(name) != nil && !(leaf && slices.Contains(requests, name))
	})
	for _, name := range slices.Backward(preconditions) {
		if a := n.element.Find(name); a != nil && n.wrapped {
			all = n.around(attributed[name], name, nil, n.newScript(a, n.name+"."+name+".if"), all)
		}
	}
	effects(false)
	return all
}

// caught returns actions that make the assignments of a node's last child when the node is halted, in their order.
func (d *desugarer) caught(n *node) []*node {
	a := n.element.Find(n.kind.Cleanup())
	switch {
	case a == nil || n.kind.Cleanup() == "" || len(n.children) == 0:
		return nil
	case !slices.Contains([]string{"true", "false", "1", "0"}, a.Value):
		d.reportValue(a, codeCount, "write true or false", "%s cannot be %q", a.Name, a.Value)
		return nil
	case !truth(a.Value):
		return nil
	}
	does, ok := d.assigns(n.children[len(n.children)-1])
	if !ok {
		d.reportAttribute(a, codeForeignAttr, "an exit procedure of an action does what a halt requires",
			"%s supports %q only if its last child just judges, or makes assignments in any case", n.kind, a.Name)
	}
	return does
}

// assigns returns copies of the actions of a task that has none, or that runs all, in their order; ok is false if it
// may run some of them. A free one may do the same at any time, unless a mission or a program knows what it does.
func (d *desugarer) assigns(n *node) (does []*node, ok bool) {
	switch {
	case n.free && n.kind.Acts() && d.signals == nil && d.code == nil:
		d.warn(n.element.At+1, len(n.element.Name), codeForeignAttr, "", "a halt does not run %q, which nothing defines",
			n.name)
		return nil, true
	case n.kind.Acts():
		does := *n
		return []*node{&does}, !n.free && n.subtree == nil
	}
	all := n.kind.Over() == bt.Success
	for _, c := range n.children {
		some, ok := d.assigns(c)
		if does = append(does, some...); !ok {
			return nil, false
		}
		all = all && len(some) > 0
	}
	return does, n.subtree == nil && (all || len(does) == 0)
}
