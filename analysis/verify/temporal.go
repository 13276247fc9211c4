package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/temporal"
)

// Temporal properties. A run of the plan is a sequence of instants as it is flown; any world may follow any other, and
// each may last for any time that the procedures and timers under way allow. A property "always a" of a plan whose
// states depend on the world alone is decided on the sets of states. All others are searched: every step, together with
// the part of the property that is still to be met.
//
// A property without until and eventually is violated, if at all, by the beginning of a run; the search finds one with
// the minimum number of worlds, or proves that there is none. For the others, the search proves a stronger formula or
// refutes a weaker one (followed).

func askProperties(m *Model) []Finding {
	var found []Finding
	for _, p := range m.subject.Declared.Properties {
		f := m.property(p.Property)
		f.About, f.Place = p.Text, p.Place
		found = append(found, f)
	}
	return found
}

const sinceAdvice = "give it entry_time, or use Sleep, Delay or Timeout, whose times are followed; " + monitorAdvice

// measured returns the tasks whose expressions depend on the time since their activation in a way that the search does
// not follow, "" if there are none.
func (m *Model) measured() string {
	var names []string
	for i := range m.plan.Leaves {
		if l := &m.plan.Leaves[i]; l.Start != "" && !m.stepper().Times(l.Start) {
			names = append(names, m.tree.Name(l.Task))
		}
	}
	return strings.Join(names, " and ")
}

// propertyModel is the abstraction for one property, with the limits of the plan and of the property.
type propertyModel struct {
	*Model
	property   *temporal.Property
	formula    *temporal.Formula  // without negations of operations
	conditions map[*expr.Expr]int // number of a condition: that of a declared statement of the model
	lacks      []*expr.Logic      // conditions behind these: that such a one reads an entry without a value
	until      float64            // the time within which what must happen without a bound is proved to happen [s]
}

func (m *Model) newPropertyModel(p *temporal.Property) *propertyModel {
	s, of := m.subject, map[*expr.Expr]int{}
	s.Declared.Goal, s.Declared.Always = nil, nil
	p.Formula.Conditions(func(e *expr.Expr) {
		if _, known := of[e]; known { // true and false are shared
			return
		}
		of[e] = len(s.Declared.Always)
		s.Declared.Always = append(s.Declared.Always, declare.Statement{Text: e.String(), Parts: []*expr.Expr{e}})
	})
	x := &propertyModel{Model: newModel(s, m.spaceOf), property: p, formula: p.Formula.Positive(false), conditions: of}
	x.effort, x.times = m.effort, timing(x.formula) != ""
	x.steps, x.abstractSteps, x.lazySteps = nil, nil, nil // without times
	return x
}

// property proves or refutes a property.
func (m *Model) property(p *temporal.Property) Finding {
	x := m.newPropertyModel(p)
	f := x.answer()
	if f.Verdict == Refuted && m.subject.Initial != nil && timing(x.formula) == "" {
		for _, p := range []limits{atRates, atRates | sinceEntry} {
			if c := x.proveAtRates(m.subject.Horizon, p); c.verdict == Proved {
				f = x.provedAtRates(c)
				break
			}
		}
	}
	if entry := x.favour(); entry != "" && f.Verdict == Refuted {
		if f = x.answer(); f.Verdict == Proved {
			f = undecided(p, lacking(entry), entryAdvice)
		}
	}
	m.tired = m.tired || x.tired
	if since := x.measured(); f.Verdict == Refuted && since != "" && x.times {
		f = undecided(p, "the search does not follow the time since the activation of "+since+" (elapsed)", sinceAdvice)
	}
	return f
}

// favour lets conditions of the formula that read an entry of the blackboard be as the property needs them while the
// entry has no value. It returns the first such entry, "" if there is none.
func (x *propertyModel) favour() (entry string) {
	lacks := map[*expr.Expr]*expr.Expr{} // by condition: that of the same text which holds while an entry has no value
	x.formula.Conditions(func(e *expr.Expr) {
		i, known := x.conditions[e]
		if !known || lacks[e] != nil {
			return
		}
		if name := x.entryIn(&x.always[i]); name != "" {
			entry = cmp.Or(entry, name)
			same := *e
			lacks[e] = &same
			x.conditions[&same] = len(x.always) + len(x.lacks)
			x.lacks = append(x.lacks, &x.always[i])
		}
	})
	x.formula = eased(x.formula, lacks)
	return entry
}

