package mission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// compile turns the plan's and the mission's expressions into code.
func (b *builder) compile() {
	m := b.m
	b.program(nil)
	m.texts, m.compiler = b.compiler.Texts(), b.compiler
	m.Needed, m.held = nil, nil
	for i := 1; i < len(m.signals); i++ { // after the clock
		if b.reads[i] || m.layout.Slots <= i && i < m.layout.Slots+m.layout.Commands {
			if m.signals[i].entry { // it may be unset
				continue
			}
			m.Needed = append(m.Needed, m.signals[i].name)
		}
	}
	lost := len(m.outages) > 0 // whether a source is known, and its age, change at once
	if m.flown || !b.bends && !lost || b.Diags.HasErrors() {
		return
	}
	plain := m.Program
	counts := make([]bool, len(plain.Computed)) // others are recorded only
	for i, s := range m.signals {
		if s.kind == computed {
			counts[s.index] = b.reads[i] || len(plain.Computed[s.index].Indicators()) > 0
		}
	}
	b.compiler = b.compiler.Hold(len(m.signals))
	b.program(counts)
	held := m.Program
	m.Program = plain
	nested := func(x expr.Indicator) bool { return !x.Alone() }
	if lost || len(held.Indicators) > len(plain.Indicators) || slices.ContainsFunc(held.Indicators, nested) {
		m.held = held
	}
}

// program compiles the expressions as the mission's program, and orders the steps. Computed signals that do not count
// are compiled without holding their branches; nil: so are all.
func (b *builder) program(counts []bool) {
	m := b.m
	p := &executive.Program{Tree: m.Plan.Tree, Slots: slices.Clone(m.slots), Layout: m.layout}
	p.Layout.Signals = len(m.signals)
	m.Program, b.codes = p, nil
	for _, s := range m.signals {
		switch {
		case s.kind != computed:
		case counts == nil || counts[s.index]:
			p.Computed = append(p.Computed, b.observed(s.value, s.variable()))
		default:
			held := b.compiler
			b.compiler = m.compiler
			p.Computed = append(p.Computed, b.observed(s.value, s.variable()))
			b.compiler = held
		}
	}
	plan.Coder{Observed: b.observed, Slot: func(a plan.Assignment) (int, expr.Variable) {
		s := &m.signals[b.names[a.Target]]
		return s.index, s.variable()
	}, Once: func(e *expr.Expr, v expr.Variable) *expr.Code {
		return b.noted(b.compiler.CompileAtOnce(e.Substitute(b.m.replaced), v))
	}}.Compile(p, m.Plan.Leaves)
	for _, e := range m.judges {
		p.Judged = append(p.Judged, b.observed(e, expr.Variable{Type: expr.Boolean}).Indicators()...)
	}
	p.Indicators, p.Cells = b.compiler.Indicators(), b.compiler.Cells()
	order := b.sort()
	reads := map[int]bool{}
	for _, code := range b.codes {
		if len(code.Indicators()) > 0 {
			for _, s := range code.Reads() {
				reads[s] = true
			}
		}
	}
	p.All = order.pruned(m, func(int) bool { return true })
	p.Derive = order.pruned(m, func(s int) bool { return s >= m.layout.Slots && s < m.layout.Slots+m.layout.Commands })
	p.Observe = order.pruned(m, func(s int) bool { return reads[s] })
	p.Reads = m.states(reads, p.Observe)
	p.Switches = make([]bool, len(p.Indicators))
	for _, s := range p.Derive {
		for _, c := range m.codes(s) { // whose sides decide the value
			for _, i := range c.Indicators() {
				p.Switches[i] = true
			}
		}
	}
	steady := map[executive.Evaluation]bool{{Kind: executive.EvaluateOutputs}: true}
	fixed := func(reads []int) bool {
		return !slices.ContainsFunc(reads, func(i int) bool {
			return m.signals[i].kind == given || i >= m.layout.Outputs && !steady[m.source(i)]
		})
	}
	for _, s := range order {
		if s.Kind == executive.EvaluateComputed {
			c := p.Computed[s.Index]
			steady[s] = len(c.Indicators()) == 0 && fixed(c.Reads())
		}
	}
	for i := range p.Indicators {
		p.Steady = append(p.Steady, p.Indicators[i].Alone() && fixed(p.Indicators[i].Reads()))
	}
	p.Direct = m.direct()
	slices.Sort(p.Judged)
	p.Judged = slices.Compact(p.Judged)
	p.Standing = slices.Clone(p.Judged)
	for _, c := range p.Computed {
		p.Standing = append(p.Standing, c.Indicators()...)
	}
	p.Link()
}

