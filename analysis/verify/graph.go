package verify

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"canopy/analysis/flown"
	"canopy/bt"
	"canopy/document/declare"
	"canopy/expr"
)

// graph has the nodes that a plan can reach while signals move according to the effects of the active tasks. A node is
// a state of the plan, between two instants, in some cells.
//
// The transitions from each state are those of the step as it is flown, from any values of signals to any others. The
// graph joins those that motion allows. In the graph of all flights an axis that steps goes to a neighbouring cell
// where its rate allows; any other one, and one of which nothing is known, to any cell. A graph of turns has every node
// that the plan reaches if any values may follow any others, but only the edges of the tasks' effects: other inputs
// stay as they are, and a signal on which no active task has an effect rests, unless its rates are derived.
type graph struct {
	m       *Model
	s       *flown.Stepper
	axes    []axis
	goals   []*expr.Logic // the first is not left
	turns   bool
	simple  bool                    // what follows a state depends on its conditions with hysteresis alone
	sources map[string][]transition // by these conditions, if the plan is simple
	states  []planState
	stateOf map[string]int // by class
	events  []event        // of marks, which count from 1
	nodes   []vertex
	left    int               // of them, whose successors are known
	enough  func(*graph) bool // asked now and then whether the nodes so far are enough; nil: they are not
	hulls   *reach[struct{}]  // replaces states by those with the joined times at which they are reached; nil: none
	nodeOf  map[string]int
	starts  []int           // nodes
	rests   map[string]bool // signals that rest in some node because no active task moves them
	looped  error           // of a course after which there is no state
	spent   int             // courses of instants
	compare int             // transitions that were compared with nodes
}

// planState is a state of the plan; the first one is that before a run.
type planState struct {
	key         flown.Key
	class       string
	active      []bt.Task // actions
	under       []bt.Task // leaves with a procedure under way that ends after some time
	ended       bool      // the root holds its result
	truth       []bool    // by leaf: of a condition
	left        bool      // its transitions are known
	transitions []transition
}

// transition is an instant that follows a state.
type transition struct {
	to    int // state
	cells []span
	label int // the first goal that holds there
	tape  flown.Tape
	event
}

// event is what an instant does.
type event struct {
	over  []bt.Task // whose procedures are over, or whose timers elapse
	begun []bt.Task // that become active
}

// vertex is a node.
type vertex struct {
	state, label int // the first goal that holds, their number if none does
	cells        []span
	next         []edge
	rates        []declare.Rate // by axis
	by           step           // the node that it was found from, -1: none, and the transition from there
}

// goal reports whether a node is in the first goal.
func (s *vertex) goal() bool { return s.label == 0 }

// edge leads to another node.
type edge struct {
	to   int
	wait float64 // the maximum length of what is over [s]; -1: nothing is
	way  *transition
}

// maxCompared bounds the comparisons of transitions with nodes, per effort.
const maxCompared = 5_000_000

// firstLook is the number of nodes after which a large graph may be enough.
const firstLook = 2000

// grown explores a plan by the steps of a graph up to the first goal, if there is one, and records which others hold.
// It ends when there is no other node, or the graph so far is enough: it asks for that whenever the number of nodes has
// doubled.
func (m *Model) grown(x *graph) (_ *graph, why string) {
	s := x.s
	x.m, x.states, x.stateOf, x.nodeOf = m, []planState{{}}, map[string]int{}, map[string]int{}
	x.rests, x.sources = map[string]bool{}, map[string][]transition{}
	x.simple = s == m.stepper() && !m.Remembers() && !m.slow() && len(m.tree.Timers()) == 0 && !s.Written() && !s.Lags()
	s.Limits, s.Still = nil, false
	if !x.explore(0) {
		return nil, x.short()
	}
	for i := range x.states[0].transitions {
		w := &x.states[0].transitions[i]
		x.starts = append(x.starts, x.arrive(w.to, w.label, w.cells, step{-1, w}))
	}
	edges, look := 0, firstLook
	for n := 0; n < len(x.nodes); n++ {
		if x.left = n; n == look {
			if look *= 2; x.enough != nil && x.enough(x) {
				return x, ""
			}
		}
		if x.goals != nil && x.nodes[n].goal() {
			continue
		}
		state := x.nodes[n].state
		fresh := !x.states[state].left
		if !x.explore(state) {
			return nil, x.short()
		}
		if x.leave(n); x.turns && fresh {
			for i := range x.states[state].transitions {
				w := &x.states[state].transitions[i]
				x.arrive(w.to, w.label, w.cells, step{n, w})
			}
		}
		edges += len(x.nodes[n].next)
		if compared := x.compare > m.effort*maxCompared; compared || edges > maxEdges {
			m.tired = m.tired || compared
			return nil, x.short()
		}
	}
	if x.looped != nil {
		return nil, x.looped.Error()
	}
	x.left = len(x.nodes)
	return x, ""
}

