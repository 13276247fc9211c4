package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/document/declare"
	"canopy/document/plan"
	"canopy/explore"
	"canopy/expr"
	"canopy/expr/interval"
)

// graph has the nodes that a plan can reach while signals move according to the effects of the active tasks. A node is
// a state of the plan in a world.
//
// The graph of all flights begins in every world. An axis that steps goes to a neighbouring cell where its rate allows;
// any other one, and one of which nothing is known, to any cell. A graph of turns has every node that the plan reaches
// if any world may follow any other, but only the edges of the tasks' effects: other inputs stay as they are, and a
// signal on which no active task has an effect rests.
type graph struct {
	*walker
	axes    []axis
	cells   [][]int // by world: of each axis; nil: there is no such world
	worldOf map[string]int
	ends    func(p *Player, world []bool) bool // in the goal, which is not left
	turns   bool
	nodes   []spot
	found   *explore.Search[[2]int, []bt.Task] // nodes by class and world
	starts  []int                              // nodes
	left    map[int]bool                       // by class: in a graph of turns, all that follows it is found
	rests   map[string]bool                    // signals that rest in some node because no active task moves them
}

// spot is a node.
type spot struct {
	state, world int
	goal         bool
	next         []leg
	rates        []declare.Rate // by axis
}

// leg leads to another node.
type leg struct {
	to    int
	over  []bt.Task // whose procedures are over, or whose timers elapse
	wait  float64   // the maximum length of these [s]; -1: there are none
	begun []bt.Task // which the step activates, if procedures take time
}

// newGraph explores a plan up to the goal.
func (m *Model) newGraph(turns bool, ends func(p *Player, world []bool) bool) (x *graph, why string) {
	w, why := m.newWalker()
	if why != "" {
		return nil, why
	}
	x = &graph{walker: w, axes: m.axes(), worldOf: map[string]int{}, ends: ends, turns: turns,
		found: explore.New[[2]int, []bt.Task](explore.Budget{}), left: map[int]bool{}, rests: map[string]bool{}}
	x.cells = make([][]int, len(x.worlds))
	for i, world := range x.worlds {
		if x.cells[i] = m.cellsOf(x.axes, world); x.cells[i] != nil {
			x.worldOf[cellName(x.cells[i])] = i
		}
	}
	for i := range x.worlds {
		if n, ok := x.arrive(-1, i, 0, nil); ok {
			x.starts = append(x.starts, n)
		}
	}
	edges := 0
	for n := range x.found.Leave() {
		if edges += x.leave(n); edges > maxEdges || x.tired() {
			return nil, x.short()
		}
	}
	if why := x.blind(); why != "" {
		return nil, why
	}
	return x, ""
}

func cellName(cells []int) string {
	b := make([]byte, 0, 2*len(cells))
	for _, k := range cells {
		b = append(b, byte(k), byte(k>>8))
	}
	return string(b)
}

// arrive returns the node of the state that follows another node in a world, if the procedures of a set of endings are
// over; ok is false if there is none.
func (x *graph) arrive(from, world, number int, over []bt.Task) (n int, ok bool) {
	if x.cells[world] == nil {
		return 0, false
	}
	state := -1
	if from >= 0 {
		state = x.nodes[from].state
	}
	next, ok := x.move(state, world, number, over)
	if !ok {
		return 0, false
	}
	n, fresh := x.found.Arrive(from, [2]int{x.class[next], world}, over)
	if fresh {
		p := x.states[next]
		x.nodes = append(x.nodes, spot{state: next, world: world, goal: x.ends(p, x.worlds[world]), rates: x.rates(p, world)})
	}
	return n, true
}

// rates returns the rate of each axis in a state in a world.
func (x *graph) rates(p *Player, world int) []declare.Rate {
	box := boxOf(x.axes, x.cells[world])
	list := make([]declare.Rate, len(x.axes))
	for i := range x.axes {
		switch a := &x.axes[i]; {
		case a.motion == steady:
			list[i] = a.span(func(signal string) declare.Rate { return x.rate(p, signal, box) })
		case !x.turns || a.motion == wild:
			list[i] = anyRate
		}
	}
	return list
}

// rate returns the rate of a signal in a state: the range that the effects of all active tasks allow, or any rate if
// they exclude each other.
func (x *graph) rate(p *Player, signal string, box map[string]interval.Interval) declare.Rate {
	r, known := anyRate, false
	for _, a := range x.m.actions() {
		if !p.active(a) {
			continue
		}
		if e, ok := x.m.rate(a, signal, box); ok {
			r, known = declare.Rate{Low: max(r.Low, e.Low), High: min(r.High, e.High)}, true
		}
	}
	switch {
	case r.Low > r.High:
		return anyRate
	case !known && x.turns:
		x.rests[signal] = true
		return declare.Rate{}
	}
	return r
}

// rateAt returns the rate of a signal at a node.
func (x *graph) rateAt(n int, signal string) declare.Rate {
	at := &x.nodes[n]
	return x.rate(x.states[at.state], signal, boxOf(x.axes, x.cells[at.world]))
}