// eased returns a formula, with Not only on conditions, in which conditions and negations of them also hold where the
// conditions that belong to them do.
func eased(f *temporal.Formula, by map[*expr.Expr]*expr.Expr) *temporal.Formula {
	g := &temporal.Formula{Op: f.Op, Cond: f.Cond, Bound: f.Bound}
	c := f
	switch f.Op {
	case temporal.Not:
		g, c = f, f.Args[0]
	case temporal.Condition:
	default:
		for _, a := range f.Args {
			g.Args = append(g.Args, eased(a, by))
		}
	}
	if other := by[c.Cond]; other != nil {
		return &temporal.Formula{Op: temporal.Or, Args: []*temporal.Formula{g, truth(other)}}
	}
	return g
}

func (x *propertyModel) answer() Finding {
	if x.space.full() {
		return undecided(x.property, "the sets of states need too many nodes of decision diagrams", memoryAdvice)
	}
	if found, ok := x.inStates(); ok {
		return found
	}
	if found, ok := x.inSequences(); ok {
		return found
	}
	if x.inMemory() {
		return x.proved("whatever the plan remembers")
	}
	steps := x.abstract()
	c, last := x.prove(steps, followed(x.formula, true), anyTime)
	if c.verdict == Proved {
		return x.proved(c.how)
	}
	if open := timing(x.formula); open != "" && c.verdict == Refuted {
		horizon := x.subject.Horizon
		rated, ends := x.proveAtRates(horizon, atRates), horizon > 0 && awaitsLater(x.formula)
		if rated.verdict != Proved && horizon > 0 && awaits(x.formula) && x.longEnough(x.stepper()) > horizon {
			if endless := x.proveAtRates(0, atRates); endless.verdict == Proved {
				rated, ends = endless, true
			}
		}
		if rated.verdict == Proved {
			found := x.provedAtRates(rated)
			if ends {
				found.Assumes = append(found.Assumes, Assumption{Text: fmt.Sprintf("no run ends before what must happen has"+
					" happened, as it may at the horizon of %s s", diag.Number(horizon, 6))})
			}
			return found
		}
		last |= noTime
		switch c = x.check(steps, followed(x.formula, false), last); {
		case c.verdict == Proved:
			return x.refutedInTime(rated, open)
		case c.verdict == Refuted && rated.verdict == Undecided && len(x.continuousSignals(x.stepper())) > 0:
			c = rated // perhaps the rates exclude this run
		}
	}
	if c.verdict == Undecided {
		return undecided(x.property, c.why, c.advice)
	}
	return x.refuted(c, last)
}

// inStates decides "always a" on the sets of states; ok is false if they do not decide the property.
func (x *propertyModel) inStates() (found Finding, ok bool) {
	f := x.formula
	if f.Op != temporal.Weak || !isFalse(f.Args[1]) || x.slow() || x.feedsBack(x.stepper()) || x.Remembers() {
		return Finding{}, false
	}
	l, ok := x.oneTime(f.Args[0])
	if !ok {
		return Finding{}, false
	}
	return x.conclude(func(m *Model) set { return m.space.not(m.of(&l)) },
		func(at view) bool { return !at.Holds(&l) },
		Finding{Text: "holds in every state: " + x.property.Text + x.vacuity(&l)},
		Finding{Text: "does not hold: " + x.property.Text, Advice: propertyAdvice}), true
}

// inMemory proves of a plan that remembers that some tasks are never active together, or not before actions whose entry
// takes time have been active: as the states of the model that tells apart what the plan remembers cover each settling
// of an instant, but for more tasks that are active. An action keeps no result before it has been active, unless it
// may be judged without that; and its entry procedure lasts longer than an instant.
func (x *propertyModel) inMemory() bool {
	f, told := x.formula, x.tellingAlways()
	if told == nil || f.Op != temporal.Weak {
		return false
	}
	holds, ok := x.oneTime(f.Args[0])
	until, fine := x.oneTime(f.Args[1])
	if !ok || !fine || !x.idleIs(&holds, true) {
		return false
	}
	before, ok := x.lasting(&until)
	bad := told.space.not(told.of(&holds))
	for _, t := range before {
		bad = told.space.and(bad, told.space.not(told.ended(t)))
	}
	return ok && told.space.empty(bad) && !told.space.full()
}

