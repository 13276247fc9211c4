package verify

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
)

// graph has the nodes that a plan can reach while signals move according to the effects of the active tasks. A node is
// a state of the plan, between two instants, in some cells.
//
// The transitions from each state are those of the plan's steps, from any values of signals to any others. The graph
// joins those that motion allows. In the graph of all runs an axis that steps goes to a neighbouring cell where its
// rate allows; any other one, and one of which nothing is known, to any cell. A graph of turns has every node that the
// plan reaches if any values may follow any others, but only the edges of the tasks' effects: other inputs stay as they
// are, and a signal on which no active task has an effect rests, unless its rates are derived.
type graph struct {
	*search[string] // of the plan's states; what is remembered within an instant is its activity so far
	m               *Model
	steps           *flown.Stepper
	axes            []axis
	goals           []*expr.Logic // the first is not left
	beyond          bool          // the first goal is left, too, unless the plan has ended there
	turns           bool
	enough          func(*graph) bool // asked now and then whether the nodes so far are enough; nil: they are not

	plan     []planState // by state of the search
	ending   transition  // of the instant in progress
	nodes    []vertex
	left     int // of them, whose successors are known
	nodeOf   map[string]int
	starts   []int           // nodes
	rests    map[string]bool // signals that rest in some node because no active task moves them
	compared int             // transitions that were compared with nodes
}

// planState is what counts of a state of the plan; the first one is that before a run.
type planState struct {
	active      []bt.Task // actions
	under       []bt.Task // leaves with a procedure under way that ends after some time
	ended       bool      // the root holds its result
	left        bool      // its transitions are known
	transitions []transition
	known       map[string]bool // the keys of these
}

// transition is an instant that follows a state.
type transition struct {
	to    int // state
	cells []span
	label int // the first goal that holds there
	tape  flown.Tape
	activity
}

// activity is what happens in an instant.
type activity struct {
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
	again        *transition    // to the node itself, in which nothing happens; nil: none
}

// goal reports whether a node is in the first goal.
func (s *vertex) goal() bool { return s.label == 0 }

// edge leads to another node.
type edge struct {
	to   int
	wait float64 // the maximum length of what is over [s]; -1: nothing is
	via  *transition
}

// maxCompared bounds the comparisons of transitions with nodes, per effort.
const maxCompared = 5_000_000

// firstLook is the number of nodes after which a large graph may be enough.
const firstLook = 2000

// newGraph returns a graph that has not been explored. States that differ in clock readings are apart, unless they are
// joined.
func (m *Model) newGraph(steps *flown.Stepper, axes []axis, merge merging) *graph {
	x := &graph{m: m, steps: steps, axes: axes, plan: make([]planState, 1),
		nodeOf: map[string]int{}, rests: map[string]bool{}}
	x.search = newSearch(steps, observer[string](x), state[string]{}, merge, m.bounds(m.allowance()))
	x.arrived = x.record
	m.plain(steps)
	return x
}

// explore finds the nodes, up to the first goal if there is one, and which others hold. It ends when there is no other
// node, or the graph so far is enough: it asks for that whenever the number of nodes has doubled. It returns why it
// ends before, "" if it does not.
func (x *graph) explore() (why string) {
	if x.merge == mergeJoined {
		x.run() // what a state is joined with follows
	}
	for _, p := range x.transitions(0) {
		if n := x.node(p, step{-1, p}); n >= 0 {
			x.starts = append(x.starts, n)
		}
	}
	edges, look := 0, firstLook
	for n := 0; n < len(x.nodes) && x.states.Short() == ""; n++ {
		if x.left = n; n == look {
			if look *= 2; x.enough != nil && x.enough(x) {
				return ""
			}
		}
		state := x.nodes[n].state
		if x.goals != nil && x.nodes[n].goal() && !(x.beyond && !x.plan[state].ended) {
			continue
		}
		fresh := !x.plan[state].left
		if x.follows(n); x.turns && fresh {
			for _, p := range x.transitions(state) {
				x.node(p, step{n, p})
			}
		}
		edges += len(x.nodes[n].next)
		if compared := x.compared > x.m.effort*maxCompared; compared || edges > maxEdges {
			x.m.tired = x.m.tired || compared
			return fmt.Sprintf("%d nodes of a graph did not show all ways", len(x.nodes))
		}
	}
	if x.states.Short() != "" {
		return x.states.Short()
	}
	x.left = len(x.nodes)
	if x.failed != nil || x.unsettled != nil && (x.turns || x.starts == nil) {
		return cmp.Or(x.unsettled, x.failed).Error()
	}
	return ""
}

