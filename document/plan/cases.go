package plan

import (
	"strconv"

	"canopy/bt"
	"canopy/syntax/xmltree"
)

// attrVariable is the attribute of a switch whose cases are values of a variable.
const attrVariable = "variable"

// caseNames returns the attributes of a kind by which its first conditions may be written.
func caseNames(k bt.Kind) []string {
	names := []string{attrVariable}
	for n := range k.Cases() {
		names = append(names, "case_"+strconv.Itoa(n+1))
	}
	return names
}

// hasCases reports whether a node is a switch over a variable.
func (n *node) hasCases() bool { return n.kind.Cases() > 0 && n.element.Find(attrVariable) != nil }

// cases writes the attributes of a switch over a variable as conditions among its children: each is true while the
// variable equals the case.
func (d *desugarer) cases(n *node) *node {
	if !n.hasCases() {
		return n
	}
	names, variable := caseNames(n.kind), n.element.Find(attrVariable)
	if count := len(n.children); d.doc.Whole && count != len(names) {
		d.reportName(n.element, codeChildren, "the last one is for any other value",
			"%s of a variable needs %d children, this one has %d", n.kind, len(names), count)
		return n
	}
	var children []*node
	for k, name := range names[1:] {
		value := n.element.Find(name)
		if value == nil {
			d.reportMissing(n.element, codeCount, n.kind.String(), name, "...")
			value = variable
		}
		children = append(children, newCondition(n.element, name, xmltree.Equation(attrOn, variable, value)))
		if k < len(n.children) {
			children = append(children, n.children[k])
		}
	}
	n.children = append(children, n.children[min(len(names)-1, len(n.children)):]...)
	return n
}
