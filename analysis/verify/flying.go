package verify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"canopy/analysis/flown"
	"canopy/bt"
	"canopy/explore"
	"canopy/expr"
)

// errNoState is the reason for which nothing is concluded from facts that exclude all states.
var errNoState = errors.New("the facts exclude every state")

// situation is a state in which the plan has settled.
type situation interface {
	Active(t bt.Task) bool
	Good(t bt.Task) bool // it has succeeded: by its status, or by a held result
	Status(t bt.Task) bt.Status
	Quiet() bool // no procedure is under way
	Entered() []bt.Task
	Holds(l *expr.Logic) bool
}

// violation reports whether a state violates a property.
type violation func(x situation) bool

// flying is the states that flights of the plan reach, the nearest first. They are found only as far as a search needs
// them.
type flying struct {
	m         *Model
	states    *explore.Search[flown.Key, flown.Tape] // a move is the answers of the instant before
	s         *flown.Stepper
	known     flown.Cover    // the states that were found
	classes   flown.Cover    // of the states that were left: those of one class have one future
	entered   []bool         // by task: was active at some time
	broken    []bool         // by task: was active in an instant that does not end
	met       map[pair]bool  // of actions that were active at one time
	tags      map[string]int // Moment.Tag by what an instant has shown
	failed    error          // of an instant after which there is no state
	unsettled error          // for some answers signals and tasks change each other without end
	aborted   *aborted       // a run that stops with an error; nil: none was found
	tired     bool           // a bound has ended it that grows with the effort

	watch violation // asked with the signals of each state; nil: none
	last  flown.Tape
	hit   int    // the state before one that violates, -1: none
	where string // what is known of the signals there
}

func (m *Model) newFlying(watch violation) *flying {
	bounds := m.bounds(m.most())
	x := &flying{m: m, s: m.loose(), entered: make([]bool, m.tree.Len()), broken: make([]bool, m.tree.Len()),
		met: map[pair]bool{}, tags: map[string]int{"": 0}, watch: watch, hit: -1}
	over := bounds.Over
	bounds.Over = func(states int) string {
		why := over(states)
		x.tired = why != "" && m.tired
		return why
	}
	x.states = explore.New[flown.Key, flown.Tape](bounds)
	x.states.Arrive(-1, "", nil)
	return x
}

// loose returns the steps of the plan for searches in which signals may change to any value at each instant.
func (m *Model) loose() *flown.Stepper {
	if m.looseSteps == nil {
		m.looseSteps = flown.Loose(m.subject)
	}
	return m.looseSteps
}

// stepper returns the steps of the plan.
func (m *Model) stepper() *flown.Stepper {
	if m.steps == nil {
		m.steps = flown.New(m.subject)
	}
	return m.steps
}

// more makes all steps from the next state; it reports false if there is none.
func (x *flying) more() bool {
	for n := range x.states.Leave() {
		x.leave(n)
		return true
	}
	return false
}

func (x *flying) leave(n int) {
	if _, covered := x.known.Later(n); covered {
		return
	}
	var active []bt.Task
	fresh, from := true, x.states.Key(n)
	if n > 0 {
		x.s.At(from, func(m *flown.Moment) {
			active = slices.DeleteFunc(x.m.actions(), func(t bt.Task) bool { return !m.Active(t) })
			_, fresh = x.classes.Arrive(m, m.Class(), "", true, n)
		})
	}
	if !fresh {
		return
	}
	x.s.Limits, x.s.Still = nil, false
	x.s.Steps(from, func(m *flown.Moment) {
		switch {
		case m.Err != nil:
			if !errors.Is(m.Err, flown.ErrUnsettled) {
				x.failed = cmp.Or(x.failed, m.Err)
			} else {
				x.unsettled = cmp.Or(x.unsettled, m.Err)
			}
			for _, t := range m.Entered() {
				x.broken[t] = true
			}
			x.abort(n, m)
			return
		case !m.Over:
			m.Tag = x.tag(active, m)
			return
		case !x.states.Spend():
			m.Stop = true
			return
		}
		hit := x.watch != nil && x.watch(m)
		if !m.Possible() {
			return
		}
		for _, t := range m.Entered() {
			x.entered[t] = true
		}
		for _, p := range x.m.meetings(active, m.Changes) {
			x.met[p] = true
		}
		key := m.After()
		if _, fresh := x.known.Arrive(m, string(key), "", true, x.states.Len()); fresh {
			x.states.Arrive(n, key, m.Tape())
		}
		if hit {
			x.hit, x.last, x.where = n, m.Tape(), m.Text()
			m.Stop = true
		}
	})
}

