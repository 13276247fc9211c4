// Package plan reads and writes plan documents: behaviour trees in the XML format of BehaviorTree.CPP 4.
package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
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

// Param returns the value of a parameter of a task as text.
func (p *Plan) Param(t bt.Task, i int) string {
	of, value := &p.Tree.Kind(t).Params()[i], p.Tree.Params(t)[i]
	if of.Type == bt.Resource {
		return param(of, value, p.resources)
	}
	return of.Format(value)
}

// param writes a value as an attribute, a resource by its name if it has one.
func param(p *bt.Param, value int, resources []string) string {
	if p.Type == bt.Resource && value <= len(resources) {
		return resources[value-1]
	}
	return p.Write(value)
}

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
	Defaults       []Port // those that its element does not give, by its model
	until          *xmltree.Attribute
	unknown        string // of a condition: what it is while it is unknown

	Lenient bool // a condition that does not hold while an entry has no value; else it is an error to read that

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

// prompt reports whether an action ends at the instant at which it is activated, as a script does.
func (l *Leaf) prompt() bool {
	return l.Done != nil && l.Done.String() == "true" && l.Failed == nil && l.EntryTime == nil &&
		l.EntryUntil == nil && l.ExitTime == nil && l.ExitUntil == nil
}

// Port is a parameter of a free leaf, with its value where the leaf is used: that of the outermost tree that gives one.
type Port struct {
	Name, Value string
	Entry       string      // the entry or signal that it names, by its name in expressions; empty: none, or not known
	Watchers    [][2]string // who writes the entry makes the first of two Boolean entries differ from the second one

	Offset, Length int // the value in the source
}

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
func (p *Plan) Unexplained(signals Vocabulary) diag.List {
	r := newReporter(p.Source)
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
	return append(r.found, p.FreeEntries(signals)...)
}

// FreeEntries reports the free entries as errors, with a suggestion from the other entries and the signals.
func (p *Plan) FreeEntries(signals Vocabulary) diag.List {
	r := newReporter(p.Source)
	names := slices.Sorted(maps.Keys(signals))
	for _, e := range p.Entries {
		if !e.Free {
			names = append(names, e.Name)
		}
	}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Free {
			r.report(e.Offset, e.Length, codeFreeEntry, "let a script write it, or declare it as a signal of the mission",
				"nothing gives the entry %q a value", e.Name)
			r.found[len(r.found)-1].Suggest = func() string { return diag.DidYouMean(e.Name, names) }
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
	Notes          bool       // the slot notes that an entry was written: several may share it
	Offset, Length int        // the target's name in the source
}

// String returns the assignment as it is written.
func (a Assignment) String() string {
	if a.Unset {
		return "unset " + a.Target
	}
	return a.Target + " := " + a.Value.String()
}
