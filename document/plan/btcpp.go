package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Plain returns the document of a plan, with the files that it includes, as one that BehaviorTree.CPP 4 loads: all
// nodes in compact form, each leaf with an ID and a model that declares its attributes as ports. Canopy reads it as the
// same plan. Comments, layout and other attributes are preserved. The list holds what BehaviorTree.CPP does not have as
// warnings; with an error there is no text.
func Plain(src *diag.Source, open Open) (string, diag.List) {
	d, _ := reading{open: open, limits: widest}.passes(src)
	d.found = slices.DeleteFunc(d.found, func(d diag.Diagnostic) bool {
		return d.Severity != diag.Error && d.Code != preprocess.CodeFormat3 || d.Code == codeForeignNode ||
			d.Code == codeForeignAttr
	})
	if d.found.HasErrors() {
		return "", d.found.Sorted()
	}
	x := &exporter{document: d, owner: map[string]string{}, types: map[string]*xmltree.Markup{}}
	if len(d.order) > 1 || d.doc.Root.Find(attrMain) != nil {
		x.edit(d.doc.Set(d.doc.Root, attrMain, d.main.plainID()))
	}
	for _, t := range d.order {
		if t.frame {
			x.lost(t.element, "BehaviorTree.CPP has no trees with places for children")
			continue
		}
		x.tree(t)
	}
	for _, m := range d.models {
		if m.kind == elementSubTree {
			x.edit(d.doc.Set(m.element, "ID", permitted(m.id)))
		}
	}
	x.models(d.doc.Root)
	text, err := d.doc.Apply(x.edits...)
	if err != nil {
		panic("plan: edits overlap")
	}
	return text, d.found.Sorted()
}

// exporter turns a document into one of BehaviorTree.CPP.
type exporter struct {
	*document
	edits  []xmltree.Edit
	owner  map[string]string          // the node type to which an ID was given
	uses   map[string]int             // of the names of subtrees in a tree
	types  map[string]*xmltree.Markup // by ID: models of those that BehaviorTree.CPP does not have
	listed []*xmltree.Markup          // the same in the order of the document
}

func (x *exporter) edit(e xmltree.Edit) { x.edits = append(x.edits, e) }

// lost reports what BehaviorTree.CPP does not have.
func (x *exporter) lost(e *xmltree.Element, format string, args ...any) {
	x.warn(e.At+1, len(e.Name), CodeLost, "", format, args...)
}

// renamed reports what has another name in BehaviorTree.CPP.
func (x *exporter) renamed(e *xmltree.Element, format string, args ...any) {
	x.warn(e.At+1, len(e.Name), codeName, "", format, args...)
}

// tree exports a tree.
func (x *exporter) tree(t *tree) {
	now := t.plainID()
	x.edit(x.doc.Set(t.element, "ID", now))
	if id := t.element.Find("ID"); valueOf(id) != "" && now != id.Value {
		x.renamed(t.element, "BehaviorTree.CPP refuses blanks and some signs in an ID: %q becomes %q", id.Value, now)
	}
	x.uses = map[string]int{}
	x.node(t.root)
}

// plainID returns the ID of a tree in BehaviorTree.CPP.
func (t *tree) plainID() string {
	if valueOf(t.element.Find("ID")) == "" {
		return "MainTree"
	}
	return permitted(t.id)
}

// subtree exports the use of a tree. Its name must be the only one of its kind in the tree around it.
func (x *exporter) subtree(n *node) {
	e, id := n.element, n.element.Find("ID")
	x.edit(x.doc.Set(e, "ID", permitted(id.Value)))
	if n.subtree == nil {
		x.warn(id.Raw.At, id.Raw.Len(), codeNoTree, "load its file, too", "there is no tree %q", id.Value)
	}
	name := e.Find("name")
	if name == nil {
		return
	}
	now := name.Value
	for x.uses[now]++; x.uses[now] > 1; x.uses[now]++ {
		now += "_" + strconv.Itoa(x.uses[now])
	}
	if now != name.Value {
		x.edit(x.doc.Set(e, "name", now))
		x.renamed(e, "BehaviorTree.CPP refuses two subtrees of one name in a tree: the second %q becomes %q", name.Value, now)
	}
}

