package plan

import (
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Fact is a condition that an action needs or brings about, or its opposite.
type Fact struct {
	Name           string // the ID of a condition
	Not            bool
	Offset, Length int // in the source
}

func (f Fact) String() string {
	if f.Not {
		return "not " + f.Name
	}
	return f.Name
}

// LeafType is the declaration of a leaf type, with its preconditions and effects.
type LeafType struct {
	Kind      bt.Kind // Condition or Action
	Leaf      Leaf    // the attributes of a leaf of the type, with the defaults of its ports
	Pre, Post []Fact  // Action: the facts that it needs and brings about
}

// ReadLeafTypes reads the declarations of leaf types in a plan document, which need not have a tree. The list holds the
// mistakes in them; if one of them is an error there are no types.
func ReadLeafTypes(src *diag.Source) ([]LeafType, diag.List) {
	p := newParser(src, reading{limits: widest})
	root := p.root()
	var types []LeafType
	if root != nil {
		p.rootAttributes(root)
		types = p.leafTypes(root)
	}
	list := p.found.Sorted()
	if list.HasErrors() {
		return nil, list
	}
	return types, list
}

// leafTypes reads each declaration as if a leaf without attributes used it.
func (p *parser) leafTypes(root *xmltree.Element) []LeafType {
	c := newCompiler(p.document)
	var types []LeafType
	for e := range root.Elements() {
		if e.Name != elementModels {
			continue
		}
		for d := range e.Elements() {
			p.declare(d)
			id := d.Find("ID")
			if id == nil || p.models[id.Value] == nil || p.models[id.Value].element != d {
				continue
			}
			m := p.models[id.Value]
			use := &node{element: &xmltree.Element{Name: d.Name, Span: d.Span, Tag: d.Tag}, id: m.id, name: m.id, model: m}
			if use.kind, _ = bt.ParseKind(m.kind); m.leaf() {
				types = append(types, LeafType{use.kind, c.leaf(use, environment{}), m.pre, m.post})
			}
		}
	}
	return types
}

// facts reads an attribute that lists facts.
func (r *reporter) facts(e *xmltree.Element, name string) []Fact {
	a := e.Find(name)
	if a == nil {
		return nil
	}
	return r.parseFacts(a.Value, a.Inside)
}

// ParseFacts reads a list of facts, such as a goal: names of conditions, each with or without `not` before it, with
// `and` between them. If there are mistakes there are no facts.
func ParseFacts(src *diag.Source) ([]Fact, diag.List) {
	r := newReporter(src)
	facts := r.parseFacts(src.Text, func(offset, length int) (int, int) { return offset, length })
	if len(r.found) > 0 {
		return nil, r.found.Sorted()
	}
	return facts, nil
}

// parseFacts reads a list of facts; span returns the place of bytes of the text in the source.
func (r *reporter) parseFacts(text string, span func(offset, length int) (at, n int)) []Fact {
	var facts []Fact
	const wanted = `write names of conditions, "not" before a name, "and" between them`
	refuse := func(offset, length int, problem string) {
		at, n := span(offset, length)
		r.report(at, n, codeFacts, wanted, "%s", problem)
	}
	offset, first, not := 0, -1, false
	wantName := true
	for word := range strings.FieldsSeq(text) {
		offset += strings.Index(text[offset:], word)
		switch {
		case wantName && word == "not" && !not:
			not, first = true, offset
		case wantName && expr.IsName(word):
			if !not {
				first = offset
			}
			at, n := span(first, offset+len(word)-first)
			facts = append(facts, Fact{word, not, at, n})
			not, wantName = false, false
		case !wantName && word == "and":
			wantName = true
		default:
			refuse(offset, len(word), "the list of facts should end before \""+word+"\"")
			return nil
		}
		offset += len(word)
	}
	if wantName {
		refuse(len(text), 0, "the list of facts ends too early")
		return nil
	}
	for i, f := range facts {
		for _, g := range facts[:i] {
			if f.Name == g.Name {
				r.report(f.Offset, f.Length, codeFacts, "keep one of them", "%q is in the list twice", f.Name)
			}
		}
	}
	return facts
}
