package temporal

import (
	"cmp"
	"math"
	"slices"
)

// point is a value of a curve at a place of time. At one time several places can follow each other, in the order of k:
// the limit from the left, the places of the trace (both sides of an event), the limit from the right.
type point struct {
	t float64
	k int
	v float64
}

const (
	fromLeft  = -1
	fromRight = math.MaxInt
)

// curve is a function of time, linear from one point to the next. A place that it has no point for has the value of
// its neighbour at the same time.
type curve []point

func byPlace(p, q point) int {
	return cmp.Or(cmp.Compare(p.t, q.t), cmp.Compare(p.k, q.k))
}

// roundedOff bounds the relative error of a value or a time between two points, in some operations.
const roundedOff = 8 * 0x1p-52

// line returns the value at a time between two points. What may be 0, with the value and the time rounded, is 0: a
// condition or its opposite holds where their curves cross. An infinite value, that of a discrete signal, changes at
// the second point.
func line(p, q point, t float64) float64 {
	switch {
	case t == q.t && p.t < q.t:
		return q.v
	case p.v == q.v, q.t == p.t, math.IsInf(p.v, 0), math.IsInf(q.v, 0):
		return p.v
	}
	v := p.v + (q.v-p.v)*((t-p.t)/(q.t-p.t))
	if math.Abs(v) <= roundedOff*(max(math.Abs(p.v), math.Abs(q.v))+math.Abs((q.v-p.v)*(t/(q.t-p.t)))) {
		return 0
	}
	return v
}

// at returns the value at a place. Times outside of the curve are taken as its ends.
func (c curve) at(t float64, k int) float64 {
	p := point{t: t, k: k}
	i, _ := slices.BinarySearchFunc(c, p, byPlace)
	return c.value(i, p)
}

// value returns the value at the place of p; i is the first point that is not before it.
func (c curve) value(i int, p point) float64 {
	switch {
	case i < len(c) && byPlace(c[i], p) == 0:
		return c[i].v
	case i == len(c), i > 0 && c[i-1].t == p.t:
		return c[i-1].v
	case i == 0 || c[i].t == p.t:
		return c[i].v
	}
	return line(c[i-1], c[i], p.t)
}

// negative returns the curve with the opposite sign.
func (c curve) negative() curve {
	n := slices.Clone(c)
	for i := range n {
		n[i].v = -n[i].v
	}
	return n
}

// crossed returns the curve with places where it crosses 0, and with the limits from the right of those where it is 0.
func (c curve) crossed() curve {
	out := make(curve, 0, len(c))
	for i, p := range c {
		if i > 0 && c[i-1].t < p.t {
			q := c[i-1]
			if t, ok := crossing(q, p, point{t: q.t}, point{t: p.t}); ok {
				out = append(out, point{t, 0, 0}, point{t, 1, p.v})
			} else if q.v == 0 {
				out = append(out, point{q.t, fromRight, p.v})
			}
		}
		out = append(out, p)
	}
	return out
}

// negativeFrom returns the first place, not before another one, from which on the curve is negative.
func (c curve) negativeFrom(from point) (point, bool) {
	last := point{from.t, from.k, c.at(from.t, from.k)}
	if last.v < 0 {
		return last, true
	}
	i, found := slices.BinarySearchFunc(c, from, byPlace)
	if found {
		i++
	}
	for _, p := range c[i:] {
		if p.v >= 0 {
			last = p
			continue
		}
		if last.t < p.t && !math.IsInf(last.v-p.v, 0) {
			p = point{t: last.t + (p.t-last.t)*(last.v/(last.v-p.v)), v: p.v}
		}
		return p, true
	}
	return point{}, false
}

// together returns two curves with the same places, and with a place where they cross.
func together(a, b curve) (curve, curve) {
	n := max(len(a), len(b))
	x, y := make(curve, 0, n), make(curve, 0, n)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		fromA := j == len(b) || i < len(a) && byPlace(a[i], b[j]) <= 0
		fromB := i == len(a) || j < len(b) && byPlace(b[j], a[i]) <= 0
		var u point
		if fromA {
			u = a[i]
		} else {
			u = b[j]
		}
		v := u
		u.v, v.v = a.value(i, u), b.value(j, u)
		if fromA {
			i++
		}
		if fromB {
			j++
		}
		if n := len(x); n > 0 {
			if t, ok := crossing(x[n-1], u, y[n-1], v); ok {
				w := line(x[n-1], u, t)
				x, y = append(x, point{t, 0, w}), append(y, point{t, 0, w})
			}
		}
		x, y = append(x, u), append(y, v)
	}
	return x, y
}

