package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/diag"
)

// item is a node of a tree as written: a task, or the use of a subtree.
type item struct {
	element          *element
	kind             bt.Kind
	subtree          *tree  // what a SubTree stands for, nil for a task
	id               string // of a leaf or subtree
	name             string
	model            *model // nil if none is declared
	success, failure int
	children         []*item
	leaf             *Leaf // once it is read, if no ports bear on it
}

// The elements of the explicit form.
const (
	elementAction    = "Action"
	elementCondition = "Condition"
	elementControl   = "Control"
	elementDecorator = "Decorator"
	elementSubTree   = "SubTree"
)

var explicit = []string{elementAction, elementCondition, elementControl, elementDecorator, elementSubTree}

// items reads the children of an element.
func (r *reader) items(parent *element) []*item {
	var items []*item
	named := map[string]*element{}
	for _, e := range parent.children {
		items = append(items, r.item(e))
		if name := e.find("name"); name != nil && name.value != "" && e.name != elementSubTree {
			if first := named[name.value]; first != nil {
				r.reportValue(name, codeDuplicateName, "", "its sibling on line %d has the name %q, too",
					r.line(first), name.value)
			} else {
				named[name.value] = e
			}
		}
	}
	return items
}

// item reads a node of a tree. One of no known kind is taken for a sequence once it is reported.
func (r *reader) item(e *element) *item {
	i := &item{element: e, id: e.name}
	id := e.find("ID")
	if id != nil && id.value != "" {
		i.id = id.value
	}
	i.children = r.items(e) // they are checked even where they cannot stand
	switch {
	case !r.classify(i, id):
		i.kind = bt.Sequence
		return i
	case i.subtree != nil || i.kind.IsLeaf():
		if n := len(e.children); n > 0 {
			r.reportName(e, codeChildren, "", "%s cannot have children, this one has %d", category(i), n)
		}
	default:
		r.arity(i)
	}
	known := []string{"name", "ID"}
	switch {
	case i.subtree != nil:
	case i.kind == bt.Action:
		known = append(known, actionAttributes...)
	case i.kind == bt.Condition:
		known = append(known, conditionAttributes...)
	case i.kind.IsParallel():
		known = append(known, attrSuccessCount, attrFailureCount)
		i.success, i.failure = r.count(i, attrSuccessCount, -1), r.count(i, attrFailureCount, 1)
	}
	what := category(i)
	var ports []string
	if i.model != nil {
		what = i.id
		for _, p := range i.model.ports {
			ports = append(ports, p.name)
		}
	}
	r.checkAttributes(e, what, known, ports...)
	if id != nil && !slices.Contains(explicit, e.name) {
		r.warn(id.offset, len(id.name), codeIgnoredID, "write name="+strconv.Quote(id.value),
			"BehaviorTree.CPP refuses an ID here; it serves as the name")
	}
	i.name = i.id
	for _, a := range []*attribute{id, e.find("name")} {
		if a != nil && a.value != "" {
			r.checkName(a)
			i.name = a.value
		}
	}
	return i
}

// category names what an item is for messages.
func category(i *item) string {
	if i.subtree != nil {
		return elementSubTree
	}
	return i.kind.String()
}

// classify tells the kind of an item, and its model or tree. It reports what is of no known kind.
func (r *reader) classify(i *item, id *attribute) bool {
	e := i.element
	switch e.name {
	case elementSubTree:
		return r.classifySubTree(i, id)
	case elementControl, elementDecorator:
		if id == nil {
			r.reportName(e, codeNoID, fmt.Sprintf("write <%s ID=%q>", e.name, r.kindNames(e.name)[0]), "<%s> has no ID",
				e.name)
			return false
		}
		return r.composite(i, e.name, func(code, hint, text string) { r.reportValue(id, code, hint, "%s", text) })
	case elementAction, elementCondition:
		i.kind, _ = bt.ParseKind(e.name)
		if id == nil {
			return true
		}
		if hint, foreign := foreignNodes[id.value]; foreign && r.models[id.value] == nil {
			r.reportValue(id, codeForeignNode, hint, "the BehaviorTree.CPP node %q is not supported", id.value)
			return false
		}
		if reserved(id.value) {
			r.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", id.value)
			return false
		}
		if i.model = r.models[id.value]; i.model != nil && i.model.kind != e.name {
			r.reportValue(id, codeNode, fmt.Sprintf("write <%s ID=%q>", i.model.kind, id.value),
				"%q is declared as %s on line %d",
				id.value, i.model.kind, r.line(i.model.element))
			return false
		}
		return true
	}
	if m := r.models[e.name]; m != nil && (m.kind == elementAction || m.kind == elementCondition) {
		i.id, i.model = e.name, m
		i.kind, _ = bt.ParseKind(m.kind)
		return true
	}
	return r.composite(i, "", func(code, hint, text string) { r.reportName(e, code, hint, "%s", text) })
}

