// Package plan reads, writes and draws plan documents: behaviour trees in the XML format of BehaviorTree.CPP 4.
package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// Signal is one signal that the expressions of a plan may name.
type Signal struct {
	Unit   expr.Unit
	Type   expr.Type
	Values []string        // of an enumeration
	Slot   bool            // tasks may write it
	Held   bool            // a real that changes at instants only
	Entry  bool            // the plan declares it; it may be unset, and is then NaN
	Hold   bool            // a slot that keeps its last value while no task writes it; otherwise it returns to its default
	Text   string          // one line that describes it
	Table  *expr.Tabulated // the name is that of a function

	Constant *float64 // a real that never changes; nil: a signal

	Sources []string // its value is known while all of these are; nil: always
}

func (s Signal) variable() expr.Variable {
	return expr.Variable{Type: s.Type, Unit: s.Unit, Values: s.Values, Table: s.Table, Held: s.Held, Sources: s.Sources,
		Constant: s.Constant}
}

// Vocabulary is all signals that a plan may name.
type Vocabulary map[string]Signal

// Plan is a plan document that was read without errors: its main tree, every subtree expanded. It is immutable.
type Plan struct {
	Source  *diag.Source
	Name    string // the ID of the main tree
	Tree    *bt.Tree
	Leaves  []Leaf            // in the order of Tree.Leaves
	Entries []BlackboardEntry // of the blackboard, apart from signals

	Document *xmltree.Document // of the source

	labels    []string           // each task's own name
	resources []string           // their names, by their number from 1
	elements  []*xmltree.Element // by task
}

// Label returns a task's own name, which need not be unique: its name, else its ID, else its element's name.
func (p *Plan) Label(t bt.Task) string { return p.labels[t] }

// Element returns the element of the document with which a task is written. Tasks of a subtree that is used several
// times have one element.
func (p *Plan) Element(t bt.Task) *xmltree.Element { return p.elements[t] }

// Place returns the line on which a task is written, from 1, and the name of its file if it is an included one.
func (p *Plan) Place(t bt.Task) (line int, file string) {
	src, at := p.Source.Origin(p.elements[t].At)
	if line, _ = (diag.Diagnostic{Source: src, Offset: at}).Position(); src.Name != p.Source.Name {
		file = src.Name
	}
	return line, file
}

// Leaf is the behaviour of a leaf of the tree. Expressions that its element does not give are nil.
type Leaf struct {
	Task           bt.Task
	ID             string // its leaf type; the element's name if it has no ID attribute
	Offset, Length int    // the start tag in the source
	Free           bool   // nothing defines it: neither its attributes nor a model
	Ports          []Port // of a free leaf, by name
	until          *xmltree.Attribute
	unknown        string // of a condition: what it is while it is unknown

	// Condition: becomes true when On holds, stays true until Off holds; Off nil: true while On holds.
	On, Off *expr.Expr
	// Condition: becomes true when On begins to hold, stays true until the task Until[0] has ended; none: as above.
	Until []bt.Task

	Write                 []Assignment // Action: hold while the task is active
	Entry, Exit           []Assignment // Action: made once at the start of the entry and of the exit procedure
	EntryTime, ExitTime   *expr.Expr   // duration [s] of the entry and of the exit procedure
	EntryUntil, ExitUntil *expr.Expr   // the procedure ends when this holds
	Done, Failed          *expr.Expr   // outcome while active; Failed wins
	SuccessIf, FailureIf  *expr.Expr   // request while transient; FailureIf wins
	Start                 string       // entry that Entry sets to the time, if others need the time since then; else empty
}

// Port is a parameter of a free leaf, with its value where the leaf is used: that of the outermost tree that gives one.
type Port struct{ Name, Value string }

func (p Port) String() string { return p.Name + "=" + p.Value }

