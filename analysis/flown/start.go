package flown

import (
	"math"

	"github.com/canopy-uav/canopy/expr"
	ranges "github.com/canopy-uav/canopy/expr/interval"
)

// initial returns what is known of a form before any answer: by the facts about a signal, and at the start of a run.
func (w *world) initial(f int32) interval {
	if w.product != nil {
		return infinite
	}
	b := w.atStart(f)
	if terms := w.s.list[f].terms; len(terms) == 1 {
		if x, known := w.s.limits[w.s.atoms[terms[0].atom].signal]; known {
			b.narrow(x.Low, x.High)
		}
	}
	return b
}

// limit notes between which values a formula that always holds keeps signals. Those that may jump within an instant
// keep facts that are declared only at its end.
func (s *Stepper) limit(l *expr.Logic, derived bool) {
	of, above := l, l.Op == expr.LogicThreshold
	if l.Op == expr.LogicNot && l.Args[0].Op == expr.LogicThreshold {
		of = &l.Args[0]
	}
	switch {
	case l.Op == expr.LogicAnd:
		for i := range l.Args {
			s.limit(&l.Args[i], derived)
		}
	case of.Op != expr.LogicThreshold || !derived && s.Follows(of.Signal):
	default:
		x, known := s.limits[of.Signal]
		if !known {
			x = ranges.All
		}
		y := ranges.Interval{Low: of.Limit, High: math.Inf(1)}
		if !above {
			y = ranges.Interval{Low: math.Inf(-1), High: of.Limit}
		}
		if both, ok := x.Meet(y); ok {
			s.limits[of.Signal] = both
		}
	}
}

// atStart returns what the declared start shows of a form at the first instant. It shows nothing of one that follows
// what tasks write.
func (w *world) atStart(f int32) interval {
	if !w.first || len(w.s.begin) == 0 || len(w.s.followed(f)) > 0 {
		return infinite
	}
	for len(w.s.atBegin) <= int(f) {
		w.s.atBegin = append(w.s.atBegin, w.s.sumAtStart(int32(len(w.s.atBegin))))
	}
	x := w.s.atBegin[f]
	return interval{low: x.Low, high: x.High}
}

// sumAtStart bounds a form at the start: one that is not a signal has other rounding errors than in a run.
func (s *Stepper) sumAtStart(f int32) ranges.Interval {
	sum, size := ranges.Interval{}, 0.0
	terms := s.list[f].terms
	for _, t := range terms {
		x := s.atomAtStart(t.atom).Times(ranges.Point(t.coefficient))
		sum, size = sum.Plus(x), size+x.Abs().High
	}
	switch {
	case sum.NaN:
		return ranges.All
	case len(terms) == 1 && s.atoms[terms[0].atom].signal != "":
		return sum
	}
	return sum.Plus(ranges.Between(-slack*size-underflow, slack*size+underflow))
}

// atomAtStart bounds a signal, a product or a quotient.
func (s *Stepper) atomAtStart(n int32) ranges.Interval {
	a := &s.atoms[n]
	if x, known := s.begin[a.signal]; known {
		return x
	}
	value := func(v value) ranges.Interval {
		if v.known() {
			return ranges.Point(v.offset)
		}
		return s.sumAtStart(v.form).Times(ranges.Point(v.scale)).Plus(ranges.Point(v.offset))
	}
	square, isSquare := s.squared(n)
	switch {
	case isSquare:
		return value(square).Square()
	case a.operation == product:
		return value(a.args[0]).Times(value(a.args[1]))
	case a.operation == quotient:
		return value(a.args[0]).Over(value(a.args[1]))
	case a.operation == rounded:
		return value(a.args[0])
	}
	return ranges.Interval{Low: math.Inf(-1), High: math.Inf(1), NaN: true}
}
