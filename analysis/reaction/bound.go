package reaction

import (
	"slices"

	"canopy/bt"
)

// shape holds the properties that bound the work in a task and those below it.
type shape struct {
	good, bad bool // it may return Success, Failure while nothing below it is active or held
	steady    bool // when it has ended and is deactivated, it does not return the opposite
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

func (r *Result) compositeShape(t bt.Task, all []shape) shape {
	children, kind := r.tree.Children(t), r.tree.Kind(t)
	counts := kind.Family() == bt.Count
	s := shape{steady: true}
	good, bad, widest, sum := 0, 0, 0, 0
	for i, child := range children {
		c := all[child]
		good, bad = good+count(c.good), bad+count(c.bad)
		widest, sum = max(widest, c.width), sum+c.width
		s.steady, s.slow = s.steady && c.steady, s.slow || c.slow
		if kind.Memory() {
			// A pinned result is kept until the task is deactivated, when the child may be judged otherwise.
			over := i < len(children)-1 && kind.Over() != bt.Accept
			s.steady = s.steady && !(c.bad && (counts || over && kind.Over() == bt.Success)) &&
				!(c.good && (counts || over && kind.Over() == bt.Failure))
		}
	}
	n := len(children)
	switch kind.Family() {
	case bt.Chain:
		var decides shape // what the child that decides may say
		switch kind.Over() {
		case bt.Success:
			decides.good, decides.bad = good == n, bad > 0
		case bt.Failure:
			decides.good, decides.bad = good > 0, bad == n
		default: // it is the first one
			decides = all[children[0]]
		}
		ifGood, ifBad := kind.Verdict(bt.Success), kind.Verdict(bt.Failure)
		s.good = decides.good && ifGood == bt.Success || decides.bad && ifBad == bt.Success
		s.bad = decides.good && ifGood == bt.Failure || decides.bad && ifBad == bt.Failure
		s.steady = s.steady || ifGood == ifBad
	case bt.Count:
		enough, tooMany := r.tree.Counts(t)
		s.good, s.bad = good >= enough, bad >= tooMany
		s.steady = s.steady && enough+tooMany > n // else both counts can be reached, and the order decides
		widest = sum
	default:
		panic("reaction: a composite of an unknown family")
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

// bound computes the bounds from the tree's structure; docs/reaction.md has the proof. It does not cover scripts, which
// run a child again.
func (r *Result) bound() {
	for t := range bt.Task(r.tree.Len()) {
		if r.tree.Kind(t).Family() == bt.Script {
			for _, t := range slices.Concat(r.tree.Leaves(), r.tree.Timers()) {
				r.Leaves = append(r.Leaves, LeafResult{Task: t})
			}
			return
		}
	}
	r.Bounded = true
	all := r.shapes()
	for i, t := range r.tree.Leaves() {
		b := r.boundLeaf(t, r.inputs[i], all)
		r.Leaves = append(r.Leaves, LeafResult{Task: t, Bound: b})
		r.Bound = r.Bound.most(b)
	}
}

func (r *Result) boundLeaf(leaf bt.Task, in Repertoire, all []shape) Work {
	if kind := r.tree.Kind(leaf); len(in.Values)+len(in.Outcomes) <= 1 && in.Entry == Immediate && in.Exit == Immediate &&
		(kind.Acts() && in.Values[0] == bt.Accept || !kind.Acts() && in.Values[0] == bt.Failure) {
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
			if r.tree.Kind(p).Family() == bt.Count {
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
