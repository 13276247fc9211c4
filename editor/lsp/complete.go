package lsp

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// elements are those of plans, and shapes those of YAML documents; they never change.
var (
	elements = sync.OnceValue(plan.Elements)
	shapes   = map[kind]func() *yamldoc.Shape{
		missionKind: sync.OnceValue(mission.Shape), vehicleKind: sync.OnceValue(equations.Shape),
		graphKind: sync.OnceValue(stategraph.Shape),
	}
)

// item is a proposal.
type item struct {
	Label  string   `json:"label"`
	Detail string   `json:"detail,omitempty"`
	Edit   textEdit `json:"textEdit"`
}

// proposals collects items that replace the word at a position.
type proposals struct {
	items []item
	at    span
	seen  map[string]bool
}

func (p *proposals) add(label, detail string) {
	if label != "" && !p.seen[label] {
		p.seen[label] = true
		p.items = append(p.items, item{label, detail, textEdit{p.at, label}})
	}
}

// complete proposes what may be written at a position.
func (s *server) complete(at request) []item {
	from, _ := wordAt(at.text, at.offset)
	p := &proposals{items: []item{}, at: between(at.text, from, at.offset), seen: map[string]bool{}}
	if kindOf(at.file, at.text) == planKind {
		s.completePlan(p, at)
	} else {
		s.completeYAML(p, at)
	}
	return p.items
}

func (s *server) completePlan(p *proposals, at request) {
	c, ok := cursorIn(at.text, at.offset)
	switch {
	case !ok:
	case c.tag:
		for _, e := range elements() {
			p.add(e.Name, e.Text)
		}
		for _, t := range s.tokens(at.file) {
			if t.role == leafID {
				p.add(t.text, "")
			}
		}
	case c.attribute == "":
		for _, e := range elements() {
			if e.Name == c.element {
				for _, a := range e.Attributes {
					p.add(a.Name, a.Text)
				}
			}
		}
	default:
		s.completeValue(p, at, c)
	}
}

func (s *server) completeValue(p *proposals, at request, c cursor) {
	role := roleOf(c.element, c.attribute)
	switch role {
	case expression:
		s.names(p, at.file, c.written)
	case treeUse, leafID:
		for _, name := range s.group(at.file) {
			for _, t := range s.tokens(name) {
				if t.role == treeID && role == treeUse || t.role == leafID && role == leafID {
					p.add(t.text, "")
				}
			}
		}
	}
}

// names proposes what an expression may name: units inside a bracket, else signals, and tasks.
func (s *server) names(p *proposals, file, written string) {
	v := s.vocabulary(file)
	unit := strings.LastIndexByte(written, '[') > strings.LastIndexByte(written, ']')
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !unit {
			p.add(name, describe(name, v[name]))
			for _, value := range v[name].Values {
				p.add(value, "a value of "+name)
			}
		} else if v[name].Type == expr.Real {
			p.add(v[name].Unit.String(), "")
		}
	}
	if unit {
		return
	}
	for _, name := range s.group(file) {
		for _, t := range s.tokens(name) {
			if t.role == taskName {
				p.add(t.text, "a task")
			}
		}
	}
}

func (s *server) completeYAML(p *proposals, at request) {
	k := kindOf(at.file, at.text)
	if shapes[k] == nil {
		return
	}
	around, key, written := yamlCursor(at.text, at.offset)
	shape := shapes[k]()
	for _, name := range around {
		for shape != nil && shape.Same != nil {
			shape = shape.Same
		}
		switch {
		case shape == nil:
			return
		case name == "-":
			shape = shape.Items
		case shape.Keys[name] != nil:
			shape = shape.Keys[name]
		default:
			shape = shape.Names
		}
	}
	switch {
	case shape == nil:
	case key && shape.Keys != nil:
		for _, name := range slices.Sorted(maps.Keys(shape.Keys)) {
			p.add(name, "")
		}
	case shape.Words != nil:
		for _, word := range shape.Words {
			p.add(word, "")
		}
	case len(around) == 1 && around[0] == "vehicle" && k == missionKind:
		for _, o := range equations.Offers() {
			p.add(o.Name, o.Make().Text)
		}
	default:
		s.names(p, at.file, written)
	}
}

// hover describes what is at a position; nil if there is nothing to say.
func (s *server) hover(at request) any {
	from, to := wordAt(at.text, at.offset)
	word, text := at.text[from:to], ""
	if c, inTag := cursorIn(at.text, to); inTag && c.attribute == "" && kindOf(at.file, at.text) == planKind {
		for _, e := range elements() {
			if c.tag && e.Name == word {
				text = e.Text
			}
			for _, a := range e.Attributes {
				if !c.tag && e.Name == c.element && a.Name == word {
					text = a.Text
				}
			}
		}
	} else if signal, known := s.vocabulary(at.file)[word]; known {
		text = describe(word, signal)
	}
	if text == "" {
		return nil
	}
	return map[string]any{"contents": map[string]string{"kind": "plaintext", "value": text},
		"range": between(at.text, from, to)}
}
