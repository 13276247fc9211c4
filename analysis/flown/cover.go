package flown

import (
	"slices"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/snapshot"
)

// Cover is states of a search. A state whose clock readings are all among those of another one, as soon as some time
// has passed, and that is otherwise equal, has no other future (C. Daws and S. Tripakis, Model Checking of Real-Time
// Reachability Properties Using Abstractions, 1998).
type Cover struct {
	zones map[string][]covered
	later map[int]int // those that a later one covers
}

type covered struct {
	*zone.Zone
	n int
}

// Arrive records the state with a number at a moment, by its key or class and what else counts. If another one covers
// it, the result is the number of that one. Without a wait the next instant follows at once.
func (c *Cover) Arrive(m *Moment, state, more string, wait bool, n int) (first int, fresh bool) {
	state = c.apart(m, state, more)
	z := &zone.Zone{}
	if z.CopyFrom(m.Zone()); wait {
		z.Pass()
	}
	for _, o := range c.zones[state] {
		if o.Includes(z) {
			return o.n, false
		}
	}
	if c.zones == nil {
		c.zones, c.later = map[string][]covered{}, map[int]int{}
	}
	c.zones[state] = append(slices.DeleteFunc(c.zones[state], func(o covered) bool {
		covers := z.Includes(o.Zone)
		if covers {
			c.later[o.n] = n
		}
		return covers
	}), covered{z, n})
	return n, true
}

// Join adds to the clock readings of a moment those between them and the readings of the same state that have arrived
// before, and returns the state with these: the searches then show more than flights do.
func (c *Cover) Join(m *Moment, state, more string) (joined string) {
	whole := c.apart(m, state, more)
	for _, o := range c.zones[whole] {
		if slices.Equal(o.Clocks(), m.Zone().Clocks()) {
			m.Zone().Join(o.Zone)
		}
	}
	m.s.stack.widen()
	return whole[:len(whole)-len(more)] + string(snapshot.Save(nil, m.Zone()))
}

// apart returns a state without the clock readings of the moment, which are the last part of it.
func (c *Cover) apart(m *Moment, state, more string) string {
	m.s.buffer = snapshot.Save(m.s.buffer[:0], m.Zone())
	return state[:len(state)-len(m.s.buffer)] + more
}

// Later returns the state that covers an earlier one, if there is one.
func (c *Cover) Later(n int) (by int, covered bool) {
	by, covered = c.later[n]
	return by, covered
}
