// Package simulated implements the world of a simulated vehicle: a plan runs against its equations.
package simulated

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/sim"
	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// defaultTolerance is the relative tolerance that matches the absolute tolerances of the states.
const defaultTolerance = mission.DefaultTolerance

// New prepares a run of a mission in simulation. It ends at the horizon, or at the simulated time until [s] if that
// comes first. Attach sets the recorder of the log.
func New(m *mission.Mission, c run.Configuration, until float64) (*run.Run, error) {
	ticked, _ := c.(run.Ticked)
	w, err := newWorld(m, ticked.Interpolated)
	if err != nil {
		return nil, err
	}
	return run.New(w.m, w, c, until)
}

// world is a vehicle under simulation.
type world struct {
	executive.Numbers
	m       *mission.Mission
	vehicle model.Instance
	signals *executive.Signals
	compare []function // that the indicators compare with numbers
	sim     *sim.Simulator
	y       []float64 // scratch

	reals []int // places of the real signals, if the solution may slide

	commands bool // the vehicle's commands are among the signals, and only Set changes them

	held         bool // relations and functions inside expressions follow the sides and the cells
	direct       bool // except now
	interpolated bool // the simulator may pass an alarm

	listed int // number of indicators whose events are in the log; those of functions follow

	live      model.Live      // the vehicle; nil: it is a function of its arguments
	switching model.Switching // likewise; nil: it has no switches
	own       []model.Switch  // its switches: the indicators behind those of the program
	commanded bool            // they depend on commands
	asked     []int           // scratch: some of them,
	zero      []float64       // and their indicators
	memory    []float64       // scratch: what the program's cells and it remember, the inputs behind those of the program
	changed   []int           // scratch: indicators of the program

	enclosure *enclosure
}

// function is the value of a signal or, if general, of an indicator that is no threshold.
type function struct {
	general bool
	number  int
}

// newWorld returns the world at the start of a mission.
func newWorld(m *mission.Mission, interpolated bool) (*world, error) {
	return follow(m, interpolated, nil, m.Smooth().Program.Initial(), nil)
}

// follow returns the world that goes on with another plan of the mission, with the inputs u of its program: same has,
// by indicator of the program, the same one in the old world, or -1. Without an old world it is the one at the start.
func follow(plain *mission.Mission, interpolated bool, old *world, u []float64, same []int) (*world, error) {
	m := plain.Smooth()
	vehicle, err := model.Instance(nil), error(nil)
	if old != nil && old.live != nil {
		vehicle = old.live
	} else if vehicle, err = m.Vehicle.New(m.Parameters); err != nil {
		return nil, err
	}
	w := &world{m: m, vehicle: vehicle, signals: executive.NewSignals(m.Program, vehicle.Outputs), held: m != plain,
		listed: len(plain.Program.Indicators), interpolated: interpolated}
	w.live, _ = vehicle.(model.Live)
	w.y = m.Initial(vehicle)
	if err := w.failed(); err != nil {
		return nil, err
	}
	w.switches()
	w.enclosure = w.newEnclosure()
	from := 0.0
	if old != nil {
		from = old.sim.T
		copy(w.y, old.sim.Y)
		copy(w.memory[2*len(m.Program.Cells):], old.Memory()[2*len(old.m.Program.Cells):])
	}
	options := sim.Options{Options: ode.Options{Method: m.Method, RelTol: m.Tolerance, MaxStep: m.MaxStep},
		Chattering:    m.Chattering,
		MaxIterations: executive.MaxSettlings + 2, Interpolate: interpolated}
	if w.sim, err = sim.New(w.system(), from, w.y, append(u, w.memory...), options); err != nil {
		return nil, err
	}
	if old != nil {
		w.sim.Follow(old.sim, append(same, w.sameSwitches(old)...))
	}
	for k, x := range w.own {
		if !x.Idle {
			w.sim.Watch(len(m.Program.Indicators)+k, sim.Either)
		}
	}
	if w.switching != nil || w.held { // sides that depend on others
		if _, err := w.Iterate(); err != nil {
			return nil, err
		}
	}
	if m.Chattering == sim.Continue {
		for name, v := range m.Scope() {
			if _, place := m.Signal(name); v.Type == expr.Real && v.Constant == nil {
				w.reals = append(w.reals, place)
			}
		}
	}
	if w.Numbers = executive.NewNumbers(w); old != nil {
		w.Numbers.Follow(&old.Numbers)
	}
	return w, nil
}

