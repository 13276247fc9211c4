package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
)

// Chattering: tasks take turns because the effect of each activates the other again. A turn is a closed walk in the
// graph of turns on which the set of active actions changes. On its way it crosses cuts of axes. Of each axis that
// moves with known rates it crosses every cut between the lowest and the highest in both directions, so it takes at
// least
//
//	period = sum over the cells between these cuts: length/up + length/down
//
// with the maximum rates of the nodes in each cell. If all cuts are at one limit, the period may be 0: the plan
// switches infinitely often at once, a sliding mode. A walk on which a procedure ends or a timer elapses takes at least
// as long as this.
//
// All turns lie in strongly connected parts. A turn in a part crosses the lowest and the highest cut of each axis in
// it, or it lies in the part without the edges across one of these. So parts are divided until no turn is left; the
// periods of all parts on the way bound those of all turns.

// maxDivisions bounds the division of parts.
const maxDivisions = 4_000

// turns is the turns in a graph.
type turns struct {
	*graph
	divided map[string]pace // by nodes and whether timers count
	found   []turn
}

// turn is a part of the graph in which tasks take turns.
type turn struct {
	crossings
	loop []int // nodes of the shortest closed walk on which the active actions change
	cut  bool  // it was not divided: the period is no bound
}

// crossings are the axes that edges of a part cross, and what follows from them.
type crossings struct {
	first, last []int   // by axis: the lowest and the highest cut that some edge crosses; -1: none
	timed       bool    // on some edge, procedures end or timers elapse
	period      float64 // [s]
	axis        int     // that gives the period; -1: a procedure or a timer
}

// pace is what a division found.
type pace struct{ any, fast bool }

func askChatter(m *Model) []Finding {
	if !m.asksRates() {
		return nil
	}
	found := m.askTurns(false)
	if m.subject.Start != nil || !slices.ContainsFunc(found, m.doubtful) {
		return found
	}
	s := m.subject
	s.Declared.Goal, s.Declared.Always = nil, nil // no task changes by what these read
	x := newModel(s, m.spaceOf)
	x.effort = m.effort
	found = x.askTurns(true)
	m.tired, m.origins = x.tired, x.origins
	return found
}

// askTurns returns the findings about all turns; if it searches, without those of which a search shows that they are
// slow.
func (m *Model) askTurns(searches bool) []Finding {
	g, why := m.turnsAmong(nil) // wherever signals go
	if g.left == len(g.nodes) && (why != "" || g.findTurns().found != nil) {
		g, why = m.turnsAmong(m.axes())
	}
	if searches {
		m.times, m.steps = true, nil
		if why != "" && g.left == len(g.nodes) && !m.restarts(none) { // no run comes to the error
			why = ""
		}
	}
	if why != "" {
		if found := m.slowTurns(); found != nil {
			return found
		}
		f := Finding{Verdict: Undecided, Text: "not concluded whether tasks take turns: " + why,
			Advice: "reduce the limits of signals and the free conditions"}
		if g.unsettled != nil {
			f.Advice = flown.Remedy(g.unsettled)
			f.fault = &fault{"tasks take turns without end: " + untimed(g.unsettled), f.Advice, stopsBy(g.unsettled)}
		}
		return []Finding{f}
	}
	t := g.findTurns()
	found := t.findings()
	if searches {
		t, found = t.withoutSlow(found)
	}
	if len(found) == 0 {
		found = []Finding{{Verdict: Proved, Text: "no two tasks take turns on a signal"}}
	}
	for i := range found {
		if found[i].Verdict == Proved {
			found[i].Assumes = t.assumptions()
		}
	}
	return found
}

// turnsAmong explores the graph of turns with some axes; why tells why not all of it was seen, or "".
func (m *Model) turnsAmong(axes []axis) (g *graph, why string) {
	g = m.newGraph(m.lazy(), axes, mergeEqual)
	g.turns = true
	return g, g.explore()
}

// findings returns those about the turns that were found.
func (t *turns) findings() []Finding {
	var found []Finding
	for _, x := range t.distinct() {
		found = append(found, t.finding(x))
	}
	return found
}

// findTurns finds the turns in a graph.
func (x *graph) findTurns() (t *turns) {
	t = &turns{graph: x, divided: map[string]pace{}}
	all := make([]int, len(t.nodes))
	for n := range all {
		all[n] = n
	}
	t.divide(all, true)
	return t
}

