package mission

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/sim"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// Defaults of a mission file.
const (
	DefaultTolerance = 1e-6
	defaultInterval  = 60 // s
)

// Read reads the mission file name and the plan it names, whose path is relative to the mission file's. open returns
// a file's contents. Each of set, `name=value`, overrides the horizon, the tolerance, the method, the maximum step or
// a parameter of the vehicle. The mission is nil if the list has errors. The vehicle is the lean one if that is enough.
func Read(
	name string, open func(name string) ([]byte, error), vehicles []model.Offer, set []string,
) (*Mission, diag.List) {
	lean, differs := slices.Clone(vehicles), false
	for i, v := range vehicles {
		if v.Lean != nil {
			lean[i], differs = *v.Lean, true
		}
	}
	m, list := read(name, open, lean, set)
	if m == nil && differs {
		return read(name, open, vehicles, set)
	}
	return m, list
}

func read(
	name string, open func(name string) ([]byte, error), vehicles []model.Offer, set []string,
) (*Mission, diag.List) {
	text, err := open(name)
	src := &diag.Source{Name: name, Text: string(text)}
	if err != nil {
		return nil, diag.List{unreadable(src, err)}
	}
	r := yamldoc.NewReader(src)
	root := r.Parse("a mission needs at least `plan`, `vehicle` and `horizon`")
	if root == nil {
		return nil, r.Diags
	}
	b := newBuilder(r)
	b.read(root, vehicles, set, open)
	if b.Diags.HasErrors() {
		return nil, b.Diags
	}
	return b.m, b.Diags
}

func newBuilder(r *yamldoc.Reader) *builder {
	m := &Mission{Source: r.Source, Tolerance: DefaultTolerance, Method: ode.Multistep, Interval: defaultInterval}
	return &builder{Reader: r, m: m}
}

func unreadable(src *diag.Source, err error) diag.Diagnostic {
	return diag.Diagnostic{Source: src, Code: "unreadable-file", Text: diag.OfFile(err)}
}

// builder fills a mission from its file.
type builder struct {
	*yamldoc.Reader
	m     *Mission
	names map[string]int // signal by name
	codes []*expr.Code   // those whose relations are events
	bends bool           // an expression of these has functions that turn or jump, or nested relations
	offer model.Offer    // of the vehicle

	fenced bool         // the mission has a fence
	reads  map[int]bool // the signals that the plan and the computed signals read

	scope    expr.Scope // signals that expressions may read
	compiler *expr.Compiler
}

// read visits the parts of the file in the order in which they need each other.
func (b *builder) read(root *yamldoc.Node, vehicles []model.Offer, set []string, open func(string) ([]byte, error)) {
	m := b.m
	parts := map[string]*yamldoc.Node{}
	keep := func(key string) func(*yamldoc.Node) { return func(n *yamldoc.Node) { parts[key] = n } }
	known := yamldoc.Keys{
		"mission":        func(n *yamldoc.Node) { m.Name = b.Text(n, "mission") },
		"text":           func(n *yamldoc.Node) { m.Text = b.Text(n, "text") },
		"chattering":     func(n *yamldoc.Node) { m.Chattering = choice(b, n, "chattering", sim.Stop, sim.Continue) },
		"ends_with_plan": func(n *yamldoc.Node) { m.EndsWithPlan = b.Boolean(n, "ends_with_plan") },
	}
	maps.Copy(known, b.numbers())
	for _, k := range []string{
		"plan", "graph", "vehicle", "environment", "parameters", "initial", "commands", "signals", "record", "plots",
		"check", "tables", "outages", "fence", "rally",
	} {
		known[k] = keep(k)
	}
	b.FieldsOr(root, "the mission", known, func(key *yamldoc.Node) {
		if declare.Has(key.Value) {
			b.Add(key, "unknown-key", "write it under `check`, two blanks deeper", "the mission has no %q", key.Value)
			return
		}
		b.Unknown(key, "unknown-key", "the mission", slices.Sorted(maps.Keys(known)))
	})
	if m.Name == "" {
		m.Name = strings.TrimSuffix(path.Base(b.Source.Name), path.Ext(b.Source.Name))
	}
	if root.Kind != yamldoc.Mapping {
		return
	}
	setsHorizon := func(s string) bool { return strings.HasPrefix(s, "horizon=") }
	if root.Entry("horizon") == nil && !slices.ContainsFunc(set, setsHorizon) {
		b.Add(root, "missing-key", "add `horizon: 24 [h]`", "the mission has no horizon")
	}
	if parts["plan"] == nil {
		b.Add(root, "missing-key", "add `plan: plan.xml`", "the mission has no plan")
	}
	if parts["vehicle"] == nil {
		b.Add(root, "missing-key", knownVehicles(vehicles), "the mission has no vehicle")
	}
	if parts["vehicle"] != nil && b.vehicle(parts["vehicle"], vehicles, open) {
		b.sections(parts, set, open)
	} else if parts["plan"] != nil {
		b.plan(parts["plan"], open, nil) // reports the mistakes that do not depend on the vehicle
	}
}

