package flown

import "math"

// A sum limits its terms, and follows from their limits: where x is at most 1, x + y is at least 3 only if y is at
// least 2. So does a sum with squares, such as that of a distance from a point: a plane is not near two points at once
// that are far from each other.

// slack is the part of a sum, and of its terms, by which their limits are widened: far more than the rounding errors of
// a run.
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

// alone returns the form of an atom.
func (f *forms) alone(a int32) int32 { return f.intern([]term{{a, 1}}) }

// reach returns the bounds of a form without one of its terms, as they follow from those of the others; with -1 those
// of all terms.
func (w *world) reach(f int32, without int) (low, high float64) {
	for k, t := range w.s.list[f].terms {
		if k == without {
			continue
		}
		least, most := w.span(t.atom)
		if t.coefficient < 0 {
			least, most = most, least
		}
		least, most = t.coefficient*least, t.coefficient*most
		low, high = low+least-slack*math.Abs(least), high+most+slack*math.Abs(most)
	}
	return low, high
}

// span returns the bounds of an atom.
func (w *world) span(a int32) (low, high float64) {
	x, square := w.s.squared(a)
	if !square {
		b := w.present(w.s.alone(a))
		return b.low, b.high
	}
	b := w.present(x.form)
	b = b.scaled(x)
	from, to := b.low, b.high
	if high = max(from*from, to*to); from <= 0 && to >= 0 {
		return 0, high
	}
	return min(from*from, to*to), high
}

// present returns what is known of a form, as far as it was asked or holds at all times.
func (w *world) present(f int32) interval {
	if int(f) < len(w.bounds) && !w.bounds[f].infinite() {
		return w.bounds[f]
	}
	return w.initial(f)
}

// implied reports whether a form is above a limit, if that follows from its terms.
func (w *world) implied(f int32, limit float64) (is, open bool) {
	low, high := w.reach(f, -1)
	margin := slack * math.Abs(limit)
	return low > limit+margin, low <= limit+margin && high >= limit-margin
}

// narrow restricts the terms of a form of which it is known whether it is above a limit.
func (w *world) narrow(f int32, limit float64, above bool) {
	for k, t := range w.s.list[f].terms {
		low, high := w.reach(f, k)
		rest := limit - low // of the term: at most; if the form is above the limit: at least
		if above {
			rest = limit - high
		}
		if math.IsInf(rest, 0) {
			continue
		}
		falls := (t.coefficient > 0) != above // the atom is at most the end
		end := rest / t.coefficient
		room := slack*(math.Abs(limit/t.coefficient)+math.Abs(end)) + underflow
		x, square := w.s.squared(t.atom)
		switch {
		case !square && falls:
			w.known(w.s.alone(t.atom)).narrow(math.Inf(-1), end+room)
		case !square:
			w.known(w.s.alone(t.atom)).narrow(end-room, math.Inf(1))
		case falls:
			most := math.Sqrt(max(0, end+room)) // of the absolute value of x
			most += slack*(most+math.Abs(x.offset)) + underflow
			from, to := (-most-x.offset)/x.scale, (most-x.offset)/x.scale
			w.known(x.form).narrow(min(from, to), max(from, to))
		}
	}
}

// narrow restricts the interval to numbers from one to another one.
func (i *interval) narrow(from, to float64) {
	if from > i.low {
		i.low, i.lowOpen = from, false
	}
	if to < i.high {
		i.high, i.highOpen = to, false
	}
}
