package region

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/simulated"
)

// Regression is a question about a teleo-reactive list of rules, condition -> action: where does the action of the
// first rule that holds lead if it is executed without end (Definitions 1 and 4)?
type Regression struct {
	space *Space
	name  string
	rules []rule
	probe *mission.Mission // one in which all conditions are watched
}

// rule is one rule.
type rule struct {
	watch   int              // index of the rule's condition among those that are watched; -1: it always holds
	mission *mission.Mission // executes its action alone, and all conditions; nil: it has no action
}

// NewRegression takes a task's children as rules. It returns an error that wraps [plan.ErrRules] if they are not.
func NewRegression(s *Space, m *mission.Mission, task bt.Task) (*Regression, error) {
	tree := m.Plan.Tree
	rules, err := plan.Rules(tree, task)
	if err != nil {
		return nil, err
	}
	r := &Regression{space: s, name: "rules of " + tree.Name(task)}
	var watched, actions []piece
	for _, k := range rules {
		var when []piece
		for _, c := range k.Conditions {
			when = append(when, cut(m.Plan, c))
		}
		rule, action := rule{watch: -1}, piece{}
		if when != nil {
			rule.watch = len(watched)
			watched = append(watched, join(bt.ForceSuccess, join(bt.ReactiveSequence, when...)))
		}
		if k.Action >= 0 {
			action = cut(m.Plan, k.Action)
		}
		r.rules, actions = append(r.rules, rule), append(actions, action)
	}
	for i, a := range actions {
		if a.node == nil {
			continue
		}
		n, err := join(bt.ReactiveParallel, append(slices.Clone(watched), a)...).fly(m)
		if err != nil {
			return nil, err
		}
		r.rules[i].mission, r.probe = n, n
	}
	return r, nil
}

// Name implements [Question].
func (r *Regression) Name() string { return r.name }

// Classes implements [Question].
func (r *Regression) Classes() []string {
	return []string{"goal", "no rule holds", "leads on, its condition kept", "leads on, its condition violated",
		"does not lead on", "the run broke off"}
}

// condition returns the task that represents a rule's condition.
func (r *rule) condition(m *mission.Mission) bt.Task {
	tree := m.Plan.Tree
	return tree.Children(tree.Children(tree.Root())[r.watch])[0]
}

// Sample implements [Question].
func (r *Regression) Sample(x, y float64) Sample {
	start := func(m *mission.Mission) *mission.Mission { return r.space.start(m, x, y, nil, r.space.Until/looks) }
	trial, err := simulated.New(start(r.probe), run.Continuous{}, r.space.Until)
	if err != nil {
		return Sample{Lost, 0, err.Error()}
	}
	statuses := trial.Statuses()
	first := slices.IndexFunc(r.rules, func(k rule) bool {
		return k.watch < 0 || statuses[k.condition(r.probe)] == bt.Success
	})
	switch {
	case first < 0:
		return Sample{Class: Gap}
	case first == 0:
		return Sample{Class: Goal}
	case r.rules[first].mission == nil: // nothing is executed
		return Sample{Class: Astray}
	}
	own, m := &r.rules[first], r.rules[first].mission
	earlier := map[bt.Task]bool{}
	for i := range r.rules[:first] {
		earlier[r.rules[i].condition(m)] = true
	}
	class, kept := Astray, true
	at, err := (&watcher{}).run(start(m), r.space.Until, func(_ []bt.Status, changes []change) bool {
		leads := slices.ContainsFunc(changes, func(c change) bool { return earlier[c.Task] && c.To == bt.Success })
		if leads {
			class = map[bool]Class{true: Strongly, false: Weakly}[kept]
			return false
		}
		for _, c := range changes {
			kept = kept && (own.watch < 0 || c.Task != own.condition(m) || c.To != bt.Failure)
			if c.Task == m.Plan.Tree.Root() && (c.To == bt.Finished || c.To == bt.Aborted) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return Sample{Lost, at, err.Error()}
	}
	return Sample{Class: class, Time: at}
}