// switches lists the vehicle's switches.
func (w *world) switches() {
	w.memory = make([]float64, 2*len(w.m.Program.Cells))
	v, ok := w.vehicle.(model.Switching)
	if !ok {
		return
	}
	needed := make([]bool, len(w.m.Vehicle.Outputs))
	for i := range needed {
		needed[i] = slices.Contains(w.m.Needed, w.m.Vehicle.Outputs[i].Name)
	}
	if w.own = v.Switches(needed); len(w.own) > 0 || len(v.Memory()) > 0 {
		w.switching, w.zero, w.memory = v, make([]float64, len(w.own)), append(w.memory, v.Memory()...)
	}
}

// system describes the vehicle and the program's inputs as a system for the simulator.
func (w *world) system() *sim.System {
	p := w.m.Program
	s := &sim.System{Inputs: p.Inputs() + len(w.memory), Derivatives: w.derivatives, Zeros: w.zeros,
		Enclose: w.enclose,
		Reads:   p.Reads, Loose: []int{}, Drives: p.Drives(),
		Floating: w.m.Vehicle.Floating}
	if w.live != nil {
		s.Prepare = w.prepare
	}
	for _, kind := range w.m.Vehicle.Discrete {
		s.Constant = append(s.Constant, kind != "")
	}
	for i := range w.memory {
		s.Drives = append(s.Drives, p.Inputs()+i)
	}
	for _, x := range w.m.Vehicle.States {
		s.States = append(s.States, x.Name)
		s.AbsTol = append(s.AbsTol, x.AbsTol*w.m.Tolerance/defaultTolerance)
	}
	numbers := map[function]int{}
	for i := range p.Indicators {
		x := &p.Indicators[i]
		h, ok := x.Threshold()
		threshold := &sim.Threshold{Of: h.Slot - 1, Level: h.Level, Falls: h.Falls}
		f := function{number: h.Slot}
		if !ok || math.IsInf(h.Level, 0) || math.IsNaN(h.Level) {
			f, *threshold = function{true, i}, sim.Threshold{}
		}
		if f.general || f.number < 1 || f.number >= p.Layout.Outputs { // no state
			if _, known := numbers[f]; !known {
				numbers[f] = len(w.compare)
				if !p.Steady[i] || len(w.own) > 0 {
					s.Loose = append(s.Loose, len(w.compare))
				}
				w.compare = append(w.compare, f)
			}
			threshold.Of = len(s.States) + numbers[f]
		}
		s.Indicators = append(s.Indicators, sim.Indicator{Name: x.Text, Switches: p.Switches[i], Threshold: threshold})
	}
	outputs := slices.ContainsFunc(p.Derive, func(e executive.Evaluation) bool {
		return e.Kind == executive.EvaluateOutputs || e.Kind == executive.EvaluateDirect
	})
	reads := slices.Clone(p.Reads)
	for k, x := range w.own {
		threshold := &sim.Threshold{Of: x.Of, Level: x.Level, Falls: x.Falls}
		if x.Of < 0 {
			threshold.Of = len(s.States) + len(w.compare)
			if !x.Steady {
				s.Loose = append(s.Loose, len(w.compare))
			}
			w.compare = append(w.compare, function{number: -1 - k})
		}
		reads, w.commanded = append(reads, x.Reads...), w.commanded || x.Commands
		s.Indicators = append(s.Indicators,
			sim.Indicator{Name: x.Text, Switches: x.Rates || outputs && !x.Idle, Threshold: threshold})
	}
	switch slices.Sort(reads); {
	case w.commanded:
		s.Reads = nil
	case s.Reads != nil:
		s.Reads = slices.Compact(reads)
	}
	s.Functions = len(w.compare)
	return s
}

// hold passes the sides of the vehicle's switches to it.
func (w *world) hold(d *sim.Discrete) {
	if w.switching != nil {
		p := w.m.Program
		w.switching.Hold(d.Above[len(p.Indicators):], d.U[p.Inputs()+2*len(p.Cells):])
	}
}

