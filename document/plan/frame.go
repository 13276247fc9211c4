package plan

import "github.com/canopy-uav/canopy/syntax/xmltree"

// A frame is a tree with places for nodes that each use gives: a control or decorator that the plan itself defines.
// Each use is a tree of its own. The nodes of the use are in these places, and belong to the tree around it.

const (
	elementChildren = "Children" // the place of all nodes of the use, or of one
	attrIndex       = "index"
)

// frame is the use of a frame that is read.
type frame struct {
	tree  *tree
	use   *xmltree.Element
	outer *frame // in which the use is
}

// frames reports whether a tree has places for nodes.
func (p *parser) frames(e *xmltree.Element) bool {
	for c := range e.Elements() {
		if c.Name == elementChildren && p.models[elementChildren] == nil || p.frames(c) {
			return true
		}
	}
	return false
}

// use makes a node the use of a frame.
func (p *parser) use(n *node, t *tree) bool {
	for f := p.frame; f != nil; f = f.outer {
		if f.tree == t {
			p.reportName(n.element, codeCycle, "a tree cannot contain itself", "cyclic subtree: %s", t.id)
			return false
		}
	}
	n.id, n.kind, n.model = t.id, 0, p.subtreeModel(t.id)
	n.subtree = &tree{id: t.id, element: t.element, ports: t.ports, copied: true}
	p.passed[t.id] = append(p.passed[t.id], n.ports()...)
	n.children = nil
	if p.copied > maxTasks { // reported below the use around this one
		return true
	}
	p.frame = &frame{t, n.element, p.frame}
	p.readTree(n.subtree)
	p.frame = p.frame.outer
	return true
}

// places returns the nodes of the use that is read, for a place in its frame.
func (p *parser) places(e *xmltree.Element) []*node {
	f := p.frame
	p.frame = f.outer
	list := p.nodes(f.use)
	p.frame = f
	for _, n := range list {
		n.up++
	}
	if p.copied += len(list); p.copied > maxTasks {
		p.reportName(e, xmltree.CodeTooLarge, "", "with its children the tree has more than %d nodes", maxTasks)
		return nil
	}
	p.checkAttributes(e, "the place of children", []string{attrIndex})
	a := e.Find(attrIndex)
	if a == nil {
		return list
	}
	switch i, err := count(a.Value); {
	case err != nil || i < 1:
		p.reportValue(a, codeCount, "the first child is 1", "%q is not a child", a.Value)
		return nil
	case i > len(list):
		p.reportName(f.use, codeChildren, "", "%s needs %d children, this one has %d", f.tree.id, i, len(list))
		return nil
	default:
		return list[i-1 : i]
	}
}
