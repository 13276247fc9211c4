package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/syntax/xmltree"
)

// shorthand is a node that stands for several tasks.
type shorthand struct {
	form       string // of the explicit form
	of         origin
	attributes []string
	expand     func(r *reader, i *item)
}

// origin is the program that has a node.
type origin uint8

const (
	builtIn origin = iota // BehaviorTree.CPP
	own                   // its plans have no such element
	foreign               // a library of nodes for BehaviorTree.CPP
)

// Names of shorthands and of their attributes.
const (
	elementTestNode          = "TestNode"
	elementManualSelector    = "ManualSelector"
	elementSkipUnlessUpdated = "SkipUnlessUpdated"
	elementWaitValueUpdate   = "WaitValueUpdate"
	elementUtilitySelector   = "UtilitySelector"

	attrReturnStatus  = "return_status"
	attrAsyncDelay    = "async_delay"
	attrSuccessScript = "success_script"
	attrFailureScript = "failure_script"
	attrPostScript    = "post_script"
	attrChoice        = "choice"
	attrRepeatLast    = "repeat_last_selection"
)

var shorthands = map[string]*shorthand{
	elementTestNode: {elementAction, own, []string{attrReturnStatus, attrAsyncDelay, attrSuccessScript, attrFailureScript,
		attrPostScript}, (*reader).testNode},
	elementManualSelector:  {elementControl, own, []string{attrChoice, attrRepeatLast}, (*reader).manualSelector},
	elementUtilitySelector: {elementControl, own, utilityNames(bt.UtilitySelector4), (*reader).utilitySelector},
	elementSkipUnlessUpdated: {elementDecorator, builtIn, []string{attrOfEntry},
		func(r *reader, i *item) { r.onceUpdated(i, "SKIPPED") }},
	elementWaitValueUpdate: {elementDecorator, builtIn, []string{attrOfEntry},
		func(r *reader, i *item) { r.onceUpdated(i, "RUNNING") }},
}

// short returns the shorthand that an element is, nil if it is none. A model may give the name another meaning.
// A mission needs exact nodes.
func (r *reader) short(e *xmltree.Element, id *xmltree.Attribute) *shorthand {
	name := e.Name
	if id != nil && slices.Contains(explicit, name) {
		name = id.Value
	}
	s := shorthands[name]
	if m := r.models[name]; s == nil || m != nil && !s.declared(m) || s.of == foreign && r.signals != nil {
		return nil
	}
	return s
}

// declared reports whether a model is one of this node: it has its attributes, or, of another program, no others.
func (s *shorthand) declared(m *model) bool {
	if s.of == foreign {
		more := func(p *port) bool { return !slices.Contains(s.attributes, p.name) }
		return m.kind == s.form && !slices.ContainsFunc(m.ports, more)
	}
	return !slices.ContainsFunc(s.attributes, func(name string) bool { return !m.declares(name) })
}

// shorthand reads a node that stands for several tasks.
func (r *reader) shorthand(i *item, id *xmltree.Attribute, s *shorthand) *item {
	i.short, i.written = s, i.children
	what := i.id
	if !slices.Contains(explicit, i.element.Name) {
		what = i.element.Name
	}
	known := s.attributes
	if s.of == foreign { // another version of the program may have more
		known = i.attributes()
	}
	r.checkAttributes(i.element, what, slices.Concat([]string{"name", "ID"}, known, i.wrapNames(), preconditions,
		postconditions))
	r.name(i, id)
	s.expand(r, i)
	return r.wrapped(i)
}

// part returns a task that a shorthand stands for, whose parameters are attributes of its element.
func (r *reader) part(of *item, k bt.Kind, name string, attributes ...*xmltree.Attribute) *item {
	i := &item{kind: k, id: k.String(), name: of.name + "." + name, element: &xmltree.Element{Name: k.String(),
		Span: of.element.Span, Tag: of.element.Tag, Attributes: attributes}}
	for _, p := range k.Params() {
		i.params = append(i.params, r.param(i, &p))
	}
	return i
}

