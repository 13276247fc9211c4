package bt

import (
	"math"
	"slices"
)

// The law of the families (docs/semantics.md, section 3) is a fold over a Boolean algebra: of truth values, it is the
// decision of one task (package tick); of sets of states, where a task decides so (package verify); of formulas, their
// text (package smv); of truth values that are rounded up, what may be (package reaction). An automaton decides by
// Automaton.Decide; its course, which follows from that, is what is folded. The engine of this package is the only
// other place: it keeps a task's decision up to date with each change of a child, by counts. TestRandom compares them.

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
	Children []Task                // in the order in which they are looked at
	Counts                         // Count
	Course   *Course               // Script; nil: another family
	Begins   []bool                // Script: by state of the course: a decision begins in it
	Prompt   func(child Task) bool // Count: as Tree.Prompt; nil: no child is
	*row                           // of its kind
}

// Rule returns how a composite decides that remembers nothing; of a Script, can is that of [Tree.Course].
func (t *Tree) Rule(task Task, can func(child Task, be Status) bool) Rule {
	r := Rule{Children: t.Children(task), Counts: t.nodes[task].Counts, row: &kinds[t.kinds[task]]}
	if t.nodes[task].prompts {
		r.Prompt = t.Prompt
	}
	if t.nodes[task].family == Script {
		r.Course = t.Course(task, can)
		r.Begins = make([]bool, len(r.Course.Stored))
		r.Begins[0] = true
	}
	return r
}

// fold is an algebra with its constants, which take no operation.
type fold[B comparable] struct {
	Algebra[B]
	none, all B
}

func (f *fold[B]) and(x, y B) B {
	switch x {
	case f.none:
		return x
	case f.all:
		return y
	}
	return f.And(x, y)
}

func (f *fold[B]) or(x, y B) B {
	switch x {
	case f.all:
		return x
	case f.none:
		return y
	}
	return f.Or(x, y)
}

func (f *fold[B]) not(x B) B {
	if x == f.none {
		return f.all
	}
	return f.Not(x)
}

// Decide returns where a composite succeeds, fails and is skipped. For each child at which it looks, it asks for the
// child's judgement; in is where it looks at it: there it wants the child, if that asks. A Script may look at a child
// in several states. The decision's Open is not set.
func Decide[B comparable](a Algebra[B], r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	f := fold[B]{a, a.Constant(false), a.Constant(true)}
	switch r.family {
	case Chain:
		return f.chain(r, look)
	case Count:
		return f.count(r, look)
	case Script:
		return f.script(r, look)
	}
	panic(unknownFamily)
}

// chain: the first child that is not passed over decides, or the last one that is not skipped. With the children 1..n,
//
//	passed = and_i (over_i or skipped_i),  stopped = or_i (passed_1 and ... and passed_(i-1) and stops_i)
func (f *fold[B]) chain(r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	var decides Judgement[B] // the judgement of the child that decides
	if r.over == Accept {
		decides = look(r.Children[0], f.all)
	} else {
		passed, stopped, skipped := f.all, f.none, f.all
		for _, child := range r.Children {
			j := look(child, passed)
			over, stops := j.Good, j.Bad
			if r.over == Failure {
				over, stops = stops, over
			}
			stopped = f.or(stopped, f.and(passed, stops))
			passed = f.and(passed, f.or(over, j.Skipped))
			if skipped = f.and(skipped, j.Skipped); passed == f.none {
				break
			}
		}
		passed = f.and(passed, f.not(skipped))
		decides = Judgement[B]{Good: passed, Bad: stopped, Skipped: skipped}
		if r.over == Failure {
			decides.Good, decides.Bad = stopped, passed
		}
	}
	if decides.Open = f.none; r.verdict == same {
		return decides
	}
	says := Judgement[B]{f.none, f.none, decides.Skipped, f.none}
	f.add(&says, r.verdict[Success], decides.Good)
	f.add(&says, r.verdict[Failure], decides.Bad)
	return says
}

// add adds where a verdict is returned; Accept is none.
func (f *fold[B]) add(j *Judgement[B], says Status, in B) {
	switch says {
	case Success:
		j.Good = f.or(j.Good, in)
	case Failure:
		j.Bad = f.or(j.Bad, in)
	case Skipped:
		j.Skipped = f.or(j.Skipped, in)
	}
}

