package codegen

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
)

//go:embed runtime/canopy.lua
var luaTree string

//go:embed runtime/canopy_leaves.lua
var luaLeaves string

//go:embed runtime/canopy_program.lua
var luaProgram string

//go:embed runtime/canopy_script.lua
var luaScript string

// Lua returns the program of a tree in Lua 5.3 for ArduPilot, in the folders of its scripts: the plan, a module with a
// name made of the given one, and the script, which is the user's to fill in. Comments say from what they were made,
// and what is to be known about each task. With a program, its expressions are translated, too; the script has bindings
// for the signals of the contract of this name, if there is one.
func Lua(name, made string, tree *bt.Tree, about func(bt.Task) string, p *Program, contract string) (module,
	script File, err error) {
	w := newWriter(name, made, tree, about)
	module.Name, script.Name = "modules/"+w.prefix+"_plan.lua", w.prefix+".lua"
	text := remark(made+"; do not edit.") + luaTree
	l := &luaPrinter{names: w.keys()}
	if p == nil {
		module.Text = text + luaLeaves + luaScript + l.tree(w) + treeModule
		script.Text = w.leafScript(l)
		return module, script, nil
	}
	if len(p.Kept) > 0 {
		return module, script, errors.New("a task writes a value that may be unknown, because a source may be lost: that is" +
			" not supported in Lua; export the plan alone, whose leaves are up to your script")
	}
	g := newProgram(p, w)
	l.program = g
	module.Text = text + luaProgram + luaScript + l.tree(w) + l.tables() + programModule
	script.Text = g.signalScript(contract)
	return module, script, nil
}

const treeModule = `
local module = {}

-- Begins an execution of the tree with these functions for its leaves.
function module.begin(functions, changed)
  return new_plan(tree, functions, changed)
end

-- Returns what ArduPilot expects of a script. failed is called with what went wrong in a step.
function module.schedule(functions, failed, period)
  local x = module.begin(functions)
  return schedule(x, function(now)
    local fault = x.step(now, ROUNDS)
    if fault then
      failed(fault)
    end
  end, period)
end

return module
`

const programModule = `
local module = {}

-- Begins an execution of the plan.
function module.begin(changed)
  return new_plan(tree, program, changed)
end

-- Returns what ArduPilot expects of a script. In each step, inputs sets the inputs by their names at a time [s],
-- outputs carries out what the plan wants, and failed is called with what went wrong.
function module.schedule(inputs, outputs, failed, period)
  local x, given, wanted = module.begin(), {}, {}
  return schedule(x, function(now)
    inputs(given, now / 1000.0)
    take(program.inputs, given, x.signals)
    local fault = x.step(now, ROUNDS)
    if fault then
      failed(fault)
    end
    give(program.outputs, program.truths, x.signals, #program.inputs, wanted)
    outputs(wanted)
  end, period)
end

return module
`

// keys returns a name for each task, different ones.
func (w *writer) keys() []string {
	keys := make([]string, len(w.numbers))
	for i, number := range w.numbers {
		keys[i] = strings.ToLower(strings.TrimPrefix(number, strings.ToUpper(w.prefix)+"_"))
	}
	return keys
}

// remark returns a text as a comment of Lua on one line.
func remark(text string) string {
	return "-- " + printable(text) + "\n"
}

// reserved are the words that Lua does not allow as names.
var reserved = strings.Fields("and break do else elseif end false for function goto if in local nil not or repeat" +
	" return then true until while")

var luaName = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// key returns a name as the key of a table.
func key(name string) string {
	if luaName.MatchString(name) && !slices.Contains(reserved, name) {
		return name
	}
	return "[" + quoted(name) + "]"
}

// member returns the expression for a member of a table.
func member(table, name string) string {
	if k := key(name); k[0] == '[' {
		return table + k
	}
	return table + "." + name
}

func quoted(text string) string { return literal(text, `\%03d`) }

// luaPrinter prints the rows of tables as tables of Lua.
type luaPrinter struct {
	program *program
	names   []string // of tasks
	tabled  []*expr.Tabulated
}

