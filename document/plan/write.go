package plan

import (
	"io"
	"regexp"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// New returns the plan of a description and of its leaves, from left to right, as if the document that Write writes for
// it had been read; that document is the plan's source. Of a leaf, the ID and the expressions are used; without an ID
// it has its kind's name. The name is the main tree's ID and may be empty. The list holds the diagnostics of Read for
// the document without a vocabulary; if there is an error, such as an impossible count of a parallel, there is no plan.
func New(name string, root *bt.Node, leaves []Leaf) (*Plan, diag.List) {
	if name == "" {
		name = elementTree
	}
	src := &diag.Source{Name: name + ".xml", Text: encode(name, root, leaves, nil)}
	return reading{limits: widest, exact: true}.plan(src)
}

// Write writes a plan as a document that is read as the same plan: subtrees and ports expanded, expressions in
// canonical spelling. Comments and notes of editors are not kept. A plan with entries of the blackboard has no such
// document: what its scripts do is written as assignments of actions, for comparison only. It returns the error of the
// writer.
func Write(w io.Writer, p *Plan) error {
	_, err := io.WriteString(w, encode(p.Name, p.Description(), p.Leaves, p.resources))
	return err
}

// Description returns the tree in the form of [bt.Compile] and [New].
func (p *Plan) Description() *bt.Node { return p.describe(p.Tree.Root()) }

func (p *Plan) describe(t bt.Task) *bt.Node {
	n := &bt.Node{Kind: p.Tree.Kind(t), Name: p.labels[t], Params: p.Tree.Params(t)}
	n.Prompt = n.Kind.Acts() && p.Tree.Prompt(t)
	for _, c := range p.Tree.Children(t) {
		n.Children = append(n.Children, p.describe(c))
	}
	return n
}

func encode(name string, described *bt.Node, leaves []Leaf, resources []string) string {
	join := joiner{resources: resources, leaves: leaves, foreign: map[string]bool{}}
	top := join.markup(described)
	if len(join.leaves) > 0 {
		panic("plan: a description has fewer leaves than are given")
	}
	root := xmltree.New(elementRoot, attrFormat, preprocess.Format4, attrMain, name)
	root.Spaced = true
	if len(join.models) > 0 {
		root.With(xmltree.New(elementModels).With(join.models...))
	}
	return root.With(xmltree.New(elementTree, "ID", name).With(top)).Document()
}

// joiner joins tasks with the descriptions of leaves.
type joiner struct {
	resources []string // their names, by their number from 1
	leaves    []Leaf   // those that are still to come
	foreign   map[string]bool
	models    []*xmltree.Markup // declarations of leaf types
}

// markup returns the element of a task with those below it.
func (j *joiner) markup(n *bt.Node) *xmltree.Markup {
	m := &xmltree.Markup{Name: n.Kind.String()}
	var leaf Leaf
	id := m.Name // its name if it has no `name`
	if n.Kind.Family() == bt.Leaf {
		if len(j.leaves) == 0 {
			panic("plan: a description has more leaves than are given")
		}
		if leaf, j.leaves = j.leaves[0], j.leaves[1:]; leaf.ID != "" && leaf.ID != id {
			id = leaf.ID
			j.declare(m.Name, id)
			m.Add("ID", id)
		}
	}
	if n.Name != "" && n.Name != id {
		m.Add("name", n.Name)
	}
	for i, value := range n.Params {
		p := &n.Kind.Params()[i]
		absent, _ := p.Resolve(p.Default, len(n.Children))
		if resolved, ok := p.Resolve(value, len(n.Children)); !ok || p.Default == 0 || resolved != absent {
			m.Add(p.Name, param(p, value, j.resources))
		}
	}
	for _, p := range leaf.Ports {
		m.Add(p.Name, p.Value)
	}
	for _, d := range leaf.details() {
		m.Add(d.Name, Words(d.Value))
	}
	for _, c := range n.Children {
		m.With(j.markup(c))
	}
	return m
}

// declare declares a leaf type with the name of a node that plans do not have, or of a shorthand: otherwise the name
// would mean that node.
func (j *joiner) declare(form, id string) {
	if _, foreign := foreignNodes[id]; (foreign || shorthands[id] != nil) && !j.foreign[id] {
		j.foreign[id] = true
		j.models = append(j.models, xmltree.New(form, "ID", id))
	}
}

// parts matches the parts of an expression that are no texts, and its texts, which may lack their end.
var parts = regexp.MustCompile(`[^"']+|"[^"]*"?|'[^']*'?`)

// Words returns an expression with words in the place of signs between blanks that are hard to read in XML.
func Words(e string) string {
	words := strings.NewReplacer(" <= ", " le ", " < ", " lt ", " >= ", " ge ", " > ", " gt ", " && ", " and ")
	return parts.ReplaceAllStringFunc(e, func(part string) string {
		if part[0] == '"' || part[0] == '\'' { // of a text, which is preserved
			return part
		}
		return words.Replace(part)
	})
}
