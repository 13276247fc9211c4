package verify

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/document/declare"
	"canopy/explore"
	"canopy/expr"
	"canopy/temporal"
)

// Temporal properties. A run of the plan is a sequence of states, each in a world and with procedures under way or not;
// any world may follow any other, and each may last for any time. If no procedure takes time, a property "always a" is
// decided on the sets of states. All others are searched: the engine visits every state in every world, together with
// the part of the property that is still to be met.
//
// A property without until, eventually, within and for is violated, if at all, by the beginning of a run; the search
// finds the shortest, or proves that there is none. For the others, the search proves a stronger formula or refutes a
// weaker one, which have none of these operators:
//
//	            stronger        weaker
//	a until b   b               a weakly until b
//	within T a  a               true
//	for T a     always a        a

func askProperties(m *Model) []Finding {
	var found []Finding
	for _, p := range m.subject.Declared.Properties {
		f := m.property(p.Property)
		f.About, f.Place = p.Text, p.Place
		found = append(found, f)
	}
	return found
}

func (m *Model) property(p *temporal.Property) Finding {
	// The property has its own model, with the limits of the plan and of the property.
	s, of := m.subject, map[*expr.Expr]int{}
	s.Declared.Goal, s.Declared.Always = nil, nil
	p.Formula.Conditions(func(e *expr.Expr) {
		if _, known := of[e]; known { // true and false are shared
			return
		}
		of[e] = len(s.Declared.Always)
		s.Declared.Always = append(s.Declared.Always, declare.Statement{Text: e.String(), Parts: []*expr.Expr{e}})
	})
	own := newModel(s, m.spaceOf)
	if own.space.full() {
		return undecided(p, "the sets of states need too many nodes of decision diagrams", memoryAdvice)
	}
	f := p.Formula.Positive(false)
	if f.Op == temporal.Weak && isFalse(f.Args[1]) && !own.slow() { // else settled states are not all
		if l, ok := own.oneTime(f.Args[0], of); ok {
			return own.conclude(own.space.not(own.of(&l)),
				func(q *Player, w []bool) bool { return !q.holds(&l, w) },
				Finding{Text: "holds in every state: " + p.Text + own.vacuity(&l)},
				Finding{Text: "does not hold: " + p.Text, Advice: propertyAdvice})
		}
	}
	stronger, weaker := untimed(f, true), untimed(f, false)
	x, err := own.newPursuit(stronger, of)
	if err != "" {
		return undecided(p, err, memoryAdvice)
	}
	c := x.search(false)
	if c.verdict == Proved {
		return Finding{Text: "holds in every run: " + p.Text + ", " + c.how}
	}
	if why := timing(f); why != "" {
		if x, err = own.newPursuit(weaker, of); err != "" {
			return undecided(p, err, memoryAdvice)
		}
		if c = x.search(false); c.verdict != Refuted {
			return undecided(p, why, monitorAdvice)
		}
	}
	if c.verdict == Undecided && c.why == x.blind() {
		return undecided(p, c.why, monitorAdvice)
	}
	if c.verdict == Undecided {
		return undecided(p, c.why, "reduce the limits of signals and the free conditions; "+memoryAdvice)
	}
	text := "does not hold: " + p.Text
	if smooth := x.search(true); smooth.verdict == Refuted {
		c = smooth
	} else if smooth.verdict == Proved {
		text = "holds only if no signal jumps over an interval: " + p.Text
	}
	return Finding{Verdict: Refuted, Text: text, Script: c.script, Where: []string{x.m.worldText(c.world)},
		Advice: propertyAdvice}
}

const (
	propertyAdvice = "replay the script with `canopy trace`, or declare a fact that excludes it"
	monitorAdvice  = "`canopy monitor` judges it on runs"
)

func undecided(p *temporal.Property, why, advice string) Finding {
	return Finding{Verdict: Undecided, Text: "not concluded whether this holds: " + p.Text + ": " + why, Advice: advice}
}

func isFalse(f *temporal.Formula) bool {
	if f.Op != temporal.Condition {
		return false
	}
	l := f.Cond.Logic(nil)
	return l.Op == expr.LogicTruth && !l.Value
}

// oneTime returns the structure of a formula without temporal operators.
func (m *Model) oneTime(f *temporal.Formula, of map[*expr.Expr]int) (l expr.Logic, ok bool) {
	if f.Op == temporal.Condition {
		if i, known := of[f.Cond]; known {
			return m.always[i], true
		}
		return f.Cond.Logic(m.isTask), true
	}
	if f.Op > temporal.Or {
		return expr.Logic{}, false
	}
	l.Op = [...]expr.LogicOp{temporal.Not: expr.LogicNot, temporal.And: expr.LogicAnd, temporal.Or: expr.LogicOr}[f.Op]
	for _, a := range f.Args {
		part, ok := m.oneTime(a, of)
		if !ok {
			return expr.Logic{}, false
		}
		l.Args = append(l.Args, part)
	}
	return l, true
}

