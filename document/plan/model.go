package plan

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// model is a declaration in TreeNodesModel.
type model struct {
	element *xmltree.Element
	kind    string // Action, Condition, Control, Decorator or SubTree
	id      string
	ports   []*port

	pre, post []Fact // of an action
}

// names returns the names of ports.
func names(ports []*port) []string {
	var list []string
	for _, p := range ports {
		list = append(list, p.name)
	}
	return list
}

// leaf reports whether the model declares a leaf type.
func (m *model) leaf() bool { return m.kind == elementAction || m.kind == elementCondition }

// subtreeModel returns the declaration of a tree's ports, nil if there is none.
func (d *document) subtreeModel(id string) *model {
	if m := d.models[id]; m != nil && m.kind == elementSubTree {
		return m
	}
	return nil
}

// maxPorts bounds the ports of a model.
const maxPorts = 1000

// port is a parameter of a model.
type port struct {
	name    string
	value   *xmltree.Attribute // the default, nil if there is none
	input   bool               // the leaf only reads it
	output  bool               // the leaf only writes it
	typ     *xmltree.Attribute // its type in C++, nil if it is not declared
	element *xmltree.Element
}

// declare reads one declaration of a TreeNodesModel.
func (p *parser) declare(e *xmltree.Element) {
	if e.Name == "MetadataFields" { // Groot2's own notes
		return
	}
	if !slices.Contains(explicit, e.Name) {
		p.reportName(e, codeNode, diag.DidYouMean(e.Name, explicit), "<%s> declares no node type", e.Name)
		return
	}
	m := &model{element: e, kind: e.Name}
	known := []string{"ID", "editable"}
	switch e.Name {
	case elementAction:
		known = append(append(known, actionAttributes...), requests...)
		known = append(known, attrPre, attrPost)
		m.pre, m.post = p.facts(e, attrPre), p.facts(e, attrPost)
	case elementCondition:
		known = append(known, conditionAttributes...)
	}
	p.checkAttributes(e, "the "+e.Name+" model", known)
	for c := range e.Elements() {
		switch c.Name {
		case inputPort, "output_port", "inout_port":
			p.declarePort(m, c)
		case "MetadataFields":
		default:
			p.reportName(c, codeNode, diag.DidYouMean(c.Name, []string{inputPort, "output_port", "inout_port"}),
				"<%s> is not allowed in a model", c.Name)
		}
	}
	id := e.Find("ID")
	if id == nil || id.Value == "" {
		p.reportName(e, codeNoID, "", "the model has no ID")
		return
	}
	m.id = id.Value
	kind, isKind := bt.ParseKind(m.id)
	switch first := p.models[m.id]; {
	case isKind && (m.kind == elementControl || m.kind == elementDecorator || m.kind == formOf(kind)):
		if kind.Own() { // not an editor's copy of a kind: for BehaviorTree.CPP
			p.models[m.id] = m
		}
	case accesses[m.id].attributes != nil && m.leaf(), m.id == m.kind && m.kind == elementSubTree: // an editor's copy
	case reserved(m.id):
		p.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", m.id)
	case first != nil && first.element.Markup().String() == e.Markup().String():
		// the same declaration, as in a manifest that the plan includes
	case first != nil:
		p.reportValue(id, codeDuplicateID, "", "%q was declared before, %s", m.id, p.where(first.element, e))
	default:
		p.models[m.id] = m
	}
}

func (p *parser) declarePort(m *model, e *xmltree.Element) {
	p.checkAttributes(e, "a port", []string{"name", "type", "default", "description"})
	name := e.Find("name")
	switch {
	case len(m.ports) == maxPorts:
		p.reportName(m.element, xmltree.CodeTooLarge, "declare several models", "the model has more than %d ports", maxPorts)
	case name == nil:
		p.reportName(e, codePort, "", "the port has no name")
	case !portName(name.Value) && (m.leaf() || m.kind == elementSubTree):
		p.reportValue(name, codePort, "use letters, digits and _, a letter first", "%q cannot be the name of a port",
			name.Value)
	case slices.Contains(conditionAttributes, name.Value), slices.Contains(actionAttributes, name.Value),
		slices.Contains(requests, name.Value):
		// a behaviour attribute as BehaviorTree.CPP must declare it
	case name.Value == "name" || name.Value == "ID":
		p.reportValue(name, codePort, "choose another name", "%q is an attribute of its own", name.Value)
	case slices.ContainsFunc(m.ports, func(o *port) bool { return o.name == name.Value }):
		p.reportValue(name, codePort, "", "the port %q is declared twice", name.Value)
	default:
		m.ports = append(m.ports, &port{name: name.Value, value: e.Find("default"), element: e,
			input: e.Name == inputPort, output: e.Name == "output_port", typ: e.Find("type")})
	}
}

// portName reports whether a name is possible for a port. Expressions can name it only if it is that of a signal, too;
// a leaf of another program may have others.
func portName(name string) bool {
	return expr.IsName(name) || xmltree.IsName(name) && permitted(name) == name
}

// reserved reports whether no tree or leaf type may have the ID.
func reserved(id string) bool {
	_, isKind := bt.ParseKind(id)
	_, isAccess := accesses[id]
	return isKind || isAccess || slices.Contains(explicit, id) || id == elementRoot || id == "Root"
}
