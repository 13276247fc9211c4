package flown

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// world answers the executive: from what is known, or from the tape. An input that is not known is NaN.
type world struct {
	s *Stepper
	*answers
	clocks int                                   // the number of clocks before its own
	guide  func(q question) (answer, known bool) // answers before the tape; nil: nothing does
	log    Choices                               // of the transition, if one is followed
	u      []float64                             // the inputs, apart from
	values []value                               // by input: those that are held or captured

	// What the answers of the present instant show.
	sides   []int8  // by indicator: 0: not asked; 1: above; -1: below
	decided []int32 // the indicators with sides
	former  []int8  // by indicator: the side that was committed before, where it may be another one
	last    []int8  // by indicator on whose side others depend: the side at the end of the instant before; 0: unknown
	changed []bool  // by indicator: it may be
	behind  bool    // the value of an indicator is computed with the former sides of others
	over    []int8  // by clock: 0: not asked; 1: it is over; -1: it is not
	ticked  []int32 // the clocks that were asked
	begun   []begun // the clocks of an unknown length that have started in this instant
	twin    []int32 // by clock of an unknown length: that of the other plan that agrees with it, from 1; 0: none
	agreed  []int8  // by clock: what its twin has answered in this instant; 0: nothing
	elapsed []int32 // the clocks that were over, also those that have started again
	moved   []bool  // by place: it may have jumped in this round
	jumped  []int32 // those places
	settled int     // rounds of the instant that are over
	idle    int     // the last of them, in which the tree had no input
	first   bool    // the instant is the first of a run
}

// answers are what is known of the world. Two plans in one world share it.
type answers struct {
	tape    tape
	bounds  []interval // of the present instant, by form; of a product by fact
	asked   []int32    // those with bounds
	zone    zone.Zone  // the readings of the clocks that agree with all answers since the run began
	start   []int32    // the forms of what slots without a default have at the start
	product *Product   // nil: there is one plan
}

// question is one that has no definite answer.
type question struct {
	kind  questionKind
	form  int32   // of bound and equal
	limit float64 // of bound and equal
	open  bool    // of bound: is the form beyond the limit, else is it at least the limit
	index int     // of the indicator or the clock
}

type questionKind uint8

const (
	bound   questionKind = iota // is a form above a limit?
	equal                       // does a form have a value?
	side                        // is an indicator above, whose signals have jumped since its side was committed?
	past                        // was an indicator above before its side was committed?
	ended                       // is a clock over?
	renewed                     // is something new that was written, of which nothing is known?
)

func (w *world) choose(q question) bool {
	if w.guide != nil {
		if answer, known := w.guide(q); known {
			return answer
		}
	}
	if w.product != nil && (q.kind == side || q.kind == past) {
		w.product.Inexact = true
	}
	is := w.tape.choose()
	switch q.kind {
	case bound, equal:
		w.tape.forms[w.tape.at-1] = q.form
	case side, past:
		w.tape.forms[w.tape.at-1] = guess
	case ended, renewed:
	}
	is = is != (q.kind == equal && q.limit == 0) // a truth value is false first
	if w.log != nil {
		w.log[asked{q, w.settled}] = is
	}
	return is
}

// Choices is the answers of a transition.
type Choices map[asked]bool

// agrees reports whether what is known of signals agrees with the answers of the present round.
func (w *world) agrees(log Choices) bool {
	for q, is := range log {
		switch {
		case q.round != w.settled:
		case q.kind == bound && w.above(q.form, q.limit, q.open) != is,
			q.kind == equal && w.zero(value{form: q.form, scale: 1, offset: -q.limit}) != is:
			return false
		}
	}
	return true
}

// asked is a question after a number of rounds.
type asked struct {
	question
	round int
}

// tape holds the answers of one transition of an instant.
type tape struct {
	answers []bool
	forms   []int32 // by answer: what it is about; -1, guess: no form
	at      int
}

// choose returns the next answer; beyond the end it is false.
func (t *tape) choose() bool {
	if t.at == len(t.answers) {
		t.answers = append(t.answers, false)
	}
	for len(t.forms) < len(t.answers) {
		t.forms = append(t.forms, -1)
	}
	t.at++
	return t.answers[t.at-1]
}