// untimed returns a stronger or a weaker formula that the beginning of a run violates if anything does.
func untimed(f *temporal.Formula, stronger bool) *temporal.Formula {
	args := make([]*temporal.Formula, len(f.Args))
	for i, a := range f.Args {
		args[i] = untimed(a, stronger)
	}
	g := &temporal.Formula{Op: f.Op, Cond: f.Cond, Args: args}
	switch {
	case f.Op == temporal.Until && stronger:
		return args[1]
	case f.Op == temporal.Until:
		g.Op = temporal.Weak
	case f.Op == temporal.Within && stronger, f.Op == temporal.For && !stronger:
		return args[0]
	case f.Op == temporal.For:
		g.Op, g.Args = temporal.Weak, append(args, truth(expr.False))
	case f.Op == temporal.Within:
		return truth(expr.True)
	}
	return g
}

func truth(e *expr.Expr) *temporal.Formula { return &temporal.Formula{Op: temporal.Condition, Cond: e} }

// timing returns the reason why a search cannot decide a formula; "" if it can.
func timing(f *temporal.Formula) string {
	switch f.Op {
	case temporal.Within, temporal.For:
		return "a world may last for any time"
	case temporal.Until:
		return "a world may last for ever"
	}
	for _, a := range f.Args {
		if why := timing(a); why != "" {
			return why
		}
	}
	return ""
}

// duties are the formulas still to be met: one of several sets of a pursuit's Weak formulas, bit i for the formula i.
// No set contains another one, and they are in ascending order, so that equal duties are identical. Without a set the
// property is violated; with the empty set it is met.
type duties []uint64

var met = duties{0}

func (d duties) or(e duties) duties {
	all := append(slices.Clone(d), e...)
	slices.Sort(all)
	all = slices.Compact(all)
	var least duties
	for _, s := range all {
		if !slices.ContainsFunc(all, func(t uint64) bool { return t != s && t&s == t }) {
			least = append(least, s)
		}
	}
	return least
}

func (d duties) and(e duties) duties {
	var all duties
	for _, s := range d {
		for _, t := range e {
			all = append(all, s|t)
		}
	}
	return all.or(nil)
}

// pursuit follows a formula of conditions, and, or and Weak along all runs of a plan. The formula to be met after a
// state is the progression of the formula before (F. Bacchus and F. Kabanza, Planning for temporally extended goals,
// 1998): that of "a weakly until b" is that of b, or that of a and the whole again.
type pursuit struct {
	*walker
	formula *temporal.Formula
	of      map[*expr.Expr]int // of a condition, its place in m.always
	weak    []*temporal.Formula
	bit     map[*temporal.Formula]int

	truth    map[[2]int]uint64 // by state and world: which conditions hold
	tasks    []duties
	taskOf   map[string]int
	progress map[[2]int]int // from duties and truth
	truths   map[uint64]int // number of a truth
}

// Bounds of a pursuit.
const (
	maxConditions = 64
	maxWeak       = 12        // duties are then at most 924 sets, the largest antichain
	maxEdges      = 2_000_000 // steps from a state to the next
)

func (m *Model) newPursuit(f *temporal.Formula, of map[*expr.Expr]int) (x *pursuit, why string) {
	x = &pursuit{formula: f, of: of, bit: map[*temporal.Formula]int{}, truth: map[[2]int]uint64{},
		taskOf: map[string]int{}, progress: map[[2]int]int{}, truths: map[uint64]int{}}
	var number func(f *temporal.Formula)
	number = func(f *temporal.Formula) {
		if f.Op == temporal.Weak {
			x.bit[f] = len(x.weak)
			x.weak = append(x.weak, f)
		}
		for _, a := range f.Args {
			number(a)
		}
	}
	number(f)
	if len(x.weak) > maxWeak || len(of) > maxConditions {
		return nil, "the property is too large: declare its parts as separate properties"
	}
	x.walker, why = m.newWalker()
	return x, why
}

// after returns the duties after a state in which these conditions hold.
func (x *pursuit) after(f *temporal.Formula, holds uint64) duties {
	switch f.Op {
	case temporal.Condition:
		i, known := x.of[f.Cond]
		if known && holds>>i&1 != 0 || !known && !isFalse(f) {
			return met
		}
		return nil
	case temporal.Not:
		if x.after(f.Args[0], holds) == nil {
			return met
		}
		return nil
	case temporal.And:
		return x.after(f.Args[0], holds).and(x.after(f.Args[1], holds))
	case temporal.Or:
		return x.after(f.Args[0], holds).or(x.after(f.Args[1], holds))
	}
	again := x.after(f.Args[0], holds).and(duties{1 << x.bit[f]})
	return x.after(f.Args[1], holds).or(again)
}

