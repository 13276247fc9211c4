package stategraph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/snapshot"
)

// ErrLoop is the error of an instant in which a transition without loop check would fire a second time.
var ErrLoop = errors.New("instantaneous loop of transitions")

// Change is a step that became active or ceased to be.
type Change struct {
	Step   Step
	Active bool
	Round  int32 // within the instant, from 1; 0: the graph begins with this step
}

// Instant is the result of one instant. The slice is valid until the engine's next call.
type Instant struct {
	Changes []Change // by round, then by step
	Rounds  int      // rounds in which a transition fired
}

// Engine is the state of a graph. It has no clock: Settle receives the time. It is not safe for concurrent use.
//
// An instant is settled in rounds, each of which judges all transitions by the steps that are active at its beginning:
//
//	until a round fires nothing:
//	    judge: from the innermost steps outwards, which transitions can fire, by priority
//	    block: from the outermost steps inwards, none inside a step that is left or suspended in this round
//	    time:  timers of delayed transitions start, continue or stop
//	    leave: steps whose transition fires, with all inside; a suspended step remembers what was active inside
//	    enter: the targets of transitions; entering has priority over leaving
type Engine struct {
	graph     *Graph
	active    []bool    // by step
	memory    []bool    // by step: was active when the parallel step around it was suspended
	suspended []bool    // by step: a parallel one that can be resumed from memory when it is not active
	due       []float64 // by transition: when a delayed one may fire; +Inf: its timer does not run
	t         float64
	begun     bool

	truth   []float64   // by condition: read by the transitions' code
	next    []bool      // by step: active in the next round
	free    []bool      // by step: active, its exits are free and no transition takes it
	leaving []departure // by step
	enabled []bool      // by transition: condition true and its turn
	fires   []bool      // by transition: in this round
	fired   []bool      // by transition: in this instant
	changes []Change
}

// departure is the way in which a step is left in a round.
type departure uint8

const (
	stays departure = iota
	leaves
	suspends
	blocked // the parallel step around it is left or suspended
)

// NewEngine returns an engine in which nothing is active yet: the graph begins with the first call of Settle.
func NewEngine(g *Graph) *Engine {
	e := &Engine{
		graph:     g,
		active:    make([]bool, len(g.steps)),
		memory:    make([]bool, len(g.steps)),
		suspended: make([]bool, len(g.steps)),
		due:       make([]float64, len(g.transitions)),
		t:         math.Inf(-1),
		truth:     make([]float64, len(g.conditions)),
		next:      make([]bool, len(g.steps)),
		free:      make([]bool, len(g.steps)),
		leaving:   make([]departure, len(g.steps)),
		enabled:   make([]bool, len(g.transitions)),
		fires:     make([]bool, len(g.transitions)),
		fired:     make([]bool, len(g.transitions)),
	}
	for k := range e.due {
		e.due[k] = math.Inf(1)
	}
	return e
}

// Graph returns the engine's graph.
func (e *Engine) Graph() *Graph { return e.graph }

// ActiveActions appends the actions of the active steps to dst, in the order of the steps, each once.
func (e *Engine) ActiveActions(dst []Action) []Action {
	from := len(dst)
	for s := range e.graph.steps {
		if !e.active[s] {
			continue
		}
		for _, a := range e.graph.steps[s].actions {
			if !slices.Contains(dst[from:], a) {
				dst = append(dst, a)
			}
		}
	}
	return dst
}

// Alarm returns the time at which the next delayed transition can fire, +Inf if none waits.
func (e *Engine) Alarm() float64 {
	next := math.Inf(1)
	for _, due := range e.due {
		next = min(next, due)
	}
	return next
}

// State passes the engine's state to the codec, except for the log of the last instant.
func (e *Engine) State(c *snapshot.Codec) {
	for _, list := range [][]bool{e.active, e.memory, e.suspended} {
		snapshot.Each(c, list, snapshot.Bool)
	}
	snapshot.Floats(c, e.due)
	snapshot.Float(c, &e.t)
	snapshot.Bool(c, &e.begun)
}

// Settle lets the graph settle at time t [s], not before that of the last call, with the truth of the graph's
// conditions in their order. It must be called whenever a condition has changed and at the time of Alarm; more calls do
// no harm. The first call makes the initial steps active, and the entries of those that are parallel, in round 0.
//
// Each call is a separate instant, also at the time of the last one: a caller whose conditions depend on actions must
// bound the number of calls at one time.
//
// The error wraps ErrLoop and names the transitions that would fire a second time. The engine is then in the state
// after the last round, and a later call may continue.
func (e *Engine) Settle(t float64, conditions []bool) (Instant, error) {
	if len(conditions) != len(e.graph.conditions) {
		panic("stategraph: Settle needs the truth of each condition")
	}
	if !(t >= e.t) {
		panic("stategraph: time goes back")
	}
	e.t = t
	for i, holds := range conditions {
		e.truth[i] = 0
		if holds {
			e.truth[i] = 1
		}
	}
	e.changes = e.changes[:0]
	clear(e.fired)
	rounds := 0
	if !e.begun {
		e.begun = true
		for s := range e.next {
			e.begin(Step(s))
		}
		e.commit(rounds)
	}
	for {
		e.judge()
		e.block()
		firing, again := e.firing()
		if again {
			return Instant{e.changes, rounds}, e.loopError()
		}
		e.time()
		if !firing {
			return Instant{e.changes, rounds}, nil
		}
		rounds++
		e.move()
		e.commit(rounds)
	}
}