// Input returns the identity of the input that a condition reads, and its name: conditions with one identity are one
// input. With an expression, the identity is that expression, whatever its notation; computed signals are replaced by
// expand, nil: by nothing. Without one, it is the condition's ID, else its own name, with its ports.
func (p *Plan) Input(l *Leaf, expand func(*expr.Expr) *expr.Expr) (identity, name string) {
	if l.On == nil {
		name = p.Called(l)
		if len(l.Ports) > 0 {
			name += fmt.Sprint(l.Ports)
		}
		return "leaf " + name, name
	}
	name = p.Tree.Name(l.Task)
	text := func(e *expr.Expr) string {
		if expand != nil {
			e = expand(e)
		}
		logic := e.Logic(nil)
		return logic.Identity()
	}
	if identity = text(l.On); l.Off != nil {
		identity += " until " + text(l.Off)
	}
	for _, t := range l.Until {
		identity += " until the end of " + p.Tree.Name(t)
	}
	return identity, name
}

// Called returns the name by which code outside of the plan knows a leaf: its ID, else its own name, else that of its
// task.
func (p *Plan) Called(l *Leaf) string {
	switch kind := p.Tree.Kind(l.Task).String(); {
	case l.ID != kind:
		return l.ID
	case p.Label(l.Task) != kind:
		return p.Label(l.Task)
	}
	return p.Tree.Name(l.Task)
}

// Tasks resolves names and paths of the tasks of some kinds in conditions. Conditions that are one input are one task.
func (p *Plan) Tasks(takes func(bt.Kind) bool) expr.Tasks { return &tasks{p, takes} }

type tasks struct {
	plan  *Plan
	takes func(bt.Kind) bool
}

func (t *tasks) Resolve(name string) []string {
	var names []string
	inputs := map[string]bool{}
	for _, task := range t.plan.Tree.Resolve(name) {
		if !t.takes(t.plan.Tree.Kind(task)) {
			continue
		}
		if i, leaf := slices.BinarySearch(t.plan.Tree.Leaves(), task); leaf && !t.plan.Tree.Kind(task).Acts() {
			input, _ := t.plan.Input(&t.plan.Leaves[i], nil)
			if inputs[input] {
				continue
			}
			inputs[input] = true
		}
		names = append(names, t.plan.Tree.Name(task))
	}
	return names
}

func (t *tasks) Names() []string {
	var names []string
	for task := range bt.Task(t.plan.Tree.Len()) {
		if t.takes(t.plan.Tree.Kind(task)) {
			names = append(names, t.plan.Tree.Name(task))
		}
	}
	return names
}

// Unexplained reports the free leaves and entries as errors: a run needs to know what a leaf does, and what is read.
func (p *Plan) Unexplained() diag.List {
	r := newReader(p.Source, nil)
	for i := range p.Leaves {
		l := &p.Leaves[i]
		if !l.Free {
			continue
		}
		hint, name := `give it a "write", "done" or other attribute, here or in its model`, p.Label(l.Task)
		if !p.Tree.Kind(l.Task).Acts() {
			hint = `write on="...", here or in its model`
		}
		r.report(l.Offset+1, len(p.Element(l.Task).Name), codeFree, hint, "nothing defines what the leaf %q does", name)
	}
	return append(r.found, p.FreeEntries()...)
}

// FreeEntries reports the free entries as errors.
func (p *Plan) FreeEntries() diag.List {
	r := newReader(p.Source, nil)
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Free {
			r.report(e.Offset, e.Length, codeFreeEntry, "let a script write it, or declare it as a signal of the mission",
				"nothing gives the entry %q a value", e.Name)
		}
	}
	return r.found
}

// Assignment gives a slot a value.
type Assignment struct {
	Target         string
	Value          *expr.Expr
	Known          *expr.Expr // the value is known, else the slot keeps its value; nil: it always is
	Unset          bool       // the slot is an entry, from which the value is taken away; Value does not count
	Notes          bool       // the slot notes whether an entry was written since a leaf was told so: several may share it
	Offset, Length int        // the target's name in the source
}

