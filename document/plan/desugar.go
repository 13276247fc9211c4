package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// desugarer is the second pass: it rewrites the trees of a document until each node is a task of a kind, and each
// leaf says in full what it does.
type desugarer struct {
	*document
	copied int            // tasks that nodes of Nav2 stand for more than once
	opened map[string]int // by name: the conditions that nodes of Nav2 and of other programs stand for
}

// rewritings are the rules of the pass, in the order in which they are applied to a node whose children are rewritten.
// Each may change the node, and returns it or what stands around it.
var rewritings = []func(d *desugarer, n *node) *node{
	(*desugarer).expand,
	(*desugarer).cases,
	(*desugarer).utilities,
	(*desugarer).attribute,
	(*desugarer).runs,
	(*desugarer).guards,
	(*desugarer).wraps,
}

// desugar is the second pass up to subtrees: it notes of each written node what it stands for.
func desugar(doc *document) {
	d := &desugarer{document: doc, opened: map[string]int{}}
	for _, t := range doc.order {
		for _, n := range t.roots {
			d.node(n)
		}
	}
}

// node rewrites a written node with those below it.
func (d *desugarer) node(written *node) *node {
	if t := written.subtree; t != nil && t.copied {
		for _, n := range t.roots {
			d.node(n)
		}
	}
	n := *written
	n.children, n.up = nil, 0
	for _, c := range written.children {
		n.children = append(n.children, d.node(c))
	}
	written.core = &n
	if !n.unknown {
		for _, rewrite := range rewritings {
			written.core = rewrite(d, written.core)
		}
	}
	written.core.up = written.up
	return written.core
}

// expand rewrites a node that stands for several tasks; one with a mistake is a sequence.
func (d *desugarer) expand(n *node) *node {
	if n.short != nil {
		if n.kind = bt.Sequence; n.short.children.has(len(n.children)) {
			n.short.expand(d, n)
		}
	}
	return n
}

// attribute writes the attribute that is the first child of a node as a condition.
func (d *desugarer) attribute(n *node) *node {
	if a := n.condition(); a != nil && n.short == nil {
		n.children = append([]*node{n.newScript(a, n.name+"."+a.Name)}, n.children...)
	}
	return n
}

// runs puts an action that ends at once after a child that runs even if it could be judged at once.
func (d *desugarer) runs(n *node) *node {
	if n.kind.Runs() && !d.exact && len(n.children) == 1 && n.children[0].judges() {
		start := n.newLeaf(bt.Action, elementAction, n.name+".start", &xmltree.Attribute{Name: attrDone, Value: "true"})
		n.children = []*node{n.above(bt.Post, "run", nil, start, n.children[0])}
	}
	return n
}

// judges reports whether a task may be judged without being activated.
func (n *node) judges() bool {
	switch {
	case n.subtree != nil:
		return true
	case n.kind.Acts():
		return n.id == elementWasEntryUpdated || len(n.given(requests)) > 0
	case len(n.children) == 0:
		return !n.kind.Timer()
	case n.kind.Family() == bt.Count:
		return slices.ContainsFunc(n.children, (*node).judges)
	case n.kind.Effect() != "":
		return n.children[1].judges()
	}
	return n.children[0].judges()
}

// above returns a task that a node stands for, above others.
func (n *node) above(k bt.Kind, what string, params []int, children ...*node) *node {
	return &node{element: n.element, kind: k, id: k.String(), name: n.name + "." + what, params: params,
		children: children}
}

// around is above for a task that an attribute of the last child stands for.
func (n *node) around(k bt.Kind, what string, params []int, children ...*node) *node {
	all := n.above(k, what, params, children...)
	all.wraps = true
	return all
}

// newLeaf returns a task without children that a node stands for, with attributes of its own.
func (n *node) newLeaf(k bt.Kind, id, name string, attributes ...*xmltree.Attribute) *node {
	return &node{kind: k, id: id, name: name, element: &xmltree.Element{Name: id, Span: n.element.Span,
		Tag: n.element.Tag, Attributes: attributes}}
}

// newCondition returns a condition that a node stands for.
func (n *node) newCondition(name string, attributes ...*xmltree.Attribute) *node {
	return n.newLeaf(bt.Condition, elementCondition, name, attributes...)
}

// newScript returns the condition that is an attribute in the notation of BehaviorTree.CPP.
func (n *node) newScript(a *xmltree.Attribute, name string) *node {
	c := n.newCondition(name, a.As(attrOn))
	c.script = true
	return c
}

// newEffect returns the action that runs the script of an attribute of a node.
func (d *desugarer) newEffect(n *node, a *xmltree.Attribute, name string) *node {
	e := n.newLeaf(bt.Action, elementScript, name, a.As(attrCode))
	e.access = d.readAccess(e)
	return e
}

// counted reports whether a node has a right number of children, and reports a wrong one unless children may be
// missing because the document is cut.
func (d *document) counted(n *node, right bool, what, wanted, hint string) bool {
	if !right && d.doc.Whole {
		d.reportName(n.element, codeChildren, hint, "%s needs %s, this one has %d", what, wanted, len(n.children))
	}
	return right
}

// task returns the node whose attributes stand for a node: itself, unless it is around another one.
func (n *node) task() *node {
	for n.wraps && len(n.children) > 0 {
		n = n.children[len(n.children)-1]
	}
	return n
}
