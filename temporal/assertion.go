package temporal

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
)

// Assertion is a statement that a run can contradict: a property that it must have, or an assumption of the proofs
// about its plan.
type Assertion struct {
	Kind    Kind
	Text    string
	Formula *Formula // nil: an effect, the ranges, or sliding
	Effect  Effect
	Proofs  []string // the questions whose proofs assume it
}

// Kind is the kind of an assertion.
type Kind uint8

// The kinds.
const (
	OfProperty Kind = iota
	OfFact          // an assumption: it always holds
	OfEffect        // an assumption: a rate while a task is active
	OfRange         // an assumption: the states stay in the ranges of the vehicle's model
	OfSliding       // an assumption: the motion does not slide, where tasks take turns without end
)

// String returns the word for the kind.
func (k Kind) String() string {
	return [...]string{"property", "fact", "effect", "range", "sliding"}[k]
}

// Effect is a range of the rate of a signal while a task is active, in its unit per second.
type Effect struct {
	Task, Signal string
	Low, High    float64
}

// Invariant returns the formula that conditions joined by "->", from right to left, always hold.
func Invariant(parts []*expr.Expr) *Formula {
	last := len(parts) - 1
	f := condition(parts[last])
	for _, e := range slices.Backward(parts[:last]) {
		f = implies(condition(e), f)
	}
	return always(f)
}

// Eventually returns the formula that these hold at some time.
func Eventually(parts []*expr.Expr) *Formula { return eventually(Invariant(parts).Args[0]) }

// Names returns the names of the signals and tasks that the assertion reads.
func (c *Assertion) Names() []string {
	switch c.Kind {
	case OfEffect:
		return []string{c.Effect.Task, c.Effect.Signal}
	case OfRange, OfSliding:
		return nil
	}
	var names []string
	c.Formula.Conditions(func(e *expr.Expr) { names = append(names, e.Names()...) })
	return names
}

// roundings is the error of a signal's change between two places, in relative tolerances of the integration: each step
// in between may add one.
const roundings = 10

// JudgeEffect judges an effect: from each place to the next, while the task is active, the mean rate of the signal must
// be in the range. A mean rate outside of it proves that the rate was; excursions between two places can remain unseen.
// The signals have errors of the relative tolerance. The margin is the distance of a mean rate from the limits, plus
// the rate that these errors explain; it is infinite if the task was never active. At is the time from which the first
// such rate is outside. If none is, and the signal has no value at some place, the effect is open. Errors wrap
// ErrTrace.
func (tr *Trace) JudgeEffect(e Effect, tolerance float64) (Judgement, error) {
	values, active := tr.Signals[e.Signal], tr.Tasks[e.Task]
	switch {
	case values == nil:
		return Judgement{}, fmt.Errorf("%w: the values of signal %s are missing", ErrTrace, e.Signal)
	case active == nil:
		return Judgement{}, fmt.Errorf("%w: the statuses of task %s are missing", ErrTrace, e.Task)
	}
	largest := 0.0
	for _, v := range values {
		if math.Abs(v) > largest { // not if it is NaN
			largest = math.Abs(v)
		}
	}
	allowed := roundings * tolerance * largest
	j := Judgement{Verdict: Satisfied, Margin: math.Inf(1), At: math.NaN()}
	for i := 1; i < len(tr.T); i++ {
		dt, change := tr.T[i]-tr.T[i-1], values[i]-values[i-1]
		if !active[i-1] || dt <= 0 {
			continue
		}
		if math.IsNaN(change) {
			j.Missing = cmp.Or(j.Missing, gaps{e.Signal: tr.T[i-1]}.String())
			continue
		}
		margin := (min(change-e.Low*dt, e.High*dt-change) + allowed) / dt
		if margin < 0 && j.Verdict == Satisfied {
			j.Verdict, j.At = Violated, tr.T[i-1]
		}
		j.Margin = min(j.Margin, margin)
	}
	if j.Verdict == Satisfied && (tr.Partial || j.Missing != "") {
		j.Verdict, j.Margin = Open, math.Inf(-1)
	}
	return j, nil
}
