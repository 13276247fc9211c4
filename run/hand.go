package run

import (
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// ErrHand is wrapped by the errors of a state that cannot be set by hand.
var ErrHand = errors.New("the state cannot be set")

// Settable is a World that is simulated: its states can be set.
type Settable interface {
	World
	// SetState sets a state of the vehicle at the present time.
	SetState(state int, value float64)
}

// SetState sets a state of the vehicle by hand, between two steps, at an instant of its own; the log has an event. With
// an error that wraps ErrHand, nothing has happened. Another error is that of the run, which it has ended.
func (r *Run) SetState(name string, value float64) error {
	w, ok := r.world.(Settable)
	states := r.m.Vehicle.States
	i := slices.IndexFunc(states, func(s model.State) bool { return s.Name == name })
	switch {
	case r.over || r.stopping || !r.begun:
		return fmt.Errorf("%w: the run is not under way", ErrHand)
	case !ok:
		return fmt.Errorf("%w: the vehicle is not simulated", ErrHand)
	case i < 0:
		names := make([]string, len(states))
		for k := range states {
			names[k] = states[k].Name
		}
		return fmt.Errorf("%w: there is no state %s; %s", ErrHand, diag.Visible(name), diag.DidYouMean(name, names))
	}
	if low, high := states[i].Range.Bounds(); !finite(value) || value < low || value > high {
		return fmt.Errorf("%w: %v is outside the range of %s, %v to %v", ErrHand, value, name, low, high)
	}
	if err := r.setState(w, i, value); err != nil {
		return r.fail(err)
	}
	return nil
}

func (r *Run) setState(w Settable, state int, value float64) error {
	r.executive.Begin()
	if err := r.close(); err != nil {
		return err
	}
	s := &r.m.Vehicle.States[state]
	text := fmt.Sprintf("%s is set from %.6g to %.6g %s", s.Name, w.States()[state], value, s.Unit)
	if err := r.log("hand", text); err != nil {
		return err
	}
	w.SetState(state, value)
	if _, err := r.react(); err != nil {
		return err
	}
	return r.right()
}
