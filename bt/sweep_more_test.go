package bt_test

import (
	"slices"

	"canopy/bt"
)

// lasting makes conditions last until tasks have ended.
func (s *sweeper) lasting(until map[bt.Task][]bt.Task) *sweeper {
	s.until = until
	return s
}

// spend makes the conditions false that have lasted until a task that has ended in this iteration.
func (s *sweeper) spend() {
	for _, c := range s.changes {
		if int(c.Iteration) != s.iteration || c.To != bt.Finished && c.To != bt.Aborted && c.To != bt.Dropped {
			continue
		}
		for condition, tasks := range s.until {
			if slices.Contains(tasks, c.Task) {
				s.tasks[condition].truth = false
			}
		}
	}
}

// grant finds the guards that have their resource in this iteration.
func (s *sweeper) grant() map[int]*sweptTask {
	granted := map[int]*sweptTask{}
	guards := func(which func(t, c *sweptTask) bool) {
		for _, t := range s.tasks {
			if t.kind == bt.Guard && granted[t.resource] == nil && which(t, t.children[0]) {
				granted[t.resource] = t
			}
		}
	}
	guards(func(_, c *sweptTask) bool { return c.active || !c.status.Transient() })
	guards(func(t, c *sweptTask) bool {
		_, _, wants := t.decision()
		return t.active && (t.status == bt.Activating || t.status == bt.Running || t.status == bt.Accept) && len(wants) > 0
	})
	return granted
}
