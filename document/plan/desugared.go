package plan

import (
	"io"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Desugared writes the result of the second pass as a document: the tasks for which the plan's nodes stand, with each
// subtree inside of its use. It shows what is read; of the leaves of loops and counters it names the step, which no
// element of a plan has. It returns the error of the writer.
func Desugared(w io.Writer, p *Plan) error {
	d := parse(p.Source, reading{})
	desugar(d)
	d.includes()
	root := xmltree.New(elementRoot, attrFormat, preprocess.Format4)
	if main := inline(d); main != nil {
		root.With(xmltree.New(elementTree, "ID", d.main.id).With(main.within(nil)))
	}
	_, err := io.WriteString(w, diag.VisibleLines(root.String())+"\n")
	return err
}

// within returns the element of an instance in a scope: in the uses of the subtrees of which it is the root.
func (i *instance) within(around *scope) *xmltree.Markup {
	m := i.markup()
	for s := around; s != nil; s = s.outer { // a child of a frame, too
		if s == i.scope {
			return m
		}
	}
	for s := i.scope; s != around && s.outer != nil; s = s.outer {
		use := &xmltree.Markup{Name: elementSubTree, Children: []*xmltree.Markup{m}}
		if s.use.element.Name != elementSubTree && s.use.element.Find("ID") == nil {
			use.Add("ID", s.use.id)
		}
		for _, a := range s.use.element.Attributes {
			if _, rewritten := attributed[a.Name]; !rewritten {
				use.Add(a.Name, a.Value)
			}
		}
		m = use
	}
	return m
}

func (i *instance) markup() *xmltree.Markup {
	m := &xmltree.Markup{Name: i.kind.String()}
	leaf := i.kind.Family() == bt.Leaf
	id := m.Name
	if _, named := accesses[i.id]; named {
		m.Name, id = i.id, i.id
	} else if leaf && i.id != m.Name {
		m.Add("ID", i.id)
		id = i.id
	}
	if i.name != id {
		m.Add("name", i.name)
	}
	for k, value := range i.params {
		p := &i.kind.Params()[k]
		absent, _ := p.Resolve(p.Default, len(i.below))
		switch resolved, _ := p.Resolve(value, len(i.below)); {
		case slices.Contains(i.entries, k), p.Type == bt.Resource:
			m.Add(p.Name, i.element.Find(p.Name).Value)
		case p.Default == 0 || resolved != absent:
			m.Add(p.Name, p.Write(value))
		}
	}
	if leaf {
		i.describe(m)
	}
	for _, c := range i.below {
		m.Children = append(m.Children, c.within(i.scope))
	}
	return m
}

// describe adds what a leaf does.
func (i *instance) describe(m *xmltree.Markup) {
	add := func(names []string) {
		for _, a := range i.element.Attributes {
			if slices.Contains(names, a.Name) {
				m.Add(a.Name, a.Value)
			}
		}
	}
	switch a := i.access; {
	case i.script:
		m.Name = elementScriptCondition
		m.Add(attrCode, i.element.Find(attrOn).Value)
	case a != nil && a.does != nil:
		a.does.describe(m)
	case a != nil && i.id == elementCondition:
		m.Add("updated", a.watches)
	default:
		add(i.says())
	}
	if i.kind.Acts() && !i.wrapped {
		add(requests)
	}
}
