package equations

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// defaultTolerance is the default absolute tolerance of a state, in the state's unit.
const defaultTolerance = 1e-6

// Read reads a vehicle from its file. The vehicle is nil if the list has errors.
func Read(src *diag.Source) (*model.Vehicle, diag.List) {
	r := yamldoc.NewReader(src)
	root := r.Parse("a vehicle needs at least `states`")
	if root == nil {
		return nil, r.Diags
	}
	b := newBuilder(r)
	b.read(root)
	if b.Diags.HasErrors() {
		return nil, b.Diags
	}
	return b.v, b.Diags
}

// Shape returns what a file of a vehicle may contain.
func Shape() *yamldoc.Shape {
	return yamldoc.Describe(nil, func(r *yamldoc.Reader, root *yamldoc.Node) { newBuilder(r).read(root) })
}

func newBuilder(r *yamldoc.Reader) *builder {
	return &builder{Reader: r, v: &model.Vehicle{Typed: map[string][]string{}}, places: map[string]int{},
		scope: expr.Scope{}, constants: expr.Scope{},
		index: map[string]int{}, replaced: map[*yamldoc.Node]*expansion{}, wrong: map[int]bool{}}
}

// builder fills a vehicle from its file.
type builder struct {
	*yamldoc.Reader
	v      *model.Vehicle
	places map[string]int // in the signal vector, by name

	scope     expr.Scope // what derivatives and outputs may read
	constants expr.Scope // the parameters

	units                         []expr.Unit // of the parameters
	initials, derivatives, values []written
	events                        []happening

	index    map[string]int               // sizes, and the variables of the ranges around
	replaced map[*yamldoc.Node]*expansion // expressions that were expanded
	wrong    map[int]bool                 // by place in the file: such an expression has a mistake
	part     *regexp.Regexp               // nil before the first expansion
	elements int                          // of all arrays
	bytes    int                          // of all expressions
}

// happening is an event of the file.
type happening struct {
	when   *expr.Expr
	resets []expr.Assignment
}

// written is an expression of the file, before it is read.
type written struct {
	key, node *yamldoc.Node // node nil: 0
	as        expr.Variable // what it gives a value
}

// read visits the sections in the order of the signal vector, then the expressions.
func (b *builder) read(root *yamldoc.Node) {
	parts := map[string]*yamldoc.Node{}
	known := yamldoc.Keys{
		"vehicle": func(n *yamldoc.Node) { b.v.Name = b.Text(n, "vehicle") },
		"text":    func(n *yamldoc.Node) { b.v.Text = b.Text(n, "text") },
	}
	for _, key := range []string{"sizes", "parameters", "states", "discrete", "outputs", "commands", "events", "tables"} {
		known[key] = func(n *yamldoc.Node) { parts[key] = n }
	}
	b.Fields(root, "the vehicle", known)
	if root.Kind != yamldoc.Mapping {
		return
	}
	if b.v.Name == "" {
		b.v.Name = strings.TrimSuffix(path.Base(b.Source.Name), path.Ext(b.Source.Name))
	}
	b.places["t"], b.scope["t"] = 0, expr.Number(expr.Second)
	b.sizes(parts["sizes"])
	b.section(parts["states"], "states", b.state)
	b.section(parts["discrete"], "discrete", b.discrete)
	b.section(parts["commands"], "commands", b.command)
	b.section(parts["outputs"], "outputs", b.output)
	b.section(parts["parameters"], "parameters", b.parameter)
	b.Tables(parts["tables"], func(name string) bool { _, taken := b.scope[name]; return taken },
		func(name string, v expr.Variable) {
			b.scope[name], b.constants[name] = v, v
			b.v.Tables = append(b.v.Tables, described(name, v))
		})
	if n := parts["events"]; n != nil {
		b.Sequence(n, "events", func(n *yamldoc.Node) { b.each(n, func(string) { b.event(n) }) })
	}
	if len(b.v.States) == 0 {
		b.Add(root, "missing-key", "add `states`, each with its `derivative`", "the vehicle has no states")
	}
	b.program()
}

