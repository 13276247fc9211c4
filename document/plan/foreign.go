package plan

import (
	"fmt"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// asked returns a condition that nothing defines: an input of this node in this use of its tree.
func (d *desugarer) asked(n *node, what string) *node {
	c := n.newCondition(n.name+"."+what, &xmltree.Attribute{Name: "use", Value: "{use}", At: n.element.At})
	if d.opened[c.name]++; d.opened[c.name] > 1 {
		c.name += fmt.Sprintf("_%d", d.opened[c.name])
	}
	c.id = c.name
	return c
}

// foreignNode makes a control or decorator of another program: a free action has its result, and beside it each child
// may run, again and again, while a free condition holds.
func (d *desugarer) foreignNode(n *node) {
	answer, written := *n, n.children
	answer.name += ".result"
	answer.kind, answer.free, answer.wrapped, answer.short, answer.children = bt.Action, true, true, nil, nil
	n.kind, n.params, n.model = bt.Parallel, []int{1, 1}, nil
	n.children = []*node{&answer}
	for k, c := range written {
		what := fmt.Sprint("child_", k+1)
		runs := n.above(bt.Sequence, what, nil, n.above(bt.ForceSuccess, what+".result", nil, c),
			n.newLeaf(bt.Action, elementAction, n.name+"."+what+".rest"))
		n.children = append(n.children, n.above(bt.While, what+".may_run", nil, d.asked(n, what+".runs"), runs))
	}
}
