package mission

import "canopy/bt"

// Inputs is the value of the discrete inputs from a time on.
type Inputs struct {
	T float64 // simulated time [s]
	U []float64
}

// Recorded plays back the inputs that another run of the mission recorded, starting with those at its start: the tree
// is not there, the aircraft is simulated alone.
type Recorded []Inputs

func (Recorded) String() string { return "recorded inputs" }

func (rec Recorded) planner(*Run) (planner, error) { return &playback{rest: rec}, nil }

// playback is the planner of Recorded.
type playback struct{ rest Recorded }

func (p *playback) settle(r *Run) (bool, error) {
	if len(p.rest) == 0 || p.rest[0].T > r.sim.T {
		return false, nil
	}
	copy(r.sim.U, p.rest[0].U)
	p.rest = p.rest[1:]
	r.iterated(1)
	return true, nil
}

func (p *playback) watch(r *Run) {
	if len(p.rest) > 0 {
		r.sim.Alarm = p.rest[0].T
	}
}

func (p *playback) alarm() string { return "recorded inputs change" }

func (p *playback) status(r *Run, t bt.Task) bt.Status { return r.leafStatus(t) }

func (p *playback) halt(*Run) error {
	p.rest = nil
	return nil
}
