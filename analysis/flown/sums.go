package flown

import "math"

// A sum with squares, such as that of a distance from a point, limits the values that are squared, and follows from
// their limits: a plane is not near two points at once that are far from each other.

// slack is the part of a sum, and of a value that is squared, by which their limits are widened: far more than the
// rounding errors of a run.
const slack = 1e-9

// underflow is added to the limit of a value that is squared: the square of a smaller one may be 0.
const underflow = 1e-150

// squared returns the value of which an atom is the square.
func (f *forms) squared(a int32) (x value, ok bool) {
	of := &f.atoms[a]
	if of.operation != product || of.args[0] != of.args[1] {
		return value{}, false
	}
	return of.args[0], true
}

// reach returns the bounds of a form without one of its terms, as they follow from values that are squared; with -1
// those of all terms.
func (w *world) reach(f int32, without int) (low, high float64) {
	for k, t := range w.s.list[f].terms {
		x, ok := w.s.squared(t.atom)
		if k == without {
			continue
		}
		if !ok {
			return math.Inf(-1), math.Inf(1)
		}
		least, most := w.square(x)
		if t.coefficient < 0 {
			least, most = most, least
		}
		least, most = t.coefficient*least, t.coefficient*most
		low, high = low+least-slack*math.Abs(least), high+most+slack*math.Abs(most)
	}
	return low, high
}

// square returns the bounds of the square of a value.
func (w *world) square(x value) (low, high float64) {
	if int(x.form) >= len(w.bounds) {
		return 0, math.Inf(1)
	}
	b := w.bounds[x.form].scaled(x)
	from, to := b.low, b.high
	if high = max(from*from, to*to); from <= 0 && to >= 0 {
		return 0, high
	}
	return min(from*from, to*to), high
}

// implied reports whether a form is above a limit, if that follows from the values that are squared.
func (w *world) implied(f int32, limit float64) (is, open bool) {
	low, high := w.reach(f, -1)
	margin := slack * math.Abs(limit)
	return low > limit+margin, low <= limit+margin && high >= limit-margin
}

// narrow restricts the values that are squared in a form of which it is known whether it is above a limit.
func (w *world) narrow(f int32, limit float64, above bool) {
	for k, t := range w.s.list[f].terms {
		x, ok := w.s.squared(t.atom)
		if !ok || (t.coefficient > 0) == above {
			continue
		}
		low, high := w.reach(f, k)
		room := limit - low
		if above {
			room = high - limit
		}
		if math.IsInf(room, 0) {
			continue
		}
		room += slack * math.Abs(limit)
		most := math.Sqrt(max(0, room/math.Abs(t.coefficient))) // of the absolute value of x
		most += slack*(most+math.Abs(x.offset)) + underflow
		from, to := (-most-x.offset)/x.scale, (most-x.offset)/x.scale
		b := w.known(x.form)
		if from, to = min(from, to), max(from, to); from > b.low {
			b.low, b.lowOpen = from, false
		}
		if to < b.high {
			b.high, b.highOpen = to, false
		}
	}
}
