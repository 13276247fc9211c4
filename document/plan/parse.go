package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// The elements below the root.
const (
	elementRoot    = preprocess.ElementRoot
	elementTree    = preprocess.ElementTree
	elementModels  = "TreeNodesModel"
	elementInclude = preprocess.ElementInclude
)

// Attributes of the root element.
const (
	attrFormat = preprocess.AttrFormat
	attrMain   = "main_tree_to_execute"
)

// Open returns the content of a file that a plan includes, by a path with slashes.
type Open = preprocess.Open

// document is the result of the first pass: a plan as it is written, as trees of nodes that are not expanded.
type document struct {
	*reporter
	reading
	complete  bool // the document is whole, and so are the files that it includes
	trees     map[string]*tree
	order     []*tree             // in the order of the document
	main      *tree               // nil if it cannot be determined
	astray    bool                // the use of a subtree cannot be determined: it may be any tree
	passed    map[string][]string // the attributes of the uses of a tree, by its ID
	models    map[string]*model
	resources []string        // their names, by their number from 1
	mentioned map[string]bool // the names of entries in nodes that read or write blackboards
	untyped   bool            // an entry that code writes has no type
}

// tree is a BehaviorTree element.
type tree struct {
	id      string
	element *xmltree.Element
	ports   []*port // that its element gives
	root    *node   // nil if it cannot be determined
	roots   []*node // as many as are written; it has one
	frame   bool    // it has places for nodes of its uses
	copied  bool    // it is that of one use of a frame
}

// parser makes a document of a source.
type parser struct {
	*document
	names  map[string][]string // the results of kindNames, once the models are read
	frame  *frame              // whose use is read; nil: none is
	copied int                 // nodes in frames
}

func newParser(src *diag.Source, how reading) *parser {
	return &parser{names: map[string][]string{}, document: &document{reporter: newReporter(src), reading: how,
		trees: map[string]*tree{}, passed: map[string][]string{}, models: map[string]*model{},
		mentioned: map[string]bool{}}}
}

// parse is the first pass: it reads a source, with the files that it includes, into a document, and reports the
// mistakes in what is written.
func parse(src *diag.Source, how reading) *document {
	p := newParser(src, how)
	if root := p.root(); root != nil {
		p.below(root)
	}
	return p.document
}

// root returns the root element of the document, nil if it cannot be determined.
func (p *parser) root() *xmltree.Element {
	doc, found := xmltree.Parse(p.source)
	p.doc, p.complete = doc, doc.Whole
	switch text, root := strings.TrimLeft(p.source.Text, preprocess.Blank), doc.Root; {
	case text == "":
		p.report(0, 0, codeEmpty, preprocess.Wanted, "the file is empty")
		return nil
	case !utf8.ValidString(text):
		p.found = found
		return nil
	case text[0] != '<', root == nil && doc.Whole:
		p.report(0, 0, codeNotXML, preprocess.Wanted, "this is not a plan")
		return nil
	case root != nil && root.Name != elementRoot && doc.Whole:
		p.reportName(root, codeWrongRoot, preprocess.Wanted, "the root element is <%s>, not <root>", root.Name)
		return nil
	}
	p.found = found
	if doc.Root != nil && doc.Root.Name == elementRoot && doc.Whole {
		src, list, whole := preprocess.Document(doc, p.open)
		p.found = append(p.found, list...)
		if src != doc.Source {
			p.source = src
			p.doc, found = xmltree.Parse(src)
			p.found = append(p.found, found...)
			p.complete = whole && p.doc.Whole
		}
	}
	p.strayText(nil, p.doc.Content)
	if p.doc.Root == nil || p.doc.Root.Name != elementRoot { // its tag could not be read
		return nil
	}
	return p.doc.Root
}

// strayText warns of text between the elements, which has no meaning in a plan; old models have descriptions there.
func (p *parser) strayText(in *xmltree.Element, content []xmltree.Node) {
	for _, n := range content {
		switch n.Kind {
		case xmltree.Tags:
			p.strayText(n.Element, n.Element.Content)
		case xmltree.Text, xmltree.CData:
			if in != nil && !strings.HasSuffix(in.Name, "_port") && !p.doc.Blank(n) {
				line := p.doc.FirstLine(n.Span)
				p.warn(line.At, line.Len(), codeStrayText, "write a comment as <!-- ... -->",
					"text between elements has no effect")
			}
		}
	}
}

