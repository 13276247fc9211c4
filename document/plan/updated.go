package plan

import (
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// onceUpdated makes a precondition of a child of SkipUnlessUpdated or WaitValueUpdate, that an entry was written since
// the child was started before: an action that notes the start comes before the child.
func (d *desugarer) onceUpdated(n *node, otherwise string) {
	a := n.element.Find(attrOfEntry)
	if a == nil {
		d.reportMissing(n.element, codeNoAttr, n.id, attrOfEntry, "...")
		return
	}
	name := d.key(a)
	if name == "" {
		return
	}
	d.mentioned[name] = true
	updated := n.newCondition(n.name + ".updated")
	updated.access = &access{at: a, watches: name}
	start := &node{id: elementAction, kind: bt.Action, name: n.name + ".start", element: updated.element,
		access: &access{at: a, does: restart{updated}}}
	n.precondition(updated, n.around(bt.IfThenElse, "then", nil, start, n.children[0]), otherwise)
}

// restart is what an action does: from now on, a condition tells whether its entry was written.
type restart struct{ updated *node }

func (s restart) compile(l leafReader, leaf *Leaf, _ *node) {
	if w := l.watchers[nodeUse{s.updated, l.outer.scope}]; w != nil {
		leaf.Entry = w.see(leaf.Offset)
	}
	leaf.Done = always
}

func (s restart) describe(m *xmltree.Markup) { m.Add("clears", s.updated.name) }
