// Package planedit changes the tree of a plan by edits of its text. An edit changes what it must: comments, order and
// blanks stay. The plan may have mistakes, but is well-formed.
package planedit

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Plan is the text of a plan with what a person edits in it.
type Plan struct {
	*xmltree.Document
	Elements []*xmltree.Element // the root, its trees, and their tasks, as they are written
	Parents  []int              // of each element; -1: it has none
}

// Where is a place beside an element.
type Where string

// The places.
const (
	Into   Where = "into" // at the end
	Before Where = "before"
	After  Where = "after"
)

// Place is where an element gets, in relation to one of the plan.
type Place struct {
	Task  int   `json:"to"`
	Where Where `json:"where"`
}

// ErrNotWhole reports a text that is not well-formed.
var ErrNotWhole = errors.New("the text is not well-formed: mend it first")

// Names of elements and attributes.
const (
	tree, subtree, models, include = "BehaviorTree", "SubTree", "TreeNodesModel", "include"
	id, skip, remap, mainTree      = "ID", "_skipIf", "_autoremap", "main_tree_to_execute"
)

// Read returns a plan. The error is ErrNotWhole.
func Read(text string) (*Plan, error) {
	p := &Plan{}
	var found diag.List
	if p.Document, found = xmltree.Parse(&diag.Source{Text: text}); !p.Whole || p.Root == nil || found.HasErrors() {
		return nil, ErrNotWhole
	}
	p.add(p.Root, -1)
	return p, nil
}

// add adds an element with those in it.
func (p *Plan) add(e *xmltree.Element, parent int) {
	if parent == 0 && (e.Name == models || e.Name == include) {
		return
	}
	i := len(p.Elements)
	p.Elements, p.Parents = append(p.Elements, e), append(p.Parents, parent)
	for c := range e.Elements() {
		p.add(c, i)
	}
}

// task returns an element below a tree; the error says why an index is none.
func (p *Plan) task(i int) (*xmltree.Element, error) {
	switch {
	case i < 0 || i >= len(p.Elements):
		return nil, fmt.Errorf("the plan has no element %d", i)
	case p.Parents[i] < 0:
		return nil, errors.New("a plan has one root element")
	}
	return p.Elements[i], nil
}

// Add adds markup at a place.
func (p *Plan) Add(to Place, m *xmltree.Markup) ([]xmltree.Edit, error) {
	parent, before, err := p.place(to)
	if err != nil {
		return nil, err
	}
	return []xmltree.Edit{p.Insert(parent, before, m)}, nil
}

// including returns the edits that include a file, and that name the main tree: a plan that includes trees must.
func (p *Plan) including(path string) []xmltree.Edit {
	var first *xmltree.Element
	var trees []string
	for e := range p.Root.Elements() {
		if first == nil {
			first = e
		}
		if a := e.Find("path"); e.Name == include && a != nil && a.Value == path {
			return nil
		}
		if a := e.Find(id); e.Name == tree && a != nil {
			trees = append(trees, a.Value)
		}
	}
	edits := []xmltree.Edit{p.Insert(p.Root, first, xmltree.New(include, "path", path))}
	if p.Root.Find(mainTree) == nil && len(trees) == 1 {
		edits = append(edits, p.Document.Set(p.Root, mainTree, trees[0]))
	}
	return edits
}

// place returns the element in which a place is, and the one there that it precedes; nil: none.
func (p *Plan) place(to Place) (parent, before *xmltree.Element, err error) {
	if to.Where == Into && 0 <= to.Task && to.Task < len(p.Elements) {
		return p.Elements[to.Task], nil, nil
	}
	near, err := p.task(to.Task)
	if err != nil {
		return nil, nil, err
	}
	if to.Where == After {
		return near.Parent, after(near), nil
	}
	return near.Parent, near, nil
}

// after returns the element that follows another one in the same element; nil: none.
func after(e *xmltree.Element) *xmltree.Element {
	all := slices.Collect(e.Parent.Elements())
	if i := slices.Index(all, e) + 1; i < len(all) {
		return all[i]
	}
	return nil
}

// Delete removes an element with what is in it.
func (p *Plan) Delete(i int) ([]xmltree.Edit, error) {
	e, err := p.task(i)
	if err != nil {
		return nil, err
	}
	return []xmltree.Edit{p.Cut(e)}, nil
}

// Move moves an element to a place. There are no edits if it is there.
func (p *Plan) Move(i int, to Place) ([]xmltree.Edit, error) {
	e, err := p.task(i)
	if err != nil {
		return nil, err
	}
	parent, before, err := p.place(to)
	if err != nil {
		return nil, err
	}
	if (e.Name == tree) != (parent == p.Root) {
		return nil, errors.New("trees stand beside each other, and tasks in trees")
	}
	for x := parent; x != nil; x = x.Parent {
		if x == e {
			return nil, errors.New("a task cannot be moved into itself")
		}
	}
	if parent == e.Parent && (before == e || before == after(e)) {
		return nil, nil
	}
	m, err := p.Copy(p.Block(e))
	if err != nil {
		return nil, err
	}
	return []xmltree.Edit{p.Cut(e), p.Insert(parent, before, m)}, nil
}

