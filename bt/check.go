package bt

import (
	"errors"
	"fmt"
	"slices"
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
		if e.tree.nodes[t].family != Leaf && e.Hears(t) {
			e.checkComposite(t, report)
		}
	}
	e.checkHearing(report)
	return errors.Join(broken...)
}

// checkHearing compares what rests with what would rest if the engine were restored.
func (e *Engine) checkHearing(report func(t Task, format string, args ...any)) {
	if e.resting == nil {
		return
	}
	o := e.Clone()
	o.listenAnew()
	for t, rests := range e.resting {
		if rests != o.resting[t] {
			report(Task(t), "rests: %v, should be %v", rests, !rests)
		}
	}
	if !slices.Equal(e.heard, o.heard) {
		report(e.tree.Root(), "heard are %v, should be %v", e.heard, o.heard)
	}
}

func (e *Engine) checkTask(t Task, report func(t Task, format string, args ...any)) {
	s, parent := e.task(t), e.tree.Parent(t)
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
	defer func(resting []bool) { e.resting = resting }(e.resting)
	e.resting = nil // nothing is judged here
	n := &e.tree.nodes[t]
	c := &e.composites[n.composite]
	want := composite{pinned: c.pinned, passing: c.passing}
	for place, child := range e.tree.Children(t) {
		s := e.task(child)
		want.statuses += inStatuses[s.status]
		if s.hold != free {
			want.held++
		}
		if s.active {
			want.active++
			if !e.task(t).active || !e.task(t).status.in(wanted) {
				report(child, "active under a parent that passes nothing on")
			}
		}
		if n.family == Chain && n.memory && (s.hold == pinned) != (int32(place) < c.pinned) {
			report(child, "pinned is wrong")
		}
		if n.family == Count {
			want.results += inResults[s.effective]
		}
	}
	if n.family != Count && !n.prompts && want.active > 1 {
		report(t, "%d active children", want.active)
	}
	s := e.task(t)
	if n.family == Count && c.passing != s.passes() {
		report(t, "passing is wrong")
	}
	if verdict := e.verdict(n, &want); s.Request != verdict || s.Outcome != verdict {
		report(t, "verdict is %s, should be %s", s.Request, verdict)
	}
	if s.Busy != want.statuses.switching() {
		report(t, "busy is wrong")
	}
	if want != *c {
		report(t, "counts are %+v, should be %+v", *c, want)
	}
}
