package verify

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/temporal"
)

// Turns that are slow because of a task. Each time that a turn goes round, it activates each task that takes part. So
// if no run activates one of these twice within a time, the turn takes at least as long. The runs that are searched are
// those in which signals move at their rates, and the times since activations pass.

// again is the search for a run that activates a task twice within a period. It follows no formula: what is to be met
// is 0 after an activation that was chosen, and the clock of the only operation reads the time since then.
type again struct {
	*product
	task   bt.Task
	period zone.Time
	stops  bool // a run stops with an error
}

// step follows the task through a settling.
func (x *again) step(at *flown.Moment, now observed) (observed, event) {
	if !at.Over {
		return now, nothing
	}
	if now.state >= 0 && !at.Zone().Allows(x.clock, zone.Before, x.period) {
		return now, done
	}
	flows, possible := x.flowsAfter(at, now.flows)
	if now.flows = flows; !possible {
		return now, impossible
	}
	for _, c := range at.Changes {
		switch {
		case c.Task != x.task || c.To != bt.Activating:
		case now.state >= 0:
			return now, hit
		case at.Choose():
			now.state = 0
			at.Zone().Start(x.clock)
		}
	}
	if at.Ended() {
		return now, done
	}
	return now, nothing
}

// none stands for no task.
const none bt.Task = -1

// restarts reports whether some run may activate a task twice within the period, or stop with an error.
func (m *Model) restarts(task bt.Task) bool {
	least := m.subject.Declared.Period
	_, period := zone.Seconds(least)
	time := &temporal.Formula{Op: temporal.For, Bound: least, Args: []*temporal.Formula{truth(expr.True)}}
	l, _ := newMonitor(time, nil, m.stepper().Clocks())
	x := &again{m.newProduct(m.stepper(), l, atRates|joinTimes), task, period, false}
	x.search.observer = x
	x.stopped = func(at *flown.Moment, from int) {
		_, possible := x.flowsAfter(at, x.states.Key(from).mark.flows)
		x.stops = x.stops || possible && at.Possible()
	}
	x.run()
	return x.from >= 0 || x.states.Short() != "" || x.stops
}

// doubtful reports whether turns are neither proved to be slow nor shown to be fast.
func (m *Model) doubtful(f Finding) bool {
	if f.Verdict == Proved || m.subject.Fly == nil || f.fault == nil {
		return f.Verdict == Undecided
	}
	_, _, shown := m.inFlight(f.fault.in)
	return !shown
}

// withoutSlow leaves out the turns of tasks that no run activates twice within the period, and returns what it finds
// then.
func (t *turns) withoutSlow(found []Finding) (*turns, []Finding) {
	var slow []bt.Task
	asked := map[bt.Task]bool{}
	for i := 0; i < len(found); i++ {
		for _, task := range found[i].Tasks {
			if asked[task] || !t.m.doubtful(found[i]) {
				continue
			}
			if asked[task] = true; !t.m.restarts(task) {
				slow = append(slow, task)
				t.omit(task)
				t = t.findTurns()
				found, i = t.findings(), -1
				break
			}
		}
	}
	if slow != nil {
		found = append(found, Finding{Verdict: Proved, Tasks: slow, Period: t.m.subject.Declared.Period,
			Text: fmt.Sprintf("%s switched on no faster than every %.3g s", t.m.some(slow)+either(slow, " is", " are each"),
				t.m.subject.Declared.Period)})
	}
	return t, found
}

// omit leaves out the edges on which a task becomes active.
func (x *graph) omit(task bt.Task) {
	active := func(n int) bool { return slices.Contains(x.plan[x.nodes[n].state].active, task) }
	for n := range x.nodes {
		if !active(n) {
			x.nodes[n].next = slices.DeleteFunc(x.nodes[n].next, func(e edge) bool { return active(e.to) })
		}
	}
}
