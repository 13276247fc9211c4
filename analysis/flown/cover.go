package flown

import (
	"slices"

	"canopy/analysis/zone"
	"canopy/snapshot"
)

// Cover is states of a search. A state whose clock readings are all among those of another one, as soon as some time
// has passed, and that is otherwise equal, has no other future (C. Daws and S. Tripakis, Model Checking of Real-Time
// Reachability Properties Using Abstractions, 1998).
type Cover struct{ zones map[string][]covered }

type covered struct {
	*zone.Zone
	n int
}

// Arrive records the state with a number at a moment, by its key or class and what else counts. If another one covers
// it, the result is the number of that one. Without a wait the next instant follows at once.
func (c *Cover) Arrive(m *Moment, state, more string, wait bool, n int) (first int, fresh bool) {
	m.s.buffer = snapshot.Save(m.s.buffer[:0], m.Zone())
	state = state[:len(state)-len(m.s.buffer)] + more // clocks are the last part of both
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
		c.zones = map[string][]covered{}
	}
	c.zones[state] = append(slices.DeleteFunc(c.zones[state], func(o covered) bool { return z.Includes(o.Zone) }),
		covered{z, n})
	return n, true
}
