package mission

import (
	"errors"
	"fmt"

	"canopy/bt"
	"canopy/formalism/tick"
	"canopy/snapshot"
)

// ErrConventional is the failure of a mission that cannot be flown with the conventional tick.
var ErrConventional = errors.New("no conventional tick for this mission")

// Discrete is the plan's tree in discrete time: it is ticked at multiples of a period, and sees nothing in between.
type Discrete struct {
	Period       float64 // [s]
	Restart      bool    // the integrator starts anew at each tick
	Conventional bool    // the tree is ticked by a [tick.Conventional]: it chatters
}

func (d Discrete) String() string {
	text := fmt.Sprintf("tick %g s", d.Period)
	if d.Conventional {
		text += ", conventional"
	}
	if d.Restart {
		text += ", restart"
	}
	return text
}

func (d Discrete) planner(r *Run) (planner, error) {
	if d.Conventional {
		for i := range r.m.leaves {
			if entry, exit := r.m.leaves[i].slow(); entry || exit {
				return nil, fmt.Errorf("%w: %s has a procedure that takes time", ErrConventional,
					r.m.Plan.Tree.Name(r.m.leaves[i].task))
			}
		}
		start := func(in []bt.Input) engine { return conventional{tick.NewConventional(r.m.Plan.Tree, in)} }
		return &clocked{treePlanner: newTreePlanner(r, start), Discrete: d}, nil
	}
	start := func(in []bt.Input) engine { return tick.NewEngine(r.m.Plan.Tree, in, 0) }
	return &clocked{treePlanner: newTreePlanner(r, start), Discrete: d}, nil
}

// conventional has the methods of the other engines, though a tick settles nothing.
type conventional struct{ *tick.Conventional }

func (c conventional) Settle(inputs []bt.Input) (bt.Instant, error) { return c.Tick(inputs), nil }

// clocked is the planner of Discrete.
type clocked struct {
	*treePlanner
	Discrete
	ticks int // done so far
}

// next returns the time of the next tick, free of the errors of a sum.
func (c *clocked) next() float64 { return float64(c.ticks) * c.Period }

// settle ticks the tree if it is time: until nothing is new, or conventionally once, be anything new or not.
func (c *clocked) settle(r *Run) (bool, error) {
	if r.sim.T < c.next() {
		return false, nil
	}
	var again bool
	var err error
	if c.Conventional {
		again, err = true, c.react(r, c.inputs(r))
	} else {
		again, err = c.treePlanner.settle(r)
	}
	if (c.Conventional || !again) && err == nil { // this tick is over
		c.ticks++
		if c.Restart && c.ticks > 1 {
			r.sim.Restart()
		}
	}
	return again, err
}

func (c *clocked) State(s *snapshot.Codec) {
	c.treePlanner.State(s)
	snapshot.Int(s, &c.ticks)
}

// watch wants to be asked at the next tick only.
func (c *clocked) watch(r *Run) { r.sim.Alarm = c.next() }

// alarm is not worth a line: a tick in which nothing changes is nothing to write down.
func (c *clocked) alarm() string { return "" }
