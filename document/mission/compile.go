package mission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/plan"
	"canopy/expr"
)

// leaf is a leaf of the plan with its expressions compiled. Codes that the plan does not give are nil.
type leaf struct {
	task                bt.Task
	condition           bool
	on, off             *expr.Code
	entry, exit         []assignment
	captured, left      int // places of the first values that its entry and its exit procedure capture
	entryTime, exitTime *expr.Code
	entryUntil          *expr.Code
	exitUntil           *expr.Code
	done, failed        *expr.Code
	successIf           *expr.Code
	failureIf           *expr.Code
	slots               []int // that it writes while active, continuously or by its entry
	writes              []int // indicators inside the values that it writes
}

type assignment struct {
	slot  int
	value *expr.Code
}

// phase is what a leaf does with slots, among the discrete inputs.
type phase = float64

const (
	resting phase = iota
	active        // it writes its values and what its entry procedure captured
	leaving       // its exit procedure takes time: it writes what that captured
)

// writer is a leaf that writes a slot in a phase: a value that follows the signals, or one that was captured.
type writer struct {
	leaf     int
	phase    phase
	value    *expr.Code // nil: captured
	captured int        // place of the captured value among those of all leaves
}

// program is everything of a mission that is evaluated while it runs.
//
// What depends on what is a graph of steps; each purpose has its own order of them, with only the steps it needs.
type program struct {
	indicators []expr.Indicator
	captures   int    // number of captured values
	switches   []bool // the derivatives depend on the indicator's side
	standing   []int  // indicators inside computed signals: watched at all times
	writers    [][]writer
	computed   []*expr.Code
	derive     []step // up to the vehicle's commands
	observe    []step // up to what the indicators read
	reads      []int  // states that the indicators depend on; nil means all
	all        []step // every signal
}

// step evaluates one signal, or all outputs of the vehicle at once.
type step struct {
	kind  stepKind
	index int // of the slot or the computed signal
}

type stepKind uint8

const (
	stepOutputs stepKind = iota // the vehicle's outputs that depend on its states and time alone
	stepDirect                  // those that depend on the commands as well
	stepSlot
	stepComputed
)

// compile turns the plan's and the mission's expressions into code and orders the steps.
func (b *builder) compile() {
	m := b.m
	slot := func(name string) (int, bool) { i, ok := b.names[name]; return i, ok }
	c := expr.NewCompiler(slot)
	atOnce := expr.NewCompiler(slot) // for values taken once at an instant: their relations are no events
	m.program.writers = make([][]writer, len(m.slots))
	for _, s := range m.signals {
		if s.kind == computed {
			m.program.computed = append(m.program.computed, b.observed(c, s.value))
		}
	}
	for i, l := range m.Plan.Leaves {
		m.leaves = append(m.leaves, b.leaf(c, atOnce, i, l))
	}
	p := &m.program
	p.indicators = c.Indicators()
	order := b.sort()
	reads := map[int]bool{}
	for _, code := range b.codes {
		if len(code.Indicators()) > 0 {
			for _, s := range code.Reads() {
				reads[s] = true
			}
		}
	}
	p.all = order.pruned(m, func(int) bool { return true })
	p.derive = order.pruned(m, func(s int) bool { return s >= m.layout.slots && s < m.layout.slots+m.layout.commands })
	p.observe = order.pruned(m, func(s int) bool { return reads[s] })
	p.reads = m.states(reads, p.observe)
	p.switches = make([]bool, len(p.indicators))
	for _, s := range p.derive {
		for _, i := range m.indicatorsOf(s) {
			p.switches[i] = true
		}
	}
	for _, c := range p.computed {
		p.standing = append(p.standing, c.Indicators()...)
	}
}

// states returns the states among the signals read and those that the steps towards them read; nil if that may be all.
func (m *Mission) states(reads map[int]bool, steps []step) []int {
	all := maps.Clone(reads)
	for _, s := range steps {
		if s.kind == stepOutputs || s.kind == stepDirect {
			return nil
		}
		for _, c := range m.codes(s) {
			for _, i := range c.Reads() {
				all[i] = true
			}
		}
	}
	states := []int{}
	for i := 1; i < m.layout.outputs; i++ { // after the clock
		if all[i] {
			states = append(states, i-1)
		}
	}
	return states
}