// described returns a table for the list of the vehicle's parts.
func described(name string, v expr.Variable) model.Tabulation {
	is := model.Variable{Name: name, Unit: v.Unit.String(), Text: v.Table.Text}
	t := model.Tabulation{Variable: is, Clamp: v.Table.Clamp}
	span := func(list []float64) model.Range {
		if len(list) == 0 {
			return model.Range{}
		}
		return model.Between(slices.Min(list), slices.Max(list))
	}
	for _, a := range v.Table.Axes {
		t.Arguments = append(t.Arguments,
			model.Argument{Name: a.Name, Unit: a.Unit.String(), Points: len(a.Points), Range: span(a.Points)})
	}
	t.Range = span(v.Table.Values)
	return t
}

// section visits the variables of a section that declares names.
func (b *builder) section(n *yamldoc.Node, what string, visit func(key, value *yamldoc.Node) expr.Variable) {
	if n == nil {
		return
	}
	b.Mapping(n, what, func(key, value *yamldoc.Node) {
		b.each(value, func(of string) {
			element := *key
			element.Value += of
			b.declare(&element, func() expr.Variable { return visit(&element, value) })
		})
	})
}

// declare declares a name.
func (b *builder) declare(key *yamldoc.Node, visit func() expr.Variable) {
	if _, taken := b.scope[key.Value]; taken {
		b.Add(key, "duplicate-name", "", "there is already a signal or parameter %q", key.Value)
		return
	}
	if !expr.IsName(key.Value) {
		b.Add(key, "wrong-name", "use letters, digits, _ and dots, and no word of the expression language",
			"%q cannot be a name", key.Value)
		return
	}
	place := len(b.places)
	b.places[key.Value], b.scope[key.Value] = place, expr.Variable{}
	b.scope[key.Value] = visit()
}

// variable reads the unit and the text of a variable, and returns the nodes of its other entries; keys lists the
// permitted ones.
func (b *builder) variable(key, value *yamldoc.Node, unit func(*yamldoc.Node) expr.Unit, keys ...string) (
	v model.Variable, u expr.Unit, nodes map[string]*yamldoc.Node) {
	nodes = map[string]*yamldoc.Node{}
	v, u = model.Variable{Name: key.Value, Unit: "1"}, expr.One
	known := yamldoc.Keys{
		"unit": func(n *yamldoc.Node) { u, v.Unit = unit(n), n.Value },
		"text": func(n *yamldoc.Node) { v.Text = b.Text(n, "text") },
		"for":  func(*yamldoc.Node) {}, // read by each
	}
	for _, k := range keys {
		known[k] = func(n *yamldoc.Node) { nodes[k] = n }
		if k == "initial" || k == "derivative" || k == "value" {
			known[k] = func(n *yamldoc.Node) { nodes[k] = b.expand(n) }
		}
	}
	b.Fields(value, key.Value, known)
	return v, u, nodes
}

// number reads an optional entry.
func (b *builder) number(n *yamldoc.Node, u expr.Unit, what string, missing float64) float64 {
	if n == nil {
		return missing
	}
	return b.Number(n, u, what)
}

// bounds reads a range.
func (b *builder) bounds(key *yamldoc.Node, nodes map[string]*yamldoc.Node, u expr.Unit) model.Range {
	least := b.number(nodes["min"], u, "min", math.Inf(-1))
	most := b.number(nodes["max"], u, "max", math.Inf(1))
	if least > most {
		b.Add(key, "empty-range", "", "the min of %s is above its max", key.Value)
		return model.Range{}
	}
	return model.Between(least, most)
}

// startsWithin reports a default that is outside the range.
func (b *builder) startsWithin(key *yamldoc.Node, nodes map[string]*yamldoc.Node, value float64, r model.Range) {
	if r.Contains(value) {
		return
	}
	if n := nodes["default"]; n != nil {
		key = n
	}
	b.Add(key, "out-of-range", "", "default = %g is outside the range, %v", value, r)
}

// needs reports a missing entry.
func (b *builder) needs(key, value *yamldoc.Node, nodes map[string]*yamldoc.Node, entry, hint string) {
	if nodes[entry] == nil && value.Kind == yamldoc.Mapping {
		b.Add(key, "missing-key", hint, "%s has no %s", key.Value, entry)
	}
}

