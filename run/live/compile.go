package live

import (
	"fmt"
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// leaf is what the program knows of a leaf of the plan.
type leaf struct {
	name      string // of the task
	plan      *plan.Leaf
	action    *action // nil: the plan alone says what the leaf does
	query     *query  // of a condition that the plan asks; nil: it is none
	connected bool
	asked     bool // holds is the answer
	holds     bool

	// Guarded by Execution.mu.
	ports      map[string]*bound
	starting   map[int]any    // by entry: what Start reads; nil: it has returned
	over       bool           // the activation has ended
	activation uint64         // the number of the present or last one
	reported   [exit + 1]bool // by it
	err        error          // with which it failed
	signals    [exit + 1]int  // of its reports; a query has one
}

// Check returns all mistakes in the plan and in what was registered, each with its place, nil if there are none. Run
// does the same before anything else.
func (x *Execution) Check() error {
	_, err := x.read(&x.source)
	return err
}

// read reads a plan.
func (x *Execution) read(src *diag.Source) (*plan.Plan, error) {
	signals := plan.Vocabulary{}
	for _, s := range x.signals {
		if !s.hidden {
			signals[s.name] = plan.Signal{Unit: s.Unit, Type: s.Type, Values: s.Values, Slot: s.output, Hold: s.hold}
		}
	}
	code := x.codes()
	p, found := plan.ReadProgram(src, signals, x.open, code)
	found = append(found, x.mistakes...)
	known := p
	if p == nil { // its expressions have mistakes; those about leaves are found all the same
		known, _ = plan.ReadProgram(src, nil, x.open, code)
	}
	if known != nil {
		ports := x.binder(known)
		for i := range known.Leaves {
			found = append(found, ports.check(i)...)
			found = append(found, x.explain(known, &known.Leaves[i])...)
		}
	}
	if p != nil {
		found = append(found, p.FreeEntries(nil)...)
	}
	return p, found.Sorted().Err()
}

// explain returns the mistakes about a leaf and its code.
func (x *Execution) explain(p *plan.Plan, l *plan.Leaf) diag.List {
	report := func(suggest func() string, code, format string, args ...any) diag.List {
		return diag.List{{Source: p.Source, Offset: l.Offset, Length: l.Length, Code: code,
			Text: fmt.Sprintf(format, args...), Suggest: suggest}}
	}
	id, acts := p.Called(l), p.Tree.Kind(l.Task).Acts()
	a := x.actions[id]
	i, registered := x.places[id]
	switch {
	case l.Free && acts && registered:
		return report(func() string { return fmt.Sprintf(`write <Condition ID=%q/>`, id) }, "no-code",
			"%q is registered as a value, here it is an action", id)
	case acts && a == nil && (l.Free || len(l.Details()) == 0):
		return report(diag.Near(id, func() []string { return slices.Sorted(maps.Keys(x.actions)) }), "no-code",
			"no Go code is registered for the action %q", id)
	case l.Free && !acts && x.queries[id] == nil && (!registered || x.signals[i].Type != expr.Boolean):
		return report(diag.Near(id, func() []string { return slices.Sorted(maps.Keys(x.places)) }), "no-code",
			"no truth value is registered for the condition %q", id)
	case a != nil && a.StartTakesTime && (l.EntryTime != nil || l.EntryUntil != nil):
		return report(nil, "two-procedures", "the plan and the Go code both define when the entry of %q ends", id)
	case a != nil && a.StopTakesTime && (l.ExitTime != nil || l.ExitUntil != nil):
		return report(nil, "two-procedures", "the plan and the Go code both define when the exit of %q ends", id)
	}
	for _, w := range l.Write {
		for _, name := range w.Value.Names() {
			if i, ok := x.places[name]; ok && x.signals[i].output {
				return report(nil, "algebraic-loop", "%q writes %q from the output %q: assign it on entry", id, w.Target, name)
			}
		}
	}
	return nil
}

// stage is a plan that runs.
type stage struct {
	plan     *plan.Plan
	code     *expr.Compiler
	world    *world
	exec     *executive.Executive
	engine   *bt.Engine
	leaves   []*leaf              // by place in Tree.Leaves
	leafOf   []*leaf              // by task; nil: it is none
	named    []int                // the signals that ports name
	asked    map[*expr.Code]*leaf // by formula: the conditions that the plan asks
	watchers map[int][][2]int     // by entry: who writes it makes the first signal differ from the second one
	types    []expr.Type          // of the signals
}

// compile prepares the execution of the plan.
func (x *Execution) compile(p *plan.Plan) {
	program := x.program(p, nil)
	x.world = newWorld(x, program, program.Initial())
	x.mu.Lock()
	x.take()
	x.mu.Unlock()
	for _, i := range x.inbox.list {
		x.world.give(int(i), x.inbox.values[i])
	}
	x.inbox.list = x.inbox.list[:0]
	x.world.Signals()
	x.world.iterate()
	x.show()
	x.exec = executive.New(program, x.world, x.decider(func(in []bt.Input) *bt.Engine {
		return bt.NewEngine(p.Tree, in, 0)
	}))
}

// decider returns the plan's tree with an engine.
func (s *stage) decider(start func(in []bt.Input) *bt.Engine) executive.Decider {
	create := func(in []bt.Input) *bt.Engine {
		s.engine = start(in)
		return s.engine
	}
	how := executive.Sparing
	if len(s.asked) > 0 {
		how = executive.Lazy
	}
	if len(s.plan.Entries)+len(s.asked) > 0 { // what reads entries counts: one that is not written is an error
		return executive.Listening(func(in []bt.Input) executive.Listener { return create(in) },
			make([]bool, s.plan.Tree.Len()), how)
	}
	return executive.Tree(func(in []bt.Input) executive.Engine { return create(in) })
}

// program makes a plan the present one and compiles it. What an action reports are signals which its formulas name. A
// leaf that an exchange keeps remains the same; nil: all are new.
func (x *Execution) program(p *plan.Plan, change *bt.Exchange) *executive.Program {
	leaves, old := slices.Clone(p.Leaves), x.leafOf
	x.stage = stage{plan: p, leaves: make([]*leaf, len(leaves)), leafOf: make([]*leaf, p.Tree.Len()),
		watchers: map[int][][2]int{}}
	for i := range leaves {
		l := &leaves[i]
		if change != nil && change.Kept(l.Task) >= 0 {
			x.leaves[i] = old[change.Kept(l.Task)]
		} else {
			x.leaves[i] = &leaf{name: p.Tree.Name(l.Task), plan: &p.Leaves[i]}
			if p.Tree.Kind(l.Task).Acts() {
				x.leaves[i].action = x.actions[p.Called(l)]
			} else if l.Free {
				x.leaves[i].query = x.queries[p.Called(l)]
			}
		}
		x.leafOf[l.Task] = x.leaves[i]
		x.connect(l, x.leaves[i])
	}
	initial := map[int]*plan.BlackboardEntry{}
	for i := range p.Entries {
		e := &p.Entries[i]
		x.mu.Lock()
		place, known := x.places[e.Name]
		if !known {
			place = x.add(signal{name: e.Name, variable: whole, hidden: true, entry: true})
		}
		x.signals[place].Variable, initial[place] = e.Variable(), e
		x.mu.Unlock()
	}
	x.bind()
	scope := expr.Scope{}
	program := &executive.Program{Tree: p.Tree}
	for i, s := range x.signals {
		scope[s.name], x.types = s.Variable, append(x.types, s.Type)
		slot := executive.Slot{Name: s.name, Initial: s.initial, Hold: s.hold}
		if s.entry {
			slot.Empty, slot.Entry, slot.Hold = true, true, true
			program.All = append(program.All, executive.Evaluation{Kind: executive.EvaluateSlot, Index: i})
		}
		program.Slots = append(program.Slots, slot)
	}
	n := 1 + len(x.signals)
	program.Layout = executive.Layout{Outputs: 1, Slots: 1, Computed: n, Signals: n}
	c := expr.NewCompiler(scope, func(name string) (int, bool) { i, ok := x.places[name]; return 1 + i, ok })
	for i, e := range initial {
		if e.Initial != nil {
			program.Slots[i].Initial, program.Slots[i].Empty = c.CompileAtOnce(e.Initial, e.Variable()).Value(nil, nil), false
		}
	}
	plan.Coder{Observed: c.CompileFor, Once: c.CompileAtOnce, Slot: func(a plan.Assignment) (int, expr.Variable) {
		i := x.places[a.Target]
		return i, x.signals[i].Variable
	}}.Compile(program, leaves)
	program.Indicators = c.Indicators()
	for _, o := range x.outputs {
		program.All = append(program.All, executive.Evaluation{Kind: executive.EvaluateSlot, Index: o.signal})
	}
	program.Link()
	x.code, x.asked = c, map[*expr.Code]*leaf{}
	for i, l := range x.leaves {
		if l.query != nil {
			x.asked[program.Leaves[i].Formulas[executive.On]] = l
		}
	}
	return program
}

// connect makes the formulas of a leaf name the signals by which its code reports.
func (x *Execution) connect(l *plan.Leaf, s *leaf) {
	var names []string
	switch {
	case s.query != nil:
		names = []string{"holds"}
	case s.action != nil:
		names = []string{"outcome", "entered", "exited"}
	default:
		return
	}
	if !s.connected {
		s.connected = true
		for k, name := range names {
			x.mu.Lock()
			s.signals[k] = x.add(signal{name: fmt.Sprintf("live.%s%d", name, len(x.signals)), variable: whole, hidden: true})
			x.mu.Unlock()
		}
	}
	if s.query != nil {
		l.On = parse(x.signals[s.signals[outcome]].name + " == 1")
		return
	}
	also := func(e *expr.Expr, signal, value int) *expr.Expr {
		r := parse(fmt.Sprintf("%s == %d", x.signals[signal].name, value))
		if e == nil {
			return r
		}
		return parse("a or b").Substitute(map[string]*expr.Expr{"a": e, "b": r})
	}
	l.SuccessIf = also(l.SuccessIf, s.action.request, succeeded)
	l.FailureIf = also(l.FailureIf, s.action.request, failed)
	l.Done, l.Failed = also(l.Done, s.signals[outcome], succeeded), also(l.Failed, s.signals[outcome], failed)
	if s.action.StartTakesTime {
		l.EntryUntil = also(nil, s.signals[procedure], complete)
	}
	if s.action.StopTakesTime {
		l.ExitUntil = also(nil, s.signals[exit], complete)
	}
}

func parse(text string) *expr.Expr {
	e, err := expr.Parse(text)
	if err != nil {
		panic("live: " + err.Error())
	}
	return e
}