// left returns the number of the duties that remain of a task's duties after a state.
func (x *pursuit) left(task int, holds uint64) int {
	n, ok := x.truths[holds]
	if !ok {
		n = len(x.truths)
		x.truths[holds] = n
	}
	at := [2]int{task, n}
	if next, ok := x.progress[at]; ok {
		return next
	}
	var left duties
	if task < 0 {
		left = x.after(x.formula, holds)
	} else {
		for _, s := range x.tasks[task] {
			all := met
			for ; s != 0; s &= s - 1 {
				all = all.and(x.after(x.weak[bits.TrailingZeros64(s)], holds))
			}
			left = left.or(all)
		}
	}
	key := fmt.Sprint(left)
	next, ok := x.taskOf[key]
	if !ok {
		next = len(x.tasks)
		x.taskOf[key] = next
		x.tasks = append(x.tasks, left)
	}
	x.progress[at] = next
	return next
}

// holds returns the conditions that hold in a state in a world.
func (x *pursuit) holds(state, world int) uint64 {
	at := [2]int{state, world}
	set, ok := x.truth[at]
	if !ok {
		set = x.m.conditionsIn(x.states[state], x.worlds[world])
		x.truth[at] = set
	}
	return set
}

func (m *Model) conditionsIn(p *Player, world []bool) uint64 {
	set := uint64(0)
	for i := range m.always {
		if p.holds(&m.always[i], world) {
			set |= 1 << i
		}
	}
	return set
}

// chase is the result of a search.
type chase struct {
	verdict     Verdict
	script, why string
	how         string
	world       []bool // in which it goes wrong
}

// search searches for the shortest run after which the formula cannot be met; if smooth, for one in which each signal
// passes through all intervals on its way.
func (x *pursuit) search(smooth bool) chase {
	type place struct {
		state, world, task int
		over               []bt.Task
	}
	type key struct{ where, task int }
	places := explore.New[key, place](explore.Budget{Moves: maxEdges})
	var last *place // in which nothing can be met any more
	from := -1      // the place that is left
	leave := func() (why string) {
		at := place{state: -1, task: -1}
		if from >= 0 {
			at = places.Move(from)
		}
		endings := x.endings(at.state)
		for i := range len(endings) * len(x.worlds) {
			if !places.Spend() || x.tired() {
				return x.short()
			}
			number, w := i/len(x.worlds), i%len(x.worlds)
			if from >= 0 && smooth && !x.smooth(at.world, w) {
				continue
			}
			next, ok := x.move(at.state, w, number, endings[number])
			if !ok {
				continue
			}
			to := place{next, w, x.left(at.task, x.holds(next, w)), endings[number]}
			switch left := x.tasks[to.task]; {
			case len(left) == 0:
				last = &to
				return ""
			case left[0] == 0:
				continue
			}
			k := key{x.class[next], to.task}
			if smooth {
				k.where = k.where*len(x.worlds) + w
			}
			places.Arrive(from, k, to)
		}
		return ""
	}
	why := leave()
	for n := range places.Leave() {
		if why != "" || last != nil {
			break
		}
		from = n
		why = leave()
	}
	if why == "" && last == nil {
		why = x.blind()
	}
	switch {
	case why != "":
		return chase{verdict: Undecided, why: why}
	case last == nil:
		return chase{how: x.m.visited(len(x.states))}
	}
	var path []stage
	for _, n := range places.Path(from) {
		path = append(path, stage{x.worlds[places.Move(n).world], places.Move(n).over})
	}
	path = append(path, stage{x.worlds[last.world], last.over})
	return chase{verdict: Refuted, script: x.retrace(path), world: x.worlds[last.world]}
}

// retrace returns a script that visits the worlds, "" if it does not show the violation: a script begins with all
// conditions false, and a plan may remember that.
func (x *pursuit) retrace(path []stage) string {
	if !x.m.spells() {
		return ""
	}
	p, task := x.m.newSlowTrace(), -1
	var b strings.Builder
	for _, l := range p.lines {
		b.WriteString(l + "\n")
	}
	for _, s := range path {
		told := len(p.lines)
		if p.Move(s.world, s.over...) != nil {
			return ""
		}
		task = x.left(task, x.m.conditionsIn(p, s.world))
		fmt.Fprintf(&b, "# %s\n", x.m.worldText(s.world))
		for _, l := range p.lines[told:] {
			b.WriteString(l + "\n")
		}
	}
	if len(x.tasks[task]) > 0 {
		return ""
	}
	return b.String()
}
