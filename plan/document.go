package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
)

// reader reads one document. Each stage goes on behind the mistakes of the one before:
//
//	parse     the text into elements
//	document  the elements into trees of items and models of leaves and subtrees
//	graph     which tree includes which: cycles, unused trees, the size when all are expanded
//	expand    the main tree with its subtrees into nodes and leaves, with all expressions checked
type reader struct {
	source   *diag.Source
	signals  Vocabulary
	scope    expr.Scope
	found    diag.List
	reported map[diag.Diagnostic]bool
	broken   bool // the XML is malformed: what is missing may have stood there
	astray   bool // the use of a subtree cannot be told: any tree may be meant
	trees    map[string]*tree
	order    []*tree // as they stand in the document
	models   map[string]*model
}

// tree is a BehaviorTree element.
type tree struct {
	id      string
	element *element
	root    *item // nil if it cannot be told
}

// model is a declaration in TreeNodesModel.
type model struct {
	element *element
	kind    string // Action, Condition, Control, Decorator or SubTree
	id      string
	ports   []*port
}

// port is a parameter of a model.
type port struct {
	name  string
	value *attribute // the default, nil if there is none
}

// item is a node of a tree as written: a task, or the use of a subtree.
type item struct {
	element          *element
	kind             bt.Kind
	subtree          *tree  // what a SubTree stands for, nil for a task
	id               string // of a leaf or subtree
	name             string
	model            *model // nil if none is declared
	success, failure int
	children         []*item
	leaf             *Leaf // once it is read, if no ports bear on it
}

// The elements of the explicit form.
const (
	elementAction    = "Action"
	elementCondition = "Condition"
	elementControl   = "Control"
	elementDecorator = "Decorator"
	elementSubTree   = "SubTree"
)

var explicit = []string{elementAction, elementCondition, elementControl, elementDecorator, elementSubTree}

// document reads the trees and models below the root element and returns the main tree, nil if it cannot be told.
func (r *reader) document(root *element) *tree {
	r.rootAttributes(root)
	var trees, models []*element
	for _, e := range root.children {
		switch e.name {
		case "BehaviorTree":
			trees = append(trees, e)
		case "TreeNodesModel":
			models = append(models, e.children...)
			r.checkAttributes(e, "TreeNodesModel", nil)
		case "include":
			r.reportName(e, codeForeignNode, "copy the trees of the other file into this one",
				"a plan is one file: <include> is not supported")
		default:
			hint := diag.DidYouMean(e.name, []string{"BehaviorTree", "TreeNodesModel"})
			if _, isKind := bt.ParseKind(e.name); isKind || slices.Contains(explicit, e.name) {
				hint = "put it inside a <BehaviorTree>"
			}
			r.reportName(e, codeNode, hint, "<%s> cannot stand directly inside <root>", e.name)
		}
	}
	for _, e := range models {
		r.declare(e)
	}
	for _, e := range trees {
		r.declareTree(e, len(trees))
	}
	if len(trees) == 0 && !r.broken {
		r.reportName(root, codeNoTree, `write the tree inside <BehaviorTree ID="...">`, "the plan has no tree")
	}
	for _, t := range r.order {
		r.readTree(t)
	}
	return r.mainTree(root)
}

func (r *reader) rootAttributes(root *element) {
	r.checkAttributes(root, "root", []string{"BTCPP_format", "main_tree_to_execute", "project_name"})
	switch format := root.find("BTCPP_format"); {
	case format == nil:
		r.add(root.offset+1, len(root.name), diag.Warning, codeNoFormat, `write <root BTCPP_format="4">`,
			"the format's version is missing; it is read as version 4")
	case strings.TrimSpace(format.value) != "4":
		r.reportValue(format, codeFormat, `only version 4 is supported: write BTCPP_format="4"`,
			"unknown format version %q", format.value)
	}
}

