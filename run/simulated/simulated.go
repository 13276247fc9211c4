// Package simulated implements the world of a simulated vehicle: a plan runs against its equations.
package simulated

import (
	"errors"
	"fmt"
	"math"

	"canopy/document/mission"
	"canopy/executive"
	"canopy/ode"
	"canopy/run"
	"canopy/run/record"
	"canopy/sim"
	"canopy/snapshot"
	"canopy/vehicle/model"
)

// defaultTolerance is the relative tolerance that matches the absolute tolerances of the states.
const defaultTolerance = mission.DefaultTolerance

// New prepares a run of a mission in simulation. It ends at the horizon, or at the simulated time until [s] if that
// comes first. Attach sets the recorder of the log.
func New(m *mission.Mission, c run.Configuration, until float64) (*run.Run, error) {
	w, err := newWorld(m)
	if err != nil {
		return nil, err
	}
	return run.New(m, w, c, until)
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
}

// function is the value of a signal or, if general, of an indicator that is no threshold.
type function struct {
	general bool
	number  int
}

func newWorld(m *mission.Mission) (*world, error) {
	vehicle, err := m.Vehicle.New(m.Parameters)
	if err != nil {
		return nil, err
	}
	w := &world{m: m, vehicle: vehicle, signals: executive.NewSignals(m.Program, vehicle.Outputs)}
	w.y = m.Initial(vehicle)
	options := sim.Options{Options: ode.Options{Method: m.Method, RelTol: m.Tolerance}, Chattering: m.Chattering,
		MaxIterations: run.MaxSettlings + 2}
	if w.sim, err = sim.New(w.system(), 0, w.y, m.Program.Initial(), options); err != nil {
		return nil, err
	}
	w.Numbers = executive.NewNumbers(w)
	return w, nil
}

// system describes the vehicle and the program's inputs as a system for the simulator.
func (w *world) system() *sim.System {
	p := w.m.Program
	s := &sim.System{Inputs: p.Inputs(), Derivatives: w.derivatives, Zeros: w.zeros, Reads: p.Reads, Loose: []int{},
		Drives: p.Drives()}
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
				if !p.Steady[i] {
					s.Loose = append(s.Loose, len(w.compare))
				}
				w.compare = append(w.compare, f)
			}
			threshold.Of = len(s.States) + numbers[f]
		}
		s.Indicators = append(s.Indicators, sim.Indicator{Name: x.Text, Switches: p.Switches[i], Threshold: threshold})
	}
	s.Functions = len(w.compare)
	return s
}

func (w *world) derivatives(t float64, y []float64, d *sim.Discrete, dydt []float64) {
	w.signals.Fill(w.m.Program.Derive, t, y, d.U, d.Above)
	w.vehicle.Derivatives(t, y, w.signals.Commands(), dydt)
}

func (w *world) zeros(t float64, y []float64, d *sim.Discrete, which []int, g []float64) {
	w.signals.Observe(t, y, d.U, d.Above)
	for _, f := range which {
		if x := w.compare[f]; x.general {
			g[f] = w.m.Program.Indicators[x.number].Value(w.signals.Values)
		} else {
			g[f] = w.signals.Values[x.number]
		}
	}
}

// fill evaluates the signal vector at one point of the trajectory.
func (w *world) fill(t float64, y []float64, d *sim.Discrete) []float64 {
	w.signals.Fill(w.m.Program.All, t, y, d.U, d.Above)
	return w.signals.Values
}

func (w *world) T() float64 { return w.sim.T }

func (w *world) Signals() []float64 { return w.fill(w.sim.T, w.sim.Y, &w.sim.Discrete) }

func (w *world) Discrete() (u []float64, above []bool) { return w.sim.U, w.sim.Above }

func (w *world) Watch(indicator int, events bool) {
	d := sim.Direction(0)
	if events {
		d = sim.Either
	}
	w.sim.Watch(indicator, d)
}

func (w *world) Set(input int, value float64) { w.sim.Set(input, value) }

func (w *world) SetAlarm(t float64) { w.sim.Alarm = t }

func (w *world) Restart() { w.sim.Restart() }

func (w *world) Advance(until float64) (run.Segment, error) {
	segment, err := w.sim.Advance(until)
	s := run.Segment{To: segment.To, Events: segment.Events, Alarm: segment.Alarm}
	if segment.Chatter != nil {
		s.Chatter = segment.Chatter.Error()
	}
	return s, w.explain(err)
}

func (w *world) Iterate() ([]int, error) { return w.sim.Iterate() }

func (w *world) States() []float64 { return w.sim.Y }

func (w *world) At(t float64) []float64 {
	y := w.sim.Y
	if t < w.sim.T {
		y = w.y
		w.sim.Interpolate(t, y)
	}
	return w.fill(t, y, &w.sim.Discrete)
}

func (w *world) Left() []float64 { return w.fill(w.sim.T, w.sim.Y, w.sim.Before()) }

func (w *world) Changed() bool { return w.sim.Changed() }

func (w *world) Cost(s *record.Summary) {
	stats := w.sim.Stats()
	s.Steps, s.RejectedSteps, s.RHSEvaluations = stats.Steps, stats.Rejected, stats.Evaluations
	s.Jacobians, s.Factorisations = stats.Jacobians, stats.Factorisations
	s.StateEvents, s.TimeEvents = stats.StateEvents, stats.TimeEvents
}

func (w *world) State(c *snapshot.Codec) {
	w.sim.State(c)
	if c.Loading() && !w.m.Program.Fits(w.sim.U) {
		c.Fail(snapshot.ErrMismatch)
	}
}

// explain adds to the error of a derivative or an indicator that is not finite the signals that are not finite
// there: their values are what the plan's author can correct.
func (w *world) explain(err error) error {
	var bad *sim.NotFiniteError
	if !errors.As(err, &bad) {
		return err
	}
	signals := w.fill(bad.T, w.sim.Y, &w.sim.Discrete)
	for _, name := range w.m.Needed {
		_, place := w.m.Signal(name)
		if v := signals[place]; math.IsNaN(v) || math.IsInf(v, 0) {
			err = fmt.Errorf("%w; %s is %v", err, name, v)
		}
	}
	return err
}
