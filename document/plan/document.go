package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// reader reads one document. Each stage continues after the mistakes of the previous one:
//
//	xmltree   the text into elements
//	document  the elements into trees of items and models of leaves and subtrees
//	graph     the inclusion of trees: cycles, unused trees, the size when all are expanded
//	expand    the main tree with its subtrees into nodes and leaves, with all expressions checked
type reader struct {
	source    *diag.Source
	open      Open // nil: no other files are read
	doc       *xmltree.Document
	complete  bool // the document is whole, and so are the files that it includes
	signals   Vocabulary
	scope     expr.Scope
	tables    bool // calls of unknown functions are accepted
	found     diag.List
	parsed    map[*xmltree.Attribute]*expr.Expr // expressions of leaves without mistakes
	parts     int                               // of all expressions whose ports were replaced
	mostParts int
	most      int // tasks of the plan
	reported  map[mistake]bool
	astray    bool                // the use of a subtree cannot be determined: it may be any tree
	passed    map[string][]string // the attributes of the uses of a tree, by its ID
	trees     map[string]*tree
	order     []*tree // in the order of the document
	main      *tree   // nil if it cannot be determined
	models    map[string]*model
	resources []string                 // their names, by their number from 1
	names     map[string][]string      // the results of kindNames, once the models are read
	mentioned map[string]bool          // the names of entries in nodes that read or write blackboards
	types     map[string]expr.Variable // of the entries, by their names
	watchers  map[visit]*watcher
	watched   map[owned][]*watcher
	written   map[owned]bool // entries that a task writes
	copied    int            // tasks that nodes of Nav2 stand for more than once
	opened    map[string]int // by name: the conditions that nodes of Nav2 and of other programs stand for
	feeds     map[turn]*feed
	marks     int            // by which writers tell watchers that an entry was written
	used      map[string]int // see taken
	entryText int            // bytes of the names that tell entries apart
	scopes    map[string]int // the uses of subtrees, by their path
}

// The elements below the root.
const (
	elementRoot    = "root"
	elementTree    = "BehaviorTree"
	elementModels  = "TreeNodesModel"
	elementInclude = "include"
)

// tree is a BehaviorTree element.
type tree struct {
	id      string
	element *xmltree.Element
	ports   []*port // that its element gives
	root    *item   // nil if it cannot be determined
}

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

// document reads the trees and models below the root element.
func (r *reader) document(root *xmltree.Element) {
	r.rootAttributes(root)
	var trees, models []*xmltree.Element
	for e := range root.Elements() {
		switch e.Name {
		case elementTree:
			trees = append(trees, e)
		case elementModels:
			models = slices.AppendSeq(models, e.Elements())
			r.checkAttributes(e, elementModels, nil)
		case elementInclude: // it could not be read
		default:
			hint := diag.DidYouMean(e.Name, []string{elementTree, elementModels})
			if _, isKind := bt.ParseKind(e.Name); isKind || slices.Contains(explicit, e.Name) {
				hint = "put it inside a <BehaviorTree>"
			}
			r.reportName(e, codeNode, hint, "<%s> is not allowed directly inside <root>", e.Name)
		}
	}
	for _, e := range models {
		r.declare(e)
	}
	for _, e := range trees {
		r.declareTree(e, len(trees))
	}
	if len(trees) == 0 && r.complete {
		r.reportName(root, codeNoTree, `write the tree inside <BehaviorTree ID="...">`, "the plan has no tree")
	}
	for _, t := range r.order {
		r.readTree(t)
	}
	r.main = r.mainTree(root)
}

func (r *reader) rootAttributes(root *xmltree.Element) {
	r.checkAttributes(root, elementRoot, []string{attrFormat, attrMain, "project_name"})
	known := []string{format3, format4}
	if format := root.Find(attrFormat); format != nil && !slices.Contains(known, strings.TrimSpace(format.Value)) {
		r.reportValue(format, codeFormat, `versions 3 and 4 are supported: write BTCPP_format="4"`,
			"unknown format version %q", format.Value)
	}
}

// declare reads one declaration of a TreeNodesModel.
func (r *reader) declare(e *xmltree.Element) {
	if e.Name == "MetadataFields" { // Groot2's own notes
		return
	}
	if !slices.Contains(explicit, e.Name) {
		r.reportName(e, codeNode, diag.DidYouMean(e.Name, explicit), "<%s> declares no node type", e.Name)
		return
	}
	m := &model{element: e, kind: e.Name}
	known := []string{"ID", "editable"}
	switch e.Name {
	case elementAction:
		known = append(append(known, actionAttributes...), requests...)
		known = append(known, attrPre, attrPost)
		m.pre, m.post = r.facts(e, attrPre), r.facts(e, attrPost)
	case elementCondition:
		known = append(known, conditionAttributes...)
	}
	r.checkAttributes(e, "the "+e.Name+" model", known)
	for c := range e.Elements() {
		switch c.Name {
		case "input_port", "output_port", "inout_port":
			r.declarePort(m, c)
		case "MetadataFields":
		default:
			r.reportName(c, codeNode, diag.DidYouMean(c.Name, []string{"input_port", "output_port", "inout_port"}),
				"<%s> is not allowed in a model", c.Name)
		}
	}
	id := e.Find("ID")
	if id == nil || id.Value == "" {
		r.reportName(e, codeNoID, "", "the model has no ID")
		return
	}
	m.id = id.Value
	kind, isKind := bt.ParseKind(m.id)
	switch first := r.models[m.id]; {
	case isKind && (m.kind == elementControl || m.kind == elementDecorator || m.kind == formOf(kind)):
		if kind.Own() { // not an editor's copy of a kind: for BehaviorTree.CPP
			r.models[m.id] = m
		}
	case clerks[m.id].attributes != nil && m.leaf(): // an editor's copy
	case reserved(m.id):
		r.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", m.id)
	case first != nil && first.element.Markup().String() == e.Markup().String():
		// the same declaration, as in a manifest that the plan includes
	case first != nil:
		r.reportValue(id, codeDuplicateID, "", "%q was declared before, %s", m.id, r.where(first.element, e))
	default:
		r.models[m.id] = m
	}
}