func (b *builder) parameter(key, value *yamldoc.Node) expr.Variable {
	v, u, nodes := b.variable(key, value, b.Unit, "default", "min", "max", "tag")
	b.needs(key, value, nodes, "default", "a parameter needs a `default`")
	p := model.Parameter{Name: v.Name, Unit: v.Unit, Text: v.Text, Default: b.number(nodes["default"], u, "default", 0)}
	r := b.bounds(key, nodes, u)
	if p.Min, p.Max = r.Bounds(); nodes["default"] != nil {
		b.startsWithin(key, nodes, p.Default, r)
	}
	if n := nodes["tag"]; n != nil {
		p.Tag = b.tag(n)
	}
	b.v.Parameters = append(b.v.Parameters, p)
	b.units = append(b.units, u)
	b.constants[key.Value] = expr.Number(u.InSI())
	return b.constants[key.Value]
}

func (b *builder) tag(n *yamldoc.Node) model.Tag {
	known := []string{model.Assumed.String(), model.Published.String()}
	i := slices.Index(known, n.Word(known...))
	if i < 0 {
		b.Add(n, "unknown-value", "", "a tag is A for assumed or P for published, not %q", n.Value)
		return model.Assumed
	}
	return model.Tag(i)
}

func (b *builder) state(key, value *yamldoc.Node) expr.Variable {
	v, u, nodes := b.variable(key, value, b.SIUnit, "initial", "derivative", "tolerance", "min", "max")
	b.needs(key, value, nodes, "derivative", "write 0 if nothing changes it")
	before := len(b.Diags)
	s := model.State{Variable: v, AbsTol: b.number(nodes["tolerance"], u, "tolerance", defaultTolerance)}
	if !(s.AbsTol > 0) && len(b.Diags) == before {
		b.Add(nodes["tolerance"], "out-of-range", "", "tolerance must be positive")
	}
	b.v.Floating, b.v.Discrete = append(b.v.Floating, nodes["tolerance"] == nil), append(b.v.Discrete, "")
	s.Range = b.bounds(key, nodes, u)
	b.v.States = append(b.v.States, s)
	rate := u
	if u != expr.AnyUnit {
		rate = u.Per(expr.Second)
	}
	b.initials = append(b.initials, written{key, nodes["initial"], expr.Number(u)})
	b.derivatives = append(b.derivatives, written{key, nodes["derivative"], expr.Number(rate)})
	return expr.Number(u)
}

// discrete reads a state that only events change.
func (b *builder) discrete(key, value *yamldoc.Node) expr.Variable {
	v, u, nodes := b.variable(key, value, b.SIUnit, "initial", "type", "values", "min", "max")
	as := b.typed(key, nodes, v, u, expr.Boolean, expr.Integer, expr.Enumeration)
	s := model.State{Variable: v, AbsTol: defaultTolerance, Range: b.bounds(key, nodes, u)}
	switch as.Type {
	case expr.Boolean:
		s.Range = model.Between(0, 1)
	case expr.Enumeration:
		s.Range = model.Between(0, float64(len(as.Values)-1))
		b.v.Typed[v.Name] = as.Values
	}
	b.v.States, b.v.Floating = append(b.v.States, s), append(b.v.Floating, true)
	b.v.Discrete = append(b.v.Discrete, as.Type.Name())
	b.initials = append(b.initials, written{key, nodes["initial"], as})
	b.derivatives = append(b.derivatives, written{key, nil, expr.Number(expr.AnyUnit)})
	return as
}

// typed returns what a variable is, with the type that its entries declare: real, or one of some others.
func (b *builder) typed(key *yamldoc.Node, nodes map[string]*yamldoc.Node, v model.Variable, u expr.Unit,
	others ...expr.Type) expr.Variable {
	as, n := expr.Number(u), nodes["type"]
	if n != nil {
		words := []string{expr.Real.Name()}
		for _, t := range others {
			words = append(words, t.Name())
		}
		t, known := expr.TypeNamed(n.Word(words...))
		switch last := len(others); {
		case !known:
			b.Add(n, "unknown-value", "", "the type of %s is %s or %s, not %q", v.Name, strings.Join(words[:last], ", "),
				words[last], n.Value)
		case t != expr.Real:
			as = expr.Variable{Type: t, Unit: expr.One}
			if v.Unit != "1" {
				b.Add(n, "unit-mismatch", "leave the unit out", "a value of type %s has no unit", n.Value)
			}
		}
	}
	if values := nodes["values"]; values != nil {
		b.Sequence(values, "values", func(n *yamldoc.Node) {
			value := b.Text(n, "a value")
			if !expr.IsName(value) || slices.Contains(as.Values, value) {
				b.Add(n, "wrong-name", "use letters, digits and _", "%q cannot be the name of a value, or occurs twice", value)
			}
			as.Values = append(as.Values, value)
		})
	}
	if (as.Type == expr.Enumeration) != (len(as.Values) > 0) {
		b.Add(key, "missing-key", "type: enumeration with values: [up, down]",
			"%s needs both the type and its values", v.Name)
	}
	return as
}

