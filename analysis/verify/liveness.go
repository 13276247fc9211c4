package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/document/declare"
	"canopy/explore"
	"canopy/expr"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// Liveness: from which states the goal is reached, if signals change according to the effects of the active tasks. A
// place is a state of the plan in a world. Its successors have signals in the same interval or, where the rates allow,
// in a neighbouring one; free inputs change arbitrarily.
//
// The goal is reached from a strongly connected part of the other places if every way out of it leads to places from
// which the goal is reached, and the part must be left: a weighted sum of signals rises everywhere in it and cannot
// rise without bound (a linear ranking function: A. Podelski and A. Rybalchenko, A complete method for the synthesis
// of linear ranking functions, 2004). It is never reached from places without a way to it. Between these, a lasso
// shows which tasks might run for ever.

func askReach(m *Model) []Finding {
	if !m.moves(m.goal) {
		return nil
	}
	x, why := m.newJourney(func(p *Player, world []bool) bool { return p.holds(m.goal, world) })
	if why != "" {
		return []Finding{{Verdict: Undecided, Place: m.subject.Declared.Goal.Place,
			Text:   "not concluded whether the goal is reached: " + why,
			Advice: "reduce the limits of signals and the free conditions; `canopy monitor` judges runs"}}
	}
	x.solve()
	return x.findings()
}

// moves reports whether formulas have signals, and there is some effect on each.
func (m *Model) moves(formulas ...*expr.Logic) bool {
	names := map[string]bool{}
	for _, l := range formulas {
		mentions(l, names)
	}
	for i := range m.leaves {
		if names["leaf "+m.leaves[i].name] {
			mentions(m.leaves[i].on, names)
			mentions(m.leaves[i].off, names)
		}
	}
	moves := false
	for i := range m.vocab.signals {
		name := m.vocab.signals[i].name
		if !names["signal "+name] {
			continue
		}
		moves = true
		known := false
		for _, rates := range m.subject.Declared.Effects {
			_, ok := rates[name]
			known = known || ok
		}
		if !known {
			return false
		}
	}
	return moves
}

// journey is the graph of the places that a plan can reach.
type journey struct {
	*walker
	ends    func(p *Player, world []bool) bool // in the goal
	byWorld map[string]int                     // world by intervals and free inputs
	free    []int                              // variables
	nodes   []spot
	found   *explore.Search[[2]int, struct{}] // nodes by class and world
	starts  []int                             // nodes

	reached []bool // by node: the goal is reached for certain
	hopes   []bool // by node: some way leads to the goal
	part    []int  // by node: the strongly connected part, -1 of the goal
	stuck   []bool // by part: it need not be left
}

// spot is a node: a place and its successors.
type spot struct {
	state, world int
	goal         bool
	next         []int
	rates        []declare.Rate // by signal
}