func (r *reader) declarePort(m *model, e *xmltree.Element) {
	r.checkAttributes(e, "a port", []string{"name", "type", "default", "description"})
	name := e.Find("name")
	switch {
	case len(m.ports) == maxPorts:
		r.reportName(m.element, xmltree.CodeTooLarge, "declare several models", "the model has more than %d ports", maxPorts)
	case name == nil:
		r.reportName(e, codePort, "", "the port has no name")
	case !portName(name.Value) && (m.leaf() || m.kind == elementSubTree):
		r.reportValue(name, codePort, "use letters, digits and _, a letter first", "%q cannot be the name of a port",
			name.Value)
	case slices.Contains(conditionAttributes, name.Value), slices.Contains(actionAttributes, name.Value),
		slices.Contains(requests, name.Value):
		// a behaviour attribute as BehaviorTree.CPP must declare it
	case name.Value == "name" || name.Value == "ID":
		r.reportValue(name, codePort, "choose another name", "%q is an attribute of its own", name.Value)
	case slices.ContainsFunc(m.ports, func(p *port) bool { return p.name == name.Value }):
		r.reportValue(name, codePort, "", "the port %q is declared twice", name.Value)
	default:
		m.ports = append(m.ports, &port{name: name.Value, value: e.Find("default"), element: e,
			input: e.Name == "input_port", output: e.Name == "output_port", typ: e.Find("type")})
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
	_, isClerk := clerks[id]
	return isKind || isClerk || slices.Contains(explicit, id) || id == elementRoot || id == "Root"
}

func (r *reader) declareTree(e *xmltree.Element, count int) {
	t := &tree{element: e}
	for _, a := range e.Attributes {
		if a.Name != "ID" && !strings.HasPrefix(a.Name, "_") {
			t.ports = append(t.ports, &port{name: a.Name, value: a})
		}
	}
	r.checkAttributes(e, elementTree, []string{"ID"}, names(t.ports)...)
	r.order = append(r.order, t)
	id := e.Find("ID")
	if id == nil || id.Value == "" {
		if count > 1 {
			r.reportName(e, codeNoID, "", "the tree has no ID")
		} else {
			t.id = e.Name
			r.trees[t.id] = t
		}
		return
	}
	r.checkName(id)
	t.id = id.Value
	m := r.models[t.id]
	switch first := r.trees[t.id]; {
	case reserved(t.id):
		r.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", t.id)
	case first != nil:
		r.reportValue(id, codeDuplicateID, "", "there is another tree %q %s", t.id, r.where(first.element, e))
		return
	case m != nil && m.kind != elementSubTree:
		r.reportValue(id, codeDuplicateID, "choose another ID", "%q is the %s declared %s", t.id, m.kind,
			r.where(m.element, e))
	}
	r.trees[t.id] = t
}

// mainTree returns the tree that the root element chooses, or the only one.
func (r *reader) mainTree(root *xmltree.Element) *tree {
	choice := root.Find(attrMain)
	if choice != nil {
		t := r.trees[choice.Value]
		if t == nil && r.complete {
			hint := diag.DidYouMean(choice.Value, r.treeIDs())
			if hint == "" && len(r.trees) > 0 {
				hint = "the plan has " + r.quotedTrees(", ")
			}
			r.reportValue(choice, codeNoTree, hint, "there is no tree %q", choice.Value)
		}
		return t
	}
	if len(r.order) == 1 || len(r.trees) == 1 { // of several with one ID, the first
		return r.order[0]
	}
	if len(r.order) > 1 {
		if tops := slices.DeleteFunc(slices.Clone(r.order), func(t *tree) bool {
			_, used := r.passed[t.id]
			return used
		}); len(tops) == 1 {
			r.warn(root.At+1, len(root.Name), codeNoMainTree, "write "+attrMain+"="+strconv.Quote(tops[0].id),
				"the plan does not name its main tree; it is %q, the only one that no other contains", tops[0].id)
			return tops[0]
		}
		r.reportName(root, codeNoMainTree, "write "+attrMain+"="+r.quotedTrees(" or "),
			"the plan has %d trees and does not name the main one", max(len(r.trees), 2))
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
	if n := len(roots); n != 1 && r.doc.Whole {
		r.reportName(t.element, codeChildren, "", "a tree has exactly 1 root node, this one has %d", n)
	}
	if len(roots) > 0 {
		t.root = roots[0]
	}
}