// hulls returns states of which each has the joined times at which flights reach it, and others; nil if there are too
// many.
func (m *Model) hulls(s *flown.Stepper) *reach[struct{}] {
	x := newReach[struct{}](s, m.bounds(m.most()))
	x.joined = true
	x.begin(struct{}{})
	s.Limits, s.Still = nil, false
	for n := range x.states.Leave() {
		if _, covered := x.cover.Later(n); covered {
			continue
		}
		x.expand(n, ignore, func(at *flown.Moment) {
			if at.Over && at.Possible() {
				x.arrive(at, at.Class(), n, struct{}{}, true)
			}
		})
	}
	if x.states.Short() != "" {
		return nil
	}
	return x
}

// hull returns the class and the key of the hull that stands for the state at a moment; no key if it stands for itself,
// because more is known of kept values than in the search for hulls.
func (x *graph) hull(at *flown.Moment, class string) (string, flown.Key) {
	if n, covered := x.hulls.cover.Find(at, class, fmt.Sprint(struct{}{})); covered {
		return strconv.Itoa(n), x.hulls.states.Key(n).key
	}
	return class, ""
}

// short returns the reason why a search ends before all nodes are visited.
func (x *graph) short() string {
	if why := x.m.ended(0); why != "" {
		return why
	}
	return fmt.Sprintf("%d instants did not visit all states", x.spent)
}

// explore finds the transitions from a state; it reports false if they are too many.
func (x *graph) explore(state int) bool {
	if x.states[state].left {
		return true
	}
	source := x.source(state)
	if transitions, known := x.sources[source]; known {
		x.states[state].left, x.states[state].transitions = true, transitions
		return true
	}
	var transitions []transition
	known := map[string]bool{}
	enough := true
	x.s.Steps(x.states[state].key, func(m *flown.Moment) {
		if x.spent++; x.spent > x.m.most() || x.spent%1000 == 0 && x.m.ended(0) != "" {
			x.m.tired = true
			enough, m.Stop = false, true
			return
		}
		x.visit(m, state, func(p transition) {
			if key := p.key(-1); !known[key] {
				known[key] = true
				transitions = append(transitions, p)
			}
		})
	})
	s := &x.states[state]
	s.left, s.transitions = true, x.joined(transitions)
	if source != "" {
		x.sources[source] = s.transitions
	}
	return enough
}

// source returns what the transitions from a state depend on, if this is not all of it.
func (x *graph) source(state int) string {
	if !x.simple || state == 0 {
		return ""
	}
	source := "conditions "
	for i, l := range x.m.leaves {
		if l.latch >= 0 {
			source += strconv.Itoa(btoi(x.states[state].truth[i]))
		}
	}
	return source
}

