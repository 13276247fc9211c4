package bt

import "slices"

// The law of the families (docs/semantics.md, section 3) is a fold over a Boolean algebra: of truth values, it is the
// decision of one task (package tick); of sets of states, where a task decides so (package verify); of formulas, their
// text (package smv); of truth values that are rounded up, what may be (package reaction). An automaton decides by
// Automaton.Decide; its course, which follows from that, is what is folded. The engine of this package is the only
// other place: it keeps a task's decision up to date with each change of a child, by counts. TestLaw compares the two.

// Algebra is a Boolean algebra. One that rounds up may return more than a complement.
type Algebra[B comparable] interface {
	Constant(is bool) B
	Not(x B) B
	And(x, y B) B
	Or(x, y B) B
	// Part returns a part of a decision that occurs in it several times, perhaps under a name: in a Script, that the
	// automaton is in a state, given its number; in a Count, that of a number of first children, so many are good, and so
	// many are bad.
	Part(x B, numbers ...int) B
	// Full reports whether the algebra has given up, so that its values have no meaning any more.
	Full() bool
}

// Truth is the algebra of truth values. With Up it is rounded up: of what may be, the complement may be as well.
type Truth struct{ Up bool }

// Constant returns a truth value.
func (Truth) Constant(is bool) bool { return is }

// Not returns the complement.
func (a Truth) Not(x bool) bool { return !x || a.Up }

// And returns the conjunction.
func (Truth) And(x, y bool) bool { return x && y }

// Or returns the disjunction.
func (Truth) Or(x, y bool) bool { return x || y }

// Part returns the value.
func (Truth) Part(x bool, _ ...int) bool { return x }

// Full returns false.
func (Truth) Full() bool { return false }

// Judgement is where a task is good, bad, skipped, and where it is undecided.
type Judgement[B comparable] struct{ Good, Bad, Skipped, Open B }

// Of returns where the judgement is Success, Failure, Skipped or Accept.
func (j *Judgement[B]) Of(is Status) B {
	return [...]B{Success: j.Good, Failure: j.Bad, Accept: j.Open, Skipped: j.Skipped}[is]
}

// JudgedAs returns a judgement in truth values.
func JudgedAs(as Status) Judgement[bool] {
	return Judgement[bool]{as == Success, as == Failure, as == Skipped, as == Accept}
}

// Verdict returns the verdict of a decision in truth values.
func Verdict(says Judgement[bool]) Status {
	switch {
	case says.Good:
		return Success
	case says.Bad:
		return Failure
	case says.Skipped:
		return Skipped
	}
	return Accept
}

// Rule is how a composite decides.
type Rule struct {
	Children []Task  // in the order in which they are looked at
	Counts           // Count
	Course   *Course // Script; nil: another family
	Begins   []bool  // Script: by state of the course: a decision begins in it
	kind     Kind
}

// Rule returns how a composite decides that remembers nothing; of a Script, can is that of [Tree.Course].
func (t *Tree) Rule(task Task, can func(child Task, be Status) bool) Rule {
	r := Rule{Children: t.Children(task), Counts: t.nodes[task].Counts, kind: t.kinds[task]}
	if t.nodes[task].family == Script {
		r.Course = t.Course(task, can)
		r.Begins = make([]bool, len(r.Course.Stored))
		r.Begins[0] = true
	}
	return r
}

// Decide returns where a composite succeeds, fails and is skipped. For each child at which it looks, it asks for the
// child's judgement; in is where it looks at it: there it wants the child, if that asks. A Script may look at a child
// in several states. The decision's Open is not set.
func Decide[B comparable](a Algebra[B], r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	switch r.kind.Family() {
	case Chain:
		return decideChain(a, r, look)
	case Count:
		return decideCount(a, r, look)
	case Script:
		return decideScript(a, r, look)
	}
	panic(unknownFamily)
}

// decideChain: the first child that is not passed over decides, or the last one that is not skipped. With the children
// 1..n,
//
//	passed = and_i (over_i or skipped_i),  stopped = or_i (passed_1 and ... and passed_(i-1) and stops_i)
func decideChain[B comparable](a Algebra[B], r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	none, all := a.Constant(false), a.Constant(true)
	var decides Judgement[B] // the judgement of the child that decides
	if over := r.kind.Over(); over == Accept {
		decides = look(r.Children[0], all)
	} else {
		stops, passed, stopped, skipped := Success+Failure-over, all, none, all
		for _, child := range r.Children {
			j := look(child, passed)
			stopped = a.Or(stopped, a.And(passed, j.Of(stops)))
			passed = a.And(passed, a.Or(j.Of(over), j.Skipped))
			if skipped = a.And(skipped, j.Skipped); passed == none {
				break
			}
		}
		passed = a.And(passed, a.Not(skipped))
		decides = Judgement[B]{Good: passed, Bad: stopped, Skipped: skipped}
		if over == Failure {
			decides.Good, decides.Bad = stopped, passed
		}
	}
	says := Judgement[B]{none, none, decides.Skipped, none}
	for _, is := range [...]Status{Success, Failure} {
		says.add(a, r.kind.Verdict(is), decides.Of(is))
	}
	return says
}

// add adds where a verdict is returned; Accept is none.
func (j *Judgement[B]) add(a Algebra[B], says Status, in B) {
	switch says {
	case Success:
		j.Good = a.Or(j.Good, in)
	case Failure:
		j.Bad = a.Or(j.Bad, in)
	case Skipped:
		j.Skipped = a.Or(j.Skipped, in)
	}
}

