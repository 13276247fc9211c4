package verify

import (
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
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
	goal := m.subject.Declared.Goal
	switch {
	case m.moves(m.goal):
	case goal == nil || m.subject.Rates == nil:
		return nil
	default:
		return []Finding{{Verdict: NotAsked, Place: goal.Place,
			Text: "the goal is not moved at known rates alone, or is not linear: " + goal.Text,
			Advice: "declare `effects` on its signals, or the ranges of the states that they depend on; `canopy region`" +
				" flies from sampled starts"}}
	}
	x, why := m.newLiveness(m.goal)
	if why != "" {
		return []Finding{{Verdict: Undecided, Place: goal.Place,
			Text:   "not concluded whether the goal is reached: " + why,
			Advice: "reduce the limits of signals and the free conditions; `canopy monitor` judges runs"}}
	}
	x.solve()
	return x.findings()
}

// moves reports whether formulas depend on axes, and all these move with declared rates.
func (m *Model) moves(formulas ...*expr.Logic) bool {
	read := map[symbol]bool{}
	for _, l := range formulas {
		m.symbols(l, func(s symbol) { read[s] = true })
	}
	var motions []motion
	for i := range m.vocab.signals {
		if name := m.vocab.signals[i].name; read[symbol{inputBit, name}] {
			kind, _ := m.motion([]string{name}, true)
			motions = append(motions, kind)
		}
	}
	for _, v := range m.vocab.byFree {
		if l := m.vocab.inputs[v].relation; l != nil && read[symbol{inputFree, l.Key}] {
			if terms, _ := l.Linear(); terms != nil {
				kind, _ := m.motion(l.Relation.Names(), true)
				motions = append(motions, kind)
			}
		}
	}
	return motions != nil && !slices.ContainsFunc(motions, func(kind motion) bool { return kind != steady })
}

// liveness is the graph of all runs up to a goal, and from where it is reached.
type liveness struct {
	*graph
	firm bool // rates that are only known to be up or down may die out

	sure     []bool // by node: the goal is reached, even if rates die out
	reached  []bool // by node: the goal is reached if they do not
	mayReach []bool // by node: some way leads to the goal
	part     []int  // by node: the strongly connected part, -1 of the goal
	stuck    []bool // by part: it need not be left
}

// newLiveness explores a plan up to the goal.
func (m *Model) newLiveness(goal *expr.Logic) (x *liveness, why string) {
	g := m.newGraph(m.lazy(), m.axes(), mergeEqual)
	g.goals = []*expr.Logic{goal}
	return &liveness{graph: g}, g.explore()
}

// solve finds from where the goal is reached, and from where some way leads to it.
func (x *liveness) solve() {
	x.decide(true)
	x.sure = x.reached
	if x.infirm() != nil {
		x.decide(false)
	}
	x.mayReach = leading(len(x.nodes), x.successors(nil), func(n int) bool { return x.nodes[n].goal() })
}

// infirm returns the axes of which some rates are only known to be up or down.
func (x *liveness) infirm() []string {
	var names []string
	for i := range x.axes {
		if slices.ContainsFunc(x.nodes, func(s vertex) bool { return s.rates[i] != s.rates[i].Firm() }) {
			names = append(names, x.axes[i].name)
		}
	}
	return names
}

// decide finds from where the goal is reached: firm, also if rates that are only known to be up or down die out. It is
// not known of nodes without known successors: they are counted in. From where the goal need not be reached, it need
// not be whatever follows these.
func (x *liveness) decide(firm bool) {
	x.firm = firm
	x.part, x.reached, x.stuck = slices.Repeat([]int{-1}, len(x.nodes)), make([]bool, len(x.nodes)), nil
	var others []int
	for n := range x.nodes {
		if x.reached[n] = x.nodes[n].goal() || n >= x.left; !x.reached[n] {
			others = append(others, n)
		}
	}
	components(len(x.nodes), others, x.successors(func(e edge) bool { return !x.nodes[e.to].goal() }), x.judge)
}

// judge decides whether the goal is reached from a part.
func (x *liveness) judge(part []int) {
	number := len(x.stuck)
	for _, n := range part {
		x.part[n] = number
	}
	exits, good := false, true
	for _, n := range part {
		for _, e := range x.nodes[n].next {
			if x.part[e.to] != number {
				exits, good = true, good && x.reached[e.to]
			}
		}
	}
	stuck := !exits || !x.mustBeLeft(part)
	x.stuck = append(x.stuck, stuck)
	for _, n := range part {
		x.reached[n] = good && !stuck
	}
}

