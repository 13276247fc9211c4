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

// initialInputs returns what every leaf tells the tree at the start, before anything was active.
func (r *Run) initialInputs() []bt.Input {
	var in []bt.Input
	for i := range r.m.leaves {
		l := &r.m.leaves[i]
		if l.condition {
			continue
		}
		if entry, exit := l.slow(); entry || exit {
			in = append(in, bt.Slow(l.task, entry, exit))
		}
	}
	return append(in, r.inputs()...)
}

// slow reports which procedures of an action take time.
func (l *leaf) slow() (entry, exit bool) {
	return l.entryTime != nil || l.entryUntil != nil, l.exitTime != nil || l.exitUntil != nil
}

// inputs returns what the leaves have to tell the tree that it does not know yet, judged by the present sides of the
// indicators and the simulated time. It works on levels, not on edges, so nothing is lost however events coincide.
func (r *Run) inputs() []bt.Input {
	in := r.pending[:0]
	for i := range r.m.leaves {
		l, s := &r.m.leaves[i], &r.leaves[i]
		if l.condition {
			if v := r.holds(l.on) || s.value && l.off != nil && !r.holds(l.off); v != s.value {
				s.value = v
				in = append(in, bt.Set(l.task, v))
			}
			continue
		}
		if v := r.verdict(l.failureIf, l.successIf); v != s.request {
			s.request = v
			in = append(in, bt.Request(l.task, v))
		}
		if status := r.engine.Status(l.task); status == bt.Activating || status == bt.Running {
			if v := r.verdict(l.failed, l.done); v != bt.Accept && v != s.outcome {
				s.outcome = v
				in = append(in, bt.End(l.task, v))
			}
		}
		switch s.procedure {
		case entering:
			if r.sim.T >= s.deadline || r.holds(l.entryUntil) {
				s.procedure = none
				in = append(in, bt.Entered(l.task))
			}
		case exiting:
			if r.sim.T >= s.deadline || r.holds(l.exitUntil) {
				s.procedure = none
				r.release(l.exit)
				in = append(in, bt.Exited(l.task))
			}
		}
	}
	r.pending = in
	return in
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
	r.assign(l.entry)
	r.sim.U[i] = 1
	if slow, _ := l.slow(); slow {
		s.procedure = entering
		return r.time(s, l, l.entryTime)
	}
	return nil
}

// exit starts the exit procedure of an action. Slots that hold keep what it wrote last; what its entry gave to the
// others ends with it.
func (r *Run) exit(i int) error {
	l, s := &r.m.leaves[i], &r.leaves[i]
	r.refresh()
	for _, slot := range l.slots {
		if r.m.slots[slot].hold {
			r.sim.U[r.held(slot)] = r.world.signals[r.m.slots[slot].signal]
		}
	}
	r.sim.U[i] = 0
	r.release(l.entry)
	r.assign(l.exit)
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

// assign makes assignments one after the other, each seeing the values that the earlier ones gave.
func (r *Run) assign(list []assignment) {
	for _, a := range list {
		r.refresh()
		r.sim.U[r.held(a.slot)] = r.world.evaluate(a.value)
	}
}

// release gives slots that do not hold their default back.
func (r *Run) release(list []assignment) {
	for _, a := range list {
		if s := r.m.slots[a.slot]; !s.hold {
			r.sim.U[r.held(a.slot)] = s.initial
		}
	}
}

// held returns the place of a slot's held value among the discrete inputs.
func (r *Run) held(slot int) int { return len(r.m.leaves) + slot }

// watch tells the simulator which indicators matter now, and when the next timed procedure ends.
//
// An indicator is watched only while its side can change what its leaf says: the condition for becoming true while a
// condition is false, the one for becoming false while it is true. Hysteresis needs nothing else.
func (r *Run) watch() {
	s := r.sim
	clear(s.Watch)
	s.Alarm = math.Inf(1)
	see := func(codes ...*expr.Code) {
		for _, c := range codes {
			if c != nil {
				r.see(c.Indicators())
			}
		}
	}
	r.see(r.m.program.standing)
	for i := range r.m.leaves {
		l, state := &r.m.leaves[i], &r.leaves[i]
		if l.condition {
			latched := state.value && l.off != nil
			if latched {
				see(l.off)
			}
			if !latched || r.holds(l.off) { // a condition that only `on` keeps true ends with it
				see(l.on)
			}
			continue
		}
		see(l.successIf, l.failureIf)
		if s.U[i] != 0 {
			see(l.done, l.failed)
			r.see(l.writes)
		}
		switch state.procedure {
		case entering:
			see(l.entryUntil)
		case exiting:
			see(l.exitUntil)
		}
		if state.procedure != none {
			s.Alarm = min(s.Alarm, state.deadline)
		}
	}
}

func (r *Run) see(indicators []int) {
	for _, i := range indicators {
		r.sim.Watch[i] = sim.Either
	}
}
