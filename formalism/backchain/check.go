package backchain

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/snapshot"
)

// Coverage counts the states of the world from which a plan reaches its goal.
type Coverage struct {
	Facts    int      // that the world has
	Solvable int      // states from which some order of actions reaches the goal
	Flown    int      // of these, those from which the plan was flown: all if Why is empty
	Reached  int      // of these, those from which the plan reaches the goal
	Lost     []string // the conditions that hold in the first of the others; nil if there is none
	Why      string   // the reason why the plan was not flown from all of them
}

// state is a state of the world: a bit for each condition, in the order of World.names.
type state uint32

// maxFacts bounds the worlds that are checked.
const maxFacts = 14

// Check runs a plan that was built from the world in the tree engine, from every state of the world: an action that
// runs ends with Success, and its effects then hold. The budget is that of each flight; a flight that exceeds it is the
// last. A move is an action. If the world has more than 14 conditions, no state is flown from.
func (w *World) Check(p *plan.Plan, goal []plan.Fact, budget explore.Budget) Coverage {
	c := Coverage{Facts: len(w.names)}
	if c.Facts > maxFacts {
		c.Why = fmt.Sprintf("the world has %d conditions, more than %d", c.Facts, maxFacts)
		return c
	}
	for s, solvable := range w.solvable(goal) {
		if !solvable {
			continue
		}
		c.Solvable++
		if c.Why != "" {
			continue
		}
		var reached bool
		if reached, c.Why = w.fly(p, state(s), goal, true, budget); c.Why != "" {
			continue
		}
		if c.Flown++; reached {
			c.Reached++
		} else if c.Lost == nil {
			c.Lost = w.facts(state(s))
		}
	}
	return c
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

// solvable determines for each state whether some order of actions leads to the goal, by a search backwards from the
// goal.
func (w *World) solvable(goal []plan.Fact) []bool {
	all := make([]bool, 1<<len(w.names))
	before := make([][]state, len(all))
	search := explore.New[state, struct{}](explore.Budget{})
	for i := range all {
		s := state(i)
		if w.holds(goal, s) {
			search.Arrive(-1, s, struct{}{})
		}
		for k := range w.actions {
			if a := &w.actions[k]; w.holds(a.pre, s) {
				before[w.after(a, s)] = append(before[w.after(a, s)], s)
			}
		}
	}
	for n := range search.Leave() {
		s := search.Key(n)
		all[s] = true
		for _, from := range before[s] {
			search.Arrive(n, from, struct{}{})
		}
	}
	return all
}

// fly runs a plan from a state and reports whether it reaches the goal. If actions end, they end with Success when
// their effects hold; else they run until they are deactivated. Why is not empty if the budget is exceeded before.
func (w *World) fly(p *plan.Plan, s state, goal []plan.Fact, end bool, b explore.Budget) (reached bool, why string) {
	known := slices.Repeat([]executive.Known{executive.Unknown}, len(p.Leaves))
	e := bt.NewEngine(p.Tree, w.tell(p, known, nil, s, -1), 0)
	search := explore.New[string, struct{}](b)
	var in []bt.Input
	for search.Spend() {
		instant, err := e.Settle(in)
		for _, c := range instant.Commands {
			known[slices.IndexFunc(p.Leaves, func(l plan.Leaf) bool { return l.Task == c.Task })].Start(c.Exit, false)
		}
		if err != nil {
			panic("backchain: a tree does not settle")
		}
		if w.holds(goal, s) {
			return true, ""
		}
		i := slices.IndexFunc(p.Leaves, func(l plan.Leaf) bool { return e.Status(l.Task) == bt.Running })
		if i < 0 {
			return false, ""
		}
		key := string(snapshot.Save([]byte{byte(s), byte(s >> 8)}, e))
		if _, fresh := search.Arrive(-1, key, struct{}{}); !fresh || search.Short() != "" {
			break
		}
		a := slices.IndexFunc(w.actions, func(a action) bool { return a.name == p.Leaves[i].ID })
		if !w.holds(w.actions[a].pre, s) {
			panic("backchain: an action runs without what it needs")
		}
		s = w.after(&w.actions[a], s)
		if !end {
			i = -1
		}
		in = w.tell(p, known, e, s, i)
	}
	return false, search.Short()
}

// tell returns the inputs of a plan's leaves in a state: the truth of conditions, and the end of the action that is
// done, -1 for none. Without an engine nothing has run.
func (w *World) tell(p *plan.Plan, known []executive.Known, e *bt.Engine, s state, done int) []bt.Input {
	var in []bt.Input
	for i, l := range p.Leaves {
		status := bt.Accept
		if e != nil {
			status = e.Status(l.Task)
		}
		in = known[i].AppendInputs(in, l.Task, !p.Tree.Kind(l.Task).Acts(), status, func(f executive.Criterion) bool {
			switch f {
			case executive.On:
				return s>>slices.Index(w.names, l.ID)&1 == 1
			case executive.Off:
				return true
			case executive.Done:
				return i == done
			default:
				return false
			}
		})
	}
	return in
}
