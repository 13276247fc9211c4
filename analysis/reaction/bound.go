package reaction

import (
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// shape holds the properties that bound the work in a task and those below it.
type shape struct {
	good, bad bool // it may return Success, Failure while nothing below it is active or held
	steady    bool // when it has ended and is deactivated, it does not return the opposite, nor is it skipped
	skips     bool // it may be skipped
	reruns    bool // it may run a child again
	slow      bool // an action's entry procedure may take time
	width     int  // tasks that can be active at the same time
}

// shapes returns the shape of each task. Tasks are in post-order: children come first.
func (r *Result) shapes() []shape {
	all := make([]shape, r.tree.Len())
	leaf := 0
	for i := range all {
		t := bt.Task(i)
		if r.tree.Kind(t).Family() != bt.Leaf {
			all[t] = r.compositeShape(t, all)
			continue
		}
		in := r.inputs[leaf]
		leaf++
		s := shape{good: slices.Contains(in.Values, bt.Success), bad: slices.Contains(in.Values, bt.Failure)}
		s.steady = !(s.good && slices.Contains(in.Outcomes, bt.Failure) || s.bad && slices.Contains(in.Outcomes, bt.Success))
		if r.tree.Kind(t).Acts() {
			s.slow, s.width = in.Entry != Immediate, 1
		} else {
			s.bad = true // at the start
		}
		all[t] = s
	}
	return all
}

// compositeShape returns the shape of a task from those of its children: its judgements by the law, rounded up.
func (r *Result) compositeShape(t bt.Task, all []shape) shape {
	kind, counts := r.tree.Kind(t), r.tree.Kind(t).Family() == bt.Count
	rule := r.tree.Rule(t, func(child bt.Task, be bt.Status) bool {
		return be == bt.Accept && all[child].width > 0 || be == bt.Skipped && all[child].skips
	})
	for state := range rule.Begins { // after a deactivation
		rule.Begins[state] = state == 0 || rule.Course.Stored[state] && rule.Course.Keeps
	}
	says := bt.Decide(bt.Truth{Up: true}, &rule, func(child bt.Task, _ bool) bt.Judgement[bool] {
		c := &all[child]
		return bt.Judgement[bool]{Good: c.good, Bad: c.bad, Skipped: c.skips, Open: c.width > 0}
	})
	s := shape{good: says.Good, bad: says.Bad, skips: says.Skipped, steady: true}
	widest, beside, skips := 0, 0, s.skips
	for i, child := range rule.Children {
		c := all[child]
		if counts || r.tree.Prompt(child) {
			beside += c.width
		} else {
			widest = max(widest, c.width)
		}
		s.steady, skips, s.slow = s.steady && c.steady, skips || c.skips, s.slow || c.slow
		if kind.Memory() && rule.Course == nil {
			// A pinned result is kept until the task is deactivated, when the child may be judged otherwise.
			over := i < len(rule.Children)-1 && kind.Over() != bt.Accept
			s.steady = s.steady && !(c.bad && (counts || over && kind.Over() == bt.Success)) &&
				!(c.good && (counts || over && kind.Over() == bt.Failure))
		}
	}
	switch {
	case rule.Course != nil:
		for _, c := range rule.Course.Steps {
			s.reruns = s.reruns || c.Again
			if c.Waits() { // it can be active although no child is
				s.width = 1
			}
		}
		// What led to a stored state is forgotten or kept, and may now be judged otherwise.
		s.steady = s.steady && (!slices.Contains(rule.Course.Stored[1:], true) || !s.good && !s.bad)
	case counts:
		// Else both counts can be reached, and the order decides.
		s.steady = s.steady && int(rule.Enough+rule.TooMany) > len(rule.Children)
		if skips && rule.Quorum == 0 { // it can wait although all children are judged
			s.width = 1
		}
	default:
		s.steady = s.steady || kind.Verdict(bt.Success) == kind.Verdict(bt.Failure)
	}
	s.steady = s.steady && !skips
	if widest += beside; widest > 0 {
		s.width = widest + 1
	}
	return s
}

// maxSteps is the maximum number of changes of a task's status in one visit.
const maxSteps = 4

// bound computes the bounds from the tree's structure; docs/reaction.md has the proof.
func (r *Result) bound() {
	all := r.shapes()
	for i, t := range r.tree.Leaves() {
		b := r.boundTasks(r.together(i), all)
		in, kind := r.inputs[i], r.tree.Kind(t)
		if len(in.Values)+len(in.Outcomes) <= 1 && in.Entry == Immediate && in.Exit == Immediate &&
			(kind.Acts() && in.Values[0] == bt.Accept || !kind.Acts() && in.Values[0] == bt.Failure) {
			b = Work{} // it has no inputs
		}
		r.Leaves = append(r.Leaves, LeafResult{Task: t, Bound: b})
	}
	for _, t := range r.tree.Timers() {
		r.Leaves = append(r.Leaves, LeafResult{Task: t, Bound: r.boundTasks([]bt.Task{t}, all)})
	}
	if len(r.tree.Shared()) > 0 { // who waits for a resource, and for how long, does not follow from the structure
		for i := range r.Leaves {
			r.Leaves[i].Bound = Work{Iterations: bt.DefaultLimit, Changes: maxSteps * bt.DefaultLimit * r.tree.Len(),
				Visits: 2 * bt.DefaultLimit * r.tree.Len()}
		}
	}
	for _, l := range r.Leaves {
		r.Bound = r.Bound.most(l.Bound)
	}
}

// boundTasks bounds the reaction to an input of tasks that change together. A condition that lasts until a task has
// ended may become false once on the way, as if by another input.
func (r *Result) boundTasks(tasks []bt.Task, all []shape) Work {
	lasts := r.tree.Lasts()
	w, times := r.boundInputs(slices.Concat(tasks, lasts), all), 1+len(lasts)
	return Work{w.Iterations * times, w.Changes * times, w.Visits * times}
}

// boundInputs bounds the reaction to inputs of tasks at one time. The end of a timer may also wait for an entry
// procedure below.
func (r *Result) boundInputs(tasks []bt.Task, all []shape) Work {
	width, n := all[r.tree.Root()].width, 1
	paths := map[bt.Task]bool{r.tree.Root(): true}
	for _, task := range tasks {
		depth, turns, sequences, parallels := 0, 0, 0, 0
		if r.tree.Kind(task).Timer() && all[task].slow {
			sequences = 1
		}
		for t := task; t != r.tree.Root(); t = r.tree.Parent(t) {
			depth++
			paths[t] = true
			p := r.tree.Parent(t)
			if !all[t].steady || all[p].reruns {
				turns++
			}
			for _, c := range r.tree.Children(p) {
				if c == t || !all[c].slow {
					continue
				}
				if r.tree.Kind(p).Family() == bt.Count || r.tree.Prompt(t) {
					parallels++
				} else {
					sequences = 1
				}
				break
			}
		}
		if width > 0 {
			n = max(n, min(3+turns, depth+2)+min(turns+1, sequences+parallels))
		}
	}
	return Work{
		Iterations: n,
		Changes:    2*len(paths) + 4*width*(n-1),
		Visits:     4*len(paths) + 4*width + 10*width*n,
	}
}