// tag returns the number of what an instant has shown so far that is new and has ended: another course that comes to
// the same state later does not show it. What is still active belongs to the state.
func (x *flying) tag(active []bt.Task, m *flown.Moment) int {
	tasks := slices.DeleteFunc(m.Entered(), func(t bt.Task) bool { return x.entered[t] || m.Active(t) })
	pairs := slices.DeleteFunc(x.m.meetings(active, m.Changes), func(p pair) bool {
		return x.met[p] || m.Active(p[0]) && m.Active(p[1])
	})
	slices.SortFunc(pairs, func(p, q pair) int { return slices.Compare(p[:], q[:]) })
	text := ""
	if len(tasks)+len(pairs) > 0 {
		text = fmt.Sprint(tasks, slices.Compact(pairs))
	}
	n, ok := x.tags[text]
	if !ok {
		n = len(x.tags)
		x.tags[text] = n
	}
	return n
}

// flights returns the states that flights reach, as far as they were needed.
func (m *Model) flights() *flying {
	m.reachable = m.fly()
	return m.reachable
}

// fly returns the same before a question needs the states.
func (m *Model) fly() *flying {
	if m.flew == nil {
		m.flew = m.newFlying(nil)
	}
	return m.flew
}

// search searches the flights for a state that violates a property.
func (m *Model) search(violated violation) counterexample {
	x, asked := m.flights(), false
	for i := 1; i < x.states.Len() || x.more(); {
		if i == x.states.Len() {
			continue
		}
		hit := false
		x.s.At(x.states.Key(i), func(s *flown.Moment) {
			hit = violated(s)
			asked = s.Asked()
		})
		switch {
		case asked: // it depends on signals
			return m.searchSignals(violated)
		case hit:
			path, c := x.states.Path(i), counterexample{verdict: Refuted}
			c.script = x.script(path[:len(path)-1], x.states.Move(i))
			x.s.Follow(x.states.Key(path[len(path)-2]), x.states.Move(i), func(s *flown.Moment) { c.where = s.Brief() })
			return c
		}
		i++
	}
	return x.conclusion()
}

// searchSignals searches for a state and signals that violate a property.
func (m *Model) searchSignals(violated violation) counterexample {
	x := m.newFlying(violated)
	for x.hit < 0 && x.more() {
	}
	if x.hit >= 0 {
		return counterexample{verdict: Refuted, script: x.script(x.states.Path(x.hit), x.last), where: x.where}
	}
	return x.conclusion()
}

// conclusion returns the result of a search that has found nothing.
func (x *flying) conclusion() counterexample {
	switch {
	case x.states.Short() != "":
		x.m.tired = x.m.tired || x.tired // also where another question has made the search
		return counterexample{verdict: Undecided, why: x.states.Short()}
	case x.failed != nil:
		return counterexample{verdict: Undecided, why: x.failed.Error()}
	case x.states.Len() == 1: // only the state before the run
		return counterexample{verdict: Undecided, why: cmp.Or(x.unsettled, errNoState).Error()}
	}
	c := counterexample{verdict: Proved, how: visited(x.states.Len() - 1)}
	if x.unsettled != nil {
		c.assumes = []Assumption{Settles}
	}
	return c
}

// script returns a script that goes through the states and takes the last step.
func (x *flying) script(path []int, last flown.Tape) string {
	return x.m.spell(x.m.recalled(x.s, x.told(path, last)))
}

// told returns the instants of a run that goes through the states and takes the last step.
func (x *flying) told(path []int, last flown.Tape) (instants []told) {
	for i, n := range path {
		tape := last
		if i+1 < len(path) {
			tape = x.states.Move(path[i+1])
		}
		x.s.Follow(x.states.Key(n), tape, func(m *flown.Moment) {
			if !m.Over {
				return
			}
			if x.watch != nil { // its questions count
				x.watch(m)
			}
			m.Possible()
			instants = append(instants, x.m.tell(m, ""))
		})
	}
	return instants
}
