package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/snapshot"
)

// Simulator is a running simulation of a System: all mutable state, nothing shared. It can be copied. Between calls the
// owner may change the contents of Y, and Alarm; the inputs are changed by Set, what is watched by Watch.
type Simulator struct {
	T        float64
	Y        []float64 // states at T; at an event their left limit, until the owner changes them
	Discrete           // inputs and committed sides
	Alarm    float64   // next time event, +Inf for none; set to +Inf when it is due

	sys        *System
	levels     *levels
	drives     []bool // by input: the derivatives read it
	reads      []int  // the states that Zeros reads
	watch      []Direction
	options    Options
	accuracy   float64 // of a state, in tolerances
	integrator *ode.Integrator
	scout      *ode.Integrator // for steps ahead; nil until needed
	stats      Stats           // of the integrator, only evaluations beside it

	ran        ran  // values that the search and the integrator are based on
	pending    bool // events were returned and Iterate has not followed
	iterations int  // event iterations at T
	looping    []bool
	restarted  float64 // time of the integrator's last restart
	chatter    chatter
	slide      slide
	crawl      crawl

	search search
	events []int // buffers of returned slices
	change []int
	slopes []float64 // scratch: three vectors of states

	lowest, highest []float64 // by state: finite values lie between
}

// crawl detects collapsing steps.
type crawl struct {
	steps   int     // since the last check
	since   float64 // time of the last check
	longest float64 // step so far
}

// ran holds the owner's values at the simulator's last look, to detect changes. The lists have what may differ now.
type ran struct {
	t      float64
	y      []float64
	before Discrete
	watch  []Direction

	written, flipped, rewatched []int // inputs, sides, directions

	judged bool // the watched indicators are on their sides at (t, y, before),
	fresh  bool // and search.now holds all quantities
	anew   bool // a restart of the integrator is requested
	after  bool // an event precedes the present instant
}

// New returns a simulator of the system with the states y0 and the inputs u0 at t0. No indicator is watched, no alarm
// is set, and the sides are those at t0. It panics if lengths or options are invalid, and returns an error if a state
// is not finite.
func New(sys *System, t0 float64, y0, u0 []float64, o Options) (*Simulator, error) {
	if len(y0) != len(sys.States) || len(u0) != sys.Inputs {
		panic("sim: wrong number of states or inputs")
	}
	if o.MaxIterations < 0 || o.Chattering > Continue {
		panic("sim: bad options")
	}
	x := newLevels(sys)
	if o.RelTol == 0 {
		o.RelTol = 1e-6
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 100
	}
	if o.AbsTol == nil {
		o.AbsTol, o.Floating = sys.AbsTol, sys.Floating
	}
	o.Constant = sys.Constant
	s := newSimulator(sys, x, o)
	s.search.renew(x)
	s.T, s.ran.t, s.crawl.since, s.chatter.since = t0, t0, t0, t0
	copy(s.Y, y0)
	copy(s.ran.y, y0)
	copy(s.U, u0)
	copy(s.ran.before.U, u0)
	for k := range s.slide.modes {
		copy(s.slide.modes[k].U, u0)
	}
	s.integrator.Restart(t0, y0)
	if i := notFinite(y0); i >= 0 {
		return nil, &NotFiniteError{T: t0, Kind: "state", Name: sys.States[i]}
	}
	if len(s.Above) > 0 {
		s.evaluateHere()
		for i := range s.Above {
			s.Above[i] = x.value(s.search.now, i) >= 0
		}
		copy(s.search.committed, s.search.now)
		copy(s.ran.before.Above, s.Above)
		s.search.old = true // functions may depend on these sides
	}
	s.renew()
	return s, nil
}