// newJourney explores a plan up to the goal.
func (m *Model) newJourney(ends func(p *Player, world []bool) bool) (x *journey, why string) {
	if m.slow() {
		return nil, "while a procedure takes time, the plan is in states that this question does not cover"
	}
	w, why := m.newWalker()
	if why != "" {
		return nil, why
	}
	x = &journey{walker: w, ends: ends, byWorld: map[string]int{},
		found: explore.New[[2]int, struct{}](explore.Budget{})}
	for v := range m.vocab.inputs {
		if m.vocab.inputs[v].kind == inputFree {
			x.free = append(x.free, v)
		}
	}
	for i := range x.worlds {
		x.byWorld[x.name(x.cells[i], x.worlds[i])] = i
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

// solve finds from where the goal is reached, and from where it may be.
func (x *journey) solve() {
	x.parts()
	x.hope()
}

// name names a world by its intervals and free inputs.
func (x *journey) name(cell []int, world []bool) string {
	b := make([]byte, 0, 2*len(cell)+len(x.free))
	for _, k := range cell {
		b = append(b, byte(k), byte(k>>8))
	}
	for _, v := range x.free {
		b = append(b, byte(btoi(world[v])))
	}
	return string(b)
}

// arrive returns the node of the state that follows another one in a world, if the timers of a set of endings elapse.
func (x *journey) arrive(state, world, number int, over []bt.Task) (n int, ok bool) {
	next, ok := x.move(state, world, number, over)
	if !ok {
		return 0, false
	}
	n, fresh := x.found.Arrive(-1, [2]int{x.class[next], world}, struct{}{})
	if fresh {
		p := x.states[next]
		x.nodes = append(x.nodes, spot{state: next, world: world, goal: x.ends(p, x.worlds[world]), rates: x.rates(p)})
	}
	return n, true
}

// rates returns the rate of each signal in a state: the range that the effects of all active tasks allow, or any rate
// if they exclude each other.
func (x *journey) rates(p *Player) []declare.Rate {
	inf := math.Inf(1)
	list := slices.Repeat([]declare.Rate{{Low: -inf, High: inf}}, len(x.m.vocab.signals))
	for i := range list {
		for _, a := range x.m.actions() {
			if r, ok := x.m.subject.Declared.Effects[a][x.m.vocab.signals[i].name]; ok && p.active(a) {
				list[i] = declare.Rate{Low: max(list[i].Low, r.Low), High: min(list[i].High, r.High)}
			}
		}
		if list[i].Low > list[i].High {
			list[i] = declare.Rate{Low: -inf, High: inf}
		}
	}
	return list
}

// leave finds the successors of a node and returns the number of moves tried.
func (x *journey) leave(n int) (tried int) {
	at := &x.nodes[n]
	if at.goal {
		return 0
	}
	state, here, rates := at.state, at.world, at.rates
	cell, world := slices.Clone(x.cells[here]), slices.Clone(x.worlds[here])
	endings := x.endings(state)
	var next []int
	var choose func(i int)
	choose = func(i int) {
		if i < len(cell) {
			k := cell[i]
			choose(i + 1)
			if rates[i].High > 0 && k < len(x.m.vocab.signals[i].cuts) {
				cell[i] = k + 1
				choose(i + 1)
			}
			if rates[i].Low < 0 && k > 0 {
				cell[i] = k - 1
				choose(i + 1)
			}
			cell[i] = k
			return
		}
		if j := i - len(cell); j < len(x.free) {
			for _, value := range []bool{false, true} {
				world[x.free[j]] = value
				choose(i + 1)
			}
			return
		}
		w := x.byWorld[x.name(cell, world)]
		for number, over := range endings {
			tried++
			if to, ok := x.arrive(state, w, number, over); ok && to != n {
				next = append(next, to)
			}
		}
	}
	choose(0)
	x.nodes[n].next = next
	return tried
}

// parts finds the strongly connected parts of all but the goal (R. Tarjan, Depth-first search and linear graph
// algorithms, 1972): those that others lead to first, so that whether the goal is reached from them is known.
func (x *journey) parts() {
	n := len(x.nodes)
	x.part, x.reached = slices.Repeat([]int{-1}, n), make([]bool, n)
	index, low, open := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	count := 0
	type frame struct{ node, next int }
	for start := range x.nodes {
		if x.nodes[start].goal {
			x.reached[start] = true
			continue
		}
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
				to := x.nodes[v].next[f.next]
				f.next++
				switch {
				case x.nodes[to].goal:
				case index[to] == 0:
					frames = append(frames, frame{node: to})
				case open[to]:
					low[v] = min(low[v], index[to])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				parent := frames[len(frames)-1].node
				low[parent] = min(low[parent], low[v])
			}
			if low[v] == index[v] {
				first := slices.Index(stack, v)
				x.judge(slices.Clone(stack[first:]))
				for _, u := range stack[first:] {
					open[u] = false
				}
				stack = stack[:first]
			}
		}
	}
}

// judge decides whether the goal is reached from a part.
func (x *journey) judge(part []int) {
	number := len(x.stuck)
	for _, n := range part {
		x.part[n] = number
	}
	ways, good := false, true
	for _, n := range part {
		for _, to := range x.nodes[n].next {
			if x.part[to] != number {
				ways, good = true, good && (x.reached[to] || x.nodes[to].goal)
			}
		}
	}
	stuck := !ways || !x.passes(part)
	x.stuck = append(x.stuck, stuck)
	for _, n := range part {
		x.reached[n] = good && !stuck
	}
}

// passes reports whether a part must be left: a weighted sum of signals rises everywhere in it and is bounded.
func (x *journey) passes(part []int) bool {
	signals := len(x.m.vocab.signals)
	var rows [][]declare.Rate
	above, below := slices.Repeat([]bool{true}, signals), slices.Repeat([]bool{true}, signals) // is it bounded there
	for _, n := range part {
		at := &x.nodes[n]
		for i, r := range at.rates {
			k := x.cells[at.world][i]
			above[i] = above[i] && (k < len(x.m.vocab.signals[i].cuts) || r.High <= 0)
			below[i] = below[i] && (k > 0 || r.Low >= 0)
		}
		if !slices.ContainsFunc(rows, func(r []declare.Rate) bool { return slices.Equal(r, at.rates) }) {
			rows = append(rows, at.rates)
		}
	}
	return ranked(rows, above, below)
}

// ranked reports whether there are factors f with a sum of f[i] * rate[i] that is positive for all rates of each row.
// Signals with positive factors must be bounded above, those with negative ones below.
func ranked(rows [][]declare.Rate, above, below []bool) bool {
	for i := range above { // one signal is enough
		up := above[i] && !slices.ContainsFunc(rows, func(r []declare.Rate) bool { return r[i].Low <= 0 })
		down := below[i] && !slices.ContainsFunc(rows, func(r []declare.Rate) bool { return r[i].High >= 0 })
		if up || down {
			return true
		}
	}
	// f = p - q with p, q >= 0; a column for each that may be positive: its minimum contribution to each row.
	var columns [][]float64
	for i := range above {
		for _, c := range []struct {
			ok  bool
			add func(r declare.Rate) float64
		}{
			{above[i], func(r declare.Rate) float64 { return r.Low }},
			{below[i], func(r declare.Rate) float64 { return -r.High }},
		} {
			column, scale := make([]float64, len(rows)), 0.0
			for k, r := range rows {
				column[k] = c.add(r[i])
				scale = max(scale, math.Abs(column[k]))
			}
			if !c.ok || scale == 0 || math.IsInf(scale, 0) || slices.Max(column) <= 0 {
				continue
			}
			for k := range column {
				column[k] /= scale
			}
			columns = append(columns, column)
		}
	}
	if len(columns) == 0 || len(rows) > maxRows {
		return false
	}
	// minimise the sum of factors with columns * factors - slack = 1
	n := len(columns)
	a, b, c := mat.NewDense(len(rows), n+len(rows), nil), make([]float64, len(rows)), make([]float64, n+len(rows))
	for k := range rows {
		for j, column := range columns {
			a.Set(k, j, column[k])
			c[j] = 1
		}
		a.Set(k, n+k, -1)
		b[k] = 1
	}
	_, f, err := lp.Simplex(c, a, b, 1e-9, nil)
	if err != nil {
		return false
	}
	for k := range rows { // verify the result of the solver
		sum := 0.0
		for j, column := range columns {
			if f[j] < 0 {
				return false
			}
			sum += f[j] * column[k]
		}
		if !(sum > 0.5) {
			return false
		}
	}
	return true
}

// maxRows is the maximum number of different rates in one part.
const maxRows = 200

// hope finds from where some way leads to the goal.
func (x *journey) hope() {
	x.hopes = make([]bool, len(x.nodes))
	from := make([][]int, len(x.nodes))
	back := explore.New[int, struct{}](explore.Budget{})
	for n := range x.nodes {
		for _, to := range x.nodes[n].next {
			from[to] = append(from[to], n)
		}
		if x.nodes[n].goal {
			back.Arrive(-1, n, struct{}{})
		}
	}
	for k := range back.Leave() {
		x.hopes[back.Key(k)] = true
		for _, n := range from[back.Key(k)] {
			back.Arrive(k, n, struct{}{})
		}
	}
}

func (x *journey) findings() []Finding {
	var reached, never, open []int
	for _, n := range x.starts {
		switch {
		case x.reached[n]:
			reached = append(reached, n)
		case x.hopes[n]:
			open = append(open, n)
		default:
			never = append(never, n)
		}
	}
	goal, at := x.m.subject.Declared.Goal.Text, x.m.subject.Declared.Goal.Place
	var found []Finding
	if len(reached) > 0 {
		f := Finding{Place: at, Text: "the goal is reached from every state: " + goal}
		if len(never)+len(open) > 0 {
			f.Text = "the goal is reached from some states: " + goal
			f.Where, f.More = x.regions(reached)
		}
		found = append(found, f)
	}
	if len(never) > 0 {
		f := Finding{Verdict: Refuted, Place: at, Text: "the goal is never reached: " + goal,
			Advice: "let a task lead from there to the goal, or declare other effects on the signals"}
		f.Where, f.More = x.regions(never)
		f.Script = x.retrace([]int{never[0]})
		found = append(found, f)
	}
	if len(open) > 0 {
		way, loop := x.lasso(open[0])
		f := Finding{Verdict: Undecided, Place: at,
			Text:   "not concluded whether the goal is reached: " + goal + ": " + x.doing(loop),
			Advice: "let each turn gain more than it loses, or declare narrower rates; `canopy region` samples starts"}
		f.Where, f.More = x.regions(open)
		for range 2 {
			way = append(way, loop...)
		}
		f.Script = x.retrace(way)
		found = append(found, f)
	}
	return found
}

// regions describes the worlds of nodes.
func (x *journey) regions(nodes []int) ([]string, bool) {
	m := x.m
	all := m.space.none()
	for _, n := range nodes {
		at := &x.nodes[n]
		here := m.space.all()
		for i, k := range x.cells[at.world] {
			here = m.space.and(here, m.between(i, k, k))
		}
		for _, v := range x.free {
			here = m.space.and(here, m.literal(v, x.worlds[at.world][v]))
		}
		all = m.space.or(all, here)
	}
	return m.regions(all)
}

// lasso returns a way from a node to one of a part that need not be left, and a closed walk from there.
func (x *journey) lasso(start int) (way, loop []int) {
	way = x.search([]int{start}, func(n int) bool { return x.stuck[x.part[n]] }, func(n int) bool { return !x.reached[n] })
	last := way[len(way)-1]
	inside := func(n int) bool { return x.part[n] == x.part[last] }
	for _, to := range x.nodes[last].next {
		if !inside(to) {
			continue
		}
		back := x.search([]int{to}, func(n int) bool { return n == last }, inside)
		if loop == nil || len(back) < len(loop) {
			loop = back
		}
	}
	if loop == nil {
		loop = []int{last}
	}
	return way, loop
}

// search returns a shortest way from one of the nodes to a wanted one through usable nodes; it must exist.
func (x *journey) search(starts []int, wanted, use func(n int) bool) []int {
	found := explore.New[int, struct{}](explore.Budget{})
	for _, n := range starts {
		found.Arrive(-1, n, struct{}{})
	}
	for k := range found.Leave() {
		if wanted(found.Key(k)) {
			var way []int
			for _, n := range found.Path(k) {
				way = append(way, found.Key(n))
			}
			return way
		}
		for _, to := range x.nodes[found.Key(k)].next {
			if !x.nodes[to].goal && use(to) {
				found.Arrive(k, to, struct{}{})
			}
		}
	}
	panic("verify: a path is missing")
}

// doing describes a closed walk that may repeat for ever.
func (x *journey) doing(loop []int) string {
	var names []string
	for _, n := range loop {
		for _, a := range x.m.actions() {
			if name := x.m.tree.Name(a); x.states[x.nodes[n].state].active(a) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	switch len(names) {
	case 0:
		return "no task is active, and no signal has to change"
	case 1:
		return names[0] + " may run for ever"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " may take turns for ever"
}

// retrace returns a script that visits the nodes, "" if the engine does not confirm it or reaches the goal on the way.
func (x *journey) retrace(nodes []int) string {
	if !x.m.spells() {
		return ""
	}
	p := x.m.newTrace()
	var b strings.Builder
	for _, n := range nodes {
		world := x.worlds[x.nodes[n].world]
		told := len(p.lines)
		if p.Move(world) != nil || x.ends(p, world) {
			return ""
		}
		for _, a := range x.m.actions() {
			if p.active(a) != x.states[x.nodes[n].state].active(a) {
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
