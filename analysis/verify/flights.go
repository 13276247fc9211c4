package verify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/explore"
)

// errNoState is the reason for which nothing is concluded from facts that exclude all states.
var errNoState = errors.New("the facts exclude every state")

// violation reports whether a state, in which the plan has settled, violates a property.
type violation func(at view) bool

// counterexample is the result of the search for one.
type counterexample struct {
	verdict Verdict
	script  string       // "" if refuted: it cannot be spelled
	why     string       // undecided, or proved under assumptions only: the reason
	advice  string       // undecided: what to do; "": as memoryAdvice says
	how     string       // proved, but not by the abstraction: the method
	assumes []Assumption // on which it rests
	where   string       // refuted by a search: what is known of the signals there
}

// finding returns the finding of a question that was answered so. Its fields are those of proved or of refuted; where
// nothing is concluded, the text states whether refuted is so.
func (c counterexample) finding(proved, refuted Finding) Finding {
	f := refuted
	switch c.verdict {
	case Proved:
		f = proved
		if f.Assumes = c.assumes; c.how != "" {
			f.Text += ", " + c.how
		}
		if c.why != "" {
			f.Advice = "not concluded otherwise: " + c.why
		}
	case Refuted:
		f.Script, f.Where, f.More = c.script, []string{c.where}, c.where != flown.Always
	case Undecided:
		f.Text = whether(f.Text) + "; " + c.why
		f.Where, f.Advice = nil, cmp.Or(c.advice, memoryAdvice)
	}
	f.Verdict = c.verdict
	return f
}

// whether says that it is not concluded whether a fault is there.
func whether(fault string) string {
	if rest, of := strings.CutPrefix(fault, "does not hold"); of {
		fault = "this holds" + rest
	}
	return "not concluded whether " + fault
}

// flights is the states that runs of the plan reach. Questions share it; they are found only as far as one needs them.
type flights struct {
	*search[string]
	m       *Model
	entered []bool        // by task: was active at some time
	broken  []bool        // by task: was active in an instant that does not end
	met     map[pair]bool // of actions that were active at one time
	before  []bt.Task     // the actions that are active in the state that is left; nil: not known yet
	aborted *aborted      // a run that stops with an error; nil: none was found
	tired   bool          // a bound has ended it that grows with the effort
}

func (m *Model) newFlights() *flights {
	bounds := m.bounds(m.allowance())
	x := &flights{m: m, entered: make([]bool, m.tree.Len()), broken: make([]bool, m.tree.Len()), met: map[pair]bool{}}
	over := bounds.Over
	bounds.Over = func(states int) string {
		why := over(states)
		x.tired = why != "" && m.tired
		return why
	}
	x.search = newSearch(m.abstract(), observer[string](x), state[string]{}, mergeLeft, bounds)
	x.depart = func(string) { x.before = nil }
	x.stopped = func(at *flown.Moment, from int) {
		for _, t := range at.Entered() {
			x.broken[t] = true
		}
		if x.aborted == nil && at.Certain() && at.Possible() {
			x.aborted = &aborted{from, m.instant(at, "the run stops: "+untimed(at.Err)), at.Err}
		}
	}
	m.plain(m.abstract())
	return x
}

// step records what an instant shows.
func (x *flights) step(at *flown.Moment, _ string) (shown string, now event) {
	if !at.Over {
		return x.shown(at), nothing
	}
	if at.Possible() {
		for _, t := range at.Entered() {
			x.entered[t] = true
		}
		for _, p := range x.meetings(at) {
			x.met[p] = true
		}
	}
	return "", nothing
}

// shown describes what an instant has shown so far that is new and has ended: another transition that comes to the same
// state later does not show it. What is still active belongs to the state.
func (x *flights) shown(at *flown.Moment) string {
	tasks := slices.DeleteFunc(at.Entered(), func(t bt.Task) bool { return x.entered[t] || at.Active(t) })
	pairs := slices.DeleteFunc(x.meetings(at), func(p pair) bool {
		return x.met[p] || at.Active(p[0]) && at.Active(p[1])
	})
	if len(tasks)+len(pairs) == 0 {
		return ""
	}
	slices.SortFunc(pairs, func(p, q pair) int { return slices.Compare(p[:], q[:]) })
	return fmt.Sprint(tasks, slices.Compact(pairs))
}

// meetings returns the pairs of actions that have been active at one time in an instant so far.
func (x *flights) meetings(at *flown.Moment) []pair {
	if x.before == nil {
		was := map[bt.Task]bool{}
		for _, c := range slices.Backward(at.Changes) {
			was[c.Task] = c.From == bt.Activating || c.From == bt.Running
		}
		x.before = slices.DeleteFunc(x.m.actions(), func(t bt.Task) bool {
			active, changed := was[t]
			return changed && !active || !changed && !at.Active(t)
		})
	}
	return x.m.meetings(x.before, at.Changes)
}

// abstract returns the steps of the plan for searches in which signals may change to any value at each instant.
func (m *Model) abstract() *flown.Stepper {
	if m.abstractSteps == nil {
		m.abstractSteps = m.timed(flown.Abstract(m.subject))
	}
	return m.abstractSteps
}

// stepper returns the steps of the plan.
func (m *Model) stepper() *flown.Stepper {
	if m.steps == nil {
		m.steps = m.timed(flown.New(m.subject))
	}
	return m.steps
}

