package monitor

import (
	"cmp"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/temporal"
)

// relation is a relation that the plan watches, reduced to the signals that are kept.
type relation struct {
	logic   expr.Logic
	signals []int     // that it reads
	limits  []float64 // of the signal, if it is one and the relation consists of thresholds
}

// crossing is the change of a relation at an event, or a touch.
type crossing struct {
	t        float64 // [s]
	relation *relation
	holds    bool // from then on
	touch    bool // it keeps its truth
}

// relation returns the relation of a text; nil if it reads a signal that is not kept, or is none.
func (m *Monitor) relation(text string) *relation {
	if r, known := m.relations[text]; known {
		return r
	}
	m.relations[text] = nil
	e, err := expr.Parse(text)
	if err != nil || e.Parts(m.computed) > expr.MaxParts {
		return nil
	}
	if e = e.Substitute(m.computed); len(e.Check(expr.Boolean, expr.AnyUnit, m.scope)) > 0 {
		return nil
	}
	r := &relation{logic: e.Logic(nil)}
	for _, name := range e.Names() {
		k := slices.IndexFunc(m.signals, func(c column) bool { return c.name == name })
		if k < 0 {
			return nil
		}
		r.signals = append(r.signals, k)
	}
	if len(r.signals) == 1 && !r.thresholds(r.logic) {
		r.limits = nil
	}
	m.relations[text] = r
	return r
}

// thresholds collects the limits of a condition; it reports false if the condition does not consist of thresholds.
func (r *relation) thresholds(l expr.Logic) bool {
	switch l.Op {
	case expr.LogicThreshold:
		r.limits = append(r.limits, l.Limit)
		return true
	case expr.LogicNot, expr.LogicAnd, expr.LogicOr:
		return !slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return !r.thresholds(a) })
	}
	return l.Op == expr.LogicTruth
}

// holds evaluates a condition that consists of thresholds of one signal.
func holds(l expr.Logic, v float64) bool {
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicThreshold:
		return v > l.Limit || v == l.Limit && !l.Strict
	case expr.LogicNot:
		return !holds(l.Args[0], v)
	case expr.LogicAnd:
		return !slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return !holds(a, v) })
	case expr.LogicOr:
		return slices.ContainsFunc(l.Args, func(a expr.Logic) bool { return holds(a, v) })
	}
	panic("monitor: a threshold with an unknown operation")
}

// key returns the key and the truth of a general relation that holds or does not.
func (r *relation) key(truth bool) (string, bool) {
	l, holds := &r.logic, truth
	if l.Op == expr.LogicNot {
		l, holds = &l.Args[0], !truth
	}
	key, _ := l.Keys()
	return key, holds
}

// sides returns the keys of the relations that are watched at all times, and their truths at the start, as far as they
// change later.
func (m *Monitor) sides() (keys []string, truth map[string]bool) {
	truth = map[string]bool{}
	for _, c := range slices.Backward(m.crossings) {
		if key, holds := c.relation.key(c.holds); !c.touch {
			truth[key] = !holds
		}
	}
	for _, text := range m.watched {
		if r := m.relation(text); r != nil {
			if key, _ := r.key(true); key != "" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys, truth
}

// builder builds the trace of a run from what a monitor stored.
type builder struct {
	*Monitor
	*temporal.Trace
	status []bt.Status // of the kept tasks
	judged []bool      // of these: they are leaves whose success holds
	touch  []crossing  // the touches in force, at most one of each relation
	keys   []string    // of the relations that are watched at all times
	truth  map[string]bool
}

// trace returns the run up to a time, as its plan was flown: what stops the plan is no part of it. An instant with an
// event has two places, the limits from the left and from the right. A change that is undone within an instant is not
// visible.
func (m *Monitor) trace(s *record.Summary, told float64) *temporal.Trace {
	b := &builder{m, &temporal.Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}, Scope: m.scope,
		Texts: m.texts, Sides: map[string][]bool{}, Sided: m.until}, nil, nil, nil, nil, nil}
	b.keys, b.truth = m.sides()
	most := len(m.samples) + 2*len(m.changes) // the places, if no two changes are at one time
	b.T = make([]float64, 0, most)
	for _, c := range m.signals {
		b.Signals[c.name] = make([]float64, 0, most)
	}
	for _, i := range m.active {
		b.Tasks[m.tasks[i].Name] = make([]bool, 0, most)
		b.status = append(b.status, m.tasks[i].Initial)
		kind, known := bt.ParseKind(m.tasks[i].Kind)
		b.judged = append(b.judged, known && kind.Judged())
	}
	samples, changes, crossings, whole := m.samples, m.changes, m.crossings, true
	switch {
	case s != nil && s.Planned > 0:
		samples = samples[:count(samples, func(x sample) bool { return x.after <= s.Planned })]
		changes = changes[:count(changes, func(c change) bool { return c.number <= s.Planned })]
	case s != nil: // the last changes of a run that is not complete may be those that stop it
		whole = s.Outcome == record.Complete
	}
	var last *sample
	for len(samples) > 0 || last != nil && len(changes) > 0 {
		t := math.Inf(1)
		if len(samples) > 0 {
			t = samples[0].t
		}
		if last != nil && len(changes) > 0 {
			t = min(t, changes[0].t)
		}
		if t > told {
			break
		}
		here := samples[:count(samples, func(x sample) bool { return x.t <= t })]
		samples = samples[len(here):]
		now := changes[:count(changes, func(c change) bool { return c.t <= t })]
		changes = changes[len(now):]
		until := crossings[:count(crossings, func(c crossing) bool { return c.t <= t })]
		crossings = crossings[len(until):]
		crossed := b.follow(until)
		var left, right []float64
		switch {
		case len(here) > 0:
			left, right = here[0].values, here[len(here)-1].values
		case len(samples) > 0:
			left = between(last, &samples[0], t)
			right = left
		default:
			left, right = last.values, last.values
		}
		b.lag(crossed)
		if last != nil && (len(here) > 1 || len(now) > 0 || len(crossed) > 0 || t == told && !whole) {
			b.place(t, b.onSides(left, left, crossed, false, len(b.T)))
		}
		if t == told && !whole && last != nil {
			break
		}
		for _, c := range now {
			b.status[c.task] = c.to
		}
		for _, c := range crossed {
			key, holds := c.relation.key(c.holds)
			b.truth[key] = holds
		}
		b.place(t, b.onSides(right, left, crossed, true, len(b.T)))
		if len(here) > 0 {
			last = &here[len(here)-1]
		}
	}
	return b.Trace
}

