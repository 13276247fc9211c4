package verify

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
)

// signal is a signal with the limits that conditions compare it with. k limits make k+1 intervals.
type signal struct {
	name string
	cuts []cut // ascending
	at   int   // the variable of the last bit of the interval's number; the others follow
}

// bits returns the number of variables of a signal. They are the number of its interval; those beyond the last interval
// mean the last one, so that every assignment means one interval.
func (s *signal) bits() int { return bits.Len(uint(len(s.cuts))) }

// cut is the boundary s >= limit, or s > limit if it is strict, between two intervals. Of one limit, >= comes first.
type cut struct {
	limit  float64
	strict bool
}

func (c cut) compare(o cut) int {
	if c.limit != o.limit {
		return cmp.Compare(c.limit, o.limit)
	}
	return cmp.Compare(btoi(c.strict), btoi(o.strict))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// inputKind is the kind of input that a variable represents.
type inputKind uint8

const (
	inputBit   inputKind = iota // of the number of a signal's interval
	inputFree                   // a relation that is no threshold, a condition without expression, a free outcome
	inputLatch                  // a condition with hysteresis was true before
	inputFact                   // of symbols: a declared fact
)

// input is the meaning of one variable.
type input struct {
	kind   inputKind
	signal int    // bit: its signal
	text   string // free: when true
	denied string // free, latch: when false

	relation *expr.Logic // free: the relation; nil if there is none
}

// vocabulary collects the inputs of formulas and numbers them as variables, in the order of the tree's leaves.
type vocabulary struct {
	inputs  []input
	signals []signal
	bySig   map[string]int
	byFree  map[string]int // relations by key, others by text
	latches map[string]int // by the input of conditions with hysteresis
}

// collect records the limits in a formula.
func (v *vocabulary) collect(l *expr.Logic) {
	if l == nil {
		return
	}
	if l.Op == expr.LogicThreshold {
		i, ok := v.bySig[l.Signal]
		if !ok {
			i = len(v.signals)
			v.bySig[l.Signal] = i
			v.signals = append(v.signals, signal{name: l.Signal, at: -1})
		}
		c := cut{l.Limit, l.Strict}
		s := &v.signals[i]
		if k, found := slices.BinarySearchFunc(s.cuts, c, cut.compare); !found {
			s.cuts = slices.Insert(s.cuts, k, c)
		}
	}
	for i := range l.Args {
		v.collect(&l.Args[i])
	}
}

// number gives variables to the inputs of a formula that have none yet.
func (v *vocabulary) number(l *expr.Logic) {
	if l == nil {
		return
	}
	switch l.Op {
	case expr.LogicThreshold:
		i := v.bySig[l.Signal]
		if s := &v.signals[i]; s.at < 0 {
			s.at = len(v.inputs)
			for range s.bits() {
				v.inputs = append(v.inputs, input{kind: inputBit, signal: i})
			}
		}
	case expr.LogicRelation:
		if i := v.free(l.Key, l.Text, flown.Denied(l.Text)); l.Relation != nil {
			v.inputs[i].relation = l
		}
	}
	for i := range l.Args {
		v.number(&l.Args[i])
	}
}

// free returns the variable of something that is simply true or false.
func (v *vocabulary) free(key, text, denied string) int {
	i, ok := v.byFree[key]
	if !ok {
		i = len(v.inputs)
		v.byFree[key] = i
		v.inputs = append(v.inputs, input{kind: inputFree, text: text, denied: denied})
	}
	return i
}

// above returns the place of a threshold among its signal's cuts.
func (v *vocabulary) above(l *expr.Logic) (s *signal, k int) {
	s = &v.signals[v.bySig[l.Signal]]
	k, found := slices.BinarySearchFunc(s.cuts, cut{l.Limit, l.Strict}, cut.compare)
	if !found {
		panic("verify: a formula whose limits were not collected")
	}
	return s, k
}

// interval returns in which interval of a signal an assignment lies: the number of cuts that it is above.
func (s *signal) interval(w []bool) int {
	k := 0
	for b := range s.bits() {
		k |= btoi(w[s.at+b]) << b
	}
	return min(k, len(s.cuts))
}

// text describes the intervals from the first to the last.
func (s *signal) text(first, last int) string {
	low, high := cut{limit: math.Inf(-1)}, cut{limit: math.Inf(1)}
	if first > 0 {
		low = s.cuts[first-1]
	}
	if last < len(s.cuts) {
		high = s.cuts[last]
	}
	return cmp.Or(flown.Range(s.name, low.limit, high.limit, low.strict, !high.strict), "any "+s.name)
}

// leaf holds the formulas of a leaf of the plan. Formulas that are not given are nil and do not hold.
type leaf struct {
	task                 bt.Task
	name                 string
	input, called        string // of a condition: the identity and the name of what it reads; plan.Input
	condition            bool
	on, off              *expr.Logic // a condition
	latch                int         // its variable: it was true before; -1: it has no hysteresis
	done, failed         *expr.Logic // an action
	successIf, failureIf *expr.Logic
	entry, exit          procedure
}

// procedure is the entry or exit procedure of a leaf.
type procedure struct {
	slow  bool        // takes time
	until *expr.Logic // it is over when this holds; nil: after some time
}

// proposition is a formula that is one free variable.
func proposition(name string) *expr.Logic {
	return &expr.Logic{Op: expr.LogicRelation, Key: "leaf " + name, Text: name}
}
