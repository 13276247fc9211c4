package plan

import (
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Code is what is known of a program's code for leaves that nothing in the plan defines.
type Code struct {
	Condition bool
	Ports     map[string]CodePort // nil: those of an action may be any
}

// CodePort is what code does with a port.
type CodePort struct {
	Writes bool      // else it reads
	Type   expr.Type // of its values; Enumeration: expressions cannot name them
}

// ReadProgram is ReadFiles for a plan whose free leaves are code of a program, by their IDs: the entries that their
// ports name are the plan's.
func ReadProgram(src *diag.Source, signals Vocabulary, open Open, code map[string]Code) (*Plan, diag.List) {
	return reading{signals: signals, open: open, limits: widest, code: code}.plan(src)
}

// portValues returns the attributes that give a leaf its ports.
func (n *node) portValues() []*xmltree.Attribute {
	var list []*xmltree.Attribute
	for _, name := range n.ports() {
		if n.free || !slices.Contains(n.behaves(), name) {
			list = append(list, n.element.Find(name))
		}
	}
	return list
}

// defaults returns the attributes that the model of a leaf gives to ports that its element does not.
func (n *node) defaults() []*xmltree.Attribute {
	var list []*xmltree.Attribute
	if n.model == nil {
		return nil
	}
	for _, p := range n.model.ports {
		if p.value != nil && n.element.Find(p.name) == nil {
			a := *p.value
			a.Name = p.name
			list = append(list, &a)
		}
	}
	return list
}

// program notes whether a leaf has code, and the entries that it names.
func (d *document) program(n *node) {
	code, ok := d.code[n.id]
	n.coded = ok && n.kind.Family() == bt.Leaf && n.short == nil && n.subtree == nil && n.access == nil &&
		(n.free || !code.Condition || code.Ports != nil)
	if !n.coded {
		return
	}
	for _, a := range append(n.portValues(), n.defaults()...) {
		if name, ok := braced(a); ok && expr.IsName(strings.TrimPrefix(name, global)) {
			d.mention(name)
		}
	}
}

// portType is the type of values of an entry, such as those that a port writes.
type portType struct {
	t  expr.Type
	at xmltree.Span
}

// bound returns a port of a free leaf.
func (c *compiler) bound(i *instance, a *xmltree.Attribute) Port {
	p := Port{Name: a.Name, Value: i.scope.value(a), Offset: a.Raw.At, Length: a.Raw.Len()}
	name, ok := braced(a)
	if !ok {
		return p
	}
	key, given := i.scope.origin(name)
	switch e := c.symbols[key]; {
	case given != nil && (e == nil || e.signal): // a literal
	case e != nil:
		p.Entry = e.Name
	default:
		p.Entry = key.name
	}
	for _, w := range c.watched[p.Entry] {
		p.Watchers = append(p.Watchers, [2]string{w.written.Name, w.seen.Name})
	}
	return p
}
