package plan

import (
	"fmt"

	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// attrVariable is the attribute of a switch whose cases are values of a variable.
const attrVariable = "variable"

// hasCases reports whether a node is a switch over a variable.
func (n *node) hasCases() bool { return n.kind.Cases() > 0 && n.element.Find(attrVariable) != nil }

// cases writes the attributes of a switch over a variable as conditions among its children: each is true while the
// variable equals the case.
func (d *desugarer) cases(n *node) *node {
	if !n.hasCases() {
		return n
	}
	names, variable := comparisonNames(n.kind), n.element.Find(attrVariable)
	if !d.counted(n, len(n.children) == len(names), n.kind.String()+" of a variable",
		fmt.Sprintf("%d children", len(names)), "the last one is for any other value") && d.doc.Whole {
		return n
	}
	var children []*node
	for k, name := range names[1:] {
		value := n.element.Find(name)
		if value == nil {
			d.reportMissing(n.element, codeCount, n.kind.String(), name, "...")
			value = variable
		}
		condition := n.newCondition(name, xmltree.Equation(attrOn, variable, value))
		condition.lenient = true
		children = append(children, condition)
		if k < len(n.children) {
			children = append(children, n.children[k])
		}
	}
	n.children = append(children, n.children[min(len(names)-1, len(n.children)):]...)
	return n
}
