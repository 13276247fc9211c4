package sim

import (
	"fmt"
	"math"
	"strings"

	"github.com/canopy-uav/canopy/snapshot"
)

const (
	loosest  = 1e-3 // no relative tolerance is looser in what is narrow
	rounding = 8    // units in the last place of the largest state: a value within them is narrow
	crowd    = 100  // narrow events before they can be chattering
	standing = 1e-6 // of the longest step: events that advance the time by less do not make progress
	denser   = 1.5  // if twice the events take less than this times the time, they become denser
	bearable = 1e6  // events up to the end that become denser
	patience = 1e5  // events at an even pace before they are too many,
	flyable  = 1e8  // if so many more would follow up to the end
	million  = 1000000
)

// ChatterError reports events between which the indicators stay within the accuracy of their values, while time hardly
// advances, or less and less.
type ChatterError struct {
	T          float64  // of the last event
	Span       float64  // from the first to the last event of the cluster [s]
	Count      int      // events in it
	Indicators []int    // involved, in declared order
	Names      []string // of these
	Obstacle   string   // why the simulation cannot slide, with Continue; "" if it does
}

func (e *ChatterError) Error() string {
	text := fmt.Sprintf("sim: chattering at t = %.9g s: %d events within %.3g s by %s", e.T, e.Count, e.Span,
		strings.Join(e.Names, ", "))
	if e.Obstacle != "" {
		text += "; there is no sliding motion: " + e.Obstacle
	}
	return text
}

// chatter detects chattering. An event is narrow if its indicator has stayed within the accuracy of its value since its
// last event: at such a distance, which side it is on does not matter. Narrow events chatter if they make no progress:
//
//   - the last hundred of them take less time than a millionth of the longest step, or
//   - they become denser, so that more than a million would follow until the end: after a hundred, two hundred, four
//     hundred ... of them, the ratio of the times of the second half and of the quarter before is that of all further
//     doublings, or
//   - after a hundred thousand of them, at any pace, more than a hundred million would follow likewise.
//
// Events with any distance between them, such as those of a relay with hysteresis, never chatter, however dense they
// are.
type chatter struct {
	times  []float64  // of the last narrow events, a ring buffer
	count  int        // narrow events of the stretch
	latest []int      // of each indicator, the count at its last narrow event; 0: it takes no part
	check  int        // count at which times are compared
	passed [2]float64 // times at which a quarter and half of check were counted

	since float64   // when the last full million of state events was reached
	at    []float64 // of each indicator, time of its last event,
	steps []int     // and the integrator's steps up to then
}

func newChatter(indicators int) chatter {
	c := chatter{times: make([]float64, crowd), latest: make([]int, indicators), at: make([]float64, indicators),
		steps: make([]int, indicators)}
	for i := range c.at {
		c.at[i] = math.Inf(-1)
	}
	return c
}

func (c *chatter) state(s *snapshot.Codec) {
	snapshot.Floats(s, c.times, c.at)
	snapshot.Each(s, c.latest, snapshot.Int)
	snapshot.Each(s, c.steps, snapshot.Int)
	snapshot.Within(s, &c.count, 0, 1<<60)
	snapshot.Vars(s, &c.check, &c.passed, &c.since)
}

// begin begins a stretch with the event at a time.
func (c *chatter) begin(t float64) {
	c.count, c.check = 1, crowd
	c.times[1] = t
}

// end forgets a stretch.
func (c *chatter) end() {
	c.count = 0
	clear(c.latest)
}

// add counts a narrow event, and reports whether the stretch chatters, if the end is at until.
func (c *chatter) add(t, longest, until float64) bool {
	c.count++
	c.times[c.count%crowd] = t
	switch c.count {
	case c.check / 4:
		c.passed[0] = t
	case c.check / 2:
		c.passed[1] = t
	}
	if c.count < crowd {
		return false
	}
	endless := false
	if c.count == c.check {
		endless = endlessly(float64(c.count), t-c.passed[1], (t-c.passed[1])/(c.passed[1]-c.passed[0]), until-t)
		c.passed[0], c.passed[1], c.check = c.passed[1], t, 2*c.check
	}
	return endless || t-c.times[(c.count+1)%crowd] < standing*longest
}

// endlessly reports whether too many events follow within a time: the second half of n events took the span, and each
// doubling takes ratio times as long as the one before.
func endlessly(n, span, ratio, within float64) bool {
	most := bearable
	if !(ratio < denser) {
		if most = flyable; !(n > patience) || ratio != ratio {
			return false
		}
	}
	for ; n <= most; n *= 2 {
		span *= ratio
		if within -= span; within <= 0 {
			return false
		}
	}
	return true
}

// narrow reports whether an indicator has stayed within its accuracy since its last event: in the middle of the time
// since then, as far as it lies in this step. It has not if there were many steps. It has if there is next to no time
// between, however exact it is.
func (s *Simulator) narrow(i int) bool {
	c, q := &s.chatter, &s.search
	if s.T-c.at[i] <= 4*ulp(s.T) {
		return true
	}
	if math.IsInf(c.at[i], -1) || s.integrator.Stats().Steps-c.steps[i] > crowd {
		return false
	}
	s.limit(&q.one, i)
	s.evaluate(max(s.integrator.From(), c.at[i]+(s.T-c.at[i])/2), q.q, &q.one)
	accuracy := q.zone[i] * min(1, loosest/s.options.RelTol)
	for _, y := range s.Y { // where their errors cancel, those of rounding are left
		accuracy = max(accuracy, rounding*ulp(y))
	}
	return math.Abs(s.levels.value(q.q, i)) <= accuracy
}

// noteEvents counts the events at T, one set, and returns a report if they chatter and the end is at until.
func (s *Simulator) noteEvents(events []int, until float64) *ChatterError {
	c := &s.chatter
	first, wide := -1, false
	for _, i := range events {
		switch {
		case s.narrow(i):
			if first < 0 {
				first = i
			}
			if c.count == 0 {
				c.begin(c.at[i])
			}
			c.latest[i] = c.count + 1
		case c.latest[i] > 0:
			wide = true
		}
	}
	for _, i := range events {
		c.at[i], c.steps[i] = s.T, s.integrator.Stats().Steps
	}
	if wide {
		c.end()
	}
	if wide || first < 0 || !c.add(s.T, s.crawl.longest, until) {
		return nil
	}
	report := &ChatterError{T: s.T, Span: s.T - c.times[(c.count+1)%crowd], Count: crowd}
	for i, n := range c.latest {
		if n > c.count-crowd && n > 0 {
			report.Indicators = append(report.Indicators, i)
			report.Names = append(report.Names, s.sys.Indicators[i].Name)
		}
	}
	c.end()
	if s.options.Chattering == Continue {
		report.Obstacle = s.slide.prepare(s, report.Indicators)
	}
	return report
}

// pace judges the pace of the state events, whatever their distance, after each million of them.
func (s *Simulator) pace(until float64) error {
	const billion, shown = 1e9, 10
	c := &s.chatter
	if s.stats.StateEvents%million != 0 {
		return nil
	}
	since := c.since
	c.since = s.T
	more := (until - s.T) / (s.T - since) * million
	if !(more > billion) || math.IsInf(until, 1) {
		return nil
	}
	var names []string
	for i, t := range c.at {
		if t > since && len(names) < shown {
			names = append(names, s.sys.Indicators[i].Name)
		}
	}
	return fmt.Errorf("%w: t = %.9g s, a million within %.3g s by %s; at this pace, %.2g would follow up to %.9g s",
		ErrEndless, s.T, s.T-since, strings.Join(names, ", "), more, until)
}