// divide finds the turns among some nodes.
func (t *turns) divide(nodes []int, timers bool) (p pace) {
	key := fmt.Sprint(timers, nodes)
	if p, known := t.divided[key]; known {
		return p
	}
	use := func(e edge) bool { return timers || e.wait < 0 }
	components(len(t.nodes), nodes, t.successors(use), func(part []int) {
		slices.Sort(part)
		inside := map[int]bool{}
		for _, n := range part {
			inside[n] = true
		}
		use := func(e edge) bool { return inside[e.to] && use(e) }
		if !t.switches(part, use) {
			return
		}
		x := turn{crossings: t.measure(part, use), cut: len(t.divided) > maxDivisions}
		if x.cut {
			x.period = 0
		}
		var inner pace
		for _, part := range t.parts(part, x.crossings) {
			if !x.cut {
				q := t.divide(part, timers)
				inner.any, inner.fast = inner.any || q.any, inner.fast || q.fast
			}
		}
		if x.timed && !x.cut {
			q := t.divide(part, false)
			inner.any, inner.fast = inner.any || q.any, inner.fast || q.fast
		}
		fast := x.period < t.m.subject.Declared.Period
		if fast && !inner.fast || !inner.any {
			x.loop = t.loop(part, use)
			t.found = append(t.found, x)
		}
		p.any, p.fast = true, p.fast || fast || inner.fast
	})
	t.divided[key] = p
	return p
}

// parts returns the nodes on both sides of the lowest and of the highest cut of each axis that edges of a part cross.
func (t *turns) parts(part []int, x crossings) [][]int {
	var all [][]int
	for i := range t.axes {
		if x.first[i] < 0 {
			continue
		}
		for _, k := range []int{x.first[i], x.last[i]} {
			below := func(n int) bool { return t.nodes[n].cells[i].low <= k }
			above := func(n int) bool { return !below(n) }
			all = append(all, slices.DeleteFunc(slices.Clone(part), above), slices.DeleteFunc(slices.Clone(part), below))
		}
	}
	return all
}

// measure returns what the edges of a part cross, and how long a turn takes that crosses it all.
func (t *turns) measure(part []int, use func(edge) bool) crossings {
	x := crossings{first: slices.Repeat([]int{-1}, len(t.axes)), last: slices.Repeat([]int{-1}, len(t.axes)), axis: -1}
	wait := math.Inf(1)
	for _, n := range part {
		for _, e := range t.nodes[n].next {
			if !use(e) {
				continue
			}
			if e.wait >= 0 {
				x.timed, wait = true, min(wait, e.wait)
			}
			for i := range t.axes {
				from, to := t.nodes[n].cells[i].low, t.nodes[e.to].cells[i].low
				if low, high := min(from, to), max(from, to); low < high && t.axes[i].motion == steady {
					if x.first[i] < 0 || low < x.first[i] {
						x.first[i] = low
					}
					x.last[i] = max(x.last[i], high-1)
				}
			}
		}
	}
	if x.timed {
		x.period = wait
	}
	for i := range t.axes {
		if x.first[i] < 0 {
			continue
		}
		if period := t.crossing(part, i, x.first[i], x.last[i]); period > x.period || x.axis < 0 && !x.timed {
			x.axis, x.period = i, period
		}
	}
	return x
}

// crossing returns the minimum time [s] from one cut of an axis up to another one and back.
func (t *turns) crossing(part []int, i, first, last int) (time float64) {
	a := &t.axes[i]
	for cell := first + 1; cell <= last; cell++ {
		low, high := a.bounds(cell)
		if length := high - low; length > 0 {
			up, down := 0.0, 0.0
			for _, n := range part {
				if t.nodes[n].cells[i].low == cell {
					up, down = max(up, t.nodes[n].rates[i].High), max(down, -t.nodes[n].rates[i].Low)
				}
			}
			time += length/up + length/down
		}
	}
	return time
}

// switches reports whether the active actions change on an edge of a part: then also on a closed walk, for a part is
// strongly connected.
func (t *turns) switches(part []int, use func(edge) bool) bool {
	return slices.ContainsFunc(part, func(n int) bool {
		return slices.ContainsFunc(t.nodes[n].next, func(e edge) bool {
			return use(e) && !slices.Equal(t.actives(n), t.actives(e.to))
		})
	})
}

// loop returns the shortest closed walk in a part on which the active actions change.
func (t *turns) loop(part []int, use func(edge) bool) []int {
	var shortest []int
	for _, n := range part {
		for _, e := range t.nodes[n].next {
			if !use(e) || slices.Equal(t.actives(n), t.actives(e.to)) {
				continue
			}
			walk := path([]int{e.to}, t.successors(use),
				func(to int) bool { return to == n })
			if shortest == nil || len(walk) < len(shortest) {
				shortest = walk
			}
			if len(shortest) == 2 {
				return shortest
			}
		}
	}
	return shortest
}

// actives returns the active actions of a node.
func (t *turns) actives(n int) []bt.Task {
	return t.plan[t.nodes[n].state].active
}

