package backchain

import (
	"slices"

	"canopy/bt"
	"canopy/document/plan"
	"canopy/snapshot"
)

// Coverage tells from which states of the world a plan reaches its goal.
type Coverage struct {
	Facts    int      // that the world has
	Solvable int      // states from which some order of actions reaches the goal
	Reached  int      // of these, those from which the plan does
	Lost     []string // the conditions that hold in the first of the others; nil if there is none
}

// state is a state of the world: a bit for each condition, in the order of World.names.
type state uint32

// maxFacts bounds the worlds that are checked.
const maxFacts = 14

// Check runs a plan that was built from the world in the tree engine, from every state of the world: an action that
// runs ends with Success, and what it brings about then holds. It reports false, without checking, if the world has
// more than 14 conditions.
func (w *World) Check(p *plan.Plan, goal []plan.Fact) (c Coverage, ok bool) {
	c.Facts = len(w.names)
	if c.Facts > maxFacts {
		return c, false
	}
	solvable := w.solvable(goal)
	for s := range state(len(solvable)) {
		if !solvable[s] {
			continue
		}
		c.Solvable++
		if w.fly(p, s, goal, true) {
			c.Reached++
		} else if c.Lost == nil {
			c.Lost = w.facts(s)
		}
	}
	return c, true
}

// facts lists the conditions that hold in a state.
func (w *World) facts(s state) []string {
	facts := []string{}
	for i, name := range w.names {
		if s>>i&1 == 1 {
			facts = append(facts, name)
		}
	}
	return facts
}

// holds reports whether all facts of a list hold in a state.
func (w *World) holds(facts []plan.Fact, s state) bool {
	return !slices.ContainsFunc(facts, func(f plan.Fact) bool {
		return s>>slices.Index(w.names, f.Name)&1 == 1 == f.Not
	})
}

// after returns the state after an action.
func (w *World) after(a *action, s state) state {
	for _, f := range a.post {
		bit := state(1) << slices.Index(w.names, f.Name)
		if s |= bit; f.Not {
			s &^= bit
		}
	}
	return s
}

// solvable tells for each state whether some order of actions leads to the goal.
func (w *World) solvable(goal []plan.Fact) []bool {
	all := make([]bool, 1<<len(w.names))
	for changed := true; changed; {
		changed = false
		for s := range all {
			if !all[s] && w.leads(goal, state(s), all) {
				all[s], changed = true, true
			}
		}
	}
	return all
}

// leads reports whether the goal holds in a state or an action leads from there to one that is marked.
func (w *World) leads(goal []plan.Fact, s state, marked []bool) bool {
	return w.holds(goal, s) || slices.ContainsFunc(w.actions, func(a action) bool {
		return w.holds(a.pre, s) && marked[w.after(&a, s)]
	})
}

// fly runs a plan from a state and reports whether it reaches the goal. If actions end, they end with Success when what
// they bring about holds; else they run until they are deactivated.
func (w *World) fly(p *plan.Plan, s state, goal []plan.Fact, end bool) bool {
	e := bt.NewEngine(p.Tree, w.tell(p, s), 0)
	seen := map[string]bool{}
	var in []bt.Input
	for {
		if _, err := e.Settle(in); err != nil {
			panic("backchain: a tree does not settle")
		}
		if w.holds(goal, s) {
			return true
		}
		i := slices.IndexFunc(p.Leaves, func(l plan.Leaf) bool { return e.Status(l.Task) == bt.Running })
		key := string(snapshot.Save([]byte{byte(s), byte(s >> 8)}, e))
		if i < 0 || seen[key] {
			return false
		}
		seen[key] = true
		a := slices.IndexFunc(w.actions, func(a action) bool { return a.name == p.Leaves[i].ID })
		if !w.holds(w.actions[a].pre, s) {
			panic("backchain: an action runs without what it needs")
		}
		s = w.after(&w.actions[a], s)
		in = w.tell(p, s)
		if end {
			in = append(in, bt.End(p.Leaves[i].Task, bt.Success))
		}
	}
}

// tell returns the truth values of a plan's conditions in a state.
func (w *World) tell(p *plan.Plan, s state) []bt.Input {
	var in []bt.Input
	for _, l := range p.Leaves {
		if p.Tree.Kind(l.Task) == bt.Condition {
			in = append(in, bt.Set(l.Task, s>>slices.Index(w.names, l.ID)&1 == 1))
		}
	}
	return in
}
