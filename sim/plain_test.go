package sim

import (
	"fmt"
	"math"
)

// plain is a second finder of events for the golden scripts: fixed steps of the classical Runge-Kutta method, sides
// compared at their ends, and bisection. It uses the fields of a simulator, and none of its methods.
type plain struct {
	*Simulator
	step       float64
	iterations int
}

// Advance has the contract of Simulator.Advance.
func (p *plain) Advance(until float64) (Segment, error) {
	seg := Segment{From: p.T}
	events, err := p.changes(p.T, p.Y)
	for err == nil && len(events) == 0 && p.T < p.Alarm && p.T < until {
		p.commit(nil)
		p.iterations = 0
		limit := min(until, p.Alarm)
		h, low, found := min(p.step, limit-p.T), 0., false
		lands := h == limit-p.T
		for high := h; ; {
			mid := high
			if found {
				mid = (low + high) / 2
			}
			list, bad := p.changes(p.T+mid, p.after(mid))
			switch {
			case !found && bad == nil && len(list) == 0: // nothing in this step
				low = high
			case !found:
				found = true
			case bad != nil || len(list) > 0:
				high = mid
			default:
				low = mid
			}
			if low == high || found && (low+high)/2 == low || (low+high)/2 == high {
				h, lands = high, lands && high == h
				break
			}
		}
		y := p.after(h)
		if p.T += h; lands {
			p.T = limit
		}
		copy(p.Y, y)
		events, err = p.changes(p.T, p.Y)
	}
	p.commit(events)
	seg.To, seg.Events = p.T, events
	if p.Alarm <= p.T {
		seg.Alarm, p.Alarm = true, math.Inf(1)
	}
	if err == nil && seg.From == seg.To && (len(events) > 0 || seg.Alarm) {
		err = p.count(events)
	}
	return seg, err
}

// Iterate has the contract of Simulator.Iterate.
func (p *plain) Iterate() (changed []int, err error) {
	for i, g := range p.indicators(p.T, p.Y) {
		if finite(g) && (g >= 0) != p.Above[i] {
			changed = append(changed, i)
		} else if !finite(g) && p.watch[i] != 0 {
			return nil, &NotFiniteError{p.T, "indicator", p.sys.Indicators[i].Name}
		}
	}
	if len(changed) > 0 {
		err = p.count(changed)
	}
	for _, i := range changed {
		p.Above[i] = p.Above[i] == (err != nil)
	}
	return changed, err
}

func (p *plain) indicators(t float64, y []float64) []float64 {
	g := make([]float64, len(p.Above))
	if len(g) > 0 {
		p.sys.Zeros(t, y, &p.Discrete, nil, g)
	}
	return g
}

// changes returns the indicators whose side at (t, y) differs from the committed one in a watched direction.
func (p *plain) changes(t float64, y []float64) (list []int, err error) {
	if i := notFinite(y); i >= 0 {
		return nil, &NotFiniteError{t, "state", p.sys.States[i]}
	}
	for i, g := range p.indicators(t, y) {
		w := p.watch[i]
		if p.sys.Indicators[i].Switches && w != 0 {
			w = Either
		}
		switch {
		case w != 0 && !finite(g):
			return nil, &NotFiniteError{t, "indicator", p.sys.Indicators[i].Name}
		case g >= 0 && !p.Above[i] && w&Rising != 0, g < 0 && p.Above[i] && w&Falling != 0:
			list = append(list, i)
		}
	}
	return list, nil
}

// commit commits the sides of watched indicators that are not among the events.
func (p *plain) commit(events []int) {
	sides := append([]bool(nil), p.Above...)
	for i, g := range p.indicators(p.T, p.Y) {
		if p.watch[i] != 0 {
			sides[i] = g >= 0
		}
	}
	for _, i := range events {
		sides[i] = p.Above[i]
	}
	copy(p.Above, sides)
}

// after returns the states after a step of length h.
func (p *plain) after(h float64) []float64 {
	k, sum := make([]float64, len(p.Y)), append([]float64(nil), p.Y...)
	for s, c := range []float64{0, 0.5, 0.5, 1} {
		y := append([]float64(nil), p.Y...)
		for i := range y {
			y[i] += c * h * k[i]
		}
		p.sys.Derivatives(p.T+c*h, y, &p.Discrete, k)
		for i := range sum {
			sum[i] += h * k[i] * []float64{1, 2, 2, 1}[s] / 6
		}
	}
	return sum
}

// count counts the event iterations at T.
func (p *plain) count(changed []int) error {
	if p.iterations++; p.iterations <= p.options.MaxIterations {
		return nil
	}
	name := "the alarm"
	if len(changed) > 0 {
		name = p.sys.Indicators[changed[0]].Name
	}
	return fmt.Errorf("%w: t = %g s, %d iterations: %s", ErrEventIteration, p.T, p.options.MaxIterations, name)
}