// mustBeLeft reports whether a part must be left: a procedure is under way that ends after some time and does not begin
// again in it, or a weighted sum of axes rises everywhere in it and is bounded.
func (x *liveness) mustBeLeft(part []int) bool {
	if x.expires(part) {
		return true
	}
	var rows [][]declare.Rate
	above, below := slices.Repeat([]bool{true}, len(x.axes)), slices.Repeat([]bool{true}, len(x.axes)) // is it bounded
	for _, n := range part {
		rates := slices.Clone(x.nodes[n].rates)
		for i, r := range rates {
			if x.firm {
				rates[i] = r.Firm()
			}
			k := x.nodes[n].cells[i]
			above[i] = above[i] && (k.high < len(x.axes[i].cuts) && x.locked(n, i, true) == "" || r.High <= 0)
			below[i] = below[i] && (k.low > 0 && x.locked(n, i, false) == "" || r.Low >= 0)
		}
		if !slices.ContainsFunc(rows, func(r []declare.Rate) bool { return slices.Equal(r, rates) }) {
			rows = append(rows, rates)
		}
	}
	return ranked(rows, above, below)
}

// expires reports whether some procedure with a duration is under way in all nodes of a part and does not begin in it.
func (x *liveness) expires(part []int) bool {
	inside := func(e edge) bool { return x.part[e.to] == x.part[part[0]] }
	return slices.ContainsFunc(x.m.leaves, func(l leaf) bool {
		return !slices.ContainsFunc(part, func(n int) bool {
			runs := slices.Contains(x.plan[x.nodes[n].state].under, l.task)
			return !runs || slices.ContainsFunc(x.nodes[n].next, func(e edge) bool {
				return inside(e) && slices.Contains(e.via.begun, l.task)
			})
		})
	})
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
	if len(rows) > maxRows {
		return false
	}
	// f = p - q with p, q >= 0: an unknown for each that may be positive, and its minimum contribution to each row.
	p, sums := &linear{}, make([]sum, len(rows))
	for k := range sums {
		sums[k] = sum{}
	}
	for i := range above {
		for _, c := range []struct {
			ok  bool
			add func(r declare.Rate) float64
		}{
			{above[i], func(r declare.Rate) float64 { return r.Low }},
			{below[i], func(r declare.Rate) float64 { return -r.High }},
		} {
			scale, rises := 0.0, false
			for _, r := range rows {
				scale, rises = max(scale, math.Abs(c.add(r[i]))), rises || c.add(r[i]) > 0
			}
			if !c.ok || !rises || math.IsInf(scale, 0) {
				continue
			}
			v := p.unknown(1)
			for k, r := range rows {
				sums[k][v] = c.add(r[i]) / scale
			}
		}
	}
	for _, s := range sums {
		p.between(s, 1, math.Inf(1))
	}
	f, ok := p.solution()
	return ok && !slices.ContainsFunc(f, func(x float64) bool { return x < 0 }) && // verify the result of the solver
		!slices.ContainsFunc(sums, func(s sum) bool { return !(s.of(f) > 0.5) })
}

// maxRows is the maximum number of different rates in one part.
const maxRows = 200