// event reads a condition and what states get when it becomes true.
func (b *builder) event(n *yamldoc.Node) {
	nodes := map[string]*yamldoc.Node{}
	b.Fields(n, "the event", yamldoc.Keys{
		"for":  func(*yamldoc.Node) {}, // read by each
		"when": func(n *yamldoc.Node) { nodes["when"] = b.expand(n) },
		"then": func(n *yamldoc.Node) { nodes["then"] = b.expand(n) },
	})
	if n.Kind != yamldoc.Mapping {
		return
	}
	if nodes["when"] == nil || nodes["then"] == nil {
		b.Add(n, "missing-key", "write `when: CONDITION` and `then: STATE := VALUE; ...`", "an event has no when or then")
		return
	}
	var e happening
	b.inside(nodes["when"], func() {
		e.when = b.Expression(nodes["when"], expr.Variable{Type: expr.Boolean}, b.scope)
	})
	then := b.Text(nodes["then"], "then")
	list, mistakes := expr.ParseAssignments(then)
	for _, a := range list {
		place := b.places[a.Target] - 1
		if place < 0 || place >= len(b.v.States) {
			mistakes = append(mistakes, b.notState(a))
			continue
		}
		if !slices.Contains(b.v.Jumps, a.Target) {
			b.v.Jumps = append(b.v.Jumps, a.Target)
		}
		mistakes = append(mistakes, a.Value.CheckFor(b.scope[a.Target], b.scope)...)
	}
	b.inside(nodes["then"], func() {
		for _, m := range mistakes {
			b.Inside(nodes["then"], m)
		}
	})
	e.resets = list
	b.events = append(b.events, e)
	b.v.Events = append(b.v.Events, model.Occurrence{When: nodes["when"].Value, Then: then})
}

// notState is the mistake of an event that sets what is no state.
func (b *builder) notState(a expr.Assignment) *expr.Error {
	var names []string
	for _, s := range b.v.States {
		names = append(names, s.Name)
	}
	return &expr.Error{Offset: a.Offset, Length: a.Length, Code: expr.CodeSignal,
		Text: fmt.Sprintf("an event can set states only, not %q", a.Target), Suggest: diag.Near(a.Target,
			func() []string { return names })}
}

func (b *builder) command(key, value *yamldoc.Node) expr.Variable {
	v, u, nodes := b.variable(key, value, b.SIUnit, "default", "hold", "min", "max", "type", "values")
	as := b.typed(key, nodes, v, u, expr.Boolean, expr.Enumeration)
	c := model.Command{Variable: v, Default: b.number(nodes["default"], u, "default", 0)}
	c.Range = b.bounds(key, nodes, u)
	if as.Type != expr.Real {
		c.Range, b.v.Typed[v.Name] = model.Between(0, float64(max(1, len(as.Values)-1))), as.Values
	}
	b.startsWithin(key, nodes, c.Default, c.Range)
	if n := nodes["hold"]; n != nil {
		c.Hold = b.Boolean(n, "hold")
	}
	b.v.Commands = append(b.v.Commands, c)
	return as
}

func (b *builder) output(key, value *yamldoc.Node) expr.Variable {
	v, u, nodes := b.variable(key, value, b.SIUnit, "value", "type")
	as := b.typed(key, nodes, v, u, expr.Boolean)
	if as.Type == expr.Boolean {
		b.v.Typed[v.Name] = nil
	}
	b.needs(key, value, nodes, "value", "an output is computed: give its `value`")
	b.v.Outputs = append(b.v.Outputs, model.Output{Variable: v})
	b.values = append(b.values, written{key, nodes["value"], as})
	return as
}