// next changes the last answer that can be changed, and rewinds; it reports false if all tapes have been tried.
func (t *tape) next() bool {
	n := t.at // what lies beyond belongs to another transition
	for t.at = 0; n > 0 && t.answers[n-1]; n-- {
	}
	t.forms = t.forms[:n]
	if n == 0 {
		t.answers = t.answers[:0]
		return false
	}
	t.answers = t.answers[:n]
	t.answers[n-1] = true
	return true
}

func newWorld(s *Stepper, a *answers) *world {
	w := &world{s: s, answers: a, u: s.p.Initial(), values: make([]value, s.p.Inputs()), over: make([]int8, s.Clocks()),
		twin: make([]int32, s.Clocks()), agreed: make([]int8, s.Clocks()),
		moved: make([]bool, s.p.Layout.Signals)}
	w.grow()
	return w
}

// grow makes room for the indicators.
func (w *world) grow() {
	for len(w.sides) < len(w.s.indicators) {
		w.sides, w.former, w.last = append(w.sides, 0), append(w.former, 0), append(w.last, 0)
		w.changed = append(w.changed, false)
	}
}

// begin begins an instant: nothing is known of physical signals.
func (w *world) begin(first bool) {
	w.first = first
	for _, f := range w.asked {
		w.bounds[f] = infinite
	}
	for _, k := range w.decided {
		w.sides[k] = 0
	}
	clear(w.former)
	clear(w.changed)
	for _, c := range w.ticked {
		w.over[c] = 0
	}
	clear(w.twin)
	clear(w.agreed)
	w.begun = w.begun[:0]
	w.asked, w.decided, w.ticked, w.settled = w.asked[:0], w.decided[:0], w.ticked[:0], 0
	w.idle = 0
	w.elapsed = w.elapsed[:0]
	w.still()
}

// still forgets which signals have jumped.
func (w *world) still() {
	for _, place := range w.jumped {
		w.moved[place] = false
	}
	w.jumped = w.jumped[:0]
}

// round begins the next round of the instant and returns the indicators whose sides may have changed.
func (w *world) round() (changed []int) {
	w.settled++
	clear(w.former)
	copy(w.former, w.sides)
	for k := range w.s.indicators {
		before := w.changed[k]
		w.changed[k] = w.stirred(&w.s.indicators[k])
		for _, j := range w.s.inner[k] { // their sides were committed with this one
			w.changed[k] = w.changed[k] || before || w.settled == 1 || w.changed[j]
		}
	}
	for k := range w.s.indicators {
		if w.changed[k] && w.sides[k] != 0 {
			w.sides[k] = 0
			changed = append(changed, k)
		}
	}
	w.still()
	w.commit()
	return changed
}

// commit commits the sides of indicators before what they read may jump: those on which others will depend, and those
// that are known.
func (w *world) commit() {
	for _, k := range w.s.lagging {
		w.side(k)
	}
	for _, k := range w.s.jumping {
		known := w.sides[k] == 0 && w.plain(w.s.indicators[k].Reads(), nil)
		for _, j := range w.s.inner[k] {
			known = known && (w.former[j] != 0 || len(w.s.inner[j]) == 0 && (w.settled == 0 || !w.changed[j]) &&
				w.plain(w.s.indicators[j].Reads(), nil))
		}
		if known {
			w.side(k)
		}
	}
}

// plain reports whether the signals at some places have values that follow from constants alone, and the indicators
// sides that are known.
func (w *world) plain(places, indicators []int) bool {
	for _, k := range indicators {
		if w.sides[k] == 0 {
			return false
		}
	}
	l := &w.s.p.Layout
	for _, place := range places {
		var c *expr.Code
		switch {
		case place < l.Slots || place >= l.Signals:
			return false
		case place >= l.Computed:
			c = w.s.p.Computed[place-l.Computed]
		default:
			if w.source(place - l.Slots).known() {
				continue
			}
			c, _ = w.s.p.Source(place-l.Slots, w.u)
		}
		if c == nil || !w.plain(c.Reads(), c.Indicators()) {
			return false
		}
	}
	return true
}

