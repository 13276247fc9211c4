package run

import (
	"errors"
	"fmt"
	"math"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/ode"
	"github.com/canopy-uav/canopy/run/record"
)

// checkRanges logs a state that has left the range in which the vehicle's model is valid.
func (r *Run) checkRanges(t float64, states []float64) error {
	if states = states[:len(r.low)]; ode.Within(states, r.low, r.high) {
		clear(r.outside)
		return nil
	}
	for i, y := range states {
		if math.IsInf(r.low[i], -1) && math.IsInf(r.high[i], 1) {
			continue
		}
		if err := errors.Join(r.checkDeclared(t, i, y), r.checkImplied(t, i, y)); err != nil {
			return err
		}
	}
	return nil
}

// few is the number of tolerances that errors of the integration explain.
const few = 100

func (r *Run) checkDeclared(t float64, state int, y float64) error {
	s, was := &r.m.Vehicle.States[state], r.outside[state]
	low, high := s.Range.Bounds()
	if r.outside[state] = y < low-few*s.AbsTol || y > high+few*s.AbsTol; was || !r.outside[state] {
		return nil
	}
	text := fmt.Sprintf("%s = %s is outside its range, %v: the model is not valid there", s.Name, diag.Number(y, 6),
		s.Range)
	return r.rec.Event(record.Event{T: t, Micro: r.executive.Micro(), Kind: record.KindRange, Text: text})
}

// checkImplied logs, once, that a state has left the range that the equations imply.
func (r *Run) checkImplied(t float64, state int, y float64) error {
	if r.implied == nil || r.wrong[state] {
		return nil
	}
	s, largest := &r.m.Vehicle.States[state], r.peak[state]
	tolerance := s.AbsTol * r.m.Tolerance / mission.DefaultTolerance
	if f := r.m.Vehicle.Floating; f != nil && f[state] && largest > 0 { // else nothing is known of its scale
		tolerance = min(tolerance, 1e-4*largest)
	}
	margin := few * (tolerance + r.m.Tolerance*largest)
	low, high := r.bounds(state)
	if low-margin <= y && y <= high+margin {
		return nil
	}
	r.wrong[state] = true
	text := fmt.Sprintf("%s = %s is outside of %v, which the equations imply: the solution is wrong; use a smaller "+
		"tolerance", s.Name, diag.Number(y, 6), r.implied[state])
	return r.rec.Event(record.Event{T: t, Micro: r.executive.Micro(), Kind: record.KindTolerance, Text: text})
}

// bounds returns the range that the equations imply for a state.
func (r *Run) bounds(state int) (low, high float64) {
	if r.implied == nil {
		return math.Inf(-1), math.Inf(1)
	}
	return r.implied[state].Bounds()
}

// doubt logs the states that were never far above their absolute tolerances: their digits, and what follows from them,
// may be wrong. Tolerances that follow the values are beyond doubt.
func (r *Run) doubt() error {
	for i := range r.peak {
		s := &r.m.Vehicle.States[i]
		tolerance := s.AbsTol * r.m.Tolerance / mission.DefaultTolerance
		if f := r.m.Vehicle.Floating; f != nil && f[i] || !(r.peak[i] > 0 && r.peak[i] < few*tolerance) {
			continue
		}
		text := fmt.Sprintf("%s was never above %s, its tolerance is %s: it may be wrong; declare a smaller tolerance",
			s.Name, diag.Number(r.peak[i], 3), diag.Number(tolerance, 3))
		if err := r.log(record.KindTolerance, text); err != nil {
			return err
		}
	}
	return nil
}