// testNode makes the sequence of a stub: it waits, executes scripts, and returns a status.
func (r *reader) testNode(i *item) {
	i.kind = bt.Sequence
	if n := len(i.written); n > 0 {
		r.reportName(i.element, codeChildren, "", "%s cannot have children, this one has %d", elementTestNode, n)
	}
	i.children = nil
	if a := i.element.Find(attrAsyncDelay); a != nil {
		i.children = append(i.children, r.part(i, bt.Sleep, attrAsyncDelay, a.As("msec")))
	}
	status := "SUCCESS"
	if a := i.element.Find(attrReturnStatus); a != nil {
		status = strings.TrimSpace(a.Value)
		if words := slices.Sorted(maps.Keys(statuses)); !slices.Contains(words, status) {
			r.reportValue(a, codeCount, diag.OneOf("write ", words), "%s cannot be %q", attrReturnStatus, a.Value)
			status = words[0]
		}
	}
	for _, name := range []string{attrSuccessScript, attrFailureScript, attrPostScript} {
		a := i.element.Find(name)
		if a == nil {
			continue
		}
		if script := r.newEffect(i.element, a, i.name+"."+name); name == attrPostScript || name == statuses[status].script {
			i.children = append(i.children, script) // the others are read for their mistakes
		}
	}
	i.children = append(i.children, r.part(i, statuses[status].kind, attrReturnStatus))
}

// statuses are what a stub may return: the task that returns it, and the script that is executed before.
var statuses = map[string]struct {
	kind   bt.Kind
	script string
}{
	"SUCCESS": {bt.AlwaysSuccess, attrSuccessScript},
	"FAILURE": {bt.AlwaysFailure, attrFailureScript},
	"RUNNING": {bt.Action, ""},
}

// manualSelector makes a choice between children: by a precondition it waits until there is one, then it runs that
// child until it has ended.
func (r *reader) manualSelector(i *item) {
	choice, n := i.element.Find(attrChoice), len(i.written)
	switch {
	case n == 0 && r.doc.Whole:
		r.reportName(i.element, codeChildren, "", "%s needs at least 1 child, this one has 0", elementManualSelector)
	case choice == nil:
		r.reportMissing(i.element, codeCount, elementManualSelector, attrChoice, "...")
	case !r.parses(choice):
		choice = nil
	}
	if a := i.element.Find(attrRepeatLast); a != nil && truth(a.Value) {
		r.reportValue(a, codeForeignAttr, `the signal of "choice" keeps its value`, "%s does not support %q",
			elementManualSelector, attrRepeatLast)
	}
	if i.kind = bt.Sequence; choice == nil || n == 0 {
		i.unknown = true
		return
	}
	rest := i.written[n-1]
	for k := n - 1; k > 0; k-- {
		either := r.part(i, bt.IfThenElse, fmt.Sprint("from_", k))
		is := newCondition(i.element, fmt.Sprint(i.name, ".choice_", k),
			xmltree.Compose(attrOn, fmt.Sprint("(%) == ", k), choice))
		either.children = []*item{is, i.written[k-1], rest}
		either.wraps, rest = true, either
	}
	valid := newCondition(i.element, i.name+"."+attrChoice,
		xmltree.Compose(attrOn, fmt.Sprint("(%) >= 1 and (%) <= ", n), choice, choice))
	i.precondition(valid, rest, "RUNNING")
}

// precondition makes an item a Precondition, which returns otherwise while its condition does not hold.
func (i *item) precondition(condition, child *item, otherwise string) {
	i.kind, i.children = bt.Precondition, []*item{condition, child}
	i.params = []int{slices.Index(bt.Precondition.Params()[0].Words, otherwise) + 1}
}

// onceUpdated makes a precondition of a child, that an entry was written since the child was started before: an action
// that notes the start comes before the child.
func (r *reader) onceUpdated(i *item, otherwise string) {
	n, a := len(i.written), i.element.Find(attrOfEntry)
	switch {
	case n != 1 && r.doc.Whole:
		r.reportName(i.element, codeChildren, "", "%s needs exactly 1 child, this one has %d", i.id, n)
	case a == nil:
		r.reportMissing(i.element, codeNoAttr, i.id, attrOfEntry, "...")
	}
	name := ""
	if n == 1 && a != nil {
		name = r.key(a)
	}
	if name == "" {
		i.kind, i.unknown = bt.Sequence, true
		return
	}
	r.mentioned[name] = true
	updated := newCondition(i.element, i.name+".updated")
	updated.clerk = &clerk{at: a, watches: name}
	start := &item{id: elementAction, kind: bt.Action, name: i.name + ".start", element: updated.element,
		clerk: &clerk{at: a, clears: updated}}
	then := r.part(i, bt.IfThenElse, "then")
	then.children, then.wraps = []*item{start, i.written[0]}, true
	i.precondition(updated, then, otherwise)
}
