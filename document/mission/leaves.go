package mission

import (
	"fmt"
	"math"

	"canopy/bt"
	"canopy/expr"
	"canopy/sim"
)

// leafState is what a run remembers of a leaf: what the tree has been told, and the procedure that runs.
type leafState struct {
	value     bool      // of a condition
	request   bt.Status // of an action
	outcome   bt.Status // told since the activation; Accept stands for none
	procedure procedure
	deadline  float64 // simulated time at which a timed procedure ends; +Inf for one that waits for its condition
}

// procedure is the procedure of a leaf that takes time and is under way.
type procedure uint8

const (
	none procedure = iota
	entering
	exiting
)

// slow reports which procedures of an action take time.
func (l *leaf) slow() (entry, exit bool) {
	return l.entryTime != nil || l.entryUntil != nil, l.exitTime != nil || l.exitUntil != nil
}

// holds reports whether a condition of the plan holds; one that is not given does not.
func (r *Run) holds(c *expr.Code) bool { return c != nil && c.Bool(r.world.signals, r.sim.Above) }

// verdict is failure if the first condition holds, else success if the second does, else neither.
func (r *Run) verdict(failure, success *expr.Code) bt.Status {
	switch {
	case r.holds(failure):
		return bt.Failure
	case r.holds(success):
		return bt.Success
	}
	return bt.Accept
}

// enter starts the entry procedure of an action: from now on it is active.
func (r *Run) enter(i int) error {
	l, s := &r.m.leaves[i], &r.leaves[i]
	s.outcome = bt.Accept
	r.assign(i, active, l.entry, l.captured)
	if slow, _ := l.slow(); slow {
		s.procedure = entering
		return r.time(s, l, l.entryTime)
	}
	return nil
}

// exit starts the exit procedure of an action, and completes it unless it takes time. Slots that hold keep what the
// action wrote last, the others return to their default.
func (r *Run) exit(i int) error {
	l, s := &r.m.leaves[i], &r.leaves[i]
	r.refresh()
	for _, slot := range l.slots {
		r.keep(slot, r.world.signals[r.m.slots[slot].signal])
	}
	r.assign(i, leaving, l.exit, l.left)
	if _, slow := l.slow(); slow {
		s.procedure = exiting
		return r.time(s, l, l.exitTime)
	}
	r.exited(i)
	return nil
}

// assign brings a leaf into a phase in which it writes the values of assignments. They are captured one after the
// other, each seeing the values that the earlier ones gave; until its turn comes, an assignment's slot keeps its value.
func (r *Run) assign(i int, p phase, list []assignment, captured int) {
	r.refresh()
	for k, a := range list {
		r.sim.U[r.m.capture(captured+k)] = r.world.signals[r.m.slots[a.slot].signal]
	}
	r.sim.U[i] = p
	for k, a := range list {
		r.refresh()
		r.sim.U[r.m.capture(captured+k)] = r.world.evaluate(a.value)
	}
}

// exited completes the exit procedure of an action.
func (r *Run) exited(i int) {
	l := &r.m.leaves[i]
	r.leaves[i].procedure = none
	r.sim.U[i] = resting
	for k, a := range l.exit {
		r.keep(a.slot, r.sim.U[r.m.capture(l.left+k)])
	}
}

// keep gives a slot that holds a value that lasts.
func (r *Run) keep(slot int, value float64) {
	if r.m.slots[slot].hold {
		r.sim.U[r.m.held(slot)] = value
	}
}

// time sets the deadline of a procedure that has just begun.
func (r *Run) time(s *leafState, l *leaf, duration *expr.Code) error {
	s.deadline = math.Inf(1)
	if duration == nil {
		return nil
	}
	r.refresh()
	d := r.world.evaluate(duration)
	if math.IsNaN(d) || d < 0 {
		return fmt.Errorf("%w: the procedure of %s would take %g s at t = %.3f s", ErrDuration,
			r.m.Plan.Tree.Name(l.task), d, r.sim.T)
	}
	s.deadline = r.sim.T + d
	return nil
}

// see has the simulator watch indicators.
func (r *Run) see(indicators []int) {
	for _, i := range indicators {
		r.sim.Watch[i] = sim.Either
	}
}

// seeCode has the simulator watch the relations of conditions; one that is not given has none.
func (r *Run) seeCode(codes ...*expr.Code) {
	for _, c := range codes {
		if c != nil {
			r.see(c.Indicators())
		}
	}
}

// judge brings a condition's truth up to date and reports whether it changed.
func (r *Run) judge(i int) bool {
	l, s := &r.m.leaves[i], &r.leaves[i]
	before := s.value
	s.value = r.holds(l.on) || before && l.off != nil && !r.holds(l.off)
	return s.value != before
}

// watchCondition has the simulator watch what can change a condition: the relations for becoming true while it is
// false, those for becoming false while it is true. Hysteresis needs nothing else.
func (r *Run) watchCondition(i int) {
	l, s := &r.m.leaves[i], &r.leaves[i]
	latched := s.value && l.off != nil
	if latched {
		r.seeCode(l.off)
	}
	if !latched || r.holds(l.off) { // a condition that only `on` keeps true ends with it
		r.seeCode(l.on)
	}
}
