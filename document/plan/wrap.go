package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/syntax/xmltree"
)

// wrap is an attribute of a task that stands for tasks around it.
type wrap struct {
	attribute string
	of        bt.ParamType
	example   string
	around    func(n *node, value int) *node
}

// wraps are these attributes, from the inside to the outside: each attempt has its own time limit, and each period its
// own attempts. Preconditions are inside of them.
var wraps = []wrap{
	{"timeout", bt.Duration, "30 [s]", func(n *node, value int) *node { return n.inside(bt.Timeout, "timeout", value) }},
	{"retry", bt.Times, "3", func(n *node, value int) *node {
		return n.inside(bt.RetryUntilSuccessful, "retry", value)
	}},
	{"every", bt.Duration, "10 [min]", func(n *node, value int) *node {
		period := n.inside(bt.Sleep, "period", value)
		period.children = nil
		round := n.inside(bt.Parallel, "round", -1, 1)
		round.children = []*node{period, n}
		return round.inside(bt.KeepRunningUntilFailure, "every")
	}},
}

// inside returns a task around a node that an attribute stands for.
func (n *node) inside(k bt.Kind, what string, params ...int) *node {
	return &node{element: n.element, kind: k, id: k.String(), name: n.task().name + "." + what, params: params,
		wraps: true, children: []*node{n}}
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
			n = w.around(n, d.wrapValue(&w, a))
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
