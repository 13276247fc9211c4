package plan

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// item is a node of a tree as written: a task, or the use of a subtree.
type item struct {
	element  *xmltree.Element
	kind     bt.Kind
	subtree  *tree  // the tree that a SubTree names, nil for a task
	id       string // of a leaf or subtree
	name     string
	model    *model // nil if none is declared
	params   []int  // of a task
	entries  []int  // the parameters that are entries of the blackboard
	children []*item
	unknown  bool   // no kind that Canopy has
	wrapped  bool   // it has preconditions, of which it reads none itself
	free     bool   // a leaf that nothing defines
	leaf     *Leaf  // once it is read, if it does not depend on ports
	wraps    bool   // an attribute of the task inside of it, its last child, stands for it
	clerk    *clerk // of a leaf that reads or writes blackboards
	script   bool   // a condition in the notation of BehaviorTree.CPP
	short    *shorthand
	written  []*item // the children of a shorthand, among the tasks that it stands for
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
func (r *reader) items(parent *xmltree.Element) []*item {
	var items []*item
	for e := range parent.Elements() {
		items = append(items, r.item(e))
	}
	return items
}

// item reads a node of a tree. A node of an unknown kind is reported and treated as a sequence.
func (r *reader) item(e *xmltree.Element) *item {
	i := &item{element: e, id: e.Name}
	id := e.Find("ID")
	if id != nil && id.Value != "" {
		i.id = id.Value
	}
	i.children = r.items(e) // they are checked even where they are not allowed
	if s := r.short(e, id); s != nil {
		return r.shorthand(i, id, s)
	}
	switch {
	case !r.classify(i, id):
		i.kind, i.unknown = bt.Sequence, true
		return i
	case i.short != nil:
		return r.shorthand(i, id, i.short)
	case i.subtree != nil || i.kind.Family() == bt.Leaf:
		if n := len(i.children); n > 0 {
			r.reportName(e, codeChildren, "", "%s cannot have children, this one has %d", category(i), n)
		}
	default:
		if !r.cases(i) && !r.utilities(i) {
			r.arity(i)
		}
	}
	known := []string{"name", "ID"}
	switch {
	case i.free || i.subtree != nil:
		known = append(known, i.attributes()...)
	case i.clerk != nil:
		known = append(known, clerks[i.id].attributes...)
	case i.kind.Family() == bt.Leaf && i.kind.Acts():
		known = append(known, actionAttributes...)
	case i.kind.Family() == bt.Leaf:
		known = append(known, conditionAttributes...)
	default:
		if i.kind.Cases() > 0 {
			known = append(known, caseNames(i.kind)...)
		}
		if i.kind.Ranked() > 0 {
			known = append(known, utilityNames(i.kind)...)
		}
		if name := i.kind.Condition(); name != "" && !i.kind.Attributed() {
			known = append(known, name)
		}
		if name := i.kind.Cleanup(); name != "" {
			known = append(known, name)
		}
		for _, p := range i.kind.Params() {
			known = append(known, p.Name)
			i.params = append(i.params, r.param(i, &p))
		}
	}
	what := category(i)
	var ports []string
	if i.model != nil {
		what = i.id
		ports = names(i.model.ports)
		r.undeclared(i, ports)
		r.literalPorts(i)
	}
	r.checkAttributes(e, what, slices.Concat(known, i.wrapNames(), preconditions, postconditions), ports...)
	r.name(i, id)
	if a := i.condition(); a != nil {
		i.children = append([]*item{newScript(e, a, i.name+"."+a.Name)}, i.children...)
	}
	return r.wrapped(i)
}

// name determines the name of an item.
func (r *reader) name(i *item, id *xmltree.Attribute) {
	e := i.element
	if id != nil && !slices.Contains(explicit, e.Name) {
		r.warn(id.At, len(id.Name), codeIgnoredID, "write name="+strconv.Quote(id.Value),
			"BehaviorTree.CPP refuses an ID here; it serves as the name")
	}
	i.name = i.id
	for _, a := range []*xmltree.Attribute{id, e.Find("name")} {
		if a != nil && a.Value != "" {
			r.checkName(a)
			i.name = a.Value
		}
	}
}

// condition returns the attribute that is the first child of a node, nil if there is none.
func (i *item) condition() *xmltree.Attribute {
	if i.kind.Attributed() || i.kind.Condition() == "" {
		return nil
	}
	return i.element.Find(i.kind.Condition())
}

// newCondition returns a condition with attributes, in the place of an element.
func newCondition(e *xmltree.Element, name string, attributes ...*xmltree.Attribute) *item {
	kind, _ := bt.ParseKind(elementCondition)
	return &item{kind: kind, id: elementCondition, name: name, element: &xmltree.Element{Name: elementCondition,
		Span: e.Span, Tag: e.Tag, Attributes: attributes}}
}

// newScript is newCondition for an attribute in the notation of BehaviorTree.CPP.
func newScript(e *xmltree.Element, a *xmltree.Attribute, name string) *item {
	i := newCondition(e, name, a.As(attrOn))
	i.script = true
	return i
}

// newEffect returns the action that runs the script of an attribute, in the place of an element.
func (r *reader) newEffect(e *xmltree.Element, a *xmltree.Attribute, name string) *item {
	i := &item{id: elementScript, name: name, element: &xmltree.Element{Name: elementScript, Span: e.Span, Tag: e.Tag,
		Attributes: []*xmltree.Attribute{a.As(attrCode)}}}
	r.classifyClerk(i)
	return i
}

// guard returns a node below its preconditions, the first of which is the outermost, and its postconditions. An action
// that has no preconditions but those that it has as a leaf judges these by itself.
func (r *reader) guard(i *item) *item {
	leaf, all := i.subtree == nil && i.kind.Acts(), i
	around := func(k bt.Kind, name string, first *item) {
		all = &item{element: i.element, kind: k, id: i.id, name: name, wraps: true, children: []*item{first, all}}
	}
	effect := func(k bt.Kind, attribute, name string) {
		if a := i.element.Find(attribute); a != nil {
			around(k, name, r.newEffect(i.element, a, name+".do"))
		}
	}
	if code := r.caught(i); code != nil {
		name := i.name + "." + i.kind.Cleanup()
		around(bt.OnHalted, name, r.newEffect(i.element, code, name+".do"))
	}
	for _, name := range postconditions {
		if k := attributed[name]; k.Halts() {
			effect(k, name, i.name+"."+name)
			effect(k, attrAlways, i.name+"."+attrAlways+".halted")
		}
	}
	i.wrapped = slices.ContainsFunc(preconditions, func(name string) bool {
		return i.element.Find(name) != nil && !(leaf && slices.Contains(requests, name))
	})
	for _, name := range slices.Backward(preconditions) {
		if a := i.element.Find(name); a != nil && i.wrapped {
			around(attributed[name], i.name+"."+name, newScript(i.element, a, i.name+"."+name+".if"))
		}
	}
	for _, name := range postconditions {
		if k := attributed[name]; !k.Halts() {
			effect(k, name, i.name+"."+name)
		}
	}
	return all
}

// caught returns the script that is executed when an item is halted, the code of its last child; nil if there is none.
func (r *reader) caught(i *item) *xmltree.Attribute {
	a := i.element.Find(i.kind.Cleanup())
	switch {
	case a == nil || i.kind.Cleanup() == "" || len(i.children) == 0:
		return nil
	case !slices.Contains([]string{"true", "false", "1", "0"}, a.Value):
		r.reportValue(a, codeCount, "write true or false", "%s cannot be %q", a.Name, a.Value)
		return nil
	case !truth(a.Value):
		return nil
	}
	last := i.children[len(i.children)-1]
	if code := last.element.Find(attrCode); last.clerk != nil && last.id == elementScript && code != nil {
		return code
	}
	r.reportAttribute(a, codeForeignAttr, "an exit procedure of an action does what a halt requires",
		"%s supports %q only if its last child is a %s", i.kind, a.Name, elementScript)
	return nil
}

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

// cases replaces the attributes of a switch over a variable by conditions among its children: each is true while the
// variable equals the case. It reports whether there were any.
func (r *reader) cases(i *item) bool {
	names := caseNames(i.kind)
	variable := i.element.Find(names[0])
	if i.kind.Cases() == 0 || variable == nil {
		return false
	}
	if n := len(i.children); r.doc.Whole && n != len(names) {
		r.reportName(i.element, codeChildren, "the last one is for any other value",
			"%s of a variable needs %d children, this one has %d", i.kind, len(names), n)
		return true
	}
	var children []*item
	for n, name := range names[1:] {
		value := i.element.Find(name)
		if value == nil {
			r.reportMissing(i.element, codeCount, i.kind.String(), name, "...")
			value = variable
		}
		children = append(children, newCondition(i.element, name, xmltree.Equation(attrOn, variable, value)))
		if n < len(i.children) {
			children = append(children, i.children[n])
		}
	}
	i.children = append(children, i.children[min(len(names)-1, len(i.children)):]...)
	return true
}

// category returns the word for an item in messages.
func category(i *item) string {
	if i.subtree != nil {
		return elementSubTree
	}
	return i.kind.String()
}

// classify determines the kind of an item, and its model or tree. It reports an unknown kind.
func (r *reader) classify(i *item, id *xmltree.Attribute) bool {
	e := i.element
	switch e.Name {
	case elementSubTree:
		return r.classifySubTree(i, id)
	case elementControl, elementDecorator:
		if id == nil {
			r.reportName(e, codeNoID, fmt.Sprintf("write <%s ID=%q>", e.Name, r.kindNames(e.Name)[0]), "<%s> has no ID",
				e.Name)
			return false
		}
		return r.composite(i, e.Name, id.Raw)
	case elementAction, elementCondition:
		i.kind, _ = bt.ParseKind(e.Name)
		if id == nil {
			return true
		}
		if _, ok := clerks[id.Value]; ok {
			return r.classifyClerk(i)
		}
		if k, isKind := bt.ParseKind(id.Value); isKind && k != i.kind {
			return r.composite(i, e.Name, id.Raw)
		}
		if hint, foreign := foreignNodes[id.Value]; foreign && r.models[id.Value] == nil {
			r.reportValue(id, codeForeignNode, hint, "the BehaviorTree.CPP node %q is not supported", id.Value)
			return false
		}
		if reserved(id.Value) {
			r.reportValue(id, codeReservedID, "choose another ID", "%q is the name of a node kind or element", id.Value)
			return false
		}
		if i.model = r.models[id.Value]; i.model != nil && i.model.kind != e.Name {
			if !i.model.leaf() {
				return r.composite(i, e.Name, id.Raw)
			}
			i.kind, _ = bt.ParseKind(i.model.kind)
			r.warn(id.Raw.At, id.Raw.Len(), codeForm, fmt.Sprintf("write <%s ID=%q>", i.model.kind, id.Value),
				"%q is declared as %s %s", id.Value, i.model.kind, r.where(i.model.element, e))
		}
		i.free = i.undefined()
		return true
	}
	if _, ok := clerks[e.Name]; ok {
		return r.classifyClerk(i)
	}
	if m := r.models[e.Name]; m != nil && m.leaf() {
		i.id, i.model = e.Name, m
		i.kind, _ = bt.ParseKind(m.kind)
		i.free = i.undefined()
		return true
	}
	at := xmltree.Span{At: e.At + 1, End: e.At + 1 + len(e.Name)}
	if _, isKind := bt.ParseKind(e.Name); !isKind && len(i.children) == 0 && r.models[e.Name] == nil &&
		r.trees[e.Name] == nil && foreignNodes[e.Name] == "" {
		r.unknownLeaf(i, at)
		return true
	}
	return r.composite(i, "", at)
}

// classifyClerk makes the leaf of a node that reads or writes blackboards.
func (r *reader) classifyClerk(i *item) bool {
	i.kind = clerks[i.id].kind
	i.clerk = r.readClerk(i)
	return true
}

// unknownLeaf makes a free action of a node without children that nothing declares.
func (r *reader) unknownLeaf(i *item, at xmltree.Span) {
	i.kind, _ = bt.ParseKind(elementAction)
	i.free = i.undefined()
	if near := diag.Nearest(i.id, r.kindNames("")); near != "" {
		r.warn(at.At, at.Len(), codeFree, "did you mean "+strconv.Quote(near)+"?", "nothing declares the leaf %q", i.id)
	}
}

// undefined reports whether nothing says what a leaf does: neither the attributes of its element nor its model.
func (i *item) undefined() bool {
	defines := []string{attrOn}
	if i.kind.Acts() {
		defines = behaviour
	}
	return !slices.ContainsFunc(defines, func(name string) bool {
		return i.element.Find(name) != nil || i.model != nil && i.model.element.Find(name) != nil
	})
}

// attributes returns the names of the element's attributes that may be ports.
func (i *item) attributes() []string {
	var list []string
	for _, a := range i.element.Attributes[:min(len(i.element.Attributes), maxPorts)] {
		if a.Name != "name" && a.Name != "ID" && !strings.HasPrefix(a.Name, "_") {
			list = append(list, a.Name)
		}
	}
	return list
}

// undeclared warns of the ports that the model of a free leaf or of a subtree does not declare.
func (r *reader) undeclared(i *item, ports []string) {
	if !i.free && i.subtree == nil || len(ports) == 0 {
		return
	}
	for _, name := range i.attributes() {
		if a := i.element.Find(name); !slices.Contains(ports, name) {
			r.once(diag.Diagnostic{Source: r.source, Offset: a.At, Length: len(a.Name), Severity: diag.Warning,
				Code: codeUndeclared, Text: fmt.Sprintf("the model of %s has no port %q", i.id, name),
				Suggest: diag.Near(name, func() []string { return ports })})
		}
	}
}

func (r *reader) classifySubTree(i *item, id *xmltree.Attribute) bool {
	if id == nil {
		r.astray = true
		r.reportName(i.element, codeNoID, "", "<SubTree> does not name its tree")
		return false
	}
	i.subtree = r.trees[id.Value]
	r.passed[id.Value] = append(r.passed[id.Value], i.attributes()...)
	if i.subtree == nil {
		r.astray = true
		if r.complete {
			r.noTree(id)
		}
		i.kind, _ = bt.ParseKind(elementAction)
		i.free = true
		return true
	}
	i.model = r.subtreeModel(id.Value)
	return true
}

// subtreeModel returns the declaration of a tree's ports, nil if there is none.
func (r *reader) subtreeModel(id string) *model {
	if m := r.models[id]; m != nil && m.kind == elementSubTree {
		return m
	}
	return nil
}

// composite determines the kind of an item that is no leaf by its element's name, or by its ID in the explicit form.
func (r *reader) composite(i *item, form string, at xmltree.Span) bool {
	report := func(code, hint, text string) { r.report(at.At, at.Len(), code, hint, "%s", text) }
	word := i.element.Name
	if form != "" {
		word = i.id
	}
	if k, ok := bt.ParseKind(word); ok && k.Family() != bt.Leaf {
		i.kind = k
		if form != "" && form != formOf(k) {
			r.warn(at.At, at.Len(), codeForm, fmt.Sprintf("write <%s ID=%q>", formOf(k), word), "%s is a %s", word, formOf(k))
		}
		return true
	}
	if hint, ok := foreignNodes[word]; ok {
		report(codeForeignNode, hint, fmt.Sprintf("the BehaviorTree.CPP node %q is not supported", word))
		return false
	}
	if m := r.models[word]; m != nil && m.kind != elementSubTree {
		return r.foreign(i, m.kind, at)
	}
	if near := diag.DidYouMean(word, r.kindNames("")); near == "" && r.trees[word] == nil {
		switch n := len(i.children); {
		case form == elementControl, form == elementDecorator:
			return r.foreign(i, form, at)
		case form == "" && n == 1:
			return r.foreign(i, elementDecorator, at)
		case form == "" && n > 1:
			return r.foreign(i, elementControl, at)
		}
	}
	r.once(diag.Diagnostic{Source: r.source, Offset: at.At, Length: at.Len(), Code: codeNode,
		Text: fmt.Sprintf("unknown node %q", word), Suggest: func() string {
			names := r.kindNames(form)
			near := diag.DidYouMean(word, names)
			switch {
			case r.trees[word] != nil:
				return fmt.Sprintf("write <SubTree ID=%q/>", word)
			case near != "":
				return near
			case form != "":
				return "it may be " + strings.Join(names, ", ")
			}
			return fmt.Sprintf(`write <Action ID=%[1]q/> or <Condition ID=%[1]q/>, or declare it in <TreeNodesModel>`, word)
		}})
	return false
}

// foreign reads a control or decorator of another program, whose attributes are its ports. A mission must know what it
// does.
func (r *reader) foreign(i *item, form string, at xmltree.Span) bool {
	name, what := i.element.Name, map[string]string{elementControl: "control", elementDecorator: "decorator"}[form]
	if slices.Contains(explicit, name) {
		name = i.id
	}
	n := len(i.children)
	if form == elementDecorator && n != 1 && r.doc.Whole {
		r.report(at.At, at.Len(), codeChildren, "", "the decorator %q needs exactly 1 child, this one has %d", name, n)
	}
	if r.signals != nil {
		r.report(at.At, at.Len(), codeForeign, "Canopy has the kinds "+strings.Join(r.kindNames(form), ", "),
			"nothing defines what the %s %q does", what, name)
		return false
	}
	below := "its child may run"
	if n != 1 {
		below = fmt.Sprintf("its %d children may run", n)
	}
	r.warn(at.At, at.Len(), codeForeign, "", "nothing defines the %s %q of another program: %s or not at any time", what,
		name, below)
	i.short = &shorthand{form, foreign, i.attributes(), (*reader).foreignNode}
	return true
}

// formOf returns the element of a kind's explicit form.
func formOf(k bt.Kind) string {
	switch {
	case k.Family() == bt.Leaf:
		return k.String()
	case k.Childless():
		return elementAction
	case single(k), k.Condition() != "" && !k.Attributed():
		return elementDecorator
	}
	return elementControl
}

// single reports whether tasks of a kind have exactly one child.
func single(k bt.Kind) bool {
	least, most := k.Arity()
	return least == 1 && most == 1
}

// kindNames returns the names that are allowed as an explicit form's ID, or for "" as an element's name.
func (r *reader) kindNames(form string) []string {
	if names, known := r.names[form]; known {
		return names
	}
	var names []string
	for _, k := range bt.Kinds() {
		if !k.Attributed() && (form == "" || form == formOf(k)) {
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
	r.names[form] = names
	return names
}

func (r *reader) arity(i *item) {
	least, most := i.kind.Arity()
	n := len(i.children)
	if i.condition() != nil {
		least, most = least-1, most-1
	} else if name := i.kind.Condition(); n == 1 && name != "" && !i.kind.Attributed() {
		r.reportMissing(i.element, codeCount, i.kind.String(), name, "...")
		return
	}
	if !r.doc.Whole || n >= least && (most < 0 || n <= most) {
		return
	}
	wanted, hint := fmt.Sprintf("at least %d child", least), ""
	if least > 1 {
		wanted = fmt.Sprintf("%d to %d children", least, most)
	}
	if most == least {
		wanted = fmt.Sprintf("exactly %d child", least)
		hint = "put the children into a Sequence or Fallback"
	}
	if n == 0 || most == 0 {
		hint = ""
	}
	if most == 0 {
		wanted = "no children"
	}
	r.reportName(i.element, codeChildren, hint, "%s needs %s, this one has %d", i.kind, wanted, n)
}

// param reads the value of a task's parameter.
func (r *reader) param(i *item, p *bt.Param) int {
	a := i.element.Find(p.Name)
	if a == nil {
		if p.Default == 0 {
			r.reportMissing(i.element, codeCount, i.kind.String(), p.Name, types[p.Type].example)
		}
		return p.Default
	}
	if p.Type == bt.Resource {
		return r.resource(a)
	}
	if p.Type == bt.Choice {
		word := slices.Index(p.Words, strings.TrimSpace(a.Value))
		if word < 0 {
			r.reportValue(a, codeCount, diag.OneOf("write ", p.Words), "%s cannot be %q", p.Name, a.Value)
			return p.Default
		}
		return word + 1
	}
	if _, isEntry := entry(strings.TrimSpace(a.Value)); isEntry {
		i.entries = append(i.entries, len(i.params))
		return p.Default
	}
	return r.number(i, p, a, a.Value)
}

// number reads a number of an attribute; the text is that of a port if the attribute names one.
func (r *reader) number(i *item, p *bt.Param, a *xmltree.Attribute, written string) int {
	n, words := len(i.children), types[p.Type]
	value, err := words.parse(written)
	if err != nil {
		r.reportValue(a, codeCount, words.hint, "%q is not a %s", written, words.noun)
		return p.Default
	}
	if _, ok := p.Resolve(value, n); !ok && (n > 0 || i.kind.Childless()) && r.doc.Whole {
		text, hint := words.impossible(p, written, n)
		r.reportValue(a, codeCount, hint, "%s", text)
		return p.Default
	}
	return value
}

// types says how the values of parameters are read, what is wrong with one, and what to write instead.
var types = [...]struct {
	noun       string
	example    string
	parse      func(string) (int, error)
	hint       string
	impossible func(p *bt.Param, value string, n int) (text, hint string)
}{
	bt.Children: {"count", "3", count, "write a whole number, -1 for all children",
		func(p *bt.Param, value string, n int) (text, hint string) {
			least := "1"
			if p.Zero {
				least = "0"
			}
			switch {
			case n > 1:
				return fmt.Sprintf("%s of %d children is not possible", value, n),
					fmt.Sprintf("write %s to %d, or -1 (all) to -%d", least, n, n)
			case p.Zero:
				return value + " of 1 child is not possible", "write 0 or 1, or -1 for all children"
			}
			return value + " of 1 child is not possible", "write 1, or -1 for all children"
		}},
	bt.Times: {"count", "3", count, "write a whole number, -1 for no limit",
		func(_ *bt.Param, value string, _ int) (text, hint string) {
			return value + " times is not possible", "write 0 or more, or -1 for no limit"
		}},
	bt.Resource: {example: "camera"},
	bt.Duration: {"duration", "500", milliseconds, "write milliseconds, 12h30m, or a number with its unit, as in 2 [d]",
		func(_ *bt.Param, value string, _ int) (text, hint string) {
			return value + " is not a possible duration", "write 0 ms or more"
		}},
}

func count(text string) (int, error) { return strconv.Atoi(strings.TrimSpace(text)) }

// milliseconds reads a duration in the notation of expressions, and a bare number as BehaviorTree.CPP does.
func milliseconds(text string) (int, error) {
	ms, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		if ms, err = expr.Duration(text); err != nil {
			return 0, err
		}
		ms *= 1000
	}
	whole := math.Round(ms)
	if !(math.Abs(ms-whole) <= 1e-9*math.Abs(ms) && math.Abs(ms) < 1e15) {
		return 0, errors.New("not a whole number of milliseconds")
	}
	return int(whole), nil
}