// declare reads one declaration of a TreeNodesModel.
func (r *reader) declare(e *element) {
	if e.name == "MetadataFields" { // Groot2's own notes
		return
	}
	if !slices.Contains(explicit, e.name) {
		r.reportName(e, codeNode, diag.DidYouMean(e.name, explicit), "<%s> declares no node type", e.name)
		return
	}
	m := &model{element: e, kind: e.name}
	known := []string{"ID", "editable"}
	switch e.name {
	case elementAction:
		known = append(known, actionAttributes...)
	case elementCondition:
		known = append(known, conditionAttributes...)
	}
	r.checkAttributes(e, "the "+e.name+" model", known)
	for _, c := range e.children {
		switch c.name {
		case "input_port", "output_port", "inout_port":
			r.declarePort(m, c)
		case "MetadataFields":
		default:
			r.reportName(c, codeNode, diag.DidYouMean(c.name, []string{"input_port", "output_port", "inout_port"}),
				"<%s> cannot stand in a model", c.name)
		}
	}
	id := e.find("ID")
	if id == nil || id.value == "" {
		r.reportName(e, codeNoID, "", "the model has no ID")
		return
	}
	m.id = id.value
	switch first := r.models[m.id]; {
	case reserved(m.id) && m.kind != elementControl && m.kind != elementDecorator:
		r.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", m.id)
	case first != nil:
		r.reportValue(id, codeDuplicateID, "", "%q was declared before, on line %d", m.id, r.line(first.element))
	default:
		r.models[m.id] = m
	}
}

func (r *reader) declarePort(m *model, e *element) {
	r.checkAttributes(e, "a port", []string{"name", "type", "default", "description"})
	name := e.find("name")
	switch {
	case name == nil:
		r.reportName(e, codePort, "", "the port has no name")
	case !isSignalName(name.value):
		r.reportValue(name, codePort, "use letters, digits and _, a letter first", "%q cannot be the name of a port",
			name.value)
	case reservedAttribute(name.value):
		r.reportValue(name, codePort, "choose another name", "%q is an attribute of its own", name.value)
	case slices.ContainsFunc(m.ports, func(p *port) bool { return p.name == name.value }):
		r.reportValue(name, codePort, "", "the port %q is declared twice", name.value)
	default:
		m.ports = append(m.ports, &port{name.value, e.find("default")})
	}
}

// isSignalName reports whether an expression may name it.
func isSignalName(s string) bool {
	e, err := expr.Parse(s)
	return err == nil && slices.Equal(e.Names(), []string{s}) && e.String() == s
}

// reserved reports whether no tree or leaf type may have the ID.
func reserved(id string) bool {
	_, isKind := bt.ParseKind(id)
	return isKind || slices.Contains(explicit, id) || id == "root" || id == "Root"
}

func (r *reader) declareTree(e *element, count int) {
	r.checkAttributes(e, "BehaviorTree", []string{"ID"})
	t := &tree{element: e}
	r.order = append(r.order, t)
	id := e.find("ID")
	if id == nil || id.value == "" {
		if count > 1 {
			r.reportName(e, codeNoID, "", "the tree has no ID")
		} else {
			t.id = e.name
			r.trees[t.id] = t
		}
		return
	}
	t.id = id.value
	m := r.models[t.id]
	switch first := r.trees[t.id]; {
	case reserved(t.id):
		r.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", t.id)
	case first != nil:
		r.reportValue(id, codeDuplicateID, "", "there is another tree %q on line %d", t.id, r.line(first.element))
		return
	case m != nil && m.kind != elementSubTree:
		r.reportValue(id, codeDuplicateID, "choose another ID", "%q is the %s declared on line %d", t.id, m.kind,
			r.line(m.element))
	}
	r.trees[t.id] = t
}

func (r *reader) line(e *element) int {
	line, _ := diag.Diagnostic{Source: r.source, Offset: e.offset}.Position()
	return line
}

// mainTree returns the tree that the root element chooses, or the only one.
func (r *reader) mainTree(root *element) *tree {
	choice := root.find("main_tree_to_execute")
	if choice != nil {
		t := r.trees[choice.value]
		if t == nil && !r.broken {
			r.reportValue(choice, codeNoTree, diag.DidYouMean(choice.value, r.treeIDs()), "there is no tree %q",
				choice.value)
		}
		return t
	}
	if len(r.order) == 1 {
		return r.order[0]
	}
	if len(r.order) > 1 {
		r.reportName(root, codeNoMainTree, fmt.Sprintf("write main_tree_to_execute=%q", r.order[0].id),
			"the plan has %d trees and does not say which is the main one", len(r.order))
	}
	return nil
}

func (r *reader) treeIDs() []string { return slices.Sorted(maps.Keys(r.trees)) }

func (r *reader) readTree(t *tree) {
	roots := r.items(t.element)
	if n := len(t.element.children); n != 1 && !r.broken {
		r.reportName(t.element, codeChildren, "", "a tree has exactly 1 root node, this one has %d", n)
	}
	if len(roots) > 0 {
		t.root = roots[0]
	}
}

