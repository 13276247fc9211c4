package flown

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"canopy/snapshot"
)

// A written value that is not a number is known by the linear form of signals from which it came. The input that has it
// is a NaN with the number of the value. From one instant to the next such values have names, and the bounds that
// answers have given them: a slot that keeps a value has the same one in every instant.
type keeper struct {
	values []value // each once
	places map[value]int
	start  []int32 // the forms of what slots without a default hold at the start
}

// starts and keeps precede the names of values that are kept.
const (
	starts = "at the start "
	keeps  = "kept value "
)

// payload is the number of a NaN, which that of an input with an unknown value has not.
const payload = 1<<51 - 1

// store returns the input that stands for a value which is not a number.
func (k *keeper) store(v value) float64 {
	n, ok := k.places[v]
	if !ok {
		if k.places == nil {
			k.places = map[value]int{}
		}
		n = len(k.values)
		k.values = append(k.values, v)
		k.places[v] = n
	}
	return math.Float64frombits(math.Float64bits(math.Inf(1)) | 1<<51 | uint64(n+1)<<1 | 1)
}

// kept returns the value for which an input stands; ok is false if nothing is known of it.
func (k *keeper) kept(x float64) (v value, ok bool) {
	n := math.Float64bits(x) & payload >> 1
	if n == 0 || n > uint64(len(k.values)) {
		return value{}, false
	}
	return k.values[n-1], true
}

// first reports whether a value is one that a slot has at the start.
func (k *keeper) first(v value) bool { return slices.Contains(k.start, v.form) }

// begun names the values that slots without a default have at the start.
func (s *Stepper) begun() {
	k := &s.w.keeper
	for i := range s.p.Slots {
		if x := &s.p.Slots[i]; math.IsNaN(x.Initial) && !x.Entry {
			f := s.forms.signal(starts + x.Name)
			s.initial[s.p.Held(i)] = k.store(value{f, 1, 0})
			if !slices.Contains(k.start, f) {
				k.start = append(k.start, f)
			}
		}
	}
}

// name returns the form of a kept value by its number.
func (f *forms) name(n int) int32 { return f.signal(fmt.Sprint(keeps, n)) }

// lasts reports whether a form is a value that is kept, so that it is the same in all instants.
func (f *forms) lasts(form int32) bool {
	t := f.list[form].terms
	name := f.atoms[t[0].atom].signal
	return len(t) == 1 && (strings.HasPrefix(name, keeps) || strings.HasPrefix(name, starts))
}

// rename gives the values that are kept at the end of an instant their names, in the order of the inputs, with the
// bounds that are known of each. It returns how many there are.
func (s *Stepper) rename() int {
	w, k := s.w, &s.w.keeper
	names := map[value]float64{}
	var bounds []interval
	for i, x := range w.u {
		if !math.IsNaN(x) || s.idle(i) {
			continue
		}
		v, ok := k.kept(x)
		if !ok || k.first(v) {
			continue
		}
		to, known := names[v]
		if !known {
			to = k.store(value{s.forms.name(len(bounds)), 1, 0})
			names[v] = to
			bounds = append(bounds, w.known(v.form).scaled(v))
		}
		w.u[i] = to
	}
	for n, b := range bounds {
		*w.known(s.forms.name(n)) = b
	}
	return len(bounds)
}

// lasting returns what is known of the values that are kept: those of the start, and a number of others.
func (s *Stepper) lasting(others int) *carried {
	c := &carried{w: s.w}
	for n := range len(s.w.keeper.start) + others {
		c.bounds = append(c.bounds, *s.w.known(c.form(n)))
	}
	return c
}

// carried passes what is known of kept values from one instant to the next.
type carried struct {
	w      *world
	bounds []interval // those of the start first
}

// form returns the form of a value by its place.
func (r *carried) form(n int) int32 {
	if start := r.w.keeper.start; n >= len(start) {
		return r.w.s.forms.name(n - len(start))
	}
	return r.w.keeper.start[n]
}

// State implements snapshot.Stateful.
func (r *carried) State(c *snapshot.Codec) {
	if d := r.w.duo; d != nil {
		snapshot.Bool(c, &d.loose)
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
		snapshot.Float(c, &b.low)
		snapshot.Float(c, &b.high)
		snapshot.Bool(c, &b.lowOpen)
		snapshot.Bool(c, &b.highOpen)
		snapshot.List(c, &b.not, snapshot.Float)
		if c.Loading() && !c.Failed() && (!math.IsInf(b.low, -1) || !math.IsInf(b.high, 1) || len(b.not) > 0) {
			*r.w.known(r.form(k)) = b
		}
	}
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
