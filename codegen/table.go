package codegen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// row is a row of a table: named values, in the order of the fields in C.
type row struct {
	about  string
	fields []field
}

// field is a value with its name: an int, a float64 or a bool, a row, or of one of the types below.
type field struct {
	name  string
	value any
}

type (
	symbol      string    // a status, a family or a phase
	flags       []string  // properties of a task, those that it has
	index       int       // of a row of a table, from 0; -1: none
	task        bt.Task   // a task by its name
	children    []bt.Task // of a task
	array       []any     // values in place
	byCriterion []field
	criteria    int      // one bit each
	formula     struct { // a function of the signals; with code nil: none
		code  *expr.Code
		truth bool
		about string

		task      bt.Task // of a leaf, and how plans call its formula; "": it is none
		attribute string
	}
	list struct { // rows or indices that C has in a table
		table string
		rows  []any
	}
)

func statusOf(s bt.Status) symbol { return symbol(s.String()) }

// row returns the description of a task.
func (n *node) row() row {
	fields := []field{{"family", symbol(n.family.String())}, {"flags", flags(n.flags)}}
	add := func(name string, value any) { fields = append(fields, field{name, value}) }
	if n.family == bt.Chain {
		add("over", statusOf(n.over))
		add("verdict", array{statusOf(n.verdict[0]), statusOf(n.verdict[1]), statusOf(n.verdict[2])})
	}
	add("parent", index(n.parent))
	if n.family != bt.Leaf {
		add("kids", n.children)
	}
	if n.family == bt.Count {
		add("enough", int(n.counts.Enough))
		add("too_many", int(n.counts.TooMany))
		add("quorum", int(n.counts.Quorum))
	}
	if n.shared > 0 {
		add("shared", n.shared)
	}
	if n.family == bt.Script {
		add("states", index(n.states))
		add("limit", int(n.limit))
		add("msec", n.msec)
	}
	return row{fields: fields}
}

// stateRow returns the description of a state of an automaton.
func stateRow(r *bt.StateRow) row {
	var moves array
	for _, m := range r.On {
		moves = append(moves, row{fields: []field{{"says", statusOf(m.Says)}, {"to", int(m.To)}, {"next", int(m.Then)},
			{"step", int(m.Step)}, {"again", bit(m.Again)}}})
	}
	return row{fields: []field{{"child", int(r.Child)}, {"says", statusOf(r.Says)}, {"after", int(r.After)},
		{"whole", bit(r.Whole)}, {"on", moves}}}
}

func lastingRow(l [2]bt.Task) row {
	return row{fields: []field{{"condition", index(l[0])}, {"until", index(l[1])}}}
}

// bit is a truth that C has as a number.
type bit bool

// criterion is a formula of a leaf, by its name in programs, and how plans call it.
var criterion = [executive.Criteria]struct{ name, attribute string }{
	executive.On: {"on", "on"}, executive.Off: {"off", "off"}, executive.SuccessIf: {"success_if", "success if"},
	executive.FailureIf: {"failure_if", "failure if"}, executive.Done: {"done", "done"},
	executive.Failed: {"failed", "failed"}, executive.Entered: {"entered", "entered"},
	executive.Exited: {"exited", "exited"},
}

// rows are the tables of a program.
type rows struct{ leaves, slots, evaluations, relations []row }

// describe returns the tables of a program, of all languages.
func (g *program) describe() rows {
	var r rows
	for i := range g.Leaves {
		r.leaves = append(r.leaves, g.leaf(i))
	}
	for i := range g.Slots {
		r.slots = append(r.slots, g.slot(i))
	}
	for _, k := range g.watched() {
		r.relations = append(r.relations, g.relation(k))
	}
	for _, e := range g.All {
		switch e.Kind {
		case executive.EvaluateSlot:
			r.evaluations = append(r.evaluations, row{fields: []field{{"slot", index(e.Index)},
				{"signal", index(g.place[g.Signal(e.Index)])}, {"value", formula{}}}})
		case executive.EvaluateComputed:
			if place, read := g.place[g.Layout.Computed+e.Index]; read {
				about := g.About(g.Layout.Computed + e.Index).Name
				r.evaluations = append(r.evaluations, row{fields: []field{{"slot", index(0)}, {"signal", index(place)},
					{"value", formula{code: g.Computed[e.Index], about: about}}}})
			}
		case executive.EvaluateOutputs, executive.EvaluateDirect: // inputs
		}
	}
	return r
}

