package bt

// StateRow is a state of an automaton, as code generators need it.
type StateRow struct {
	Child int8 // the place of the child whose judgement decides; -1: none, -2: At.Count, -3: that + 1, -4: the last
	Says  Status
	After uint8
	Whole bool
	On    [3]MoveRow // by its judgement: good, bad, skipped
}

// MoveRow is what a state does when its child is judged.
type MoveRow struct {
	Says  Status
	To    uint8
	Then  uint8
	Step  int32
	Again bool
}

// Rows returns the states of the automaton, the initial one first, and whether they survive the task's deactivation.
func (a *Automaton) Rows() (rows []StateRow, keeps bool) {
	for i := range a.states {
		s := &a.states[i]
		r := StateRow{Child: s.child, Says: s.says, After: s.after, Whole: s.whole}
		for k, judgement := range []Status{Success, Failure, Skipped} {
			m := s.move(judgement)
			r.On[k] = MoveRow{Says: m.says, To: m.to, Then: m.then, Step: m.step, Again: m.again}
		}
		rows = append(rows, r)
	}
	return rows, a.keeps
}

// Quick reports whether a task ends within the instant of its activation: no action below it takes time, and it never
// waits.
func (t *Tree) Quick(task Task) bool { return t.nodes[task].quick }

// LastUntil returns the conditions that last until a task has ended. The caller must not change the slice.
func (t *Tree) LastUntil(task Task) []Task {
	if t.lasting == nil {
		return nil
	}
	return t.lasting[task]
}
