package temporal

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
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
	Open // it depends on times after the end of the trace, or on values that are missing
)

func (v Verdict) String() string { return [...]string{"satisfied", "violated", "open"}[v] }

// Judgement is the answer to a property on a trace.
type Judgement struct {
	Verdict Verdict
	// Margin is the robustness: the distance of the property's conditions from a change of the verdict, in the units of
	// their signals, not positive if the property is violated. It is infinite where only tasks decide. An open property
	// has the margin of the worst continuation.
	Margin float64
	// At is the first time at which the condition of an "always" fails, if the property is violated [s]; NaN if there
	// is none.
	At float64
	// Missing names what has no value in the trace, with the first time at which it has none. An open verdict may depend
	// on it.
	Missing string
}

// ErrTrace is wrapped by the errors of Judge for a trace that lacks the values to judge a property.
var ErrTrace = errors.New("the run contains too little")

// Judge judges a property at the beginning of the trace. The margin is that of G. Fainekos and G. Pappas, Robustness of
// temporal logic specifications for continuous-time signals, 2009, and A. Donzé and O. Maler, Robust satisfaction of
// temporal logic over real-valued signals, 2010: a condition s >= c has s - c, "not" changes the sign, "and" and
// "always" take the minimum, "or" and "eventually" the maximum. Time ends with the trace, unless it is partial. A
// formula about later times, which only within and for have if the trace is not partial, is open: it is judged for the
// best and for the worst continuation. So is one that depends on the value of a signal where that is NaN: a relation
// that reads it is neither true nor false. Where the margin is 0, the truths of the relations decide. Errors wrap
// ErrTrace.
func (tr *Trace) Judge(f *Formula) (Judgement, error) {
	if len(tr.T) == 0 {
		return Judgement{}, fmt.Errorf("%w: it has no samples", ErrTrace)
	}
	f = f.Positive(false)
	missing := gaps{}
	worst := judge{Trace: tr, beyond: math.Inf(-1), missing: missing}
	low, err := worst.curve(f)
	if err != nil {
		return Judgement{}, err
	}
	best, high := judge{Trace: tr, beyond: math.Inf(1), missing: missing}, low
	if tr.Partial || f.bounded() || len(missing) > 0 {
		if high, err = best.curve(f); err != nil {
			return Judgement{}, err
		}
	}
	j := Judgement{Verdict: Open, Margin: low[0].v, At: math.NaN()}
	always, err := worst.holds(f, low[0].v)
	if err != nil {
		return Judgement{}, err
	}
	perhaps, err := best.holds(f, high[0].v)
	switch {
	case err != nil:
		return Judgement{}, err
	case always:
		j.Verdict = Satisfied
	case !perhaps:
		j.Verdict, j.Margin = Violated, high[0].v
		if at, ok := best.blame(f, point{t: tr.T[0]}); ok {
			j.At = at
		}
	case len(missing) > 0:
		j.Missing = missing.String()
	}
	return j, nil
}

// judge computes margins for one assumption about the times after the end, and about missing values.
type judge struct {
	*Trace
	beyond  float64 // margin at later times, and of relations without a value
	missing gaps
	either  float64 // not 0: margins are those of the truths of relations, infinite; this one where both are possible
}

// holds reports whether a formula with a margin holds: if that is 0, as the truths of its relations are. The judge then
// has infinite margins.
func (j *judge) holds(f *Formula, margin float64) (bool, error) {
	if margin != 0 {
		return margin > 0, nil
	}
	j.either = math.Inf(1)
	c, err := j.curve(f)
	return err == nil && c[0].v > 0, err
}

// gaps are the first times [s] at which signals have no values, or relations whose signals have.
type gaps map[string]float64

func (g gaps) note(name string, t float64) {
	if _, known := g[name]; !known {
		g[name] = t
	}
}

func (g gaps) String() string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		texts = append(texts, fmt.Sprintf("of %s at %s s", name, diag.Number(g[name], 6)))
	}
	return "there is no value " + strings.Join(texts, ", ")
}

// negated returns the judge of what is negated.
func (j *judge) negated() *judge {
	n := *j
	n.beyond, n.either = -j.beyond, -j.either
	return &n
}

