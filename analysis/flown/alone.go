package flown

import (
	"slices"

	"canopy/document/plan"
	"canopy/executive"
	"canopy/expr"
)

// compileAlone compiles a plan without a mission. The signals that it reads are physical ones; those that it writes
// keep the last value, and at first have any.
func (s *Stepper) compileAlone(p *plan.Plan) {
	var read, slots []string
	note := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for _, l := range p.Leaves {
		for _, a := range slices.Concat(l.Write, l.Entry, l.Exit) {
			note(&slots, a.Target)
		}
	}
	for _, l := range p.Leaves {
		for _, e := range expressions(&l) {
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
	s.compiler = expr.NewCompiler(nil, func(name string) (int, bool) {
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
		s.p.Slots = append(s.p.Slots, executive.Slot{Name: name, Initial: unknown, Hold: true})
	}
	plan.Coder{Observed: s.compiler.CompileFor, Once: s.compiler.CompileAtOnce,
		Slot: func(a plan.Assignment) (int, expr.Variable) {
			return slices.Index(slots, a.Target), expr.Variable{Type: a.Value.Type(nil)}
		}}.Compile(s.p, p.Leaves)
	s.p.Indicators = s.compiler.Indicators()
}

// expressions returns all expressions of a leaf.
func expressions(l *plan.Leaf) []*expr.Expr {
	list := []*expr.Expr{l.On, l.Off, l.EntryTime, l.ExitTime, l.EntryUntil, l.ExitUntil, l.Done, l.Failed, l.SuccessIf,
		l.FailureIf}
	for _, a := range slices.Concat(l.Write, l.Entry, l.Exit) {
		list = append(list, a.Value)
	}
	return slices.DeleteFunc(list, func(e *expr.Expr) bool { return e == nil })
}
