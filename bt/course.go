package bt

import (
	"cmp"
	"slices"
)

// Course is how a task of the family Script decides while no procedure is under way: the states of its automaton that
// can be reached, in an order in which moves lead to later ones, and the steps in them. 0 is the initial state. How
// often a child was run again makes no difference: no child has just ended then.
type Course struct {
	Stored []bool       // by state: the task can store it
	Keeps  bool         // stored states survive the task's deactivation
	Steps  []CourseStep // in the order of the states
	Ends   []CourseStep // from one stored state to another: the child that is wanted ends so, or the timer elapses
}

// CourseStep is what follows from the judgement of the child on which a state depends. A step without a verdict that
// leads to no other state wants the child, if it is judged Accept, or waits for a change.
type CourseStep struct {
	From, To int
	Child    Task   // -1: the state depends on none
	Is       Status // its judgement: Success, Failure, Skipped or Accept
	Says     Status // the task's verdict; Accept: undecided
	Again    bool   // a child that ended so is run again
}

// Waits reports whether a task is undecided in this step although its state wants no child.
func (s *CourseStep) Waits() bool {
	return s.Says == Accept && s.To == s.From && (s.Child < 0 || s.Is != Accept)
}

// Course returns how a task decides. can reports whether a child can be undecided (Accept), so that it is ever run, and
// whether it can be Skipped. It panics if the task's family is not Script.
func (t *Tree) Course(task Task, can func(child Task, be Status) bool) *Course {
	a, limit := t.Automaton(task)
	w := courses{Automaton: a, kids: t.Children(task), limit: limit, memory: t.Kind(task).Memory(), numbers: map[At]int{}}
	w.number(At{})
	w.c.Stored[0] = true
	for from := 0; from < len(w.states); from++ {
		w.leave(from, can)
	}
	return w.sorted()
}

// courses collects a course; states are numbered as they are found.
type courses struct {
	*Automaton
	kids    []Task
	limit   int32
	memory  bool
	states  []At
	numbers map[At]int
	c       Course
}

func (w *courses) number(at At) int {
	at.Timed = false // its timer runs exactly if it has one
	i, ok := w.numbers[at]
	if !ok {
		i = len(w.states)
		w.numbers[at] = i
		w.states, w.c.Stored = append(w.states, at), append(w.c.Stored, false)
	}
	return i
}

// store records that a state is stored.
func (w *courses) store(at At) int {
	i := w.number(at)
	w.c.Stored[i] = true
	w.c.Keeps = w.c.Keeps || i > 0 && w.Deactivated(w.states[i]) == w.states[i]
	return i
}

// decide runs the automaton with the judgement of the first child that it looks at; the others are judged Accept. It
// returns the place of that child as well, -1: none.
func (w *courses) decide(at At, is Status) (says Status, reached At, first int) {
	first = -1
	says, _, reached = w.Decide(at, len(w.kids), w.limit, func(child int) (Status, bool) {
		if first < 0 {
			first = child
		}
		if child == first {
			return is, false
		}
		return Accept, false
	})
	return says, reached, first
}

// leave collects the steps in a state.
func (w *courses) leave(from int, can func(child Task, be Status) bool) {
	at := w.states[from]
	says, _, place := w.decide(at, Accept)
	step := CourseStep{From: from, To: from, Child: -1, Is: Accept, Says: says}
	if place >= 0 {
		step.Child = w.kids[place]
	}
	if place < 0 || can(step.Child, Accept) {
		w.c.Steps = append(w.c.Steps, step)
		stored := w.Store(at, at, true, says == Accept, place >= 0, w.memory)
		if says == Accept && w.memory && (place >= 0 || stored.Timed) {
			w.store(stored)
		}
		if next, ran := w.Elapse(stored); ran {
			w.c.Ends = append(w.c.Ends, CourseStep{From: from, To: w.store(next), Child: -1, Is: Accept})
		}
	}
	if place < 0 {
		return
	}
	for _, is := range []Status{Success, Failure, Skipped} {
		if is == Skipped && !can(step.Child, Skipped) {
			continue
		}
		step := CourseStep{From: from, To: from, Child: step.Child, Is: is}
		var reached At
		if step.Says, reached, _ = w.decide(at, is); step.Says == Accept {
			step.To = w.number(reached)
		}
		if is == Skipped { // it has no result
			w.c.Steps = append(w.c.Steps, step)
			continue
		}
		_, step.Again = w.Leave(at, reached, w.limit, place, is, true)
		w.c.Steps = append(w.c.Steps, step)
		// In a state that is kept, the child need not have run itself: one before it has.
		ended := can(step.Child, Accept) || from > 0 && w.c.Stored[from]
		if left, _ := w.Leave(at, reached, w.limit, place, is, false); left != at && ended {
			w.c.Ends = append(w.c.Ends, CourseStep{From: from, To: w.store(left), Child: step.Child, Is: is})
		}
	}
}

// sorted returns the course with its states in their order.
func (w *courses) sorted() *Course {
	order := make([]int, len(w.states))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		x, y := w.states[i], w.states[j]
		return cmp.Or(cmp.Compare(x.State, y.State), cmp.Compare(x.Count, y.Count))
	})
	place, stored := make([]int, len(order)), slices.Clone(w.c.Stored)
	for k, i := range order {
		place[i], w.c.Stored[k] = k, stored[i]
	}
	for _, steps := range [][]CourseStep{w.c.Steps, w.c.Ends} {
		for i := range steps {
			steps[i].From, steps[i].To = place[steps[i].From], place[steps[i].To]
		}
	}
	if slices.ContainsFunc(w.c.Steps, func(s CourseStep) bool { return s.To < s.From }) {
		panic("bt: an automaton that moves back")
	}
	slices.SortStableFunc(w.c.Steps, func(x, y CourseStep) int { return cmp.Compare(x.From, y.From) })
	return &w.c
}