// count returns the number of elements before the first that is not in.
func count[T any](list []T, in func(T) bool) int {
	if i := slices.IndexFunc(list, func(x T) bool { return !in(x) }); i >= 0 {
		return i
	}
	return len(list)
}

// between returns the values between two samples.
func between(a, b *sample, t float64) []float64 {
	row := slices.Clone(a.values)
	for i, v := range b.values {
		row[i] += (t - a.t) / (b.t - a.t) * (v - row[i])
	}
	return row
}

// onSides returns the values at a place, on the sides of the relations that change there: before the first
// change of each or, if after, after the last one. A relation whose signals differ from those of the left limit may
// have changed again.
func (b *builder) onSides(row, left []float64, crossed []crossing, after bool, place int) []float64 {
	if len(crossed) == 0 {
		return row
	}
	row = slices.Clone(row)
	raw := slices.Clone(row)
	for i, c := range crossed {
		same := func(o crossing) bool { return o.relation == c.relation }
		if others := crossed[:i]; !after && slices.ContainsFunc(others, same) {
			continue
		}
		if others := crossed[i+1:]; after && slices.ContainsFunc(others, same) ||
			slices.ContainsFunc(c.relation.signals, func(k int) bool { return raw[k] != left[k] }) {
			continue
		}
		b.onSide(c.relation, row, c.holds == after, place)
	}
	return row
}

// lag puts the signals of the place before an event on the sides that relations leave there: while a run continues in
// spite of chattering, its plan reacts late.
func (b *builder) lag(crossed []crossing) {
	if len(b.T) == 0 || len(crossed) == 0 {
		return
	}
	n := len(b.T) - 1
	row := make([]float64, len(b.signals))
	for i, c := range b.signals {
		row[i] = b.Signals[c.name][n]
	}
	row = b.onSides(row, row, crossed, false, n)
	for i, c := range b.signals {
		b.Signals[c.name][n] = row[i]
	}
}

// follow keeps the touches in force, and returns the other changes. A relation keeps its truth until it changes.
func (b *builder) follow(list []crossing) (crossed []crossing) {
	for _, c := range list {
		b.touch = slices.DeleteFunc(b.touch, func(o crossing) bool { return o.relation == c.relation })
		if c.touch {
			b.touch = append(b.touch, c)
		} else {
			crossed = append(crossed, c)
		}
	}
	return crossed
}

// accuracies is the number of relative tolerances by which a signal may be on the other side of a limit.
const accuracies = 100

// onSide moves the signal of a relation to the nearest limit if its value contradicts the relation's truth by no more
// than the accuracy: the time of an event is rounded to a number, after the crossing, and a touch may exceed its limit.
// Where it is farther away, the relation was not watched when the signal crossed the limit. The truth counts at the
// limit, and for a relation of several signals, which are not moved.
func (b *builder) onSide(r *relation, row []float64, truth bool, place int) {
	if len(r.limits) > 0 {
		v := &row[r.signals[0]]
		if holds(r.logic, *v) == truth {
			return
		}
		to := slices.MinFunc(r.limits, func(a, b float64) int { return cmp.Compare(math.Abs(a-*v), math.Abs(b-*v)) })
		if math.Abs(to-*v) > accuracies*b.tolerance*max(1, math.Abs(*v)) {
			return
		}
		*v = to
	}
	key, truth := r.key(truth)
	b.Touches = append(b.Touches, temporal.Touch{Place: place, Key: key, Holds: truth})
}

// place adds a place to the trace. Signals that contradict a touch are at its limit.
func (b *builder) place(t float64, row []float64) {
	if len(b.touch) > 0 {
		row = slices.Clone(row)
	}
	for _, c := range b.touch {
		if len(c.relation.limits) > 0 {
			b.onSide(c.relation, row, c.holds, len(b.T))
		}
	}
	b.T = append(b.T, t)
	for i, c := range b.signals {
		b.Signals[c.name] = append(b.Signals[c.name], row[i])
	}
	for _, key := range b.keys {
		if holds, changes := b.truth[key]; changes {
			b.Sides[key] = append(b.Sides[key], holds)
		} else {
			b.Sides[key] = nil
		}
	}
	for k, i := range b.active {
		s, name := b.status[k], b.tasks[i].Name
		on := s == bt.Activating || s == bt.Running || s == bt.Success && b.judged[k]
		b.Tasks[name] = append(b.Tasks[name], on)
	}
}
