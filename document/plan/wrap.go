package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// wrap is an attribute of a task that stands for tasks around it.
type wrap struct {
	attribute string
	of        bt.ParamType
	example   string
	around    func(task, n *node, value int) *node // n is the task with what is around it
}

// wraps are these attributes, from the inside to the outside: each attempt has its own time limit, and each period its
// own attempts. Preconditions are inside of them.
var wraps = []wrap{
	{"timeout", bt.Duration, "30 [s]", func(task, n *node, value int) *node {
		return task.around(bt.Timeout, "timeout", []int{value}, n)
	}},
	{"retry", bt.Times, "3", func(task, n *node, value int) *node {
		return task.around(bt.RetryUntilSuccessful, "retry", []int{value}, n)
	}},
	{"every", bt.Duration, "10 [min]", func(task, n *node, value int) *node {
		period := task.around(bt.Sleep, "period", []int{value})
		round := task.around(bt.Parallel, "round", []int{-1, 1}, period, n)
		return task.around(bt.KeepRunningUntilFailure, "every", nil, round)
	}},
}

// wrapNames returns the names of the attributes that stand for tasks around a node. An attribute of a free leaf, of a
// SubTree or of a node of another program is a port, and so is one that the model declares.
func (n *node) wrapNames() []string {
	if n.free || n.subtree != nil || n.short != nil && n.short.of == foreign {
		return nil
	}
	var list []string
	for _, w := range wraps {
		if n.model == nil || !slices.Contains(names(n.model.ports), w.attribute) {
			list = append(list, w.attribute)
		}
	}
	return list
}

// wraps puts around a node the tasks for which its attributes stand.
func (d *desugarer) wraps(n *node) *node {
	inner := n.task()
	has := inner.wrapNames()
	for _, w := range wraps {
		if a := inner.element.Find(w.attribute); a != nil && slices.Contains(has, w.attribute) {
			n = w.around(inner, n, d.wrapValue(inner, &w, a))
		}
	}
	return n
}

// wrapValue reads the value of an attribute that stands for tasks. A time has its unit.
func (d *desugarer) wrapValue(n *node, w *wrap, a *xmltree.Attribute) int {
	p, written := bt.Param{Type: w.of, Default: 1}, a.Value
	if _, err := strconv.ParseFloat(strings.TrimSpace(written), 64); err == nil && w.of == bt.Duration {
		written = ""
	}
	return d.number(n, &p, a, written, fmt.Sprintf("write %s=%q", w.attribute, w.example))
}
