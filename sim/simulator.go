package sim

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"canopy/ode"
	"canopy/snapshot"
)

// Simulator is a running simulation of a System: all mutable state, nothing shared. It can be copied. Between calls the
// owner may change the contents of Y, U, Watch and Alarm; T and Above belong to the simulator.
type Simulator struct {
	T        float64
	Y        []float64 // states at T; at an event their left limit, until the owner changes them
	Discrete           // inputs and committed sides
	Watch    []Direction
	Alarm    float64 // next time event, +Inf for none; set to +Inf when it is due

	sys        *System
	options    Options
	integrator *ode.Integrator
	stats      Stats

	ran        ran  // values that the search and the integrator are based on
	pending    bool // events were returned and Iterate has not followed
	iterations int  // event iterations at T
	looping    []bool
	chatter    chatter
	crawl      crawl

	search search
	events []int // buffers of returned slices
	change []int
}

// crawl detects collapsing steps.
type crawl struct {
	steps   int     // since the last check
	since   float64 // time of the last check
	longest float64 // step so far
}

// ran holds the owner's values at the simulator's last look, to detect changes.
type ran struct {
	t     float64
	y, u  []float64
	above []bool
	watch []Direction

	judged bool // the watched indicators are on their sides at (t, y, u, above),
	fresh  bool // and search.now holds all of them
	anew   bool // the owner requested a restart of the integrator
}

// New returns a simulator of the system with the states y0 and the inputs u0 at t0. No indicator is watched, no alarm
// is set, and the sides are those at t0. It panics if lengths or options are invalid, and returns an error if a state
// is not finite.
func New(sys *System, t0 float64, y0, u0 []float64, o Options) (*Simulator, error) {
	n, m := len(sys.States), len(sys.Indicators)
	if len(y0) != n || len(u0) != sys.Inputs {
		panic("sim: wrong number of states or inputs")
	}
	if o.Samples < 0 || o.MaxIterations < 0 || o.Chattering > Continue || m > 0 && sys.Zeros == nil {
		panic("sim: bad options or no function for the indicators")
	}
	if o.Samples == 0 {
		o.Samples = 9
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 100
	}
	if o.AbsTol == nil {
		o.AbsTol = sys.AbsTol
	}
	s := newSimulator(sys, o)
	s.T, s.ran.t, s.crawl.since = t0, t0, t0
	copy(s.Y, y0)
	copy(s.ran.y, y0)
	copy(s.U, u0)
	copy(s.ran.u, u0)
	s.integrator.Restart(t0, y0)
	if i := notFinite(y0); i >= 0 {
		return nil, &NotFiniteError{T: t0, Kind: "state", Name: sys.States[i]}
	}
	if m > 0 {
		s.evaluateHere()
		for i, g := range s.search.now {
			s.Above[i] = g >= 0
		}
		copy(s.ran.above, s.Above)
	}
	return s, nil
}

// newSimulator returns a simulator without state.
func newSimulator(sys *System, o Options) *Simulator {
	n, m := len(sys.States), len(sys.Indicators)
	s := &Simulator{
		Y: make([]float64, n), Discrete: Discrete{U: make([]float64, sys.Inputs), Above: make([]bool, m)},
		Watch: make([]Direction, m), Alarm: math.Inf(1),
		sys: sys, options: o, looping: make([]bool, m),
		ran: ran{
			y: make([]float64, n), u: make([]float64, sys.Inputs), above: make([]bool, m), watch: make([]Direction, m),
		},
		search: newSearch(n, m, o.Samples), chatter: newChatter(m),
		events: make([]int, 0, m), change: make([]int, 0, m),
	}
	s.search.root = s.probe
	s.integrator = ode.New(func(t float64, y, dydt []float64) { sys.Derivatives(t, y, &s.Discrete, dydt) }, n, o.Options)
	return s
}

// CopyFrom copies the whole state of o, a simulator of the same System with the same Options; both then continue
// identically, bit for bit. It panics if system or options differ.
func (s *Simulator) CopyFrom(o *Simulator) {
	if s.sys != o.sys || s.search.gaps != o.search.gaps {
		panic("sim: CopyFrom between different systems or options")
	}
	s.T, s.Alarm = o.T, o.Alarm
	copy(s.Y, o.Y)
	copy(s.U, o.U)
	copy(s.Above, o.Above)
	copy(s.Watch, o.Watch)
	s.integrator.CopyFrom(o.integrator)
	s.stats, s.pending, s.iterations = o.stats, o.pending, o.iterations
	copy(s.looping, o.looping)
	s.ran.t, s.ran.judged, s.ran.fresh, s.ran.anew = o.ran.t, o.ran.judged, o.ran.fresh, o.ran.anew
	copy(s.ran.y, o.ran.y)
	copy(s.ran.u, o.ran.u)
	copy(s.ran.above, o.ran.above)
	copy(s.ran.watch, o.ran.watch)
	s.search.copyFrom(&o.search)
	s.chatter.copyFrom(&o.chatter)
	s.crawl = o.crawl
}

// Clone returns a copy, which continues identically.
func (s *Simulator) Clone() *Simulator {
	c := newSimulator(s.sys, s.options)
	c.CopyFrom(s)
	return c
}

