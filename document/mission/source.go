package mission

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
)

// Source is a source of measured signals that the mission uses, with the places of its signals in the signal vector: a
// Boolean that holds while it is known, and the time of its last value [s].
type Source struct {
	Name         string
	Known, Stamp int
}

// outage is a time in which the simulation has no value from a source, [from, to).
type outage struct {
	source   string
	from, to float64 // [s]; to may be +Inf
}

// maxOutages bounds the formulas that follow from the outages.
const maxOutages = 100

// sourced reads the outages, and determines the sources of the vehicle's signals: those that the vehicle declares, or
// else each signal that the outages name.
func (b *builder) sourced(n *yamldoc.Node) {
	m := b.m
	declared, signals := []string{}, []string{}
	m.sourceOf = map[string]string{}
	add := func(name string) {
		signals = append(signals, name)
		if source := m.Vehicle.Sources[name]; source != "" {
			m.sourceOf[name] = source
			declared = append(declared, source)
		}
	}
	for _, s := range m.Vehicle.States {
		add(s.Name)
	}
	for _, o := range m.Vehicle.Outputs {
		add(o.Name)
	}
	known := signals
	if slices.Sort(declared); len(declared) > 0 {
		known = slices.Compact(declared)
		m.sources = known
	}
	if n == nil {
		return
	}
	if len(n.Items) > maxOutages {
		b.Add(n, "too-large", "", "a mission may have %d outages, not %d", maxOutages, len(n.Items))
		return
	}
	b.Sequence(n, "outages", func(n *yamldoc.Node) {
		o := outage{to: math.Inf(1)}
		var source, from, to *yamldoc.Node
		b.Fields(n, "an outage", yamldoc.Keys{
			"source": func(n *yamldoc.Node) { source, o.source = n, b.Text(n, "source") },
			"from":   func(n *yamldoc.Node) { from, o.from = n, b.instant(n, "from") },
			"to":     func(n *yamldoc.Node) { to, o.to = n, b.instant(n, "to") },
		})
		switch {
		case source == nil:
			b.Add(n, "missing-key", "source: "+cmp.Or(strings.Join(known[:min(1, len(known))], ""), "position"),
				"an outage needs a source")
			return
		case !slices.Contains(known, o.source):
			b.Unknown(source, "unknown-source", "vehicle "+m.Vehicle.Name, known)
			return
		case to != nil && !(o.from < o.to):
			b.Add(to, "out-of-range", "", "the outage ends before it begins")
			return
		}
		if len(declared) == 0 && !slices.Contains(m.sources, o.source) {
			m.sources = append(m.sources, o.source)
			m.sourceOf[o.source] = o.source
		}
		if m.used = append(m.used, o.source); from != nil || to != nil {
			m.outages = append(m.outages, o)
		}
	})
	slices.Sort(m.sources)
	slices.SortFunc(m.outages, func(x, y outage) int {
		return cmp.Or(cmp.Compare(x.source, y.source), cmp.Compare(x.from, y.from))
	})
	for i := 1; i < len(m.outages); i++ { // those that overlap are one
		if last, o := &m.outages[i-1], m.outages[i]; last.source == o.source && o.from <= last.to {
			last.to = max(last.to, o.to)
			m.outages = slices.Delete(m.outages, i, i+1)
			i--
		}
	}
}

func (b *builder) instant(n *yamldoc.Node, what string) float64 {
	return b.Bounded(n, expr.Second, what, func(v float64) bool { return v >= 0 }, "not be negative", "")
}

// from returns the sources of a signal of the vehicle.
func (m *Mission) from(name string) []string {
	if s := m.sourceOf[name]; s != "" {
		return []string{s}
	}
	return nil
}

// sourceScope returns the signals of all sources, which expressions may read, and the constants of home.
func (m *Mission) sourceScope() expr.Scope {
	scope := m.home()
	for _, s := range m.sources {
		scope[expr.Known(s)], scope[expr.Stamp(s)] = expr.Variable{Type: expr.Boolean}, expr.Number(expr.Second)
	}
	return scope
}

// measured gives computed signals the sources of the signals that they read; formulas are their texts, by name.
func (b *builder) measured(formulas map[string]string) {
	reads, done := map[string][]string{}, map[string]bool{}
	for name, text := range formulas {
		if e, err := expr.Parse(text); err == nil {
			reads[name] = e.Names()
		}
	}
	var find func(name string) []string
	find = func(name string) []string {
		if v := b.scope[name]; reads[name] == nil || done[name] {
			return v.Sources
		}
		done[name] = true // also in a loop, which is reported elsewhere
		var all []string
		for _, r := range reads[name] {
			all = append(all, find(r)...)
		}
		slices.Sort(all)
		v := b.scope[name]
		v.Sources = slices.Compact(all)
		b.scope[name], b.m.signals[b.names[name]].sources = v, v.Sources
		return v.Sources
	}
	for _, s := range b.m.signals {
		find(s.name)
	}
}