// direct returns, by state and output of the vehicle, the commands at whose change it may change at the same instant:
// because it depends on them, or because they set off events of the vehicle.
func (m *Mission) direct() [][]int {
	direct := make([][]int, 0, m.layout.Slots)
	add := func(name string, depends []string) {
		var commands []int
		for k, c := range m.Vehicle.Commands {
			if slices.Contains(depends, c.Name) || slices.Contains(m.Vehicle.Prompt[name], c.Name) {
				commands = append(commands, k)
			}
		}
		direct = append(direct, commands)
	}
	for _, s := range m.Vehicle.States {
		add(s.Name, nil)
	}
	for _, o := range m.Vehicle.Outputs {
		add(o.Name, o.Direct)
	}
	return direct
}

// states returns the states among the signals read and those that the steps towards them read; nil if it may be all
// states.
func (m *Mission) states(reads map[int]bool, steps []executive.Evaluation) []int {
	all := maps.Clone(reads)
	for _, s := range steps {
		if s.Kind == executive.EvaluateOutputs || s.Kind == executive.EvaluateDirect {
			return nil
		}
		for _, c := range m.codes(s) {
			for _, i := range c.Reads() {
				all[i] = true
			}
		}
	}
	states := []int{}
	for i := 1; i < m.layout.Outputs; i++ { // after the clock
		if all[i] {
			states = append(states, i-1)
		}
	}
	return states
}

// observed compiles an expression whose relations are events.
func (b *builder) observed(e *expr.Expr, v expr.Variable) *expr.Code {
	e = e.Substitute(b.m.replaced)
	code := b.noted(b.compiler.CompileFor(e, v))
	b.codes, b.bends = append(b.codes, code), b.bends || e.Bends()
	return code
}

// noted notes the signals that the code reads, and returns it.
func (b *builder) noted(code *expr.Code) *expr.Code {
	if b.reads == nil {
		b.reads = map[int]bool{}
	}
	for _, s := range code.Reads() {
		b.reads[s] = true
	}
	return code
}

// codes returns the code that a step may run.
func (m *Mission) codes(s executive.Evaluation) []*expr.Code {
	var list []*expr.Code
	switch s.Kind {
	case executive.EvaluateComputed:
		list = append(list, m.Program.Computed[s.Index])
	case executive.EvaluateSlot:
		for _, w := range m.Program.Slots[s.Index].Writers {
			if w.Value != nil {
				list = append(list, w.Value)
			}
		}
	}
	return list
}

// needs returns the signals that a step reads, apart from the clock and the states.
func (m *Mission) needs(s executive.Evaluation) []int {
	var list []int
	if s.Kind == executive.EvaluateDirect {
		for i := range m.layout.Commands {
			list = append(list, m.layout.Slots+i)
		}
	}
	for _, c := range m.codes(s) {
		list = append(list, c.Reads()...)
	}
	return slices.DeleteFunc(list, func(i int) bool { return i < m.layout.Outputs })
}

// source returns the step that evaluates a signal.
func (m *Mission) source(signal int) executive.Evaluation {
	switch s := m.signals[signal]; s.kind {
	case output:
		if s.direct {
			return executive.Evaluation{Kind: executive.EvaluateDirect}
		}
		return executive.Evaluation{Kind: executive.EvaluateOutputs}
	case given:
		return executive.Evaluation{Kind: executive.EvaluateOutputs}
	case slotted:
		return executive.Evaluation{Kind: executive.EvaluateSlot, Index: s.index}
	default:
		return executive.Evaluation{Kind: executive.EvaluateComputed, Index: s.index}
	}
}