// commit ends a round: it makes the next steps active and logs the changes.
func (e *Engine) commit(round int) {
	for s, next := range e.next {
		if e.active[s] != next {
			e.active[s] = next
			e.changes = append(e.changes, Change{Step(s), next, int32(round)})
		}
	}
}

// judge determines which transitions fire if no step around theirs is left: steps inside come first, because a parallel
// step can be left only when its exits are free.
func (e *Engine) judge() {
	for s := len(e.graph.steps) - 1; s >= 0; s-- {
		st := &e.graph.steps[s]
		e.leaving[s] = stays
		available := e.active[s]
		for _, exit := range st.exits {
			available = available && e.free[exit]
		}
		e.free[s] = e.take(st.out, available)
		if available && !e.free[s] {
			e.leaving[s] = leaves
		}
		available = e.active[s] && e.leaving[s] == stays
		if !e.take(st.suspend, available) && available {
			e.leaving[s] = suspends
		}
	}
}

// take offers a step to its transitions by priority, and reports whether it is still available: none has fired.
func (e *Engine) take(transitions []int, available bool) bool {
	for _, k := range transitions {
		code := e.graph.codes[k]
		e.enabled[k] = available && (code == nil || code.Bool(e.truth, nil))
		e.fires[k] = e.enabled[k] && (e.graph.transitions[k].After == 0 || e.t >= e.due[k])
		available = available && !e.fires[k]
	}
	return available
}

// block cancels the transitions inside steps that are left or suspended.
func (e *Engine) block() {
	for s := range e.graph.steps {
		st := &e.graph.steps[s]
		if st.parent == None || e.leaving[st.parent] == stays {
			continue
		}
		e.leaving[s] = blocked
		for _, list := range [...][]int{st.out, st.suspend} {
			for _, k := range list {
				e.enabled[k], e.fires[k] = false, false
			}
		}
	}
}

// firing reports whether a transition fires, and whether one without loop check does so a second time; it notes those
// that fire.
func (e *Engine) firing() (some, again bool) {
	for k, fires := range e.fires {
		some = some || fires
		again = again || fires && e.exhausted(k)
	}
	if !again {
		for k, fires := range e.fires {
			e.fired[k] = e.fired[k] || fires
		}
	}
	return some, again
}

// exhausted reports whether a transition may not fire again in this instant, because nothing else would end a loop
// through it.
func (e *Engine) exhausted(k int) bool {
	return e.fired[k] && !e.graph.transitions[k].LoopCheck
}

// time updates the timers. A timer runs while its transition is enabled, and restarts when a transition from its step
// has fired, also if that led back to the step.
func (e *Engine) time() {
	for k := range e.due {
		t := &e.graph.transitions[k]
		switch {
		case t.After == 0:
		case !e.enabled[k] || e.leaving[t.From] != stays:
			e.due[k] = math.Inf(1)
		case math.IsInf(e.due[k], 1):
			e.due[k] = max(e.t+t.After, math.Nextafter(e.t, math.Inf(1))) // later, however late it is
		}
	}
}

// move lets the transitions fire.
func (e *Engine) move() {
	copy(e.next, e.active)
	for s := range e.graph.steps {
		switch e.leaving[s] {
		case leaves:
			e.end(Step(s))
		case suspends:
			e.suspend(Step(s))
		}
	}
	for k, fires := range e.fires {
		switch t := &e.graph.transitions[k]; {
		case !fires:
		case t.Resumes && e.suspended[t.To]:
			e.resume(t.To)
		default:
			e.enter(t.To)
		}
	}
}

// end makes a step and all steps inside inactive, and clears their memory.
func (e *Engine) end(s Step) {
	for i := s; i < e.graph.steps[s].end; i++ {
		e.next[i], e.suspended[i] = false, false
	}
}

// suspend makes a step inactive and stores the active steps inside. The memory of an inactive step inside is kept.
func (e *Engine) suspend(s Step) {
	e.next[s], e.suspended[s] = false, true
	for i := s + 1; i < e.graph.steps[s].end; i++ {
		if e.active[e.graph.steps[i].parent] {
			e.memory[i] = e.active[i]
		}
		e.next[i] = false
	}
}

// enter makes a step active and starts its inside from the entry.
func (e *Engine) enter(s Step) {
	e.end(s)
	e.next[s] = true
	for i := s + 1; i < e.graph.steps[s].end; i++ {
		e.begin(i)
	}
}

// begin makes a step active if it is the first of an active level.
func (e *Engine) begin(s Step) {
	st := &e.graph.steps[s]
	e.next[s] = st.first && (st.parent == None || e.next[st.parent])
}

// resume makes a suspended step active, and the steps inside that were active when it was suspended.
func (e *Engine) resume(s Step) {
	e.next[s] = true
	for i := s + 1; i < e.graph.steps[s].end; i++ {
		e.next[i] = e.memory[i] && e.next[e.graph.steps[i].parent]
	}
}

// loopError names the transitions that would fire a second time.
func (e *Engine) loopError() error {
	var names []string
	for k := range e.fires {
		if e.fires[k] && e.exhausted(k) {
			names = append(names, e.graph.transitionName(k))
		}
	}
	return fmt.Errorf("%w: at t = %.3f s it would fire a second time: %s", ErrLoop, e.t, strings.Join(names, ", "))
}
