package verify

import (
	"math/bits"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// What a plan remembers is followed by searches (search.go). The sets of a task that remembers something are the states
// in which it may be judged so: any, if it ever can be. So a task that is active in no state is dead, and the causes of
// that can be told; nothing else is concluded from these sets.
//
// Another model of the plan, told, has inputs of its own for what tasks remember. Then each settled state in which no
// procedure is under way, whatever the plan remembers, is a state of the model, and each task has one judgement in it:
// what holds in all of them is proved without a search. Of what is remembered any combination may be, so that nothing
// is refuted.

// nature finds what tasks can be, and which remember something.
func (m *Model) nature() {
	m.natures, m.remembers = m.tree.Natures(), make([]bool, m.tree.Len())
	for t := range bt.Task(m.tree.Len()) {
		if i, ok := m.leafOf[t]; ok {
			l := &m.leaves[i]
			m.remembers[t] = len(m.plan.Leaves[i].Until) > 0 || l.done != nil || l.failed != nil ||
				l.successIf != nil || l.failureIf != nil
			continue
		}
		m.remembers[t] = m.natures[t].Pins ||
			slices.ContainsFunc(m.tree.Children(t), func(k bt.Task) bool { return m.remembers[k] })
	}
}

// Remembers reports whether the plan has memory other than hysteresis.
func (m *Model) Remembers() bool { return m.remembers[m.tree.Root()] || len(m.tree.Shared()) > 0 }

// keeps reports whether a task may have a judgement that it got earlier. While an exit procedure below a task is under
// way, the task keeps its result, and longer if it is not judged anew at its end.
func (m *Model) keeps(t bt.Task) bool {
	p := m.tree.Parent(t)
	return (m.remembers[t] || m.apart != nil && m.apart.slow) && m.natures[t].Acts || p >= 0 && m.natures[p].Pins
}

// widen lets a task that keeps judgements have each of them in any state, if it can have it at all.
func (m *Model) widen(t bt.Task) {
	j := &m.judged[t]
	for _, in := range []*set{&j.Good, &j.Bad, &j.Skipped} {
		if !m.space.empty(*in) {
			*in = always
		}
	}
	if i, ok := m.leafOf[t]; ok && m.natures[t].Acts {
		if m.leaves[i].done != nil {
			j.Good = always
		}
		if m.leaves[i].failed != nil {
			j.Bad = always
		}
	}
	j.Open = always
}

// begin sets the states of a task's automaton that may be the stored one: the first, and those to which some step or
// the end of a child leads. A stored state is memory: it may be any of them.
func (m *Model) begin(rule *bt.Rule) {
	course := rule.Course
	if course == nil {
		return
	}
	reached := make([]bool, len(course.Stored))
	reached[0] = true
	for again := true; again; {
		again = false
		for _, c := range slices.Concat(course.Steps, course.Ends) {
			if reached[c.From] && !reached[c.To] && (c.Child < 0 || !m.space.empty(m.judged[c.Child].Of(c.Is))) {
				reached[c.To], again = true, true
			}
		}
	}
	for state, stored := range course.Stored {
		reached[state] = reached[state] && stored
	}
	rule.Begins = reached
}

// memories are the inputs for what tasks remember.
type memories struct {
	slow   bool            // some procedure takes time
	kept   map[bt.Task]int // the first of two variables: none, good, bad, and skipped or, of an action, active
	stored map[bt.Task]int // the first variable of the number of an automaton's state
	none   map[bt.Task]set // where the task keeps no judgement
	vague  bool            // some task may have several judgements in one state
}

// maxStored is the maximum number of stored states of an automaton that are told apart.
const maxStored = 16

// numberMemory gives a task variables for what it remembers.
func (m *Model) numberMemory(t bt.Task) {
	more := func(n int) (first int) {
		first = len(m.vocab.inputs)
		m.vocab.inputs = append(m.vocab.inputs, make([]input, n)...)
		return first
	}
	if m.keeps(t) {
		m.apart.kept[t] = more(2)
	}
	if c := m.natures[t].Course; c != nil && len(c.Stored) > 1 {
		m.apart.stored[t] = more(bits.Len(uint(len(c.Stored) - 1)))
	}
}

// decideApart is decide for an automaton that begins in its stored state.
func (m *Model) decideApart(t bt.Task, rule *bt.Rule) (says bt.Judgement[set]) {
	s, n := m.space, int32(len(rule.Children))
	if rule.Enough > 0 && rule.Enough+rule.TooMany <= n && m.natures[t].Pins { // which threshold was reached first?
		m.apart.vague = true
	}
	first, several := m.apart.stored[t]
	if m.apart.vague = m.apart.vague || several && len(rule.Begins) > maxStored; m.apart.vague {
		return says
	}
	if !several {
		return m.decideFrom(rule, always)
	}
	rest := always
	for state, may := range rule.Begins {
		if !may {
			continue
		}
		in := rest
		if slices.Contains(rule.Begins[state+1:], true) { // the last one has all other numbers
			for b := range bits.Len(uint(len(rule.Begins) - 1)) {
				in = s.and(in, m.literal(first+b, state>>b&1 == 1))
			}
		}
		rest = s.and(rest, s.not(in))
		from := *rule
		from.Begins = make([]bool, len(rule.Begins))
		from.Begins[state] = true
		j := m.decideFrom(&from, in)
		says.Good, says.Bad = s.or(says.Good, s.and(in, j.Good)), s.or(says.Bad, s.and(in, j.Bad))
		says.Skipped = s.or(says.Skipped, s.and(in, j.Skipped))
	}
	return says
}

// decideFrom returns where a composite returns which judgement, and notes where it wants its children, in some states.
func (m *Model) decideFrom(rule *bt.Rule, in set) bt.Judgement[set] {
	return bt.Decide(deciding{m.space, false}, rule, func(child bt.Task, looks set) bt.Judgement[set] {
		if rule.Course != nil {
			looks = m.space.and(looks, m.judged[child].Open)
		}
		m.wanted[child] = m.space.or(m.wanted[child], m.space.and(in, looks))
		return m.judged[child]
	})
}

// tell gives a task that keeps judgements the one that it keeps, if it can have it at all, or else its present one. An
// action that is active keeps on, even if it could not become active.
func (m *Model) tell(t bt.Task) {
	s, now := m.space, m.judged[t]
	m.widen(t)
	j, v := &m.judged[t], m.apart.kept[t]
	a, b := s.variable(v), s.variable(v+1)
	good, bad := s.and(j.Good, s.and(a, s.not(b))), s.and(j.Bad, s.and(b, s.not(a)))
	skipped, open := s.and(j.Skipped, s.and(a, b)), never
	if m.tree.Kind(t).Acts() {
		open = s.and(a, b)
	}
	none := s.not(s.or(s.or(good, bad), s.or(skipped, open)))
	m.apart.none[t] = none
	*j = bt.Judgement[set]{Good: s.or(good, s.and(none, now.Good)), Bad: s.or(bad, s.and(none, now.Bad)),
		Skipped: s.or(skipped, s.and(none, now.Skipped)), Open: s.or(open, s.and(none, now.Open))}
}

// telling returns the model that tells apart what the plan remembers; nil if there is none.
func (m *Model) telling() *Model {
	if len(m.tree.Shared()) > 0 || m.stepper().Lags() || !m.Remembers() && !m.slow() {
		return nil
	}
	if m.told == nil {
		m.told = newModels(func(variables int) *diagrams {
			d := m.spaceOf(variables)
			d.most = maxNodes / 8
			return d
		}, true, m.subject)[0]
	}
	if m.told.apart.vague || m.told.space.full() {
		return nil
	}
	return m.told
}

// tellingAlways returns the same model if its states also cover the settlings of an instant, and those while a
// procedure is under way, but for more actions that are active. Beside a prompt task, others are active whose turn has
// not come.
func (m *Model) tellingAlways() *Model {
	if len(m.tree.Lasts()) > 0 || slices.ContainsFunc(m.actions(), m.tree.Prompt) {
		return nil
	}
	return m.telling()
}

// ended returns where an action keeps a result, which it got while it was active or by its request.
func (m *Model) ended(action bt.Task) set {
	s := m.space
	v, keeps := m.apart.kept[action]
	if !keeps {
		return never
	}
	return s.and(s.not(m.apart.none[action]), s.or(s.not(s.variable(v)), s.not(s.variable(v+1))))
}
