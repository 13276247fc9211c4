package verify

import (
	"slices"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// Model is the abstraction of a plan: a state is an assignment of truth values to inputs.
//
// The limits of a signal cut its range into intervals. A relation that is not a limit of one signal is a separate
// input, true or false in any state; so is a condition without an expression. This allows more states than exist: a
// proof holds, and a refutation names the inputs.
//
// The sets are those of the settled states, in which no procedure is under way:
//
//	judged[t]   the effective status of t is good, bad or skipped, as docs/semantics.md calls it
//	active[t]   t's turn has come, and it is none of these
//
// They follow from the decision rules of the composites, bt.Decide (A. Klöckner, Behavior Trees for UAV Mission
// Management, 2013, section 4; M. Colledanchise and P. Ögren, How Behavior Trees Generalize the Teleo-Reactive
// Paradigm and And-Or-Trees, 2016, definitions 8 and 9). Of tasks with memory they are only what may be: memory.go.
type Model struct {
	effort  int  // a factor of the bounds of searches
	tired   bool // such a bound has ended a search
	subject declare.Subject
	plan    *plan.Plan
	tree    *bt.Tree
	vocab   *vocabulary
	leaves  []leaf
	leafOf  map[bt.Task]int
	facts   []expr.Logic
	always  []expr.Logic
	goal    *expr.Logic

	spaceOf                         func(variables int) *diagrams
	space                           *diagrams
	above                           map[[2]int]set      // by variable of a signal and cut: the signal is above it
	truth                           []set               // by leaf: of a condition
	judged                          []bt.Judgement[set] // by task
	wanted                          []set               // by task: its parent wants it
	active                          []set               // by task
	natures                         []bt.Nature         // by task
	remembers                       []bool              // by task
	apart                           *memories           // what it remembers are inputs; nil: they are not
	told                            *Model              // the same plan with such inputs
	groups                          []*latchGroup       // of conditions with hysteresis
	memories                        []int               // their variables
	uncertain                       bool                // not all of these memories are known
	latches                         set                 // their memory, as far as it is known to be possible
	steps, abstractSteps, lazySteps *flown.Stepper      // nil: not prepared
	times                           bool                // these follow times since activations
	flew, reachable                 *flights            // reachable: nil: no question has needed it yet
	runsGoOn                        *Finding            // whether every run goes on; nil: not asked yet
	lawful                          set                 // the states that facts and latches allow
	entered                         []bool              // by task: the engine was seen to activate it
	explored                        bool                // entered is all that it can activate

	origins [len(rateAssumptions)]bool // of the rates that the answer in progress used
	with    map[answers]*Model         // if the leaves of another program answer so
	started *Model                     // of the runs that begin as the mission declares; nil: not needed yet
	endless *Model                     // of the runs that go on beyond the horizon; nil: not needed yet
}

// NewModel returns the abstraction of a subject.
func NewModel(s declare.Subject) *Model { return newModel(s, newDiagrams) }

func newModel(s declare.Subject, spaceOf func(variables int) *diagrams) *Model {
	return newModels(spaceOf, false, s)[0]
}

// newModels returns the abstractions of subjects that meet the same world: they have their inputs and the space in
// common.
func newModels(spaceOf func(variables int) *diagrams, apart bool, subjects ...declare.Subject) []*Model {
	vocab := &vocabulary{bySig: map[string]int{}, byFree: map[string]int{}, latches: map[string]int{}}
	models := make([]*Model, len(subjects))
	for i, s := range subjects {
		m := &Model{effort: once, subject: s, plan: s.Plan, tree: s.Plan.Tree, vocab: vocab, leafOf: map[bt.Task]int{},
			spaceOf: spaceOf, above: map[[2]int]set{}}
		models[i] = m
		m.readLeaves()
		m.nature()
		if apart {
			m.apart = &memories{slow: m.slow(), kept: map[bt.Task]int{}, stored: map[bt.Task]int{},
				none: map[bt.Task]set{}}
		}
		for i := range m.leaves {
			m.leaves[i].formulas(vocab.collect)
		}
		m.stated(vocab.collect)
		m.begun()
	}
	for _, m := range models {
		m.number()
	}
	shared := spaceOf(len(vocab.inputs))
	for _, m := range models {
		m.space = shared
		m.judge()
		m.activate()
		m.restrict()
	}
	return models
}

// readLeaves takes the structure of the leaves' conditions.
func (m *Model) readLeaves() {
	logic := func(e *expr.Expr) *expr.Logic {
		if e == nil {
			return nil
		}
		l := m.subject.Expanded(e).Logic(nil)
		return &l
	}
	for i := range m.plan.Leaves {
		l := &m.plan.Leaves[i]
		x := leaf{task: l.Task, name: m.tree.Name(l.Task), latch: -1, condition: !m.tree.Kind(l.Task).Acts()}
		if x.condition {
			x.input, x.called = m.plan.Input(l, m.subject.Expanded)
		}
		switch {
		case len(l.Until) > 0: // it lasts, which only a flight knows
			x.on = proposition(x.name + " (it lasts until a task has ended)")
		case x.condition && l.On == nil:
			x.on = proposition(x.called)
		case x.condition:
			x.on, x.off = logic(l.On), logic(l.Off)
		case slices.Contains(m.subject.Declared.Free, x.name):
			x.done, x.failed = proposition(x.name+flown.Succeeds), proposition(x.name+flown.Fails)
			x.successIf, x.failureIf = proposition(x.name+flown.Idle), proposition(x.name+flown.Unable)
		default:
			x.done, x.failed = logic(l.Done), logic(l.Failed)
			x.successIf, x.failureIf = logic(l.SuccessIf), logic(l.FailureIf)
		}
		x.entry = procedure{l.EntryTime != nil || l.EntryUntil != nil, logic(l.EntryUntil)}
		x.exit = procedure{l.ExitTime != nil || l.ExitUntil != nil, logic(l.ExitUntil)}
		m.leaves = append(m.leaves, x)
		m.leafOf[l.Task] = i
	}
	for _, f := range m.subject.Declared.Facts {
		m.facts = append(m.facts, m.subject.Logic(f))
	}
	for _, f := range m.subject.Declared.Always {
		m.always = append(m.always, m.subject.Logic(f))
	}
	if g := m.subject.Declared.Goal; g != nil {
		l := m.subject.Logic(*g)
		m.goal = &l
	}
}

// slow reports whether some procedure takes time.
func (m *Model) slow() bool {
	return slices.ContainsFunc(m.leaves, func(l leaf) bool { return l.entry.slow || l.exit.slow })
}

// formulas visits all formulas of a leaf.
func (l *leaf) formulas(visit func(*expr.Logic)) {
	for _, f := range []*expr.Logic{l.on, l.off, l.done, l.failed, l.successIf, l.failureIf, l.entry.until,
		l.exit.until} {
		visit(f)
	}
}

// stated visits the declared formulas.
func (m *Model) stated(visit func(*expr.Logic)) {
	for i := range m.facts {
		visit(&m.facts[i])
	}
	for i := range m.always {
		visit(&m.always[i])
	}
	visit(m.goal)
}

// begun makes the ranges at the start intervals of their own: a signal enters the next one from there. Without facts
// that are derived, its rates are too wide for that to matter.
func (m *Model) begun() {
	if !slices.ContainsFunc(m.subject.Declared.Facts, func(f declare.Statement) bool { return f.Derived }) {
		return
	}
	for name, x := range m.subject.Initial {
		if _, known := m.vocab.bySig[name]; known && x.Bounded() {
			m.vocab.collect(&expr.Logic{Op: expr.LogicThreshold, Signal: name, Limit: x.Low})
			m.vocab.collect(&expr.Logic{Op: expr.LogicThreshold, Signal: name, Limit: x.High, Strict: true})
		}
	}
}

// number gives every input its variable: the leaves' in the order of the tree.
func (m *Model) number() {
	for t := range bt.Task(m.tree.Len()) {
		if i, ok := m.leafOf[t]; ok {
			m.leaves[i].number(m.vocab)
		}
		if m.apart != nil {
			m.numberMemory(t)
		}
	}
	m.stated(m.vocab.number)
}

func (l *leaf) number(all *vocabulary) {
	l.formulas(all.number)
	if l.off == nil {
		return
	}
	v, known := all.latches[l.input]
	if !known {
		v = len(all.inputs)
		all.latches[l.input] = v
		all.inputs = append(all.inputs, input{kind: inputLatch,
			text: l.name + " true before", denied: l.name + " false before"})
	}
	l.latch = v
}

// of returns the states in which a formula holds; one that is not given never does.
func (m *Model) of(l *expr.Logic) set {
	s := m.space
	if l == nil {
		return s.none()
	}
	switch l.Op {
	case expr.LogicTruth:
		if l.Value {
			return s.all()
		}
		return s.none()
	case expr.LogicThreshold:
		sig, k := m.vocab.above(l)
		return m.over(sig, k)
	case expr.LogicRelation:
		return s.variable(m.vocab.byFree[l.Key])
	case expr.LogicProposition:
		task, _ := m.tree.Find(l.Text)
		if i, ok := m.leafOf[task]; ok && m.leaves[i].condition {
			return m.truth[i]
		}
		return m.active[task]
	case expr.LogicNot:
		return s.not(m.of(&l.Args[0]))
	case expr.LogicAnd, expr.LogicOr:
		join := s.or
		if l.Op == expr.LogicAnd {
			join = s.and
		}
		sum := m.of(&l.Args[0])
		for i := range l.Args[1:] {
			sum = join(sum, m.of(&l.Args[i+1]))
		}
		return sum
	}
	panic("verify: a formula with an unknown operation")
}

// over returns the states in which a signal is above a cut: the number of its interval is greater.
func (m *Model) over(sig *signal, cut int) set {
	key := [2]int{sig.at, cut}
	if s, known := m.above[key]; known {
		return s
	}
	s := m.space.all()
	for b := range sig.bits() { // from the last bit: at least cut + 1
		join := m.space.or
		if (cut+1)>>b&1 == 1 {
			join = m.space.and
		}
		s = join(m.space.variable(sig.at+b), s)
	}
	m.above[key] = s
	return s
}

// judge computes the judgements of every task, and where it is wanted, children first.
func (m *Model) judge() {
	n := m.tree.Len()
	m.truth, m.judged, m.wanted = make([]set, len(m.leaves)), make([]bt.Judgement[set], n), make([]set, n)
	m.wanted[m.tree.Root()] = always
	for t := range bt.Task(n) {
		if i, ok := m.leafOf[t]; ok {
			m.judgeLeaf(i)
		} else {
			m.judged[t] = m.decide(t)
		}
		j := &m.judged[t]
		j.Open = m.space.not(m.space.or(m.space.or(j.Good, j.Bad), j.Skipped))
		switch keeps := m.keeps(t); {
		case keeps && m.apart != nil:
			m.tell(t)
		case keeps:
			m.widen(t)
		}
	}
}

// judgeLeaf: a condition is good where it is true. An action without expressions requests activity and has no outcome.
func (m *Model) judgeLeaf(i int) {
	s, l := m.space, &m.leaves[i]
	if l.condition {
		v := m.of(l.on)
		if l.latch >= 0 {
			v = s.or(v, s.and(s.variable(l.latch), s.not(m.of(l.off))))
		}
		m.truth[i], m.judged[l.task] = v, bt.Judgement[set]{Good: v, Bad: s.not(v)}
		return
	}
	bad := m.of(l.failureIf)
	m.judged[l.task] = bt.Judgement[set]{Good: s.and(m.of(l.successIf), s.not(bad)), Bad: bad}
}

// decide returns where a composite returns which judgement, and notes where it wants its children.
func (m *Model) decide(t bt.Task) bt.Judgement[set] {
	in := deciding{m.space, m.keeps(t) && m.apart == nil}
	rule := m.natures[t].Rule
	if m.begin(&rule); m.apart != nil {
		return m.decideApart(t, &rule)
	}
	look := func(child bt.Task, looks set) bt.Judgement[set] {
		if rule.Course != nil {
			looks = m.space.and(looks, m.judged[child].Open)
		}
		m.wanted[child] = m.space.or(m.wanted[child], looks)
		return m.judged[child]
	}
	n := int32(len(rule.Children))
	if rule.Enough == 0 || rule.Enough+rule.TooMany <= n && !in.up {
		return bt.Decide(in, &rule, look)
	}
	// Never both thresholds are reached, or in any order: counted apart, the sets are small.
	good, bad := rule, rule
	good.TooMany, bad.Enough = n+1, n+1
	says := bt.Decide(in, &good, look)
	says.Bad = bt.Decide(in, &bad, look).Bad
	return says
}

// activate computes where each task is active, parents first.
func (m *Model) activate() {
	s, n := m.space, m.tree.Len()
	enter := make([]set, n)
	m.active = make([]set, n)
	for t := m.tree.Root(); t >= 0; t-- {
		if p := m.tree.Parent(t); p >= 0 {
			enter[t] = enter[p] // where a child that is undecided is wanted, so is its parent, unless it keeps a judgement
			if m.wanted[t] == always {
				enter[t] = m.active[p]
			} else if m.apart != nil && m.keeps(p) {
				enter[t] = s.and(enter[p], m.apart.none[p])
			}
		} else {
			enter[t] = always
		}
		enter[t] = s.and(enter[t], m.wanted[t])
		m.active[t] = s.and(enter[t], m.judged[t].Open)
	}
}

// restrict computes the states that facts and latches allow. In a plan with memory, facts about the activity of tasks
// are left to searches.
func (m *Model) restrict() {
	m.lawful, m.latches = always, always
	for i := range m.facts {
		if m.decides(&m.facts[i]) {
			m.lawful = m.space.and(m.lawful, m.of(&m.facts[i]))
		}
	}
	m.restrictLatches()
}

// assumesFacts reports whether the author declares facts: those that are derived are no assumptions.
func (m *Model) assumesFacts() bool {
	return slices.ContainsFunc(m.subject.Declared.Facts, func(f declare.Statement) bool { return !f.Derived })
}

// decides reports whether the set of a formula is exactly where it holds.
func (m *Model) decides(l *expr.Logic) bool {
	if l.Op == expr.LogicProposition && m.Remembers() {
		task, _ := m.tree.Find(l.Text)
		i, ok := m.leafOf[task]
		return ok && m.leaves[i].condition
	}
	return !slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return !m.decides(&a) })
}

// empty reports whether no state that is considered is in a set.
func (m *Model) empty(a set) bool {
	_, ok := m.find(a)
	return !ok
}
