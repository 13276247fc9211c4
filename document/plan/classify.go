package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// category returns the word for a node in messages.
func category(n *node) string {
	if n.subtree != nil {
		return elementSubTree
	}
	return n.kind.String()
}

// classify determines the kind of a node, and its model or tree. It reports an unknown kind.
func (p *parser) classify(n *node, id *xmltree.Attribute) bool {
	e := n.element
	if _, ok := accesses[n.word()]; ok && !slices.Contains(explicit[2:], e.Name) {
		n.id = n.word()
		n.access = p.readAccess(n)
		return true
	}
	switch e.Name {
	case elementSubTree:
		return p.classifySubTree(n, id)
	case elementControl, elementDecorator:
		if id == nil {
			p.reportName(e, codeNoID, fmt.Sprintf("write <%s ID=%q>", e.Name, p.kindNames(e.Name)[0]), "<%s> has no ID",
				e.Name)
			return false
		}
		return p.composite(n, e.Name, id.Raw)
	case elementAction, elementCondition:
		n.kind, _ = bt.ParseKind(e.Name)
		if id == nil || id.Value == e.Name {
			return true
		}
		if k, isKind := bt.ParseKind(id.Value); isKind && k != n.kind ||
			foreignNodes[id.Value] != "" && p.models[id.Value] == nil {
			return p.composite(n, e.Name, id.Raw)
		}
		if reserved(id.Value) {
			p.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", id.Value)
			return false
		}
		if n.model = p.models[id.Value]; n.model != nil && n.model.kind != e.Name {
			if !n.model.leaf() {
				return p.composite(n, e.Name, id.Raw)
			}
			n.kind, _ = bt.ParseKind(n.model.kind)
			p.warn(id.Raw.At, id.Raw.Len(), codeForm, fmt.Sprintf("write <%s ID=%q>", n.model.kind, id.Value),
				"%q is declared as %s %s", id.Value, n.model.kind, p.where(n.model.element, e))
		}
		n.free = n.undefined()
		return true
	}
	if m := p.models[e.Name]; m != nil && m.leaf() {
		n.id, n.model = e.Name, m
		n.kind, _ = bt.ParseKind(m.kind)
		n.free = n.undefined()
		return true
	}
	at := e.NameSpan()
	if _, isKind := bt.ParseKind(e.Name); !isKind && len(n.children) == 0 && p.models[e.Name] == nil &&
		p.trees[e.Name] == nil && foreignNodes[e.Name] == "" {
		p.unknownLeaf(n, at)
		return true
	}
	return p.composite(n, "", at)
}

// unknownLeaf makes a free action of a node without children that nothing declares.
func (p *parser) unknownLeaf(n *node, at xmltree.Span) {
	n.kind = bt.Action
	code, known := p.code[n.id]
	if code.Condition {
		n.kind = bt.Condition
	}
	if n.free = n.undefined(); known {
		return
	}
	if near := diag.Nearest(n.id, p.kindNames("")); near != "" {
		p.warn(at.At, at.Len(), codeFree, "did you mean "+strconv.Quote(near)+"?", "nothing declares the leaf %q", n.id)
	}
}

// undefined reports whether nothing says what a leaf does: neither the attributes of its element nor its model.
func (n *node) undefined() bool {
	if n.kind.Acts() {
		return !n.defines(actionAttributes...)
	}
	return !n.defines(attrOn)
}

// defines reports whether a leaf has one of some attributes, by its element or its model.
func (n *node) defines(names ...string) bool {
	return len(n.given(names)) > 0 || n.model != nil &&
		slices.ContainsFunc(names, func(name string) bool { return n.model.element.Find(name) != nil })
}

// undeclared warns of the ports that the model of a free leaf or of a subtree does not declare.
func (p *parser) undeclared(n *node, ports []string) {
	if !n.free && n.subtree == nil || len(ports) == 0 {
		return
	}
	for _, name := range n.ports() {
		if a := n.element.Find(name); !slices.Contains(ports, name) {
			p.once(diag.Diagnostic{Source: p.source, Offset: a.At, Length: len(a.Name), Severity: diag.Warning,
				Code: codeUndeclared, Text: fmt.Sprintf("the model of %s has no port %q", n.id, name),
				Suggest: diag.Near(name, func() []string { return ports })})
		}
	}
}

func (p *parser) classifySubTree(n *node, id *xmltree.Attribute) bool {
	if id == nil {
		p.astray = true
		p.reportName(n.element, codeNoID, "", "<SubTree> does not name its tree")
		return false
	}
	if t := p.trees[id.Value]; t != nil && t.frame {
		return p.use(n, t)
	}
	n.subtree = p.trees[id.Value]
	p.passed[id.Value] = append(p.passed[id.Value], n.ports()...)
	if n.subtree == nil {
		p.astray = true
		if p.complete {
			p.noTree(id)
		}
		n.kind, n.free = bt.Action, true
		return true
	}
	n.model = p.subtreeModel(id.Value)
	return true
}

