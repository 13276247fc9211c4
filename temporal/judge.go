package temporal

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Trace is a recorded run: values at places of time. Both sides of an event are two places of the same time. From one
// place to the next, signals are linear and tasks do not change.
type Trace struct {
	T       []float64 // [s], not descending
	Signals map[string][]float64
	Tasks   map[string][]bool // a condition is true, another task is active
	Scope   expr.Scope        // types of the signals; nil: all are real, or Boolean where they are conditions
	Texts   []string          // that the values of texts number
	Partial bool              // the run continued after the last place, but was not recorded
	Touches []Touch           // sides of relations, where the values may differ from them by rounding
	// Sides are the truths of relations by key, at each place and up to the next one; nil: it is that at the first place.
	// They count where values contradict them, up to the time Sided [s].
	Sides map[string][]bool
	Sided float64
}

// Touch is the truth of a relation at a place, by its key ([expr.Logic]). Values that contradict it are rounded: the
// margin there is 0.
type Touch struct {
	Place int
	Key   string
	Holds bool
}

// Verdict is the result of a property on a trace.
type Verdict uint8

// The verdicts.
const (
	Satisfied Verdict = iota
	Violated
	Open // it depends on times after the end of the trace
)

func (v Verdict) String() string { return [...]string{"satisfied", "violated", "open"}[v] }

// Judgement is the answer to a property on a trace.
type Judgement struct {
	Verdict Verdict
	// Margin is the robustness: the distance of the property's conditions from a change of the verdict, in the units of
	// their signals, negative if the property is violated. It is infinite where only tasks decide. An open property has
	// the margin of the worst continuation.
	Margin float64
	// At is the first time at which the condition of an "always" fails, if the property is violated [s]; NaN if there
	// is none.
	At float64
}

// ErrTrace is wrapped by the errors of Judge for a trace that lacks the values to judge a property.
var ErrTrace = errors.New("the run contains too little")

// Judge judges a property at the beginning of the trace. The margin is that of G. Fainekos and G. Pappas, Robustness of
// temporal logic specifications for continuous-time signals, 2009, and A. Donzé and O. Maler, Robust satisfaction of
// temporal logic over real-valued signals, 2010: a condition s >= c has s - c, "not" changes the sign, "and" and
// "always" take the minimum, "or" and "eventually" the maximum. Time ends with the trace, unless it is partial. A
// formula about later times, which only within and for have if the trace is not partial, is open: it is judged for the
// best and for the worst continuation. Errors wrap ErrTrace.
func (tr *Trace) Judge(f *Formula) (Judgement, error) {
	if len(tr.T) == 0 {
		return Judgement{}, fmt.Errorf("%w: it has no samples", ErrTrace)
	}
	f = f.Positive(false)
	worst := judge{Trace: tr, beyond: math.Inf(-1)}
	low, err := worst.curve(f)
	if err != nil {
		return Judgement{}, err
	}
	best, high := judge{Trace: tr, beyond: math.Inf(1)}, low
	if tr.Partial || f.bounded() {
		if high, err = best.curve(f); err != nil {
			return Judgement{}, err
		}
	}
	j := Judgement{Verdict: Open, Margin: low[0].v, At: math.NaN()}
	switch {
	case low[0].v >= 0:
		j.Verdict = Satisfied
	case high[0].v < 0:
		j.Verdict, j.Margin = Violated, high[0].v
		if at, ok := best.blame(f, point{t: tr.T[0]}); ok {
			j.At = at
		}
	}
	return j, nil
}

// judge computes margins for one assumption about the times after the end.
type judge struct {
	*Trace
	beyond float64 // margin at later times
}