// curve returns the margin over time of a formula with Not only on conditions.
func (j *judge) curve(f *Formula) (curve, error) {
	switch f.Op {
	case Condition:
		return j.condition(f.Cond)
	case Not:
		c, err := j.negated().condition(f.Args[0].Cond)
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

// condition returns the margin of a condition: for its relations, the greater side minus the other. A name that stands
// alone is that of a task, if there is one, as where the condition was read.
func (j *judge) condition(e *expr.Expr) (curve, error) {
	return j.logic(e.Logic(func(name string) bool { return j.Tasks[name] != nil || j.Signals[name] == nil }))
}

func (j *judge) logic(l expr.Logic) (curve, error) {
	key, reverse := l.Keys() // reverse: that of the relation with its sides exchanged
	of := *j
	if key != "" {
		of.either = 0
	}
	c, err := of.operation(l)
	if err != nil || key == "" {
		return c, err
	}
	start := c[max(0, slices.IndexFunc(c, valued))].v
	above := start > 0 || start == 0 && !l.Strict
	clamp := func(p *point, holds bool) {
		if holds && p.v < 0 || !holds && p.v > 0 {
			p.v = 0
		}
	}
	j.known(c, key, above, clamp)
	j.known(c, reverse, start <= 0, func(p *point, holds bool) { clamp(p, !holds) })
	for i := range c {
		if !valued(c[i]) {
			c[i].v = j.beyond
			j.lacks(&l, i)
		}
	}
	if j.either != 0 {
		c = j.truths(c, key, above, !l.Strict)
	}
	return c, nil
}

// truths returns the truths of a relation with these margins, as infinite ones; zero is that at the margin 0, if it is
// not known. Both are possible where the margin is 0 at a time at which the truth changes: times of events are rounded.
func (j *judge) truths(margins curve, key string, start, zero bool) curve {
	margins = margins.crossed()
	truths := slices.Clone(margins)
	for i, p := range margins {
		truths[i].v = distance(p.v > 0 || p.v == 0 && zero)
	}
	j.known(truths, key, start, func(p *point, holds bool) { p.v = distance(holds) })
	last := truths[0].v
	for i, n := 0, 0; i < len(truths); i = n {
		changes := last != truths[i].v
		for n = i + 1; n < len(truths) && truths[n].t == truths[i].t; n++ {
			changes = changes || truths[n].v != truths[i].v
		}
		last = truths[n-1].v
		changes = changes || n < len(truths) && truths[n].v != last
		for k := i; k < n; k++ {
			switch {
			case margins[k].v != 0, margins[k].k == fromRight:
			case n == len(truths) && j.Partial:
				truths[k].v = j.beyond
			case changes:
				truths[k].v = j.either
			}
		}
	}
	return truths
}

// lacks notes what of a relation has no value at a place.
func (j *judge) lacks(l *expr.Logic, place int) {
	names := slices.DeleteFunc(l.Signals(), func(name string) bool { return !j.empty(name, place) })
	if len(names) == 0 { // signals have values for which an operation has none
		names = []string{l.Text}
	}
	for _, name := range names {
		j.missing.note(name, j.T[place])
	}
}

// empty reports whether a signal has no value at a place.
func (j *judge) empty(signal string, place int) bool {
	values := j.Signals[signal]
	return values != nil && math.IsNaN(values[place])
}

// known calls visit for the points of a curve at which the truth of a relation is known, by its key; start is that at
// the first place. Two events at one time can differ about it.
func (j *judge) known(c curve, key string, start bool, visit func(p *point, holds bool)) {
	truth, sided := j.Sides[key]
	var touched map[int]bool
	for _, k := range j.Touches {
		if k.Key == key {
			if touched == nil {
				touched = map[int]bool{}
			}
			touched[k.Place] = k.Holds
		}
	}
	if !sided && len(touched) == 0 {
		return
	}
	places := j.over(func(int) float64 { return 0 })
	n := 0 // places that are not after the point
	for i := range c {
		p := &c[i]
		for n < len(places) && byPlace(places[n], *p) <= 0 {
			n++
		}
		place := max(n-1, 0)
		if !valued(*p) {
			continue
		}
		if sided && p.t <= j.Sided {
			holds := start
			if truth != nil {
				holds = truth[place]
			}
			visit(p, holds)
		}
		if holds, known := touched[place]; known && byPlace(places[place], *p) == 0 {
			visit(p, holds)
		}
	}
}

func (j *judge) operation(l expr.Logic) (curve, error) {
	switch l.Op {
	case expr.LogicTruth:
		return j.truth(func(int) bool { return l.Value }), nil
	case expr.LogicProposition:
		values := j.Tasks[l.Text]
		if values == nil {
			return nil, fmt.Errorf("%w: the statuses of task %s are missing", ErrTrace, l.Text)
		}
		return j.truth(func(i int) bool { return values[i] }), nil
	case expr.LogicThreshold:
		values := j.Signals[l.Signal]
		if values == nil {
			return nil, fmt.Errorf("%w: the values of signal %s are missing", ErrTrace, l.Signal)
		}
		return j.over(func(i int) float64 { return values[i] - l.Limit }, l.Signal), nil
	case expr.LogicRelation:
		return j.relation(l.Relation)
	case expr.LogicNot:
		c, err := j.negated().logic(l.Args[0])
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
func (j *judge) truth(value func(i int) bool) curve {
	c := j.over(func(i int) float64 { return distance(value(i)) })
	kept := c[:1]
	for i := 1; i < len(c); i++ {
		if i == len(c)-1 || c[i].v != c[i-1].v || c[i].v != c[i+1].v {
			kept = append(kept, c[i])
		}
	}
	return kept
}

// valued reports whether a condition has a value at a place.
func valued(p point) bool { return !math.IsNaN(p.v) }

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
	}, names...), nil
}

// over returns the curve of a value at each place of the trace. Places whose times differ by rounding are at one time.
// Where one of the signals that it reads has no value, it has none.
func (j *judge) over(value func(i int) float64, reads ...string) curve {
	c := make(curve, len(j.T))
	near := apart * (j.T[len(j.T)-1] - j.T[0])
	for i, t := range j.T {
		c[i] = point{t: t, v: value(i)}
		if i > 0 && t-c[i-1].t <= near {
			c[i].t, c[i].k = c[i-1].t, c[i-1].k+1
		}
		if slices.ContainsFunc(reads, func(name string) bool { return j.empty(name, i) }) {
			c[i].v = math.NaN()
		}
	}
	return c
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