// jump records that a slot has got another value: all that depends on it may have any value.
func (w *world) jump(slot int) {
	for _, place := range w.s.follows[slot] {
		if !w.moved[place] {
			w.moved[place] = true
			w.jumped = append(w.jumped, int32(place))
		}
	}
	if w.product != nil { // its facts depend on what is written
		return
	}
	for _, f := range w.asked {
		for _, name := range w.s.list[f].signals {
			if place := w.s.places[name]; place < len(w.moved) && w.moved[place] {
				w.bounds[f] = infinite
			}
		}
	}
}

// T implements executive.World: time does not matter.
func (w *world) T() float64 { return 0 }

// Discrete implements executive.World.
func (w *world) Discrete() (u []float64, above []bool) { return w.u, nil }

// Set implements executive.World.
func (w *world) Set(input int, number float64) {
	if w.isValue(input) { // an entry loses its value
		w.write(input, unknown)
	} else {
		w.change(input, func() { w.u[input] = number })
	}
	if n := slices.Index(w.s.started, input); n >= 0 && number == executive.Resting {
		w.zone.Stop(w.clockOf(n))
	}
}

// Capture implements executive.World.
func (w *world) Capture(input int, c *expr.Code) {
	w.write(input, w.storable(w.evaluate(c, false)))
	if slot := w.slotOf(input); len(w.s.started) > 0 && slot >= 0 {
		if n, known := w.s.startOf[w.s.p.Slots[slot].Name]; known {
			w.zone.Start(w.clockOf(n))
		}
	}
}

// Keep implements executive.World.
func (w *world) Keep(input, signal int) {
	if slot := signal - w.s.p.Layout.Slots; slices.Contains(w.s.doubtful, slot) {
		if v := w.stored(slot); v.known() && math.IsNaN(v.offset) {
			w.write(input, v)
			return
		}
	}
	w.write(input, w.storable(w.signal(signal)))
}

// Copy implements executive.World.
func (w *world) Copy(input, from int) { w.write(input, w.values[from]) }

// isValue reports whether an input is a held or captured value.
func (w *world) isValue(input int) bool {
	p := w.s.p
	return p.Held(0) <= input && input < p.Capture(p.Captures)
}

// restart sets the inputs to those at the start.
func (w *world) restart() {
	copy(w.u, w.s.initial)
	copy(w.values, w.s.starts)
}

// storable returns a present value as one that a slot can keep.
func (w *world) storable(v value) value {
	v.held, v.inexact = false, false
	switch {
	case v.known() || w.product == nil && len(w.s.followed(v.form)) == 0:
		return v
	case w.product != nil:
		return w.product.keep(w, v)
	}
	return unknown
}

// write sets a held or captured value.
func (w *world) write(input int, v value) { w.change(input, func() { w.values[input] = v }) }

// change changes an input. What depends on the slot that it concerns may jump.
func (w *world) change(input int, set func()) {
	slot := w.slotOf(input)
	if slot < 0 {
		set()
		return
	}
	if w.product != nil {
		w.decide(slot)
	}
	before, same := w.standing(slot)
	set()
	if after, still := w.standing(slot); !same || !still || before != after {
		w.jump(slot)
	}
}

// slotOf returns the slot that an input concerns, -1 for the phase of a leaf.
func (w *world) slotOf(input int) int {
	p := w.s.p
	if value, ok := p.MarkOf(input); ok {
		input = value
	}
	switch n := input - len(p.Leaves); {
	case n < 0:
		return -1
	case n < 2*len(p.Slots):
		return n % len(p.Slots)
	default:
		return w.s.captured[n-2*len(p.Slots)]
	}
}

// stored returns the value of a slot that a constant or no expression gives, unknown if another one does.
func (w *world) stored(slot int) value {
	code, input := w.s.p.Source(slot, w.u)
	if code == nil {
		return w.values[input]
	}
	if x, fixed := w.s.fixed[code]; fixed {
		return number(x)
	}
	return unknown
}

// source returns the value of a slot if it does not change by itself, else unknown: that is also one that a task has
// set to NaN.
func (w *world) source(slot int) value {
	v := w.stored(slot)
	if code, _ := w.s.p.Source(slot, w.u); code == nil && v.known() && math.IsNaN(v.offset) {
		return unknown
	}
	return v
}

