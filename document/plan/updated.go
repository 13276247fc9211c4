package plan

import (
	"canopy/bt"
	"canopy/syntax/xmltree"
)

// The decorators whose child waits for an entry to be written.
const (
	elementSkipUnlessUpdated = "SkipUnlessUpdated"
	elementWaitValueUpdate   = "WaitValueUpdate"
)

// onceUpdated makes a precondition of a child, that an entry was written since the child was started before: an action
// that notes the start comes before the child.
func (d *desugarer) onceUpdated(n *node, otherwise string) {
	count, a := len(n.children), n.element.Find(attrOfEntry)
	switch {
	case count != 1 && d.doc.Whole:
		d.reportName(n.element, codeChildren, "", "%s needs exactly 1 child, this one has %d", n.id, count)
	case a == nil:
		d.reportMissing(n.element, codeNoAttr, n.id, attrOfEntry, "...")
	}
	name := ""
	if count == 1 && a != nil {
		name = d.key(a)
	}
	if name == "" {
		n.kind = bt.Sequence
		return
	}
	d.mentioned[name] = true
	updated := newCondition(n.element, n.name+".updated")
	updated.access = &access{at: a, watches: name}
	start := &node{id: elementAction, kind: bt.Action, name: n.name + ".start", element: updated.element,
		access: &access{at: a, does: restart{updated}}}
	then := d.part(n, bt.IfThenElse, "then")
	then.children, then.wraps = []*node{start, n.children[0]}, true
	n.precondition(updated, then, otherwise)
}

// restart is what an action does: from now on, a condition tells whether its entry was written.
type restart struct{ updated *node }

func (s restart) compile(l leafReader, leaf *Leaf, _ *node) {
	if w := l.watchers[nodeUse{s.updated, l.outer.scope}]; w != nil {
		leaf.Entry = []Assignment{{Target: w.updated.Name, Value: never, Notes: true, Offset: leaf.Offset, Length: 1}}
	}
	leaf.Done = always
}

func (s restart) describe(m *xmltree.Markup) { m.Add("clears", s.updated.name) }