// generalise lets a transition of a simple plan go to any values of the inputs, true or false, on which nothing
// depends: neither what is active, nor what conditions with hysteresis remember, nor the first goal that holds.
func (x *graph) generalise(m *flown.Moment, from int, p *transition) {
	s, to := x.m.space, &x.states[p.to]
	same, before := s.all(), s.all() // the values with the same result; those that conditions had
	keep := func(is bool, in set) {
		if !is {
			in = s.not(in)
		}
		same = s.and(same, in)
	}
	for _, a := range x.m.actions() {
		keep(slices.Contains(to.active, a), x.m.active[a])
	}
	for i, l := range x.goals[:min(p.label+1, len(x.goals))] {
		keep(i == p.label, x.m.of(l))
	}
	for i, l := range x.m.leaves {
		if l.latch < 0 {
			continue
		}
		before = s.and(before, x.m.literal(l.latch, from > 0 && x.states[from].truth[i]))
		keep(m.Status(l.task) == bt.Success, x.m.truth[i])
	}
	others := s.not(same)
	above := make([]set, len(p.cells)+1) // the cells of the axes before one
	above[0] = before
	for i, c := range p.cells {
		above[i+1] = s.and(above[i], x.set(i, c))
	}
	below := s.all()
	p.cells = slices.Clone(p.cells)
	for i := len(p.cells) - 1; i >= 0; i-- {
		a := &x.axes[i]
		free := a.signal < 0 && len(a.asks) == 1 && a.asks[0].Relation == nil
		if free && s.empty(s.and(s.and(above[i], below), others)) {
			p.cells[i] = span{0, len(a.cuts)}
			m.Ignore(a.asks[0])
		}
		below = s.and(below, x.set(i, p.cells[i]))
	}
}

// set returns the states in which an axis is in some cells.
func (x *graph) set(i int, s span) set {
	m, a := x.m, &x.axes[i]
	if a.signal >= 0 {
		return m.between(a.signal, s.low, s.high)
	}
	all := m.space.all()
	if a.leaf != nil {
		if truth := m.truth[m.leafOf[a.leaf.task]]; s.low > 0 {
			all = truth
		} else if s.high == 0 {
			all = m.space.not(truth)
		}
		return all
	}
	for k, at := range a.marks {
		if k < s.low || k >= s.high {
			all = m.space.and(all, m.literal(at.variable, (k < s.low) != at.below))
		}
	}
	return all
}

// visit follows a moment of a step.
func (x *graph) visit(m *flown.Moment, from int, found func(p transition)) {
	if m.Err != nil {
		if x.looped == nil {
			x.looped = m.Err
		}
		return
	}
	var d event
	if x.m.slow() || len(x.m.tree.Timers()) > 0 {
		d = event{m.Elapsed(), m.Entered()}
	}
	if !m.Over {
		m.Mark = x.mark(d)
		return
	}
	p := transition{event: d, cells: x.look(m)}
	for p.label < len(x.goals) && !m.Holds(x.goals[p.label]) {
		p.label++
	}
	if p.cells == nil || !m.Possible() {
		return
	}
	p.tape = m.Tape()
	class, key := m.Class(), flown.Key("")
	if x.hulls != nil {
		class, key = x.hull(m, class)
	}
	to, known := x.stateOf[class]
	if !known {
		to = len(x.states)
		x.stateOf[class] = to
		if key == "" {
			key = m.After()
		}
		x.states = append(x.states, x.m.planState(m, key, class))
	}
	p.to = to
	if x.simple {
		x.generalise(m, from, &p)
	}
	found(p)
}

// tag returns the number of what an instant has done so far.
func (x *graph) mark(d event) int {
	if d.over == nil && d.begun == nil {
		return 0
	}
	same := func(e event) bool { return slices.Equal(d.over, e.over) && slices.Equal(d.begun, e.begun) }
	n := slices.IndexFunc(x.events, same)
	if n < 0 {
		n = len(x.events)
		x.events = append(x.events, d)
	}
	return n + 1
}