// order is a list of steps in which each follows those whose signals it reads.
type order []executive.Evaluation

// sort orders all steps. Signals that depend on each other at one instant are reported.
func (b *builder) sort() order {
	m := b.m
	var o order
	var path []int // signals on the way from the first
	const onPath, done = 1, 2
	state := map[executive.Evaluation]int{}
	var visit func(signal int)
	visit = func(signal int) {
		s := m.source(signal)
		switch state[s] {
		case onPath:
			b.loop(append(path, signal))
			return
		case done:
			return
		}
		state[s] = onPath
		path = append(path, signal)
		for _, n := range m.needs(s) {
			visit(n)
		}
		path = path[:len(path)-1]
		state[s] = done
		o = append(o, s)
	}
	for i := m.layout.Outputs; i < len(m.signals); i++ {
		visit(i)
	}
	return o
}

// pruned returns the steps that the given signals need, in order.
func (o order) pruned(m *Mission, wanted func(signal int) bool) []executive.Evaluation {
	needed := map[executive.Evaluation]bool{}
	var need func(signal int)
	need = func(signal int) {
		s := m.source(signal)
		if needed[s] {
			return
		}
		needed[s] = true
		for _, n := range m.needs(s) {
			need(n)
		}
	}
	for i := m.layout.Outputs; i < len(m.signals); i++ {
		if wanted(i) {
			need(i)
		}
	}
	steps := slices.DeleteFunc(slices.Clone(o), func(s executive.Evaluation) bool { return !needed[s] })
	return m.once(steps)
}

// once leaves out the evaluation of the outputs that do not depend on commands, unless a step reads one of them before
// all outputs are evaluated.
func (m *Mission) once(steps []executive.Evaluation) []executive.Evaluation {
	first := executive.Evaluation{Kind: executive.EvaluateOutputs}
	all := executive.Evaluation{Kind: executive.EvaluateDirect}
	i, end := slices.Index(steps, first), slices.Index(steps, all)
	if i < 0 || end < i || slices.ContainsFunc(steps[i:end], func(s executive.Evaluation) bool {
		return slices.ContainsFunc(m.needs(s), func(signal int) bool { return m.source(signal) == first })
	}) {
		return steps
	}
	return slices.Delete(steps, i, i+1)
}

// loop reports an algebraic loop where it can be opened: at a value that the mission computes or a task writes.
func (b *builder) loop(path []int) {
	m := b.m
	last := m.source(path[len(path)-1])
	first := slices.IndexFunc(path, func(i int) bool { return m.source(i) == last })
	var names []string
	for _, i := range path[first:] {
		names = append(names, m.signals[i].name)
	}
	d := diag.Diagnostic{Source: b.Source, Code: "algebraic-loop",
		Text: "signals depend on each other at the same instant: " + strings.Join(names, " reads "),
		Hint: "let one of them be a state of the vehicle, or an output that does not depend on the commands directly"}
	for _, i := range path[first:] {
		switch s := m.signals[i]; {
		case s.kind == computed:
			d.Offset, d.Length = s.at.offset, s.at.length
			b.Diags = append(b.Diags, d)
			return
		case s.kind == slotted && len(m.Program.Slots[s.index].Writers) > 0:
			for _, w := range m.Program.Slots[s.index].Writers {
				for _, a := range m.Plan.Leaves[w.Leaf].Write {
					if a.Target == s.name && len(a.Value.Names()) > 0 {
						d.Source, d.Offset, d.Length = m.Plan.Source, a.Offset, a.Length
					}
				}
			}
			b.Diags = append(b.Diags, d)
			return
		}
	}
	panic(fmt.Sprintf("mission: a loop without a value to blame: %v", names))
}
