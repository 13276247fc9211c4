package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// Modern returns a document as one of format 4, with each difference from its own format as a warning. With an error
// there is no text.
func Modern(src *diag.Source) (string, diag.List) {
	doc, found := xmltree.Parse(src)
	if found.HasErrors() || doc.Root == nil {
		return "", found
	}
	edits, list := modern(doc)
	return apply(doc, edits), append(found, list...)
}

func apply(doc *xmltree.Document, edits []xmltree.Edit) string {
	text, err := doc.Apply(edits...)
	if err != nil {
		panic("plan: edits overlap")
	}
	return text
}

// Plain returns the document of a plan, with the files that it includes, as one that BehaviorTree.CPP 4 loads: all
// nodes in compact form, each leaf with an ID and a model that declares its attributes as ports. Canopy reads it as the
// same plan. Comments, layout and other attributes are preserved. The list holds what BehaviorTree.CPP does not have as
// warnings; with an error there is no text.
func Plain(src *diag.Source, open Open) (string, diag.List) {
	r := newReader(src, nil)
	r.open = open
	r.read()
	r.found = slices.DeleteFunc(r.found, func(d diag.Diagnostic) bool {
		return d.Severity != diag.Error && d.Code != codeFormat3 || d.Code == codeForeignNode || d.Code == codeForeignAttr
	})
	if r.found.HasErrors() {
		return "", r.found.Sorted()
	}
	x := &exporter{reader: r, owner: map[string]string{}, types: map[string]*nodeType{}}
	if len(r.order) > 1 || r.doc.Root.Find(attrMain) != nil {
		x.edit(r.doc.Set(r.doc.Root, attrMain, r.main.plainID()))
	}
	for _, t := range r.order {
		x.tree(t)
		if m := r.subtreeModel(t.id); m != nil {
			x.edit(r.doc.Set(m.element, "ID", t.plainID()))
		}
	}
	x.models(r.doc.Root)
	return apply(r.doc, x.edits), r.found.Sorted()
}

// exporter turns a document into one of BehaviorTree.CPP.
type exporter struct {
	*reader
	edits []xmltree.Edit
	owner map[string]string    // the node type to which an ID was given
	types map[string]*nodeType // by ID: those that BehaviorTree.CPP does not have
	ids   []string             // of the types, in the order of the document
	uses  map[string]int       // of the names of subtrees in a tree
}

// nodeType is a node type with the attributes of its uses, in their order.
type nodeType struct {
	form  string
	ports []string
}

func (x *exporter) edit(e xmltree.Edit) { x.edits = append(x.edits, e) }

// lost reports what BehaviorTree.CPP does not have.
func (x *exporter) lost(e *xmltree.Element, format string, args ...any) {
	x.warn(e.At+1, len(e.Name), CodeLost, "", format, args...)
}

// tree exports a tree.
func (x *exporter) tree(t *tree) {
	if id := t.element.Find("ID"); valueOf(id) != "" {
		if now := permitted(id.Value); now != id.Value {
			x.edit(x.doc.Set(t.element, "ID", now))
			x.lost(t.element, "BehaviorTree.CPP refuses blanks and some signs in an ID: %q becomes %q", id.Value, now)
		}
	} else {
		x.edit(x.doc.Set(t.element, "ID", t.plainID()))
	}
	x.uses = map[string]int{}
	x.node(t.root)
}

// plainID returns the ID of a tree in BehaviorTree.CPP.
func (t *tree) plainID() string {
	if valueOf(t.element.Find("ID")) == "" {
		return "MainTree"
	}
	return permitted(t.id)
}

// subtree exports the use of a tree. Its name must be the only one of its kind in the tree around it.
func (x *exporter) subtree(i *item) {
	e, id := i.element, i.element.Find("ID")
	if x.edit(x.doc.Set(e, "ID", permitted(id.Value))); i.subtree == nil {
		x.lost(e, "BehaviorTree.CPP does not load the plan: there is no tree %q", id.Value)
	}
	name := e.Find("name")
	if name == nil {
		return
	}
	now := name.Value
	for x.uses[now]++; x.uses[now] > 1; x.uses[now]++ {
		now += "_" + strconv.Itoa(x.uses[now])
	}
	if now != name.Value {
		x.edit(x.doc.Set(e, "name", now))
		x.lost(e, "BehaviorTree.CPP refuses two subtrees of one name in a tree: the second %q becomes %q", name.Value, now)
	}
}