func (r *reader) classifySubTree(i *item, id *attribute) bool {
	if id == nil {
		r.astray = true
		r.reportName(i.element, codeNoID, "", "<SubTree> does not say which tree it stands for")
		return false
	}
	i.subtree = r.trees[id.value]
	if i.subtree == nil {
		r.astray = true
		if !r.broken {
			r.noTree(id)
		}
		return false
	}
	i.model = r.subtreeModel(id.value)
	return true
}

// subtreeModel returns the declaration of a tree's ports, nil if there is none.
func (r *reader) subtreeModel(id string) *model {
	if m := r.models[id]; m != nil && m.kind == elementSubTree {
		return m
	}
	return nil
}

// composite tells the kind of an item that is no leaf by its element's name, or by its ID in the explicit form.
func (r *reader) composite(i *item, form string, report func(code, hint, text string)) bool {
	word := i.element.name
	if form != "" {
		word = i.id
	}
	if k, ok := bt.ParseKind(word); ok && !k.IsLeaf() {
		i.kind = k
		if form == "" || form == formOf(k) {
			return true
		}
		report(codeNode, fmt.Sprintf("write <%s ID=%q>", formOf(k), word), fmt.Sprintf("%s is a %s", word, formOf(k)))
		return false
	}
	if hint, ok := foreignNodes[word]; ok {
		report(codeForeignNode, hint, fmt.Sprintf("the BehaviorTree.CPP node %q is not supported", word))
		return false
	}
	if m := r.models[word]; m != nil && m.kind != elementSubTree {
		report(codeForeignNode, "Canopy has the kinds "+strings.Join(r.kindNames(m.kind), ", "),
			fmt.Sprintf("%q is a %s node of another program, which Canopy does not have", word, m.kind))
		return false
	}
	hint := diag.DidYouMean(word, r.kindNames(form))
	if r.trees[word] != nil {
		hint = fmt.Sprintf("write <SubTree ID=%q/>", word)
	}
	if hint == "" && form != "" {
		hint = "it may be " + strings.Join(r.kindNames(form), ", ")
	} else if hint == "" {
		hint = fmt.Sprintf(`write <Action ID=%[1]q/> or <Condition ID=%[1]q/>, or declare it in <TreeNodesModel>`, word)
	}
	report(codeNode, hint, fmt.Sprintf("unknown node %q", word))
	return false
}

// formOf returns the element of a kind's explicit form.
func formOf(k bt.Kind) string {
	switch {
	case k.IsLeaf():
		return k.String()
	case k.IsDecorator():
		return elementDecorator
	}
	return elementControl
}

// kindNames returns the names that may stand as an explicit form's ID, or for "" as an element's name.
func (r *reader) kindNames(form string) []string {
	var names []string
	for _, k := range bt.Kinds() {
		if form == "" || form == formOf(k) {
			names = append(names, k.String())
		}
	}
	if form == "" {
		names = append(names, explicit...)
		for _, id := range slices.Sorted(maps.Keys(r.models)) {
			if k := r.models[id].kind; k == elementAction || k == elementCondition {
				names = append(names, id)
			}
		}
	}
	return names
}

func (r *reader) arity(i *item) {
	least, most := i.kind.Arity()
	n := len(i.element.children)
	if r.broken || n >= least && (most < 0 || n <= most) {
		return
	}
	wanted, hint := fmt.Sprintf("at least %d child", least), ""
	if most == least {
		wanted = fmt.Sprintf("exactly %d child", least)
		hint = "put the children into a Sequence or Fallback"
	}
	if n == 0 {
		hint = ""
	}
	r.reportName(i.element, codeChildren, hint, "%s needs %s, this one has %d", i.kind, wanted, n)
}

// count reads a parallel's count. It may be negative: c stands for n + 1 + c of n children.
func (r *reader) count(i *item, word string, absent int) int {
	a := i.element.find(word)
	if a == nil {
		return absent
	}
	c, err := strconv.Atoi(strings.TrimSpace(a.value))
	if err != nil {
		r.reportValue(a, codeCount, "write a whole number, -1 for all children", "%q is not a count", a.value)
		return absent
	}
	n := len(i.element.children)
	resolved := c
	if c < 0 {
		resolved = n + 1 + c
	}
	if (resolved < 1 || resolved > n) && n > 0 && !r.broken {
		r.reportValue(a, codeCount, fmt.Sprintf("write 1 to %d, or -1 (all) to -%d", n, n),
			"%s of %d children is not possible", a.value, n)
		return absent
	}
	return c
}
