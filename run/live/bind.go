package live

import (
	"fmt"
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// bind gives the leaves of the present plan their ports.
func (x *Execution) bind() {
	b := x.binder(x.plan)
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, l := range x.leaves {
		l.ports = b.ports[i]
		for _, p := range l.ports {
			if p.entry == "" {
				continue
			}
			if p.slot = x.places[p.entry]; !slices.Contains(x.named, p.slot) {
				x.named = append(x.named, p.slot)
			}
			x.watchers[p.slot] = nil
			for _, w := range p.given.Watchers {
				x.watchers[p.slot] = append(x.watchers[p.slot], [2]int{x.places[w[0]], x.places[w[1]]})
			}
		}
	}
}

// checkUnits reports units of ports that do not exist.
func (x *Execution) checkUnits(id string, ports Ports) {
	for name, p := range ports {
		x.unit(id+": "+name, p.unit)
	}
}

// codes describes the registered code for a plan.
func (x *Execution) codes() map[string]plan.Code {
	codes := map[string]plan.Code{}
	add := func(id string, condition bool, ports Ports) {
		c := plan.Code{Condition: condition}
		for name, p := range ports {
			if c.Ports == nil {
				c.Ports = map[string]plan.CodePort{}
			}
			c.Ports[name] = p.code()
		}
		codes[id] = c
	}
	for _, s := range x.signals {
		if s.Type == expr.Boolean && !s.hidden {
			add(s.name, true, nil)
		}
	}
	for id, q := range x.queries {
		add(id, true, q.ports)
	}
	for id, a := range x.actions {
		add(id, false, a.Ports)
	}
	return codes
}

// binder finds what the ports of a plan's leaves mean.
type binder struct {
	*Execution
	plan    *plan.Plan
	ports   []map[string]*bound      // of each leaf, by their names
	known   map[string]expr.Variable // entries and signals
	fixed   map[string]bool          // signals that no port may write
	writers map[string]*bound        // of entries: the first one with a declaration
}

func (x *Execution) binder(p *plan.Plan) *binder {
	b := &binder{Execution: x, plan: p, ports: make([]map[string]*bound, len(p.Leaves)),
		known: map[string]expr.Variable{}, fixed: map[string]bool{}, writers: map[string]*bound{}}
	for _, s := range x.signals {
		if !s.entry {
			b.known[s.name], b.fixed[s.name] = s.Variable, !s.hold
		}
	}
	for i := range p.Entries {
		b.known[p.Entries[i].Name] = p.Entries[i].Variable()
	}
	for i := range p.Leaves {
		b.ports[i] = b.bind(&p.Leaves[i])
		for _, o := range b.ports[i] {
			if o.writes && b.writers[o.entry] == nil {
				b.writers[o.entry] = o
			}
		}
	}
	return b
}

// declared returns the ports that the program declares for a leaf; nil: it does not.
func (x *binder) declared(l *plan.Leaf) Ports {
	id := x.plan.Called(l)
	if a := x.actions[id]; a != nil && x.plan.Tree.Kind(l.Task).Acts() {
		return a.Ports
	}
	if q := x.queries[id]; q != nil {
		return q.ports
	}
	return nil
}

// bind returns the ports of a leaf as the plan and the program give them.
func (x *binder) bind(l *plan.Leaf) map[string]*bound {
	ports, declared := map[string]*bound{}, x.declared(l)
	for _, p := range slices.Concat(l.Ports, l.Defaults) {
		b := &bound{Port: declared[p.Name], given: p, entry: p.Entry, kind: variable{unit: expr.AnyUnit}}
		if b.Port.unit != "" {
			b.kind.unit, _ = expr.ParseUnit(b.Port.unit)
		}
		if b.entry == "" {
			b.value, _ = convert(p.Value, b.of, b.kind.unit)
		}
		if b.kind.Variable = x.known[b.entry]; b.Port.unit == "" && b.kind.Type == expr.Real {
			if i, ok := x.places[b.entry]; ok {
				b.kind.unit = x.signals[i].unit
			}
		}
		ports[p.Name] = b
	}
	for name, p := range declared {
		if ports[name] == nil && p.or != nil {
			ports[name] = &bound{Port: p, value: p.or}
		}
	}
	return ports
}

// check returns the mistakes in the ports of a leaf.
func (x *binder) check(i int) diag.List {
	l, ports := &x.plan.Leaves[i], x.ports[i]
	declared := x.declared(l)
	var found diag.List
	report := func(at, length int, hint, format string, args ...any) {
		found = append(found, diag.Diagnostic{Source: x.plan.Source, Offset: at, Length: length, Code: "bad-port",
			Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	for name, p := range declared {
		if ports[name] == nil && !p.writes {
			report(l.Offset, l.Length, fmt.Sprintf(`write %s="..."`, name), "%q needs a value for its port %q",
				x.plan.Called(l), name)
		}
	}
	for name, b := range ports {
		at, length := b.given.Offset, b.given.Length
		w := x.writers[b.entry]
		_, known := x.known[b.entry]
		switch {
		case b.of == nil && declared != nil:
			report(at, length, "", "the Go code of %q has no port %q", x.plan.Called(l), name)
			found[len(found)-1].Suggest = diag.Near(name, func() []string { return slices.Sorted(maps.Keys(declared)) })
		case b.entry == "" && b.writes:
			report(at, length, "write {"+name+"}", "the output port %q names no entry", name)
		case b.entry == "" && b.value == nil:
			report(at, length, "", "%q is not of the type %v, which the port %q takes", b.given.Value, b.of, name)
		case b.entry == "" || b.of == nil:
		case !known:
			report(at, length, "use letters, digits and _, a letter first", "%q cannot be the name of an entry", b.entry)
		case b.writes && x.fixed[b.entry]:
			report(at, length, "", "%q can be read but not written", b.entry)
		case b.opaque() && w != nil && !w.of.AssignableTo(b.of):
			report(at, length, "", "the entry %q has values of the type %v, but the port %q takes a %v", b.entry, w.of, name,
				b.of)
		case !b.fits():
			report(at, length, "", "the entry %q has %s, but the port %q takes a %v", b.entry, nouns[b.kind.Type], name, b.of)
		case b.kind.Type == expr.Real && !b.kind.unit.Same(b.kind.Unit):
			report(at, length, "", "the unit of %q is %v, but the port %q takes %v", b.entry, b.kind.Unit, name,
				b.kind.unit)
		}
	}
	return found
}

var nouns = map[expr.Type]string{expr.Real: "numbers", expr.Integer: "whole numbers", expr.Boolean: "truth values",
	expr.Text: "texts", expr.Enumeration: "words"}

// fits reports whether values of the port's entry may be those of its type.
func (b *bound) fits() bool {
	t := b.code().Type
	switch {
	case b.opaque():
		return true
	case b.kind.Type == expr.Text:
		return !b.writes || t == expr.Text
	case b.kind.Type == expr.Enumeration:
		return t == expr.Text
	}
	return t != expr.Enumeration && (t != expr.Text || !b.writes)
}
