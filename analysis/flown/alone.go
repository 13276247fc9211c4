package flown

import (
	"slices"

	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// compileAlone compiles a plan without a mission. The signals that it reads are physical ones; those that it writes
// keep the last value, and at first have any.
func (s *Stepper) compileAlone(p *plan.Plan) {
	var read, slots []string
	entries := map[string]*plan.BlackboardEntry{}
	leaves := slices.Clone(p.Leaves)
	for i := range p.Entries {
		entries[p.Entries[i].Name] = &p.Entries[i]
	}
	for i := range leaves { // what is written from outside as well may have any value
		leaves[i].Entry = slices.DeleteFunc(slices.Clone(leaves[i].Entry), func(a plan.Assignment) bool {
			e := entries[a.Target]
			return e != nil && e.Free
		})
	}
	note := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for _, l := range leaves {
		for _, a := range slices.Concat(l.Write, l.Entry, l.Exit) {
			note(&slots, a.Target)
		}
	}
	for _, l := range leaves {
		for _, e := range l.Expressions() {
			for _, name := range e.Names() {
				if !slices.Contains(slots, name) {
					note(&read, name)
				}
			}
		}
	}
	layout := executive.Layout{Outputs: 1 + len(read), Slots: 1 + len(read)}
	layout.Computed = layout.Slots + len(slots)
	layout.Signals = layout.Computed
	places := map[string]int{}
	for i, name := range slices.Concat(read, slots) {
		places[name] = 1 + i
	}
	scope := p.Scope()
	s.compiler = expr.NewCompiler(scope, func(name string) (int, bool) {
		place, ok := places[name]
		if !ok { // a statement names another signal
			place = len(s.names)
			s.names = append(s.names, name)
			places[name] = place
		}
		return place, true
	})
	s.names = slices.Concat([]string{"t"}, read, slots)
	s.p = &executive.Program{Tree: p.Tree, Layout: layout}
	for _, name := range slots {
		slot := executive.Slot{Name: name, Empty: true, Hold: true}
		if e := entries[name]; e != nil {
			if slot.Entry = true; e.Initial != nil {
				slot.Empty = false
				slot.Initial = s.compiler.CompileAtOnce(e.Initial, e.Variable()).Value(nil, nil)
			}
		}
		s.p.Slots = append(s.p.Slots, slot)
	}
	plan.Coder{Observed: s.compiler.CompileFor, Once: s.compiler.CompileAtOnce,
		Slot: func(a plan.Assignment) (int, expr.Variable) {
			v := expr.Variable{Type: a.Value.Type(scope)}
			if e := entries[a.Target]; e != nil {
				v = e.Variable()
			}
			return slices.Index(slots, a.Target), v
		}}.Compile(s.p, leaves)
	s.p.Indicators = s.compiler.Indicators()
}