// sections reads what depends on the vehicle.
func (b *builder) sections(parts map[string]*yamldoc.Node, set []string, open func(string) ([]byte, error)) {
	m := b.m
	b.fenced = parts["fence"] != nil
	b.parameters(parts["environment"], parts["parameters"])
	b.overrides(set)
	b.fences(parts["fence"], parts["rally"], b.offer)
	b.sourced(parts["outages"])
	b.table(parts["tables"], parts["commands"], parts["signals"])
	b.initialValues(parts["initial"])
	planned := parts["plan"] != nil && b.plan(parts["plan"], open, b.m.Vocabulary())
	b.recording(parts["record"], parts["plots"])
	if !planned {
		return
	}
	if parts["graph"] != nil {
		m.Graph = b.beside(parts["graph"], "graph", open)
	}
	b.m.Declared = declare.Read(b.Reader, parts["check"], b.m.Plan, b.m.Scope())
	m.computed = declare.Computed(parts["signals"])
	judging := m.judging(m.Watch())
	m.Record, m.judged, m.judges = judging.Record, judging.judged, judging.judges
	if !b.Diags.HasErrors() {
		b.compile()
	}
}

// longest is the longest horizon [s]: times in the log are 64-bit nanoseconds.
const longest = 9e9

// numbers are the keys of the mission that a command line may set, too.
func (b *builder) numbers() yamldoc.Keys {
	m := b.m
	return yamldoc.Keys{
		"horizon": func(n *yamldoc.Node) {
			m.Horizon = b.Bounded(n, expr.Second, "horizon", func(v float64) bool { return v > 0 }, "be positive", "")
			if m.Horizon > longest {
				b.Add(n, "out-of-range", "", "horizon must be at most %g s, almost three centuries", longest)
			}
		},
		"tolerance": func(n *yamldoc.Node) {
			m.Tolerance = b.Bounded(n, expr.One, "tolerance", func(v float64) bool { return 1e-12 <= v && v <= 1e-3 },
				"be between 1e-12 and 1e-3", "1e-6 is usual")
		},
		"method": func(n *yamldoc.Node) { m.Method = choice(b, n, "method", ode.Methods()...) },
		"max_step": func(n *yamldoc.Node) {
			m.MaxStep = b.Bounded(n, expr.Second, "max_step", func(v float64) bool { return v >= 1e-6 }, "be at least 1e-6 s",
				"events need none: it is for what may happen and end again within one step")
		},
	}
}

// shortest is the minimum interval of the recording grid [s]: with a shorter one a typing error fills a disk.
const shortest = 1e-3

// choice reads one of several words.
func choice[T fmt.Stringer](b *builder, n *yamldoc.Node, what string, values ...T) T {
	var words []string
	for _, v := range values {
		words = append(words, v.String())
	}
	if i := slices.Index(words, n.Word(words...)); i >= 0 {
		return values[i]
	}
	before := len(b.Diags)
	if word := b.Text(n, what); len(b.Diags) == before {
		last := len(words) - 1
		b.Add(n, "unknown-value", diag.DidYouMean(word, words), "%s is %s or %s, not %q", what,
			strings.Join(words[:last], ", "), words[last], word)
	}
	return values[0]
}

// site is the group of the parameters that describe the environment, not the vehicle.
const site = "site."

// The parameters of the environment with the place of home [deg, m].
const (
	siteLat = site + "lat_deg"
	siteLon = site + "lon_deg"
	siteAlt = site + "alt"
)