// node exports a node with those below it.
func (x *exporter) node(n *node) {
	e := n.element
	if t := n.subtree; t != nil && t.copied {
		x.lost(e, "BehaviorTree.CPP does not load the plan: the tree %q has children", t.id)
		return
	}
	before, after := "", ""
	if n.core.wraps {
		before, after = x.around(n.core)
	}
	if before != "" {
		x.edit(xmltree.Edit{Span: xmltree.Span{At: e.At, End: e.At}, New: before})
		x.edit(xmltree.Edit{Span: xmltree.Span{At: e.End, End: e.End}, New: after})
	}
	for _, name := range preconditions {
		x.script(e, e.Find(name))
	}
	for _, name := range postconditions {
		x.statements(e, e.Find(name))
	}
	switch {
	case e.Name == elementSubTree:
		x.subtree(n)
	case n.unknown:
		if id := e.Find("ID"); id != nil && xmltree.IsName(id.Value) {
			x.rename(e, id.Value, "")
		}
	case n.access != nil:
		x.rename(e, n.id, n.name)
		if n.id == elementScript {
			x.statements(e, e.Find(attrCode))
		} else if n.id == elementScriptCondition {
			x.script(e, e.Find(attrCode))
		}
	case n.short != nil:
		x.shorthand(n)
	case n.kind.Family() == bt.Leaf:
		x.leaf(n)
	default:
		x.composite(n)
	}
	for _, c := range n.children {
		x.node(c)
	}
}

// ownNotation matches expressions that are no scripts of BehaviorTree.CPP: they have units, words as operators,
// functions, or quotation marks of the other sort.
var ownNotation = regexp.MustCompile(`[[{"]|\b(gt|ge|lt|le|eq|ne|and|or|not)\b|\w\(`)

// script exports an attribute that is a condition in a script of BehaviorTree.CPP, nil: there is none.
func (x *exporter) script(e *xmltree.Element, a *xmltree.Attribute) {
	if a == nil || !ownNotation.MatchString(a.Value) {
		return
	}
	if parsed, err := expr.ParseScriptCondition(a.Value); err == nil {
		if text, ok := parsed.Plain(); ok {
			x.edit(x.doc.Set(e, a.Name, text))
			return
		}
	}
	if a.Name == attrCode { // a ScriptCondition needs one
		x.edit(x.doc.Set(e, a.Name, "true"))
	} else {
		x.edit(x.doc.Unset(e, a.Name))
	}
	x.lost(e, "%q is left out: it is a script in BehaviorTree.CPP, which cannot express %q", a.Name, a.Value)
}

// statements is script for an attribute that is a list of assignments.
func (x *exporter) statements(e *xmltree.Element, a *xmltree.Attribute) {
	if a == nil || !ownNotation.MatchString(a.Value) {
		return
	}
	list, _ := expr.ParseScript(a.Value)
	var texts []string
	for _, s := range list {
		sign := map[bool]string{true: " := ", false: " = "}[s.Creates]
		if text, ok := s.Value.Plain(); ok && s.Target != "" {
			texts = append(texts, s.Target+sign+text)
		} else if s.Target != "" {
			x.lost(e, "%q is left out: a script in BehaviorTree.CPP cannot express it", s.Target+sign+s.Value.String())
		}
	}
	if texts == nil {
		texts = []string{"true"} // it has no effect
	}
	x.edit(x.doc.Set(e, a.Name, strings.Join(texts, "; ")))
}

// around returns what stands before and after an element in the place of attributes that stand for tasks around it, and
// removes these.
func (x *exporter) around(n *node) (before, after string) {
	if !n.wraps {
		for _, name := range n.wrapNames() {
			if n.element.Find(name) != nil {
				x.edit(x.doc.Unset(n.element, name))
			}
		}
		return "", ""
	}
	if n.kind.Attributed() { // BehaviorTree.CPP has the attribute
		return x.around(n.children[1])
	}
	m := &xmltree.Markup{Name: n.kind.String()}
	m.Add("name", n.name)
	for k, p := range n.kind.Params() {
		m.Add(p.Name, p.Write(n.params[k]))
	}
	start := strings.TrimSuffix(m.String(), "/>")
	if len(n.children) == 0 {
		return start + "/>", ""
	}
	start += ">"
	for _, c := range n.children {
		before, after = x.around(c)
		start += before
	}
	return start, after + "</" + m.Name + ">"
}

// permitted returns an ID with underscores in the place of the characters that BehaviorTree.CPP refuses.
func permitted(id string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune(`<>&"'/\:*?|.`, c) {
			return '_'
		}
		return c
	}, id)
}

