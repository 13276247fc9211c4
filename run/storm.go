package run

import (
	"errors"
	"fmt"
	"strings"

	"canopy/sim"
	"canopy/snapshot"
)

// ErrStorm reports a run with time events so dense that it does not come to its end: procedures, delays or timers that
// take almost no time start each other. The error that wraps it names the tasks. The simulator detects such chattering
// only in state events; ticks and the recording grid do not count.
var ErrStorm = errors.New("chattering")

// Time events chatter if a thousand in succession advance the time by less than a ten-thousandth of the mission's
// horizon, and by less than a second: at this pace, the mission would have more than ten million of them. Unlike for
// state events, the steps of the integrator are not a measure: each time event ends one.
const (
	crowd = 1000
	share = 1e-4 // of the horizon
	brief = 1.0  // s
)

// storm detects chattering of time events.
type storm struct {
	times  []float64 // of the last time events, a ring buffer [s]
	least  float64   // that a crowd of them must advance the time [s]
	count  int       // time events since the last report
	latest []int     // of each task, the count at its last change of status
	last   float64   // time of the last time event [s]
	held   bool      // a stretch of chattering is under way, with Continue
}

func newStorm(tasks int, horizon float64) storm {
	return storm{times: make([]float64, crowd), least: min(share*horizon, brief), latest: make([]int, tasks)}
}

func (s *storm) state(c *snapshot.Codec) {
	snapshot.Floats(c, s.times)
	snapshot.Within(c, &s.count, 0, 1<<60)
	snapshot.Each(c, s.latest, snapshot.Int)
	snapshot.Float(c, &s.last)
	snapshot.Bool(c, &s.held)
}

// alarm returns the time of a time event that the executive requests for the given time. In a stretch of chattering
// each event takes what a crowd should take at least; it ends when none is requested for twice that time.
func (s *storm) alarm(now, wanted float64) float64 {
	s.held = s.held && wanted <= now+2*s.least
	if s.held {
		return max(wanted, s.last+s.least)
	}
	return wanted
}

// crowd counts the time event at the current time, with its text in the log. If it completes a crowd, the run fails, or
// holds time events apart from now on, as the mission requires.
func (r *Run) crowd(text string) error {
	s, t := &r.storm, r.world.T()
	s.times[s.count%crowd], s.last = t, t
	s.count++
	span := t - s.times[s.count%crowd]
	if s.held || s.count < crowd || span >= s.least {
		return nil
	}
	const most = 10
	var names []string
	for _, task := range r.m.Plan.Tree.Leaves() {
		if r.m.Plan.Tree.Kind(task).Acts() && s.latest[task] > 0 && s.latest[task] > s.count-crowd {
			names = append(names, r.m.Plan.Tree.Name(task))
		}
	}
	if n := len(names); n > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", n-most))
	}
	s.count = 0
	clear(s.latest)
	tasks := ""
	if len(names) > 0 {
		tasks = " while the status of " + strings.Join(names, ", ") + " changes"
	}
	err := fmt.Errorf("%w at t = %.9g s: %d time events (%s) advance the time by %.3g s, less than %.3g s%s", ErrStorm, t,
		crowd, text, span, s.least, tasks)
	if r.m.Chattering == sim.Stop {
		return err
	}
	s.held = true
	return r.log("chattering", err.Error())
}