// assumes returns the assumptions of a proof about what tasks write: between the rounds of one instant it does not
// change in the graph.
func (x *graph) assumes() []Assumption {
	writes := func(l plan.Leaf) bool { return len(l.Write)+len(l.Entry)+len(l.Exit) > 0 }
	var names []string
	for i := range x.axes {
		if a := &x.axes[i]; a.motion != steady && a.reads {
			names = append(names, a.name)
		}
	}
	if names == nil || !slices.ContainsFunc(x.m.plan.Leaves, writes) {
		return nil
	}
	return []Assumption{{Text: "what tasks write takes effect on these only after the plan has settled: " +
		strings.Join(names, ", ")}}
}

// options returns the cells of an axis that may follow a node's. A flight passes a cell that is a point in no time.
func (x *graph) options(n, i int) []int {
	a, k, r := &x.axes[i], x.cells[x.nodes[n].world][i], x.nodes[n].rates[i]
	options := []int{k}
	if !x.turns && !a.steps || a.motion == wild {
		options = nil
		for k := range len(a.cuts) + 1 {
			options = append(options, k)
		}
		return options
	}
	if r.High > 0 {
		for k := k + 1; k <= len(a.cuts); k++ {
			options = append(options, k)
			if !a.point(k) {
				break
			}
		}
	}
	if r.Low < 0 {
		for k := k - 1; k >= 0; k-- {
			options = append(options, k)
			if !a.point(k) {
				break
			}
		}
	}
	return options
}

// leave finds the successors of a node and returns the number of moves tried.
func (x *graph) leave(n int) (tried int) {
	if x.nodes[n].goal {
		return 0
	}
	state := x.nodes[n].state
	endings := x.endings(state)
	options := make([][]int, len(x.axes))
	for i := range options {
		options[i] = x.options(n, i)
	}
	cells := make([]int, len(x.axes))
	place := map[int]int{} // in next, by node
	var next []leg
	var choose func(i int)
	choose = func(i int) {
		if i < len(cells) {
			for _, cells[i] = range options[i] {
				choose(i + 1)
			}
			return
		}
		world, ok := x.worldOf[cellName(cells)]
		if !ok {
			return
		}
		for number, over := range endings {
			tried++
			to, ok := x.arrive(n, world, number, over)
			if !ok {
				continue
			}
			e := leg{to: to, over: over, wait: x.m.longest(over), begun: x.begun[[3]int{x.class[state], world, number}]}
			if to == n && e.begun == nil {
				continue
			}
			if j, known := place[to]; !known {
				place[to] = len(next)
				next = append(next, e)
			} else if e.wait < next[j].wait {
				next[j] = e
			}
		}
	}
	choose(0)
	x.nodes[n].next = next
	if class := x.class[state]; x.turns && !x.left[class] {
		x.left[class] = true
		for world := range x.worlds {
			for number, over := range endings {
				tried++
				x.arrive(n, world, number, over)
			}
		}
	}
	return tried
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

// stop is a node on a path, with the procedures that are over and the timers that elapse on the way to it.
type stop struct {
	node int
	over []bt.Task
}

// path returns the stops at nodes that follow each other.
func (x *graph) path(nodes ...int) []stop {
	path := make([]stop, len(nodes))
	for i, n := range nodes {
		path[i].node = n
		if i > 0 {
			for _, e := range x.nodes[nodes[i-1]].next {
				if e.to == n {
					path[i].over = e.over
				}
			}
		}
	}
	return path
}

// way returns the shortest path on which a node was found.
func (x *graph) way(n int) []stop {
	var path []stop
	for _, n := range x.found.Path(n) {
		path = append(path, stop{n, x.found.Move(n)})
	}
	return path
}

// retrace returns a script that makes the stops, "" if the engine does not confirm it or reaches the goal on the way.
func (x *graph) retrace(path []stop) string {
	if !x.m.spells() {
		return ""
	}
	p := x.m.newSlowTrace()
	var b strings.Builder
	for _, l := range p.lines {
		b.WriteString(l + "\n")
	}
	for _, at := range path {
		world := x.worlds[x.nodes[at.node].world]
		told := len(p.lines)
		if p.Move(world, at.over...) != nil || x.ends(p, world) {
			return ""
		}
		for _, a := range x.m.actions() {
			if p.active(a) != x.states[x.nodes[at.node].state].active(a) {
				return ""
			}
		}
		fmt.Fprintf(&b, "# %s\n", x.m.worldText(world))
		for _, l := range p.lines[told:] {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// regions describes the worlds of nodes.
func (x *graph) regions(nodes []int) ([]string, bool) {
	m := x.m
	all := m.space.none()
	for _, n := range nodes {
		world, here := x.worlds[x.nodes[n].world], m.space.all()
		for i := range m.vocab.signals {
			k := m.vocab.signals[i].interval(world)
			here = m.space.and(here, m.between(i, k, k))
		}
		for v := range m.vocab.inputs {
			if m.vocab.inputs[v].kind == inputFree {
				here = m.space.and(here, m.literal(v, world[v]))
			}
		}
		all = m.space.or(all, here)
	}
	return m.regions(all)
}

// components finds the strongly connected parts of the graph of some nodes and edges, those that others lead to first
// (R. Tarjan, Depth-first search and linear graph algorithms, 1972).
func (x *graph) components(nodes []int, use func(leg) bool, part func([]int)) {
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