// State passes all mutable state of the simulator to the codec: one created in the same way and restored continues
// identically, bit for bit. It must not be saved between an event and Iterate.
func (s *Simulator) State(c *snapshot.Codec) {
	r, q, st := &s.ran, &s.search, &s.stats
	for _, x := range []*float64{&s.T, &s.Alarm, &r.t, &s.crawl.since, &s.crawl.longest} {
		snapshot.Float(c, x)
	}
	snapshot.Floats(c, s.Y, s.U, r.y, r.u, q.rows, q.now)
	for _, list := range [][]bool{s.Above, s.looping, r.above, q.have} {
		snapshot.Each(c, list, snapshot.Bool)
	}
	for _, list := range [][]Direction{s.Watch, r.watch} {
		snapshot.Each(c, list, snapshot.Int)
	}
	snapshot.List(c, &q.watched, func(c *snapshot.Codec, i *int) { snapshot.Within(c, i, 0, len(s.Above)-1) })
	for _, b := range []*bool{&s.pending, &r.judged, &r.fresh, &r.anew} {
		snapshot.Bool(c, b)
	}
	for _, n := range []*int{&s.crawl.steps, &s.iterations, &st.StateEvents, &st.TimeEvents, &st.Restarts, &st.Samples} {
		snapshot.Int(c, n)
	}
	s.chatter.state(c)
	s.integrator.State(c)
	finite := s.T-s.T == 0 && !math.IsNaN(s.Alarm)
	if sound := finite && !s.pending && s.T == r.t && s.integrator.T() >= s.T; c.Loading() && !sound {
		c.Fail(snapshot.ErrMismatch)
	}
}

// Restart makes the next Advance restart the integrator at (T, Y), as after a discontinuity, although nothing was
// changed: the rest of its step and the history of its method are discarded. It is for owners that imitate a program
// that restarts at every tick; results stay within the tolerance.
func (s *Simulator) Restart() { s.ran.anew = true }

// Stats returns the work done since New.
func (s *Simulator) Stats() Stats {
	st := s.stats
	st.Stats = s.integrator.Stats()
	return st
}

// Interpolate writes the states at t, a time within the last segment, to y: at its end the left limit. It is valid
// until the next Advance.
func (s *Simulator) Interpolate(t float64, y []float64) { s.integrator.Interpolate(t, y) }

// Iterate makes one event iteration: it evaluates all indicators at (T, Y, Discrete), commits their sides to Above and
// returns those that changed, in declared order; the slice is valid until the next call. An indicator that is not
// watched and not finite keeps its side. The error wraps ErrEventIteration if more than MaxIterations calls at one
// instant found changes, or is a *NotFiniteError, and then nothing was committed.
func (s *Simulator) Iterate() (changed []int, err error) {
	s.pending, s.ran.judged, s.ran.fresh = false, false, false
	changed = s.change[:0]
	if len(s.Above) == 0 {
		return changed, nil
	}
	s.evaluateHere()
	for i, g := range s.search.now {
		if !finite(g) {
			if s.Watch[i] != 0 {
				return nil, &NotFiniteError{T: s.T, Kind: "indicator", Name: s.sys.Indicators[i].Name}
			}
		} else if (g >= 0) != s.Above[i] {
			changed = append(changed, i)
		}
	}
	if len(changed) == 0 {
		return changed, nil
	}
	if err := s.iterate(changed); err != nil {
		return nil, err
	}
	for _, i := range changed {
		s.Above[i] = !s.Above[i]
	}
	if s.chatter.held {
		s.chatter.hold(s.T)
	}
	return changed, nil
}

// iterate counts one event iteration at T. Only changes in the second half of the permitted iterations are reported as
// a loop.
func (s *Simulator) iterate(changed []int) error {
	s.iterations++
	if s.iterations > s.options.MaxIterations/2 {
		for _, i := range changed {
			s.looping[i] = true
		}
	}
	if s.iterations <= s.options.MaxIterations {
		return nil
	}
	var names []string
	for i, l := range s.looping {
		if l {
			names = append(names, s.sys.Indicators[i].Name)
		}
	}
	if names == nil {
		names = []string{"the alarm"}
	}
	return fmt.Errorf("%w: t = %.9g s, %d iterations: %s", ErrEventIteration, s.T, s.options.MaxIterations,
		strings.Join(names, ", "))
}

// evaluateHere evaluates the indicators at the current values, as search.now.
func (s *Simulator) evaluateHere() {
	s.sys.Zeros(s.T, s.Y, &s.Discrete, s.search.now)
	s.stats.Samples++
}

// named translates an error of the integrator.
func (s *Simulator) named(err error) error {
	if e := (*ode.NotFiniteError)(nil); errors.As(err, &e) {
		return &NotFiniteError{T: e.T, Kind: "derivative of", Name: s.sys.States[e.Index]}
	}
	return fmt.Errorf("sim: stopped at t = %.9g s: %w", s.T, err)
}

func finite(x float64) bool { return x-x == 0 }

// notFinite returns the index of the first value that is NaN or infinite, -1 if there is none.
func notFinite(x []float64) int {
	for i, v := range x {
		if !finite(v) {
			return i
		}
	}
	return -1
}

// ulp returns the distance from x to the next number away from zero.
func ulp(x float64) float64 {
	x = math.Abs(x)
	return math.Nextafter(x, math.Inf(1)) - x
}
