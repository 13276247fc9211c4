package mission

import (
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/sim"
)

// Subject returns the mission's plan with the declarations about its world, for proofs.
func (m *Mission) Subject() declare.Subject {
	m = m.Flown()
	s := declare.Subject{Plan: m.Plan, Declared: m.Declared, Computed: map[string]*expr.Expr{},
		Program: m.Program, Compiler: m.compiler, Horizon: m.Horizon, Ends: m.EndsWithPlan,
		Slides: m.Chattering == sim.Continue}
	for _, source := range m.Sources() {
		s.Sources = append(s.Sources, source.Name)
	}
	for _, x := range m.signals {
		s.Signals = append(s.Signals, x.name)
		if x.kind == computed {
			s.Computed[x.name] = x.value
		}
	}
	maps.Copy(s.Computed, m.replaced)
	for _, c := range m.slots[:m.layout.Commands] {
		s.Commands = append(s.Commands, c.Name)
	}
	for _, name := range slices.Concat(m.Needed, m.Record) {
		if x, _ := m.Signal(name); !x.Entry {
			s.Finite = append(s.Finite, name)
		}
	}
	return s
}
