package codegen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// Program is a plan with its expressions. The signals, by place, have a name and a text about them.
type Program struct {
	*executive.Program
	About func(place int) (name, about string)
}

// program writes the tables of a plan's leaves.
type program struct {
	*Program
	*writer
	places    []int       // the signals in C: the time, the inputs, the slots and the computed signals
	place     map[int]int // of the signals there
	inputs    int
	passes    bool // it has a loop and a blackboard
	names     []string
	functions strings.Builder
	n         int // functions
	tables    []*expr.Tabulated
}

// newProgram returns the writer of a program.
func newProgram(p *Program, w *writer) *program {
	g := &program{Program: p, writer: w, place: map[int]int{}}
	again := func(r bt.StateRow) bool {
		return slices.ContainsFunc(r.On[:], func(m bt.MoveRow) bool { return m.Again })
	}
	entry := func(s executive.Slot) bool { return s.Entry }
	g.passes = slices.ContainsFunc(p.Slots, entry) && slices.ContainsFunc(w.states, again)
	read := g.read()
	add := func(place int) {
		g.place[place] = len(g.places)
		g.places = append(g.places, place)
	}
	add(0)
	for place := 1; place < p.Layout.Slots; place++ {
		if read[place] {
			add(place)
		}
	}
	g.inputs = len(g.places) - 1
	for i := range p.Slots {
		add(p.Signal(i))
	}
	for i := range p.Computed {
		if read[p.Layout.Computed+i] {
			add(p.Layout.Computed + i)
		}
	}
	taken := map[string]bool{}
	for _, place := range g.places {
		name, _ := p.About(place)
		id := identifier(name)
		for k := 2; taken[id]; k++ {
			id = fmt.Sprintf("%s_%d", identifier(name), k)
		}
		taken[id] = true
		g.names = append(g.names, id)
	}
	return g
}

// codes visits the expressions of leaves and writers.
func (g *program) codes(visit func(c *expr.Code)) {
	see := func(c *expr.Code) {
		if c != nil {
			visit(c)
		}
	}
	for i := range g.Leaves {
		l := &g.Leaves[i]
		for _, c := range l.Formulas {
			see(c)
		}
		for _, a := range slices.Concat(l.Entry, l.Exit) {
			see(a.Value)
			see(a.Known)
		}
		see(l.EntryTime)
		see(l.ExitTime)
	}
	for i := range g.Slots {
		for _, w := range g.Slots[i].Writers {
			see(w.Value)
			see(w.Known)
		}
	}
}

// read returns the signals that are read, also by computed ones.
func (g *program) read() map[int]bool {
	read := map[int]bool{}
	var see func(c *expr.Code)
	see = func(c *expr.Code) {
		for _, place := range c.Reads() {
			if read[place] {
				continue
			}
			read[place] = true
			if place >= g.Layout.Computed {
				see(g.Computed[place-g.Layout.Computed])
			}
		}
	}
	g.codes(see)
	for _, k := range g.watched() {
		see(g.Indicators[k].Difference())
	}
	return read
}

// function writes an expression as a function, and returns its name; NULL for nil.
func (g *program) function(c *expr.Code, truth bool, about string) string {
	if c == nil {
		return "NULL"
	}
	text := body(c, truth, func(signal int) int { return g.place[signal] }, func(t *expr.Tabulated) string {
		i := slices.Index(g.tables, t)
		if i < 0 {
			i = len(g.tables)
			g.tables = append(g.tables, t)
			g.functions.WriteString(tableText(fmt.Sprintf("table%d", i), t))
		}
		return fmt.Sprintf("table%d", i)
	})
	g.n++
	name, result := fmt.Sprintf("f%d", g.n), "double"
	if truth {
		result = "bool"
	}
	fmt.Fprintf(&g.functions, "\n%s\nstatic %s %s(const double *s) {\n", comment(about), result, name)
	if !strings.Contains(text, "s[") {
		g.functions.WriteString("  (void)s;\n")
	}
	g.functions.WriteString(text + "}\n")
	return name
}

// criteria are the formulas of leaves in C, by their names, and how plans call them.
var criteria = [executive.Criteria]struct{ name, attribute string }{
	executive.On: {"ON", "on"}, executive.Off: {"OFF", "off"}, executive.SuccessIf: {"SUCCESS_IF", "success if"},
	executive.FailureIf: {"FAILURE_IF", "failure if"}, executive.Done: {"DONE", "done"},
	executive.Failed: {"FAILED", "failed"}, executive.Entered: {"ENTERED", "entered"},
	executive.Exited: {"EXITED", "exited"},
}