// rename gives a node in compact form its name and a label, "": the one that it has.
func (x *exporter) rename(e *xmltree.Element, to, label string) {
	if e.Name != to {
		x.edit(xmltree.Edit{Span: e.NameSpan(), New: to})
		if e.Close.Len() > 0 {
			at := e.Close.At + len("</")
			x.edit(xmltree.Edit{Span: xmltree.Span{At: at, End: at + len(e.Name)}, New: to})
		}
	}
	name, id := e.Find("name"), e.Find("ID")
	switch given := name != nil && name.Value != ""; {
	case given || label == "" || label == to:
		if name != nil && !given {
			x.edit(x.doc.Unset(e, "name"))
		}
	case name == nil && id != nil: // in the place of the ID
		x.edit(xmltree.Edit{Span: xmltree.Span{At: id.At, End: id.At + len("ID")}, New: "name"})
		x.edit(xmltree.Edit{Span: id.Raw, New: x.doc.Set(e, "ID", label).New})
		return
	default:
		x.edit(x.doc.Set(e, "name", label))
	}
	if id != nil {
		x.edit(x.doc.Unset(e, "ID"))
	}
}

func (x *exporter) shorthand(n *node) {
	id := n.word()
	x.rename(n.element, id, n.name)
	switch n.short.of {
	case foreign:
		x.declare(n.short.form, id, n.ports())
	case own:
		x.declare(n.short.form, id, n.short.attributes)
		x.lost(n.element, "BehaviorTree.CPP has no %s in its plans", id)
	}
}

func (x *exporter) composite(n *node) {
	e := n.element
	x.rename(e, n.kind.String(), n.name)
	if n.kind.Own() {
		x.declare(formOf(n.kind), n.kind.String(), n.ports())
		x.lost(e, "BehaviorTree.CPP has no %s", n.kind)
	}
	for k, p := range n.kind.Params() {
		a := e.Find(p.Name)
		if _, err := strconv.Atoi(valueOf(a)); a != nil && err != nil && k < len(n.params) &&
			!slices.Contains(n.entries, k) && p.Type != bt.Resource {
			x.edit(x.doc.Set(e, p.Name, p.Write(n.params[k])))
		}
	}
	if n.kind.Cases() > 0 {
		x.cases(n)
	}
	if a := n.condition(); a != nil {
		x.script(e, a)
	} else if n.kind.Condition() != "" {
		x.lost(e, "BehaviorTree.CPP does not load the plan: the condition of a %s is its attribute %q", n.kind,
			n.kind.Condition())
	}
	if n.kind.Family() == bt.Chain && !n.kind.Memory() {
		x.restarts(n)
	}
}

// restarts reports the child of a reactive composite that BehaviorTree.CPP runs again while a later one runs.
func (x *exporter) restarts(n *node) {
	var first *node // that may end
	for _, c := range n.children {
		if first != nil && x.acts(c.core, map[*tree]bool{}) {
			x.lost(n.element, "BehaviorTree.CPP starts %q again when it has ended and a later child of the %s runs", first.name,
				n.kind)
			return
		}
		if first == nil && x.ends(c.core, n.kind.Over(), map[*tree]bool{}) {
			first = c
		}
	}
}

func valueOf(a *xmltree.Attribute) string {
	if a == nil {
		return ""
	}
	return strings.TrimSpace(a.Value)
}

// acts reports whether an action or a timer is in a node or in the subtrees below it, except those that are visited
// already.
func (x *exporter) acts(n *node, visited map[*tree]bool) bool {
	if t := n.subtree; t != nil {
		if visited[t] || t.root == nil {
			return false
		}
		visited[t] = true
		return x.acts(t.root.core, visited)
	}
	return n.kind.Acts() || n.kind.Timer() ||
		slices.ContainsFunc(n.children, func(c *node) bool { return x.acts(c, visited) })
}

// cases exports the attributes of a switch: its variable is an entry of the blackboard, and its cases are texts.
func (x *exporter) cases(n *node) {
	e := n.element
	variable := e.Find(attrVariable)
	if variable == nil {
		x.lost(e, "BehaviorTree.CPP has no conditions among the children of a %s", n.kind)
		return
	}
	if expr.IsName(variable.Value) {
		x.edit(x.doc.Set(e, attrVariable, "{"+variable.Value+"}"))
	} else if _, ok := braced(variable); !ok {
		x.lost(e, "the variable of a %s is an entry of the blackboard in BehaviorTree.CPP, not an expression", n.kind)
		return
	}
	for _, a := range n.given(comparisonNames(n.kind)[1:]) {
		if text := unquoted(a.Value); text != a.Value {
			x.edit(x.doc.Set(e, a.Name, text))
		}
	}
}