// parameters reads both parameter sections; the environment's names are written without their group.
func (b *builder) parameters(environment, parameters *yamldoc.Node) {
	if environment != nil {
		b.section(environment, "environment", func(name string) string { return site + name })
	}
	if parameters != nil {
		b.section(parameters, "parameters", func(name string) string {
			if strings.HasPrefix(name, site) {
				return "" // those belong under environment
			}
			return name
		})
	}
}

func (b *builder) section(n *yamldoc.Node, what string, full func(string) string) {
	v := b.m.Vehicle
	b.Mapping(n, what, func(key, value *yamldoc.Node) {
		i := slices.IndexFunc(v.Parameters, func(p model.Parameter) bool { return p.Name == full(key.Value) })
		if i < 0 {
			b.unknownParameter(key, parameterNames(v, strings.TrimSuffix(full("x"), "x")))
			return
		}
		b.parameter(i, value)
	})
}

// within reads a value of the vehicle, which must lie in its range.
func (b *builder) within(n *yamldoc.Node, v model.Variable, r model.Range) float64 {
	before := len(b.Diags)
	unit := unitOf(v.Unit)
	x := b.Number(n, unit, v.Name)
	if !r.Contains(x) && len(b.Diags) == before {
		in := ""
		if u := unit.String(); u != "" && u != "1" {
			in = " " + u
		}
		b.Add(n, "out-of-range", v.Text, "%s = %g%s is outside its range, %v", v.Name, x, in, r)
	}
	return x
}

// unknownParameter reports a name that is no parameter, with the place where it would be one.
func (b *builder) unknownParameter(key *yamldoc.Node, known []string) {
	v := b.m.Vehicle
	name := strings.TrimPrefix(key.Value, site)
	switch {
	case slices.Contains(parameterNames(v, site), name):
		b.Add(key, "unknown-parameter", fmt.Sprintf("write %s under environment, or --set %s%s", name, site, name),
			"%s is a parameter of the environment", name)
	case slices.ContainsFunc(v.States, func(s model.State) bool { return s.Name == key.Value }):
		b.Add(key, "unknown-parameter", "write it under initial", "%s is a state, not a parameter", key.Value)
	default:
		b.Unknown(key, "unknown-parameter", "vehicle "+v.Name, known)
	}
}

func (b *builder) parameter(i int, value *yamldoc.Node) {
	p := &b.m.Vehicle.Parameters[i]
	if p.Name == fenceRadius && b.fenced {
		b.Add(value, "no-fence", "remove it, or the fence", "%s has no effect: the mission has a fence", p.Name)
	}
	b.m.leveled = b.m.leveled || p.Name == siteAlt
	b.m.placed = b.m.placed || p.Name == siteLat || p.Name == siteLon
	b.m.Parameters[i] = b.within(value, model.Variable{Name: p.Name, Unit: p.Unit, Text: p.Text}, p.Range())
}

// parameterNames lists the parameters of a group, without its prefix; the environment's names are left out elsewhere.
func parameterNames(v *model.Vehicle, prefix string) []string {
	var names []string
	for _, p := range v.Parameters {
		if name, ok := strings.CutPrefix(p.Name, prefix); ok {
			names = append(names, name)
		}
	}
	return names
}