// node exports a node with those below it.
func (x *exporter) node(i *item) {
	e := i.element
	if i.wraps {
		if before, after := x.around(i); before != "" {
			x.edit(xmltree.Edit{Span: xmltree.Span{At: e.At, End: e.At}, New: before})
			x.edit(xmltree.Edit{Span: xmltree.Span{At: e.End, End: e.End}, New: after})
		}
		x.node(i.task())
		return
	}
	for _, name := range preconditions {
		x.script(e, e.Find(name))
	}
	switch {
	case e.Name == elementSubTree:
		x.subtree(i)
	case i.unknown:
		if id := e.Find("ID"); id != nil && xmltree.IsName(id.Value) {
			x.rename(e, id.Value, "")
		}
	case i.clerk != nil:
		x.rename(e, i.id, i.name)
	case i.short != nil:
		x.shorthand(i)
	case i.kind.Family() == bt.Leaf:
		x.leaf(i)
	default:
		x.composite(i)
	}
	below := i.children
	if i.short != nil {
		below = i.written
	}
	for _, c := range below {
		if c.element.Parent != nil { // not an attribute
			x.node(c)
		}
	}
}

// ownNotation matches expressions that are no scripts of BehaviorTree.CPP: they have units, words as operators,
// functions, or quotation marks of the other sort.
var ownNotation = regexp.MustCompile(`[[{"]|\b(gt|ge|lt|le|eq|ne|and|or|not)\b|\w\(`)

// script exports an attribute that is a script in BehaviorTree.CPP, nil: there is none.
func (x *exporter) script(e *xmltree.Element, a *xmltree.Attribute) {
	if a == nil || !ownNotation.MatchString(a.Value) {
		return
	}
	if parsed, err := expr.Parse(a.Value); err == nil {
		if text, ok := parsed.Plain(); ok {
			x.edit(x.doc.Set(e, a.Name, text))
			x.lost(e, "in BehaviorTree.CPP %q is a script over the blackboard: it becomes %q", a.Name, text)
			return
		}
	}
	x.edit(x.doc.Unset(e, a.Name))
	x.lost(e, "%q is left out: it is a script in BehaviorTree.CPP, which cannot express %q", a.Name, a.Value)
}

// around returns what stands before and after an element in the place of attributes that stand for tasks around it, and
// removes these.
func (x *exporter) around(i *item) (before, after string) {
	if !i.wraps {
		for _, name := range i.wrapNames() {
			if i.element.Find(name) != nil {
				x.edit(x.doc.Unset(i.element, name))
			}
		}
		return "", ""
	}
	if i.kind.Attributed() { // BehaviorTree.CPP has the attribute
		return x.around(i.children[1])
	}
	m := &xmltree.Markup{Name: i.kind.String()}
	m.Add("name", i.name)
	for n, p := range i.kind.Params() {
		m.Add(p.Name, p.Write(i.params[n]))
	}
	start := strings.TrimSuffix(m.String(), "/>")
	if len(i.children) == 0 {
		return start + "/>", ""
	}
	start += ">"
	for _, c := range i.children {
		before, after = x.around(c)
		start += before
	}
	return start, after + "</" + m.Name + ">"
}

// permitted returns an ID with underscores in the place of the characters that BehaviorTree.CPP refuses.
func permitted(id string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune(`<>&"'/\:*?|.`, c) {
			return '_'
		}
		return c
	}, id)
}

