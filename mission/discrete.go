package mission

import (
	"fmt"

	"canopy/bt"
	"canopy/snapshot"
)

// Discrete is the plan's tree in discrete time: it is ticked at multiples of a period, and sees nothing in between.
type Discrete struct {
	Period  float64 // [s]
	Restart bool    // the integrator starts anew at each tick
}

func (d Discrete) String() string {
	if d.Restart {
		return fmt.Sprintf("tick %g s, restart", d.Period)
	}
	return fmt.Sprintf("tick %g s", d.Period)
}

func (d Discrete) planner(r *Run) (planner, error) {
	start := func(in []bt.Input) engine { return ticked{bt.NewTickEngine(r.m.Plan.Tree, in, 0)} }
	return &clocked{treePlanner: newTreePlanner(r, start), Discrete: d}, nil
}

// ticked has the methods of the event engine.
type ticked struct{ *bt.TickEngine }

func (t ticked) Settle(inputs []bt.Input) (bt.Instant, error) { return t.Tick(inputs) }

// clocked is the planner of Discrete.
type clocked struct {
	*treePlanner
	Discrete
	ticks int // done so far
}

// next returns the time of the next tick, free of the errors of a sum.
func (c *clocked) next() float64 { return float64(c.ticks) * c.Period }

// settle ticks the tree if it is time.
func (c *clocked) settle(r *Run) (bool, error) {
	if r.sim.T < c.next() {
		return false, nil
	}
	again, err := c.treePlanner.settle(r)
	if !again && err == nil { // this tick is over
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
