package mission

import (
	"canopy/document/declare"
	"canopy/expr"
)

// Subject returns the mission's plan with the declarations about its world, for proofs.
func (m *Mission) Subject() declare.Subject {
	p, loose := m.Plan.Loosened()
	program := m.Program
	if len(loose) > 0 {
		program = program.Loosened(p.Tree)
	}
	s := declare.Subject{Plan: p, Declared: m.Declared, Computed: map[string]*expr.Expr{},
		Program: program, Compiler: m.compiler}
	for _, x := range m.signals {
		s.Signals = append(s.Signals, x.name)
		if x.kind == computed {
			s.Computed[x.name] = x.value
		}
	}
	for _, c := range m.slots[:m.layout.Commands] {
		s.Commands = append(s.Commands, c.Name)
	}
	return s
}