// standing returns the value of a slot if it is known which one it is: a number, a kept value, or that of a signal that
// does not jump.
func (w *world) standing(slot int) (v value, known bool) {
	p := w.s.p
	v = w.source(slot)
	code, _ := p.Source(slot, w.u)
	if v != unknown || code == nil {
		return v, v != unknown
	}
	program := code.Program(true)
	if len(program) != 1 || program[0].Op != expr.Signal {
		return value{}, false
	}
	switch place := int(program[0].Index); {
	case place < p.Layout.Slots:
		v = value{form: w.s.forms.signal(w.s.names[place]), scale: 1}
		return v, len(w.s.followed(v.form)) == 0
	case place < p.Layout.Computed:
		return w.standing(place - p.Layout.Slots)
	}
	return value{}, false
}

// decide asks for the sides of the indicators that a slot is about to change: they are those of the present value.
func (w *world) decide(slot int) {
	for k := range w.s.indicators {
		if w.sides[k] == 0 && slices.ContainsFunc(w.s.indicators[k].Reads(), func(r int) bool {
			return slices.Contains(w.s.follows[slot], r)
		}) {
			w.side(k)
		}
	}
}

// signal returns what is known of the signal at a place.
func (w *world) signal(place int) value {
	l := &w.s.p.Layout
	switch {
	case place < l.Slots || place >= l.Signals:
	case place < l.Computed:
		if v := w.source(place - l.Slots); v != unknown {
			v.held = v.known()
			return v
		}
		if code, _ := w.s.p.Source(place-l.Slots, w.u); code != nil {
			return w.evaluate(code, true)
		}
	default:
		return w.evaluate(w.s.p.Computed[place-l.Computed], true)
	}
	return value{form: w.s.forms.signal(w.s.names[place]), scale: 1}
}

// evaluate returns what is known of the value of an expression; that of a condition is 1 or 0.
func (w *world) evaluate(c *expr.Code, frozen bool) value {
	if c.Type() == expr.Boolean {
		return number(float64(btoi(w.truth(c, frozen))))
	}
	v, _ := w.execute(c, c.Program(frozen))
	return v
}

func (w *world) truth(c *expr.Code, frozen bool) bool {
	program := c.Program(frozen)
	_, end := w.execute(c, program)
	return end > uint(len(program))
}

// side returns the committed side of an indicator.
func (w *world) side(k int) bool {
	if w.behind {
		return w.past(k)
	}
	if w.sides[k] == 0 {
		x, above := &w.s.indicators[k], false
		if at, known := w.s.since[k]; w.stirred(x) {
			above = w.choose(question{kind: side, index: k})
		} else if known && w.zone.Runs(w.clockOf(at.start)) {
			above = w.passed(at) != at.falls
		} else {
			w.behind = len(w.s.inner[k]) > 0
			above = w.nonNegative(w.difference(x))
			w.behind = false
		}
		w.sides[k] = sign(above)
		w.decided = append(w.decided, int32(k))
	}
	return w.sides[k] > 0
}

func sign(above bool) int8 {
	if above {
		return 1
	}
	return -1
}

// past returns the side that an indicator had when the present sides were committed. All are committed together.
func (w *world) past(k int) bool {
	if w.former[k] == 0 {
		w.former[k] = w.recall(k)
		w.decided = append(w.decided, int32(k))
	}
	return w.former[k] > 0
}

func (w *world) recall(k int) int8 {
	if w.first && w.settled == 0 {
		return sign(false) // a world begins so
	}
	if w.settled == 0 && w.last[k] != 0 {
		return w.last[k]
	}
	if len(w.s.inner[k]) == 0 {
		switch v := w.difference(&w.s.indicators[k]); {
		case w.settled > 0 && !w.changed[k], w.settled == 0 && (v.known() || w.s.forms.lasts(v.form)): // it is still the same
			return sign(w.nonNegative(v))
		}
	}
	return sign(w.choose(question{kind: past, index: k}))
}

