package verify

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/temporal"
)

// monitor follows a formula of conditions, and, or, Weak, Until, Within and For along runs. It takes Until as Weak:
// what the beginning of a run violates. What is still to be met after a state is the progression of the formula (F.
// Bacchus and F. Kabanza, Planning for temporally extended goals, 1998): that of "a weakly until b" is that of b, or
// that of a and the whole again. A bounded operation that is not met at once has a clock. It reads the time since the
// first instant from which "within" is still to be met, and the last one from which "for" is: the other instants then
// demand nothing more (R. Alur, T. Feder and T. Henzinger, The Benefits of Relaxing Punctuality, 1996). So there is one
// clock for each operation, if its argument is about one time and if what is left is not one of several alternatives.
//
// A state lasts from one instant to the next. Its end and the beginning of the next state are two places of the same
// time, and conditions hold at all places in between.
type monitor struct {
	formula *temporal.Formula
	of      map[*expr.Expr]int // number of a condition
	ops     []*temporal.Formula
	bit     map[*temporal.Formula]int
	clock   int // of the operation 0; those of the others follow

	obligations []obligations // what is to be met
	numberOf    map[string]int
	next        map[progress]entry
	begun       uint64 // scratch: bounded operations that a progression begins
}

// progress is a progression: of what is to be met, -1: of the formula, where these conditions hold.
type progress struct {
	state int
	holds uint64
}

// entry is the result of a progression.
type entry struct {
	state int    // what is to be met from now on
	begun uint64 // the bounded operations that begin
}

// alternatives is the reason why a formula cannot be followed with one clock for each operation.
const alternatives = "the property leaves a choice while a time runs"

// newMonitor returns a monitor that uses clocks from the given number on.
func newMonitor(f *temporal.Formula, of map[*expr.Expr]int, clock int) (x *monitor, why string) {
	x = &monitor{formula: f, of: of, bit: map[*temporal.Formula]int{}, clock: clock, numberOf: map[string]int{},
		next: map[progress]entry{}}
	var number func(f *temporal.Formula)
	number = func(f *temporal.Formula) {
		switch f.Op {
		case temporal.Weak, temporal.Until, temporal.Within, temporal.For:
			x.bit[f] = len(x.ops)
			x.ops = append(x.ops, f)
		}
		for _, a := range f.Args {
			number(a)
		}
	}
	number(f)
	if len(x.ops) > maxWeak || len(of) > maxConditions {
		return nil, "the property is too large: declare its parts as separate properties"
	}
	return x, ""
}

// after returns what is to be met after a state in which these conditions hold. Where that is all or nothing, no
// operation has begun.
func (x *monitor) after(f *temporal.Formula, holds uint64) obligations {
	begun := x.begun
	left := x.progression(f, holds)
	if len(left) == 0 || left[0] == 0 {
		x.begun = begun
	}
	return left
}

func (x *monitor) progression(f *temporal.Formula, holds uint64) obligations {
	switch f.Op {
	case temporal.Condition:
		i, known := x.of[f.Cond]
		if known && holds>>i&1 != 0 || !known && !isFalse(f) {
			return met
		}
		return nil
	case temporal.Not:
		if x.after(f.Args[0], holds) == nil {
			return met
		}
		return nil
	case temporal.And:
		return x.after(f.Args[0], holds).and(x.after(f.Args[1], holds))
	case temporal.Or:
		return x.after(f.Args[0], holds).or(x.after(f.Args[1], holds))
	case temporal.Weak, temporal.Until:
		again := x.after(f.Args[0], holds).and(obligations{1 << x.bit[f]})
		return x.after(f.Args[1], holds).or(again)
	case temporal.Within, temporal.For:
		x.begun |= 1 << x.bit[f]
		return x.pending(x.bit[f], holds)
	}
	panic("verify: an operation that is not followed")
}

// pending returns what is left of an operation that has begun.
func (x *monitor) pending(bit int, holds uint64) obligations {
	f := x.ops[bit]
	if f.Op == temporal.Weak || f.Op == temporal.Until {
		return x.after(f, holds)
	}
	switch now := x.after(f.Args[0], holds) != nil; {
	case f.Op == temporal.Within && now:
		return met
	case f.Op == temporal.For && !now:
		return nil
	}
	return obligations{1 << bit}
}

// progress returns what is to be met after a state of what was to be met before it.
func (x *monitor) progress(state int, holds uint64) entry {
	at := progress{state, holds}
	if next, ok := x.next[at]; ok {
		return next
	}
	var left obligations
	x.begun = 0
	if state < 0 {
		left = x.after(x.formula, holds)
	} else {
		for _, s := range x.obligations[state] {
			all := met
			for ; s != 0; s &= s - 1 {
				all = all.and(x.pending(bits.TrailingZeros64(s), holds))
			}
			left = left.or(all)
		}
	}
	next := entry{x.number(left), x.begun}
	x.next[at] = next
	return next
}

func (x *monitor) number(d obligations) int {
	key := fmt.Sprint(d)
	n, ok := x.numberOf[key]
	if !ok {
		n = len(x.obligations)
		x.numberOf[key] = n
		x.obligations = append(x.obligations, d)
	}
	return n
}

// violated reports whether a state cannot be met, satisfied whether nothing is left of it.
func (x *monitor) violated(state int) bool { return len(x.obligations[state]) == 0 }
func (x *monitor) satisfied(state int) bool {
	return !x.violated(state) && x.obligations[state][0] == 0
}