// derivatives follows the sides, also beyond a switch as before it. Where that is undefined, as the root of a guarded
// argument beyond the guard, the values switch at once.
func (w *world) derivatives(t float64, y []float64, d *sim.Discrete, dydt []float64) {
	w.hold(d)
	if present := d == &w.sim.Discrete; !w.commands || !present {
		w.evaluate(w.m.Program.Derive, t, y, d, d.Above)
		w.commands = present && w.signals.Fixed(d.U)
	}
	w.vehicle.Derivatives(t, y, w.signals.Commands(), dydt)
	if w.held && !finite(dydt) {
		w.evaluate(w.m.Program.Derive, t, y, d, nil)
		w.vehicle.Derivatives(t, y, w.signals.Commands(), dydt)
	}
}

// evaluate evaluates signals at one point of the trajectory, with the given sides.
func (w *world) evaluate(steps []executive.Evaluation, t float64, y []float64, d *sim.Discrete, above []bool) {
	w.commands = false
	w.signals.Fill(steps, t, y, d.U, above)
}

func finite(list []float64) bool {
	return !slices.ContainsFunc(list, func(x float64) bool { return x-x != 0 })
}

func (w *world) zeros(t float64, y []float64, d *sim.Discrete, which []int, g []float64) {
	w.hold(d)
	w.compareWith(t, y, d, d.Above, which, g)
	if w.held && (w.direct || slices.ContainsFunc(which, func(f int) bool { return g[f]-g[f] != 0 })) {
		w.compareWith(t, y, d, nil, which, g)
	}
}

// prepare tells the vehicle where zeros is called next.
func (w *world) prepare(t []float64, y [][]float64, d *sim.Discrete) {
	w.hold(d)
	commands := make([][]float64, len(t))
	for i := range t {
		w.evaluate(w.m.Program.Derive, t[i], y[i], d, d.Above)
		commands[i] = slices.Clone(w.signals.Commands())
	}
	w.live.Prepare(t, y, commands)
}

// compareWith is zeros with the given sides; nil: all values are those of the signals.
func (w *world) compareWith(t float64, y []float64, d *sim.Discrete, above []bool, which []int, g []float64) {
	w.commands = false
	w.signals.Observe(t, y, d.U, above)
	w.asked = w.asked[:0]
	for _, f := range which {
		switch x := w.compare[f]; {
		case x.general:
			g[f] = w.m.Program.Indicators[x.number].Value(w.signals.Values, above)
		case x.number < 0:
			w.asked = append(w.asked, -1-x.number)
		default:
			g[f] = w.signals.Values[x.number]
		}
	}
	if len(w.asked) > 0 {
		if w.commanded {
			w.evaluate(w.m.Program.Derive, t, y, d, above)
		}
		w.switching.Zeros(t, y, w.signals.Commands(), w.asked, w.zero)
		for i, f := range which[len(which)-len(w.asked):] {
			g[f] = w.zero[i]
		}
	}
}

// fill evaluates the signal vector at one point of the trajectory.
func (w *world) fill(t float64, y []float64, d *sim.Discrete) []float64 {
	w.hold(d)
	w.evaluate(w.m.Program.All, t, y, d, d.Above)
	return w.signals.Values
}

// Adopt implements run.Adopter.
func (w *world) Adopt(m *mission.Mission, u []float64, same []int) (run.World, error) {
	return follow(m, w.interpolated, w, u, same)
}

// sameSwitches returns, by switch of the vehicle, the indicator of the same one in another world, or -1.
func (w *world) sameSwitches(old *world) (list []int) {
	for _, x := range w.own {
		k := slices.IndexFunc(old.own, func(s model.Switch) bool { return s.Text == x.Text })
		if k >= 0 {
			k += len(old.m.Program.Indicators)
		}
		list = append(list, k)
	}
	return list
}

func (w *world) T() float64 { return w.sim.T }

func (w *world) Signals() []float64 { return w.fill(w.sim.T, w.sim.Y, &w.sim.Discrete) }

