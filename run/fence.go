package run

import (
	"math"

	"github.com/canopy-uav/canopy/run/record"
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

// checkFence notices a breach on the last stretch. One that lasts shorter than a tenth of a step may remain unseen.
func (r *Run) checkFence(from, to float64) error {
	if r.fence == absent || !math.IsNaN(r.breached) {
		return nil
	}
	for i := range looks {
		if t := from + (to-from)*float64(i+1)/looks; r.world.At(t)[r.fence] == 1 {
			return r.Breach(t, "the vehicle is outside its fence")
		}
	}
	return nil
}

// Breach logs, once, that the vehicle has been outside its fence since a time [s].
func (r *Run) Breach(t float64, text string) error {
	if !math.IsNaN(r.breached) {
		return nil
	}
	r.breached = t
	return r.rec.Event(record.Event{T: r.world.T(), Micro: r.executive.Micro(), Kind: "fence", Text: text})
}