// owes reports whether something is still to happen that never does if the run ends now.
func (x *monitor) owes(state int) bool {
	return !slices.ContainsFunc(x.obligations[state], func(s uint64) bool {
		for ; s != 0; s &= s - 1 {
			if op := x.ops[bits.TrailingZeros64(s)].Op; op == temporal.Until || op == temporal.Within {
				return false
			}
		}
		return true
	})
}

// bounded returns the operations of a kind in a state; alone is false if it leaves alternatives with such operations.
func (x *monitor) bounded(state int, op temporal.Op) (set uint64, alone bool) {
	for _, s := range x.obligations[state] {
		for ; s != 0; s &= s - 1 {
			if b := bits.TrailingZeros64(s); x.ops[b].Op == op {
				set |= 1 << b
			}
		}
	}
	return set, set == 0 || len(x.obligations[state]) == 1
}

// clocks calls visit for each bounded operation in a set, with its clock and its bound.
func (x *monitor) clocks(set uint64, visit func(bit, clock int, bound float64)) {
	for ; set != 0; set &= set - 1 {
		b := bits.TrailingZeros64(set)
		visit(b, x.clock+b, x.ops[b].Bound)
	}
}

// enter records a state in which these conditions hold: it starts and stops clocks. The result is what is to be met
// from then on, and the operations "for" that begin again as long as the state lasts. known is false if the formula
// cannot be followed.
func (x *monitor) enter(state int, holds uint64, z *zone.Zone) (next int, again uint64, known bool) {
	e := x.progress(state, holds)
	var old, left uint64
	for _, op := range []temporal.Op{temporal.Within, temporal.For} {
		now, alone := x.bounded(e.state, op)
		if !alone {
			return 0, 0, false
		}
		left |= now
		if state >= 0 {
			before, _ := x.bounded(state, op)
			old |= before
		}
	}
	x.clocks(old&^left, func(_, clock int, _ float64) { z.Stop(clock) })
	x.clocks(e.begun&left, func(b, clock int, _ float64) {
		if x.ops[b].Op == temporal.For || old>>b&1 == 0 {
			z.Start(clock)
		}
	})
	again = x.progress(e.state, holds).begun
	fors, _ := x.bounded(e.state, temporal.For)
	return e.state, again & fors, true
}

// overdue reports whether an operation "within" may be overdue after time has passed in a state.
func (x *monitor) overdue(state int, z *zone.Zone) bool {
	late := false
	set, _ := x.bounded(state, temporal.Within)
	x.clocks(set, func(_, clock int, bound float64) {
		t, _ := zone.Seconds(bound)
		late = late || z.Allows(clock, zone.After, t)
	})
	return late
}

// leave ends a state, after time has passed or not: nothing is overdue. Operations "for" may be over by then; where the
// clocks allow both, choose decides. The clocks may be behind, by next to nothing. The result is what is to be met
// without them; possible is false if there is no such run.
func (x *monitor) leave(
	state int, again uint64, z *zone.Zone, behind bool, choose func() bool,
) (left int, possible bool) {
	within, _ := x.bounded(state, temporal.Within)
	possible = true
	x.clocks(within, func(_, clock int, bound float64) {
		t, _ := zone.Seconds(bound)
		possible = possible && z.Restrict(clock, zone.AtMost, t)
	})
	x.clocks(again, func(_, clock int, _ float64) { z.Start(clock) })
	fors, _ := x.bounded(state, temporal.For)
	over := uint64(0)
	after, before := zone.After, zone.AtMost
	if behind {
		after, before = zone.AtLeast, zone.Before
	}
	x.clocks(fors&^again, func(b, clock int, bound float64) {
		_, t := zone.Seconds(bound)
		if z.Allows(clock, after, t) && (!z.Allows(clock, before, t) || choose()) {
			z.Restrict(clock, after, t)
			z.Stop(clock)
			over |= 1 << b
			return
		}
		z.Restrict(clock, before, t)
	})
	if over == 0 {
		return state, possible
	}
	return x.number(obligations{x.obligations[state][0] &^ over}), possible
}

// simple reports whether a formula is about one time.
func simple(f *temporal.Formula) bool {
	return f.Op <= temporal.Or && !slices.ContainsFunc(f.Args, func(a *temporal.Formula) bool { return !simple(a) })
}

// followed returns a stronger or a weaker formula that a monitor can follow. It is violated by the beginning of a run
// if by anything. A bounded operation stays if its argument is about one time.
//
//	            stronger        weaker
//	a until b   b               a until b, but b may never come
//	within T a  a               true
//	for T a     always a        a
func followed(f *temporal.Formula, stronger bool) *temporal.Formula {
	args := make([]*temporal.Formula, len(f.Args))
	for i, a := range f.Args {
		args[i] = followed(a, stronger)
	}
	g := &temporal.Formula{Op: f.Op, Cond: f.Cond, Args: args, Bound: f.Bound}
	switch bounded := (f.Op == temporal.Within || f.Op == temporal.For) && !simple(f.Args[0]); {
	case f.Op == temporal.Until && stronger:
		return args[1]
	case bounded && stronger == (f.Op == temporal.Within):
		return args[0]
	case bounded && stronger:
		return &temporal.Formula{Op: temporal.Weak, Args: append(args, truth(expr.False))}
	case bounded:
		return truth(expr.True)
	}
	return g
}
