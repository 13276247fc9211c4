package bt_test

import (
	"fmt"

	"canopy/bt"
)

// edges are the legal steps of the status cycle.
var edges = map[bt.Status][]bt.Status{
	bt.Success:      {bt.Failure, bt.Skipped, bt.Accept},
	bt.Failure:      {bt.Success, bt.Skipped, bt.Accept},
	bt.Skipped:      {bt.Success, bt.Failure, bt.Accept},
	bt.Accept:       {bt.Success, bt.Failure, bt.Skipped, bt.Activating},
	bt.Activating:   {bt.Running, bt.Deactivating},
	bt.Running:      {bt.Finished, bt.Aborted, bt.Dropped, bt.Deactivating},
	bt.Finished:     {bt.Deactivating},
	bt.Aborted:      {bt.Deactivating},
	bt.Dropped:      {bt.Deactivating},
	bt.Deactivating: {bt.Success, bt.Failure, bt.Skipped, bt.Accept},
}

// checker follows an engine from instant to instant and lists the invariants that do not hold.
type checker struct {
	statuses []bt.Status
	entered  []bool // the entry procedure was started, the exit procedure not yet
	cut      bool   // an instant was cut short by the limit, so that inputs met a tree that was not settled
}

func newChecker(e *bt.Engine) *checker {
	c := &checker{statuses: make([]bt.Status, e.Tree().Len()), entered: make([]bool, e.Tree().Len())}
	for t := range c.statuses {
		c.statuses[t] = e.Status(bt.Task(t))
	}
	return c
}

// check takes over an instant; states are compared only after one that has settled.
func (c *checker) check(e *bt.Engine, instant bt.Instant, settled bool) (findings []string) {
	report := func(format string, args ...any) { findings = append(findings, fmt.Sprintf(format, args...)) }
	legal := func(from, to bt.Status) bool {
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
		if e.Tree().Kind(t).Acts() && (change.To == bt.Activating || change.To == bt.Deactivating) {
			want := bt.Command{Task: t, Exit: change.To == bt.Deactivating}
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
	if err := e.Check(); err != nil {
		report("%v", err)
	}
	for i := range e.Tree().Len() {
		t := bt.Task(i)
		status, parent := e.Status(t), e.Tree().Parent(t)
		if status != c.statuses[t] {
			report("task %d is %s, by the log %s", t, status, c.statuses[t])
		}
		if e.Tree().Kind(t).Acts() && c.entered[t] != (status == bt.Activating || status == bt.Running) {
			report("task %d is %s, entered %v", t, status, c.entered[t])
		}
		if _, held := e.Held(t); !held || parent < 0 || c.cut {
			continue
		}
		if p := e.Status(parent); p.Transient() || p == bt.Deactivating {
			report("task %d: held by a parent that is %s", t, p)
		}
	}
	return findings
}
