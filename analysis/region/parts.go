package region

import (
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
)

// Errors of tasks without an answer.
var (
	ErrTask  = errors.New("there is no such task")
	ErrParts = errors.New("the lemmas apply only to a Fallback or Sequence of two or more tasks")
)

// piece is a part of a plan: a description and its leaves.
type piece struct {
	node   *bt.Node
	leaves []plan.Leaf
}

// cut returns the part of a plan below a task, the task included.
func cut(p *plan.Plan, task bt.Task) piece {
	var found piece
	var visit func(t bt.Task, n *bt.Node, inside bool)
	next := 0 // leaf
	visit = func(t bt.Task, n *bt.Node, inside bool) {
		if t == task {
			inside, found.node = true, n
		}
		if n.Kind.Family() == bt.Leaf {
			if inside {
				found.leaves = append(found.leaves, p.Leaves[next])
			}
			next++
		}
		for k, c := range p.Tree.Children(t) {
			visit(c, n.Children[k], inside)
		}
	}
	visit(p.Tree.Root(), p.Description(), false)
	return found
}

// join makes pieces the children of a new task.
func join(kind bt.Kind, pieces ...piece) piece {
	var all piece
	n := &bt.Node{Kind: kind}
	for _, p := range pieces {
		n.Children, all.leaves = append(n.Children, p.node), append(all.leaves, p.leaves...)
	}
	all.node = n
	return all
}

// fly returns the mission with a piece as its plan.
func (p piece) fly(m *mission.Mission) (*mission.Mission, error) {
	made, diags := plan.New(m.Plan.Name, p.node, p.leaves)
	if made == nil {
		return nil, diags
	}
	n, diags := m.WithPlan(made.Source)
	if n == nil {
		return nil, diags
	}
	return n, nil
}

// Find returns the task with a name; the root for "".
func Find(p *plan.Plan, name string) (bt.Task, error) {
	if name == "" {
		return p.Tree.Root(), nil
	}
	if tasks := p.Tree.Resolve(name); len(tasks) == 1 {
		return tasks[0], nil
	}
	names := make([]string, p.Tree.Len())
	for i := range names {
		names[i] = p.Tree.Name(bt.Task(i))
	}
	err := fmt.Errorf("%w: %q", ErrTask, name)
	if hint := diag.DidYouMean(name, names); hint != "" {
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return 0, err
}

// Of returns the trial of a task of a mission's plan as if it were the whole plan.
func Of(s *Space, m *mission.Mission, task bt.Task) (*Trial, error) {
	name := m.Plan.Tree.Name(task)
	if task == m.Plan.Tree.Root() {
		return NewTrial(s, m, name), nil
	}
	n, err := cut(m.Plan, task).fly(m)
	if err != nil {
		return nil, err
	}
	return NewTrial(s, n, name), nil
}

// Parts returns the trials of the two parts of a task in the lemmas: T1, its first child, and T2, the others, composed
// in the same way if there are several. It returns an error that wraps ErrParts if the task has no such parts.
func Parts(s *Space, m *mission.Mission, task bt.Task) (first, second *Trial, err error) {
	tree := m.Plan.Tree
	kind, children := tree.Kind(task), tree.Children(task)
	if !isFallback(kind) && !isSequence(kind) || len(children) < 2 {
		return nil, nil, fmt.Errorf("%s: %w", tree.Name(task), ErrParts)
	}
	if first, err = Of(s, m, children[0]); err != nil || len(children) == 2 {
		if err == nil {
			second, err = Of(s, m, children[1])
		}
		return first, second, err
	}
	var others []piece
	for _, c := range children[1:] {
		others = append(others, cut(m.Plan, c))
	}
	n, err := join(kind, others...).fly(m)
	if err != nil {
		return nil, nil, err
	}
	return first, NewTrial(s, n, fmt.Sprintf("%s without %s", tree.Name(task), first.name)), nil
}

func isFallback(k bt.Kind) bool { return k.Over() == bt.Failure }
func isSequence(k bt.Kind) bool { return k.Over() == bt.Success }

// Memory lists the features that give the tasks below a task a state in addition to the vehicle's, so that the regions
// are those of starts at which no task was active before.
func Memory(m *mission.Mission, task bt.Task) []string {
	var list []string
	note := func(holds bool, text string) {
		if holds && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	var visit func(n *bt.Node)
	visit = func(n *bt.Node) {
		note(n.Kind.Memory(), n.Kind.String())
		for _, c := range n.Children {
			visit(c)
		}
	}
	part := cut(m.Plan, task)
	visit(part.node)
	for _, l := range part.leaves {
		note(l.Off != nil, "hysteresis")
		note(l.Entry != nil || l.Exit != nil || l.EntryTime != nil || l.ExitTime != nil || l.EntryUntil != nil ||
			l.ExitUntil != nil, "entry and exit procedures")
		note(l.Done != nil || l.Failed != nil, "outcomes of actions")
		held := func(a plan.Assignment) bool { return m.Holds(a.Target) }
		note(slices.ContainsFunc(l.Write, held) || slices.ContainsFunc(l.Entry, held) || slices.ContainsFunc(l.Exit, held),
			"slots that hold their value")
	}
	return list
}
