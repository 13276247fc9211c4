package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// guards puts a node below its preconditions, the first of which is the outermost, and its postconditions. An action
// that has no preconditions but those that it has as a leaf judges these by itself, unless it judges its entry.
func (d *desugarer) guards(n *node) *node {
	leaf, all := n.subtree == nil && n.kind.Acts() && n.id != elementWasEntryUpdated, n
	effect := func(k bt.Kind, a *xmltree.Attribute, what string) {
		if a != nil {
			all = n.around(k, what, nil, d.newEffect(n, a, n.name+"."+what+".do"), all)
		}
	}
	effect(bt.OnHalted, d.caught(n), n.kind.Cleanup())
	for _, name := range postconditions {
		if k := attributed[name]; k.Halts() {
			effect(k, n.element.Find(name), name)
			effect(k, n.element.Find(attrAlways), attrAlways+".halted")
		}
	}
	n.wrapped = slices.ContainsFunc(preconditions, func(name string) bool {
		return n.element.Find(name) != nil && !(leaf && slices.Contains(requests, name))
	})
	for _, name := range slices.Backward(preconditions) {
		if a := n.element.Find(name); a != nil && n.wrapped {
			all = n.around(attributed[name], name, nil, n.newScript(a, n.name+"."+name+".if"), all)
		}
	}
	for _, name := range postconditions {
		if k := attributed[name]; !k.Halts() {
			effect(k, n.element.Find(name), name)
		}
	}
	return all
}

// caught returns the script that is executed when a node is halted, the code of its last child; nil if there is none.
func (d *desugarer) caught(n *node) *xmltree.Attribute {
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
	last := n.children[len(n.children)-1]
	if code := last.element.Find(attrCode); last.access != nil && last.id == elementScript && code != nil {
		return code
	}
	d.reportAttribute(a, codeForeignAttr, "an exit procedure of an action does what a halt requires",
		"%s supports %q only if its last child is a %s", n.kind, a.Name, elementScript)
	return nil
}