// timed lets steps follow times since activations, if a question has times. It takes more states.
func (m *Model) timed(s *flown.Stepper) *flown.Stepper {
	if m.times {
		s.Measure(m.plan)
	}
	return s
}

// lazy returns the steps of the plan in which conditions are judged only where the tree hears them.
func (m *Model) lazy() *flown.Stepper {
	if len(m.abstract().Freed()) == 0 {
		return m.abstract()
	}
	if m.lazySteps == nil {
		m.lazySteps = m.timed(flown.Abstract(m.subject, m.tree.Leaves()...))
	}
	return m.lazySteps
}

// flights returns the states that runs reach, as far as they were needed.
func (m *Model) flights() *flights {
	m.reachable = m.fly()
	return m.reachable
}

// fly returns the same before a question needs the states.
func (m *Model) fly() *flights {
	if m.flew == nil {
		m.flew = m.newFlights()
	}
	return m.flew
}

// search searches the runs for a state that violates a property.
func (m *Model) search(violated violation) counterexample {
	x := m.flights()
	n, asked := x.find(violated)
	switch {
	case asked: // it depends on signals
		return watch(m, observing(func(at *flown.Moment) bool { return violated(at) }), struct{}{})
	case n < 0:
		m.tired = m.tired || x.tired && x.states.Short() != "" // also where another question has made the search
		return x.conclusion()
	}
	path := x.states.Path(n)
	return x.refuted(m, x.moves(path[:len(path)-1], x.states.Move(n)), (*flown.Moment).Brief)
}

// find returns the first state of which something is so, -1 if there is none; asked if that depends on signals.
func (x *flights) find(is violation) (n int, asked bool) {
	for n := 1; n < x.states.Len() || x.more(); {
		if n == x.states.Len() {
			continue
		}
		hit := false
		x.At(x.states.Key(n).key, func(s *flown.Moment) { hit, asked = is(s), s.Asked() })
		if hit || asked {
			return n, asked
		}
		n++
	}
	return -1, false
}

// watch searches all runs of the plan for one that an observer hits, with the mark of the observer before a run.
func watch[M comparable](m *Model, o observer[M], start M) counterexample {
	steps := m.abstract()
	m.plain(steps)
	x := newSearch(steps, o, state[M]{mark: start}, mergeLeft, m.bounds(m.allowance()))
	if x.run(); x.from < 0 {
		return x.conclusion()
	}
	return x.refuted(m, x.hits(), (*flown.Moment).Text)
}

// refuted returns a counterexample with a text about the signals at its end.
func (x *search[M]) refuted(m *Model, run []move[M], where func(*flown.Moment) string) counterexample {
	c := counterexample{verdict: Refuted}
	c.script = m.script(m.abstract(), x.instants(m, run, func(_ int, at *flown.Moment) string {
		c.where = where(at)
		return ""
	}))
	return c
}

// plain lets time pass between instants, without clocks of an observer.
func (m *Model) plain(s *flown.Stepper) { s.Limits, s.Most, s.Still = nil, nil, false }

// conclusion returns the result of a search that has hit nothing.
func (x *search[M]) conclusion() counterexample {
	n := x.states.Len() - 1 // without the state before a run
	c := counterexample{verdict: Proved}
	switch {
	case x.states.Short() != "":
		return counterexample{verdict: Undecided, why: x.states.Short()}
	case x.failed != nil:
		return counterexample{verdict: Undecided, why: untimed(x.failed), advice: flown.Remedy(x.failed)}
	case x.decided:
		c.how = leftOpen(n)
	case n == 0:
		err := cmp.Or(x.unsettled, errNoState)
		return counterexample{verdict: Undecided, why: untimed(err), advice: flown.Remedy(err)}
	default:
		c.how = visited(n)
	}
	if x.unsettled != nil {
		c.assumes = []Assumption{Settles}
	}
	return c
}

// visited describes a proof by a search.
func visited(states int) string {
	if states == 1 {
		return "by visiting the only state that the engine can reach: the plan never leaves it"
	}
	return fmt.Sprintf("by visiting all %d states that the engine can reach", states)
}

// leftOpen describes a proof by a search that does not follow runs which are decided.
func leftOpen(states int) string {
	switch states {
	case 0:
		return "which the first instant of a run decides"
	case 1:
		return "by visiting the only state in which a run leaves it open"
	default:
		return fmt.Sprintf("by visiting all %d states in which a run leaves it open", states)
	}
}

// Bounds of the search with the engine, per effort.
const (
	maxMoves  = 20_000
	maxVisits = 2_000_000 // moves times tasks
	eachMove  = 25        // the work of a move, beside that of a task each
	maxBytes  = 350_000_000
)

// allowance returns the maximum number of moves of a search with the engine, per effort.
func (m *Model) allowance() int { return min(maxMoves, maxVisits/m.tree.Len()) }

// bounds returns those of a search with a number of moves per effort.
func (m *Model) bounds(each int) explore.Budget {
	moves := 0
	return explore.Budget{Bytes: maxBytes, Over: func(int) string {
		if moves += 64; moves > m.effort*each { // asked at every 64th move
			m.tired = true
			return fmt.Sprintf("%d moves did not find all states", m.effort*each)
		}
		work := m.space.work
		if work.spent += 64 * (m.tree.Len() + eachMove); !work.more() {
			return "the search took too long"
		}
		return ""
	}}
}