func (w *world) Discrete() (u []float64, above []bool) {
	return w.sim.U[:w.m.Program.Inputs()], w.sim.Above[:len(w.m.Program.Indicators)]
}

// Memory returns what cells and the vehicle's switches remember.
func (w *world) Memory() []float64 { return w.sim.U[w.m.Program.Inputs():] }

func (w *world) Watch(indicator int, a executive.Attention) {
	switch a {
	case executive.Kept:
		w.sim.Watch(indicator, 0)
	case executive.Watched:
		w.sim.Watch(indicator, sim.Either)
	case executive.Idle:
		w.sim.Rest(indicator)
	default:
		panic("simulated: an attention that does not exist")
	}
}

// Look brings sides up to date, whatever those inside the relations are, which may rest as well.
func (w *world) Look(indicators []int) {
	w.direct = true
	w.sim.Look(indicators)
	w.direct = false
}

func (w *world) Truth(c *expr.Code) bool {
	w.Look(c.Indicators())
	return w.Numbers.Truth(c)
}

func (w *world) Set(input int, value float64) {
	w.commands = false
	w.sim.Set(input, value)
}

func (w *world) SetAlarm(t float64) { w.sim.Alarm = t }

func (w *world) Restart() { w.sim.Restart() }

// failed returns why the vehicle has failed; nil: it has not.
func (w *world) failed() error {
	if w.live == nil {
		return nil
	}
	return w.live.Err()
}

// Ended implements run.Ending.
func (w *world) Ended() string {
	if w.live == nil {
		return ""
	}
	return w.live.Ended()
}

func (w *world) Advance(until float64) (run.Segment, error) {
	segment, err := w.sim.Advance(until)
	events, own := split(segment.Events, w.listed)
	if w.live != nil && err == nil && len(segment.Events) == 0 {
		w.evaluate(w.m.Program.Derive, w.sim.T, w.sim.Y, &w.sim.Discrete, w.sim.Above)
		own = w.live.Stepped(w.sim.T, w.sim.Y, w.signals.Commands()) || own
	}
	if e := w.failed(); e != nil {
		err = e
	}
	touched, _ := split(segment.Touched, w.listed)
	s := run.Segment{To: segment.To, Events: events, Own: own, Touched: touched, Alarm: segment.Alarm, Slid: segment.Slid}
	if segment.Chatter != nil {
		s.Chatter = segment.Chatter
	}
	return s, w.explain(err)
}

// split returns the indicators below a number, and whether there are others.
func split(indicators []int, below int) (first []int, others bool) {
	n, _ := slices.BinarySearch(indicators, below)
	return indicators[:n], n < len(indicators)
}

// maxReactions is the maximum number of times that the vehicle reacts to itself.
const maxReactions = 100

// Iterate commits all sides, repeatedly until the vehicle has done all that it does at this instant: the plan never
// reads its signals in between.
func (w *world) Iterate() ([]int, error) {
	w.changed = w.changed[:0]
	for n, again := 0, true; again; n++ {
		list, err := w.sim.Iterate()
		if err != nil {
			return nil, err
		}
		if n > maxReactions { // the simulator counts only changes of sides
			return nil, fmt.Errorf("%w: t = %.9g s: the events of the vehicle set each other off", sim.ErrEventIteration,
				w.sim.T)
		}
		list, again = split(list, len(w.m.Program.Indicators))
		w.changed = append(w.changed, list...)
		again = again || w.held && len(list) > 0
		again = w.react(!again) || again
		if err := w.failed(); err != nil {
			return nil, err
		}
	}
	return w.changed, nil
}

// react lets the program's cells and the vehicle react to the present sides, and reports whether they did.
func (w *world) react(settled bool) bool {
	if len(w.memory) == 0 {
		return false
	}
	s, p := w.sim, w.m.Program
	first, cells := p.Inputs(), 2*len(p.Cells)
	w.hold(&s.Discrete)
	changed := false
	if cells > 0 {
		w.evaluate(p.All, s.T, s.Y, &s.Discrete, s.Above)
		for i := range p.Cells {
			changed = p.Cells[i].Update(w.signals.Values, s.Above) || changed
		}
		copy(w.memory, w.signals.Values[p.Layout.Signals:])
	}
	if copy(w.memory[cells:], s.U[first+cells:]); w.switching != nil {
		w.evaluate(p.Derive, s.T, s.Y, &s.Discrete, s.Above)
		changed = w.switching.React(s.T, s.Y, w.signals.Commands(), w.memory[cells:], settled && !changed) || changed
	}
	for i, x := range w.memory {
		w.Set(first+i, x)
	}
	return changed
}