// ends reports whether a node may have a result after an action below it has run: a free one, or one whose attributes
// say when.
func (x *exporter) ends(n *node, as bt.Status, visited map[*tree]bool) bool {
	if t := n.subtree; t != nil {
		if visited[t] || t.root == nil {
			return false
		}
		visited[t] = true
		return x.ends(t.root.core, as, visited)
	}
	switch {
	case len(n.children) > 0:
		return n.kind.Timer() && as == bt.Failure || slices.ContainsFunc(n.children, func(c *node) bool {
			if single(n.kind) && n.kind.Family() == bt.Chain {
				return n.kind.Verdict(bt.Success) == as && x.ends(c, bt.Success, visited) ||
					n.kind.Verdict(bt.Failure) == as && x.ends(c, bt.Failure, visited)
			}
			return x.ends(c, as, visited)
		})
	case n.access != nil && n.kind.Acts():
		return as == bt.Success || len(n.access.writes) == 0 || n.access.condition != nil
	case !n.kind.Acts():
		return n.kind.Timer() && as == bt.Success
	case n.free || n.kind.Family() != bt.Leaf:
		return n.free || as == bt.Success
	}
	return n.defines(map[bt.Status]string{bt.Success: attrDone, bt.Failure: attrFailed}[as])
}

func (x *exporter) leaf(n *node) {
	e := n.element
	id := x.leafID(n)
	x.rename(e, id, n.name)
	wraps := n.wrapNames()
	used := slices.DeleteFunc(n.ports(), func(name string) bool { return slices.Contains(wraps, name) })
	if n.kind.Acts() && !n.free && n.undefined() { // an action that does nothing
		x.edit(x.doc.Set(e, attrDone, "false"))
		used = append(used, attrDone)
	}
	if n.defines(attrExitTime, attrExitUntil) {
		x.lost(e, "BehaviorTree.CPP halts an action at once: the exit procedure of %q takes no time there", n.name)
	}
	x.declare(n.kind.String(), id, used)
}

// declare notes a node type that BehaviorTree.CPP does not have, with ports.
func (x *exporter) declare(form, id string, ports []string) {
	t, m := x.types[id], x.document.models[id]
	if t == nil {
		t = xmltree.New(form, "ID", id)
		x.types[id], x.listed = t, append(x.listed, t)
	}
	if form == elementControl { // elsewhere it may have one child
		t.Name = form
	}
	for _, name := range ports {
		known := func(p *xmltree.Markup) bool { return p.Attributes[0].Value == name }
		if portName(name) && len(t.Children) < maxPorts && !slices.ContainsFunc(t.Children, known) && // else of XML itself
			(m == nil || !m.declares(name)) {
			addPort(t, name, "", "", "")
		}
	}
}

// leafID returns the ID of a leaf: its own one, else one made from its name.
func (x *exporter) leafID(n *node) string {
	own := n.id != n.kind.String()
	text, owner := n.id, n.kind.String()+" "+n.id
	if !own {
		if text = valueOf(n.element.Find("name")); text == "" {
			text = n.kind.String() + "_1"
		}
		owner = n.kind.String() + " " + text
		if x.document.models[text] != nil {
			owner += " without model"
		}
	}
	id := strings.Map(func(c rune) rune {
		if c == '_' || c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '_'
	}, text)
	if id == "" || unicode.IsDigit(rune(id[0])) {
		id = "_" + id
	}
	base := strings.TrimSuffix(id, "_1")
	for k := 1; ; k++ {
		if k > 1 {
			id = base + "_" + strconv.Itoa(k)
		}
		m, taken := x.document.models[id], x.owner[id]
		foreign := foreignNodes[id] != "" || reserved(id) || x.trees[id] != nil
		if taken == owner || taken == "" && !foreign && (m == nil || own && n.id == id) {
			break
		}
	}
	if x.owner[id] = owner; own && id != n.id {
		x.renamed(n.element, "%q cannot be the name of an element: it becomes %q", n.id, id)
	}
	return id
}

// models declares the node types that have no model, and the ports that models do not declare.
func (x *exporter) models(root *xmltree.Element) {
	var place *xmltree.Element
	for e := range root.Elements() {
		if e.Name == elementModels {
			place = e
		}
	}
	all := &xmltree.Markup{Name: elementModels}
	for _, t := range x.listed {
		if m := x.document.models[t.Attributes[0].Value]; m == nil {
			all.Children = append(all.Children, t)
		} else if len(t.Children) > 0 {
			x.edit(x.doc.Append(m.element, t.Children))
		}
	}
	switch {
	case len(all.Children) == 0:
	case place == nil:
		x.edit(x.doc.Append(root, []*xmltree.Markup{all}))
	default:
		x.edit(x.doc.Append(place, all.Children))
	}
}

// declares reports whether a model's element has a port with the given name.
func (m *model) declares(name string) bool {
	for e := range m.element.Elements() {
		if a := e.Find("name"); a != nil && a.Value == name {
			return true
		}
	}
	return false
}
