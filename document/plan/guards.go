package plan

import (
	"slices"

	"canopy/bt"
	"canopy/syntax/xmltree"
)

// guards puts a node below its preconditions, the first of which is the outermost, and its postconditions. An action
// that has no preconditions but those that it has as a leaf judges these by itself.
func (d *desugarer) guards(n *node) *node {
	leaf, all := n.subtree == nil && n.kind.Acts(), n
	around := func(k bt.Kind, name string, first *node) {
		all = &node{element: n.element, kind: k, id: n.id, name: name, wraps: true, children: []*node{first, all}}
	}
	effect := func(k bt.Kind, attribute, name string) {
		if a := n.element.Find(attribute); a != nil {
			around(k, name, d.newEffect(n.element, a, name+".do"))
		}
	}
	if code := d.caught(n); code != nil {
		name := n.name + "." + n.kind.Cleanup()
		around(bt.OnHalted, name, d.newEffect(n.element, code, name+".do"))
	}
	for _, name := range postconditions {
		if k := attributed[name]; k.Halts() {
			effect(k, name, n.name+"."+name)
			effect(k, attrAlways, n.name+"."+attrAlways+".halted")
		}
	}
	n.wrapped = slices.ContainsFunc(preconditions, func(name string) bool {
		return n.element.Find(name) != nil && !(leaf && slices.Contains(requests, name))
	})
	for _, name := range slices.Backward(preconditions) {
		if a := n.element.Find(name); a != nil && n.wrapped {
			around(attributed[name], n.name+"."+name, newScript(n.element, a, n.name+"."+name+".if"))
		}
	}
	for _, name := range postconditions {
		if k := attributed[name]; !k.Halts() {
			effect(k, name, n.name+"."+name)
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