// items reads the children of an element.
func (r *reader) items(parent *element) []*item {
	var items []*item
	named := map[string]*element{}
	for _, e := range parent.children {
		items = append(items, r.item(e))
		if name := e.find("name"); name != nil && name.value != "" && e.name != elementSubTree {
			if first := named[name.value]; first != nil {
				r.reportValue(name, codeDuplicateName, "", "its sibling on line %d has the name %q, too",
					r.line(first), name.value)
			} else {
				named[name.value] = e
			}
		}
	}
	return items
}

// item reads a node of a tree. One of no known kind is taken for a sequence once it is reported.
func (r *reader) item(e *element) *item {
	i := &item{element: e, id: e.name}
	id := e.find("ID")
	if id != nil && id.value != "" {
		i.id = id.value
	}
	children := r.items(e)
	switch {
	case !r.classify(i, id): // its children are checked all the same
		i.kind, i.children = bt.Sequence, children
		return i
	case i.subtree != nil || i.kind.IsLeaf():
		if n := len(e.children); n > 0 {
			r.reportName(e, codeChildren, "", "%s cannot have children, this one has %d", category(i), n)
		}
	default:
		i.children = children
		r.arity(i)
	}
	known := []string{"name", "ID"}
	switch {
	case i.subtree != nil:
	case i.kind == bt.Action:
		known = append(known, actionAttributes...)
	case i.kind == bt.Condition:
		known = append(known, conditionAttributes...)
	case i.kind.IsParallel():
		known = append(known, "success_count", "failure_count")
		i.success, i.failure = r.count(i, "success_count", -1), r.count(i, "failure_count", 1)
	}
	if i.model != nil {
		for _, p := range i.model.ports {
			known = append(known, p.name)
		}
	}
	r.checkAttributes(e, category(i), known)
	if id != nil && !slices.Contains(explicit, e.name) {
		r.warn(id.offset, len(id.name), codeIgnoredID, "write name="+strconv.Quote(id.value),
			"BehaviorTree.CPP refuses an ID here; it serves as the name")
	}
	i.name = i.id
	for _, a := range []*attribute{id, e.find("name")} {
		if a != nil && a.value != "" {
			i.name = a.value
		}
	}
	return i
}

// category names what an item is for messages.
func category(i *item) string {
	if i.subtree != nil {
		return elementSubTree
	}
	return i.kind.String()
}

// classify tells the kind of an item, and its model or tree. It reports what is of no known kind.
func (r *reader) classify(i *item, id *attribute) bool {
	e := i.element
	switch e.name {
	case elementSubTree:
		return r.classifySubTree(i, id)
	case elementControl, elementDecorator:
		if id == nil {
			r.reportName(e, codeNoID, fmt.Sprintf("write <%s ID=%q>", e.name, r.kindNames(e.name)[0]), "<%s> has no ID",
				e.name)
			return false
		}
		return r.composite(i, e.name, func(code, hint, text string) { r.reportValue(id, code, hint, "%s", text) })
	case elementAction, elementCondition:
		i.kind, _ = bt.ParseKind(e.name)
		if id == nil {
			return true
		}
		if hint, foreign := foreignNodes[id.value]; foreign && r.models[id.value] == nil {
			r.reportValue(id, codeForeignNode, hint, "the BehaviorTree.CPP node %q is not supported", id.value)
			return false
		}
		if reserved(id.value) {
			r.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", id.value)
			return false
		}
		if i.model = r.models[id.value]; i.model != nil && i.model.kind != e.name {
			r.reportValue(id, codeNode, fmt.Sprintf("write <%s ID=%q>", i.model.kind, id.value),
				"%q is declared as %s on line %d",
				id.value, i.model.kind, r.line(i.model.element))
			return false
		}
		return true
	}
	if m := r.models[e.name]; m != nil && (m.kind == elementAction || m.kind == elementCondition) {
		i.id, i.model = e.name, m
		i.kind, _ = bt.ParseKind(m.kind)
		return true
	}
	return r.composite(i, "", func(code, hint, text string) { r.reportName(e, code, hint, "%s", text) })
}