// curve returns the margin over time of a formula with Not only on conditions.
func (j *judge) curve(f *Formula) (curve, error) {
	switch f.Op {
	case Condition:
		return j.condition(f.Cond)
	case Not:
		c, err := j.condition(f.Args[0].Cond)
		return c.negative(), err
	}
	args := make([]curve, len(f.Args))
	for i, a := range f.Args {
		var err error
		if args[i], err = j.curve(a); err != nil {
			return nil, err
		}
	}
	switch f.Op {
	case And:
		return least(args[0], args[1]), nil
	case Or:
		return greatest(args[0], args[1]), nil
	case Until:
		return until(args[0], args[1], j.end(math.Inf(-1))), nil
	case Weak:
		return until(args[0], args[1], j.end(math.Inf(1))), nil
	case Within:
		return args[0].within(f.Bound, j.beyond, j.Partial), nil
	}
	return args[0].negative().within(f.Bound, -j.beyond, j.Partial).negative(), nil // for
}

// end returns the value of an operation without a bound at the end of the trace: its own, if the trace is not partial.
func (j *judge) end(own float64) float64 {
	if j.Partial {
		return j.beyond
	}
	return own
}

// condition returns the margin of a condition: for its relations, the greater side minus the other.
func (j *judge) condition(e *expr.Expr) (curve, error) {
	return j.logic(e.Logic(func(name string) bool { return j.Signals[name] == nil }))
}

func (j *judge) logic(l expr.Logic) (curve, error) {
	c, err := j.operation(l)
	if err != nil {
		return c, err
	}
	key, reverse := l.Keys()
	if truth, known := j.Sides[key]; known {
		j.hold(c, truth, 1)
	}
	if truth, known := j.Sides[reverse]; known {
		j.hold(c, truth, -1)
	}
	return c, nil
}

// hold gives margins that contradict the truth of a relation the value 0. With the sign -1, it is the relation with its
// sides exchanged.
func (j *judge) hold(c curve, truth []bool, sign float64) {
	places, _ := j.over(func(int) float64 { return 0 })
	n := 0 // places that are not after the point
	for i, p := range c {
		if p.t > j.Sided {
			return
		}
		for n < len(places) && byPlace(places[n], p) <= 0 {
			n++
		}
		holds := sign*c[0].v >= 0
		if truth != nil {
			holds = truth[max(n-1, 0)]
		}
		if holds && sign*p.v < 0 || !holds && sign*p.v > 0 {
			c[i].v = 0
		}
	}
}

func (j *judge) operation(l expr.Logic) (curve, error) {
	switch l.Op {
	case expr.LogicTruth:
		return j.truth(func(int) bool { return l.Value })
	case expr.LogicProposition:
		values := j.Tasks[l.Text]
		if values == nil {
			return nil, fmt.Errorf("%w: the statuses of task %s are missing", ErrTrace, l.Text)
		}
		return j.truth(func(i int) bool { return values[i] })
	case expr.LogicThreshold:
		values := j.Signals[l.Signal]
		if values == nil {
			return nil, fmt.Errorf("%w: the values of signal %s are missing", ErrTrace, l.Signal)
		}
		return j.over(func(i int) float64 { return values[i] - l.Limit })
	case expr.LogicRelation:
		c, err := j.relation(l.Relation)
		for _, k := range j.Touches {
			if err != nil {
				break
			}
			v := &c[k.Place].v
			if k.Key == l.Key && k.Holds != (*v >= 0) || k.Key == l.Reverse && (k.Holds && *v > 0 || !k.Holds && *v < 0) {
				*v = 0
			}
		}
		return c, err
	case expr.LogicNot:
		c, err := j.logic(l.Args[0])
		return c.negative(), err
	case expr.LogicAnd, expr.LogicOr:
		return j.junction(l)
	}
	panic("temporal: a condition with an unknown operation")
}

// junction joins the curves of the parts of a conjunction or a disjunction.
func (j *judge) junction(l expr.Logic) (sum curve, err error) {
	for i, a := range l.Args {
		c, err := j.logic(a)
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			sum = c
		case l.Op == expr.LogicAnd:
			sum = least(sum, c)
		case l.Op == expr.LogicOr:
			sum = greatest(sum, c)
		}
	}
	return sum, nil
}

