package mission

import (
	"fmt"

	"canopy/expr"
	"canopy/sim"
	"canopy/vehicle/model"
)

// world evaluates the signals of one run: the vehicle with its parameters, and the scratch that evaluation needs.
//
// Its discrete inputs (sim.Discrete.U) are the phase of each leaf, then the held value of
// each slot, then the values that procedures captured.
type world struct {
	m       *Mission
	vehicle model.Instance
	signals []float64 // the signal vector
}

func newWorld(m *Mission) (*world, error) {
	vehicle, err := m.Vehicle.New(m.Parameters)
	if err != nil {
		return nil, err
	}
	return &world{m: m, vehicle: vehicle, signals: make([]float64, len(m.signals))}, nil
}

// inputs returns the number of discrete inputs.
func (m *Mission) inputs() int { return m.capture(m.program.captures) }

// held returns the place of a slot's held value among the discrete inputs.
func (m *Mission) held(slot int) int { return len(m.leaves) + slot }

// capture returns the place of a captured value among the discrete inputs.
func (m *Mission) capture(i int) int { return len(m.leaves) + len(m.slots) + i }

// initial returns the states and the discrete inputs at the start: nobody active, every slot at its default.
func (w *world) initial() (y, u []float64) {
	y = make([]float64, len(w.m.Vehicle.States))
	w.vehicle.Initial(y)
	for _, v := range w.m.initial {
		y[v.state] = v.value
	}
	u = make([]float64, w.m.inputs())
	for i, s := range w.m.slots {
		u[w.m.held(i)] = s.initial
	}
	return y, u
}

// system describes the run to the simulator.
func (w *world) system() *sim.System {
	p := &w.m.program
	s := &sim.System{Inputs: w.m.inputs(), Derivatives: w.derivatives, Zeros: w.zeros, Reads: p.reads}
	for _, x := range w.m.Vehicle.States {
		s.States = append(s.States, x.Name)
		s.AbsTol = append(s.AbsTol, x.AbsTol*w.m.Tolerance/defaultTolerance)
	}
	for i, x := range p.indicators {
		indicator := sim.Indicator{Name: x.Text, Switches: p.switches[i]}
		if h, ok := x.Threshold(); ok && 1 <= h.Slot && h.Slot < w.m.layout.outputs { // of a state
			indicator.Threshold = &sim.Threshold{State: h.Slot - 1, Level: h.Level, Falls: h.Falls}
		}
		s.Indicators = append(s.Indicators, indicator)
	}
	return s
}

func (w *world) derivatives(t float64, y []float64, d *sim.Discrete, dydt []float64) {
	w.fill(w.m.program.derive, t, y, d)
	w.vehicle.Derivatives(t, y, w.commands(), dydt)
}

func (w *world) zeros(t float64, y []float64, d *sim.Discrete, g []float64) {
	p, s := &w.m.program, w.signals
	if p.reads == nil {
		copy(s[1:], y)
	}
	for _, i := range p.reads {
		s[1+i] = y[i]
	}
	w.compute(p.observe, t, y, d)
	for i := range g {
		g[i] = p.indicators[i].Value(s)
	}
}

// commands returns the part of the signal vector that the vehicle takes.
func (w *world) commands() []float64 {
	from := w.m.layout.slots
	return w.signals[from : from+w.m.layout.commands]
}

// fill evaluates signals at one point of the trajectory, in the given order. The sides of the indicators are those
// that hold since the last event, so that no value jumps within a step of the integrator.
func (w *world) fill(steps []step, t float64, y []float64, d *sim.Discrete) {
	copy(w.signals[1:], y)
	w.compute(steps, t, y, d)
}

// compute is fill where the signals have the states that the steps read already.
func (w *world) compute(steps []step, t float64, y []float64, d *sim.Discrete) {
	m, s := w.m, w.signals
	s[0] = t
	for _, x := range steps {
		switch x.kind {
		case stepOutputs, stepDirect:
			w.vehicle.Outputs(t, y, w.commands(), s[m.layout.outputs:m.layout.slots])
		case stepSlot:
			s[m.layout.slots+x.index] = w.slot(x.index, d)
		case stepComputed:
			s[m.layout.computed+x.index] = m.program.computed[x.index].Real(s, d.Above)
		}
	}
}

// slot returns what the first leaf that writes it gives it, else its held value.
func (w *world) slot(i int, d *sim.Discrete) float64 {
	for _, x := range w.m.program.writers[i] {
		if d.U[x.leaf] == x.phase {
			if x.value == nil {
				return d.U[w.m.capture(x.captured)]
			}
			return x.value.Real(w.signals, d.Above)
		}
	}
	return d.U[w.m.held(i)]
}

// evaluate gives the value of code for the present signal vector, every relation judged by the values themselves.
func (w *world) evaluate(c *expr.Code) float64 { return c.Real(w.signals, nil) }

// becomes describes an indicator's change to a side.
func (p *program) becomes(i int, above bool) string {
	return fmt.Sprintf("%s becomes %t", p.indicators[i].Text, p.indicators[i].Holds(above))
}