// decideCount: it succeeds when enough children are good and fails when too many are bad. If it waits for all of them,
// it returns once none is undecided.
func decideCount[B comparable](a Algebra[B], r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	none, all := a.Constant(false), a.Constant(true)
	goods, bads := make([]B, len(r.Children)), make([]B, len(r.Children))
	judged, skipped := all, all
	for i, child := range r.Children {
		j := look(child, all)
		goods[i], bads[i] = j.Good, j.Bad
		if r.Lenient || r.Quorum > 0 { // of n judged children, so many are not bad
			goods[i] = a.Or(j.Good, j.Skipped)
		}
		judged = a.And(judged, a.Or(a.Or(j.Good, j.Bad), j.Skipped))
		skipped = a.And(skipped, j.Skipped)
	}
	good, bad := race(a, int(r.Enough), int(r.TooMany), goods, bads)
	switch {
	case r.Quorum > 0:
		judged = a.And(judged, a.Not(skipped))
		good, bad = a.And(judged, good), a.And(judged, bad)
	case r.Lenient:
		skipped = none
	}
	return Judgement[B]{good, bad, skipped, none}
}

// race counts children one by one: the first of two thresholds that is reached decides. One above the number of
// children is never reached.
func race[B comparable](a Algebra[B], enough, tooMany int, goods, bads []B) (good, bad B) {
	none, all, n := a.Constant(false), a.Constant(true), len(goods)
	nowhere := func(n int) []B {
		list := make([]B, n)
		for i := range list {
			list[i] = none
		}
		return list
	}
	switch {
	case enough == 0:
		return all, none
	case tooMany == 0:
		return none, all
	}
	only := [2]bool{tooMany > n, enough > n} // it counts good ones only, bad ones only
	if only[0] {
		tooMany, bads = 1, nowhere(n)
	}
	if only[1] {
		enough, goods = 1, nowhere(n)
	}
	good, bad = none, none
	// Where neither is reached so far, by the numbers of good and bad children.
	before, now := nowhere(enough*tooMany), nowhere(enough*tooMany)
	before[0] = all
	for i := range goods {
		neither := func(x B) B { return a.And(a.And(x, a.Not(goods[i])), a.Not(bads[i])) }
		for g := range min(i+2, enough) {
			for b := range min(i+2-g, tooMany) {
				at, rest := g*tooMany+b, n-i-1
				here := before[at]
				now[at] = neither(here)
				if b > 0 {
					now[at] = a.Or(a.And(before[at-1], bads[i]), now[at])
				}
				if g > 0 {
					now[at] = a.Or(a.And(before[at-tooMany], goods[i]), now[at])
				}
				if only[0] && g+rest < enough || only[1] && b+rest < tooMany {
					now[at] = none // it is never reached
				} else if now[at] != none {
					now[at] = a.Part(now[at], i+1, g, b)
				}
				if g+1 == enough {
					good = a.Or(good, a.And(here, goods[i]))
				}
				if b+1 == tooMany {
					bad = a.Or(bad, a.And(here, bads[i]))
				}
				if a.Full() {
					return good, bad
				}
			}
		}
		before, now = now, before
	}
	return good, bad
}

// decideScript follows the steps of the automaton: one is taken where the automaton is in its state, because a decision
// begins there or steps lead there, and the child is judged as in the step.
func decideScript[B comparable](a Algebra[B], r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	none, all := a.Constant(false), a.Constant(true)
	says := Judgement[B]{none, none, none, none}
	arrived := make([]B, len(r.Begins))
	for state, begins := range r.Begins {
		if arrived[state] = none; begins {
			arrived[state] = all
		}
	}
	from, in, child := -1, none, says
	for i := range r.Course.Steps {
		s := &r.Course.Steps[i]
		if s.From != from {
			from, in = s.From, a.Part(arrived[s.From], s.From)
			if s.Child >= 0 {
				child = look(s.Child, in)
			}
		}
		taken := in
		if s.Child >= 0 {
			taken = a.And(in, child.Of(s.Is))
		}
		if says.add(a, s.Says, taken); s.Says == Accept && s.To != s.From {
			arrived[s.To] = a.Or(arrived[s.To], taken)
		}
	}
	return says
}

// Nature is what a task can be, whatever its leaves say.
type Nature struct {
	Acts  bool // it can be undecided, and so be active
	Skips bool // it can be skipped
	Pins  bool // it can be active after it has pinned a child or stored a state
	Rule       // of a composite
}

// Natures returns what each task can be.
func (t *Tree) Natures() []Nature {
	all := make([]Nature, t.Len())
	acts, skips := func(k Task) bool { return all[k].Acts }, func(k Task) bool { return all[k].Skips }
	can := func(child Task, be Status) bool { return be == Accept && acts(child) || be == Skipped && skips(child) }
	for i := range all {
		task, n := Task(i), &all[i]
		if t.nodes[task].family == Leaf {
			n.Acts = t.kinds[task].Acts() && !t.Idle(task)
			continue
		}
		n.Rule = t.Rule(task, can)
		n.Acts = slices.ContainsFunc(n.Children, acts)
		n.Skips = !n.Lenient && !slices.ContainsFunc(n.Children, func(k Task) bool { return !skips(k) })
		n.Pins = n.Acts && len(n.Children) > 1
		switch c := n.Course; {
		case c != nil:
			n.Acts = n.Acts || slices.ContainsFunc(c.Steps, func(s CourseStep) bool { return s.Waits() })
			n.Skips = slices.ContainsFunc(c.Steps, func(s CourseStep) bool { return s.Says == Skipped })
			n.Pins = slices.Contains(c.Stored[1:], true)
		case t.nodes[task].family == Chain: // the first child is pinned for the others
			n.Pins = slices.ContainsFunc(n.Children[1:], acts)
		}
		n.Pins = n.Pins && t.nodes[task].memory
	}
	return all
}
