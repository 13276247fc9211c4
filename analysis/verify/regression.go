package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// Regression: a plan is a list of rules, condition -> action. Does the action of each rule lead to the condition of an
// earlier one and keep its own until then (M. Colledanchise and P. Ögren, How Behavior Trees Generalize the
// Teleo-Reactive Paradigm and And-Or-Trees, 2016, Definition 4)? As long as a rule is the first that holds, the plan
// executes its action alone, so the plan's own graph gives the answer: the goal of each rule is an earlier one, and
// the way ends where a later one, or none, is the first that holds.
//
// The property is sufficient for the goal to be reached and not necessary. It is refuted only of a mission with a goal,
// by its own flight.

// program is a plan that is a list of rules.
type program struct {
	*liveness
	rules []plan.Rule
}

func askRegression(m *Model) []Finding {
	rules, err := plan.Rules(m.tree, m.tree.Root())
	if err != nil || !m.moves(m.conditions(rules)...) {
		return nil
	}
	x, why := m.newProgram(rules)
	if why != "" {
		return []Finding{{Verdict: Undecided, Text: "not concluded whether each rule leads to an earlier one: " + why,
			Advice: "reduce the limits of signals and the free conditions; `canopy region --regression` samples starts"}}
	}
	const leads = "each of these leads to an earlier rule's condition and keeps its own until then: "
	proved := Finding{Verdict: Proved, Text: leads, Assumes: x.settles()}
	assumed := Finding{Verdict: Proved, Text: leads, Assumes: x.settles()}
	var found []Finding
	for i := 1; i < len(rules); i++ {
		y := x.rule(i)
		f, doubts := x.doubt(y, i)
		switch {
		case len(x.nodesOf(i)) == 0:
			proved.add(rules[i].Task, x.title(i)+", because it is never the first that holds")
		case doubts:
			found = append(found, f)
		case slices.ContainsFunc(x.nodesOf(i), func(n int) bool { return !y.sure[n] }):
			assumed.add(rules[i].Task, x.title(i))
		default:
			proved.add(rules[i].Task, x.title(i))
		}
	}
	x.assumeLasting(&assumed)
	return slices.DeleteFunc(append([]Finding{proved, assumed}, found...), func(f Finding) bool { return f.Tasks == nil })
}

// add adds a task to a finding about several.
func (f *Finding) add(t bt.Task, text string) {
	if f.Tasks != nil {
		f.Text += "; "
	}
	f.Tasks, f.Text = append(f.Tasks, t), f.Text+text
}

// first returns the first rule that holds at a node.
func (x *program) first(n int) int { return x.nodes[n].label }

