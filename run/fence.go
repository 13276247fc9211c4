package run

import (
	"canopy/run/record"
	"canopy/snapshot"
)

// fenceSignal is the signal, of vehicles with a fence, that they are outside.
const fenceSignal = "fence_breached"

// looks is the number of times at which a step of the integration is examined for a breach.
const looks = 10

// findFence finds the signal in a mission with a fence that is simulated. In flight the autopilot watches the fence.
func (r *Run) findFence() {
	r.fence = absent
	if _, observes := r.world.(Observer); observes || r.m.Fence.Empty() {
		return
	}
	if _, place := r.m.Signal(fenceSignal); place >= 0 {
		r.fence = place
	}
}

// checkFence logs, once, that the vehicle has been outside its fence on the last stretch. A breach that lasts shorter
// than a tenth of a step may remain unseen.
func (r *Run) checkFence(from, to float64) error {
	if r.fence == absent || r.breached != nil {
		return nil
	}
	for i := range looks {
		t := from + (to-from)*float64(i+1)/looks
		if r.world.At(t)[r.fence] != 1 {
			continue
		}
		r.breached = &t
		return r.rec.Event(record.Event{T: to, Micro: r.executive.Micro(), Kind: "fence",
			Text: "the vehicle is outside its fence"})
	}
	return nil
}

func (r *Run) passBreach(c *snapshot.Codec) {
	breached, at := r.breached != nil, 0.0
	if breached {
		at = *r.breached
	}
	snapshot.Bool(c, &breached)
	snapshot.Float(c, &at)
	if c.Loading() {
		if r.breached = nil; breached {
			r.breached = &at
		}
	}
}
