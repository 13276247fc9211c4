package plan

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// The selector by the utilities of its children, and the attribute by which one must exceed another to take its place.
const (
	elementUtilitySelector = "UtilitySelector"

	attrMargin = "margin"
)

// comparisonNames returns the attributes of a kind by which its first conditions may be written, none if there are no
// such: the variable of a switch with its cases, the margin of a selector with the utilities of its children.
func comparisonNames(k bt.Kind) []string {
	var names []string
	for n := range k.Cases() {
		names = append(names, fmt.Sprint("case_", n+1))
	}
	for n := range k.Ranked() {
		names = append(names, fmt.Sprint("utility_", n+1))
	}
	switch {
	case k.Cases() > 0:
		return slices.Insert(names, 0, attrVariable)
	case k.Ranked() > 0:
		return slices.Insert(names, 0, attrMargin)
	}
	return nil
}

// hasUtilities reports whether a node is a selector whose conditions are written as utilities.
func (n *node) hasUtilities() bool {
	return n.kind.Ranked() > 0 && len(n.given(comparisonNames(n.kind)[1:])) > 0
}

// given returns the attributes of a node among some names, in their order.
func (n *node) given(names []string) []*xmltree.Attribute {
	var list []*xmltree.Attribute
	for _, name := range names {
		if a := n.element.Find(name); a != nil {
			list = append(list, a)
		}
	}
	return list
}

// utilities writes the utilities of a selector's children as conditions before them: each compares two of them, with a
// hysteresis of the margin.
func (d *desugarer) utilities(n *node) *node {
	if !n.hasUtilities() {
		return n
	}
	count, names := n.kind.Ranked(), comparisonNames(n.kind)[1:]
	of := n.given(names)
	if len(of) < count {
		for _, name := range names {
			if n.element.Find(name) == nil {
				d.reportMissing(n.element, codeCount, n.kind.String(), name, "...")
			}
		}
		return n
	}
	if !d.counted(n, len(n.children) == count, n.kind.String()+" of utilities", fmt.Sprintf("%d children", count),
		"one for each utility") {
		return n
	}
	margin := n.element.Find(attrMargin)
	for _, a := range append(of, margin) {
		if a != nil && !d.parses(a) {
			return n
		}
	}
	if margin != nil {
		if e, err := expr.Parse(margin.Value); err == nil && negative(e) {
			d.reportValue(margin, codeCount, "write 0 or more", "a margin cannot be negative")
		}
	}
	var children []*node
	for a := range count {
		for b := a + 1; b < count; b++ {
			children = append(children, comparison(n, of[a], of[b], margin,
				n.children[b].task().name+"_over_"+n.children[a].task().name))
		}
	}
	n.children = append(children, n.children...)
	return n
}

// utilitySelector makes the selector by utilities that has as many children as are written.
func (d *desugarer) utilitySelector(n *node) {
	count := len(n.children)
	n.kind = []bt.Kind{bt.UtilitySelector2, bt.UtilitySelector3, bt.UtilitySelector4}[count-2]
	if !n.hasUtilities() { // they are written as conditions like those of its kind
		d.reportMissing(n.element, codeCount, n.kind.String(), "utility_1", "...")
	}
	for _, a := range n.given(comparisonNames(bt.UtilitySelector4)[count+1:]) {
		d.reportAttribute(a, codeChildren, "", "%s has %d children", elementUtilitySelector, count)
	}
}

// parses reports whether an attribute is an expression: a mistake is reported where it is, not in all conditions that
// contain it.
func (d *desugarer) parses(a *xmltree.Attribute) bool {
	_, err := expr.Parse(a.Value)
	d.reportSyntax(a, err)
	return err == nil
}

// negative reports whether an expression is a negative constant.
func negative(e *expr.Expr) bool {
	if len(e.Names()) > 0 || len(e.CheckFor(expr.Number(expr.AnyUnit), nil)) > 0 {
		return false
	}
	value, _ := e.Constant()
	return value < 0
}

// comparison returns the condition that the utility b has exceeded a, and a not b since then, by more than a margin.
func comparison(n *node, a, b, margin *xmltree.Attribute, name string) *node {
	if margin == nil {
		return n.newCondition(name, xmltree.Compose(attrOn, "(%) > (%)", b, a))
	}
	return n.newCondition(name, xmltree.Compose(attrOn, "(%) - (%) > (%)", b, a, margin),
		xmltree.Compose(attrOff, "(%) - (%) > (%)", a, b, margin))
}