// difference returns the value of an indicator.
func (w *world) difference(x *expr.Indicator) value {
	switch h, ok := x.Threshold(); {
	case ok && h.Falls:
		return w.s.plus(number(h.Level), w.signal(h.Slot), -1)
	case ok:
		return w.s.plus(w.signal(h.Slot), number(h.Level), -1)
	}
	c := x.Difference()
	v, _ := w.execute(c, c.Program(false))
	return v
}

// stirred reports whether an indicator reads a signal that has jumped in this round: the side was committed before.
func (w *world) stirred(x *expr.Indicator) bool {
	return len(w.jumped) > 0 &&
		slices.ContainsFunc(x.Reads(), func(r int) bool { return r < len(w.moved) && w.moved[r] })
}

// nonNegative reports whether a value is at least zero.
func (w *world) nonNegative(v value) bool { return w.reaches(v, 0, false) }

// reaches reports whether a value is at least a limit, or beyond it.
func (w *world) reaches(v value, limit float64, strict bool) bool {
	switch {
	case v.known() && strict:
		return v.offset > limit
	case v.known():
		return v.offset >= limit
	}
	end, falls := (limit-v.offset)/v.scale, v.scale < 0
	if v.inexact && w.product == nil {
		room := slack*max(math.Abs(end), math.Abs(v.offset/v.scale)) + underflow
		return w.rounded(v.form, end, room, strict != falls) != falls
	}
	return w.above(v.form, end, strict != falls) != falls
}

// rounded reports whether a form is at least a limit, or beyond it, where the number of a slot has moved the limit: a
// run rounds both in its own way, so that near the limit, comparisons without the slot do not decide.
func (w *world) rounded(f int32, limit, room float64, strict bool) bool {
	switch b := w.known(f); {
	case b.low > limit+room:
		return true
	case b.high < limit-room:
		return false
	}
	is := w.above(w.s.opaque(rounded, value{form: f, scale: 1}).form, limit, strict)
	if b := w.known(f); is {
		b.narrow(limit-room, math.Inf(1))
	} else {
		b.narrow(math.Inf(-1), limit+room)
	}
	return is
}

// above reports whether a form is at least a limit, or beyond it.
func (w *world) above(f int32, limit float64, strict bool) bool {
	b := w.known(f)
	is, open := b.above(limit, strict)
	sum := open && w.product == nil && w.s.list[f].sum
	if sum {
		is, open = w.implied(f, limit)
	}
	if open {
		is = w.choose(question{kind: bound, form: f, limit: limit, open: strict})
		b.restrict(limit, strict, is)
		if sum {
			w.narrow(f, limit, is)
		}
	}
	return is
}

// known returns what is known of a form, to be read.
func (w *world) known(f int32) *interval {
	if w.product != nil {
		f = w.product.fact(w, f)
	}
	for len(w.bounds) <= int(f) {
		w.bounds = append(w.bounds, infinite)
	}
	b := &w.bounds[f]
	if b.infinite() {
		w.asked = append(w.asked, f)
		*b = w.initial(f)
	}
	return b
}

// zero reports whether a value is zero: that of a discrete signal less a number, for instance.
func (w *world) zero(v value) bool {
	if v.known() {
		return v.offset == 0
	}
	limit := -v.offset / v.scale
	b := w.known(v.form)
	least, open := b.above(limit, false)
	beyond, _ := b.above(limit, true)
	switch {
	case !least && !open, beyond, slices.Contains(b.not, limit):
		return false
	case b.low == limit && b.high == limit:
		return true
	}
	is := w.choose(question{kind: equal, form: v.form, limit: limit})
	if is {
		*b = interval{low: limit, high: limit}
	} else {
		b.not = append(b.not, limit)
	}
	return is
}

// Truth implements executive.World.
func (w *world) Truth(c *expr.Code) bool { return w.truth(c, true) }

// Start implements executive.World. Over needs the length: one that is not known is over at any time.
func (w *world) Start(c int, code *expr.Code, seconds float64) (due float64, ok bool) {
	length := number(seconds)
	if code != nil {
		length = w.evaluate(code, false)
	}
	w.over[c] = 0
	w.part(c)
	switch {
	case length.known() && length.offset >= 0:
		w.zone.Start(w.clocks + c)
		return length.offset, true
	case length.known():
		return length.offset, false
	case w.product != nil:
		w.zone.Stop(w.clocks + c) // nothing is known of it and of other clocks of the plan
		w.product.pair(w, c, w.product.keep(w, length))
	default:
		w.zone.Stop(w.clocks + c)
	}
	return 0, true
}