// String returns the assignment as it is written.
func (a Assignment) String() string {
	if a.Unset {
		return "unset " + a.Target
	}
	return a.Target + " := " + a.Value.String()
}

// Read reads a plan document that includes no others, as [ReadFiles] does.
func Read(src *diag.Source, signals Vocabulary) (*Plan, diag.List) {
	return ReadFiles(src, signals, nil)
}

// ReadWithin is Read for a plan that with its subtrees has at most a number of tasks: one that has more is not
// expanded. The expressions that name ports have at most 20 parts for each of these tasks.
func ReadWithin(src *diag.Source, signals Vocabulary, tasks int) (*Plan, diag.List) {
	r := newReader(src, signals)
	r.most, r.mostParts = tasks, min(maxParts, 20*tasks)
	return r.accepted()
}

// ReadFiles reads a plan document with those that it includes. The list holds all mistakes at once; if one of them is
// an error there is no plan. Without a vocabulary (nil), neither names nor units of signals are checked. The source of
// the plan is one document of format 4 without includes, whose places are those in the files.
func ReadFiles(src *diag.Source, signals Vocabulary, open Open) (*Plan, diag.List) {
	r := newReader(src, signals)
	r.open = open
	return r.accepted()
}

// ReadFlown reads a plan that a mission has flown, without the mission: functions that are not of the language are the
// mission's tables.
func ReadFlown(src *diag.Source) (*Plan, diag.List) {
	r := newReader(src, nil)
	r.tables = true
	return r.accepted()
}

// accepted reads the plan, and returns it if there are no errors.
func (r *reader) accepted() (*Plan, diag.List) {
	p := r.read()
	list := r.found.Sorted()
	if list.HasErrors() {
		p = nil
	}
	return p, list
}

func newReader(src *diag.Source, signals Vocabulary) *reader {
	r := &reader{source: src, signals: signals, most: maxTasks, mostParts: maxParts,
		reported: map[mistake]bool{}, trees: map[string]*tree{},
		parsed: map[*xmltree.Attribute]*expr.Expr{}, names: map[string][]string{},
		models: map[string]*model{}, passed: map[string][]string{}, mentioned: map[string]bool{}, scopes: map[string]int{},
		opened: map[string]int{},
		types:  map[string]expr.Variable{}, watchers: map[visit]*watcher{},
		watched: map[owned][]*watcher{}, written: map[owned]bool{}, feeds: map[turn]*feed{}}
	if signals != nil {
		r.scope = expr.Scope{}
		for name, s := range signals {
			r.scope[name] = s.variable()
		}
	}
	return r
}

// wanted is the hint for a file that is not a plan.
const wanted = `a plan is an XML file: <root BTCPP_format="4"> with a <BehaviorTree> inside`

// blank are the characters that may precede a document.
const blank = " \t\r\n\ufeff"

// root returns the root element of the document, nil if it cannot be determined.
func (r *reader) root() *xmltree.Element {
	doc, found := xmltree.Parse(r.source)
	r.doc, r.complete = doc, doc.Whole
	switch text, root := strings.TrimLeft(r.source.Text, blank), doc.Root; {
	case text == "":
		r.report(0, 0, codeEmpty, wanted, "the file is empty")
		return nil
	case !utf8.ValidString(text):
		r.found = found
		return nil
	case text[0] != '<', root == nil && doc.Whole:
		r.report(0, 0, codeNotXML, wanted, "this is not a plan")
		return nil
	case root != nil && root.Name != elementRoot && doc.Whole:
		r.reportName(root, codeWrongRoot, wanted, "the root element is <%s>, not <root>", root.Name)
		return nil
	}
	r.found = found
	if doc.Root != nil && doc.Root.Name == elementRoot && doc.Whole {
		src, list, whole := assemble(doc, r.open)
		r.found = append(r.found, list...)
		if src != doc.Source {
			r.source = src
			r.doc, found = xmltree.Parse(src)
			r.found = append(r.found, found...)
			r.complete = whole && r.doc.Whole
		}
	}
	r.strayText(nil, r.doc.Content)
	if r.doc.Root == nil || r.doc.Root.Name != elementRoot { // its tag could not be read
		return nil
	}
	return r.doc.Root
}

