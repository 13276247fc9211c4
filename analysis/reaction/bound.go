package reaction

import (
	"slices"

	"canopy/bt"
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

func (r *Result) compositeShape(t bt.Task, all []shape) shape {
	children, kind := r.tree.Children(t), r.tree.Kind(t)
	counts := kind.Family() == bt.Count
	s := shape{steady: true}
	good, bad, widest, sum := 0, 0, 0, 0
	for i, child := range children {
		c := all[child]
		good, bad = good+count(c.good), bad+count(c.bad)
		widest, sum = max(widest, c.width), sum+c.width
		s.steady, s.skips, s.slow = s.steady && c.steady, s.skips || c.skips, s.slow || c.slow
		if kind.Memory() && kind.Family() != bt.Script {
			// A pinned result is kept until the task is deactivated, when the child may be judged otherwise.
			over := i < len(children)-1 && kind.Over() != bt.Accept
			s.steady = s.steady && !(c.bad && (counts || over && kind.Over() == bt.Success)) &&
				!(c.good && (counts || over && kind.Over() == bt.Failure))
		}
	}
	n := len(children)
	switch kind.Family() {
	case bt.Chain:
		var decides shape // the possible results of the child that decides
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
		counts := r.tree.Counts(t)
		enough, tooMany := int(counts.Enough), int(counts.TooMany)
		s.good, s.bad = good >= enough, bad >= tooMany
		s.steady = s.steady && enough+tooMany > n // else both counts can be reached, and the order decides
		widest = sum
		if s.skips && counts.Quorum == 0 { // it can wait although all children are judged
			s.width = 1
		}
	case bt.Script:
		r.scriptShape(t, all, &s)
	default:
		panic("reaction: a composite of an unknown family")
	}
	s.steady = s.steady && !s.skips
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

// scriptShape completes the shape of a script from the courses of its automaton.
func (r *Result) scriptShape(t bt.Task, all []shape, s *shape) {
	course := r.tree.Course(t, func(child bt.Task, be bt.Status) bool {
		return be == bt.Accept && all[child].width > 0 || be == bt.Skipped && all[child].skips
	})
	from := make([]bool, len(course.Stored)) // by state: reached after a deactivation
	for i, stored := range course.Stored {
		from[i] = i == 0 || stored && course.Keeps
	}
	for _, c := range course.Steps {
		s.reruns = s.reruns || c.Again
		if from[c.From] && (c.Is != bt.Success || all[c.Child].good) && (c.Is != bt.Failure || all[c.Child].bad) {
			from[c.To] = true
			s.good, s.bad = s.good || c.Says == bt.Success, s.bad || c.Says == bt.Failure
			s.skips = s.skips || c.Says == bt.Skipped
		}
		if c.Waits() { // it can be active although no child is
			s.width = 1
		}
	}
	if slices.Contains(course.Stored[1:], true) {
		// What led to the stored state is forgotten or kept, and may now be judged otherwise.
		s.steady = s.steady && !s.good && !s.bad
	}
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
				if r.tree.Kind(p).Family() == bt.Count {
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