// newSimulator returns a simulator without state.
func newSimulator(sys *System, x *levels, o Options) *Simulator {
	n, m := len(sys.States), len(sys.Indicators)
	discrete := func() Discrete { return Discrete{U: make([]float64, sys.Inputs), Above: make([]bool, m)} }
	s := &Simulator{
		Y: make([]float64, n), Discrete: discrete(), watch: make([]Direction, m), Alarm: math.Inf(1),
		sys: sys, levels: x, options: o, accuracy: accuracy, looping: make([]bool, m), slopes: make([]float64, 3*n),
		ran:    ran{y: make([]float64, n), before: discrete(), watch: make([]Direction, m)},
		search: newSearch(x, m), chatter: newChatter(m), slide: newSlide(discrete, n, x.quantities),
		lowest: slices.Repeat([]float64{-math.MaxFloat64}, n), highest: slices.Repeat([]float64{math.MaxFloat64}, n),
	}
	s.search.root = s.probe
	s.drives = slices.Repeat([]bool{sys.Drives == nil}, sys.Inputs)
	for _, i := range sys.Drives {
		s.drives[i] = true
	}
	if s.reads = sys.Reads; s.reads == nil {
		for i := range n {
			s.reads = append(s.reads, i)
		}
	}
	s.integrator = s.newIntegrator()
	return s
}

func (s *Simulator) newIntegrator() *ode.Integrator {
	f := func(t float64, y, dydt []float64) {
		if s.slide.on {
			s.slide.derivatives(s, t, y, dydt)
		} else {
			s.sys.Derivatives(t, y, &s.Discrete, dydt)
		}
	}
	return ode.New(f, len(s.Y), s.options.Options)
}

// renew recomputes all derived data.
func (s *Simulator) renew() {
	r, q := &s.ran, &s.search
	r.written, r.flipped, r.rewatched = r.written[:0], r.flipped[:0], r.rewatched[:0]
	for i, u := range s.U {
		if !Same(u, r.before.U[i]) {
			r.written = append(r.written, i)
		}
	}
	q.renew(s.levels)
	clear(q.watched)
	q.watching = 0
	for i, a := range s.Above {
		if a != r.before.Above[i] {
			r.flipped = append(r.flipped, i)
		}
		if w := s.watch[i]; w != r.watch[i] {
			r.rewatched = append(r.rewatched, i)
		}
		if s.watch[i] != 0 {
			q.watched[s.levels.lineOf[i]]++
			q.watching++
		}
		q.dip[i] = math.Inf(1)
	}
	copy(q.side, s.Above)
	q.near, q.touching = q.near[:0], q.touching[:0]
	for i, b := range q.bias {
		if b != 0 {
			q.touching = append(q.touching, i)
		}
	}
}

// Set changes an input.
func (s *Simulator) Set(input int, value float64) {
	if !Same(s.U[input], value) {
		s.U[input] = value
		s.search.old = true
		s.ran.written = append(s.ran.written, input)
	}
}

// Watch sets which changes of an indicator's side are events.
func (s *Simulator) Watch(indicator int, d Direction) {
	s.wake(indicator)
	q, by := &s.search, int32(0)
	switch was := s.watch[indicator]; {
	case was == d:
		return
	case was == 0:
		by = 1
	case d == 0:
		by = -1
	}
	s.watch[indicator] = d
	q.watched[s.levels.lineOf[indicator]] += by
	q.watching += by
	s.ran.rewatched = append(s.ran.rewatched, indicator)
}

// Rest ceases to watch an indicator and to keep its side, which stays as it is, until the next Watch or Look: the
// indicator costs nothing. It must not be one on whose side the derivatives or functions depend meanwhile.
func (s *Simulator) Rest(indicator int) {
	if s.search.resting[indicator] {
		return
	}
	s.Watch(indicator, 0)
	s.release(indicator)
	s.search.rest(s.levels, indicator, true)
}

// Look brings the sides of those of the indicators that rest up to date. One that is not finite keeps its side.
func (s *Simulator) Look(indicators []int) {
	q := &s.search
	for _, i := range indicators {
		if !q.resting[i] {
			continue
		}
		if k := s.same(i); k >= 0 {
			s.commit(i, s.Above[k])
			continue
		}
		v := s.Y
		if s.levels.thresholds[i].Of >= len(v) {
			s.limit(&q.one, i)
			copy(q.q, s.Y)
			s.functions(s.T, q.q, &q.one)
			v = q.q
		}
		if g := s.levels.value(v, i); finite(g) {
			s.commit(i, g >= 0)
		}
	}
}