// transitions returns those from a state.
func (x *graph) transitions(state int) []*transition {
	state = x.final(state)
	if !x.plan[state].left && x.merge != mergeJoined {
		x.leave(state)
	}
	s := &x.plan[state]
	s.left = true
	list := make([]*transition, len(s.transitions))
	for i := range s.transitions {
		list[i] = &s.transitions[i]
	}
	return list
}

// step collects what happens in an instant, and where it ends.
func (x *graph) step(at *flown.Moment, _ string) (now string, e event) {
	var a activity
	if x.m.slow() || len(x.m.tree.Timers()) > 0 {
		a = activity{at.Elapsed(), at.Entered()}
		now = fmt.Sprint(a)
	}
	if !at.Over {
		return now, nothing
	}
	x.ending = transition{activity: a, cells: x.look(at)}
	for p := &x.ending; p.label < len(x.goals) && !at.Holds(x.goals[p.label]); {
		p.label++
	}
	switch {
	case x.ending.cells == nil:
		return "", impossible
	case x.turns && at.Ended():
		return "", done
	}
	return "", nothing
}

// record adds the transition in progress to those from a state.
func (x *graph) record(at *flown.Moment, from, to int) {
	if to == len(x.plan) {
		x.plan = append(x.plan, x.m.planState(at))
	}
	x.ending.to, x.ending.tape = to, at.Tape()
	key, s := x.ending.key(), &x.plan[from]
	if s.known == nil {
		s.known = map[string]bool{}
	}
	if !s.known[key] {
		s.known[key] = true
		s.transitions = append(s.transitions, x.ending)
	}
}

// planState returns what counts of the state at a moment.
func (m *Model) planState(at *flown.Moment) planState {
	s := planState{active: m.activeAt(at)}
	for i := range m.leaves {
		l := &m.leaves[i]
		status := at.Status(l.task)
		if status == bt.Activating && l.entry.until == nil || status == bt.Deactivating && l.exit.until == nil {
			s.under = append(s.under, l.task)
		}
	}
	_, s.ended = at.Engine().Held(m.tree.Root())
	return s
}

// key returns a text that equal transitions have in common.
func (p *transition) key() string {
	b := p.place()
	for _, list := range [][]bt.Task{p.over, p.begun} {
		b = binary.AppendVarint(b, int64(len(list)))
		for _, t := range list {
			b = binary.AppendVarint(b, int64(t))
		}
	}
	return string(b)
}

// place returns a text that transitions to one node have in common.
func (p *transition) place() []byte {
	b := binary.AppendVarint(binary.AppendVarint(nil, int64(p.to)), int64(p.label))
	for _, s := range p.cells {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(s.low)), int64(s.high))
	}
	return b
}

// region returns cells as a region, without those of conditions that stand for others.
func (x *graph) region(cells []span) region {
	r := region{}
	for i, s := range cells {
		a := &x.axes[i]
		switch {
		case s == span{0, len(a.cuts)}, a.leaf != nil:
		case a.signal >= 0:
			r[x.m.vocab.signals[a.signal].at] = s
		default:
			for k, at := range a.marks {
				if k < s.low || k >= s.high {
					cell := btoi((k < s.low) != at.below)
					r[at.variable] = span{cell, cell}
				}
			}
		}
	}
	return r
}

// set returns the states in some cells.
func (x *graph) set(cells []span) set {
	m := x.m
	all := m.box(x.region(cells))
	for i, s := range cells {
		if l := x.axes[i].leaf; l != nil && s.low == s.high {
			truth := m.truth[m.leafOf[l.task]]
			if s.low == 0 {
				truth = m.space.not(truth)
			}
			all = m.space.and(all, truth)
		}
	}
	return all
}