// entries are the entries of the blackboard that an expression reads.
func (g *program) entries(c *expr.Code) list {
	l := list{table: "reads"}
	if c != nil {
		for _, slot := range g.Entries(c) {
			l.rows = append(l.rows, index(slot))
		}
	}
	return l
}

// known is the formula that a value is known.
func known(c *expr.Code, about string) field {
	return field{"known", formula{code: c, truth: true, about: about + " is known"}}
}

func (g *program) leaf(i int) row {
	l := &g.Leaves[i]
	name := g.tree.Name(l.Task)
	assign := func(assignments []executive.Assignment, when string) list {
		of := list{table: "assignments"}
		for _, a := range assignments {
			about := name + ", " + when + ": " + g.Slots[a.Slot].Name
			of.rows = append(of.rows, row{fields: []field{{"slot", index(a.Slot)}, {"captured", index(a.Captured)},
				{"reads", g.entries(a.Value)}, {"value", formula{code: a.Value, about: about}}, known(a.Known, about)}})
		}
		return of
	}
	interrupted := index(-1)
	if g.tree.Idle(l.Task) && len(l.Entry) > 0 {
		interrupted = index(g.tree.Parent(l.Task))
	}
	var formulas, reads byCriterion
	for f, c := range l.Formulas {
		if c == nil {
			continue
		}
		formulas = append(formulas, field{criterion[f].name, formula{c, true, name + ", " + criterion[f].attribute, l.Task,
			criterion[f].attribute}})
		if e := g.entries(c); len(e.rows) > 0 {
			reads = append(reads, field{criterion[f].name, e})
		}
	}
	return row{name, []field{{"task", task(l.Task)}, {"place", g.Place(i)}, {"condition", l.Condition},
		{"lasts", len(l.Until) > 0}, {"interrupted", interrupted}, {"entry", assign(l.Entry, "entry")},
		{"exit", assign(l.Exit, "exit")}, {"entry_time", formula{code: l.EntryTime, about: name + ", entry_time"}},
		{"exit_time", formula{code: l.ExitTime, about: name + ", exit_time"}}, {"formulas", formulas}, {"reads", reads}}}
}

var phases = map[executive.Phase]symbol{executive.Active: "writing", executive.Leaving: "leaving"}

func (g *program) slot(i int) row {
	s := &g.Slots[i]
	writers, readers := list{table: "writers"}, list{table: "readers"}
	for _, w := range s.Writers {
		about := g.tree.Name(g.Leaves[w.Leaf].Task) + ", write: " + s.Name
		writers.rows = append(writers.rows, row{s.Name, []field{{"leaf", index(w.Leaf)}, {"phase", phases[w.Phase]},
			{"discrete", w.Value != nil && w.Value.Type() != expr.Real}, {"captured", index(w.Captured)},
			{"value", formula{code: w.Value, about: about}}, known(w.Known, about)}})
	}
	if s.Entry {
		for _, leaf := range g.Readers(i) {
			readers.rows = append(readers.rows, index(leaf))
		}
	}
	return row{s.Name, []field{{"initial", s.Initial}, {"empty", s.Empty}, {"entry", s.Entry}, {"hold", s.Hold},
		{"signal", index(g.place[g.Signal(i)])}, {"writers", writers}, {"readers", readers}}}
}

// relation describes a relation that a program with passes watches.
func (g *program) relation(k int) row {
	heeds := list{table: "heeds"}
	for i := range g.Leaves {
		bits := criteria(0)
		for f, c := range g.Leaves[i].Formulas {
			if c != nil && slices.Contains(c.Indicators(), k) {
				bits |= 1 << f
			}
		}
		if bits != 0 {
			heeds.rows = append(heeds.rows, row{fields: []field{{"leaf", index(i)}, {"criteria", bits}}})
		}
	}
	difference := formula{code: g.Indicators[k].Difference(), about: "difference: " + g.Indicators[k].Text}
	return row{fields: []field{{"difference", difference}, {"of", heeds}}}
}

// unknown reports a value that a printer does not know.
func unknown(v any) string { panic(fmt.Sprintf("codegen: a value of the type %T", v)) }

// joined returns the texts of values.
func joined[T any](values []T, text func(v T) string) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, text(v))
	}
	return strings.Join(texts, ", ")
}
