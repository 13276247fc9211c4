package sim

import "math"

// crowd is how many events in less than a step are chattering.
const crowd = 100

// chatter watches for events that crowd. Events chatter if the last hundred of them lie within less time than the step
// in which the last of them was found, while from one to the next the states move by less than their tolerance on
// average, or the times are neighbouring numbers: fast switching that the integrator resolves is none.
type chatter struct {
	times  []float64 // of the last events, a ring
	moved  []float64 // how far the states moved up to each since the one before, in units of their tolerance
	count  int       // events since the last report
	latest []int     // of each indicator, the count at its last event
	mark   []float64 // states after the last event was answered
	fired  bool      // the last segment ended in an event
	stride float64   // length of the last step that was completed

	held  bool    // a stretch is under way that Continue gets over
	quiet float64 // no event before this time while it is
	gap   float64 // the least distance of events meanwhile
}

func newChatter(states, indicators int) chatter {
	return chatter{
		times: make([]float64, crowd), moved: make([]float64, crowd),
		latest: make([]int, indicators), mark: make([]float64, states),
	}
}

func (c *chatter) copyFrom(o *chatter) {
	own := *c
	*c = *o
	c.times, c.moved, c.latest, c.mark = own.times, own.moved, own.latest, own.mark
	copy(c.times, o.times)
	copy(c.moved, o.moved)
	copy(c.latest, o.latest)
	copy(c.mark, o.mark)
}

// begin notes the states y with which a segment starts.
func (c *chatter) begin(y []float64) {
	if c.fired {
		copy(c.mark, y)
		c.fired = false
	}
}

// hold allows no event for a while after t.
func (c *chatter) hold(t float64) {
	c.held = true
	c.quiet = t + c.gap
}

// release ends a stretch, and forgets its events.
func (c *chatter) release() {
	c.held = false
	c.count = 0
	clear(c.latest)
}

// noteEvents counts the events at T, one set, and returns a report if they complete a crowd.
func (s *Simulator) noteEvents(events []int) *ChatterError {
	c := &s.chatter
	now := c.count % crowd
	c.times[now] = s.T
	c.moved[now] = s.distance(c.mark)
	c.count++
	c.fired = true
	for _, i := range events {
		c.latest[i] = c.count
	}
	if c.held && s.T < c.quiet+crowd*c.gap {
		c.hold(s.T)
		return nil
	}
	if c.held { // the stretch ended when no event came for the time of a crowd
		c.release()
	}
	if c.count < crowd {
		return nil
	}
	step := s.integrator.T() - s.integrator.From()
	span := s.T - c.times[c.count%crowd]
	total := 0.0
	for k, d := range c.moved {
		if k != c.count%crowd {
			total += d
		}
	}
	// Events at neighbouring times are chattering, whatever the tolerance.
	still := total <= crowd || span <= 4*crowd*ulp(s.T)
	if !(span < step && still) {
		return nil
	}
	report := &ChatterError{T: s.T, Span: span, Count: crowd}
	for i, n := range c.latest {
		if n > c.count-crowd {
			report.Indicators = append(report.Indicators, i)
			report.Names = append(report.Names, s.sys.Indicators[i].Name)
		}
	}
	c.release()
	if s.options.Chattering == Continue {
		// A crowd to a step is just what is no chattering any more.
		c.gap = max(max(step, c.stride)/crowd, 4*ulp(s.T))
		c.hold(s.T)
	}
	return report
}

// distance returns how far Y is from y, the largest over the states, in units of the tolerance.
func (s *Simulator) distance(y []float64) float64 {
	d := 0.0
	for i, v := range s.Y {
		if w := s.relTol*math.Abs(v) + s.absTol[i]; v != y[i] {
			d = max(d, math.Abs(v-y[i])/w)
		}
	}
	return d
}