// tasks returns the actions that take turns on a closed walk, in the order in which they are active from the lowest
// node on.
func (t *turns) tasks(x *turn) []bt.Task {
	if x.axis >= 0 {
		lowest := 0
		cell := func(k int) int { return t.nodes[x.loop[k]].cells[x.axis].low }
		for k := range x.loop {
			if cell(k) < cell(lowest) {
				lowest = k
			}
		}
		x.loop = slices.Concat(x.loop[lowest:], x.loop[:lowest])
	}
	count := map[bt.Task]int{}
	var list []bt.Task
	for _, n := range x.loop {
		for _, a := range t.actives(n) {
			if count[a]++; count[a] == 1 {
				list = append(list, a)
			}
		}
	}
	return slices.DeleteFunc(list, func(a bt.Task) bool { return count[a] == len(x.loop) })
}

// distinct returns the turns, of those with the same tasks only the fastest.
func (t *turns) distinct() []turn {
	var list []turn
	for _, x := range t.found {
		same := func(y turn) bool { return slices.Equal(t.tasks(&x), t.tasks(&y)) }
		switch i := slices.IndexFunc(list, same); {
		case i < 0:
			list = append(list, x)
		case x.period < list[i].period:
			list[i] = x
		}
	}
	return list
}

// finding describes a turn.
func (t *turns) finding(x turn) Finding {
	m := t.m
	f := Finding{Tasks: t.tasks(&x)}
	names, on := m.tree.Names(f.Tasks), []string(nil)
	strange, advice := "", ""
	for i := range t.axes {
		unknown := func(n int) bool { return t.nodes[n].rates[i] == anyRate }
		switch {
		case (t.axes[i].motion == wild || slices.ContainsFunc(x.loop, unknown)) && t.changes(x.loop, i):
			strange = t.axes[i].name
			advice = "declare its `effects`, or the ranges of the states that it depends on; a slot: compare what it is " +
				"written from"
			if a := &t.axes[i]; a.terms == nil && a.asks[0].Relation != nil {
				advice = "the relation is not linear: compare an output of the vehicle instead, and declare its `effects`"
			}
			on = append(on, strange)
		case x.first[i] >= 0:
			on = append(on, t.axes[i].name)
		}
	}
	who, turns := strings.Join(names, " and ")+" take turns", " on "
	if len(names) == 1 { // with no task
		who, turns = names[0]+" is switched on and off", " by "
	}
	if on != nil {
		f.About = on[0]
		who += turns + strings.Join(on, " and ")
	}
	least := m.subject.Declared.Period
	if x.period >= least {
		f.Verdict, f.Text = Proved, fmt.Sprintf("%s no faster than every %.3g s", who, x.period)
		return f
	}
	f.Where, f.More = t.regions(x.loop)
	f.fault = &fault{fmt.Sprintf("%s faster than every %.3g s", who, least), "give the conditions hysteresis",
		m.alternate(f.Tasks, least)}
	switch period, ok := t.orbit(x.loop); {
	case x.cut:
		f.Text = "not concluded whether " + who + ": there are too many possible turns"
		f.Advice = "declare effects of fewer tasks"
	case strange != "":
		f.Text = fmt.Sprintf("not concluded whether %s: it is not known how tasks change %s", who, strange)
		f.Advice = advice
	case x.timed:
		f.Period = x.period
		f.Text = fmt.Sprintf("not concluded whether %s faster than every %.3g s: procedures or timers end on the way, after"+
			" %.3g s or more", who, least, x.period)
		f.Advice = "declare a shorter `period`"
	case !ok || period >= least:
		f.Text = fmt.Sprintf("not concluded whether %s faster than every %.3g s: no walk round its limits is known", who,
			least)
		f.Advice = "declare narrower effects, or a shorter `period`"
	default:
		t.refute(&f, x, who, period, len(on) == 1)
	}
	return f
}