// crossing returns the time at which two lines cross, if that is between their ends.
func crossing(p0, p1, q0, q1 point) (t float64, ok bool) {
	d0, d1 := p0.v-q0.v, p1.v-q1.v
	if !(d0 < 0 && d1 > 0 || d0 > 0 && d1 < 0) || math.IsInf(d0, 0) || math.IsInf(d1, 0) {
		return 0, false
	}
	t = p0.t + (p1.t-p0.t)*(d0/(d0-d1))
	return t, t > p0.t && t < p1.t
}

// greatest returns the pointwise maximum of two curves.
func greatest(a, b curve) curve {
	a, b = together(a, b)
	for i := range a {
		a[i].v = max(a[i].v, b[i].v)
	}
	return a
}

// least returns the pointwise minimum of two curves.
func least(a, b curve) curve {
	a, b = together(a, b)
	for i := range a {
		a[i].v = min(a[i].v, b[i].v)
	}
	return a
}

// until returns, from each place on, the maximum over later places of the minimum of b there and of a on the way; last
// is its value at the end of the trace. From one place to the next, it is
//
//	z(here) = max(b(here), min(a(here), z(next)))
//
// and likewise along a line from p to q, on which a and b do not cross:
//
//	z(t) = max(b(t), min(a(t), a(q), z(q)))
func until(a, b curve, last float64) curve {
	a, b = together(a, b)
	z := make(curve, 0, len(b)) // backwards
	next := last
	for i := len(b) - 1; i >= 0; i-- {
		here := b[i]
		if i < len(b)-1 && b[i+1].t > here.t {
			p, q := a[i], a[i+1]
			bound := min(q.v, next)
			value := func(t float64) float64 { return max(line(b[i], b[i+1], t), min(line(p, q, t), bound)) }
			flat0, flat1 := point{p.t, 0, bound}, point{q.t, 0, bound}
			var bends []float64
			for _, ends := range [][4]point{{p, q, flat0, flat1}, {b[i], b[i+1], flat0, flat1}} {
				if t, ok := crossing(ends[0], ends[1], ends[2], ends[3]); ok {
					bends = append(bends, t)
				}
			}
			slices.SortFunc(bends, func(s, t float64) int { return cmp.Compare(t, s) })
			for _, t := range slices.Compact(bends) {
				z = append(z, point{t, 0, value(t)})
			}
			here.v = value(p.t)
		} else {
			here.v = max(b[i].v, min(a[i].v, next))
		}
		next = here.v
		z = append(z, here)
	}
	slices.Reverse(z)
	return z
}

// nearness is the part of a trace's length below which two times are the same: they differ by rounding.
const nearness = 1e-12

// apart is the part of a trace's length by which the times of its places differ at least, so that a window is near that
// of one place only.
const apart = 4 * nearness

// window is the times from one to another.
type window struct{ from, to float64 }

// hasTime reports whether a point of the curve has a time.
func (c curve) hasTime(t float64) bool {
	i, _ := slices.BinarySearchFunc(c, point{t: t, k: math.MinInt}, byPlace)
	return i < len(c) && c[i].t == t
}

// windows returns those of a length whose beginning or end is at a point of the curve, in the order of time.
func (c curve) windows(length float64) []window {
	first, last := c[0].t, c[len(c)-1].t
	near := nearness * (last - first)
	var all []window
	for i, p := range c {
		if i > 0 && c[i-1].t == p.t {
			continue
		}
		all = append(all, window{p.t, p.t + length})
		if p.t-length > first {
			all = append(all, window{p.t - length, p.t})
		}
	}
	slices.SortStableFunc(all, func(u, v window) int { return cmp.Compare(u.from, v.from) })
	exact := all[:0]
	for _, w := range all { // of two that differ only by rounding, the one takes the point's time from each
		n := len(exact)
		if n == 0 || w.from-exact[n-1].from > near {
			exact = append(exact, w)
			continue
		}
		for _, u := range [...]window{w, exact[n-1]} {
			if c.hasTime(u.from) {
				exact[n-1].from = u.from
			}
			if c.hasTime(u.to) {
				exact[n-1].to = u.to
			}
		}
	}
	return exact
}

