package plan

import (
	"canopy/bt"
	"canopy/syntax/xmltree"
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
	n := *written
	n.children = nil
	for _, c := range written.children {
		n.children = append(n.children, d.node(c))
	}
	written.core = &n
	if !n.unknown {
		for _, rewrite := range rewritings {
			written.core = rewrite(d, written.core)
		}
	}
	return written.core
}

// expand rewrites a node that stands for several tasks.
func (d *desugarer) expand(n *node) *node {
	if n.short != nil {
		n.short.expand(d, n)
	}
	return n
}

// attribute writes the attribute that is the first child of a node as a condition.
func (d *desugarer) attribute(n *node) *node {
	if a := n.condition(); a != nil && n.short == nil {
		n.children = append([]*node{newScript(n.element, a, n.name+"."+a.Name)}, n.children...)
	}
	return n
}

// part returns a task that a node stands for, whose parameters are attributes of its element.
func (d *desugarer) part(of *node, k bt.Kind, name string, attributes ...*xmltree.Attribute) *node {
	n := &node{kind: k, id: k.String(), name: of.name + "." + name, element: &xmltree.Element{Name: k.String(),
		Span: of.element.Span, Tag: of.element.Tag, Attributes: attributes}}
	for _, p := range k.Params() {
		n.params = append(n.params, d.param(n, &p))
	}
	return n
}

// above returns a task that a node stands for, above others.
func (n *node) above(k bt.Kind, what string, params []int, children ...*node) *node {
	return &node{element: n.element, kind: k, id: k.String(), name: n.name + "." + what, params: params,
		children: children}
}

// newCondition returns a condition with attributes, in the place of an element.
func newCondition(e *xmltree.Element, name string, attributes ...*xmltree.Attribute) *node {
	kind, _ := bt.ParseKind(elementCondition)
	return &node{kind: kind, id: elementCondition, name: name, element: &xmltree.Element{Name: elementCondition,
		Span: e.Span, Tag: e.Tag, Attributes: attributes}}
}

// newScript is newCondition for an attribute in the notation of BehaviorTree.CPP.
func newScript(e *xmltree.Element, a *xmltree.Attribute, name string) *node {
	n := newCondition(e, name, a.As(attrOn))
	n.script = true
	return n
}

// newEffect returns the action that runs the script of an attribute, in the place of an element.
func (d *desugarer) newEffect(e *xmltree.Element, a *xmltree.Attribute, name string) *node {
	n := &node{id: elementScript, name: name, kind: bt.Action, element: &xmltree.Element{Name: elementScript, Span: e.Span,
		Tag: e.Tag, Attributes: []*xmltree.Attribute{a.As(attrCode)}}}
	n.access = d.readAccess(n)
	return n
}

// task returns the node whose attributes stand for a node: itself, unless it is around another one.
func (n *node) task() *node {
	for n.wraps && len(n.children) > 0 {
		n = n.children[len(n.children)-1]
	}
	return n
}