// rename gives a node in compact form its name and a label, "": the one that it has.
func (x *exporter) rename(e *xmltree.Element, to, label string) {
	if e.Name != to {
		x.edit(xmltree.Edit{Span: xmltree.Span{At: e.At + 1, End: e.At + 1 + len(e.Name)}, New: to})
		if e.Close.Len() > 0 {
			at := e.Close.At + len("</")
			x.edit(xmltree.Edit{Span: xmltree.Span{At: at, End: at + len(e.Name)}, New: to})
		}
	}
	name, id := e.Find("name"), e.Find("ID")
	switch given := name != nil && name.Value != ""; {
	case given || label == "" || label == to:
		if name != nil && !given {
			x.edit(x.doc.Unset(e, "name"))
		}
		if id != nil {
			x.edit(x.doc.Unset(e, "ID"))
		}
	case name != nil:
		x.edit(x.doc.Set(e, "name", label))
		if id != nil {
			x.edit(x.doc.Unset(e, "ID"))
		}
	case id != nil: // in the place of the ID
		x.edit(xmltree.Edit{Span: xmltree.Span{At: id.At, End: id.At + len("ID")}, New: "name"})
		x.edit(xmltree.Edit{Span: id.Raw, New: x.doc.Set(e, "ID", label).New})
	default:
		x.edit(x.doc.Set(e, "name", label))
	}
}

func (x *exporter) shorthand(i *item) {
	id := i.element.Name
	if slices.Contains(explicit, id) {
		id = i.id
	}
	x.rename(i.element, id, i.name)
	switch i.short.of {
	case foreign:
		x.declare(i.short.form, id, i.attributes())
	case own:
		x.declare(i.short.form, id, i.short.attributes)
		x.lost(i.element, "BehaviorTree.CPP has no %s in its plans", id)
	}
}

func (x *exporter) composite(i *item) {
	e := i.element
	x.rename(e, i.kind.String(), i.name)
	if i.kind.Own() {
		x.declare(formOf(i.kind), i.kind.String(), i.attributes())
		x.lost(e, "BehaviorTree.CPP has no %s", i.kind)
	}
	for n, p := range i.kind.Params() {
		a := e.Find(p.Name)
		if _, err := strconv.Atoi(valueOf(a)); a != nil && err != nil && n < len(i.params) &&
			!slices.Contains(i.entries, n) && p.Type != bt.Resource {
			x.edit(x.doc.Set(e, p.Name, p.Write(i.params[n])))
		}
	}
	if i.kind.Cases() > 0 {
		x.cases(i)
	}
	if a := i.condition(); a != nil {
		x.script(e, a)
	} else if i.kind.Condition() != "" {
		x.lost(e, "BehaviorTree.CPP does not load the plan: the condition of a %s is its attribute %q", i.kind,
			i.kind.Condition())
	}
	running := 0
	for _, c := range i.children {
		if x.acts(c, map[*tree]bool{}) {
			running++
		}
	}
	if i.kind.Family() == bt.Chain && !i.kind.Memory() && running > 1 {
		x.lost(e, "%d children of the %s contain actions: BehaviorTree.CPP starts the first one again when it has ended",
			running, i.kind)
	}
}

func valueOf(a *xmltree.Attribute) string {
	if a == nil {
		return ""
	}
	return strings.TrimSpace(a.Value)
}

// acts reports whether an action is in a node or in the subtrees below it, except those that are visited already.
func (x *exporter) acts(i *item, visited map[*tree]bool) bool {
	if t := i.subtree; t != nil {
		if visited[t] || t.root == nil {
			return false
		}
		visited[t] = true
		return x.acts(t.root, visited)
	}
	return i.kind.Acts() || slices.ContainsFunc(i.children, func(c *item) bool { return x.acts(c, visited) })
}

// cases exports the attributes of a switch: its variable is an entry of the blackboard, and its cases are texts.
func (x *exporter) cases(i *item) {
	e := i.element
	variable := e.Find(attrVariable)
	switch {
	case variable == nil:
		x.lost(e, "BehaviorTree.CPP has no conditions among the children of a %s", i.kind)
	case expr.IsName(variable.Value):
		x.edit(x.doc.Set(e, attrVariable, "{"+variable.Value+"}"))
	default:
		if _, ok := entry(variable.Value); !ok {
			x.lost(e, "the variable of a %s is an entry of the blackboard in BehaviorTree.CPP, not an expression", i.kind)
		}
	}
}