// nodesOf returns the nodes in which a rule is the first that holds.
func (x *program) nodesOf(i int) []int {
	var nodes []int
	for n := range x.nodes {
		if x.first(n) == i {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// conditions returns the formulas of all rules' conditions.
func (m *Model) conditions(rules []plan.Rule) []*expr.Logic {
	var all []*expr.Logic
	for _, r := range rules {
		for _, c := range r.Conditions {
			l := &m.leaves[m.leafOf[c]]
			all = append(all, l.on, l.off)
		}
	}
	return all
}

func (m *Model) newProgram(rules []plan.Rule) (x *program, why string) {
	x = &program{rules: rules}
	var goals []*expr.Logic
	for _, r := range rules {
		all := expr.Logic{Op: expr.LogicTruth, Value: true}
		for _, c := range r.Conditions {
			holds := expr.Logic{Op: expr.LogicProposition, Text: m.tree.Name(c)}
			all = expr.Logic{Op: expr.LogicAnd, Args: []expr.Logic{all, holds}}
		}
		goals = append(goals, &all)
	}
	g := m.newGraph(m.lazy(), m.axes(), mergeEqual)
	g.goals, g.beyond, g.enough = goals, true, x.doubted // a goal that is lost leads to any rule
	x.liveness = &liveness{graph: g}
	return x, g.explore()
}

// doubted reports whether each rule need not lead to an earlier one, according to a part of the graph. Nothing else
// can follow from all of it.
func (x *program) doubted(g *graph) bool {
	x.liveness = &liveness{graph: g}
	for i := 1; i < len(x.rules); i++ {
		y := x.rule(i)
		if !slices.ContainsFunc(x.nodesOf(i), func(n int) bool { return !y.reached[n] }) {
			return false
		}
	}
	return true
}

// rule returns the graph of a rule, with the same nodes: the ways, while its action is active, to an earlier rule.
func (x *program) rule(i int) *liveness {
	g := *x.graph
	g.nodes = slices.Clone(x.nodes)
	y := liveness{graph: &g}
	for n := range y.nodes {
		if y.nodes[n].label = btoi(x.first(n) >= i); !x.executes(n, i) {
			y.nodes[n].next = nil
		}
	}
	y.solve()
	return &y
}

// executes reports whether a rule's action is active at a node. The rule is then the first that holds, or earlier ones
// that hold have nothing to do.
func (x *program) executes(n, i int) bool {
	return x.rules[i].Action >= 0 && slices.Contains(x.plan[x.nodes[n].state].active, x.rules[i].Action)
}

// doubt returns a finding if a rule need not lead to an earlier one from somewhere; ok is false if it
// always does.
func (x *program) doubt(y *liveness, i int) (f Finding, ok bool) {
	open := slices.DeleteFunc(x.nodesOf(i), func(n int) bool { return y.reached[n] })
	if len(open) == 0 {
		return Finding{}, false
	}
	stem := path(x.starts, x.successors(nil),
		func(n int) bool { return x.first(n) == i && !y.reached[n] })
	on, loop := y.lasso(stem[len(stem)-1])
	stem = append(stem, on[1:]...)
	last, why := stem[len(stem)-1], ""
	switch {
	case x.executes(last, i):
		why = y.doing(loop)
		for range 2 {
			stem = append(stem, loop...)
		}
	case x.first(last) == i:
		why = "its action is not active"
	default:
		why = "its own condition may fail before an earlier one holds"
	}
	f = Finding{Tasks: []bt.Task{x.rules[i].Task}, Verdict: Undecided,
		Text: "cannot be concluded from the rules: " + x.title(i) + "; " + why,
		Advice: "this property is sufficient for the goal, not necessary: see `reach`; `canopy region --regression` samples" +
			" starts",
		Script: x.script(x.path(stem...))}
	if x.m.subject.Declared.Goal != nil { // else the rules need not lead anywhere
		f.fault = &fault{x.title(i) + " does not lead to an earlier rule's condition", f.Advice, x.leaves(i)}
	}
	f.Where, f.More = x.regions(open)
	f.More = f.More || x.left < len(x.nodes)
	return f, true
}

// leaves returns the evidence that after a rule a later one, or none, is the first that holds, or that the run ends.
func (x *program) leaves(i int) evidence {
	return func(s *declare.Shown) (at float64, ok bool) {
		last := -1
		at, ok = x.m.replay(s, nil, func(now view) bool {
			before := last
			last = slices.IndexFunc(x.rules, func(r plan.Rule) bool {
				return !slices.ContainsFunc(r.Conditions, func(c bt.Task) bool { return now.Status(c) != bt.Success })
			})
			return before == i && (last < 0 || last > i)
		})
		if ok {
			return at, true
		}
		return math.NaN(), last == i && s.Stopped == nil
	}
}

// title names a rule, counted from 1.
func (x *program) title(i int) string {
	r := x.rules[i]
	condition, action := cmp.Or(strings.Join(x.m.tree.Names(r.Conditions), " and "), "true"), "nothing"
	if r.Action >= 0 {
		action = x.m.tree.Name(r.Action)
	}
	return fmt.Sprintf("rule %d, %s -> %s", i+1, condition, action)
}