// count: it succeeds when enough children are good and fails when too many are bad. If it waits for all of them, it
// returns once none is undecided. It looks at the children up to the first prompt one that is undecided.
func (f *fold[B]) count(r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	t := newTally(f, r)
	var room [2][4]cell[B] // of truth values, one is open
	open, next := room[0][:0], room[1][:0]
	if t.good == f.none && t.bad == f.none {
		open = append(open, cell[B]{0, f.all})
	}
	judged, skipped, seen := f.all, f.all, f.all
	for _, child := range r.Children {
		j := look(child, seen)
		if seen != f.all {
			j.Good, j.Bad, j.Skipped = f.and(seen, j.Good), f.and(seen, j.Bad), f.and(seen, j.Skipped)
		}
		if r.Prompt != nil && r.Prompt(child) {
			seen = f.or(f.or(j.Good, j.Bad), j.Skipped)
		}
		good := j.Good
		if r.Lenient || r.Quorum > 0 { // of n judged children, so many are not bad
			good = f.or(good, j.Skipped)
		}
		if len(open) > 0 {
			open, next = t.take(open, next[:0], good, j.Bad), open
		}
		if r.Quorum > 0 {
			judged = f.and(judged, f.or(f.or(j.Good, j.Bad), j.Skipped))
		}
		skipped = f.and(skipped, j.Skipped)
	}
	switch {
	case r.Quorum > 0:
		judged = f.and(judged, f.not(skipped))
		t.good, t.bad = f.and(judged, t.good), f.and(judged, t.bad)
	case r.Lenient:
		skipped = f.none
	}
	return Judgement[B]{t.good, t.bad, skipped, f.none}
}

// tally counts children one by one: the first of two thresholds that is reached decides. One above the number of
// children is never reached.
type tally[B comparable] struct {
	*fold[B]
	enough, tooMany   int
	onlyGood, onlyBad bool // only these are counted: the other threshold is never reached
	taken, left       int  // children
	good, bad         B    // where a threshold is reached
}

// cell is where so many children are good and so many are bad, and neither threshold is reached so far: not none.
type cell[B comparable] struct {
	at int // good * tooMany + bad; cells are in this order
	in B
}

func newTally[B comparable](f *fold[B], r *Rule) tally[B] {
	n := len(r.Children)
	t := tally[B]{fold: f, enough: int(r.Enough), tooMany: int(r.TooMany), left: n, good: f.none, bad: f.none}
	switch {
	case t.enough == 0:
		t.good = f.all
	case t.tooMany == 0:
		t.bad = f.all
	case t.tooMany > n:
		t.tooMany, t.onlyGood = 1, true
	}
	if t.enough > n {
		t.enough, t.onlyBad = 1, true
	}
	return t
}

// take counts a child. It adds to next the cells that follow from the open ones, each from up to three: the same one,
// if the child is neither good nor bad, the one before, if it is bad, and the one of fewer good children, if it is
// good.
func (t *tally[B]) take(open, next []cell[B], good, bad B) []cell[B] {
	if t.onlyGood {
		bad = t.none
	}
	if t.onlyBad {
		good = t.none
	}
	t.taken, t.left = t.taken+1, t.left-1
	for same, before, fewer := 0, 0, 0; fewer < len(open) && !t.Full(); {
		for before < len(open) && open[before].at%t.tooMany == t.tooMany-1 { // it decides
			before++
		}
		at := min(place(open, same), place(open, before)+1, place(open, fewer)+t.tooMany)
		goods, bads := at/t.tooMany, at%t.tooMany
		if goods >= t.enough { // they decide, or there are no more
			break
		}
		in := t.none
		if place(open, same) == at {
			here := open[same].in
			in = t.and(t.and(here, t.not(good)), t.not(bad))
			if goods == t.enough-1 {
				t.good = t.or(t.good, t.and(here, good))
			}
			if bads == t.tooMany-1 {
				t.bad = t.or(t.bad, t.and(here, bad))
			}
			same++
		}
		if place(open, before)+1 == at {
			in = t.or(t.and(open[before].in, bad), in)
			before++
		}
		if place(open, fewer)+t.tooMany == at {
			in = t.or(t.and(open[fewer].in, good), in)
			fewer++
		}
		if t.onlyGood && goods+t.left < t.enough || t.onlyBad && bads+t.left < t.tooMany {
			continue // no threshold is reached any more
		}
		if in != t.none {
			next = append(next, cell[B]{at, t.Part(in, t.taken, goods, bads)})
		}
	}
	return next
}

// place returns the place of an open cell: after all others if there is no such cell.
func place[B comparable](open []cell[B], i int) int {
	if i < len(open) {
		return open[i].at
	}
	return math.MaxInt32
}

// script follows the steps of the automaton: one is taken where the automaton is in its state, because a decision
// begins there or steps lead there, and the child is judged as in the step.
func (f *fold[B]) script(r *Rule, look func(child Task, in B) Judgement[B]) Judgement[B] {
	says := Judgement[B]{f.none, f.none, f.none, f.none}
	arrived := make([]B, len(r.Begins))
	for state, begins := range r.Begins {
		if arrived[state] = f.none; begins {
			arrived[state] = f.all
		}
	}
	from, in, child := -1, f.none, says
	for i := range r.Course.Steps {
		s := &r.Course.Steps[i]
		if s.From != from {
			from, in = s.From, f.Part(arrived[s.From], s.From)
			if s.Child >= 0 {
				child = look(s.Child, in)
			}
		}
		taken := in
		if s.Child >= 0 {
			taken = f.and(in, child.Of(s.Is))
		}
		if f.add(&says, s.Says, taken); s.Says == Accept && s.To != s.From {
			arrived[s.To] = f.or(arrived[s.To], taken)
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
