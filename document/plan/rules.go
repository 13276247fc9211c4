package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// ErrRules is the error of a task that is no teleo-reactive list of rules.
var ErrRules = errors.New("only a ReactiveFallback is a list of rules")

// Rule is one rule of a teleo-reactive list, condition -> action, as Lemma 2 of M. Colledanchise and P. Ögren, How
// Behavior Trees Generalize the Teleo-Reactive Paradigm and And-Or-Trees, 2016, turns it into a tree.
type Rule struct {
	Task       bt.Task
	Conditions []bt.Task // that all hold; none: the rule holds always
	Action     bt.Task   // -1: nothing is done
}

// Rules reads the children of a ReactiveFallback as rules: each one a condition, an action, or a ReactiveSequence of
// conditions with an action at its end. An action may be a task with actions in it. The first rule has a condition, the
// goal, and some rule has an action. The error wraps ErrRules.
func Rules(tree *bt.Tree, task bt.Task) ([]Rule, error) {
	if k := tree.Kind(task); k.Over() != bt.Failure || k.Memory() {
		return nil, fmt.Errorf("%s: %w; it is a %v", tree.Name(task), ErrRules, tree.Kind(task))
	}
	var rules []Rule
	for _, c := range tree.Children(task) {
		r := Rule{Task: c, Action: c}
		if k := tree.Kind(c); k.Over() == bt.Success && !k.Memory() {
			parts := tree.Children(c)
			r.Conditions, r.Action = slices.Clone(parts[:len(parts)-1]), parts[len(parts)-1]
		}
		if tree.Kind(r.Action).Judged() {
			r.Conditions, r.Action = append(r.Conditions, r.Action), -1
		}
		for _, k := range r.Conditions {
			if !tree.Kind(k).Judged() {
				return nil, fmt.Errorf("%s: %w; %s is not a condition", tree.Name(c), ErrRules, tree.Name(k))
			}
		}
		if r.Action >= 0 && !acts(tree, r.Action) {
			return nil, fmt.Errorf("%s: %w; no action is in %s", tree.Name(c), ErrRules, tree.Name(r.Action))
		}
		rules = append(rules, r)
	}
	if len(rules[0].Conditions) == 0 {
		return nil, fmt.Errorf("%s: %w; its first rule, %s, has no condition that is the goal", tree.Name(task), ErrRules,
			tree.Name(rules[0].Task))
	}
	if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Action >= 0 }) {
		return nil, fmt.Errorf("%s: %w; none of its rules has an action", tree.Name(task), ErrRules)
	}
	return rules, nil
}

// acts reports whether an action is in a part of a tree.
func acts(tree *bt.Tree, task bt.Task) bool {
	return tree.Kind(task).Acts() ||
		slices.ContainsFunc(tree.Children(task), func(c bt.Task) bool { return acts(tree, c) })
}
