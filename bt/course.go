package bt

import "slices"

// Courses are the ways in which a task of the family Script can decide while no procedure is under way. Its stored
// states are numbered; 0 is the initial one. How often a child was run again makes no difference: no child has just
// ended then.
type Courses struct {
	States int  // stored states that can be reached
	Keeps  bool // they survive the task's deactivation
	All    []Course
	Ends   []Course // from one stored state to another: the child that is wanted ends so, or the timer elapses
}

// Course is one way to decide: from a stored state, by the judgements of the children that the automaton looks at.
type Course struct {
	From, To int // stored states; a task that passes activity on and wants a child stores the second one
	Judged   []Judged
	Says     Status // the verdict; Accept: undecided
	Child    Task   // the child that it wants if it is undecided; -1: none
}

// Waits reports whether the task is undecided although all children that its automaton looks at are judged.
func (c *Course) Waits() bool {
	return c.Says == Accept && !slices.ContainsFunc(c.Judged, func(j Judged) bool { return j.Is == Accept })
}

// Judged is the judgement of a child that an automaton looks at.
type Judged struct {
	Child Task
	Is    Status // Success, Failure or Accept
	Again bool   // a child that ended so was run again
}

// Courses returns the ways in which a task can decide. Only children that can be undecided are ever run. It panics if
// the task's family is not Script.
func (t *Tree) Courses(task Task, undecided func(child Task) bool) Courses {
	a, limit := t.Automaton(task)
	kids, memory := t.Children(task), t.Kind(task).Memory()
	var c Courses
	var states []At
	number := func(at At) int {
		at.Timed = false // its timer runs exactly if it has one
		i := slices.Index(states, at)
		if i < 0 {
			i = len(states)
			states = append(states, at)
			c.Keeps = c.Keeps || i > 0 && a.Deactivated(at) == at
		}
		return i
	}
	number(At{})
	for from := 0; from < len(states); from++ {
		a.courses(states[from], len(kids), limit, func(x Course, reached At) {
			if slices.ContainsFunc(x.Judged, func(j Judged) bool { return j.Is == Accept && !undecided(kids[j.Child]) }) {
				return
			}
			wants := x.Child >= 0
			stored := a.Store(states[from], reached, true, x.Says == Accept, wants, memory)
			x.From, x.To = from, number(stored)
			if next, ran := a.Elapse(stored); ran {
				c.Ends = append(c.Ends, Course{From: x.To, To: number(next)})
			}
			for _, judgement := range []Status{Success, Failure} {
				if !wants {
					break
				}
				if left, _ := a.Leave(stored, limit, int(x.Child), judgement, false); left != stored {
					c.Ends = append(c.Ends, Course{From: x.To, To: number(left),
						Judged: []Judged{{Child: kids[x.Child], Is: judgement}}})
				}
			}
			if x.Child >= 0 {
				x.Child = kids[x.Child]
			}
			for i := range x.Judged {
				j := &x.Judged[i]
				if j.Is != Accept {
					_, j.Again = a.Leave(states[from], limit, int(j.Child), j.Is, true)
				}
				j.Child = kids[j.Child]
			}
			c.All = append(c.All, x)
		})
	}
	c.States = len(states)
	return c
}

// courses visits the ways to decide from a stored state; children are given by their places.
func (a *Automaton) courses(at At, n int, limit int32, visit func(x Course, reached At)) {
	var follow func(given []Judged)
	follow = func(given []Judged) {
		asked := slices.Clone(given)
		next := 0
		says, child, reached := a.Decide(at, n, limit, func(child int) (Status, bool) {
			if i := slices.IndexFunc(asked[:next], func(j Judged) bool { return int(j.Child) == child }); i >= 0 {
				return asked[i].Is, false
			}
			if next == len(asked) {
				asked = append(asked, Judged{Is: Accept})
			}
			asked[next].Child = Task(child)
			next++
			return asked[next-1].Is, false
		})
		visit(Course{Judged: asked, Says: says, Child: Task(child)}, reached)
		for i := len(given); i < len(asked); i++ {
			for _, is := range []Status{Success, Failure} {
				follow(append(slices.Clone(asked[:i]), Judged{Child: asked[i].Child, Is: is}))
			}
		}
	}
	follow(nil)
}
