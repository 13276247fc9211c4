package plan

import (
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
	root := r.root()
	if root == nil || !r.complete {
		return "", r.found.Sorted()
	}
	main := r.document(root)
	x := &exporter{reader: r, owner: map[string]string{}, leaves: map[string]*leafType{}}
	r.found = slices.DeleteFunc(r.found, func(d diag.Diagnostic) bool { return d.Code != codeFormat3 })
	if len(r.order) > 1 && root.Find(attrMain) == nil && main != nil {
		x.edit(r.doc.Set(root, attrMain, main.id))
	}
	for _, t := range r.order {
		if t.root != nil {
			x.node(t.root)
		}
	}
	x.models(root)
	return apply(r.doc, x.edits), r.found.Sorted()
}

// exporter turns a document into one of BehaviorTree.CPP.
type exporter struct {
	*reader
	edits  []xmltree.Edit
	owner  map[string]string    // the leaf type to which an ID was given
	leaves map[string]*leafType // by ID
	ids    []string             // of the leaves, in the order of the document
}

// leafType is a leaf type with the attributes of its uses, in their order.
type leafType struct {
	kind  string
	ports []string
}

func (x *exporter) edit(e xmltree.Edit) { x.edits = append(x.edits, e) }

// lost reports what BehaviorTree.CPP does not have.
func (x *exporter) lost(e *xmltree.Element, format string, args ...any) {
	x.warn(e.At+1, len(e.Name), CodeLost, "", format, args...)
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
	for _, attribute := range preconditions {
		a := e.Find(attribute)
		if parsed, err := expr.Parse(valueOf(a)); a != nil && (err != nil || len(parsed.Names()) > 0) {
			x.lost(e, "in BehaviorTree.CPP %q is a script over the blackboard, which has no signals", attribute)
		}
	}
	if name := e.Find("name"); name != nil && strings.ContainsFunc(name.Value, unicode.IsSpace) {
		x.edit(x.doc.Set(e, "name", closed(name.Value)))
		x.lost(e, "BehaviorTree.CPP refuses names with blanks: %q gets underscores", name.Value)
	}
	switch {
	case e.Name == elementSubTree:
		if i.subtree == nil {
			x.lost(e, "BehaviorTree.CPP does not load the plan: there is no tree %q", valueOf(e.Find("ID")))
		}
	case i.unknown:
		if id := e.Find("ID"); id != nil && xmltree.IsName(id.Value) {
			x.rename(e, id.Value, "")
		}
	case i.kind.Family() == bt.Leaf:
		x.leaf(i)
	default:
		x.composite(i)
	}
	for _, c := range i.children {
		if c.element.Parent != nil { // not an attribute
			x.node(c)
		}
	}
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
	m.Add("name", closed(i.name))
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

// closed returns a name with underscores in the place of blanks.
func closed(name string) string { return strings.Join(strings.FieldsFunc(name, unicode.IsSpace), "_") }

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
	if label != to {
		label = closed(label)
	}
	switch given := name != nil && name.Value != ""; {
	case given || label == "" || label == to:
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

func (x *exporter) composite(i *item) {
	e := i.element
	x.rename(e, i.kind.String(), i.name)
	if i.kind.Own() {
		x.lost(e, "BehaviorTree.CPP has no %s", i.kind)
	}
	for n, p := range i.kind.Params() {
		a := e.Find(p.Name)
		if _, err := strconv.Atoi(valueOf(a)); a != nil && err != nil && n < len(i.params) {
			x.edit(x.doc.Set(e, p.Name, p.Write(i.params[n])))
		}
	}
	if i.kind.Cases() > 0 {
		x.cases(i)
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
	t := x.leaves[id]
	if t == nil {
		t = &leafType{kind: i.kind.String()}
		x.leaves[id] = t
		x.ids = append(x.ids, id)
	}
	for _, name := range used {
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

// models declares the leaf types that have no model, and the ports that models do not declare.
func (x *exporter) models(root *xmltree.Element) {
	var place *xmltree.Element
	for e := range root.Elements() {
		if e.Name == elementModels {
			place = e
		}
	}
	all := &xmltree.Markup{Name: elementModels}
	for _, id := range x.ids {
		t, m := x.leaves[id], x.reader.models[id]
		missing := &xmltree.Markup{Name: t.kind}
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
