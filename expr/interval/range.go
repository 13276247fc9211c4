package interval

import (
	"math"
	"slices"
)

// precision is the share of the width of a range by which its bounds may be too wide without being improved.
const precision = 1e-3

// Function bounds a function in a part of a box, at all points. ok is false if no point of the part is possible.
type Function func(box []Interval) (v Value, ok bool)

// Range returns bounds of the exact values of a function over a box, and whether it may jump in it. The slopes of the
// function's values are by the box's variables. Parts of the box are halved until the bounds are nearly those of the
// values found, or the function has been called budget times. In each part, its bounds are met with those of its mean
// value form and, if it is monotone in a variable, with those at the variable's ends (R. E. Moore, R. B. Kearfott,
// M. J. Cloud, Introduction to Interval Analysis, 2009, chapters 6 and 11). ok is false if no point of the box is
// possible.
func Range(f Function, box []Interval, budget int) (bounds Interval, jumps, ok bool) {
	s := &search{f: f, budget: budget, inside: Interval{math.Inf(1), math.Inf(-1), false}}
	s.bound(slices.Clone(box), Interval{math.Inf(-1), math.Inf(1), true})
	s.follow(box)
	for s.budget > 0 {
		i, ok := s.worst()
		if !ok {
			break
		}
		p := s.parts[i]
		s.parts = slices.Delete(s.parts, i, i+1)
		k, ok := p.widest()
		if !ok { // a point
			s.done = append(s.done, p)
			continue
		}
		middle := p.box[k].Middle()
		left, right := slices.Clone(p.box), slices.Clone(p.box)
		left[k].High, right[k].Low = middle, middle
		s.bound(left, p.bounds)
		s.bound(right, p.bounds)
	}
	bounds = Interval{math.Inf(1), math.Inf(-1), false}
	for _, p := range append(s.parts, s.done...) {
		bounds, jumps, ok = bounds.Join(p.bounds), jumps || p.jumps, true
	}
	return bounds, jumps, ok
}

// search is a branch and bound search for both ends of a range.
type search struct {
	f           Function
	budget      int
	parts, done []part
	inside      Interval // spans values that the function takes
	below       bool     // no halving gives a lower bound
	above       bool     // nor an upper one
}

// part is a part of the box.
type part struct {
	box    []Interval
	bounds Interval
	slope  []Interval
	jumps  bool
}

// eval calls the function; a value at a possible point is one that it takes.
func (s *search) eval(box []Interval) (v Value, ok bool) {
	s.budget--
	v, ok = s.f(box)
	if ok && !v.NaN && v.Bounded() && !slices.ContainsFunc(box, func(x Interval) bool { return !x.Point() }) {
		s.inside = Interval{min(s.inside.Low, v.High), max(s.inside.High, v.Low), false}
	}
	return v, ok
}

// bound adds a part of one with known bounds, if a point of it is possible.
func (s *search) bound(box []Interval, larger Interval) {
	v, ok := s.eval(box)
	if !ok {
		return
	}
	p := part{box, v.Interval, v.Slope, v.Jumps}
	p.bounds.meet(larger)
	center := make([]Interval, len(box))
	for i, x := range box {
		center[i] = Point(x.Middle())
	}
	if c, _ := s.eval(center); !v.Jumps && !v.NaN && v.Slope != nil {
		s.refine(&p, center, c.Interval)
	}
	s.parts = append(s.parts, p)
}

// remote is the distance of the ends of an unbounded box, beyond those that halving reaches within any budget.
const remote = 1e100

// follow evaluates the function at the ends of an unbounded box, along a line through its center. A bound that does not
// exist there does not exist in any part that contains this end, and one of the parts always does.
func (s *search) follow(box []Interval) {
	if len(s.parts) == 0 || s.parts[0].bounds.Bounded() {
		return
	}
	first, inside := s.parts, s.inside
	for i, x := range box {
		for _, end := range [2]Interval{{Low: math.Inf(-1), High: -remote}, {Low: remote, High: math.Inf(1)}} {
			if x.Bounded() || !end.Within(x) || s.below && s.above {
				continue
			}
			line := make([]Interval, len(box))
			for k, x := range box {
				line[k] = Point(x.Middle())
			}
			line[i], s.parts = end, nil
			s.bound(line, Interval{math.Inf(-1), math.Inf(1), true})
			for _, p := range s.parts {
				s.below, s.above = s.below || math.IsInf(p.bounds.Low, -1), s.above || math.IsInf(p.bounds.High, 1)
			}
		}
	}
	s.parts, s.inside = first, inside
}

// refine narrows the bounds in a part in which the function is continuous, with its value at the center.
func (s *search) refine(p *part, center []Interval, value Interval) {
	mean, lowest, highest := value, slices.Clone(p.box), slices.Clone(p.box)
	monotone := false
	for i, x := range p.box {
		mean = mean.Plus(p.slope[i].part(x.Minus(center[i])))
		if x.Point() || !x.Bounded() {
			continue
		}
		low, high := Point(x.Low), Point(x.High)
		switch d := p.slope[i]; {
		case d.Low >= 0:
			lowest[i], highest[i], monotone = low, high, true
		case d.High <= 0:
			lowest[i], highest[i], monotone = high, low, true
		}
	}
	p.bounds.meet(mean)
	if monotone {
		a, _ := s.eval(lowest)
		b, _ := s.eval(highest)
		if !a.NaN && !b.NaN && a.Low <= b.High {
			p.bounds.meet(Interval{a.Low, b.High, false})
		}
	}
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
		low, high := s.inside.Low-p.bounds.Low, p.bounds.High-s.inside.High
		if s.below {
			low = 0
		}
		if s.above {
			high = 0
		}
		d := max(low, high)
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
