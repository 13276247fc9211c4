package plan

import (
	"errors"
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

var errUnit = errors.New("a time without its unit")

// wraps puts around a node the tasks for which its attributes stand.
func (d *desugarer) wraps(n *node) *node {
	inner := n.task()
	has := inner.wrapNames()
	for _, w := range wraps {
		if a := inner.element.Find(w.attribute); a != nil && slices.Contains(has, w.attribute) {
			n = w.around(inner, n, d.wrapValue(&w, a))
		}
	}
	return n
}

// wrapValue reads the value of an attribute that stands for tasks. A time has its unit.
func (d *desugarer) wrapValue(w *wrap, a *xmltree.Attribute) int {
	words, hint := types[w.of], fmt.Sprintf("write %s=%q", w.attribute, w.example)
	value, err := words.parse(a.Value)
	if _, number := strconv.ParseFloat(strings.TrimSpace(a.Value), 64); number == nil && w.of == bt.Duration {
		err = errUnit
	}
	p := bt.Param{Type: w.of}
	switch _, ok := p.Resolve(value, 1); {
	case err != nil:
		d.reportValue(a, codeCount, hint, "%q is not a %s", a.Value, words.noun)
	case !ok:
		text, hint := words.impossible(&p, a.Value, 1)
		d.reportValue(a, codeCount, hint, "%s", text)
	default:
		return value
	}
	return 1
}
