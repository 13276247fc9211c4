package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// node is a node of a tree: a task, or the use of a subtree. The parser makes those that are written; the tasks for
// which they stand, in the second pass, are nodes, too. Each has the element in the author's text to which it belongs.
type node struct {
	element  *xmltree.Element
	kind     bt.Kind
	subtree  *tree  // the tree that a SubTree names, nil for a task
	id       string // of a leaf or subtree
	name     string
	model    *model // nil if none is declared
	params   []int  // of a task
	entries  []int  // the parameters that are entries of the blackboard
	children []*node
	up       int        // the frames out of which its scope is
	unknown  bool       // no kind that Canopy has
	coded    bool       // a leaf with code of a program
	free     bool       // a leaf that nothing defines
	access   *access    // of a leaf that reads or writes blackboards
	short    *shorthand // it stands for several tasks; nil: for one

	// What the second pass adds.
	core    *node // of a written node: what it stands for
	wrapped bool  // it has preconditions, of which it reads none itself
	wraps   bool  // an attribute of the task inside of it, its last child, stands for it
	script  bool  // a condition in the notation of BehaviorTree.CPP
	lenient bool  // a condition that may read an entry without a value
}

// The elements of the explicit form.
const (
	elementAction    = "Action"
	elementCondition = "Condition"
	elementControl   = preprocess.ElementControl
	elementDecorator = preprocess.ElementDecorator
	elementSubTree   = preprocess.ElementSubTree
)

var explicit = []string{elementAction, elementCondition, elementControl, elementDecorator, elementSubTree}

// nodes reads the children of an element.
func (p *parser) nodes(parent *xmltree.Element) []*node {
	var nodes []*node
	for e := range parent.Elements() {
		if p.frame != nil && e.Name == elementChildren {
			nodes = append(nodes, p.places(e)...)
		} else {
			nodes = append(nodes, p.node(e))
		}
	}
	return nodes
}

// node reads a node of a tree. A node of an unknown kind is reported and treated as a sequence.
func (p *parser) node(e *xmltree.Element) *node {
	n := &node{element: e, id: e.Name}
	id := e.Find("ID")
	if id != nil && id.Value != "" {
		n.id = id.Value
	}
	n.children = p.nodes(e) // they are checked even where they are not allowed
	if n.short = p.shorthand(n, id); n.short == nil && !p.classify(n, id) {
		n.kind, n.unknown = bt.Sequence, true
		return n
	}
	p.program(n)
	known, what, ports := p.attributes(n), n.word(), []string(nil)
	if n.short == nil {
		what = category(n)
	}
	if n.short == nil && n.model != nil {
		what, ports = n.id, names(n.model.ports)
		p.undeclared(n, ports)
		p.literalPorts(n)
	}
	p.checkAttributes(e, what, slices.Concat(known, n.wrapNames(), preconditions, postconditions), ports...)
	p.name(n, id)
	for _, name := range preconditions {
		if a := e.Find(name); a != nil && p.signals == nil { // what is not written comes from outside
			if e, err := expr.ParseScriptCondition(a.Value); err == nil {
				p.mention(e.Names()...)
			}
		}
	}
	return n
}

// attributes checks the number of a node's children, reads its parameters, and returns the names of the attributes that
// it may have by its kind.
func (p *parser) attributes(n *node) []string {
	known := []string{"name", "ID"}
	if s := n.short; s != nil {
		if p.arity(n, n.word(), s.children); s.of == foreign { // another version of the program may have more
			return append(known, n.ports()...)
		}
		return append(known, s.attributes...)
	}
	leaf := n.kind.Family() == bt.Leaf
	switch {
	case n.subtree != nil || leaf:
		if count := len(n.children); count > 0 {
			p.reportName(n.element, codeChildren, "", "%s cannot have children, this one has %d", category(n), count)
		}
	case n.hasCases() || n.hasUtilities():
	case n.condition() == nil && len(n.children) == 1 && n.kind.Condition() != "" && !n.kind.Attributed():
		p.reportMissing(n.element, codeCount, n.kind.String(), n.kind.Condition(), "...")
	default:
		least, most := n.kind.Arity()
		if n.condition() != nil {
			least, most = least-1, most-1
		}
		p.arity(n, n.kind.String(), arity{least, most})
	}
	if n.subtree != nil || leaf {
		return append(known, n.says()...)
	}
	known = append(known, comparisonNames(n.kind)...)
	if name := n.kind.Condition(); name != "" && !n.kind.Attributed() {
		known = append(known, name)
	}
	if name := n.kind.Cleanup(); name != "" {
		known = append(known, name)
	}
	for _, param := range n.kind.Params() {
		known = append(known, param.Name)
		n.params = append(n.params, p.param(n, &param))
	}
	return known
}

// says returns the names of the attributes that say what a leaf or the use of a subtree does.
func (n *node) says() []string {
	switch {
	case n.free || n.subtree != nil || n.coded:
		return n.ports()
	case n.access != nil:
		return accesses[n.id].attributes
	}
	return n.behaves()
}

// behaves returns the names of the attributes by which a plan says what a leaf does.
func (n *node) behaves() []string {
	if n.kind.Acts() {
		return actionAttributes
	}
	return conditionAttributes
}

// name determines the name of a node.
func (p *parser) name(n *node, id *xmltree.Attribute) {
	e := n.element
	if id != nil && !slices.Contains(explicit, e.Name) {
		p.warn(id.At, len(id.Name), codeIgnoredID, "write name="+strconv.Quote(id.Value),
			"BehaviorTree.CPP refuses an ID here; it serves as the name")
	}
	n.name = n.id
	for _, a := range []*xmltree.Attribute{id, e.Find("name")} {
		if a != nil && a.Value != "" {
			p.checkName(a)
			n.name = a.Value
		}
	}
}

// word returns the name of the node type that is written, in either form.
func (n *node) word() string {
	if slices.Contains(explicit, n.element.Name) {
		return n.id
	}
	return n.element.Name
}

// ports returns the names of the element's attributes that may be ports.
func (n *node) ports() []string {
	var list []string
	for _, a := range n.element.Attributes[:min(len(n.element.Attributes), maxPorts)] {
		if mayBePort(a.Name) {
			list = append(list, a.Name)
		}
	}
	return list
}

// mayBePort reports whether an attribute of a leaf or of the use of a tree may be a port.
func mayBePort(name string) bool {
	return name != "name" && name != "ID" && !strings.HasPrefix(name, "_")
}

// condition returns the attribute that is the first child of a node, nil if there is none.
func (n *node) condition() *xmltree.Attribute {
	if n.kind.Attributed() || n.kind.Condition() == "" {
		return nil
	}
	return n.element.Find(n.kind.Condition())
}