func (x *liveness) findings() []Finding {
	var sure, reached, never, open []int
	for _, n := range x.starts {
		switch {
		case x.sure[n]:
			sure = append(sure, n)
		case x.reached[n]:
			reached = append(reached, n)
		case x.mayReach[n]:
			open = append(open, n)
		default:
			never = append(never, n)
		}
	}
	if reached != nil && !slices.ContainsFunc(sure, func(n int) bool { return !x.nodes[n].goal() }) {
		sure, reached = nil, append(sure, reached...)
	}
	goal, at := x.m.subject.Declared.Goal.Text, x.m.subject.Declared.Goal.Place
	lost := ""
	if x.m.subject.Horizon > 0 {
		lost = ", if the run goes on for long enough"
	}
	if x.losesGoal() {
		lost += "; the plan may end there, and no task reacts if the goal is lost later"
	}
	var found []Finding
	for i, nodes := range [][]int{sure, reached} {
		f := Finding{Verdict: Proved, Place: at, Text: "the goal is reached from every state: " + goal}
		if len(nodes) < len(x.starts) {
			f.Text = "the goal is reached from some states: " + goal
			f.Where, f.More = x.regions(nodes)
		}
		f.Text, f.Assumes = f.Text+lost, x.settles()
		if i > 0 {
			x.assumeLasting(&f)
		}
		if len(nodes) > 0 {
			found = append(found, f)
		}
	}
	if len(never) > 0 {
		_, loop := x.lasso(never[0])
		f := Finding{Verdict: Refuted, Place: at, Text: "the goal is never reached: " + goal + "; " + x.doing(loop),
			Advice: "let a task lead from there to the goal, or declare other effects on the signals"}
		f.Where, f.More = x.regions(never)
		f.Script = x.script(x.path(never[0]))
		f.fault = declared(f.Text, x.m.subject.Declared.Goal.Reached().Text, f.Advice)
		found = append(found, f)
	}
	if len(open) > 0 {
		stem, loop := x.lasso(open[0])
		f := Finding{Verdict: Undecided, Place: at,
			Text:   "not concluded whether the goal is reached: " + goal + "; " + x.doing(loop),
			Advice: "let each turn gain more than it loses, or declare narrower rates; `canopy region` samples starts"}
		f.Where, f.More = x.regions(open)
		for range 2 {
			stem = append(stem, loop...)
		}
		f.Script = x.script(x.path(stem...))
		found = append(found, f)
	}
	return found
}

// settles returns the assumption on which what is proved rests where runs stop because the plan does not settle.
func (x *liveness) settles() []Assumption {
	if x.unsettled == nil {
		return nil
	}
	return []Assumption{Settles}
}

// assumeLasting states in a finding that it holds only if rates do not die out.
func (x *liveness) assumeLasting(f *Finding) {
	f.Assumes = append(f.Assumes, Assumption{Text: "the rates that are only known to be up or down do not die out: " +
		strings.Join(x.infirm(), ", ")})
	f.Advice = "declare minimum rates, as in [0.1, 2]"
}

// lasso returns a stem, from a node to one of a part that need not be left, and a loop there.
func (x *liveness) lasso(start int) (stem, loop []int) {
	stem = path([]int{start}, x.before(func(n int) bool { return !x.reached[n] }),
		func(n int) bool { return x.stuck[x.part[n]] })
	last := stem[len(stem)-1]
	inside := func(n int) bool { return x.part[n] == x.part[last] }
	for _, e := range x.nodes[last].next {
		if !inside(e.to) || e.to == last {
			continue
		}
		back := path([]int{e.to}, x.before(inside), func(n int) bool { return n == last })
		if loop == nil || len(back) < len(loop) {
			loop = back
		}
	}
	if loop == nil {
		loop = []int{last}
	}
	return stem, loop
}

// before returns the successors before the goal that are usable.
func (x *liveness) before(use func(n int) bool) successors {
	return x.successors(func(e edge) bool { return !x.nodes[e.to].goal() && use(e.to) })
}

// doing describes a closed walk that may repeat for ever.
func (x *liveness) doing(loop []int) string {
	var names []string
	for _, n := range loop {
		for _, a := range x.plan[x.nodes[n].state].active {
			if name := x.m.tree.Name(a); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, n := range loop {
		if l := x.lock(n); l.signal != "" && len(x.nodes[n].next) > 0 {
			return l.String()
		}
	}
	switch {
	case path(loop[:1], x.successors(nil), func(n int) bool { return x.reacts(x.nodes[n].state) }) == nil:
		return "the plan has ended, and no task reacts any more"
	case len(names) == 0:
		return "no task is active, and no signal has to change"
	case len(names) == 1:
		return names[0] + " may run for ever"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " may take turns for ever"
}

// losesGoal reports whether the plan may have ended where the goal is reached, and no task reacts any more where it is
// lost again.
func (x *liveness) losesGoal() bool {
	for n := range x.nodes {
		if !x.nodes[n].goal() {
			continue
		}
		lost := false
		reacting := path([]int{x.nodes[n].state}, func(s int) (next []int) {
			for _, p := range x.transitions(s) {
				lost = lost || p.label > 0
				next = append(next, p.to)
			}
			return next
		}, x.reacts)
		if reacting == nil && lost {
			return true
		}
	}
	return false
}

// reacts reports whether a task is active in a state of the plan, or may become so because the plan has not ended.
func (x *liveness) reacts(state int) bool {
	return len(x.plan[state].active) > 0 || !x.plan[state].ended
}