// strayText warns of text between the elements, which has no meaning in a plan; old models have descriptions there.
func (r *reader) strayText(in *xmltree.Element, content []xmltree.Node) {
	for _, n := range content {
		switch n.Kind {
		case xmltree.Tags:
			r.strayText(n.Element, n.Element.Content)
		case xmltree.Text, xmltree.CData:
			if in != nil && !strings.HasSuffix(in.Name, "_port") && !r.doc.Blank(n) {
				line := r.doc.FirstLine(n.Span)
				r.warn(line.At, line.Len(), codeStrayText, "write a comment as <!-- ... -->",
					"text between elements has no effect")
			}
		}
	}
}

// read returns the plan, nil if there are errors.
func (r *reader) read() *Plan {
	root := r.root()
	if root == nil {
		return nil
	}
	r.document(root)
	main := r.main
	sizes := r.includes(main)
	for _, id := range slices.Sorted(maps.Keys(r.models)) {
		if m := r.models[id]; !r.fromLibrary(m.element) {
			r.checkModel(m)
		}
	}
	for _, t := range r.order {
		if _, used := r.passed[t.id]; t.root != nil && (used || !r.fromLibrary(t.element)) {
			r.checkTree(t.root, r.inside(t))
		}
	}
	if main == nil || main.root == nil {
		return nil
	}
	if r.complete && !r.astray {
		r.warnUnused(main)
	}
	switch size := sizes[main]; {
	case size.tasks > r.most:
		r.reportName(main.element, xmltree.CodeTooLarge,
			"a subtree is written out at each use: let it be used less often, for instance by a condition over a signal",
			"with its subtrees the tree is not expanded beyond %d tasks", r.most)
		return nil
	case size.names > maxNames:
		r.reportName(main.element, xmltree.CodeTooLarge, "give the tasks shorter names",
			"with its subtrees the tree is not expanded: the names of its tasks with their paths have more than %d bytes",
			maxNames)
		return nil
	case size.depth > xmltree.MaxDepth:
		r.reportName(main.element, xmltree.CodeTooDeep, "", "with its subtrees the tree is more than %d levels deep",
			xmltree.MaxDepth)
		return nil
	}
	return r.plan(main)
}

// plan expands the main tree.
func (r *reader) plan(main *tree) *Plan {
	x := &expansion{reader: r}
	use := &item{element: main.element, id: main.id, name: main.id, subtree: main, model: r.subtreeModel(main.id)}
	top := x.within(use, nil)
	x.entries = r.board(main.root, top)
	root := x.expand(main.root, x.bind(use, environment{}).in(top), top)
	if root == nil {
		return nil
	}
	root.Trees = append([]string{main.id}, root.Trees...)
	x.warnConflicts(root)
	if r.found.HasErrors() {
		return nil
	}
	compiled, err := bt.Compile(root)
	if err != nil {
		panic("plan: the tree engine refuses a tree without mistakes: " + err.Error())
	}
	lasting := map[bt.Task][]bt.Task{}
	for i, task := range compiled.Leaves() {
		x.leaves[i].Task = task
		x.resolveUntil(compiled, &x.leaves[i])
		lasting[task] = x.leaves[i].Until
	}
	x.checkGuards(compiled)
	if r.found.HasErrors() {
		return nil
	}
	return &Plan{Source: r.source, Name: main.id, Tree: compiled.Lasting(lasting), Leaves: x.leaves, Entries: x.entries,
		labels: x.labels, resources: r.resources, Document: r.doc, elements: x.nodes}
}
