package plan

import (
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
	reported map[mistake]bool
	broken   bool // the XML is malformed: what is missing may have stood there
	astray   bool // the use of a subtree cannot be told: any tree may be meant
	trees    map[string]*tree
	order    []*tree // as they stand in the document
	models   map[string]*model
}

// The elements below the root.
const (
	elementTree   = "BehaviorTree"
	elementModels = "TreeNodesModel"
)

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

	pre, post []Fact // of an action
}

// port is a parameter of a model.
type port struct {
	name  string
	value *attribute // the default, nil if there is none
}

// document reads the trees and models below the root element and returns the main tree, nil if it cannot be told.
func (r *reader) document(root *element) *tree {
	r.rootAttributes(root)
	var trees, models []*element
	for _, e := range root.children {
		switch e.name {
		case elementTree:
			trees = append(trees, e)
		case elementModels:
			models = append(models, e.children...)
			r.checkAttributes(e, elementModels, nil)
		case "include":
			r.reportName(e, codeForeignNode, "copy the trees of the other file into this one",
				"a plan is one file: <include> is not supported")
		default:
			hint := diag.DidYouMean(e.name, []string{elementTree, elementModels})
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
		known = append(known, attrPre, attrPost)
		m.pre, m.post = r.facts(e, attrPre), r.facts(e, attrPost)
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
	r.checkAttributes(e, elementTree, []string{"ID"})
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
	r.checkName(id)
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
			hint := diag.DidYouMean(choice.value, r.treeIDs())
			if hint == "" && len(r.trees) > 0 {
				hint = "the plan has " + r.quotedTrees(", ")
			}
			r.reportValue(choice, codeNoTree, hint, "there is no tree %q", choice.value)
		}
		return t
	}
	if len(r.order) == 1 {
		return r.order[0]
	}
	if len(r.order) > 1 {
		r.reportName(root, codeNoMainTree, "write main_tree_to_execute="+r.quotedTrees(" or "),
			"the plan has %d trees and does not say which is the main one", len(r.order))
	}
	return nil
}

func (r *reader) treeIDs() []string { return slices.Sorted(maps.Keys(r.trees)) }

// quotedTrees lists the trees that can be the main one.
func (r *reader) quotedTrees(separator string) string {
	var ids []string
	for _, id := range r.treeIDs() {
		ids = append(ids, strconv.Quote(id))
	}
	return strings.Join(ids, separator)
}

func (r *reader) readTree(t *tree) {
	roots := r.items(t.element)
	if n := len(t.element.children); n != 1 && !r.broken {
		r.reportName(t.element, codeChildren, "", "a tree has exactly 1 root node, this one has %d", n)
	}
	if len(roots) > 0 {
		t.root = roots[0]
	}
}