func (x *exporter) leaf(i *item) {
	e := i.element
	id := x.leafID(i)
	x.rename(e, id, i.name)
	wraps := i.wrapNames()
	used := slices.DeleteFunc(i.attributes(), func(name string) bool { return slices.Contains(wraps, name) })
	if i.kind.Acts() && !i.free && i.undefined() { // an action that does nothing
		x.edit(x.doc.Set(e, attrDone, "false"))
		used = append(used, attrDone)
	}
	for _, name := range []string{attrExitTime, attrExitUntil} {
		if e.Find(name) != nil || i.model != nil && i.model.element.Find(name) != nil {
			x.lost(e, "BehaviorTree.CPP halts an action at once: the exit procedure of %q takes no time there", i.name)
		}
	}
	x.declare(i.kind.String(), id, used)
}

// declare notes a node type that BehaviorTree.CPP does not have, with ports.
func (x *exporter) declare(form, id string, ports []string) {
	t := x.types[id]
	if t == nil {
		t = &nodeType{form: form}
		x.types[id] = t
		x.ids = append(x.ids, id)
	}
	if form == elementControl { // elsewhere it may have one child
		t.form = form
	}
	for _, name := range ports {
		if !portName(name) { // of XML itself
			continue
		}
		if len(t.ports) < maxPorts && !slices.Contains(t.ports, name) {
			t.ports = append(t.ports, name)
		}
	}
}

// leafID returns the ID of a leaf: its own one, else one made from its name.
func (x *exporter) leafID(i *item) string {
	own := i.id != i.kind.String()
	text, owner := i.id, i.kind.String()+" "+i.id
	if !own {
		if text = valueOf(i.element.Find("name")); text == "" {
			text = i.kind.String() + "_1"
		}
		owner = i.kind.String() + " " + text
		if x.reader.models[text] != nil {
			owner += " without model"
		}
	}
	id := strings.Map(func(c rune) rune {
		if c == '_' || c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '_'
	}, text)
	if id == "" || unicode.IsDigit(rune(id[0])) {
		id = "_" + id
	}
	base := strings.TrimSuffix(id, "_1")
	for n := 1; ; n++ {
		if n > 1 {
			id = base + "_" + strconv.Itoa(n)
		}
		m, taken := x.reader.models[id], x.owner[id]
		foreign := foreignNodes[id] != "" || reserved(id) || x.trees[id] != nil
		if taken == owner || taken == "" && !foreign && (m == nil || own && i.id == id) {
			break
		}
	}
	if x.owner[id] = owner; own && id != i.id {
		x.lost(i.element, "%q cannot be the name of an element: it becomes %q", i.id, id)
	}
	return id
}

// models declares the node types that have no model, and the ports that models do not declare.
func (x *exporter) models(root *xmltree.Element) {
	var place *xmltree.Element
	for e := range root.Elements() {
		if e.Name == elementModels {
			place = e
		}
	}
	all := &xmltree.Markup{Name: elementModels}
	for _, id := range x.ids {
		t, m := x.types[id], x.reader.models[id]
		missing := &xmltree.Markup{Name: t.form}
		missing.Add("ID", id)
		for _, name := range t.ports {
			if m == nil || !m.declares(name) {
				p := &xmltree.Markup{Name: "input_port"}
				p.Add("name", name)
				missing.Children = append(missing.Children, p)
			}
		}
		switch {
		case m == nil:
			all.Children = append(all.Children, missing)
		case len(missing.Children) > 0:
			x.edit(x.doc.Append(m.element, missing.Children))
		}
	}
	switch {
	case len(all.Children) == 0:
	case place == nil:
		x.edit(x.doc.Append(root, []*xmltree.Markup{all}))
	default:
		x.edit(x.doc.Append(place, all.Children))
	}
}

// declares reports whether a model's element has a port with the given name.
func (m *model) declares(name string) bool {
	for e := range m.element.Elements() {
		if a := e.Find("name"); a != nil && a.Value == name {
			return true
		}
	}
	return false
}
