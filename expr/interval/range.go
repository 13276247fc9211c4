package interval

import (
	"math"
	"slices"
)

// precision is the share of the width of a range by which its bounds may be too wide without being improved.
const precision = 1e-3

// Range returns bounds of the exact values of a function over a box, and whether it may jump in it. f bounds the
// function in a part of the box; its value's slopes are by the box's variables. Parts are halved until the bounds are
// nearly those of the values found, or f has been called budget times. In each part the bounds of f are met with those of its mean value form and,
// if f is monotone in a variable, with those at the variable's ends (R. E. Moore, R. B. Kearfott, M. J. Cloud,
// Introduction to Interval Analysis, 2009, chapters 6 and 11).
func Range(f func(box []Interval) Value, box []Interval, budget int) (bounds Interval, jumps bool) {
	s := &search{f: f, budget: budget, inside: Interval{math.Inf(1), math.Inf(-1), false}}
	s.parts = []part{s.bound(slices.Clone(box))}
	jumps = s.parts[0].jumps
	for s.budget > 0 {
		i, ok := s.worst()
		if !ok {
			break
		}
		p := s.parts[i]
		k, ok := p.widest()
		if !ok { // a point
			s.done = append(s.done, p)
			s.parts = slices.Delete(s.parts, i, i+1)
			continue
		}
		middle := p.box[k].Middle()
		left, right := slices.Clone(p.box), slices.Clone(p.box)
		left[k].High, right[k].Low = middle, middle
		s.parts[i] = s.bound(left).within(p)
		s.parts = append(s.parts, s.bound(right).within(p))
	}
	all := append(s.parts, s.done...)
	bounds = all[0].bounds
	for _, p := range all[1:] {
		bounds = bounds.Join(p.bounds)
	}
	return bounds, jumps
}

// search is a branch and bound search for both ends of a range.
type search struct {
	f           func(box []Interval) Value
	budget      int
	parts, done []part
	inside      Interval // spans values that the function takes
}

// part is a part of the box.
type part struct {
	box    []Interval
	bounds Interval
	slope  []Interval
	jumps  bool
}

// within meets the bounds with those of a larger part.
func (p part) within(larger part) part {
	if both, ok := p.bounds.Meet(larger.bounds); ok {
		p.bounds = both
	}
	return p
}

// eval calls the function; a value at a point is one that it takes.
func (s *search) eval(box []Interval) Value {
	s.budget--
	v := s.f(box)
	if !v.NaN && v.Bounded() && !slices.ContainsFunc(box, func(x Interval) bool { return !x.Point() }) {
		s.inside = Interval{min(s.inside.Low, v.High), max(s.inside.High, v.Low), false}
	}
	return v
}

// bound bounds the function in a part.
func (s *search) bound(box []Interval) part {
	v := s.eval(box)
	p := part{box, v.Interval, v.Slope, v.Jumps}
	center := make([]Interval, len(box))
	for i, x := range box {
		center[i] = Point(x.Middle())
	}
	c := s.eval(center)
	if v.Jumps || v.NaN || v.Slope == nil {
		return p
	}
	mean, lowest, highest := c.Interval, slices.Clone(box), slices.Clone(box)
	monotone := false
	for i, x := range box {
		mean = mean.Plus(v.Slope[i].part(x.Minus(center[i])))
		if x.Point() || !x.Bounded() {
			continue
		}
		low, high := Point(x.Low), Point(x.High)
		switch d := v.Slope[i]; {
		case d.Low >= 0:
			lowest[i], highest[i], monotone = low, high, true
		case d.High <= 0:
			lowest[i], highest[i], monotone = high, low, true
		}
	}
	p.bounds.meet(mean)
	if monotone {
		a, b := s.eval(lowest), s.eval(highest)
		if !a.NaN && !b.NaN && a.Low <= b.High {
			p.bounds.meet(Interval{a.Low, b.High, false})
		}
	}
	return p
}

// meet narrows an interval by other bounds of the same values.
func (x *Interval) meet(y Interval) {
	if both, ok := x.Meet(y); ok {
		x.Low, x.High = both.Low, both.High
	}
}

// worst returns the part whose bounds are the farthest from the values found; ok is false if all are near.
func (s *search) worst() (i int, ok bool) {
	near := precision * (s.inside.High - s.inside.Low)
	if !(near >= 0) {
		near = 0
	}
	i = -1
	far := near
	for k, p := range s.parts {
		d := max(s.inside.Low-p.bounds.Low, p.bounds.High-s.inside.High)
		if d > far && d > 1e-12*max(math.Abs(s.inside.Low), math.Abs(s.inside.High)) {
			i, far = k, d
		}
	}
	return i, i >= 0
}

// widest returns the variable over which the function changes most.
func (p part) widest() (k int, ok bool) {
	most, size := -1.0, -1.0
	for i, x := range p.box {
		w := x.Width()
		if w == 0 || x.Middle() == x.Low || x.Middle() == x.High {
			continue
		}
		change := 0.0
		if p.slope != nil {
			change = p.slope[i].Abs().part(Between(w, w)).High
		}
		if relative := w / (1 + min(x.Abs().High, math.MaxFloat64)); change > most || change == most && relative > size {
			k, most, size, ok = i, change, relative, true
		}
	}
	return k, ok
}