// overrides applies the settings given beside the file. Each is a source of its own, so that messages can show it.
func (b *builder) overrides(set []string) {
	v := b.m.Vehicle
	numbers := b.numbers()
	known := append(parameterNames(v, ""), "horizon", "tolerance", "method", "max_step")
	for _, s := range set {
		inner := yamldoc.NewReader(&diag.Source{Name: "--set", Text: s})
		outer := b.Reader
		b.Reader = inner
		name, value, found := strings.Cut(s, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		key := &yamldoc.Node{Value: name, Line: 1, Offset: strings.Index(s, name), Length: len(name)}
		node := &yamldoc.Node{Value: value, Line: 1, Offset: len(s) - len(value), Length: len(value)}
		i := slices.IndexFunc(v.Parameters, func(p model.Parameter) bool { return p.Name == name })
		switch {
		case !found:
			b.Add(key, "syntax", "write name=value", "%q sets nothing", s)
		case numbers[name] != nil:
			numbers[name](node)
		case i >= 0:
			b.parameter(i, node)
		default:
			b.unknownParameter(key, known)
		}
		b.Reader = outer
		b.Diags = append(b.Diags, inner.Diags...)
	}
}

// compiles returns a compiler of expressions that read the signals of a scope.
func (b *builder) compiles(scope expr.Scope) {
	b.scope = scope
	b.compiler = expr.NewCompiler(scope, func(name string) (int, bool) { i, ok := b.names[name]; return i, ok })
}

// table lays out the signal vector: the clock, the vehicle's states and outputs, the slots, the computed signals.
func (b *builder) table(tables, commands, own *yamldoc.Node) {
	m, v := b.m, b.m.Vehicle
	b.names = map[string]int{}
	b.compiles(expr.Scope{})
	b.declare(signal{name: "t", text: "simulated time", unit: expr.Second, kind: clock})
	for i, s := range v.States {
		b.declare(b.typedBy(v, signal{name: s.Name, text: s.Text, unit: unitOf(s.Unit), kind: state, index: i,
			sources: m.from(s.Name)}))
	}
	m.layout.Outputs = len(m.signals)
	for i, o := range v.Outputs {
		b.declare(b.typedBy(v, signal{name: o.Name, text: o.Text, unit: unitOf(o.Unit), kind: output, index: i,
			direct: len(o.Direct) > 0, sources: m.from(o.Name)}))
	}
	m.layout.Slots, m.layout.Commands = len(m.signals), len(v.Commands)
	for _, c := range v.Commands {
		b.slot(b.typedBy(v, signal{name: c.Name, text: c.Text, unit: unitOf(c.Unit)}),
			executive.Slot{Initial: c.Default, Hold: c.Hold})
	}
	if commands != nil {
		b.Mapping(commands, "commands", func(key, value *yamldoc.Node) {
			i := slices.IndexFunc(v.Commands, func(c model.Command) bool { return c.Name == key.Value })
			if i < 0 {
				b.Unknown(key, "unknown-signal", "vehicle "+v.Name, m.slotNames())
				return
			}
			b.Fields(value, key.Value, yamldoc.Keys{
				"default": func(n *yamldoc.Node) { m.slots[i].Initial = b.within(n, v.Commands[i].Variable, v.Commands[i].Range) },
				"hold":    func(n *yamldoc.Node) { m.slots[i].Hold = b.Boolean(n, "hold") },
			})
		})
	}
	maps.Copy(b.scope, m.sourceScope())
	m.Tables = expr.Scope{}
	b.Tables(tables, func(name string) bool {
		_, taken := b.scope[name]
		return taken || slices.ContainsFunc(v.Tables, func(t model.Tabulation) bool { return t.Name == name })
	}, func(name string, v expr.Variable) { m.Tables[name], b.scope[name] = v, v })
	m.layout.Computed = len(m.signals)
	if own != nil {
		b.ownSignals(own)
	}
}

// typedBy returns a signal with the type that the vehicle gives it.
func (b *builder) typedBy(v *model.Vehicle, s signal) signal {
	if values, typed := v.Typed[s.name]; typed {
		s.typ, s.values = expr.Boolean, values
		if values != nil {
			s.typ = expr.Enumeration
		}
	}
	return s
}

// ownSignals reads the mission's signals: slots first, so that they are adjacent in the signal vector.
func (b *builder) ownSignals(own *yamldoc.Node) {
	type formula struct {
		signal signal
		node   *yamldoc.Node
	}
	var formulas []formula
	b.Mapping(own, "signals", func(key, value *yamldoc.Node) {
		s := signal{name: key.Value, unit: expr.One}
		var sl executive.Slot
		var unit, typeNode, valuesNode, expression, slotKey *yamldoc.Node
		b.Fields(value, "signal "+key.Value, yamldoc.Keys{
			"unit":    func(n *yamldoc.Node) { s.unit, unit = b.SIUnit(n), n },
			"type":    func(n *yamldoc.Node) { typeNode = n },
			"values":  func(n *yamldoc.Node) { valuesNode = n },
			"text":    func(n *yamldoc.Node) { s.text = b.Text(n, "text") },
			"value":   func(n *yamldoc.Node) { expression = n },
			"default": func(n *yamldoc.Node) { slotKey = n },
			"hold":    func(n *yamldoc.Node) { sl.Hold = b.Boolean(n, "hold") },
		})
		b.typed(&s, key, typeNode, valuesNode, unit)
		switch { // after the unit and the type, in any order of the file
		case slotKey != nil:
			sl.Initial = b.initial(&s, slotKey)
		case s.typ == expr.Text && expression == nil:
			sl.Initial = b.compiler.Text("")
		}
		switch _, taken := b.scope[s.name]; {
		case !expr.IsName(s.name):
			b.Add(key, "wrong-name", "use letters, digits, _ and dots, and no word of the expression language",
				"%q cannot be the name of a signal", s.name)
		case taken:
			b.Add(key, "duplicate-name", "", "there is already a signal or table %q", s.name)
		case expression == nil:
			b.slot(s, sl)
		case slotKey != nil || sl.Hold:
			b.Add(key, "two-sources", "give either `value`, or `default` and `hold`",
				"signal %s is both computed and written by tasks", s.name)
		default:
			formulas = append(formulas, formula{s, expression})
		}
	})
	b.m.layout.Computed = len(b.m.signals)
	for i := range formulas {
		formulas[i].signal.kind, formulas[i].signal.index = computed, i
		b.declare(formulas[i].signal)
	}
	for _, s := range b.m.signals {
		for _, v := range s.values {
			if _, taken := b.names[v]; taken {
				b.Add(own, "duplicate-name", "rename the value or the signal",
					"%s is a signal and a value of %s", v, s.name)
			}
		}
	}
	texts := map[string]string{}
	for _, f := range formulas {
		texts[f.signal.name] = f.node.Value
	}
	b.measured(texts)
	for i, f := range formulas {
		s := &b.m.signals[b.m.layout.Computed+i]
		s.value = b.Expression(f.node, f.signal.variable(), b.scope)
		s.at.offset, s.at.length = f.node.Offset, f.node.Length
	}
}

// typed reads the type of a signal, and of an enumeration its values.
func (b *builder) typed(s *signal, key, typeNode, valuesNode, unit *yamldoc.Node) {
	if typeNode != nil {
		known := false
		if s.typ, known = expr.TypeNamed(typeNode.Word(expr.TypeNames()...)); !known {
			word := b.Text(typeNode, "type")
			b.Add(typeNode, "unknown-value", diag.DidYouMean(word, expr.TypeNames()),
				"a type is boolean, enumeration, integer, real or text, not %q", word)
			return
		}
	}
	if valuesNode != nil {
		b.Sequence(valuesNode, "values", func(n *yamldoc.Node) {
			switch v := b.Text(n, "a value"); {
			case !expr.IsName(v):
				b.Add(n, "wrong-name", "use letters, digits and _, and no word of the expression language",
					"%q cannot be the name of a value", v)
			case slices.Contains(s.values, v):
				b.Add(n, "duplicate-name", "", "%s occurs twice", v)
			default:
				s.values = append(s.values, v)
			}
		})
	}
	switch {
	case unit != nil && s.typ != expr.Real:
		b.Add(unit, "wrong-type", "omit `unit`", "a signal of type %s has no unit", typeNode.Value)
	case s.typ == expr.Enumeration && len(s.values) == 0:
		b.Add(key, "missing-key", "values: [survey, transit]", "the enumeration %s needs values", s.name)
	case s.typ != expr.Enumeration && valuesNode != nil:
		b.Add(valuesNode, "wrong-type", "write `type: enumeration`", "only an enumeration has values")
	}
}

// initial reads the default of a slot.
func (b *builder) initial(s *signal, n *yamldoc.Node) float64 {
	switch s.typ {
	case expr.Boolean:
		if b.Boolean(n, "default") {
			return 1
		}
		return 0
	case expr.Integer:
		before := len(b.Diags)
		v := b.Number(n, expr.One, "default")
		if (v != math.Trunc(v) || math.Abs(v) > 1<<53) && len(b.Diags) == before {
			b.Add(n, "wrong-type", "", "the default of an integer is a whole number, not %s", n.Value)
		}
		return v
	case expr.Enumeration:
		v := b.Text(n, "default")
		i := slices.Index(s.values, v)
		if i < 0 {
			b.Add(n, "unknown-value", diag.DidYouMean(v, s.values), "%q is not one of %s", v, strings.Join(s.values, ", "))
		}
		return float64(max(i, 0))
	case expr.Text:
		return b.compiler.Text(b.Text(n, "default"))
	default:
		return b.Number(n, s.unit, "default")
	}
}

func (b *builder) declare(s signal) {
	if b.names[s.name] = len(b.m.signals); !b.m.siteless(s.name) {
		b.scope[s.name] = s.variable()
	}
	b.m.signals = append(b.m.signals, s)
}

func (b *builder) slot(s signal, sl executive.Slot) {
	s.kind, s.index, sl.Name = slotted, len(b.m.slots), s.name
	b.declare(s)
	b.m.slots = append(b.m.slots, sl)
}

// initialValues reads the initial values that replace the vehicle's.
func (b *builder) initialValues(n *yamldoc.Node) {
	if n == nil {
		return
	}
	v := b.m.Vehicle
	b.Mapping(n, "initial", func(key, value *yamldoc.Node) {
		i := slices.IndexFunc(v.States, func(s model.State) bool { return s.Name == key.Value })
		if i < 0 {
			names := make([]string, len(v.States))
			for j, s := range v.States {
				names[j] = s.Name
			}
			b.Unknown(key, "unknown-state", "vehicle "+v.Name, names)
			return
		}
		b.m.initial = append(b.m.initial, b.initialValue(i, value))
	})
}

// initialValue reads the initial value of a state: a number, or one with the range in which proofs let the state start.
func (b *builder) initialValue(state int, n *yamldoc.Node) initialValue {
	v := b.m.Vehicle.States[state]
	within := func(n *yamldoc.Node) float64 { return b.within(n, v.Variable, v.Range) }
	if n.Kind != yamldoc.Mapping {
		return startsAt(state, within(n))
	}
	x, low, high := math.NaN(), math.NaN(), math.NaN()
	b.Fields(n, v.Name, yamldoc.Keys{
		"value": func(n *yamldoc.Node) { x = within(n) },
		"min":   func(n *yamldoc.Node) { low = within(n) },
		"max":   func(n *yamldoc.Node) { high = within(n) },
	})
	if !(low <= x && x <= high) {
		b.Add(n, "out-of-range", "", "an initial value with a range needs `min`, `value` and `max`, in ascending order")
		return initialValue{}
	}
	return initialValue{state, x, interval.Between(low, high)}
}

func (b *builder) recording(rec, plots *yamldoc.Node) {
	m := b.m
	m.Record = nil
	if rec != nil {
		b.Fields(rec, "record", yamldoc.Keys{
			"interval": func(n *yamldoc.Node) {
				m.Interval = b.Bounded(n, expr.Second, "interval", func(v float64) bool { return v >= shortest },
					fmt.Sprintf("be at least %g s", shortest), "the values before and after each event are recorded as well")
			},
			"signals": func(n *yamldoc.Node) {
				m.Record = []string{}
				b.Sequence(n, "signals", func(n *yamldoc.Node) { m.Record = b.recorded(n, m.Record) })
			},
		})
	}
	all := m.Record == nil
	for _, s := range m.signals[1:] {
		if all || s.entry && !slices.Contains(m.Record, s.name) {
			m.Record = append(m.Record, s.name)
		}
	}
	if plots == nil {
		return
	}
	b.Sequence(plots, "plots", func(n *yamldoc.Node) {
		var p Plot
		named := false
		b.Fields(n, "a plot", yamldoc.Keys{
			"title": func(n *yamldoc.Node) { p.Title = b.Text(n, "title") },
			"signals": func(n *yamldoc.Node) {
				b.Sequence(n, "signals", func(n *yamldoc.Node) {
					named = true
					p.Signals = b.recorded(n, p.Signals)
					if slices.Contains(p.Signals, n.Value) && !slices.Contains(m.Record, n.Value) {
						m.Record = append(m.Record, n.Value)
					}
				})
			},
		})
		if !named {
			b.Add(n, "missing-key", "signals: [h]", "a plot needs signals")
		}
		m.Plots = append(m.Plots, p)
	})
}

// recorded appends a signal's name to a list, or reports that there is no such signal.
func (b *builder) recorded(n *yamldoc.Node, list []string) []string {
	switch i, ok := b.names[n.Value]; {
	case !ok:
		b.Unknown(n, "unknown-signal", "the mission", slices.Sorted(maps.Keys(b.names)))
	case i == 0:
		b.Add(n, "unknown-signal", "leave it out", "the time t is recorded with every sample")
	case slices.Contains(list, n.Value):
		b.Add(n, "duplicate-name", "", "%s occurs twice", n.Value)
	default:
		return append(list, n.Value)
	}
	return list
}

// plan reads the plan against the signals that the mission has.
func (b *builder) plan(n *yamldoc.Node, open func(string) ([]byte, error), known plan.Vocabulary) bool {
	src := b.beside(n, "plan", open)
	if src == nil {
		return false
	}
	p, diags := plan.ReadFiles(src, known, open)
	b.Diags = append(b.Diags, diags...)
	if b.m.Plan = p; p == nil || known == nil {
		return p != nil
	}
	unexplained := p.Unexplained(b.m.Vocabulary())
	b.Diags = append(b.Diags, unexplained...)
	b.entries()
	b.sources()
	return len(unexplained) == 0
}

// entries adds the entries of the plan to the signals, as slots behind the others.
func (b *builder) entries() {
	m := b.m
	var added []signal
	for _, e := range m.Plan.Entries {
		s := signal{name: e.Name, text: "an entry of the plan", unit: expr.One, typ: e.Type, kind: slotted,
			index: len(m.slots), entry: true}
		slot := executive.Slot{Name: e.Name, Empty: e.Initial == nil, Hold: true, Entry: true}
		if e.Initial != nil {
			slot.Initial = b.compiler.CompileAtOnce(e.Initial, s.variable()).Value(nil, nil)
		}
		m.slots, added = append(m.slots, slot), append(added, s)
	}
	m.signals = slices.Insert(m.signals, m.layout.Computed, added...)
	m.layout.Computed += len(added)
	for i, s := range m.signals {
		b.names[s.name], b.scope[s.name] = i, s.variable()
	}
}

// beside opens a file that the mission names by its path relative to the mission file, nil if that fails.
func (b *builder) beside(n *yamldoc.Node, what string, open func(string) ([]byte, error)) *diag.Source {
	name := b.Text(n, what)
	if name == "" {
		return nil
	}
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(b.Source.Name), name)
	}
	text, err := open(name)
	if err != nil {
		b.Add(n, "unreadable-file", "the path is relative to the mission file", "%s",
			unreadable(&diag.Source{Name: name}, err).Text)
		return nil
	}
	return &diag.Source{Name: name, Text: string(text)}
}

