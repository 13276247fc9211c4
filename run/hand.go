package run

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// ErrHand is wrapped by the errors of a signal that cannot be set by hand.
var ErrHand = errors.New("the signal cannot be set")

// Settable is a World that is simulated: its states can be set.
type Settable interface {
	World
	// SetState sets a state of the vehicle at the present time.
	SetState(state int, value float64)
}

// HandSignal is a signal that can be set by hand: a state of the vehicle, or a slot that is no text.
type HandSignal struct {
	Name, Unit string
	Value      float64  // NaN: an entry without a value
	Values     []string // the names of the values from 0 on; nil: numbers
	Writer     string   // the task that writes the slot now, so that it cannot be set; "": none

	state, slot int // the other one is -1
	low, high   float64
	whole       bool // its values are integers
}

// HandSignals lists what can be set by hand: the states of the vehicle, then the slots. It is empty if the vehicle is
// not simulated.
func (r *Run) HandSignals() (list []HandSignal) {
	if _, ok := r.world.(Settable); !ok {
		return nil
	}
	for i, s := range r.m.Vehicle.States {
		low, high := s.Range.Bounds()
		list = append(list, HandSignal{Name: s.Name, Unit: s.Unit, Value: r.world.States()[i], state: i, slot: -1, low: low,
			high: high})
	}
	now, p := r.world.At(r.world.T()), r.m.Program
	for i := range p.Slots {
		s, place := r.m.Signal(p.Slots[i].Name)
		x := HandSignal{Name: p.Slots[i].Name, Unit: s.Unit.String(), Value: now[place], state: -1, slot: i,
			low: math.Inf(-1), high: math.Inf(1), whole: s.Type != expr.Real}
		switch s.Type {
		case expr.Text:
			continue
		case expr.Boolean:
			x.Values = []string{"false", "true"}
		case expr.Enumeration:
			x.Values = s.Values
		}
		if x.Values != nil {
			x.low, x.high = 0, float64(len(x.Values)-1)
		}
		is := func(c model.Command) bool { return c.Name == x.Name }
		if k := slices.IndexFunc(r.m.Vehicle.Commands, is); k >= 0 {
			x.low, x.high = r.m.Vehicle.Commands[k].Range.Bounds()
		}
		if leaf := r.executive.Writer(i); leaf >= 0 {
			x.Writer = p.Tree.Name(p.Leaves[leaf].Task)
		}
		list = append(list, x)
	}
	return list
}

// Set sets a state of the vehicle, or a slot that no task writes, by hand, between two steps, at an instant of its own;
// the log has an event. A slot has the value until a task writes it; without hold, also whenever none writes it later.
// With an error that wraps ErrHand, nothing has happened. Another error is that of the run, which it has ended.
func (r *Run) Set(name string, value float64) error {
	if r.over || r.stopping || !r.begun {
		return fmt.Errorf("%w: the run is not under way", ErrHand)
	}
	list := r.HandSignals()
	i := slices.IndexFunc(list, func(s HandSignal) bool { return s.Name == name })
	switch {
	case list == nil:
		return fmt.Errorf("%w: the vehicle is not simulated", ErrHand)
	case i < 0:
		names := make([]string, len(list))
		for k := range list {
			names[k] = list[k].Name
		}
		return fmt.Errorf("%w: there is no state or slot %s; %s", ErrHand, diag.Visible(name), diag.DidYouMean(name, names))
	}
	s := &list[i]
	switch {
	case s.Writer != "":
		return fmt.Errorf("%w: %s is written by %s", ErrHand, name, diag.Visible(s.Writer))
	case !finite(value) || value < s.low || value > s.high:
		return fmt.Errorf("%w: %v is outside the range of %s, %v to %v", ErrHand, value, name, s.low, s.high)
	case s.whole && value != math.Trunc(value):
		return fmt.Errorf("%w: %v is no value of %s: its values are integers", ErrHand, value, name)
	}
	if err := r.set(s, value); err != nil {
		return r.fail(err)
	}
	return nil
}

func (r *Run) set(s *HandSignal, value float64) error {
	r.executive.Begin()
	if err := r.close(); err != nil {
		return err
	}
	if err := r.log("hand", fmt.Sprintf("%s is set from %s to %s", s.Name, s.text(s.Value), s.text(value))); err != nil {
		return err
	}
	if s.slot >= 0 {
		r.executive.SetSlot(s.slot, value)
	} else {
		r.world.(Settable).SetState(s.state, value)
	}
	if _, err := r.react(); err != nil {
		return err
	}
	return r.right()
}

// text writes a value of the signal.
func (s *HandSignal) text(v float64) string {
	switch {
	case math.IsNaN(v):
		return "no value"
	case s.Values != nil:
		return s.Values[int(v)]
	case s.Unit == "" || s.Unit == "1":
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprintf("%.6g %s", v, s.Unit)
}

// Condition compiles a condition over the signals of the run, and returns what tells whether it holds at present. The
// error is that of its text.
func (r *Run) Condition(text string) (holds func() bool, err error) {
	e, err := expr.Parse(text)
	scope := r.m.Scope()
	if err == nil {
		for _, mistake := range e.Check(expr.Boolean, expr.Unit{}, scope) {
			err = errors.Join(err, mistake)
		}
	}
	if err != nil {
		return nil, err
	}
	code := r.m.AtOnce(e.Resolved(scope))
	return func() bool { return code.Bool(r.world.At(r.world.T()), nil) }, nil
}
