package plan

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// attrVariable is the attribute of a switch whose cases are values of a variable.
const attrVariable = "variable"

// hasCases reports whether a node is a switch over a variable.
func (n *node) hasCases() bool { return n.kind.Cases() > 0 && n.element.Find(attrVariable) != nil }

// cases writes the attributes of a switch over a variable as conditions among its children: each is true while the
// variable equals the case.
func (d *desugarer) cases(n *node) *node {
	if !n.hasCases() {
		return n
	}
	names, variable := comparisonNames(n.kind), n.element.Find(attrVariable)
	if !d.counted(n, len(n.children) == len(names), n.kind.String()+" of a variable",
		fmt.Sprintf("%d children", len(names)), "the last one is for any other value") && d.doc.Whole {
		return n
	}
	var children []*node
	for k, name := range names[1:] {
		value := n.element.Find(name)
		if value == nil {
			d.reportMissing(n.element, codeCount, n.kind.String(), name, "...")
			value = variable
		}
		children = append(children, d.oneCase(n, name, variable, value))
		if k < len(n.children) {
			children = append(children, n.children[k])
		}
	}
	n.children = append(children, n.children[min(len(names)-1, len(n.children)):]...)
	return n
}

// oneCase returns the condition that the variable of a switch has a value: an expression or, if the variable is an
// entry, a text that becomes a value of the entry's type.
func (d *desugarer) oneCase(n *node, name string, variable, value *xmltree.Attribute) *node {
	of, isEntry := braced(variable)
	ok := isEntry
	if !ok && (d.signals == nil || d.mentioned[variable.Value]) {
		of, ok = variable.Value, true
	}
	c := n.newCondition(name, xmltree.Equation(attrOn, variable, value))
	if c.lenient = true; !ok || !expr.IsName(strings.TrimPrefix(of, global)) {
		return c
	}
	d.mention(of)
	s := caseStep{entry: d.named(variable, of), value: value, isEntry: isEntry}
	if other, ok := braced(value); ok {
		if s.other = d.named(value, other); s.other == nil {
			return c
		}
		d.mention(other)
	}
	c.access = &access{at: value, does: s}
	return c
}

// caseStep is what the condition of a case does whose variable is an entry.
type caseStep struct {
	entry *expr.Expr // its name
	value *xmltree.Attribute
	other *expr.Expr // the entry with which the variable is compared; nil: a text

	isEntry bool // else it may be a port whose value is an expression
}

var equation = must("it == other")

// unquoted returns the text of a case without its quotation marks, if it has some.
func unquoted(text string) string {
	if n := len(text); n >= 2 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

func (s caseStep) compile(l leafReader, leaf *Leaf, _ *node) {
	if b := l.outer.find(s.entry.String()); !s.isEntry && b != nil && b.value != nil {
		leaf.On = l.condition(attrOn)
		return
	}
	other := s.other
	if other == nil {
		switch t, known := l.typeOfEntry(s.entry.String()); {
		case t == expr.Enumeration && expr.IsName(unquoted(s.value.Value)):
			other = must(unquoted(s.value.Value))
		case t != expr.Enumeration && known:
			other = literal(unquoted(s.value.Value), t)
		}
	}
	if leaf.On = never; other != nil { // else no value is the text
		leaf.On = l.script(equation.Substitute(map[string]*expr.Expr{"it": s.entry, "other": other}), s.value,
			expr.Variable{Type: expr.Boolean})
	}
}

func (s caseStep) describe(m *xmltree.Markup) { m.Add(attrOn, s.entry.String()+" == "+s.value.Value) }