func (r *reader) classifySubTree(i *item, id *attribute) bool {
	if id == nil {
		r.astray = true
		r.reportName(i.element, codeNoID, "", "<SubTree> does not say which tree it stands for")
		return false
	}
	i.subtree = r.trees[id.value]
	if i.subtree == nil {
		r.astray = true
		if !r.broken {
			r.reportValue(id, codeNoTree, diag.DidYouMean(id.value, r.treeIDs()), "there is no tree %q", id.value)
		}
		return false
	}
	i.model = r.subtreeModel(id.value)
	return true
}

// subtreeModel returns the declaration of a tree's ports, nil if there is none.
func (r *reader) subtreeModel(id string) *model {
	if m := r.models[id]; m != nil && m.kind == elementSubTree {
		return m
	}
	return nil
}

// composite tells the kind of an item that is no leaf by its element's name, or by its ID in the explicit form.
func (r *reader) composite(i *item, form string, report func(code, hint, text string)) bool {
	word := i.element.name
	if form != "" {
		word = i.id
	}
	if k, ok := bt.ParseKind(word); ok && !k.IsLeaf() {
		proper := elementControl
		if k.IsDecorator() {
			proper = elementDecorator
		}
		if form != "" && form != proper {
			report(codeNode, fmt.Sprintf("write <%s ID=%q>", proper, word), fmt.Sprintf("%s is a %s", word, proper))
			return false
		}
		i.kind = k
		return true
	}
	if hint, ok := foreignNodes[word]; ok {
		report(codeForeignNode, hint, fmt.Sprintf("the BehaviorTree.CPP node %q is not supported", word))
		return false
	}
	if m := r.models[word]; m != nil && m.kind != elementSubTree {
		report(codeForeignNode, "Canopy has the kinds "+strings.Join(r.kindNames(m.kind), ", "),
			fmt.Sprintf("%q is a %s node of another program, which Canopy does not have", word, m.kind))
		return false
	}
	hint := diag.DidYouMean(word, r.kindNames(form))
	if r.trees[word] != nil {
		hint = fmt.Sprintf("write <SubTree ID=%q/>", word)
	}
	if hint == "" && form != "" {
		hint = "it may be " + strings.Join(r.kindNames(form), ", ")
	} else if hint == "" {
		hint = fmt.Sprintf(`write <Action ID=%[1]q/> or <Condition ID=%[1]q/>, or declare it in <TreeNodesModel>`, word)
	}
	report(codeNode, hint, fmt.Sprintf("unknown node %q", word))
	return false
}

// kindNames returns the names that may stand as an explicit form's ID, or for "" as an element's name.
func (r *reader) kindNames(form string) []string {
	var names []string
	for _, k := range bt.Kinds() {
		switch {
		case form == elementControl && !k.IsLeaf() && !k.IsDecorator(), form == elementDecorator && k.IsDecorator(),
			form == "":
			names = append(names, k.String())
		}
	}
	if form == "" {
		names = append(names, explicit...)
		for _, id := range slices.Sorted(maps.Keys(r.models)) {
			if k := r.models[id].kind; k == elementAction || k == elementCondition {
				names = append(names, id)
			}
		}
	}
	return names
}

func (r *reader) arity(i *item) {
	least, most := i.kind.Arity()
	n := len(i.element.children)
	if r.broken || n >= least && (most < 0 || n <= most) {
		return
	}
	wanted, hint := fmt.Sprintf("at least %d child", least), ""
	if most == least {
		wanted = fmt.Sprintf("exactly %d child", least)
		hint = "put the children into a Sequence or Fallback"
	}
	if n == 0 {
		hint = ""
	}
	r.reportName(i.element, codeChildren, hint, "%s needs %s, this one has %d", i.kind, wanted, n)
}

// count reads a parallel's count. It may be negative: c stands for n + 1 + c of n children.
func (r *reader) count(i *item, word string, absent int) int {
	a := i.element.find(word)
	if a == nil {
		return absent
	}
	c, err := strconv.Atoi(strings.TrimSpace(a.value))
	if err != nil {
		r.reportValue(a, codeCount, "write a whole number, -1 for all children", "%q is not a count", a.value)
		return absent
	}
	n := len(i.element.children)
	resolved := c
	if c < 0 {
		resolved = n + 1 + c
	}
	if (resolved < 1 || resolved > n) && n > 0 && !r.broken {
		r.reportValue(a, codeCount, fmt.Sprintf("write 1 to %d, or -1 (all) to -%d", n, n),
			"%s of %d children is not possible", a.value, n)
		return absent
	}
	return c
}
