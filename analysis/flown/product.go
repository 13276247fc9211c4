package flown

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/snapshot"
)

// Product is the synchronous product of two plans in one world: at each instant the answers about the same signals are
// the same for both. A signal that does not follow what tasks write is the same for both. One that does is the same as
// long as the written values on which it depends are, in whatever round of the instant; else nothing relates the two.
// All clocks advance together.
//
// A written value that is not a number is known by the linear form of signals from which it comes, and from one instant
// to the next by the bounds that answers have given it: equal values have one name in both plans. Tasks of both plans
// settle until nothing changes, one plan after the other; the instant has no other order.
type Product struct {
	Old, New *Moment
	Apart    bool // the instant has an error of one plan alone
	Inexact  bool // an answer was given to one plan alone, although it may follow from one to the other

	*stack
	sides  [2]*Stepper
	shared *answers
	facts  map[string]int32
	forms  []int32 // by fact
	deep   int     // of the written values that are evaluated
}

// NewProduct returns the product of two plans.
func NewProduct(old, updated declare.Subject) *Product {
	p := &Product{facts: map[string]int32{}}
	p.shared = &answers{product: p}
	known := &forms{}
	for i, subject := range []declare.Subject{old, updated} {
		s := prepare(subject, known, p.shared, true, nil)
		if slices.ContainsFunc(s.p.Slots, func(x executive.Slot) bool { return x.Entry }) { // what is heard may stop the run
			s.always = make([]bool, s.Tree.Len())
		}
		p.sides[i] = s
	}
	p.sides[1].w.clocks = p.sides[0].Clocks()
	p.stack = &stack{of: p.sides[:]}
	for _, s := range p.sides {
		s.stack = p.stack
	}
	p.Old, p.New = &p.sides[0].moment, &p.sides[1].moment
	return p
}

// both lets the plans settle one after the other, from a round of one of them on. The visitor sees the end of the
// instant, once both have settled or failed: the moment is that of the first plan, and its state that of both.
func (p *Product) both(side, n int, visit func(m *Moment)) {
	for ; ; side, n = 1, 0 {
		s, ended := p.sides[side], false
		s.rounds(side, n, func(m *Moment) { ended = m.Over || m.Err != nil })
		if !ended { // it goes on as another transition did
			return
		}
		for _, k := range s.lagging {
			s.w.side(k)
		}
		if side == 1 {
			alone := func(b begun) bool { return b.answer != 0 && !b.paired } // no clock of the other plan agrees with it
			p.Inexact = p.Inexact || slices.ContainsFunc(p.sides[0].w.begun, alone)
			p.Apart = (p.Old.Err == nil) != (p.New.Err == nil)
			p.Old.Err = cmp.Or(p.Old.Err, p.New.Err)
			visit(p.Old)
			return
		}
		p.sides[1].beside = snapshot.Save(p.sides[1].beside[:0], execution{s}, s.w)
		p.push(1, 0)
	}
}

// Written returns the names of the slots of both plans whose values differ.
func (p *Product) Written() []string {
	var names []string
	a, b := p.sides[0], p.sides[1]
	for i := range a.p.Slots {
		for k := range b.p.Slots {
			if name := a.p.Slots[i].Name; name == b.p.Slots[k].Name && p.token(a.w, i) != p.token(b.w, k) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Judgements returns the results of both plans' roots: Success, Failure, Skipped, or Accept while they run.
func (p *Product) Judgements() (old, updated bt.Status) {
	return p.sides[0].x.Judgement(), p.sides[1].x.Judgement()
}

// keep returns a present value as one that stays the same when what it came from jumps.
func (p *Product) keep(w *world, v value) value {
	if len(w.s.followed(v.form)) > 0 {
		v.form = w.s.forms.signal(fmt.Sprint(keeps, "of ", p.fact(w, v.form)))
		p.Inexact = true // answers about one are none about the other
	}
	return v
}

// fact returns the number of what is known of a form at present: those that follow what tasks write have another one
// for each written value.
func (p *Product) fact(w *world, f int32) int32 {
	key := binary.AppendVarint(nil, int64(f))
	for _, slot := range w.s.followed(f) {
		key = append(append(key, w.s.p.Slots[slot].Name...), p.token(w, slot)...)
	}
	n, ok := p.facts[string(key)]
	if !ok {
		n = int32(len(p.forms))
		p.facts[string(key)] = n
		p.forms = append(p.forms, f)
	}
	return n
}

// other returns the world of the other plan.
func (p *Product) other(w *world) *world {
	if w == p.sides[0].w {
		return p.sides[1].w
	}
	return p.sides[0].w
}

// pair records that a clock has started with an unknown length. If one of the other plan has in the same instant, with
// the same length, the two answer alike.
func (p *Product) pair(w *world, c int, length value) {
	w.begun = append(w.begun, begun{clock: int32(c), length: length})
	o := p.other(w)
	for i := range o.begun {
		b := &o.begun[i]
		if b.paired || b.length != length {
			continue
		}
		b.paired, w.begun[len(w.begun)-1].paired = true, true
		if w.agreed[c] = b.answer; !b.over {
			w.twin[c], o.twin[b.clock] = b.clock+1, int32(c+1)
		}
		return
	}
}

// twins passes the clocks of the first plan that agree with one of the second.
func (p *Product) twins(c *snapshot.Codec) {
	a, b := p.sides[0].w, p.sides[1].w
	if c.Loading() {
		clear(b.twin)
	}
	for i := range a.twin {
		if snapshot.Int(c, &a.twin[i]); c.Loading() && a.twin[i] > 0 && int(a.twin[i]) <= len(b.twin) {
			b.twin[a.twin[i]-1] = int32(i + 1)
		}
	}
}

// token identifies the present value of a slot.
func (p *Product) token(w *world, slot int) string {
	if p.deep > len(w.s.p.Slots) { // the value depends on itself
		p.Inexact = true
		return "?"
	}
	p.deep++
	behind := w.behind
	w.behind = false
	v := w.signal(w.s.p.Signal(slot))
	w.behind = behind
	var key []byte
	if !v.known() {
		key = binary.AppendVarint([]byte{'f'}, int64(p.fact(w, v.form)))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v.scale))
	}
	p.deep--
	return string(binary.LittleEndian.AppendUint64(key, math.Float64bits(v.offset+0)))
}

// followed returns the slots that a form follows within an instant.
func (s *Stepper) followed(f int32) []int {
	for len(s.formSlots) <= int(f) {
		var slots []int
		for _, name := range s.list[len(s.formSlots)].signals {
			place, ok := s.places[name]
			for slot, places := range s.follows {
				if ok && slices.Contains(places, place) && !slices.Contains(slots, slot) {
					slots = append(slots, slot)
				}
			}
		}
		slices.SortFunc(slots, func(i, k int) int { return strings.Compare(s.p.Slots[i].Name, s.p.Slots[k].Name) })
		s.formSlots = append(s.formSlots, slots)
	}
	return s.formSlots[f]
}

// Text describes what the answers of the instant show of signals and relations.
func (p *Product) Text() string {
	var parts []string
	for _, at := range slices.Compact(slices.Sorted(slices.Values(p.shared.asked))) {
		f := p.forms[at]
		if p.fact(p.sides[0].w, f) != at && p.fact(p.sides[1].w, f) != at {
			continue // it was so within the instant
		}
		if text := p.sides[0].boundsText(f, &p.shared.bounds[at]); text != "" && !strings.HasPrefix(text, keeps) {
			parts = append(parts, text)
		}
	}
	return cmp.Or(strings.Join(parts, " and "), Always)
}
