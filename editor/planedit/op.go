package planedit

import (
	"errors"

	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Op is what a person does with an element of a plan.
type Op struct {
	Do   string `json:"do"`   // add, paste, delete, move, wrap, unwrap, set, unset, toggle or extract
	Task int    `json:"task"` // the number of the element in Plan.Elements; of add and paste: none
	Place

	Element string `json:"element"` // add, wrap: the name of the new element
	ID      string `json:"id"`      // of the new element; "": none
	Include string `json:"include"` // add: what declares the new element and must be included; "": nothing
	Text    string `json:"text"`    // paste: elements
	Name    string `json:"name"`    // set, unset: of an attribute; extract: of the new tree
	Value   string `json:"value"`   // set
}

// Change is what an Op changes in a text.
type Change struct {
	Text   string // after the edits
	Edits  []xmltree.Edit
	Select int // the element that a person goes on with, in Plan.Elements of that text
}

// Do returns what an Op changes. Extract explains the meaning. The error tells a person why nothing can be changed.
func (p *Plan) Do(op Op, meaning func(text string) (string, error)) (*Change, error) {
	edits, err := p.edits(op, meaning)
	if err != nil {
		return nil, err
	}
	text, err := p.Apply(edits...)
	if err != nil {
		return nil, err
	}
	after, err := Read(text)
	if err != nil {
		return nil, errors.New("the text would not be well-formed after this")
	}
	return &Change{text, edits, p.next(op, edits, after)}, nil
}

func (p *Plan) edits(op Op, meaning func(text string) (string, error)) ([]xmltree.Edit, error) {
	switch op.Do {
	case "add":
		m, err := op.markup()
		if err != nil {
			return nil, err
		}
		edits, err := p.Add(op.Place, m)
		if err == nil && op.Include != "" {
			edits = append(p.including(op.Include), edits...)
		}
		return edits, err
	case "paste":
		m, err := xmltree.Copy(op.Text)
		if err != nil {
			return nil, err
		}
		return p.Add(op.Place, m)
	case "delete":
		return p.Delete(op.Task)
	case "move":
		return p.Move(op.Task, op.Place)
	case "wrap":
		m, err := op.markup()
		if err != nil {
			return nil, err
		}
		return p.Wrap(op.Task, m)
	case "unwrap":
		return p.Unwrap(op.Task)
	case "set":
		return p.Set(op.Task, op.Name, op.Value)
	case "unset":
		return p.Unset(op.Task, op.Name)
	case "toggle":
		return p.Toggle(op.Task)
	case "extract":
		return p.Extract(op.Task, op.Name, meaning)
	}
	return nil, errors.New("there is no operation " + op.Do)
}

// markup returns the new element.
func (op *Op) markup() (*xmltree.Markup, error) {
	if !xmltree.IsName(op.Element) {
		return nil, errors.New("an element cannot have the name " + op.Element)
	}
	m := xmltree.New(op.Element)
	if op.ID != "" {
		m.Add(id, op.ID)
	}
	return m, nil
}

// next returns the element that a person goes on with: the new or the moved one, or one beside a deleted one.
func (p *Plan) next(op Op, edits []xmltree.Edit, after *Plan) int {
	switch op.Do {
	case "add", "paste", "move":
		if len(edits) == 0 {
			break
		}
		last := edits[len(edits)-1]
		at := last.At
		for _, e := range edits[:len(edits)-1] {
			if e.At < last.At {
				at += len(e.New) - e.Len()
			}
		}
		for i, e := range after.Elements {
			if e.At >= at {
				return i
			}
		}
	case "delete":
		return p.instead(op.Task)
	}
	return op.Task
}

// instead returns what is selected when an element is gone: the next one beside it, else the previous one, else the one
// around it.
func (p *Plan) instead(i int) int {
	beside := -1
	for k, parent := range p.Parents {
		switch {
		case parent != p.Parents[i] || k == i:
		case k < i:
			beside = k
		default:
			return i // it gets that number
		}
	}
	return max(beside, p.Parents[i])
}