// wake keeps the side of an indicator again.
func (s *Simulator) wake(i int) {
	if q := &s.search; q.resting[i] {
		if q.rest(s.levels, i, false) && s.levels.thresholds[i].Of >= len(s.Y) {
			q.here = false
		}
		q.strays = append(q.strays, i)
		if k := s.same(i); k >= 0 {
			s.take(i, s, k)
		}
	}
}

// same returns another indicator with the threshold of one, whose side is kept; -1: there is none. Within the accuracy
// of the value both have one side.
func (s *Simulator) same(i int) int {
	l := &s.levels.lines[s.levels.lineOf[i]]
	key := l.keys[s.levels.placeOf[i]]
	first, _ := slices.BinarySearch(l.keys, key)
	for place := first; place < len(l.keys) && l.keys[place] == key; place++ {
		if k := l.who[place]; k != i && !s.search.resting[k] {
			return k
		}
	}
	return -1
}

// Before returns the inputs and sides as they were when the last segment ended: before the current instant.
func (s *Simulator) Before() *Discrete { return &s.ran.before }

// Left returns the states as they were when the last segment ended, to be read: the left limit at the current instant.
func (s *Simulator) Left() []float64 { return s.ran.y }

// Inputs returns all the inputs with which the derivatives may be evaluated, for the check of a restored state.
func (s *Simulator) Inputs() [][]float64 {
	return [][]float64{s.U, s.ran.before.U, s.slide.modes[0].U, s.slide.modes[1].U}
}

// Changed reports whether inputs differ from those before the current instant.
func (s *Simulator) Changed() bool {
	return slices.ContainsFunc(s.ran.written, func(i int) bool { return !Same(s.U[i], s.ran.before.U[i]) })
}

// driven reports whether something differs from before the instant that the derivatives read, and so do they.
func (s *Simulator) driven() bool {
	r := &s.ran
	input := func(i int) bool { return s.drives[i] && !Same(s.U[i], r.before.U[i]) }
	side := func(i int) bool { return s.sys.Indicators[i].Switches && s.Above[i] != r.before.Above[i] }
	return (slices.ContainsFunc(r.written, input) || slices.ContainsFunc(r.flipped, side)) && !s.alike()
}

// alike reports whether the derivatives are those before the instant, number by number: here, at the end of the
// integrator's step, and halfway.
func (s *Simulator) alike() bool {
	n, end := len(s.Y), s.integrator.T()
	y, before, now := s.slopes[:n], s.slopes[n:2*n], s.slopes[2*n:]
	for _, t := range [...]float64{s.T, end, s.T + (end-s.T)/2} {
		copy(y, s.Y)
		if t > s.T {
			s.integrator.Interpolate(t, y)
		}
		s.sys.Derivatives(t, y, &s.ran.before, before)
		s.sys.Derivatives(t, y, &s.Discrete, now)
		s.stats.Evaluations += 2
		if !slices.Equal(before, now) {
			return false
		}
		if t == end {
			break
		}
	}
	return true
}