func (w *world) States() []float64 { return w.sim.Y }

// SetState implements run.Settable.
func (w *world) SetState(state int, value float64) {
	w.commands = false
	w.sim.Y[state] = value
}

func (w *world) At(t float64) []float64 {
	y := w.sim.Y
	if t < w.sim.T {
		y = w.y
		w.sim.Interpolate(t, y)
	}
	return w.recorded(t, y, &w.sim.Discrete, false)
}

func (w *world) Left() []float64 { return w.recorded(w.sim.T, w.sim.Left(), w.sim.Before(), true) }

// recorded evaluates the signal vector for the record. While the solution slides, real signals that differ between the
// two settings are the mean that the states follow.
func (w *world) recorded(t float64, y []float64, d *sim.Discrete, left bool) []float64 {
	below, above, share, slides := w.sim.Sliding(t, y, left)
	if !slides {
		return w.fill(t, y, d)
	}
	under, over := slices.Clone(w.fill(t, y, below)), slices.Clone(w.fill(t, y, above))
	values := w.fill(t, y, d)
	for _, i := range w.reals {
		if under[i] != over[i] {
			values[i] = under[i] + share*(over[i]-under[i])
		}
	}
	return values
}

func (w *world) Changed() bool {
	if len(w.memory) == 0 && len(w.own) == 0 {
		return w.sim.Changed()
	}
	n, before := w.m.Program.Inputs(), w.sim.Before() // what the vehicle remembers is no signal,
	if w.live != nil {
		n = len(w.sim.U) // but its outputs follow it
	}
	return !slices.EqualFunc(w.sim.U[:n], before.U[:n], sim.Same) || !slices.Equal(w.sim.Y, w.sim.Left()) ||
		!slices.Equal(w.sim.Above[:w.listed], before.Above[:w.listed])
}

func (w *world) Cost(s *record.Summary) {
	stats := w.sim.Stats()
	s.Steps, s.RejectedSteps, s.RHSEvaluations = stats.Steps, stats.Rejected, stats.Evaluations
	s.Jacobians, s.Factorisations = stats.Jacobians, stats.Factorisations
	s.StateEvents, s.TimeEvents, s.Unproved = stats.StateEvents, stats.TimeEvents, stats.Unproved
}

func (w *world) State(c *snapshot.Codec) {
	w.commands = false
	w.sim.State(c)
	w.Numbers.State(c)
	if v, ok := w.vehicle.(snapshot.Stateful); ok {
		v.State(c)
	}
	unfit := func(u []float64) bool { return !w.m.Program.Fits(u) }
	if c.Loading() && slices.ContainsFunc(w.sim.Inputs(), unfit) {
		c.Fail(snapshot.ErrMismatch)
	}
}

// explain adds to the error of a derivative or an indicator that is not finite the signals that are not finite
// there: their values are what the plan's author can correct.
func (w *world) explain(err error) error {
	if err == nil {
		return nil
	}
	var bad *sim.NotFiniteError
	if !errors.As(err, &bad) {
		return err
	}
	signals := w.fill(bad.T, w.sim.Y, &w.sim.Discrete)
	for i := range w.m.Program.Cells {
		if text := w.m.Program.Cells[i].Undefined(signals); text != "" {
			err = fmt.Errorf("%w; %s", err, text)
		}
	}
	if w.switching != nil {
		if text := w.switching.Undefined(); text != "" {
			err = fmt.Errorf("%w; %s", err, text)
		}
	}
	for _, name := range w.m.Needed {
		_, place := w.m.Signal(name)
		if v := signals[place]; math.IsNaN(v) || math.IsInf(v, 0) {
			err = fmt.Errorf("%w; %s is %v", err, name, v)
		}
	}
	return err
}