// within returns the maximum of the curve from each place on, up to a duration later. Times beyond the end have the
// given value; so has the time of the end of a partial curve, since its later places are not known.
func (c curve) within(length, beyond float64, partial bool) curve {
	last := c[len(c)-1].t
	best := newMaxima(c)
	late := func(to float64, touches bool) float64 {
		if to > last || touches && to == last {
			return beyond
		}
		return math.Inf(-1)
	}
	index := func(t float64, k int) int { // of the first point that is not before a place
		i, _ := slices.BinarySearchFunc(c, point{t: t, k: k}, byPlace)
		return i
	}
	all := c.windows(length)
	var out curve
	for i, w := range all {
		after := index(w.to, fromRight)
		if after < len(c) && c[after].t == w.to {
			after++ // also the limit from the right
		}
		if i > 0 { // the limit from the left
			v := max(c.at(w.from, fromLeft), best.of(index(w.from, fromLeft), index(w.to, fromLeft)), c.at(w.to, fromLeft),
				late(w.to, partial))
			out = append(out, point{w.from, fromLeft, v})
		}
		places := []int{0}
		if at := index(w.from, math.MinInt); at < len(c) && c[at].t == w.from {
			places = places[:0]
			for ; at < len(c) && c[at].t == w.from; at++ {
				if k := c[at].k; k != fromLeft && k != fromRight {
					places = append(places, k)
				}
			}
		}
		through := after
		if through > 0 && c[through-1].t == w.to && c[through-1].k == fromRight {
			through--
		}
		for _, k := range places {
			v := max(c.at(w.from, k), best.of(index(w.from, k), through), late(w.to, partial))
			if through == 0 || c[through-1].t != w.to {
				v = max(v, c.at(w.to, 0))
			}
			out = append(out, point{w.from, k, v})
		}
		if i == len(all)-1 {
			break
		}
		start, stop := point{w.from, 0, c.at(w.from, fromRight)}, point{all[i+1].from, 0, c.at(all[i+1].from, fromLeft)}
		inner := max(best.of(index(all[i+1].from, fromLeft), after), late(w.to, true))
		front0, front1 := point{w.from, 0, c.at(w.to, fromRight)}, point{stop.t, 0, c.at(all[i+1].to, fromLeft)}
		flat0, flat1 := point{w.from, 0, inner}, point{stop.t, 0, inner}
		value := func(t float64) float64 { return max(line(start, stop, t), line(front0, front1, t), inner) }
		out = append(out, point{w.from, fromRight, value(w.from)})
		var bends []float64
		for _, ends := range [][4]point{{start, stop, front0, front1}, {start, stop, flat0, flat1},
			{front0, front1, flat0, flat1}} {
			if t, ok := crossing(ends[0], ends[1], ends[2], ends[3]); ok {
				bends = append(bends, t)
			}
		}
		slices.Sort(bends)
		for _, t := range slices.Compact(bends) {
			out = append(out, point{t, 0, value(t)})
		}
	}
	return out
}

// maxima stores the maxima of consecutive points: level[j][i] is that of the 1<<j points from i on.
type maxima struct{ level [][]float64 }

func newMaxima(c curve) *maxima {
	m := &maxima{}
	base := make([]float64, len(c))
	for i, p := range c {
		base[i] = p.v
	}
	for size := 1; len(base) > 0; size *= 2 {
		m.level = append(m.level, base)
		if len(base) <= size {
			break
		}
		next := make([]float64, len(base)-size)
		for i := range next {
			next[i] = max(base[i], base[i+size])
		}
		base = next
	}
	return m
}

// of returns the maximum of the points from one to before another, -Inf if there are none.
func (m *maxima) of(from, to int) float64 {
	if from >= to {
		return math.Inf(-1)
	}
	j := 0
	for 2<<j <= to-from {
		j++
	}
	return max(m.level[j][from], m.level[j][to-1<<j])
}
