package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/sim"
)

// ErrStorm reports a run with time events so dense that it does not come to its end: procedures, delays or timers that
// take almost no time start each other. In a flight, it also reports events that follow each other in no time. The
// error that wraps it names the tasks. The simulator detects such chattering only in state events; ticks and the
// recording grid do not count.
var ErrStorm = errors.New("chattering")

// Time events chatter if a thousand in succession advance the time by less than a millionth of the mission's horizon,
// and by less than a millisecond: at this pace, the mission would have more than a billion of them. Unlike state
// events, they do not converge, and there is no value whose accuracy could be a measure.
const (
	crowd = 1000
	share = 1e-6 // of the horizon
	brief = 1e-3 // s
)

// storm detects chattering of time events.
type storm struct {
	times    []float64 // of the last time events, a ring buffer [s]
	least    float64   // that a crowd of them must advance the time [s]
	count    int       // time events
	instants int       // with events, so far
	at       float64   // time of the last of them [s]
	still    int       // those before it at the same time
	latest   []int     // of each task, the instant of its last change of status, from 1
}

// exchanged returns the detector for a plan that takes over.
func (s *storm) exchanged(next *swap) storm {
	latest := make([]int, next.m.Plan.Tree.Len())
	for t := range latest {
		if k := next.change.Kept(bt.Task(t)); k >= 0 {
			latest[t] = s.latest[k]
		}
	}
	n := *s
	n.times, n.latest = slices.Clone(s.times), latest
	return n
}

// count counts an instant with events at the current time. A thousand at one time are an error: what the plan writes
// changes a signal that the plan reads, in a world that answers at once.
func (r *Run) count() error {
	s, t := &r.storm, r.world.T()
	s.instants++
	if s.still++; t != s.at {
		s.at, s.still = t, 0
	}
	if s.still < crowd {
		return nil
	}
	return fmt.Errorf("%w at t = %.9g s: %d instants do not advance the time%s", ErrStorm, t, crowd, r.restless(crowd))
}

// crowd counts the time event at the current time, with its text in the log. If it completes a crowd, the run fails.
func (r *Run) crowd(text string) error {
	s, t := &r.storm, r.world.T()
	s.times[s.count%crowd] = t
	s.count++
	span := t - s.times[s.count%crowd]
	if s.count < crowd || span >= s.least {
		return nil
	}
	return fmt.Errorf("%w at t = %.9g s: %d time events (%s) advance the time by %.3g s, less than %.3g s%s", ErrStorm, t,
		crowd, text, span, s.least, r.restless(crowd))
}

// chattering completes a report of state events that are too many by the tasks that take part.
func (r *Run) chattering(err error) error {
	c := (*sim.ChatterError)(nil)
	switch {
	case errors.As(err, &c):
		return fmt.Errorf("%w%s", err, r.restless(c.Count))
	case errors.Is(err, sim.ErrEndless):
		return fmt.Errorf("%w%s", err, r.restless(crowd))
	}
	return err
}

// restless names the actions whose status changed in the last instants.
func (r *Run) restless(instants int) string {
	const most = 10
	var names []string
	for _, task := range r.m.Plan.Tree.Leaves() {
		last := r.storm.latest[task]
		if r.m.Plan.Tree.Kind(task).Acts() && last > 0 && last > r.storm.instants-instants {
			names = append(names, r.m.Plan.Tree.Name(task))
		}
	}
	if n := len(names); n > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", n-most))
	}
	if len(names) == 0 {
		return ""
	}
	return " while the status of " + strings.Join(names, ", ") + " changes"
}