// idleIs reports whether a formula is about the activity of actions alone, and keeps a value if fewer of them are
// active.
func (m *Model) idleIs(l *expr.Logic, value bool) bool {
	switch l.Op {
	case expr.LogicTruth:
		return true
	case expr.LogicProposition:
		t, _ := m.tree.Find(l.Text)
		return !value && m.tree.Kind(t).Acts()
	case expr.LogicNot:
		return m.idleIs(&l.Args[0], !value)
	case expr.LogicAnd, expr.LogicOr:
		return !slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return !m.idleIs(&a, value) })
	}
	return false
}

// lasting returns the actions of an alternative, none for what never holds; ok is false if it has other parts, or an
// action that may keep a result without having been active at the end of an instant.
func (m *Model) lasting(l *expr.Logic) (actions []bt.Task, ok bool) {
	switch {
	case l.Op == expr.LogicTruth:
		return nil, !l.Value
	case l.Op == expr.LogicOr:
		for i := range l.Args {
			more, fine := m.lasting(&l.Args[i])
			if actions = append(actions, more...); !fine {
				return nil, false
			}
		}
		return actions, true
	case l.Op != expr.LogicProposition:
		return nil, false
	}
	t, _ := m.tree.Find(l.Text)
	i, isLeaf := m.leafOf[t]
	if !isLeaf || m.leaves[i].condition || m.leaves[i].successIf != nil || m.leaves[i].failureIf != nil {
		return nil, false
	}
	entry := m.plan.Leaves[i].EntryTime
	return []bt.Task{t}, entry != nil && duration(entry) > 1e-6
}

// few is a number of inputs of which a search visits all worlds: it finds a counterexample in which no signal jumps.
const few = 16

// inSequences decides a property without times, of a plan whose state depends on the world alone: of what is to be met
// and the truths of the property's conditions, all that are possible are visited. One stands for many worlds, so that
// this takes no longer for a larger plan. ok is false if it does not decide the property.
func (x *propertyModel) inSequences() (found Finding, ok bool) {
	if x.slow() || len(x.tree.Timers()) > 0 || x.feedsBack(x.stepper()) || x.stepper().Lags() || x.Remembers() {
		return Finding{}, false
	}
	l, why := newMonitor(followed(x.formula, true), x.conditions, 0)
	if why != "" || slices.ContainsFunc(l.ops, func(f *temporal.Formula) bool { return f.Op != temporal.Weak }) {
		return Finding{}, false
	}
	possible, ok := x.valuations(x.lawful, 0)
	type sequence struct { // of states
		state int // what is to be met
		sets  []set
	}
	reached, known := []sequence{{state: -1}}, map[int]bool{}
	for i := 0; ok && i < len(reached) && !x.space.full(); i++ {
		for _, v := range possible {
			next := l.progress(reached[i].state, v.holds).state
			if l.satisfied(next) || known[next] {
				continue
			}
			known[next] = true
			sets := append(slices.Clone(reached[i].sets), v.in)
			switch {
			case l.violated(next) && !awaits(x.formula) && len(x.vocab.inputs) > few:
				return x.sequence(sets)
			case l.violated(next):
				return Finding{}, false
			}
			reached = append(reached, sequence{next, sets})
		}
		ok = len(reached)*len(possible) <= maxTransitions
	}
	how := "whatever states follow each other"
	if len(reached) == 1 {
		how = leftOpen(0)
	}
	return x.proved(how), ok && !x.space.full()
}

// sequence refutes the property by worlds in these sets, one after the other, if a flight shows the last one.
func (x *propertyModel) sequence(sets []set) (found Finding, ok bool) {
	var worlds [][]bool
	for _, in := range sets {
		w, _ := x.find(in)
		worlds = append(worlds, append(w.before, w.world)...)
	}
	instants := x.guided(worlds, func(view) bool { return true })
	if instants == nil {
		return Finding{}, false
	}
	found = Finding{Verdict: Refuted, Text: "does not hold: " + x.property.Text, Script: x.spell(instants),
		Advice: propertyAdvice}
	found.Where, found.More = x.regions(sets[len(sets)-1])
	return found, true
}

// valuation is the truths of the property's conditions in some states.
type valuation struct {
	holds uint64
	in    set
}