// Vocabulary returns the signals that a plan may read and write, without the entries of this one.
func (m *Mission) Vocabulary() plan.Vocabulary {
	v := plan.Vocabulary{}
	for name, s := range m.sourceScope() {
		v[name] = plan.Signal{Unit: s.Unit, Type: s.Type, Constant: s.Constant}
	}
	for _, s := range m.signals {
		if s.entry || s.source != "" || m.siteless(s.name) {
			continue
		}
		entry := plan.Signal{Unit: s.unit, Type: s.typ, Values: s.values, Text: s.text, Sources: s.sources}
		if s.kind == slotted {
			entry.Slot, entry.Hold = true, m.slots[s.index].Hold
		}
		v[s.name] = entry
	}
	for name, t := range m.Tables {
		v[name] = plan.Signal{Unit: t.Unit, Table: t.Table}
	}
	return v
}

// Scope returns the signals that expressions of the mission may read, with their units.
func (m *Mission) Scope() expr.Scope {
	scope := m.home()
	for _, s := range m.signals {
		if !m.siteless(s.name) {
			scope[s.name] = s.variable()
		}
	}
	return scope
}

func (s *signal) variable() expr.Variable {
	if s.entry && s.typ == expr.Real {
		return expr.Variable{Unit: expr.AnyUnit, Held: true}
	}
	return expr.Variable{Type: s.typ, Unit: s.unit, Values: s.values, Sources: s.sources,
		Given: s.typ != expr.Real && (s.kind == state || s.kind == output)}
}

func (m *Mission) slotNames() []string {
	var names []string
	for _, s := range m.slots {
		names = append(names, s.Name)
	}
	return names
}

// unitOf parses a unit that the vehicle declares; a test of the models checks that all of them parse.
func unitOf(s string) expr.Unit {
	u, err := expr.ParseUnit(s)
	if err != nil {
		panic("mission: a vehicle declares a unit that does not parse")
	}
	return u
}
