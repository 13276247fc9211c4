package temporal

import (
	"math"
	"slices"
	"sort"

	"github.com/canopy-uav/canopy/expr"
)

// Robustness is the robust satisfaction signal of a property on a trace.
//
// Of "always P" and "eventually P" it is that of P: the least and the greatest value are the margin of the property. Of
// every other property it is its own, the first value is the margin, and it ends when the property is decided: later
// times do not count.
type Robustness struct {
	T, V    []float64 // margins at times [s], not descending; linear between, and held where one is infinite
	Decided float64   // the first time of the trace up to which the trace decides the property [s]; NaN: it is open

	Always     bool // it is that of P in "always P", which is violated where it is negative
	Eventually bool // it is that of P in "eventually P"
}

// Robustness returns the robust satisfaction signal of a property, with the margins of [Trace.Judge]: those of the best
// continuation if it is violated, else of the worst. Errors wrap ErrTrace.
func (tr *Trace) Robustness(f *Formula) (Robustness, error) {
	j, err := tr.Judge(f)
	if err != nil {
		return Robustness{}, err
	}
	f = f.Positive(false)
	r := Robustness{Decided: tr.decided(f, j.Verdict)}
	of := judge{Trace: tr, beyond: math.Inf(-1), missing: gaps{}}
	if j.Verdict == Violated {
		of.beyond = math.Inf(1)
	}
	until := math.Inf(1)
	switch {
	case f.Op == Weak && f.Args[1].is(false):
		f, r.Always = f.Args[0], true
	case f.Op == Until && f.Args[0].is(true):
		f, r.Eventually = f.Args[1], true
	case j.Verdict != Open:
		until = r.Decided
	}
	c, err := of.curve(f)
	if err != nil {
		return Robustness{}, err
	}
	if n := slices.IndexFunc(c, func(p point) bool { return p.t > until }); n >= 0 {
		c = append(c[:n:n], point{t: until, v: c.value(n, point{t: until, k: fromRight})})
	}
	for _, p := range c {
		r.T, r.V = append(r.T, p.t), append(r.V, p.v)
	}
	return r, nil
}

// is reports whether the formula, with Not only on conditions, is a constant.
func (f *Formula) is(truth bool) bool {
	switch f.Op {
	case Condition:
		l := f.Cond.Logic(nil)
		return l.Op == expr.LogicTruth && l.Value == truth
	case Not:
		return f.Args[0].is(!truth)
	case And: // as in "not eventually P", which is "not P" weakly until "not true and not P"
		return !truth && (f.Args[0].is(false) || f.Args[1].is(false))
	}
	return false
}

// decided returns the first time up to which the trace decides a property that has a verdict on the whole of it. What
// the beginning of a run decides remains so.
func (tr *Trace) decided(f *Formula, v Verdict) float64 {
	if v == Open {
		return math.NaN()
	}
	last := len(tr.T) - 1
	decides := func(i int) bool {
		j, err := tr.beginning(i + 1).Judge(f)
		return err == nil && j.Verdict != Open
	}
	if last > 0 && !decides(last-1) { // as most properties are
		return tr.T[last]
	}
	return tr.T[sort.Search(last, decides)]
}

// beginning returns the first n places of the trace, of a run that continued.
func (tr *Trace) beginning(n int) *Trace {
	part := *tr
	part.T, part.Partial = tr.T[:n], true
	part.Signals, part.Tasks, part.Sides = firsts(tr.Signals, n), firsts(tr.Tasks, n), firsts(tr.Sides, n)
	part.Touches = slices.DeleteFunc(slices.Clone(tr.Touches), func(k Touch) bool { return k.Place >= n })
	return &part
}

// firsts returns lists that have the first n elements of others, which may be nil.
func firsts[T any](lists map[string][]T, n int) map[string][]T {
	if lists == nil {
		return nil
	}
	part := make(map[string][]T, len(lists))
	for name, list := range lists {
		part[name] = list[:min(n, len(list))]
	}
	return part
}