// valuations returns those of the conditions from one on that are possible in some states; ok is false if there are too
// many.
func (x *propertyModel) valuations(in set, from int) (list []valuation, ok bool) {
	switch {
	case x.space.empty(in):
		return nil, true
	case from == len(x.always):
		return []valuation{{0, in}}, true
	}
	is := x.of(&x.always[from])
	list, ok = x.valuations(x.space.and(in, is), from+1)
	for i := range list {
		list[i].holds |= 1 << from
	}
	others, fine := x.valuations(x.space.and(in, x.space.not(is)), from+1)
	list = append(list, others...)
	return list, ok && fine && len(list) <= maxValuations
}

// maxValuations bounds the truths of a property's conditions that are considered.
const maxValuations = 4096

// proved returns the finding of a proof by a search.
func (x *propertyModel) proved(how string) Finding {
	return Finding{Verdict: Proved, Text: "holds in every run: " + x.property.Text + ", " + how}
}

// provedAtRates returns the finding of a proof that rests on the rates of signals.
func (x *propertyModel) provedAtRates(c outcome) Finding {
	found := x.proved("at the rates that are known, " + c.how)
	found.Assumes = x.rateRests()
	return found
}

// awaits reports whether something must happen without a bound.
func awaits(f *temporal.Formula) bool {
	return f.Op == temporal.Until || slices.ContainsFunc(f.Args, awaits)
}

// awaitsLater reports whether it must from a time after the start on, which may be just before the end of a run.
func awaitsLater(f *temporal.Formula) bool {
	if f.Op <= temporal.Or {
		return slices.ContainsFunc(f.Args, awaitsLater)
	}
	return slices.ContainsFunc(f.Args, awaits)
}

// proveAtRates searches for a violation where signals move at the rates that are known: those of few signals, then all.
// What must happen does so before the horizon [s], if there is one.
func (x *propertyModel) proveAtRates(horizon float64, p limits) (c outcome) {
	for _, steps := range []*flown.Stepper{x.abstractBut(x.formula), x.stepper()} {
		if steps != x.stepper() && len(steps.Freed()) == 0 {
			continue
		}
		if x.until = horizon; horizon == 0 {
			x.until = x.longEnough(steps)
		}
		g := soon(x.formula, x.until)
		if c, _ = x.prove(steps, followed(g, true), p); c.verdict != Refuted {
			break
		}
	}
	return c
}

// refutedInTime returns the finding where only the time that a world lasts violates the property, if anything; rated is
// the outcome at the rates that are known, and open says why the search refutes nothing.
func (x *propertyModel) refutedInTime(rated outcome, open string) Finding {
	switch {
	case rated.lasts && exact(x.formula):
		return Finding{Verdict: Refuted, Text: "does not hold: " + x.property.Text + "; " + rated.why, Script: rated.script,
			Where: []string{rated.where}, Assumes: []Assumption{StayLong}, Advice: rated.advice}
	case rated.verdict == Undecided || rated.why != "":
		return undecided(x.property, rated.why, rated.advice)
	}
	return undecided(x.property, open, openAdvice)
}

// refuted returns the finding of a run that violates the property, judged so; one without jumps, if there is one.
func (x *propertyModel) refuted(c outcome, last limits) Finding {
	text := "does not hold: " + x.property.Text
	switch {
	case c.ended && c.forever:
		text += ", for the plan has ended and reacts to nothing any more"
	case c.after:
		text += ", after the plan has ended"
	case c.forever:
		text += ", for what must happen cannot happen any more"
	}
	if last&atEnds != 0 && x.subject.Fly == nil {
		text += ", because a change that is undone at the same time does not count"
	}
	switch smooth := x.check(x.abstract(), followed(x.formula, false), last|noJumps); smooth.verdict {
	case Refuted:
		c = smooth
	case Proved:
		text = "holds only if no signal jumps over an interval: " + x.property.Text
	}
	found := Finding{Verdict: Refuted, Text: text, Script: c.script, Where: []string{c.where}, Advice: propertyAdvice}
	if c.timed {
		found.Assumes = []Assumption{ChangeSoon}
	}
	return found
}

// abstractBut returns the steps of a plan in which only the conditions that a formula names keep their signals.
func (m *Model) abstractBut(f *temporal.Formula) *flown.Stepper {
	var named []bt.Task
	f.Conditions(func(e *expr.Expr) {
		for _, name := range e.Names() {
			if t, ok := m.tree.Find(name); ok {
				named = append(named, t)
			}
		}
	})
	return m.timed(flown.Abstract(m.subject, named...))
}