// truth returns the curve of a truth value, without the places between equal values.
func (j *judge) truth(value func(i int) bool) (curve, error) {
	c, err := j.over(func(i int) float64 { return distance(value(i)) })
	if err != nil {
		return nil, err
	}
	kept := c[:1]
	for i := 1; i < len(c); i++ {
		if i == len(c)-1 || c[i].v != c[i-1].v || c[i].v != c[i+1].v {
			kept = append(kept, c[i])
		}
	}
	return kept, nil
}

// distance returns the distance of a truth value from false.
func distance(v bool) float64 {
	if v {
		return math.Inf(1)
	}
	return math.Inf(-1)
}

// relation returns the value of the indicator of a relation: its greater side minus the other. Without an indicator the
// margin is infinite.
func (j *judge) relation(e *expr.Expr) (curve, error) {
	names := e.Names()
	columns := make([][]float64, len(names))
	for i, n := range names {
		if columns[i] = j.Signals[n]; columns[i] == nil && !j.Scope.IsValue(n) {
			return nil, fmt.Errorf("%w: the values of signal %s are missing", ErrTrace, n)
		}
	}
	for _, m := range e.Check(expr.Boolean, expr.AnyUnit, j.Scope) {
		return nil, fmt.Errorf("%w: in %q, %w", ErrTrace, e, m)
	}
	compiler := expr.NewCompiler(j.Scope, func(n string) (int, bool) { i := slices.Index(names, n); return i, i >= 0 })
	for _, t := range j.Texts {
		compiler.Text(t)
	}
	code := compiler.Compile(e)
	value := func(row []float64) float64 { return distance(code.Bool(row, nil)) }
	if relations := code.Indicators(); len(relations) > 0 { // the last is that of the relation, the others are inside
		indicator := compiler.Indicators()[relations[len(relations)-1]]
		value = func(row []float64) float64 { return indicator.Value(row, nil) }
	}
	row := make([]float64, len(names))
	return j.over(func(i int) float64 {
		for k, c := range columns {
			if c != nil {
				row[k] = c[i]
			}
		}
		return value(row)
	})
}

// over returns the curve of a value at each place of the trace. Places whose times differ by rounding are at one time.
func (j *judge) over(value func(i int) float64) (curve, error) {
	c := make(curve, len(j.T))
	near := apart * (j.T[len(j.T)-1] - j.T[0])
	for i, t := range j.T {
		c[i] = point{t: t, v: value(i)}
		if i > 0 && t-c[i-1].t <= near {
			c[i].t, c[i].k = c[i-1].t, c[i-1].k+1
		}
		if math.IsNaN(c[i].v) {
			return nil, fmt.Errorf("%w: there is no value at %g s", ErrTrace, t)
		}
	}
	return c, nil
}

// blame returns the first time at which the condition of an "always" fails, for a formula that is violated at a place.
// If both parts of "and" are violated, it is the earlier time.
func (j *judge) blame(f *Formula, from point) (t float64, ok bool) {
	switch f.Op {
	case And:
		for _, a := range f.Args {
			c, err := j.curve(a)
			if err != nil || c.at(from.t, from.k) >= 0 {
				continue
			}
			if u, found := j.blame(a, from); found && (!ok || u < t) {
				t, ok = u, true
			}
		}
	case Or: // the conclusion of an implication comes last
		for i := len(f.Args) - 1; i >= 0 && !ok; i-- {
			t, ok = j.blame(f.Args[i], from)
		}
	case Weak, For:
		c, err := j.curve(f.Args[0])
		if err != nil {
			return 0, false
		}
		at, found := c.negativeFrom(from)
		if !found {
			return 0, false
		}
		if t, ok = j.blame(f.Args[0], at); !ok {
			t, ok = at.t, true
		}
	}
	return t, ok
}