// composite determines the kind of a node that is no leaf by its element's name, or by its ID in the explicit form.
func (p *parser) composite(n *node, form string, at xmltree.Span) bool {
	word := n.element.Name
	if form != "" {
		word = n.id
	}
	if t := p.trees[word]; t != nil && t.frame {
		return p.use(n, t)
	}
	if k, ok := bt.ParseKind(word); ok && k.Family() != bt.Leaf {
		n.kind = k
		if form != "" && form != formOf(k) {
			p.warn(at.At, at.Len(), codeForm, fmt.Sprintf("write <%s ID=%q>", formOf(k), word), "%s is a %s", word, formOf(k))
		}
		return true
	}
	if hint, ok := foreignNodes[word]; ok {
		p.report(at.At, at.Len(), codeForeignNode, hint, "the BehaviorTree.CPP node %q is not supported", word)
		return false
	}
	if m := p.models[word]; m != nil && m.kind != elementSubTree {
		return p.foreign(n, m.kind, at)
	}
	if near := diag.DidYouMean(word, p.kindNames("")); near == "" && p.trees[word] == nil {
		switch count := len(n.children); {
		case form == elementControl, form == elementDecorator:
			return p.foreign(n, form, at)
		case form == "" && count == 1:
			return p.foreign(n, elementDecorator, at)
		case form == "" && count > 1:
			return p.foreign(n, elementControl, at)
		}
	}
	p.once(diag.Diagnostic{Source: p.source, Offset: at.At, Length: at.Len(), Code: codeNode,
		Text: fmt.Sprintf("unknown node %q", word), Suggest: func() string {
			names := p.kindNames(form)
			near := diag.DidYouMean(word, names)
			switch {
			case p.trees[word] != nil:
				return fmt.Sprintf("write <SubTree ID=%q/>", word)
			case near != "":
				return near
			case form != "":
				return "it may be " + strings.Join(names, ", ")
			}
			return fmt.Sprintf(`write <Action ID=%[1]q/> or <Condition ID=%[1]q/>, or declare it in <TreeNodesModel>`, word)
		}})
	return false
}

// foreign reads a control or decorator of another program, whose attributes are its ports. A mission must know what it
// does.
func (p *parser) foreign(n *node, form string, at xmltree.Span) bool {
	name, what := n.word(), strings.ToLower(form)
	count := len(n.children)
	if form == elementDecorator && count != 1 && p.doc.Whole {
		p.report(at.At, at.Len(), codeChildren, "", "the decorator %q needs exactly 1 child, this one has %d", name, count)
	}
	if p.signals != nil {
		p.report(at.At, at.Len(), codeForeign, "Canopy has the kinds "+strings.Join(p.kindNames(form), ", "),
			"nothing defines what the %s %q does", what, name)
		return false
	}
	below := "its child may run"
	if count != 1 {
		below = fmt.Sprintf("its %d children may run", count)
	}
	p.warn(at.At, at.Len(), codeForeign, "", "nothing defines the %s %q of another program: %s or not at any time", what,
		name, below)
	n.short = &shorthand{form, foreign, n.ports(), arity{0, -1}, (*desugarer).foreignNode}
	return true
}

// formOf returns the element of a kind's explicit form.
func formOf(k bt.Kind) string {
	switch {
	case k.Family() == bt.Leaf:
		return k.String()
	case k.Childless():
		return elementAction
	case single(k), k.Condition() != "" && !k.Attributed():
		return elementDecorator
	}
	return elementControl
}

// single reports whether tasks of a kind have exactly one child.
func single(k bt.Kind) bool {
	least, most := k.Arity()
	return least == 1 && most == 1
}

// kindNames returns the names that are allowed as an explicit form's ID, or for "" as an element's name.
func (p *parser) kindNames(form string) []string {
	if names, known := p.names[form]; known {
		return names
	}
	var names []string
	for _, k := range bt.Kinds() {
		if !k.Attributed() && (form == "" || form == formOf(k)) {
			names = append(names, k.String())
		}
	}
	if form == "" {
		names = append(names, explicit...)
		for _, id := range slices.Sorted(maps.Keys(p.models)) {
			if k := p.models[id].kind; k == elementAction || k == elementCondition {
				names = append(names, id)
			}
		}
	}
	p.names[form] = names
	return names
}

// arity checks the number of a node's children.
func (p *parser) arity(n *node, what string, a arity) {
	count, least, most := len(n.children), a.least, a.most
	if !p.doc.Whole || a.has(count) {
		return
	}
	children := "child"
	if least > 1 {
		children = "children"
	}
	wanted, hint := fmt.Sprintf("at least %d %s", least, children), ""
	switch {
	case most == 0:
		wanted = "no children"
	case most == least:
		wanted = fmt.Sprintf("exactly %d %s", least, children)
		if count > most {
			hint = "put the children into a Sequence or Fallback"
		}
	case most > 0:
		wanted = fmt.Sprintf("%d to %d %s", least, most, children)
	}
	p.reportName(n.element, codeChildren, hint, "%s needs %s, this one has %d", what, wanted, count)
}

// noTree reports an attribute that names a tree that the plan does not have. Where no leaf needs a meaning, it is free.
func (p *parser) noTree(a *xmltree.Attribute) {
	d := diag.Diagnostic{Offset: a.Raw.At, Length: a.Raw.Len(), Code: codeNoTree,
		Text: fmt.Sprintf("there is no tree %q", a.Value), Suggest: func() string {
			return diag.DidYouMean(a.Value, p.treeIDs())
		}}
	if p.signals == nil {
		d.Text, d.Hint = d.Text+"; it is read as a free action", "include its file"
	}
	p.unlessProgram(d)
}
