package verify

import (
	"slices"
	"strings"

	"canopy/analysis/flown"
	"canopy/bt"
	"canopy/document/declare"
	"canopy/expr"
	"canopy/temporal"
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
		if since := m.measured(); f.Verdict == Refuted && since != "" && timing(p.Formula.Positive(false)) != "" {
			f = undecided(p.Property, "the search does not follow the time since the activation of "+since+" (elapsed)",
				sinceAdvice)
		}
		f.About, f.Place = p.Text, p.Place
		found = append(found, f)
	}
	return found
}

const sinceAdvice = "give it entry_time, or use Sleep, Delay or Timeout, whose times are followed; " + monitorAdvice

// measured returns the tasks whose expressions depend on the time since their activation, "" if there are none.
func (m *Model) measured() string {
	var names []string
	for i := range m.plan.Leaves {
		if l := &m.plan.Leaves[i]; l.Start != "" {
			names = append(names, m.tree.Name(l.Task))
		}
	}
	return strings.Join(names, " and ")
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
	own.effort = m.effort
	defer func() { m.tired = m.tired || own.tired }()
	if own.space.full() {
		return undecided(p, "the sets of states need too many nodes of decision diagrams", memoryAdvice)
	}
	f := p.Formula.Positive(false)
	if f.Op == temporal.Weak && isFalse(f.Args[1]) && !own.slow() && !own.feedsBack(own.stepper()) {
		l, ok := own.oneTime(f.Args[0], of)
		if ok && !own.Remembers() {
			return own.conclude(own.space.not(own.of(&l)),
				func(x *flown.Moment) bool { return !x.Holds(&l) },
				Finding{Text: "holds in every state: " + p.Text + own.vacuity(&l)},
				Finding{Text: "does not hold: " + p.Text, Advice: propertyAdvice})
		}
	}
	steps := own.loose()
	c, last := own.prove(steps, followed(f, true), of, anyTime)
	proved := Finding{Verdict: Proved, Text: "holds in every run: " + p.Text + ", "}
	if c.verdict == Proved {
		proved.Text += c.how
		return proved
	}
	if open := timing(f); open != "" && c.verdict == Refuted {
		for _, moving := range []*flown.Stepper{own.looseBut(f), own.stepper()} { // rates of few signals, then of all
			if moving != own.stepper() && len(moving.Freed()) == 0 {
				continue
			}
			g := followed(soon(f, own.longEnough(own.continuousSignals(moving))), true)
			if c, _ = own.prove(moving, g, of, atRates); c.verdict != Refuted {
				break
			}
		}
		if c.verdict == Proved {
			proved.Text, proved.Assumes = proved.Text+"at the rates that are known, "+c.how, own.rateRests()
			return proved
		}
		last |= noTime
		slow := c
		if c = own.checkProduct(steps, followed(f, false), of, last); c.verdict == Proved {
			if slow.lasts && exact(f) {
				return Finding{Verdict: Refuted, Text: "does not hold: " + p.Text + "; " + slow.why, Script: slow.script,
					Where: []string{slow.where}, Assumes: []Assumption{StayLong}, Advice: slow.advice}
			}
			if slow.verdict == Undecided || slow.why != "" {
				return undecided(p, slow.why, slow.advice)
			}
			return undecided(p, open, openAdvice)
		}
		if c.verdict == Refuted && slow.verdict == Undecided && len(own.continuousSignals(own.stepper())) > 0 {
			c = slow // perhaps the rates exclude this run
		}
	}
	if c.verdict == Undecided {
		return undecided(p, c.why, c.advice)
	}
	text := "does not hold: " + p.Text
	switch {
	case c.ended && c.forever:
		text += ", for the plan has ended and reacts to nothing any more"
	case c.after:
		text += ", after the plan has ended"
	case c.forever:
		text += ", for what must happen cannot happen any more"
	}
	if last&atEnds != 0 {
		text += ", because a change that is undone at the same time does not count"
	}
	switch smooth := own.checkProduct(steps, followed(f, false), of, last|noJumps); smooth.verdict {
	case Refuted:
		c = smooth
	case Proved:
		text = "holds only if no signal jumps over an interval: " + p.Text
	}
	found := Finding{Verdict: Refuted, Text: text, Script: c.script, Where: []string{c.where}, Advice: propertyAdvice}
	if c.timed {
		found.Assumes = []Assumption{ChangeSoon}
	}
	return found
}

// looseBut returns the steps of a plan in which only the conditions that a formula names keep their signals.
func (m *Model) looseBut(f *temporal.Formula) *flown.Stepper {
	var named []bt.Task
	f.Conditions(func(e *expr.Expr) {
		for _, name := range e.Names() {
			if t, ok := m.tree.Find(name); ok {
				named = append(named, t)
			}
		}
	})
	return flown.Abstract(m.subject, named...)
}

// prove searches for a violation, at all moments. A formula without one is also judged by what a log contains: no
// change that is undone at the same time. The second result is how it was judged last.
func (m *Model) prove(steps *flown.Stepper, f *temporal.Formula, of map[*expr.Expr]int, p limits) (outcome, limits) {
	c := m.checkJoined(steps, f, of, p)
	if c.verdict == Proved {
		p |= atEnds
		c = m.checkJoined(steps, f, of, p)
	}
	return c, p
}

// checkJoined searches for a violation where the times at which one state is reached are joined, if that may be much
// faster; if there is one, it searches again with the times apart.
func (m *Model) checkJoined(steps *flown.Stepper, f *temporal.Formula, of map[*expr.Expr]int, p limits) outcome {
	if m.effort > 1 || p&atRates != 0 {
		if c := m.checkProduct(steps, f, of, p|joinTimes); c.verdict == Proved {
			return c
		}
	}
	return m.checkProduct(steps, f, of, p)
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
