package equations

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/expr/interval"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// instance is a vehicle with its parameters fixed.
type instance struct {
	*program
	signals []float64
	above   []bool       // sides that are held; nil: none
	held    []bool       // outputs that follow them
	memory  []float64    // that is held
	fired   []expr.Reset // scratch: resets of the present instant,
	values  []float64    // and their values
	stretch *interval.Stretch

	time           interval.Jet // of the stretch, as are
	state, command func(i int) interval.Jet
}

// new is the New of the vehicle.
func (p *program) new(parameters []float64) (model.Instance, error) {
	if len(parameters) != len(p.parameters) {
		panic("equations: wrong number of parameters")
	}
	v := &instance{program: p, signals: make([]float64, p.memory()+len(p.events)+2*len(p.cells)),
		held: make([]bool, len(p.outputs))}
	for i, value := range parameters {
		if err := p.parameters[i].Check(value); err != nil {
			return nil, err
		}
		v.signals[p.firstParameter()+i] = p.units[i].SI(value)
	}
	v.stretch = interval.NewStretch(len(v.signals), v.source)
	y := make([]float64, len(p.states))
	v.Initial(y)
	for i, s := range p.states {
		if !s.Range.Contains(y[i]) || y[i]-y[i] != 0 {
			return nil, fmt.Errorf("%w: they put the initial %s to %g, outside its range %v", model.ErrParameters, s.Name,
				y[i], s.Range)
		}
	}
	return v, nil
}

// Initial implements [model.Instance].
func (v *instance) Initial(y []float64) {
	for i, c := range v.initial {
		y[i] = c.Value(v.signals, nil)
	}
}

// Derivatives implements [model.Instance]. With held sides, the equations continue beyond a switch as before it. Where
// that is undefined, as a root whose argument max keeps from being negative, they switch.
func (v *instance) Derivatives(t float64, y, commands, dydt []float64) {
	v.defined(func(above []bool) bool {
		ok := v.fill(v.derive, t, y, commands, above)
		for i, c := range v.derivatives {
			dydt[i] = c.Real(v.signals, above)
			ok = ok && dydt[i]-dydt[i] == 0
		}
		return ok
	})
}

// Outputs implements [model.Instance].
func (v *instance) Outputs(t float64, y, commands, out []float64) {
	v.defined(func(above []bool) bool { return v.fill(v.all, t, y, commands, above) })
	copy(out, v.signals[v.firstOutput():v.firstParameter()])
}

// defined evaluates with the sides that are held and, if that gives a value that is not finite, without.
func (v *instance) defined(evaluate func(above []bool) (finite bool)) {
	if v.above == nil || !evaluate(v.above) {
		evaluate(nil)
	}
}

// fill evaluates the signal vector with the given outputs, and reports whether they are finite.
func (v *instance) fill(outputs []int, t float64, y, commands []float64, above []bool) bool {
	s := v.signals
	s[0] = t
	copy(s[1:], y)
	copy(s[v.firstCommand():], commands)
	copy(s[v.program.memory():], v.memory)
	finite := true
	for _, i := range outputs {
		sides := above
		if !v.held[i] {
			sides = nil
		}
		x := v.outputs[i].Value(s, sides)
		s[v.firstOutput()+i] = x
		finite = finite && x-x == 0
	}
	return finite
}

// Hold implements [model.Switching].
func (v *instance) Hold(above []bool, memory []float64) { v.above, v.memory = above, memory }

// unjudged marks an event whose condition has not been evaluated: it does not become true at the start.
const unjudged = -1

// Memory implements [model.Switching].
func (v *instance) Memory() []float64 {
	m := make([]float64, len(v.events)+2*len(v.cells))
	for i := range v.events {
		m[i] = unjudged
	}
	return m
}

// React implements [model.Switching]. Events occur together: the values that they give are those before all of them. Of
// several for one state, that of the first event counts.
func (v *instance) React(t float64, y, commands, memory []float64, settled bool) (changed bool) {
	v.fill(v.all, t, y, commands, v.above)
	held := v.signals[v.program.memory():]
	for i := range v.cells {
		changed = v.cells[i].Update(v.signals, v.above) || changed
	}
	v.fired, v.values = v.fired[:0], v.values[:0]
	for i := range v.events {
		if changed || !settled {
			break // first the equations must be on the right side
		}
		e, before := &v.events[i], held[i]
		held[i] = 0
		if e.Condition.Bool(v.signals, v.above) {
			held[i] = 1
		}
		if before == 0 && held[i] == 1 {
			for _, r := range e.Resets {
				v.fired, v.values = append(v.fired, r), append(v.values, r.Value.Value(v.signals, nil))
			}
		}
	}
	for i, r := range slices.Backward(v.fired) {
		y[r.State] = v.values[i]
	}
	copy(memory, held)
	return changed || len(v.fired) > 0
}

