package flown

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/snapshot"
)

// A written value that is not a number is known by the linear form of signals from which it came. From one instant to
// the next such values have names, and the bounds that answers have given them: a slot that keeps a value has the same
// one in every instant.

// starts and keeps precede the names of values that are kept.
const (
	starts = "at the start "
	keeps  = "kept value "
)

// isFirst reports whether a value is one that a slot has at the start.
func (a *answers) isFirst(v value) bool { return slices.Contains(a.start, v.form) }

// begun finds the values of slots at the start. Those of slots without a default have names.
func (s *Stepper) begun() {
	for i := range s.p.Slots {
		x, v := &s.p.Slots[i], unknown
		switch {
		case !x.Empty:
			v = number(x.Initial)
		case !x.Entry:
			v = value{form: s.forms.signal(starts + x.Name), scale: 1}
			if !s.w.isFirst(v) {
				s.w.start = append(s.w.start, v.form)
			}
		}
		s.starts[s.p.Held(i)] = v
	}
	s.w.restart()
}

// name returns the form of a kept value by its number.
func (f *forms) name(n int) int32 { return f.signal(fmt.Sprint(keeps, n)) }

// lasts reports whether a form is a value that is kept, so that it is the same in all instants.
func (f *forms) lasts(form int32) bool {
	t := f.list[form].terms
	name := f.atoms[t[0].atom].signal
	return len(t) == 1 && (strings.HasPrefix(name, keeps) || strings.HasPrefix(name, starts))
}

// rename gives the values that are kept at the end of an instant their names, in the order of the inputs of the plans,
// and returns what is known of them, and of those of the start.
func rename(plans []*Stepper) *keptBounds {
	w := plans[0].w
	c := &keptBounds{w: w}
	for _, f := range w.start {
		c.bounds = append(c.bounds, *w.known(f))
	}
	names := map[value]value{}
	for _, s := range plans {
		for i, v := range s.w.values {
			if v.form < 0 || w.isFirst(v) || s.idle(i) {
				continue
			}
			to, known := names[v]
			if !known {
				to = value{form: s.forms.name(len(names)), scale: 1}
				names[v] = to
				c.bounds = append(c.bounds, w.known(v.form).scaled(v))
			}
			s.w.values[i] = to
		}
	}
	for n, b := range c.bounds {
		*w.known(c.form(n)) = b
	}
	return c
}

// keepsForm reports whether an input is such a value.
func (s *Stepper) keepsForm(f int32) bool {
	for i, v := range s.w.values {
		if v.form == f && !s.idle(i) {
			return true
		}
	}
	return false
}

// keptBounds passes what is known of kept values from one instant to the next.
type keptBounds struct {
	w      *world
	bounds []interval // those of the start first
}

// form returns the form of a value by its place.
func (r *keptBounds) form(n int) int32 {
	if start := r.w.start; n >= len(start) {
		return r.w.s.forms.name(n - len(start))
	}
	return r.w.start[n]
}

// State implements snapshot.Stateful.
func (r *keptBounds) State(c *snapshot.Codec) {
	if d := r.w.product; d != nil {
		snapshot.Bool(c, &d.Inexact)
		d.twins(c)
	}
	n := len(r.bounds)
	snapshot.Int(c, &n)
	for k := range n {
		var b interval
		if !c.Loading() {
			b = r.bounds[k]
			b.not = slices.DeleteFunc(slices.Clone(b.not), func(x float64) bool { return x < b.low || x > b.high })
			slices.Sort(b.not)
		}
		if b.state(c); c.Loading() && !c.Failed() && (!math.IsInf(b.low, -1) || !math.IsInf(b.high, 1) || len(b.not) > 0) {
			*r.w.known(r.form(k)) = b
		}
	}
}

// state passes the interval to the codec.
func (i *interval) state(c *snapshot.Codec) {
	snapshot.Float(c, &i.low)
	snapshot.Float(c, &i.high)
	snapshot.Bool(c, &i.lowOpen)
	snapshot.Bool(c, &i.highOpen)
	snapshot.List(c, &i.not, snapshot.Float)
}

// scaled returns what is known of a value whose form has these bounds.
func (i interval) scaled(v value) interval {
	to := interval{lowOpen: i.lowOpen, highOpen: i.highOpen}
	to.low, to.high = i.low*v.scale+v.offset, i.high*v.scale+v.offset
	if v.scale < 0 {
		to.low, to.high, to.lowOpen, to.highOpen = to.high, to.low, to.highOpen, to.lowOpen
	}
	for _, x := range i.not {
		to.not = append(to.not, x*v.scale+v.offset)
	}
	return to
}