// planState returns what counts of the state at a moment.
func (m *Model) planState(at *flown.Moment, key flown.Key, class string) planState {
	s := planState{key: key, class: class}
	for _, a := range m.actions() {
		if at.Active(a) {
			s.active = append(s.active, a)
		}
	}
	for i := range m.leaves {
		l := &m.leaves[i]
		status := at.Status(l.task)
		if status == bt.Activating && l.entry.until == nil || status == bt.Deactivating && l.exit.until == nil {
			s.under = append(s.under, l.task)
		}
	}
	_, s.ended = at.Engine().Held(m.tree.Root())
	for i := range m.leaves {
		s.truth = append(s.truth, m.leaves[i].condition && at.Status(m.leaves[i].task) == bt.Success)
	}
	return s
}

// key returns a text that equal transitions have in common, apart from the cells of one axis.
func (p *transition) key(except int) string {
	b := binary.AppendVarint(binary.AppendVarint(nil, int64(p.to)), int64(p.label))
	for i, s := range p.cells {
		if i != except {
			b = binary.AppendVarint(binary.AppendVarint(b, int64(s.low)), int64(s.high))
		}
	}
	for _, list := range [][]bt.Task{p.over, p.begun} {
		b = binary.AppendVarint(b, int64(len(list)))
		for _, t := range list {
			b = binary.AppendVarint(b, int64(t))
		}
	}
	return string(b)
}

// joined returns transitions of which those that differ only by an input, true or false, are one: it does not matter.
func (x *graph) joined(transitions []transition) []transition {
	for i := len(x.axes) - 1; i >= 0; i-- {
		if x.axes[i].firm() || x.axes[i].signal >= 0 || len(x.axes[i].cuts) > 1 {
			continue
		}
		at := map[string]int{}
		var fewer []transition
		for _, p := range transitions {
			key := p.key(i)
			k, known := at[key]
			if !known {
				at[key] = len(fewer)
				fewer = append(fewer, p)
				continue
			}
			q := &fewer[k]
			q.cells = slices.Clone(q.cells)
			q.cells[i] = span{min(q.cells[i].low, p.cells[i].low), max(q.cells[i].high, p.cells[i].high)}
		}
		transitions = fewer
	}
	return transitions
}

// arrive returns the node of a state in some cells.
func (x *graph) arrive(state, label int, cells []span, by step) int {
	p := transition{to: state, label: label, cells: cells}
	key := p.key(-1)
	n, known := x.nodeOf[key]
	if !known {
		n = len(x.nodes)
		x.nodeOf[key] = n
		x.nodes = append(x.nodes, vertex{state: state, label: label, cells: cells, by: by})
		x.nodes[n].rates = x.rates(n)
	}
	return n
}

// rates returns the rate of each axis at a node.
func (x *graph) rates(n int) []declare.Rate {
	list := make([]declare.Rate, len(x.axes))
	for i := range x.axes {
		switch a := &x.axes[i]; {
		case a.motion == steady:
			list[i] = a.span(func(signal string) declare.Rate { return x.rate(n, signal) })
		case !x.turns || a.motion == wild:
			list[i] = anyRate
		}
	}
	return list
}

// rate returns the rate of a signal at a node: the range that the effects of all active tasks allow, or any rate if
// they exclude each other.
func (x *graph) rate(n int, signal string) declare.Rate {
	at := &x.nodes[n]
	box := boxOf(x.axes, at.cells)
	r, known := anyRate, false
	for _, a := range moving(x.states[at.state].active) {
		if e, ok := x.m.rate(a, signal, box); ok {
			r, known = declare.Rate{Low: max(r.Low, e.Low), High: min(r.High, e.High)}, true
		}
	}
	switch {
	case r.Low > r.High:
		return anyRate
	case !known && x.turns && x.m.rests(signal):
		x.rests[signal] = true
		return declare.Rate{}
	}
	return r
}

// options returns the cells of an axis that may follow a node's. A flight passes a cell that is a point in no time.
func (x *graph) options(n, i int) span {
	a, r := &x.axes[i], x.nodes[n].rates[i]
	if a.motion == wild || !x.turns && !a.steps {
		return span{0, len(a.cuts)}
	}
	s := x.nodes[n].cells[i]
	if r.High > 0 {
		for s.high < len(a.cuts) {
			if s.high++; !a.point(s.high) {
				break
			}
		}
	}
	if r.Low < 0 {
		for s.low > 0 {
			if s.low--; !a.point(s.low) {
				break
			}
		}
	}
	return s
}

