package sim

import "canopy/snapshot"

const (
	crowd = 100 // events in less than a step are chattering; this many steps without an event are a quiet time
	few   = 3   // so few steps between events are little more than the short ones after a restart
)

// chatter detects chattering. Events chatter if the last hundred of them span less time than one step: the one in
// progress or, if there were at most a few steps between successive events, the longest one completed since the last
// quiet time.
//
// The step in progress alone is not enough: after an event it is small at first, and stays small until the fast motion
// excited by the event has decayed. Neither is the longest one alone: if events are dense after a quiet time, but leave
// time for steps that follow their effects, the simulation makes progress.
type chatter struct {
	times  []float64 // of the last events, a ring buffer
	count  int       // events since the last report
	latest []int     // of each indicator, the count at its last event
	steps  int       // completed since the last event
	cut    int       // events since there were more than a few such steps
	stride float64   // the longest step completed since the last of a quiet time

	held  bool    // a stretch of chattering is under way, with Continue
	quiet float64 // while held: no event before this time
	gap   float64 // while held: the minimum distance of events
}

func newChatter(indicators int) chatter {
	return chatter{times: make([]float64, crowd), latest: make([]int, indicators)}
}

func (c *chatter) copyFrom(o *chatter) {
	own := *c
	*c = *o
	c.times, c.latest = own.times, own.latest
	copy(c.times, o.times)
	copy(c.latest, o.latest)
}

func (c *chatter) state(s *snapshot.Codec) {
	snapshot.Floats(s, c.times)
	snapshot.Each(s, c.latest, snapshot.Int)
	for _, n := range []*int{&c.count, &c.steps, &c.cut} {
		snapshot.Int(s, n)
	}
	for _, x := range []*float64{&c.stride, &c.quiet, &c.gap} {
		snapshot.Float(s, x)
	}
	snapshot.Bool(s, &c.held)
}

// complete records a completed step whose length the integrator chose freely.
func (c *chatter) complete(length float64) {
	if c.steps++; c.steps > few {
		c.cut = 0
	}
	if c.steps > crowd || length > c.stride {
		c.stride = length
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

// noteEvents counts the events at T, one set, and returns a report if they complete a cluster.
func (s *Simulator) noteEvents(events []int) *ChatterError {
	c := &s.chatter
	c.times[c.count%crowd] = s.T
	c.count++
	c.cut++
	c.steps = 0
	for _, i := range events {
		c.latest[i] = c.count
	}
	if c.held && s.T < c.quiet+crowd*c.gap {
		c.hold(s.T)
		return nil
	}
	if c.held { // the stretch has ended if no event occurred for a hundred gaps
		c.release()
	}
	if c.count < crowd {
		return nil
	}
	step := s.integrator.T() - s.integrator.From()
	if c.cut >= crowd {
		step = max(step, c.stride)
	}
	span := s.T - c.times[c.count%crowd]
	if !(span < step) {
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
		// A hundred events per step is the limit of chattering.
		c.gap = max(step/crowd, 4*ulp(s.T))
		c.hold(s.T)
	}
	return report
}
