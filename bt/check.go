package bt

import (
	"errors"
	"fmt"
)

// Check returns an error that lists every violated invariant of a settled engine, or nil. The invariants are stated at
// the types [Engine], task and composite. An engine whose last instant was cut short by its limit is not settled.
func (e *Engine) Check() error {
	var broken []error
	report := func(t Task, format string, args ...any) {
		broken = append(broken, fmt.Errorf("bt: task %d: %s", t, fmt.Sprintf(format, args...)))
	}
	if !e.up.empty() || !e.down.empty() {
		report(e.tree.Root(), "a worklist is not empty")
	}
	for i := range e.tasks {
		t := Task(i)
		e.checkTask(t, report)
		if e.tree.nodes[t].family != Leaf {
			e.checkComposite(t, report)
		}
	}
	return errors.Join(broken...)
}

func (e *Engine) checkTask(t Task, report func(t Task, format string, args ...any)) {
	s, parent := &e.tasks[t], e.tree.Parent(t)
	if s.active != s.status.in(1<<Activating|1<<Running) {
		report(t, "settled as %s, active %v", s.status, s.active)
	}
	if s.hold == free {
		if s.effective != s.status {
			report(t, "effective status %s, status %s", s.effective, s.status)
		}
		return
	}
	if !s.effective.in(judged) {
		report(t, "held as %s", s.effective)
	}
	if s.hold == held && s.status.in(judged) {
		report(t, "held although %s", s.status)
	}
	if s.active {
		report(t, "held although active")
	}
	if s.hold == pinned && (parent < 0 || !e.tree.nodes[parent].memory) {
		report(t, "pinned by a task without memory")
	}
}

// checkComposite recounts a composite's children and compares.
func (e *Engine) checkComposite(t Task, report func(t Task, format string, args ...any)) {
	n := &e.tree.nodes[t]
	c := &e.composites[n.composite]
	want := composite{current: -1, pinned: c.pinned, passing: c.passing}
	actives := 0
	for place, child := range e.tree.Children(t) {
		s := &e.tasks[child]
		want.statuses += inStatuses[s.status]
		if s.hold != free {
			want.held++
		}
		if s.active {
			actives++
			if !e.tasks[t].active || !e.tasks[t].status.in(wanted) {
				report(child, "active under a parent that passes nothing on")
			}
		}
		switch n.family {
		case Chain:
			if s.active {
				want.current = int32(place)
			}
			if n.memory && (s.hold == pinned) != (int32(place) < c.pinned) {
				report(child, "pinned is wrong")
			}
		case Script:
			if s.active {
				want.current = int32(place)
			}
		case Count:
			want.results += inResults[s.effective]
		default:
			panic(unknownFamily)
		}
	}
	switch n.family {
	case Chain:
		e.skip(n, &want)
		if want.first == n.n && judgement[want.front] == judgement[c.front] {
			want.front = c.front // any status with the same judgement
		}
		if actives > 1 {
			report(t, "%d active children", actives)
		}
	case Script:
		if actives > 1 {
			report(t, "%d active children", actives)
		}
	case Count:
		if c.passing != e.passes(t, n, c) {
			report(t, "passing is wrong")
		}
	default:
		panic(unknownFamily)
	}
	if want != *c {
		report(t, "counts are %+v, should be %+v", *c, want)
	}
}
