// Package backchain builds plans backwards from a goal. Facts describe the preconditions and effects of the leaves.
// Each required fact becomes a fallback of the fact itself and of the actions that bring it about, each after its
// preconditions, and so on:
//
//	goal      ReactiveSequence[wanted, wanted, ...]
//	wanted    ReactiveFallback[fact, by action, by action, ...]
//	by action ReactiveSequence[wanted, wanted, ..., action]
//
// The scheme, postcondition-precondition-action, is that of M. Colledanchise and P. Ögren, Behavior Trees in Robotics
// and AI, 2018, chapter 7. There the tree grows while the robot acts; here it is complete before the flight.
package backchain

import (
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// The codes of the findings, in addition to those of package plan. docs/backchain.md explains them to users.
const (
	codeFact       = "unknown-fact"
	codeNoAchiever = "no-achiever"
	codeCycle      = "cyclic-fact"
	codeThreat     = "threat"
	codeTooLarge   = "too-large"
)

// World holds the preconditions and effects of actions. It is immutable.
type World struct {
	source     *diag.Source
	conditions map[string]plan.Leaf
	names      []string // of the conditions, as they are declared
	actions    []action
}

type action struct {
	name      string
	pre, post []plan.Fact
	leaf      plan.Leaf
}

// Read reads a world: the models of a plan document, which need not have a tree. The list holds all mistakes; if one of
// them is an error there is no world.
func Read(src *diag.Source) (*World, diag.List) {
	models, list := plan.ReadLeafTypes(src)
	if list.HasErrors() {
		return nil, list
	}
	w := &World{source: src, conditions: map[string]plan.Leaf{}}
	for _, m := range models {
		if !m.Kind.Acts() {
			w.conditions[m.Leaf.ID] = m.Leaf
			w.names = append(w.names, m.Leaf.ID)
		} else {
			w.actions = append(w.actions, action{m.Leaf.ID, m.Pre, m.Post, m.Leaf})
		}
	}
	for _, a := range w.actions {
		list = append(list, w.unknown(src, slices.Concat(a.pre, a.post))...)
	}
	if list = list.Sorted(); list.HasErrors() {
		return nil, list
	}
	return w, list
}

// Goal reads a goal: a list of facts.
func (w *World) Goal(src *diag.Source) ([]plan.Fact, diag.List) {
	facts, list := plan.ParseFacts(src)
	if list = append(list, w.unknown(src, facts)...); len(list) > 0 {
		return nil, list
	}
	return facts, nil
}

// unknown reports the facts that are no conditions.
func (w *World) unknown(src *diag.Source, facts []plan.Fact) diag.List {
	var list diag.List
	for _, f := range facts {
		if _, ok := w.conditions[f.Name]; ok {
			continue
		}
		list = append(list, diag.Diagnostic{Source: src, Offset: f.Offset, Length: f.Length, Code: codeFact,
			Text: `there is no condition "` + f.Name + `"`, Hint: `declare <Condition ID="` + f.Name + `"/> in <TreeNodesModel>`,
			Suggest: diag.Near(f.Name, func() []string { return w.names })})
	}
	return list
}

// literal is a fact or its opposite.
type literal struct {
	name string
	not  bool
}

func literalOf(f plan.Fact) literal { return literal{f.Name, f.Not} }

func (l literal) String() string { return plan.Fact{Name: l.name, Not: l.not}.String() }

func (l literal) opposite() literal { return literal{l.name, !l.not} }

// in reports whether a list has the fact.
func (l literal) in(facts []plan.Fact) bool {
	return slices.ContainsFunc(facts, func(f plan.Fact) bool { return literalOf(f) == l })
}
