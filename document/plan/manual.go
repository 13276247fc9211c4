package plan

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// The choice of a child by a number.
const (
	elementManualSelector = "ManualSelector"

	attrChoice     = "choice"
	attrRepeatLast = "repeat_last_selection"
)

// manualSelector makes a choice between children: by a precondition it waits until there is one, then it runs that
// child until it has ended.
func (d *desugarer) manualSelector(n *node) {
	choice, written := n.element.Find(attrChoice), n.children
	count := len(written)
	switch {
	case choice == nil:
		d.reportMissing(n.element, codeCount, elementManualSelector, attrChoice, "...")
	case !d.parses(choice):
		choice = nil
	}
	if a := n.element.Find(attrRepeatLast); a != nil && truth(a.Value) {
		d.reportValue(a, codeForeignAttr, `the signal of "choice" keeps its value`, "%s does not support %q",
			elementManualSelector, attrRepeatLast)
	}
	if choice == nil {
		return
	}
	rest := written[count-1]
	for k := count - 1; k > 0; k-- {
		is := n.newCondition(fmt.Sprint(n.name, ".choice_", k),
			xmltree.Compose(attrOn, fmt.Sprint("(%) == ", k), choice))
		rest = n.around(bt.IfThenElse, fmt.Sprint("from_", k), nil, is, written[k-1], rest)
	}
	valid := n.newCondition(n.name+"."+attrChoice,
		xmltree.Compose(attrOn, fmt.Sprint("(%) >= 1 and (%) <= ", count), choice, choice))
	n.precondition(valid, rest, "RUNNING")
}

// precondition makes a node a Precondition, which returns otherwise while its condition does not hold.
func (n *node) precondition(condition, child *node, otherwise string) {
	n.kind, n.children = bt.Precondition, []*node{condition, child}
	n.params = []int{slices.Index(bt.Precondition.Params()[0].Words, otherwise) + 1}
}
