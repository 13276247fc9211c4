package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Element is an element that plans may contain.
type Element struct {
	Name, Text string
	Attributes []Attribute // in the order in which messages name them
	Open       bool        // it may have more: its ports
	Leaf       bool        // it has no elements inside
	Declares   bool        // the elements inside are declarations
}

// Attribute is an attribute of an element. Its text may be empty.
type Attribute struct{ Name, Text string }

// Elements returns the elements that the reader knows, by name. Other leaves are elements, too: a plan declares them.
func Elements() []Element {
	list := map[string]*Element{elementTree: {Open: true}}
	for _, name := range explicit {
		list[name] = &Element{Open: true}
	}
	for name := range accesses {
		list[name] = &Element{Leaf: true}
	}
	for name, s := range shorthands {
		list[name] = &Element{Open: s.of == foreign}
	}
	for _, k := range bt.Kinds() {
		if !k.Attributed() && list[k.String()] == nil {
			list[k.String()] = &Element{Leaf: k.Family() == bt.Leaf || k.Childless()}
		}
	}
	body := xmltree.New(elementTree, "ID", elementTree)
	for name, e := range list {
		e.Name = name
		m := xmltree.New(name)
		if name == elementSubTree {
			m = xmltree.New(name, "ID", elementTree)
		}
		body.Children = append(body.Children, m)
	}
	list[elementRoot] = &Element{Name: elementRoot}
	list[elementModels] = &Element{Name: elementModels, Declares: true}
	text := xmltree.New(elementRoot).With(body, xmltree.New(elementModels)).Document()
	parse(&diag.Source{Text: text}, reading{observe: func(x *xmltree.Element, attributes []string) {
		e := list[x.Name]
		k, isKind := bt.ParseKind(x.Name)
		params := map[string]string{}
		if isKind {
			e.Text = k.Text()
			for _, p := range k.Params() {
				if params[p.Name] = p.Text; p.Unit != "" {
					params[p.Name] += " [" + p.Unit + "]"
				}
			}
		}
		for _, name := range slices.Concat(attributes, editorAttributes) {
			e.Attributes = append(e.Attributes, Attribute{name, cmp.Or(params[name], textOf(x.Name, name))})
		}
	}})
	var all []Element
	for _, name := range slices.Sorted(maps.Keys(list)) {
		list[name].Text = cmp.Or(list[name].Text, texts[name])
		all = append(all, *list[name])
	}
	return all
}