func (b *builder) leaf(c, atOnce *expr.Compiler, i int, l plan.Leaf) leaf {
	code := func(e *expr.Expr) *expr.Code { return b.observed(c, e) }
	once := func(e *expr.Expr) *expr.Code {
		if e == nil {
			return nil
		}
		return atOnce.Compile(e)
	}
	assignments := func(compile func(*expr.Expr) *expr.Code, list []plan.Assignment) []assignment {
		var a []assignment
		for _, x := range list {
			a = append(a, assignment{b.m.signals[b.names[x.Target]].index, compile(x.Value)})
		}
		return a
	}
	out := leaf{task: l.Task, condition: !b.m.Plan.Tree.Kind(l.Task).Acts(), on: code(l.On), off: code(l.Off),
		entry: assignments(once, l.Entry), exit: assignments(once, l.Exit),
		entryTime: once(l.EntryTime), exitTime: once(l.ExitTime),
		entryUntil: code(l.EntryUntil), exitUntil: code(l.ExitUntil), done: code(l.Done), failed: code(l.Failed),
		successIf: code(l.SuccessIf), failureIf: code(l.FailureIf)}
	p := &b.m.program
	for _, a := range assignments(code, l.Write) {
		p.writers[a.slot] = append(p.writers[a.slot], writer{leaf: i, phase: active, value: a.value})
		out.slots = append(out.slots, a.slot)
		out.writes = append(out.writes, a.value.Indicators()...)
	}
	out.captured = p.captures
	for _, a := range out.entry {
		if !slices.Contains(out.slots, a.slot) { // what it writes continuously goes before what it captures
			p.writers[a.slot] = append(p.writers[a.slot], writer{leaf: i, phase: active, captured: p.captures})
			out.slots = append(out.slots, a.slot)
		}
		p.captures++
	}
	out.left = p.captures
	for _, a := range out.exit {
		p.writers[a.slot] = append(p.writers[a.slot], writer{leaf: i, phase: leaving, captured: p.captures})
		p.captures++
	}
	return out
}

// observed compiles an expression whose relations are events; nil stays nil.
func (b *builder) observed(c *expr.Compiler, e *expr.Expr) *expr.Code {
	if e == nil {
		return nil
	}
	code := c.Compile(e)
	b.codes = append(b.codes, code)
	return code
}

// indicatorsOf returns the indicators whose sides decide the value of a step.
func (m *Mission) indicatorsOf(s step) []int {
	var list []int
	for _, c := range m.codes(s) {
		list = append(list, c.Indicators()...)
	}
	return list
}

// codes returns the code that a step may run.
func (m *Mission) codes(s step) []*expr.Code {
	var list []*expr.Code
	switch s.kind {
	case stepComputed:
		list = append(list, m.program.computed[s.index])
	case stepSlot:
		for _, w := range m.program.writers[s.index] {
			if w.value != nil {
				list = append(list, w.value)
			}
		}
	}
	return list
}

// needs returns the signals that a step reads, apart from the clock and the states.
func (m *Mission) needs(s step) []int {
	var list []int
	if s.kind == stepDirect {
		for i := range m.layout.commands {
			list = append(list, m.layout.slots+i)
		}
	}
	for _, c := range m.codes(s) {
		list = append(list, c.Reads()...)
	}
	return slices.DeleteFunc(list, func(i int) bool { return i < m.layout.outputs })
}

// source returns the step that evaluates a signal.
func (m *Mission) source(signal int) step {
	switch s := m.signals[signal]; s.kind {
	case output:
		if s.direct {
			return step{kind: stepDirect}
		}
		return step{kind: stepOutputs}
	case slotted:
		return step{stepSlot, s.index}
	default:
		return step{stepComputed, s.index}
	}
}

// order is a list of steps in which each stands after those whose signals it reads.
type order []step

// sort orders all steps. Signals that depend on each other in a circle at one instant are reported.
func (b *builder) sort() order {
	m := b.m
	var o order
	var path []int // signals on the way from the first
	const onPath, done = 1, 2
	state := map[step]int{}
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
	for i := m.layout.outputs; i < len(m.signals); i++ {
		visit(i)
	}
	return o
}

// pruned returns the steps that the wanted signals need, in order.
func (o order) pruned(m *Mission, wanted func(signal int) bool) []step {
	needed := map[step]bool{}
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
	for i := m.layout.outputs; i < len(m.signals); i++ {
		if wanted(i) {
			need(i)
		}
	}
	return slices.DeleteFunc(slices.Clone(o), func(s step) bool { return !needed[s] })
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
		case s.kind == slotted && len(m.program.writers[s.index]) > 0:
			for _, w := range m.program.writers[s.index] {
				for _, a := range m.Plan.Leaves[w.leaf].Write {
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
