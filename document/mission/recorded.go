package mission

import (
	"canopy/bt"
	"canopy/snapshot"
)

// Inputs is the value of the discrete inputs from a time on.
type Inputs struct {
	T float64 // simulated time [s]
	U []float64
}

// Recorded plays back the inputs that another run of the mission recorded, starting with those at its start: the tree
// is not there, the aircraft is simulated alone.
type Recorded []Inputs

func (Recorded) String() string { return "recorded inputs" }

func (rec Recorded) planner(*Run) (planner, error) { return &playback{inputs: rec}, nil }

// playback is the planner of Recorded.
type playback struct {
	inputs Recorded
	next   int // of the inputs
}

func (p *playback) settle(r *Run) (bool, error) {
	if p.next == len(p.inputs) || p.inputs[p.next].T > r.sim.T {
		return false, nil
	}
	copy(r.sim.U, p.inputs[p.next].U)
	p.next++
	r.iterated(1)
	return true, nil
}

func (p *playback) watch(r *Run) {
	if p.next < len(p.inputs) {
		r.sim.Alarm = p.inputs[p.next].T
	}
}

func (p *playback) alarm() string { return "recorded inputs change" }

func (p *playback) status(r *Run, t bt.Task) bt.Status { return r.leafStatus(t) }

func (p *playback) State(c *snapshot.Codec) { snapshot.Int(c, &p.next) }

func (p *playback) halt(*Run) error {
	p.next = len(p.inputs)
	return nil
}