// State passes all mutable state of the simulator to the codec: one created in the same way and restored continues
// identically, bit for bit. It must not be saved between an event and Iterate.
func (s *Simulator) State(c *snapshot.Codec) {
	r, q, st := &s.ran, &s.search, &s.stats
	snapshot.Vars(c, &s.T, &s.Alarm, &r.t, &s.restarted, &s.crawl.since, &s.crawl.longest, &s.pending, &r.judged, &r.fresh,
		&r.anew, &r.after, &q.here, &q.old, &s.crawl.steps, &s.iterations, &st.Evaluations, &st.StateEvents, &st.TimeEvents,
		&st.Restarts, &st.Samples, &st.Values, &st.Looks, &st.Enclosures, &st.Unproved)
	snapshot.Floats(c, s.Y, s.U, r.y, r.before.U, q.now, q.committed, q.bias, q.zone)
	for _, list := range [][]bool{s.Above, s.looping, r.before.Above, q.resting} {
		snapshot.Each(c, list, snapshot.Bool)
	}
	for _, list := range [][]Direction{s.watch, r.watch} {
		snapshot.Each(c, list, snapshot.Int)
	}
	snapshot.Each(c, q.skip, snapshot.Int)
	snapshot.List(c, &q.fine, func(c *snapshot.Codec, f *fine) {
		snapshot.Within(c, &f.who, 0, len(s.Above)-1)
		snapshot.Vars(c, &f.until, &f.halved, &f.width)
	})
	snapshot.Int(c, &q.halved)
	snapshot.List(c, &q.strays, func(c *snapshot.Codec, i *int) { snapshot.Within(c, i, 0, len(s.Above)-1) })
	s.chatter.state(c)
	s.slide.state(c)
	s.integrator.State(c)
	for i, rests := range q.resting {
		if c.Loading() && rests && s.watch[i] != 0 {
			c.Fail(snapshot.ErrMismatch)
		}
	}
	finite := s.T-s.T == 0 && !math.IsNaN(s.Alarm)
	if sound := finite && !s.pending && s.T == r.t && s.integrator.T() >= s.T; c.Loading() && !sound {
		c.Fail(snapshot.ErrMismatch)
	}
	if c.Loading() && !c.Failed() {
		q.enclosed = false
		q.changes++
		s.renew()
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
	st.Evaluations += s.stats.Evaluations
	return st
}

// Interpolate writes the states at t, a time within the last segment, to y: at its end the left limit. It is valid
// until the next Advance.
func (s *Simulator) Interpolate(t float64, y []float64) { s.integrator.Interpolate(t, y) }

// Iterate makes one event iteration: it evaluates the indicators at (T, Y, Discrete), commits their sides to Above and
// returns those that changed, in declared order; the slice is valid until the next call. An indicator that is not
// watched and not finite keeps its side. The error wraps ErrEventIteration if more than MaxIterations calls at one
// instant found changes, or is a *NotFiniteError, and then nothing was committed.
func (s *Simulator) Iterate() (changed []int, err error) {
	q := &s.search
	s.pending, s.ran.judged, s.ran.fresh = false, false, false
	changed = s.change[:0]
	if len(s.Above) == 0 {
		return changed, nil
	}
	s.evaluateHere()
	if err := s.checkIndicators(q.now, s.T); err != nil {
		return nil, err
	}
	for _, i := range s.suspects(q.now) {
		if g := s.value(q.now, i); finite(g) && (g >= 0) != s.Above[i] {
			changed = append(changed, i)
		}
	}
	s.change = changed
	if len(changed) > 0 {
		if err := s.iterate(changed); err != nil {
			return nil, err
		}
		for _, i := range changed {
			s.commit(i, !s.Above[i])
		}
	}
	s.copyKept(q.committed, q.now)
	q.strays = q.strays[:0]
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

// evaluateHere evaluates the quantities at the current values, as search.now: only those that may have changed since
// they were last evaluated there.
func (s *Simulator) evaluateHere() {
	q := &s.search
	which := &q.whole
	if q.here && slices.Equal(q.now[:len(s.Y)], s.Y) {
		if which = &q.loose; !q.old {
			return
		}
	}
	before := q.cut
	if len(q.touching) > 0 {
		copy(before, q.now)
	}
	copy(q.now, s.Y)
	s.functions(s.T, q.now, which)
	for _, i := range slices.Backward(q.touching) {
		if of := s.levels.thresholds[i].Of; q.here && q.now[of] != before[of] {
			s.release(i) // the owner has changed it
		}
	}
	q.here, q.old = true, false
}

// named translates an error of the integrator.
func (s *Simulator) named(err error) error {
	if e := (*ode.NotFiniteError)(nil); errors.As(err, &e) {
		return &NotFiniteError{T: e.T, Kind: "derivative of", Name: s.sys.States[e.Index]}
	}
	if errors.Is(err, ode.ErrStepTooSmall) {
		return fmt.Errorf("%w: t = %.9g s, %w; the state that moves fastest is %q", ErrCrawl, s.T, err, s.fastest())
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