// Stop implements executive.World.
func (w *world) Stop(c int) {
	w.part(c)
	w.zone.Stop(w.clocks + c)
}

// part ends the agreement of a clock with one of the other plan.
func (w *world) part(c int) {
	if k := w.twin[c]; k > 0 {
		w.product.other(w).twin[k-1] = 0
	}
	w.twin[c], w.agreed[c] = 0, 0
	if b := w.started(c); b != nil {
		b.over = true
	}
}

// begun is a clock of an unknown length that has started in this instant.
type begun struct {
	clock  int32
	length value
	answer int8 // whether it is over, as in world.over
	over   bool // it no longer runs
	paired bool // a clock of the other plan agrees with it
}

// started returns the present start of a clock, if it is in this instant and of an unknown length; else nil.
func (w *world) started(c int) *begun {
	for i := len(w.begun) - 1; i >= 0; i-- {
		if b := &w.begun[i]; b.clock == int32(c) && !b.over {
			return b
		}
	}
	return nil
}

// Over implements executive.World. A clock answers once in each instant, unless it starts again: it is over if it
// reads its length, and it is asked in every instant.
func (w *world) Over(c int, length float64) bool {
	clock := w.clocks + c
	known := w.zone.Runs(clock)
	if !known && math.IsInf(length, 1) { // the procedure waits for a condition
		return false
	}
	if w.over[c] == 0 {
		w.ticked = append(w.ticked, int32(c))
		w.over[c] = -1
		yes, no := true, true
		least, most := zone.Time(0), zone.Forever
		switch {
		case known:
			least, most = zone.Seconds(length)
			yes, no = w.zone.Allows(clock, zone.AtLeast, least), w.zone.Allows(clock, zone.Before, most)
		case w.agreed[c] != 0:
			yes, no = w.agreed[c] > 0, w.agreed[c] < 0
		case w.product != nil && w.twin[c] == 0 && (w != w.product.sides[0].w || w.started(c) == nil):
			w.product.Inexact = true // two clocks of one length are over together, and none will be paired with it
		}
		is := yes && (!no || w.choose(question{kind: ended, index: c}))
		switch {
		case is:
			w.over[c] = 1
			w.elapsed = append(w.elapsed, int32(c))
			if known {
				w.zone.Restrict(clock, zone.AtLeast, least)
			}
		case known:
			w.zone.Restrict(clock, zone.Before, most)
		}
		if k := w.twin[c]; k > 0 {
			w.product.other(w).agreed[k-1] = w.over[c]
		}
		if b := w.started(c); b != nil {
			b.answer = w.over[c]
		}
	}
	return w.over[c] > 0
}

// due restricts the time that has passed: the first clock that runs is over at the latest, and within limits. It
// reports false if there is no such time.
func (w *world) due(limits []limit) bool {
	for _, l := range limits {
		w.zone.Restrict(l.clock, zone.AtMost, l.most)
	}
	w.s.x.Clocks(func(c int, length float64) {
		if c += w.clocks; w.zone.Runs(c) {
			_, most := zone.Seconds(length)
			w.zone.Restrict(c, zone.AtMost, most)
		}
	})
	for i, most := range w.s.Most {
		if c := w.s.Clocks() + i; w.zone.Runs(c) && !w.zone.Restrict(c, zone.AtMost, most) {
			return false
		}
	}
	return true
}

// longest adds the length of each clock that runs, as far as it is known.
func (w *world) longest(of map[int]zone.Time) {
	w.s.x.Clocks(func(c int, length float64) {
		if c += w.clocks; w.zone.Runs(c) {
			least, last := zone.Seconds(length)
			if last == zone.Forever {
				last = least
			}
			of[c] = last
		}
	})
	for n, length := range w.s.longestSince {
		_, of[w.clockOf(n)] = zone.Seconds(length)
	}
}

var _ executive.World = (*world)(nil)