// Wrap puts an element into a new one.
func (p *Plan) Wrap(i int, around *xmltree.Markup) ([]xmltree.Edit, error) {
	e, err := p.task(i)
	if err != nil {
		return nil, err
	}
	if e.Name == tree {
		return nil, errors.New("a tree is in no other element: wrap its root")
	}
	m, err := p.Copy(e.Span)
	if err != nil {
		return nil, err
	}
	return []xmltree.Edit{p.Replace(e, around.With(m))}, nil
}

// Unwrap replaces an element by what is in it.
func (p *Plan) Unwrap(i int) ([]xmltree.Edit, error) {
	e, err := p.task(i)
	if err != nil {
		return nil, err
	}
	if e.Name == tree {
		return nil, errors.New("a tree has no other element around it")
	}
	for range e.Elements() {
		m, err := p.Copy(xmltree.Span{At: e.Tag.End, End: e.Close.At})
		if err != nil {
			return nil, err
		}
		return []xmltree.Edit{p.Replace(e, m)}, nil
	}
	return nil, fmt.Errorf("<%s> contains no task", e.Name)
}

// Set gives an attribute of an element a value.
func (p *Plan) Set(i int, name, value string) ([]xmltree.Edit, error) {
	if i < 0 || i >= len(p.Elements) || !xmltree.IsName(name) {
		return nil, fmt.Errorf("element %d cannot have an attribute %q", i, name)
	}
	return []xmltree.Edit{p.Document.Set(p.Elements[i], name, value)}, nil
}

// Unset removes an attribute of an element.
func (p *Plan) Unset(i int, name string) ([]xmltree.Edit, error) {
	if i < 0 || i >= len(p.Elements) || p.Elements[i].Find(name) == nil {
		return nil, fmt.Errorf("element %d has no attribute %q", i, name)
	}
	return []xmltree.Edit{p.Document.Unset(p.Elements[i], name)}, nil
}

// Disabled reports whether a task is always skipped.
func (p *Plan) Disabled(i int) bool {
	a := p.Elements[i].Find(skip)
	return a != nil && a.Value == "true"
}

// Toggle lets a task be always skipped, or no longer.
func (p *Plan) Toggle(i int) ([]xmltree.Edit, error) {
	e, err := p.task(i)
	switch {
	case err != nil:
		return nil, err
	case e.Name == tree:
		return nil, errors.New("a tree cannot be skipped: disable its root")
	case p.Disabled(i):
		return p.Unset(i, skip)
	case e.Find(skip) != nil:
		return nil, fmt.Errorf("the task has %s already: wrap it in a Sequence, and disable that", skip)
	}
	return p.Set(i, skip, "true")
}

// Extract replaces a task by the use of a new tree that contains it, at the end of the plan. The use passes on entries
// and ports if it must: what the plan means, which a function returns of a text as [Meaning] does, stays the same.
func (p *Plan) Extract(i int, name string, meaning func(text string) (string, error)) ([]xmltree.Edit, error) {
	e, err := p.task(i)
	if err != nil {
		return nil, err
	}
	if e.Name == tree || name == "" {
		return nil, errors.New("select a task, and give the new tree a name")
	}
	before, err := meaning(p.Source.Text)
	if err != nil {
		return nil, fmt.Errorf("the plan has a mistake: %w", err)
	}
	m, err := p.Copy(e.Span)
	if err != nil {
		return nil, err
	}
	last := e
	for last.Parent != p.Root {
		last = last.Parent
	}
	for c := range p.Root.Elements() {
		if c.Name == tree {
			last = c
		}
	}
	for _, use := range []*xmltree.Markup{xmltree.New(subtree, id, name), xmltree.New(subtree, id, name, remap, "true")} {
		edits := []xmltree.Edit{p.Replace(e, use), p.Insert(p.Root, after(last), xmltree.New(tree, id, name).With(m))}
		var text, now string
		if text, err = p.Apply(edits...); err != nil {
			return nil, err
		}
		if now, err = meaning(text); err == nil && now == before {
			return edits, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("with the new tree, the plan has a mistake: %w", err)
	}
	return nil, errors.New("with the new tree, the plan would do something else")
}

var word = regexp.MustCompile(`[\pL\pN_.]+`)

// Meaning returns what a plan does: its tasks with all that they are made of. The names of entries are replaced: they
// tell in which tree an entry is.
func Meaning(p *plan.Plan) (string, error) {
	var b strings.Builder
	err := plan.Write(&b, p)
	names := map[string]string{}
	for _, e := range p.Entries {
		names[e.Name] = ""
	}
	n := 0
	return word.ReplaceAllStringFunc(b.String(), func(w string) string {
		name, known := names[w]
		if !known {
			return w
		}
		if name == "" {
			n++
			name = fmt.Sprint("entry", n)
			names[w] = name
		}
		return name
	}), err
}