// node returns the node to which a transition leads; -1 if its signals cannot be there while its tasks are active.
func (x *graph) node(p *transition, by step) int {
	to := *p
	to.to = x.final(to.to)
	key := string(to.place())
	n, known := x.nodeOf[key]
	if !known {
		n = len(x.nodes)
		x.nodeOf[key] = n
		x.nodes = append(x.nodes, vertex{state: to.to, label: p.label, cells: p.cells, by: by})
		if x.nodes[n].rates = x.rates(n); slices.ContainsFunc(x.nodes[n].rates, declare.Rate.Impossible) {
			x.nodes, x.nodeOf[key] = x.nodes[:n], -1
			return -1
		}
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
	for _, a := range moving(x.plan[at.state].active) {
		e, ok := x.m.rate(a, signal, box)
		switch {
		case e.Impossible():
			return e
		case ok:
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

// follows finds the successors of a node.
func (x *graph) follows(n int) {
	options := make([]span, len(x.axes))
	for i := range options {
		options[i] = x.options(n, i)
	}
	place := map[int]int{} // in next, by node
	var next []edge
	for _, p := range x.transitions(x.nodes[n].state) {
		x.compared++
		x.m.space.work.spent++
		cells := x.within(p.cells, options)
		if cells == nil || x.turns && !x.lawful(cells) {
			continue
		}
		to := *p
		to.cells = cells
		e := edge{to: x.node(&to, step{n, p}), wait: x.m.longest(p.over), via: p}
		if e.to < 0 {
			continue
		}
		if e.to == n && p.begun == nil && p.over == nil {
			x.nodes[n].again = p
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

// successors returns those of a node by edges of a kind; nil: by all.
func (x *graph) successors(use func(edge) bool) successors {
	return func(n int) (list []int) {
		for _, e := range x.nodes[n].next {
			if use == nil || use(e) {
				list = append(list, e.to)
			}
		}
		return list
	}
}

// lawful reports whether the facts and the values of signals allow cells, of which some may have been narrowed.
func (x *graph) lawful(cells []span) bool {
	if len(x.m.facts) == 0 {
		return x.possible(cells)
	}
	return !x.m.space.empty(x.m.space.and(x.m.lawful, x.set(cells))) && x.possible(cells)
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
	v, _ := e.Constant()
	return v
}

// step is a node on a path, and the transition that leads to it.
type step struct {
	node int
	via  *transition
}

// path returns the steps to nodes that follow each other.
func (x *graph) path(nodes ...int) []step {
	path := make([]step, len(nodes))
	for i, n := range nodes {
		path[i] = step{n, x.nodes[n].by.via}
		if i == 0 {
			continue
		}
		if before := &x.nodes[nodes[i-1]]; before.again != nil && nodes[i-1] == n {
			path[i].via = before.again
		}
		for _, e := range x.nodes[nodes[i-1]].next {
			if e.to == n {
				path[i].via = e.via
			}
		}
	}
	return path
}

// pathTo returns the path on which a node was found.
func (x *graph) pathTo(n int) []step {
	var path []step
	for n >= 0 {
		by := x.nodes[n].by
		path = append(path, step{n, by.via})
		n = by.node
	}
	slices.Reverse(path)
	return path
}

// script returns the script of a path from a start, in which inputs that do not matter stay as they are.
func (x *graph) script(path []step) string {
	run, from := make([]move[string], len(path)), 0
	for i, at := range path {
		run[i] = move[string]{x.states.Key(from), at.via.tape}
		from = x.nodes[at.node].state
	}
	shown := x.instants(x.m, run, func(i int, _ *flown.Moment) string {
		return x.m.text(x.region(x.nodes[path[i].node].cells))
	})
	for i := range shown {
		shown[i].free = x.values(x.nodes[path[i].node].cells)
	}
	return x.m.script(x.steps, shown)
}

// values returns the inputs, true or false, in some cells.
func (x *graph) values(cells []span) values {
	return func(input string) (is, known bool) {
		for i := range x.axes {
			if a := &x.axes[i]; a.signal < 0 && a.asks[0].Relation == nil && a.asks[0].Key == input {
				return cells[i].low > 0, true
			}
		}
		return false, false
	}
}

// regions describes the cells of nodes.
func (x *graph) regions(nodes []int) ([]string, bool) {
	all := never
	for _, n := range nodes {
		all = x.m.space.or(all, x.set(x.nodes[n].cells))
	}
	return x.m.regions(all)
}