// Undefined implements [model.Switching].
func (v *instance) Undefined() string {
	for i := range v.cells {
		if text := v.cells[i].Undefined(v.signals); text != "" {
			return text
		}
	}
	return ""
}

// Zeros implements [model.Switching].
func (v *instance) Zeros(t float64, y, commands []float64, which []int, g []float64) {
	v.defined(func(above []bool) bool {
		ok := v.fill(v.related, t, y, commands, above)
		for i, k := range which {
			g[i] = v.relations[k].Value(v.signals, above)
			ok = ok && g[i]-g[i] == 0
		}
		return ok
	})
}

// Switches implements [model.Switching].
func (v *instance) Switches(needed []bool) []model.Switch {
	list := make([]model.Switch, len(v.relations))
	for k := range list {
		list[k] = v.describe(&v.relations[k])
	}
	var rates, signals []int
	for _, c := range v.derivatives {
		rates, signals = append(rates, c.Indicators()...), append(signals, c.Reads()...)
	}
	for _, i := range v.derive {
		rates = append(rates, v.outputs[i].Indicators()...)
	}
	for _, k := range rates {
		list[k].Idle, list[k].Rates = false, true
	}
	for _, e := range v.events {
		for _, k := range e.Condition.Indicators() {
			list[k].Idle = false
		}
		signals = append(signals, e.Condition.Reads()...)
		for _, r := range e.Resets {
			signals = append(signals, r.Value.Reads()...)
		}
	}
	for i, n := range needed {
		if n {
			signals = append(signals, v.firstOutput()+i)
		}
	}
	for more := true; more; { // a relation may read outputs, which have relations
		more = false
		for _, i := range v.towards(signals) {
			more = more || !v.held[i]
			v.held[i] = true
			for _, k := range v.outputs[i].Indicators() {
				list[k].Idle = false
			}
		}
		for k := range list {
			if !list[k].Idle {
				signals = append(signals, v.relations[k].Reads()...)
			}
		}
	}
	return list
}

// describe returns a switch that is idle.
func (v *instance) describe(x *expr.Indicator) model.Switch {
	s := model.Switch{Text: x.Text, Idle: true, Of: -1, Steady: x.Alone()}
	reads := x.Reads()
	for _, i := range v.towards(reads) {
		reads = append(reads, v.outputs[i].Reads()...)
		s.Steady = s.Steady && len(v.outputs[i].Indicators()) == 0
	}
	for _, i := range reads {
		switch {
		case 1 <= i && i < v.firstCommand():
			s.Reads = append(s.Reads, i-1)
		case v.firstCommand() <= i && i < v.firstOutput():
			s.Commands, s.Steady = true, false
		}
	}
	if h, ok := x.Threshold(); ok && 1 <= h.Slot && h.Slot < v.firstCommand() && h.Level-h.Level == 0 {
		s.Of, s.Level, s.Falls = h.Slot-1, h.Level, h.Falls
	}
	return s
}

// Enclose begins a stretch of time, over which outputs and switches are bounded, with the sides and the memory that are
// held: its time, and the states and commands during it by number.
func (v *instance) Enclose(time interval.Jet, state, command func(i int) interval.Jet) {
	v.time, v.state, v.command = time, state, command
	v.stretch.Begin(v.above, v.memory)
}

// Output returns bounds of an output during the stretch.
func (v *instance) Output(i int) interval.Jet { return v.stretch.Signal(v.firstOutput() + i) }

// Zero returns bounds of the indicator of a switch during the stretch.
func (v *instance) Zero(i int) interval.Jet { return v.stretch.Value(v.relations[i].Difference()) }

// source is where a signal of the stretch comes from. Outputs whose switches are not held may jump.
func (v *instance) source(i int) (code *expr.Code, known interval.Jet) {
	switch k := i - v.firstOutput(); {
	case i == 0:
		return nil, v.time
	case i < v.firstCommand():
		return nil, v.state(i - 1)
	case k < 0:
		return nil, v.command(i - v.firstCommand())
	case k < len(v.outputs) && (v.held[k] || len(v.outputs[k].Indicators()) == 0):
		return v.outputs[k], known
	case k < len(v.outputs):
		return nil, interval.Anything
	}
	return nil, interval.Steady(v.signals[i])
}