// definitions writes the functions and the tables.
func (g *program) definitions() string {
	var assignments, leaves, writers, slots, evaluations, reads, readers []string
	part := func(first, n int) string { return fmt.Sprintf("{%d, %d}", first, n) }
	entries := func(c *expr.Code) string {
		list := g.Entries(c)
		for _, slot := range list {
			reads = append(reads, fmt.Sprint(slot))
		}
		return part(len(reads)-len(list), len(list))
	}
	for i := range g.Leaves {
		l := &g.Leaves[i]
		task := g.tree.Name(l.Task)
		fields := []string{".task = " + g.numbers[l.Task], fmt.Sprintf(".place = %d", g.Place(i))}
		add := func(name, value string) { fields = append(fields, "."+name+" = "+value) }
		assign := func(list []executive.Assignment, when string) {
			for _, a := range list {
				read := "{0, 0}"
				if a.Value != nil {
					read = entries(a.Value)
				}
				about := task + ", " + when + ": " + g.Slots[a.Slot].Name
				assignments = append(assignments, fmt.Sprintf("{%d, %d, %s, %s, %s}", a.Slot, a.Captured, read,
					g.function(a.Value, false, about), g.function(a.Known, true, about+" is known")))
			}
			if n := len(list); n > 0 {
				add(when, part(len(assignments)-n, n))
			}
		}
		if l.Condition {
			add("condition", "true")
		}
		if len(l.Until) > 0 {
			add("lasts", "true")
		}
		if g.tree.Idle(l.Task) && len(l.Entry) > 0 {
			add("interrupted", g.numbers[g.tree.Parent(l.Task)])
		} else {
			add("interrupted", "CANOPY_NONE")
		}
		assign(l.Entry, "entry")
		assign(l.Exit, "exit")
		if l.EntryTime != nil {
			add("entry_time", g.function(l.EntryTime, false, task+", entry_time"))
		}
		if l.ExitTime != nil {
			add("exit_time", g.function(l.ExitTime, false, task+", exit_time"))
		}
		for f, c := range l.Formulas {
			if c == nil {
				continue
			}
			add("formulas[CANOPY_"+criteria[f].name+"]", g.function(c, true, task+", "+criteria[f].attribute))
			if len(g.Entries(c)) > 0 {
				add("reads[CANOPY_"+criteria[f].name+"]", entries(c))
			}
		}
		leaves = append(leaves, comment(task)+" {"+strings.Join(fields, ", ")+"}")
	}
	for i := range g.Slots {
		s := &g.Slots[i]
		var of []int32
		if s.Entry {
			of = g.Readers(i)
		}
		slots = append(slots, fmt.Sprintf("%s {%s, %t, %t, %t, %d, %s, %s}", comment(s.Name), constant(s.Initial).text,
			s.Empty, s.Entry, s.Hold, g.place[g.Signal(i)], part(len(writers), len(s.Writers)), part(len(readers), len(of))))
		for _, leaf := range of {
			readers = append(readers, fmt.Sprint(leaf))
		}
		for _, w := range s.Writers {
			phase := map[executive.Phase]string{executive.Active: "CANOPY_WRITING", executive.Leaving: "CANOPY_LEAVING"}
			about := g.tree.Name(g.Leaves[w.Leaf].Task) + ", write: " + s.Name
			writers = append(writers, fmt.Sprintf("%s {%d, %s, %t, %d, %s, %s}", comment(s.Name), w.Leaf, phase[w.Phase],
				w.Value != nil && w.Value.Type() != expr.Real, w.Captured,
				g.function(w.Value, false, about), g.function(w.Known, true, about+" is known")))
		}
	}
	relations, heeds := g.relations()
	for _, e := range g.All {
		switch e.Kind {
		case executive.EvaluateSlot:
			evaluations = append(evaluations, fmt.Sprintf("{%d, %d, NULL}", e.Index, g.place[g.Signal(e.Index)]))
		case executive.EvaluateComputed:
			if place, read := g.place[g.Layout.Computed+e.Index]; read {
				name, _ := g.About(g.Layout.Computed + e.Index)
				evaluations = append(evaluations, fmt.Sprintf("{0, %d, %s}", place, g.function(g.Computed[e.Index], false, name)))
			}
		case executive.EvaluateOutputs, executive.EvaluateDirect: // inputs
		}
	}
	var b strings.Builder
	b.WriteString(g.functions.String())
	write := func(of, name string, rows []string) string {
		list(&b, of, name, len(rows), func(i int) string { return rows[i] })
		return pointer(name, len(rows))
	}
	fields := []string{"&" + g.prefix + "_tree", write("canopy_code", "leaves", leaves),
		write("canopy_assignment", "assignments", assignments), write("canopy_slot", "slots", slots),
		write("canopy_writer", "writers", writers), write("canopy_evaluation", "evaluations", evaluations),
		write("uint16_t", "reads", reads), write("uint16_t", "readers", readers),
		write("canopy_relation", "relations", relations), write("canopy_heed", "heeds", heeds)}
	fmt.Fprintf(&b, "\nconst canopy_program %s_program = {%s, %d, %d, %d, %d, %d, %d, %t};\n", g.prefix,
		strings.Join(fields, ", "), len(leaves), len(slots), len(evaluations), len(g.places), g.Captures,
		len(relations), g.passes)
	fmt.Fprintf(&b, "\nvoid %[1]s_begin(%[1]s *plan) {\n  canopy_execution_begin(&plan->x, &%[1]s_program, plan->tasks, "+
		"plan->leaves, plan->signals,\n                         plan->held, plan->captured, plan->above);\n}\n", g.prefix)
	return b.String()
}