// leave finds the successors of a node.
func (x *graph) leave(n int) {
	state := x.nodes[n].state
	options := make([]span, len(x.axes))
	for i := range options {
		options[i] = x.options(n, i)
	}
	place := map[int]int{} // in next, by node
	var next []edge
	for w := range x.states[state].transitions {
		p := &x.states[state].transitions[w]
		x.compare++
		cells := x.within(p.cells, options)
		if cells == nil || x.turns && !x.lawful(cells) {
			continue
		}
		e := edge{to: x.arrive(p.to, p.label, cells, step{n, p}), wait: x.m.longest(p.over), way: p}
		if e.to == n && p.begun == nil && p.over == nil {
			continue
		}
		if j, known := place[e.to]; !known {
			place[e.to] = len(next)
			next = append(next, e)
		} else if e.wait < next[j].wait {
			next[j] = e
		}
	}
	x.nodes[n].next = next
}

// lawful reports whether the facts and the values of signals allow cells, of which some may have been narrowed.
func (x *graph) lawful(cells []span) bool {
	if len(x.m.facts) == 0 {
		return x.possible(cells)
	}
	s, all := x.m.space, x.m.lawful
	for i, c := range cells {
		all = s.and(all, x.set(i, c))
	}
	return !s.empty(all) && x.possible(cells)
}

// within returns the cells that a transition and motion have in common; nil if there are none.
func (x *graph) within(cells, options []span) []span {
	for i, s := range cells {
		if s.low > options[i].high || s.high < options[i].low {
			return nil
		}
	}
	common := cells
	for i, s := range cells {
		if o := options[i]; s.low < o.low || s.high > o.high {
			if &common[0] == &cells[0] {
				common = slices.Clone(cells)
			}
			common[i] = span{max(s.low, o.low), min(s.high, o.high)}
		}
	}
	return common
}

// longest returns the maximum length of procedures and timers [s], 0 if it is not constant; -1 if there are none.
func (m *Model) longest(over []bt.Task) float64 {
	longest := -1.0
	for _, t := range over {
		d := 0.0
		if i, ok := m.leafOf[t]; ok {
			d = min(duration(m.plan.Leaves[i].EntryTime), duration(m.plan.Leaves[i].ExitTime))
			if math.IsInf(d, 1) {
				d = 0
			}
		} else {
			d = m.tree.Timer(t)
		}
		longest = max(longest, d)
	}
	return longest
}

// duration returns the length of a procedure [s], 0 if it is not constant.
func duration(e *expr.Expr) float64 {
	if e == nil {
		return math.Inf(1)
	}
	v, known := e.Constant()
	if !known {
		return 0
	}
	return v
}

// step is a node on a path, and the transition that leads to it.
type step struct {
	node int
	way  *transition
}

// path returns the stops at nodes that follow each other.
func (x *graph) path(nodes ...int) []step {
	path := make([]step, len(nodes))
	for i, n := range nodes {
		path[i] = step{n, x.nodes[n].by.way}
		if i > 0 {
			for _, e := range x.nodes[nodes[i-1]].next {
				if e.to == n {
					path[i].way = e.way
				}
			}
		}
	}
	return path
}

// way returns the path on which a node was found.
func (x *graph) way(n int) []step {
	var path []step
	for n >= 0 {
		by := x.nodes[n].by
		path = append(path, step{n, by.way})
		n = by.node
	}
	slices.Reverse(path)
	return path
}

