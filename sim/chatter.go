package sim

import "canopy/snapshot"

const (
	crowd = 100 // events in less than a step are chattering; as many steps without an event are a quiet time
	few   = 3   // steps from event to event hardly get beyond the first ones after a restart, which are short
)

// chatter watches for events that crowd. Events chatter if the last hundred of them lie within less time than one step:
// the one in progress or, if they left the integrator time for a few steps at most from one to the next, the longest
// that it has completed since the last quiet time.
//
// The step in progress alone would not do: after an event it starts small, and stays so while fast motion dies out that
// the event has excited. Nor would the longest one alone: events that are dense after a quiet time, but leave time
// for steps that follow what they do, are a simulation that goes on.
type chatter struct {
	times  []float64 // of the last events, a ring
	count  int       // events since the last report
	latest []int     // of each indicator, the count at its last event
	steps  int       // completed since the last event
	cut    int       // events since there were more than a few such steps
	stride float64   // the longest step completed since the last of a quiet time

	held  bool    // a stretch is under way that Continue gets over
	quiet float64 // no event before this time while it is
	gap   float64 // the least distance of events meanwhile
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

// complete notes a step that was completed, of a length that is the integrator's own choice.
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

// noteEvents counts the events at T, one set, and returns a report if they complete a crowd.
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
	if c.held { // the stretch ended when no event came for the time of a crowd
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
		// A crowd to a step is just what is no chattering any more.
		c.gap = max(step/crowd, 4*ulp(s.T))
		c.hold(s.T)
	}
	return report
}