// prove searches for a violation, of a plan alone at all moments. A formula without one, and that of a mission, is
// judged by what a log contains: no change that is undone at the same time. The second result is how it was judged
// last.
func (x *propertyModel) prove(steps *flown.Stepper, f *temporal.Formula, p limits) (outcome, limits) {
	if x.subject.Fly != nil {
		return x.checkJoined(steps, f, p|atEnds), p | atEnds
	}
	c := x.checkJoined(steps, f, p)
	if c.verdict == Proved {
		p |= atEnds
		c = x.checkJoined(steps, f, p)
	}
	return c, p
}

// checkJoined searches for a violation where the times at which one state is reached are joined, if that may be much
// faster; if there is one, it searches again with the times apart.
func (x *propertyModel) checkJoined(steps *flown.Stepper, f *temporal.Formula, p limits) outcome {
	if x.effort > 1 || p&atRates != 0 {
		if c := x.check(steps, f, p|joinTimes); c.verdict == Proved {
			return c
		}
	}
	return x.check(steps, f, p)
}

// feedsBack reports whether conditions read signals that change with what tasks write: then more than the world
// determines a state.
func (m *Model) feedsBack(steps *flown.Stepper) bool {
	return slices.ContainsFunc(m.vocab.signals, func(s signal) bool { return steps.Follows(s.name) }) ||
		slices.ContainsFunc(m.vocab.inputs, func(in input) bool {
			return in.relation != nil && slices.ContainsFunc(in.relation.Relation.Names(), steps.Follows)
		})
}

const (
	propertyAdvice = "replay the script with `canopy trace`, or declare a fact that excludes it"
	monitorAdvice  = "`canopy monitor` judges it on runs"
	openAdvice     = "`effects` that keep rates away from 0, facts that limit their signals, or a plan that acts at" +
		" once help; " + monitorAdvice
)

func undecided(p *temporal.Property, why, advice string) Finding {
	return Finding{Verdict: Undecided, Text: "not concluded whether this holds: " + p.Text + "; " + why, Advice: advice}
}

// exact reports whether the formula that a search follows is neither stronger nor weaker where a world lasts for ever.
func exact(f *temporal.Formula) bool {
	timed := f.Op == temporal.Within || f.Op == temporal.For || f.Op == temporal.Until
	inexact := func(a *temporal.Formula) bool { return !exact(a) }
	return (!timed || simple(f.Args[len(f.Args)-1])) && !slices.ContainsFunc(f.Args, inexact)
}

func isFalse(f *temporal.Formula) bool {
	if f.Op != temporal.Condition {
		return false
	}
	l := f.Cond.Logic(nil)
	return l.Op == expr.LogicTruth && !l.Value
}

// oneTime returns the structure of a formula without temporal operators.
func (x *propertyModel) oneTime(f *temporal.Formula) (l expr.Logic, ok bool) {
	if f.Op == temporal.Condition {
		if i, known := x.conditions[f.Cond]; known {
			return x.always[i], true
		}
		return f.Cond.Logic(func(name string) bool { _, ok := x.tree.Find(name); return ok }), true
	}
	if f.Op > temporal.Or {
		return expr.Logic{}, false
	}
	l.Op = [...]expr.LogicOp{temporal.Not: expr.LogicNot, temporal.And: expr.LogicAnd, temporal.Or: expr.LogicOr}[f.Op]
	for _, a := range f.Args {
		part, ok := x.oneTime(a)
		if !ok {
			return expr.Logic{}, false
		}
		l.Args = append(l.Args, part)
	}
	return l, true
}

func truth(e *expr.Expr) *temporal.Formula { return &temporal.Formula{Op: temporal.Condition, Cond: e} }

// timing returns the reason why a search cannot refute a formula; "" if it can.
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

// obligations are the formulas still to be met: one of several sets of a monitor's operations, bit i for the operation
// i. No set contains another one, and they are in ascending order, so that equal obligations are identical. Without a
// set the property is violated; with the empty set it is met.
type obligations []uint64

var met = obligations{0}

func (d obligations) or(e obligations) obligations {
	all := append(slices.Clone(d), e...)
	slices.Sort(all)
	all = slices.Compact(all)
	var least obligations
	for _, s := range all {
		if !slices.ContainsFunc(all, func(t uint64) bool { return t != s && t&s == t }) {
			least = append(least, s)
		}
	}
	return least
}

func (d obligations) and(e obligations) obligations {
	var all obligations
	for _, s := range d {
		for _, t := range e {
			all = append(all, s|t)
		}
	}
	return all.or(nil)
}