func (l *luaPrinter) row(r row) string {
	var fields []string
	add := func(name, text string) { fields = append(fields, key(name)+" = "+text) }
	for _, f := range r.fields {
		switch v := f.value.(type) {
		case flags:
			for _, flag := range v {
				add(strings.ToLower(flag), "true")
			}
		case bool:
			if v {
				add(f.name, "true")
			}
		case bit:
			if v {
				add(f.name, "true")
			}
		case index:
			if v >= 0 {
				add(f.name, l.value(v))
			}
		case formula:
			if v.code != nil {
				add(f.name, l.value(v))
			}
		default:
			add(f.name, l.value(v))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func (l *luaPrinter) value(v any) string {
	switch v := v.(type) {
	case int:
		return fmt.Sprint(min(v, math.MaxInt32))
	case bool:
		return fmt.Sprint(v)
	case float64:
		return inLua.constant(v).text
	case symbol:
		return quoted(string(v))
	case index:
		return fmt.Sprint(int(v) + 1)
	case task:
		return fmt.Sprint(int(v) + 1)
	case row:
		return l.row(v)
	case formula:
		return l.function(v)
	case criteria:
		var names array
		for f, c := range criterion {
			if v&(1<<f) != 0 {
				names = append(names, symbol(c.name))
			}
		}
		return l.value(names)
	case byCriterion:
		return l.sequence(l.row(row{fields: v}))
	case array:
		return l.sequence("{" + joined(v, l.value) + "}")
	case list:
		return l.sequence("{" + joined(v.rows, l.value) + "}")
	case children:
		return l.sequence("{" + joined(v, func(c bt.Task) string { return l.value(index(c)) }) + "}")
	}
	return unknown(v)
}

// sequence returns the text of a table; all empty ones are the same.
func (*luaPrinter) sequence(text string) string {
	if text == "{}" {
		return "none"
	}
	return text
}

// function returns an expression as a function.
func (l *luaPrinter) function(f formula) string {
	text := inLua.body(f.code, f.truth, false,
		terms{place: func(signal int) int { return l.program.place[signal] }, table: l.table})
	if lines := strings.Count(text, "\n"); lines == 1 {
		return "function(s) " + strings.TrimSpace(text) + " end"
	}
	return "function(s)\n" + text + "end"
}

// table returns the name of a look-up table.
func (l *luaPrinter) table(t *expr.Tabulated) string {
	i := slices.Index(l.tabled, t)
	if i < 0 {
		i = len(l.tabled)
		l.tabled = append(l.tabled, t)
	}
	return fmt.Sprintf("tables[%d]", i+1)
}

// tabulated describes a look-up table.
func tabulated(t *expr.Tabulated) row {
	numbers := func(values []float64) (a array) {
		for _, v := range values {
			a = append(a, v)
		}
		return a
	}
	fields := []field{{"x", numbers(t.Axes[0].Points)}, {"values", numbers(t.Values)}, {"clamp", t.Clamp}}
	if len(t.Axes) == 2 {
		fields = append(fields, field{"y", numbers(t.Axes[1].Points)})
	}
	return row{fields: fields}
}

// write writes a table of rows, each after a comment about it.
func (l *luaPrinter) write(b *strings.Builder, name string, rows []row) {
	fmt.Fprintf(b, "%s = {\n", name)
	for _, r := range rows {
		if r.about != "" {
			b.WriteString("  " + remark(r.about))
		}
		b.WriteString("  " + l.row(r) + ",\n")
	}
	b.WriteString("}\n")
}

func rowsOf[T any](values []T, of func(v T) row) (rows []row) {
	for _, v := range values {
		rows = append(rows, of(v))
	}
	return rows
}

// tree writes the tables of a tree.
func (l *luaPrinter) tree(w *writer) string {
	var b strings.Builder
	b.WriteString("\nlocal tree = {}\n")
	var nodes []row
	for i := range w.nodes {
		r := w.nodes[i].row()
		if r.about = w.about(bt.Task(i)); l.program == nil && w.nodes[i].family == bt.Leaf {
			r.fields = append(r.fields, field{"name", symbol(l.names[i])})
		}
		nodes = append(nodes, r)
	}
	l.write(&b, "tree.nodes", nodes)
	l.write(&b, "tree.states", rowsOf(w.states, func(r bt.StateRow) row { return stateRow(&r) }))
	l.write(&b, "tree.lasting", rowsOf(w.lasting, lastingRow))
	return b.String()
}

// tables writes the tables of a program.
func (l *luaPrinter) tables() string {
	var b strings.Builder
	g := l.program
	names := func(from, n int) (a array) {
		for _, name := range g.names[from : from+n] {
			a = append(a, symbol(name))
		}
		return a
	}
	var truths array
	for i := range g.Slots {
		truths = append(truths, g.About(g.places[1+g.inputs+i]).Truth)
	}
	r := g.describe()
	for _, t := range []struct {
		name string
		rows []row
	}{{"leaves", r.leaves}, {"slots", r.slots}, {"relations", r.relations}, {"evaluations", r.evaluations}} {
		l.write(&b, "program."+t.name, t.rows)
	}
	var of strings.Builder
	l.write(&of, "local tables", rowsOf(l.tabled, tabulated))
	of.WriteString("\nlocal program = " + l.row(row{fields: []field{{"inputs", names(1, g.inputs)},
		{"outputs", names(1+g.inputs, len(g.Slots))}, {"truths", truths}, {"signals", len(g.places)},
		{"captured", g.Captures}, {"passes", g.passes}}}) + "\n")
	return "\n" + of.String() + b.String()
}
