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

// enter starts the entry procedure of an action: from now on it is active. Its assignments are made one after the
// other, each seeing the values that the earlier ones gave.
func (r *Run) enter(i int) error {
	l, s := &r.m.leaves[i], &r.leaves[i]
	s.outcome = bt.Accept
	r.refresh()
	for k, a := range l.entry { // until its turn comes, an assignment's slot keeps its value
		r.sim.U[r.m.capture(l.captured+k)] = r.world.signals[r.m.slots[a.slot].signal]
	}
	r.sim.U[i] = 1
	for k, a := range l.entry {
		r.refresh()
		r.sim.U[r.m.capture(l.captured+k)] = r.world.evaluate(a.value)
	}
	if slow, _ := l.slow(); slow {
		s.procedure = entering
		return r.time(s, l, l.entryTime)
	}
	return nil
}

// exit starts the exit procedure of an action. Slots that hold keep what it wrote last, the others return to their
// default.
func (r *Run) exit(i int) error {
	l, s := &r.m.leaves[i], &r.leaves[i]
	r.refresh()
	for _, slot := range l.slots {
		if r.m.slots[slot].hold {
			r.sim.U[r.m.held(slot)] = r.world.signals[r.m.slots[slot].signal]
		}
	}
	r.sim.U[i] = 0
	for _, a := range l.exit {
		r.refresh()
		r.sim.U[r.m.held(a.slot)] = r.world.evaluate(a.value)
	}
	s.procedure = none
	if _, slow := l.slow(); slow {
		s.procedure = exiting
		return r.time(s, l, l.exitTime)
	}
	r.release(l.exit)
	return nil
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

// release gives what an exit procedure has assigned to slots that do not hold their default back, when it is over.
func (r *Run) release(exit []assignment) {
	for _, a := range exit {
		if s := r.m.slots[a.slot]; !s.hold {
			r.sim.U[r.m.held(a.slot)] = s.initial
		}
	}
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
