package run

import (
	"errors"
	"fmt"
	"strings"

	"canopy/sim"
	"canopy/snapshot"
)

// ErrStorm reports a run with time events so dense that time hardly advances: procedures that take almost no time start
// each other. The error that wraps it names the tasks. The simulator detects such chattering only in state events;
// ticks and the recording grid do not count.
var ErrStorm = errors.New("chattering")

// Time events chatter if a hundred of them occur within less than a hundredth of a second. Unlike for state events, the
// steps of the integrator are not a measure: each time event ends one.
const (
	crowd = 100
	brief = 0.01              // s
	apart = 2 * brief / crowd // distance at which Continue holds them [s]
)

// storm detects chattering of time events.
type storm struct {
	times  []float64 // of the last time events, a ring buffer [s]
	count  int       // time events since the last report
	latest []int     // of each task, the count at its last change of status
	last   float64   // time of the last time event [s]
	held   bool      // a stretch of chattering is under way, with Continue
}

func newStorm(tasks int) storm {
	return storm{times: make([]float64, crowd), latest: make([]int, tasks)}
}

func (s *storm) state(c *snapshot.Codec) {
	snapshot.Floats(c, s.times)
	snapshot.Within(c, &s.count, 0, 1<<60)
	snapshot.Each(c, s.latest, snapshot.Int)
	snapshot.Float(c, &s.last)
	snapshot.Bool(c, &s.held)
}

// alarm returns the time of a time event that the executive requests for the given time. A stretch ends when none is
// requested for the duration of a cluster.
func (s *storm) alarm(now, wanted float64) float64 {
	s.held = s.held && wanted <= now+crowd*apart
	if s.held {
		return max(wanted, s.last+apart)
	}
	return wanted
}

// crowd counts the time event at the current time. If it completes a cluster, the run fails, or holds time events apart
// from now on, as the mission requires.
func (r *Run) crowd() error {
	s, t := &r.storm, r.world.T()
	s.times[s.count%crowd], s.last = t, t
	s.count++
	span := t - s.times[s.count%crowd]
	if s.held || s.count < crowd || span >= brief {
		return nil
	}
	var names []string
	for _, task := range r.m.Plan.Tree.Leaves() {
		if r.m.Plan.Tree.Kind(task).Acts() && s.latest[task] > 0 && s.latest[task] > s.count-crowd {
			names = append(names, r.m.Plan.Tree.Name(task))
		}
	}
	s.count = 0
	clear(s.latest)
	err := fmt.Errorf("%w at t = %.9g s: %d time events within %.3g s by procedures of %s", ErrStorm, t, crowd, span,
		strings.Join(names, ", "))
	if r.m.Chattering == sim.Stop {
		return err
	}
	s.held = true
	return r.log("chattering", err.Error())
}