// sources adds the signals of the sources that the mission uses: computed ones, behind all others, or those that the
// world gives, behind the vehicle's outputs.
func (b *builder) sources() {
	m := b.m
	names := map[string]bool{}
	note := func(e *expr.Expr) {
		for _, name := range e.Names() {
			names[name] = true
		}
	}
	for i := range m.Plan.Leaves {
		for _, e := range m.Plan.Leaves[i].Expressions() {
			note(e)
		}
	}
	for _, s := range m.signals {
		if s.value != nil {
			note(s.value)
		}
	}
	var added []signal
	for _, source := range m.sources {
		if !names[expr.Known(source)] && !names[expr.Stamp(source)] && !slices.Contains(m.used, source) {
			continue
		}
		known, stamp := "true", "t"
		for _, o := range m.outages {
			if o.source == source {
				lost := "t >= " + diag.Number(o.from, -1)
				if !math.IsInf(o.to, 1) {
					lost += " and t < " + diag.Number(o.to, -1)
				}
				known += " and not (" + lost + ")"
				stamp = fmt.Sprintf("if(%s, %s, %s)", lost, diag.Number(o.from, -1), stamp)
			}
		}
		for _, s := range []signal{
			{name: expr.Known(source), text: "the source " + source + " is known", typ: expr.Boolean, unit: expr.One,
				value: formula(strings.TrimPrefix(known, "true and "))},
			{name: expr.Stamp(source), text: "time of the last value from " + source, unit: expr.Second, value: formula(stamp)},
		} {
			s.kind, s.source, s.index = computed, source, len(m.signals)-m.layout.Computed+len(added)
			if m.flown {
				s.kind, s.value = given, nil
			}
			added = append(added, s)
		}
	}
	at := len(m.signals)
	if m.flown {
		at = m.layout.Slots
		m.layout.Slots, m.layout.Computed = m.layout.Slots+len(added), m.layout.Computed+len(added)
	}
	m.signals = slices.Insert(m.signals, at, added...)
	for i, s := range m.signals {
		b.names[s.name], b.scope[s.name] = i, s.variable()
	}
}

func formula(text string) *expr.Expr {
	e, err := expr.Parse(text)
	if err != nil {
		panic("mission: a formula is refused: " + text)
	}
	return e
}

// Sources returns the sources that the mission uses, in the order of their names.
func (m *Mission) Sources() []Source {
	var list []Source
	for i, s := range m.signals {
		if s.source != "" && s.typ == expr.Boolean {
			list = append(list, Source{s.source, i, i + 1})
		}
	}
	return list
}

// Flown returns the mission for a world that gives the signals of the sources, as it gives the vehicle's outputs,
// behind which they are: in a flight, or in a proof about all flights. In other missions they follow from the outages.
// Such a mission is not to be simulated: it is its own Smooth.
func (m *Mission) Flown() *Mission {
	if m.flown {
		return m
	}
	n := *m
	n.flown, n.held = true, nil
	if len(m.Sources()) == 0 {
		return &n
	}
	b := n.builder(m)
	if b.compile(); b.Diags.HasErrors() {
		panic("mission: the plan of a mission is refused")
	}
	return &n
}

// Replacing returns the mission for a proof in which expressions stand for some outputs of the vehicle.
func (m *Mission) Replacing(outputs map[string]*expr.Expr) *Mission {
	n := *m.Flown()
	n.replaced = outputs
	b := n.builder(m.Flown())
	if b.compile(); b.Diags.HasErrors() {
		panic("mission: the plan of a mission is refused")
	}
	return &n
}

// builder returns a builder of this copy of a mission, with the signals that do not depend on the plan, and then those
// of its plan.
func (m *Mission) builder(of *Mission) *builder {
	m.Program, m.signals, m.layout = nil, nil, of.layout
	b := &builder{m: m, Reader: yamldoc.NewReader(of.Source), names: map[string]int{}}
	entries, sources := 0, 0
	for _, s := range of.signals {
		switch {
		case s.entry:
			entries++
		case s.source != "":
			sources++
		default:
			m.signals = append(m.signals, s)
		}
	}
	m.slots = slices.Clone(of.slots[:len(of.slots)-entries])
	if m.layout.Computed -= entries; of.flown {
		m.layout.Slots, m.layout.Computed = m.layout.Slots-sources, m.layout.Computed-sources
	}
	b.compiles(maps.Clone(m.Tables))
	for _, text := range of.texts { // keep their places
		b.compiler.Text(text)
	}
	b.entries()
	b.sources()
	return b
}