// below reads the trees and models below the root element.
func (p *parser) below(root *xmltree.Element) {
	p.rootAttributes(root)
	var trees, models []*xmltree.Element
	for e := range root.Elements() {
		switch e.Name {
		case elementTree:
			trees = append(trees, e)
		case elementModels:
			models = slices.AppendSeq(models, e.Elements())
			p.checkAttributes(e, elementModels, nil)
		case elementInclude: // it could not be read
		default:
			hint := diag.DidYouMean(e.Name, []string{elementTree, elementModels})
			if _, isKind := bt.ParseKind(e.Name); isKind || slices.Contains(explicit, e.Name) {
				hint = "put it inside a <BehaviorTree>"
			}
			p.unlessProgram(diag.Diagnostic{Offset: e.At + 1, Length: len(e.Name), Code: codeNode, Hint: hint,
				Text: fmt.Sprintf("<%s> has no meaning directly inside <root>", e.Name)})
		}
	}
	for _, e := range models {
		p.declare(e)
	}
	for _, e := range trees {
		p.declareTree(e, len(trees))
	}
	if len(trees) == 0 && p.complete {
		p.reportName(root, codeNoTree, `write the tree inside <BehaviorTree ID="...">`, "the plan has no tree")
	}
	for _, t := range p.order {
		if !t.frame { // it is read at its uses
			p.readTree(t)
		}
	}
	if p.main = p.mainTree(root); p.main != nil && p.main.frame {
		p.reportName(p.main.element, codeNoMainTree, "use it with children in another tree",
			"a tree with places for children cannot be the main tree")
	}
}

func (p *parser) rootAttributes(root *xmltree.Element) {
	p.checkAttributes(root, elementRoot, []string{attrFormat, attrMain, "project_name"})
	known := []string{preprocess.Format3, preprocess.Format4}
	if format := root.Find(attrFormat); format != nil && !slices.Contains(known, strings.TrimSpace(format.Value)) {
		p.reportValue(format, codeFormat, `versions 3 and 4 are supported: write BTCPP_format="4"`,
			"unknown format version %q", format.Value)
	}
}

func (p *parser) declareTree(e *xmltree.Element, count int) {
	t := &tree{element: e, frame: p.frames(e)}
	for _, a := range e.Attributes {
		if a.Name != "ID" && !strings.HasPrefix(a.Name, "_") {
			t.ports = append(t.ports, &port{name: a.Name, value: a})
		}
	}
	p.checkAttributes(e, elementTree, []string{"ID"}, names(t.ports)...)
	p.order = append(p.order, t)
	id := e.Find("ID")
	if id == nil || id.Value == "" {
		if count > 1 {
			p.reportName(e, codeNoID, "", "the tree has no ID")
		} else {
			t.id = e.Name
			p.trees[t.id] = t
		}
		return
	}
	p.checkName(id)
	t.id = id.Value
	m := p.models[t.id]
	switch first := p.trees[t.id]; {
	case reserved(t.id):
		p.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", t.id)
	case first != nil:
		p.reportValue(id, codeDuplicateID, "", "there is another tree %q %s", t.id, p.where(first.element, e))
		return
	case m != nil && m.kind != elementSubTree:
		p.reportValue(id, codeDuplicateID, "choose another ID", "%q is the %s declared %s", t.id, m.kind,
			p.where(m.element, e))
	}
	p.trees[t.id] = t
}

// mainTree returns the tree that the root element chooses, or the only one.
func (p *parser) mainTree(root *xmltree.Element) *tree {
	choice := root.Find(attrMain)
	if choice != nil {
		t := p.trees[choice.Value]
		if t == nil && p.complete {
			hint := diag.DidYouMean(choice.Value, p.treeIDs())
			if hint == "" && len(p.trees) > 0 {
				hint = "the plan has " + p.quotedTrees(", ")
			}
			p.reportValue(choice, codeNoTree, hint, "there is no tree %q", choice.Value)
		}
		return t
	}
	if len(p.order) == 1 || len(p.trees) == 1 { // of several with one ID, the first
		return p.order[0]
	}
	if len(p.order) > 1 {
		if tops := slices.DeleteFunc(slices.Clone(p.order), func(t *tree) bool {
			_, used := p.passed[t.id]
			return used
		}); len(tops) == 1 {
			p.warn(root.At+1, len(root.Name), codeNoMainTree, "write "+attrMain+"="+strconv.Quote(tops[0].id),
				"the plan does not name its main tree; it is %q, the only one that no other contains", tops[0].id)
			return tops[0]
		}
		p.reportName(root, codeNoMainTree, "write "+attrMain+"="+p.quotedTrees(" or ")+", or give --tree",
			"the plan has %d trees and does not name the main one", max(len(p.trees), 2))
	}
	return nil
}

func (p *parser) treeIDs() []string { return slices.Sorted(maps.Keys(p.trees)) }

// quotedTrees lists the trees that can be the main one.
func (p *parser) quotedTrees(separator string) string {
	var ids []string
	for _, id := range p.treeIDs() {
		ids = append(ids, strconv.Quote(id))
	}
	return strings.Join(ids, separator)
}

func (p *parser) readTree(t *tree) {
	t.roots = p.nodes(t.element)
	if n := len(t.roots); n != 1 && p.doc.Whole {
		p.reportName(t.element, codeChildren, "", "a tree has exactly 1 root node, this one has %d", n)
	}
	if len(t.roots) > 0 {
		t.root = t.roots[0]
	}
}
