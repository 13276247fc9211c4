package bt

import "slices"

// Lasting returns the tree in which conditions last until a task has ended, each until the end of one of its tasks: in
// the iteration after that in which the task became Finished, Aborted or Dropped, they are false. Further inputs may
// set them again. It shares the other parts with the tree.
func (t *Tree) Lasting(until map[Task][]Task) *Tree {
	c := *t
	c.lasting = nil
	for condition := range Task(t.Len()) {
		for _, task := range until[condition] {
			if c.lasting == nil {
				c.lasting = make([][]Task, t.Len())
			}
			c.lasting[task] = append(c.lasting[task], condition)
		}
	}
	return &c
}

// Lasts returns the conditions that last until a task has ended.
func (t *Tree) Lasts() []Task {
	conditions := slices.Concat(t.lasting...)
	slices.Sort(conditions)
	return slices.Compact(conditions)
}

// Spent appends the conditions that are false from the next iteration on, as tasks have ended in this one. The changes
// are those of the instant so far.
func (t *Tree) Spent(conditions []Task, changes []Change, iteration int32) []Task {
	if t.lasting == nil {
		return conditions
	}
	for _, c := range slices.Backward(changes) {
		if c.Iteration != iteration {
			break
		}
		if c.To.Ended() {
			conditions = append(conditions, t.lasting[c.Task]...)
		}
	}
	return conditions
}

// spend sets the conditions that are spent in this iteration.
func (e *Engine) spend() {
	e.spent = e.tree.Spent(e.spent[:0], e.changes, e.iteration)
	for _, t := range e.spent {
		if in := Set(t, false); e.task(t).Take(&in, e.tree.kinds[t], e.task(t).status) {
			e.up.add(t)
		}
	}
}

// spent returns the place, before place i, of the change of a task until whose end the condition of change i has
// lasted; -1 if there is none.
func (t *Tree) spent(changes []Change, i int) int {
	for k := i - 1; t.lasting != nil && changes[i].To == Failure && k >= 0; k-- {
		if changes[k].To.Ended() && slices.Contains(t.lasting[changes[k].Task], changes[i].Task) {
			return k
		}
	}
	return -1
}