// refute completes the finding of a turn that is known to be possible.
func (t *turns) refute(f *Finding, x turn, who string, period float64, single bool) {
	least := t.m.subject.Declared.Period
	where := ""
	if single {
		cuts := t.axes[x.axis].cuts
		low, high := cuts[x.first[x.axis]].limit, cuts[x.last[x.axis]].limit
		if where = fmt.Sprintf(" between %s and %s", flown.Figure(low), flown.Figure(high)); low == high {
			f.Text = fmt.Sprintf("%s at %s without end: one raises it above the limit, the other lowers it below", who,
				flown.Figure(low))
			if len(f.Tasks) == 1 {
				f.Text = fmt.Sprintf("%s at %s without end: it crosses the limit in one direction with the task, "+
					"in the other without", who, flown.Figure(low))
			}
			f.Advice = "give the condition hysteresis: an `off` limit apart from `on`"
		} else if period > 0 {
			f.Advice = fmt.Sprintf("use a margin of %s, or declare a shorter `period`",
				flown.Figure(roundUp((high-low)*least/period)))
		}
	}
	switch {
	case f.Text != "":
	case period == 0:
		f.Text = who + where + ", without a minimum period"
		f.Advice = "give the conditions hysteresis"
		if t.unbounded(x) {
			f.Text += ": their effects have no maximum rate"
			f.Advice = "declare the maximum rates of these effects, as in [-2e-5, 1e-5]: no margin is large enough for any rate"
		}
	default:
		f.Text = fmt.Sprintf("%s%s, as fast as every %.3g s; the minimum is %.3g s", who, where, period, least)
		if f.Advice == "" {
			f.Advice = "use larger margins, or declare a shorter `period`"
		}
	}
	f.Period, f.fault.text, f.fault.advice = period, f.Text, f.Advice
	stem := t.pathTo(x.loop[0])
	round := t.path(append(slices.Clone(x.loop), x.loop[0])...)[1:]
	if f.Script = t.script(slices.Concat(stem, round, round)); f.Script == "" {
		f.Text = "not concluded whether " + f.Text + ": the engine does not confirm it from the start"
		return
	}
	f.Verdict = Refuted
}

// unbounded reports whether some axis that a turn crosses has no maximum rate.
func (t *turns) unbounded(x turn) bool {
	return slices.ContainsFunc(x.loop, func(n int) bool {
		for i, r := range t.nodes[n].rates {
			if x.first[i] >= 0 && (math.IsInf(r.Low, 0) || math.IsInf(r.High, 0)) {
				return true
			}
		}
		return false
	})
}

// roundUp keeps two digits.
func roundUp(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Ceil(x/unit-1e-9) * unit
}

// assumptions are those of a proof that tasks do not take turns: all other inputs stay as they are. Tasks do not change
// whether sources are known.
func (t *turns) assumptions() []Assumption {
	var list []Assumption
	var calms []string
	for i := range t.axes {
		if t.axes[i].motion == calm && t.axes[i].leaf == nil && !t.m.ofSources(t.axes[i].names()) {
			calms = append(calms, t.axes[i].name)
		}
	}
	if rests := slices.Sorted(maps.Keys(t.rests)); rests != nil {
		list = append(list, Assumption{Text: strings.Join(rests, ", ") + either(rests, " does", " do") +
			" not change while no active task has an effect on " + either(rests, "it", "them")})
	}
	if calms != nil {
		list = append(list, Assumption{Text: "no task changes " + strings.Join(calms, ", ")})
	}
	return list
}

// orbit returns the minimum period of an orbit along a closed walk [s]; ok is false if there is none. Between two nodes
// the signals of the axes that the walk crosses move straight on for some time, at rates that the node allows, and stay
// in its cells. The unknowns of the linear program are these times, the displacements and the first position.
func (t *turns) orbit(loop []int) (period float64, ok bool) {
	crossed, signals := t.crossedBy(loop)
	if slices.ContainsFunc(crossed, func(i int) bool { return t.axes[i].motion != steady }) {
		return 0, false
	}
	p := &linear{}
	at := make([]sum, len(signals))
	start := make([]sum, len(signals))
	for j := range signals {
		at[j] = sum{p.unknown(0): 1, p.unknown(0): -1}
		start[j] = at[j]
	}
	for k, n := range loop {
		next, time := loop[(k+1)%len(loop)], p.unknown(1)
		for j, signal := range signals {
			at[j] = at[j].plus(p.displacement(t.rate(n, signal), time), 1)
		}
		for _, i := range crossed {
			value := sum{}
			for _, term := range t.axes[i].terms {
				value = value.plus(at[slices.Index(signals, term.Signal)], term.Factor)
			}
			from, to := t.nodes[n].cells[i].low, t.nodes[next].cells[i].low
			low, high := t.axes[i].bounds(from)
			switch {
			case to > from:
				low = high
			case to < from:
				high = low
			}
			p.between(value, low, high)
		}
	}
	for j := range signals {
		p.between(at[j].plus(start[j], -1), 0, 0)
	}
	return p.minimum()
}

// changes reports whether a closed walk leads through several cells of an axis.
func (t *turns) changes(loop []int, i int) bool {
	return slices.ContainsFunc(loop, func(n int) bool { return t.nodes[n].cells[i] != t.nodes[loop[0]].cells[i] })
}

// crossedBy returns the axes that a closed walk crosses, and their signals.
func (t *turns) crossedBy(loop []int) (crossed []int, signals []string) {
	for i, a := range t.axes {
		if !t.changes(loop, i) {
			continue
		}
		crossed = append(crossed, i)
		for _, term := range a.terms {
			if !slices.Contains(signals, term.Signal) {
				signals = append(signals, term.Signal)
			}
		}
	}
	return crossed, signals
}