// program reads the expressions and, unless there are errors, compiles them.
func (b *builder) program() {
	zero, _ := expr.Parse("0")
	read := func(list []written, scope expr.Scope) []*expr.Expr {
		out := slices.Repeat([]*expr.Expr{zero}, len(list))
		for i, w := range list {
			if w.as.Type == expr.Boolean {
				out[i] = expr.False
			}
			if w.node != nil {
				b.inside(w.node, func() { out[i] = b.Expression(w.node, w.as, scope) })
			}
		}
		return out
	}
	initials, derivatives := read(b.initials, b.constants), read(b.derivatives, b.scope)
	values := read(b.values, b.scope)
	if b.Diags.HasErrors() {
		return
	}
	p := &program{parameters: b.v.Parameters, units: b.units, states: b.v.States, commands: len(b.v.Commands),
		written: Formulas{derivatives, values, nil, map[string]*expr.Tabulated{}}, scope: b.scope, places: b.places}
	for _, c := range b.v.Commands {
		p.ranges = append(p.ranges, c.Range)
	}
	for _, name := range b.v.Jumps {
		p.jumps = append(p.jumps, b.places[name]-1)
	}
	for name, v := range b.scope {
		if v.Table != nil {
			p.written.Tables[name] = v.Table
		}
	}
	c := expr.NewCompiler(b.scope, func(name string) (int, bool) { i, ok := b.places[name]; return i, ok }).
		Hold(len(b.places) + len(b.events))
	compile := func(list []*expr.Expr) []*expr.Code {
		var codes []*expr.Code
		for _, e := range list {
			codes = append(codes, c.Compile(e))
		}
		return codes
	}
	for i, e := range initials {
		p.initial = append(p.initial, c.CompileAtOnce(e, b.initials[i].as))
	}
	p.derivatives, p.outputs = compile(derivatives), compile(values)
	for _, e := range b.events {
		x := expr.Event{Condition: c.CompileFor(e.when, expr.Variable{Type: expr.Boolean})}
		for _, a := range e.resets {
			state := b.places[a.Target] - 1
			x.Resets = append(x.Resets, expr.Reset{State: state, Value: c.CompileAtOnce(a.Value, b.scope[a.Target])})
			p.written.Resets = append(p.written.Resets, Reset{state, b.scope[a.Target], a.Value, e.when})
		}
		p.events = append(p.events, x)
	}
	p.relations, p.cells = c.Indicators(), c.Cells()
	direct, circle := p.order()
	if circle != nil {
		var names []string
		for _, i := range append(circle, circle[0]) {
			names = append(names, b.v.Outputs[i].Name)
		}
		b.Add(b.values[circle[0]].node, "algebraic-loop", "let one of them be a state",
			"outputs depend on each other: %s", strings.Join(names, " reads "))
		return
	}
	for i := range direct {
		for _, c := range direct[i] {
			b.v.Outputs[i].Direct = append(b.v.Outputs[i].Direct, b.v.Commands[c].Name)
		}
	}
	b.prompt(p)
	b.v.New = p.new
	b.start(p)
}

// prompt names the commands that set off events at once.
func (b *builder) prompt(p *program) {
	names := map[int]string{}
	for name, place := range b.places {
		names[place] = name
	}
	b.v.Prompt = map[string][]string{}
	for place, commands := range p.prompt() {
		for _, c := range commands {
			b.v.Prompt[names[place]] = append(b.v.Prompt[names[place]], b.v.Commands[c].Name)
		}
	}
}

// start reports initial values that are outside their range with the parameters' defaults.
func (b *builder) start(p *program) {
	signals := make([]float64, len(b.places))
	for i, q := range p.parameters {
		signals[p.firstParameter()+i] = p.units[i].SI(q.Default)
	}
	for i, s := range p.states {
		y := p.initial[i].Value(signals, nil)
		if s.Range.Contains(y) && y-y == 0 {
			continue
		}
		at := b.initials[i].key
		if n := b.initials[i].node; n != nil {
			at = n
		}
		b.Add(at, "out-of-range", "", "%s starts at %g, outside its range, %v", s.Name, y, s.Range)
	}
}
