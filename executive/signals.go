package executive

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Signals evaluates the signal vector of one execution: the world provides the clock, the states and the outputs of the
// vehicle, the program provides the slots and the computed signals.
type Signals struct {
	Values []float64 // as evaluated last

	p       *Program
	outputs func(t float64, y, commands, out []float64)
}

// NewSignals returns the signals of a program for a vehicle whose outputs are a function of time, states and commands.
func NewSignals(p *Program, outputs func(t float64, y, commands, out []float64)) *Signals {
	return &Signals{Values: make([]float64, p.Layout.Signals+2*len(p.Cells)), p: p, outputs: outputs}
}

// Fill evaluates signals at one point of the trajectory, in the given order. The sides of the indicators are those
// since the last event, so that no value jumps within a step of the integrator.
func (s *Signals) Fill(steps []Evaluation, t float64, y, u []float64, above []bool) {
	copy(s.Values[1:], y)
	s.compute(steps, t, y, u, above)
}

// Observe evaluates the signals that the indicators read, which are few.
func (s *Signals) Observe(t float64, y, u []float64, above []bool) {
	if s.p.Reads == nil {
		copy(s.Values[1:], y)
	}
	for _, i := range s.p.Reads {
		s.Values[1+i] = y[i]
	}
	s.compute(s.p.Observe, t, y, u, above)
}

// Fixed reports whether the vehicle's commands depend on the inputs u alone.
func (s *Signals) Fixed(u []float64) bool {
	return !slices.ContainsFunc(s.p.Derive, func(x Evaluation) bool {
		if x.Kind != EvaluateSlot {
			return true
		}
		k := int(u[s.p.counts(x.Index)])
		if k == 0 {
			return false
		}
		w := &s.p.Slots[x.Index].Writers[k-1]
		return w.Value != nil && !w.Value.Fixed()
	})
}

// Commands returns the part of the signal vector with the vehicle's commands.
func (s *Signals) Commands() []float64 {
	from := s.p.Layout.Slots
	return s.Values[from : from+s.p.Layout.Commands]
}

// compute is Fill for signals that already have the states that the steps read.
func (s *Signals) compute(steps []Evaluation, t float64, y, u []float64, above []bool) {
	l, v := &s.p.Layout, s.Values
	v[0] = t
	if memory := v[l.Signals:]; len(memory) > 0 {
		copy(memory, u[s.p.Inputs():])
	}
	for _, x := range steps {
		switch x.Kind {
		case EvaluateOutputs, EvaluateDirect:
			s.outputs(t, y, s.Commands(), v[l.Outputs:l.Slots])
		case EvaluateSlot:
			v[l.Slots+x.Index] = s.slot(x.Index, u, above)
		case EvaluateComputed:
			v[l.Computed+x.Index] = s.p.Computed[x.Index].Value(v, above)
		}
	}
}

// Fits reports whether u is a valid input vector of the program: each slot's counting writer is one of its writers, or
// none.
func (p *Program) Fits(u []float64) bool {
	for i := range p.Slots {
		k := u[p.counts(i)]
		if !(k >= 0 && k <= float64(len(p.Slots[i].Writers)) && k == math.Trunc(k)) {
			return false
		}
	}
	return true
}

// slot returns the value from the slot's counting writer, else its held value.
func (s *Signals) slot(i int, u []float64, above []bool) float64 {
	code, input := s.p.Source(i, u)
	if code == nil {
		return u[input]
	}
	return code.Value(s.Values, above)
}

// Source returns the code whose value a slot has with the inputs u; if that is nil, the input that has the value.
func (p *Program) Source(slot int, u []float64) (code *expr.Code, input int) {
	k := int(u[p.counts(slot)])
	if k == 0 {
		return nil, p.Held(slot)
	}
	w := &p.Slots[slot].Writers[k-1]
	if input = p.Capture(w.Captured); w.Value == nil || w.Known != nil && p.Marked(input, u) {
		return nil, input
	}
	return w.Value, input
}
