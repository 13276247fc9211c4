package codegen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// Program is a plan with its expressions, and what is to be known about its signals, by their places.
type Program struct {
	*executive.Program
	About func(place int) Signal

	tunable bool // conditions compare with levels that are among the signals, behind the others
}

// Signal describes a signal: its name, a text for a comment, and whether it is a truth.
type Signal struct {
	Name, About string
	Truth       bool
}

// program describes a plan's leaves.
type program struct {
	*Program
	*writer
	places    []int       // the signals: the time, the inputs, the slots and the computed signals
	place     map[int]int // of the signals there
	inputs    int
	passes    bool // it has a loop and a blackboard
	names     []string
	functions strings.Builder
	n         int // functions
	tables    []*expr.Tabulated
	levels    []level
	events    strings.Builder // functions whose zeros are events, of a tunable program, and
	crossings []string        // their names
}

// level is what a formula compares a signal with.
type level struct {
	task  bt.Task
	name  string // of the formula
	place int    // of the signal
	value float64
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
		name := p.About(place).Name
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
	for _, k := range slices.Concat(g.watched(), g.continuous(read)) {
		see(g.Indicators[k].Difference())
	}
	return read
}

// continuous returns the indicators whose zeros change something between events, but those with a level: of formulas,
// of what is written and of what is computed of signals that are read.
func (g *program) continuous(read map[int]bool) (indicators []int) {
	if !g.tunable {
		return nil
	}
	add := func(c *expr.Code, levels bool) {
		if c == nil {
			return
		}
		for _, k := range c.Indicators() {
			if _, compares := g.Indicators[k].Threshold(); !compares || !levels {
				indicators = append(indicators, k)
			}
		}
	}
	for i := range g.Leaves {
		for _, c := range g.Leaves[i].Formulas {
			add(c, true)
		}
	}
	for i := range g.Slots {
		for _, w := range g.Slots[i].Writers {
			add(w.Value, false)
		}
	}
	for i, c := range g.Computed {
		if read[g.Layout.Computed+i] {
			add(c, false)
		}
	}
	slices.Sort(indicators)
	return slices.Compact(indicators)
}

// function writes an expression as a function of C, and returns its name.
func (g *program) function(f formula) string {
	of := terms{place: func(signal int) int { return g.place[signal] }, table: g.table}
	if g.tunable && f.attribute != "" {
		of.level = func(in *expr.Instruction) string { return g.level(f, in) }
	}
	text := inC.body(f.code, f.truth, false, of)
	g.n++
	name, result := fmt.Sprintf("f%d", g.n), "double"
	if f.truth {
		result = "bool"
	}
	fmt.Fprintf(&g.functions, "\n%s\nstatic %s %s(const double *s) {\n", comment(f.about), result, name)
	if !strings.Contains(text, "s[") {
		g.functions.WriteString("  (void)s;\n")
	}
	g.functions.WriteString(text + "}\n")
	return name
}

// table writes a table, unless it is there, and returns its name.
func (g *program) table(t *expr.Tabulated) string {
	i := slices.Index(g.tables, t)
	if i < 0 {
		i = len(g.tables)
		g.tables = append(g.tables, t)
		g.functions.WriteString(tableText(fmt.Sprintf("table%d", i), t))
	}
	return fmt.Sprintf("table%d", i)
}

// level adds the level with which a formula compares a signal, and returns the place of its value.
func (g *program) level(f formula, in *expr.Instruction) string {
	l := level{f.task, f.attribute, g.place[int(in.Index)], in.Value}
	g.levels = append(g.levels, l)
	signal, at := fmt.Sprintf("s[%d]", l.place), fmt.Sprintf("s[%d]", len(g.places)+len(g.levels)-1)
	if in.Op == expr.AtMost {
		g.crossing(at+" - "+signal, f.about)
	} else {
		g.crossing(signal+" - "+at, f.about)
	}
	return at
}

// crossing writes a function whose zeros are events.
func (g *program) crossing(value, about string) {
	name := fmt.Sprintf("z%d", len(g.crossings)+1)
	g.crossings = append(g.crossings, name)
	fmt.Fprintf(&g.events, "\n%s\nstatic double %s(const double *s) {\n  return %s;\n}\n", comment(about), name, value)
}

// definitions writes the functions and the tables.
func (g *program) definitions() string {
	p := constants{tables: map[string][]string{}, task: func(t bt.Task) string { return g.numbers[t] },
		function: g.function}
	r := g.describe()
	for _, l := range r.leaves {
		p.tables["leaves"] = append(p.tables["leaves"], comment(l.about)+" "+p.fields(l))
	}
	for _, of := range []struct {
		table string
		rows  []row
	}{{"slots", r.slots}, {"relations", r.relations}, {"evaluations", r.evaluations}} {
		for _, r := range of.rows {
			text := p.row(r)
			p.tables[of.table] = append(p.tables[of.table], text)
		}
	}
	for _, k := range g.continuous(g.read()) {
		x := &g.Indicators[k]
		g.crossing(g.function(formula{code: x.Difference(), about: "difference: " + x.Text})+"(s)", x.Text)
	}
	var b strings.Builder
	b.WriteString(g.functions.String() + g.events.String())
	fields := []string{"&" + g.prefix + "_tree"}
	for _, t := range []struct{ of, name string }{{"canopy_code", "leaves"}, {"canopy_assignment", "assignments"},
		{"canopy_slot", "slots"}, {"canopy_writer", "writers"}, {"canopy_evaluation", "evaluations"}, {"uint16_t", "reads"},
		{"uint16_t", "readers"}, {"canopy_relation", "relations"}, {"canopy_heed", "heeds"}} {
		rows := p.tables[t.name]
		define(&b, t.of, t.name, len(rows), func(i int) string { return rows[i] })
		fields = append(fields, pointer(t.name, len(rows)))
	}
	fmt.Fprintf(&b, "\nconst canopy_program %s_program = {%s, %d, %d, %d, %d, %d, %d, %t};\n", g.prefix,
		strings.Join(fields, ", "), len(r.leaves), len(r.slots), len(r.evaluations), len(g.places), g.Captures,
		len(r.relations), g.passes)
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
			about := g.About(g.places[i]).About
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
		" continues. */\n#ifdef __cplusplus\nextern \"C\"\n#endif\nvoid %[1]s_begin(%[1]s *plan);\n", g.prefix)
	return b.String()
}
