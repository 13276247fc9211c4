package reaction

import (
	"slices"

	"canopy/bt"
)

// shape is what bounds the work in a task and those below it.
type shape struct {
	good, bad bool // it may say Success, Failure while nothing below it is active or held
	steady    bool // when it has ended and is deactivated, it does not say the opposite
	slow      bool // an action's entry procedure may take time
	width     int  // tasks that can be active at the same time
}

// shapes returns the shape of each task. Tasks are in post-order: children come first.
func (r *Result) shapes() []shape {
	all := make([]shape, r.tree.Len())
	leaf := 0
	for i := range all {
		t := bt.Task(i)
		if !r.tree.Kind(t).IsLeaf() {
			all[t] = r.compositeShape(t, all)
			continue
		}
		in := r.inputs[leaf]
		leaf++
		s := shape{good: slices.Contains(in.Values, bt.Success), bad: slices.Contains(in.Values, bt.Failure)}
		s.steady = !(s.good && slices.Contains(in.Outcomes, bt.Failure) || s.bad && slices.Contains(in.Outcomes, bt.Success))
		if r.tree.Kind(t) == bt.Action {
			s.slow, s.width = in.Entry != Immediate, 1
		} else {
			s.bad = true // at the start
		}
		all[t] = s
	}
	return all
}

func (r *Result) compositeShape(t bt.Task, all []shape) shape {
	children, kind := r.tree.Children(t), r.tree.Kind(t)
	s := shape{steady: true}
	good, bad, widest, sum := 0, 0, 0, 0
	for i, child := range children {
		c := all[child]
		good, bad = good+count(c.good), bad+count(c.bad)
		widest, sum = max(widest, c.width), sum+c.width
		s.steady, s.slow = s.steady && c.steady, s.slow || c.slow
		pinned := i < len(children)-1 // if it is passed over
		switch kind {
		case bt.Sequence:
			s.steady = s.steady && !(pinned && c.bad)
		case bt.Fallback:
			s.steady = s.steady && !(pinned && c.good)
		case bt.Parallel:
			s.steady = s.steady && !c.good && !c.bad
		}
	}
	n := len(children)
	switch kind {
	case bt.Sequence, bt.ReactiveSequence:
		s.good, s.bad = good == n, bad > 0
	case bt.Fallback, bt.ReactiveFallback:
		s.good, s.bad = good > 0, bad == n
	case bt.Parallel, bt.ReactiveParallel:
		success, failure := r.tree.Counts(t)
		s.good, s.bad = good >= success, bad >= min(failure, n-success+1)
		s.steady = s.steady && success+failure > n // else both counts can be reached, and the order decides
		widest = sum
	case bt.Inverter:
		s.good, s.bad = bad > 0, good > 0
	case bt.ForceSuccess:
		s.good, s.steady = good+bad > 0, true
	case bt.ForceFailure:
		s.bad, s.steady = good+bad > 0, true
	}
	if widest > 0 {
		s.width = widest + 1
	}
	return s
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bound fills in what the tree's structure says; docs/reaction.md has the proof.
func (r *Result) bound() {
	all := r.shapes()
	for i, t := range r.tree.Leaves() {
		b := r.boundLeaf(t, r.inputs[i], all)
		r.Leaves = append(r.Leaves, LeafResult{Task: t, Bound: b})
		r.Bound = r.Bound.most(b)
	}
}

func (r *Result) boundLeaf(leaf bt.Task, in Inputs, all []shape) Work {
	if kind := r.tree.Kind(leaf); len(in.Values)+len(in.Outcomes) <= 1 && in.Entry == Immediate && in.Exit == Immediate &&
		(kind == bt.Action && in.Values[0] == bt.Accept || kind == bt.Condition && in.Values[0] == bt.Failure) {
		return Work{} // it has nothing to tell
	}
	depth, turns, sequences, parallels := 0, 0, 0, 0
	for t := leaf; t != r.tree.Root(); t = r.tree.Parent(t) {
		depth++
		if !all[t].steady {
			turns++
		}
		p := r.tree.Parent(t)
		for _, c := range r.tree.Children(p) {
			if c == t || !all[c].slow {
				continue
			}
			if r.tree.Kind(p).IsParallel() {
				parallels++
			} else {
				sequences = 1
			}
			break
		}
	}
	width := all[r.tree.Root()].width
	n := 1
	if width > 0 {
		n = min(3+turns, depth+2) + min(turns+1, sequences+parallels)
	}
	return Work{
		Iterations: n,
		Changes:    2*(depth+1) + 4*width*(n-1),
		Visits:     4*(depth+1) + 4*width + 10*width*n,
	}
}