// watched returns the relations that a program with passes watches.
func (g *program) watched() (indicators []int) {
	for i := range g.Leaves {
		for _, c := range g.Leaves[i].Formulas {
			if c != nil && g.passes {
				indicators = append(indicators, c.Indicators()...)
			}
		}
	}
	slices.Sort(indicators)
	return slices.Compact(indicators)
}

// relations writes them.
func (g *program) relations() (relations, heeds []string) {
	for _, k := range g.watched() {
		first := len(heeds)
		for i := range g.Leaves {
			criteria := 0
			for f, c := range g.Leaves[i].Formulas {
				if c != nil && slices.Contains(c.Indicators(), k) {
					criteria |= 1 << f
				}
			}
			if criteria != 0 {
				heeds = append(heeds, fmt.Sprintf("{%d, %d}", i, criteria))
			}
		}
		relations = append(relations, fmt.Sprintf("{%s, {%d, %d}}", g.function(g.Indicators[k].Difference(), false,
			"difference: "+g.Indicators[k].Text), first, len(heeds)-first))
	}
	return relations, heeds
}

// declarations declares the signals and the execution.
func (g *program) declarations() string {
	var b strings.Builder
	from := 1
	for _, group := range []struct {
		prefix, about string
		n             int
	}{
		{"IN", "Places of the inputs, to be set before each step.", g.inputs},
		{"OUT", "Places of the signals that the plan writes.", len(g.Slots)},
		{"VALUE", "Places of the signals that are computed from these.", len(g.places) - 1 - g.inputs - len(g.Slots)},
	} {
		if group.n == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n/* %s */\nenum {\n", group.about)
		for i := from; i < from+group.n; i++ {
			_, about := g.About(g.places[i])
			fmt.Fprintf(&b, "  %s = %d, %s\n", g.constant(group.prefix+"_"+g.names[i]), i, comment(about))
		}
		b.WriteString("};\n")
		from += group.n
	}
	fmt.Fprintf(&b, "\n/* An execution of the plan. */\ntypedef struct {\n  canopy_execution x;\n"+
		"  canopy_told tasks[%s];\n  canopy_known leaves[%d];\n  double signals[%d];\n  canopy_stored held[%d];\n"+
		"  canopy_stored captured[%d];\n  bool above[%d];\n} %s;\n",
		g.constant("tasks"), max(1, len(g.Leaves)), len(g.places), max(1, len(g.Slots)), max(1, g.Captures),
		max(1, len(g.watched())), g.prefix)
	fmt.Fprintf(&b, "\nextern const canopy_program %[1]s_program;\n\n/* Begins an execution, which canopy_execution_step"+
		" continues. */\nvoid %[1]s_begin(%[1]s *plan);\n", g.prefix)
	return b.String()
}
