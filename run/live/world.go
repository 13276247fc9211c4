package live

import (
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// world is the world of a plan in a program: its signals are slots, those that no leaf writes are set from outside.
type world struct {
	executive.Numbers
	p       *executive.Program
	t       float64 // [s]
	u       []float64
	above   []bool
	signals *executive.Signals
	readers [][]int32 // by slot: the indicators that read it
	dirty   []int32   // indicators to evaluate
	isDirty []bool
	changed []int
	last    []float64 // by step of Program.All: the slot's value
	of      *Execution
}

func newWorld(x *Execution, p *executive.Program, u []float64) *world {
	w := &world{of: x, p: p, u: u, above: make([]bool, len(p.Indicators)), signals: executive.NewSignals(p, nil),
		readers: make([][]int32, len(p.Slots)), isDirty: make([]bool, len(p.Indicators)), last: make([]float64, len(p.All))}
	for k := range p.Indicators {
		for _, place := range p.Indicators[k].Reads() {
			if place >= p.Layout.Slots {
				w.readers[place-p.Layout.Slots] = append(w.readers[place-p.Layout.Slots], int32(k))
			}
		}
		w.dirty, w.isDirty[k] = append(w.dirty, int32(k)), true
	}
	for i, s := range p.Slots {
		if w.signals.Values[p.Signal(i)] = s.Initial; len(s.Writers) == 0 && !s.Entry {
			w.signals.Values[p.Signal(i)] = u[p.Held(i)]
		}
	}
	w.Numbers = executive.NewNumbers(w)
	return w
}

// T implements executive.World.
func (w *world) T() float64 { return w.t }

// Discrete implements executive.World.
func (w *world) Discrete() (u []float64, above []bool) { return w.u, w.above }

// Truth implements executive.World.
func (w *world) Truth(c *expr.Code) bool {
	if truth, ok := w.of.truth(c); ok {
		return truth
	}
	return w.Numbers.Truth(c)
}

// Starts implements executive.Starter.
func (w *world) Starts(leaf int) { w.of.starts(w.of.leaves[leaf]) }

// Set implements executive.World.
func (w *world) Set(input int, value float64) { w.u[input] = value }

// give sets a slot that no leaf writes.
func (w *world) give(slot int, value float64) {
	w.p.SetHeld(w.u, slot, value)
	w.signals.Values[w.p.Signal(slot)] = value
	w.soil(slot)
}

// Signals implements executive.Numeric: it evaluates the slots that leaves write.
func (w *world) Signals() []float64 {
	w.signals.Fill(w.p.All, w.t, nil, w.u, nil)
	for i, s := range w.p.All {
		if v := w.signals.Values[w.p.Signal(s.Index)]; v != w.last[i] {
			w.last[i] = v
			w.soil(s.Index)
		}
	}
	return w.signals.Values
}

// soil notes the indicators that read a slot.
func (w *world) soil(slot int) {
	for _, k := range w.readers[slot] {
		if !w.isDirty[k] {
			w.isDirty[k] = true
			w.dirty = append(w.dirty, k)
		}
	}
}

// iterate brings the sides of the indicators up to date and returns those that have changed.
func (w *world) iterate() []int {
	w.changed = w.changed[:0]
	for _, k := range w.dirty {
		w.isDirty[k] = false
		if side := w.p.Indicators[k].Value(w.signals.Values, nil) >= 0; side != w.above[k] {
			w.above[k] = side
			w.changed = append(w.changed, int(k))
		}
	}
	w.dirty = w.dirty[:0]
	return w.changed
}