// retrace returns a script that makes the stops, "" if the plan does not confirm it.
func (x *graph) retrace(path []step) string {
	if !x.m.spells() {
		return ""
	}
	var instants []instant
	key, s := flown.Key(""), x.s
	s.Limits, s.Still = nil, false
	for _, at := range path {
		n, arrived := &x.nodes[at.node], false
		visit := func(m *flown.Moment) {
			if !m.Over || m.Err != nil || x.simple && !x.in(m, n.cells) {
				return
			}
			instant := x.m.tell(m, x.text(n.cells))
			after := m.After()
			if arrived = m.Class() == x.states[n.state].class; arrived {
				instants, key, m.Stop = append(instants, instant), after, true
			}
		}
		if x.simple { // inputs on which nothing depends stay as they are
			s.Guide(x.guide(n.cells))
			s.Steps(key, visit)
			s.Guide(nil)
		} else {
			s.Follow(key, at.way.tape, visit)
		}
		if !arrived {
			return ""
		}
	}
	return x.m.spell(x.m.recalled(s, instants))
}

// in reports whether a moment is in some cells, as far as these are always known.
func (x *graph) in(m *flown.Moment, cells []span) bool {
	at := x.look(m)
	for i := range at {
		if x.axes[i].firm() && at[i] != cells[i] {
			return false
		}
	}
	return at != nil
}

// guide answers questions about the inputs, true or false, in some cells.
func (x *graph) guide(cells []span) func(name string, limit float64, strict bool) (is, known bool) {
	return func(name string, _ float64, _ bool) (is, known bool) {
		for i := range x.axes {
			if a := &x.axes[i]; a.signal < 0 && a.asks[0].Relation == nil && a.asks[0].Key == name {
				return cells[i].low > 0, true
			}
		}
		return false, false
	}
}

// text describes cells.
func (x *graph) text(cells []span) string {
	r := &region{first: map[int]int{}, last: map[int]int{}, truth: map[int]bool{}}
	for i, s := range cells {
		a := &x.axes[i]
		switch {
		case s == span{0, len(a.cuts)}:
		case a.signal >= 0:
			r.first[a.signal], r.last[a.signal] = s.low, s.high
		default:
			for k, at := range a.marks {
				if k < s.low || k >= s.high {
					r.truth[at.variable] = (k < s.low) != at.below
				}
			}
		}
	}
	return x.m.text(r)
}

// regions describes the cells of nodes.
func (x *graph) regions(nodes []int) ([]string, bool) {
	m := x.m
	all := m.space.none()
	for _, n := range nodes {
		here := m.space.all()
		for i, s := range x.nodes[n].cells {
			here = m.space.and(here, x.set(i, s))
		}
		all = m.space.or(all, here)
	}
	return m.regions(all)
}

// components finds the strongly connected parts of the graph of some nodes and edges, those that others lead to first
// (R. Tarjan, Depth-first search and linear graph algorithms, 1972).
func (x *graph) components(nodes []int, use func(edge) bool, part func([]int)) {
	index, low, open := make([]int, len(x.nodes)), make([]int, len(x.nodes)), make([]bool, len(x.nodes))
	among := make([]bool, len(x.nodes))
	for _, n := range nodes {
		among[n] = true
	}
	var stack []int
	count := 0
	type frame struct{ node, next int }
	for _, start := range nodes {
		if index[start] > 0 {
			continue
		}
		frames := []frame{{node: start}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			v := f.node
			if f.next == 0 {
				count++
				index[v], low[v], open[v] = count, count, true
				stack = append(stack, v)
			}
			if f.next < len(x.nodes[v].next) {
				e := x.nodes[v].next[f.next]
				f.next++
				switch {
				case !among[e.to] || !use(e):
				case index[e.to] == 0:
					frames = append(frames, frame{node: e.to})
				case open[e.to]:
					low[v] = min(low[v], index[e.to])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				parent := frames[len(frames)-1].node
				low[parent] = min(low[parent], low[v])
			}
			if low[v] == index[v] {
				first := len(stack) - 1
				for stack[first] != v {
					first--
				}
				whole := slices.Clone(stack[first:])
				stack = stack[:first]
				for _, u := range whole {
					open[u] = false
				}
				part(whole)
			}
		}
	}
}
