package plan

import (
	"strconv"

	"canopy/bt"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// attrMargin is the attribute of a selector by utilities by which one must exceed another to take its place.
const attrMargin = "margin"

// utilityNames returns the attributes of a kind by which its first conditions may be written.
func utilityNames(k bt.Kind) []string {
	names := []string{attrMargin}
	for n := range k.Ranked() {
		names = append(names, "utility_"+strconv.Itoa(n+1))
	}
	return names
}

// utilities replaces the utilities of a selector's children by conditions before them: each compares two of them, with
// a hysteresis of the margin. It reports whether there were any.
func (r *reader) utilities(i *item) bool {
	n := i.kind.Ranked()
	names := utilityNames(i.kind)[min(n, 1):]
	var of []*xmltree.Attribute
	for _, name := range names {
		if a := i.element.Find(name); a != nil {
			of = append(of, a)
		}
	}
	if len(of) == 0 {
		return false
	}
	if len(of) < n {
		for _, name := range names {
			if i.element.Find(name) == nil {
				r.reportMissing(i.element, codeCount, i.kind.String(), name, "...")
			}
		}
		return true
	}
	if len(i.children) != n {
		if r.doc.Whole {
			r.reportName(i.element, codeChildren, "one for each utility", "%s of utilities needs %d children, this one has %d",
				i.kind, n, len(i.children))
		}
		return true
	}
	margin := i.element.Find(attrMargin)
	for _, a := range append(of, margin) {
		if a != nil && !r.parses(a) {
			return true
		}
	}
	if margin != nil {
		if e, err := expr.Parse(margin.Value); err == nil && negative(e) {
			r.reportValue(margin, codeCount, "write 0 or more", "a margin cannot be negative")
		}
	}
	var children []*item
	for a := range n {
		for b := a + 1; b < n; b++ {
			children = append(children, comparison(i, of[a], of[b], margin,
				i.children[b].task().name+"_over_"+i.children[a].task().name))
		}
	}
	i.children = append(children, i.children...)
	return true
}

// utilitySelector makes the selector by utilities that has as many children as are written.
func (r *reader) utilitySelector(i *item) {
	n := len(i.written)
	for _, k := range []bt.Kind{bt.UtilitySelector2, bt.UtilitySelector3, bt.UtilitySelector4} {
		if k.Ranked() != n {
			continue
		}
		i.kind = k
		if !r.utilities(i) {
			r.reportMissing(i.element, codeCount, i.kind.String(), "utility_1", "...")
		}
		for _, name := range utilityNames(bt.UtilitySelector4)[n+1:] {
			if a := i.element.Find(name); a != nil {
				r.reportAttribute(a, codeChildren, "", "%s has %d children", elementUtilitySelector, n)
			}
		}
		return
	}
	if r.doc.Whole {
		r.reportName(i.element, codeChildren, "", "%s needs 2 to 4 children, this one has %d", elementUtilitySelector, n)
	}
	i.kind, i.unknown = bt.Sequence, true
}

// parses reports whether an attribute is an expression: a mistake is reported where it is, not in all conditions that
// contain it.
func (r *reader) parses(a *xmltree.Attribute) bool {
	_, err := expr.Parse(a.Value)
	r.reportSyntax(a, err)
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
func comparison(i *item, a, b, margin *xmltree.Attribute, name string) *item {
	if margin == nil {
		return newCondition(i.element, name, xmltree.Compose(attrOn, "(%) > (%)", b, a))
	}
	return newCondition(i.element, name, xmltree.Compose(attrOn, "(%) - (%) > (%)", b, a, margin),
		xmltree.Compose(attrOff, "(%) - (%) > (%)", a, b, margin))
}
