package bt

import "fmt"

// edges are the legal steps of the status cycle.
var edges = map[Status][]Status{
	Success:      {Failure, Accept},
	Failure:      {Success, Accept},
	Accept:       {Success, Failure, Activating},
	Activating:   {Running, Deactivating},
	Running:      {Finished, Aborted, Deactivating},
	Finished:     {Deactivating},
	Aborted:      {Deactivating},
	Deactivating: {Success, Failure, Accept},
}

// checker follows an engine from instant to instant and lists the invariants that do not hold.
type checker struct {
	statuses []Status
	entered  []bool // the entry procedure was started, the exit procedure not yet
	cut      bool   // an instant was cut short by the limit, so that inputs met a tree that was not settled
}

func newChecker(e *Engine) *checker {
	c := &checker{statuses: make([]Status, e.tree.Len()), entered: make([]bool, e.tree.Len())}
	for t := range c.statuses {
		c.statuses[t] = e.Status(Task(t))
	}
	return c
}

// check takes over an instant; states are compared only after one that has settled.
func (c *checker) check(e *Engine, instant Instant, settled bool) (findings []string) {
	report := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	legal := func(from, to Status) bool {
		for _, s := range edges[from] {
			if s == to {
				return true
			}
		}
		return false
	}
	commands := instant.Commands
	for i, change := range instant.Changes {
		t := change.Task
		if change.From != c.statuses[t] || !legal(change.From, change.To) {
			report("task %d: illegal step %s -> %s from %s", t, change.From, change.To, c.statuses[t])
		}
		if i > 0 && change.Iteration < instant.Changes[i-1].Iteration {
			report("iterations are not in order")
		}
		c.statuses[t] = change.To
		if e.tree.Kind(t) == Action && (change.To == Activating || change.To == Deactivating) {
			want := Command{Task: t, Exit: change.To == Deactivating}
			if len(commands) == 0 || commands[0] != want {
				report("task %d became %s without its command", t, change.To)
				return findings
			}
			if c.entered[t] != want.Exit {
				report("task %d: entries and exits do not alternate", t)
			}
			c.entered[t] = !want.Exit
			commands = commands[1:]
		}
	}
	if len(commands) > 0 {
		report("commands without a change of status: %v", commands)
	}
	if !settled {
		c.cut = true
		return findings
	}
	if !e.up.empty() || !e.down.empty() {
		report("a worklist is not empty")
	}
	for i := range e.tasks {
		t := Task(i)
		s := &e.tasks[t]
		if s.status != c.statuses[t] {
			report("task %d is %s, by the log %s", t, s.status, c.statuses[t])
		}
		if s.active != s.status.in(1<<Activating|1<<Running) {
			report("task %d is settled as %s, active %v", t, s.status, s.active)
		}
		if e.tree.Kind(t) == Action && c.entered[t] != (s.status == Activating || s.status == Running) {
			report("task %d is %s, entered %v", t, s.status, c.entered[t])
		}
		c.checkHold(e, t, report)
		if !e.tree.Kind(t).IsLeaf() {
			c.checkComposite(e, t, report)
		}
	}
	return findings
}

func (c *checker) checkHold(e *Engine, t Task, report func(string, ...any)) {
	s, parent := &e.tasks[t], e.tree.Parent(t)
	if s.hold == free {
		if s.effective != s.status {
			report("task %d: effective status %s, status %s", t, s.effective, s.status)
		}
		return
	}
	if s.effective != Success && s.effective != Failure {
		report("task %d: held as %s", t, s.effective)
	}
	if s.hold == held && s.status.in(judged) {
		report("task %d: held although %s", t, s.status)
	}
	if s.active {
		report("task %d: held although active", t)
	}
	if parent < 0 {
		return
	}
	if e.tasks[parent].status.in(transient|1<<Deactivating) && !c.cut {
		report("task %d: held by a parent that is %s", t, e.tasks[parent].status)
	}
	if k := e.tree.Kind(parent); s.hold == pinned && k != Sequence && k != Fallback && k != Parallel {
		report("task %d: pinned by a %s", t, k)
	}
}

// checkComposite counts a composite's children and compares.
func (c *checker) checkComposite(e *Engine, t Task, report func(string, ...any)) {
	n := &e.tree.nodes[t]
	p := &e.composites[n.composite]
	var want composite
	want.current, want.pinned, want.passing = -1, p.pinned, p.passing
	actives, skipping := 0, true
	for place, child := range e.tree.Children(t) {
		s := &e.tasks[child]
		want.statuses += inStatuses[s.status]
		want.results += inResults[s.effective]
		if s.hold != free {
			want.held++
		}
		if s.active {
			actives++
			if !n.kind.IsParallel() {
				want.current = int32(place)
			}
			if !e.tasks[t].active || !e.tasks[t].status.in(wanted) {
				report("task %d is active under a parent that passes nothing on", child)
			}
		}
		if skipping {
			want.front = s.effective
		}
		if skipping = skipping && s.effective.in(passedOver[n.kind]); skipping {
			want.first++
		}
		if (n.kind == Sequence || n.kind == Fallback) && (s.hold == pinned) != (int32(place) < p.pinned) {
			report("task %d: pinned is wrong", child)
		}
	}
	if n.kind.IsParallel() || want.first == n.n && judgement[want.front] == judgement[p.front] {
		want.front = p.front
	}
	if want != *p {
		report("task %d: counts are %+v, should be %+v", t, *p, want)
	}
	if !n.kind.IsParallel() && actives > 1 {
		report("task %d has %d active children", t, actives)
	}
	if n.kind.IsParallel() && p.passing != e.passes(t, n, p) {
		report("task %d: passing is wrong", t)
	}
}
