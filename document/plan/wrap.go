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
	around    func(i *item, value int) *item
}

// wraps are these attributes, from the inside to the outside: each attempt has its own time limit, and each period its
// own attempts. Preconditions are inside of them.
var wraps = []wrap{
	{"timeout", bt.Duration, "30 [s]", func(i *item, value int) *item { return i.inside(bt.Timeout, "timeout", value) }},
	{"retry", bt.Times, "3", func(i *item, value int) *item {
		return i.inside(bt.RetryUntilSuccessful, "retry", value)
	}},
	{"every", bt.Duration, "10 [min]", func(i *item, value int) *item {
		period := i.inside(bt.Sleep, "period", value)
		period.children = nil
		round := i.inside(bt.Parallel, "round", -1, 1)
		round.children = []*item{period, i}
		return round.inside(bt.KeepRunningUntilFailure, "every")
	}},
}

// inside returns a task around an item that an attribute stands for.
func (i *item) inside(k bt.Kind, what string, params ...int) *item {
	return &item{element: i.element, kind: k, id: k.String(), name: i.task().name + "." + what, params: params,
		wraps: true, children: []*item{i}}
}

// task returns the item whose attributes stand for an item: itself, unless it is around another one.
func (i *item) task() *item {
	for i.wraps && len(i.children) > 0 {
		i = i.children[len(i.children)-1]
	}
	return i
}

// wrapNames returns the names of the attributes that stand for tasks around an item. An attribute of a free leaf, of a
// SubTree or of a node of another program is a port, and so is one that the model declares.
func (i *item) wrapNames() []string {
	if i.free || i.subtree != nil || i.short != nil && i.short.of == foreign {
		return nil
	}
	var list []string
	for _, w := range wraps {
		if i.model == nil || !slices.Contains(names(i.model.ports), w.attribute) {
			list = append(list, w.attribute)
		}
	}
	return list
}

var errUnit = errors.New("a time without its unit")

// wrapped returns the outermost of the tasks around an item that its attributes stand for, itself if there are none.
func (r *reader) wrapped(i *item) *item {
	outer, has := r.guard(i), i.wrapNames()
	for _, w := range wraps {
		if a := i.element.Find(w.attribute); a != nil && slices.Contains(has, w.attribute) {
			outer = w.around(outer, r.wrapValue(&w, a))
		}
	}
	return outer
}

// wrapValue reads the value of an attribute that stands for tasks. A time has its unit.
func (r *reader) wrapValue(w *wrap, a *xmltree.Attribute) int {
	words, hint := types[w.of], fmt.Sprintf("write %s=%q", w.attribute, w.example)
	value, err := words.parse(a.Value)
	if _, number := strconv.ParseFloat(strings.TrimSpace(a.Value), 64); number == nil && w.of == bt.Duration {
		err = errUnit
	}
	p := bt.Param{Type: w.of}
	switch _, ok := p.Resolve(value, 1); {
	case err != nil:
		r.reportValue(a, codeCount, hint, "%q is not a %s", a.Value, words.noun)
	case !ok:
		text, hint := words.impossible(&p, a.Value, 1)
		r.reportValue(a, codeCount, hint, "%s", text)
	default:
		return value
	}
	return 1
}
