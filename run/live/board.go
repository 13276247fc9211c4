package live

import (
	"math"

	"github.com/canopy-uav/canopy/expr"
)

// board is what leaves read and write by their ports.
type board struct {
	// Guarded by Execution.mu, by signal.
	shown   []any // the value that leaves may read; nil: none
	objects []any // what an action has set, unless it is a number

	told     []float64       // by signal: the number of what is shown
	kept     map[float64]any // the objects for which numbers of the plan stand
	versions float64         // the number of the latest one
}

// show lets leaves read the values that their ports have now.
func (x *Execution) show() {
	for _, i := range x.named {
		v := x.world.signals.Values[x.world.p.Signal(i)]
		if v == x.told[i] || math.IsNaN(v) && math.IsNaN(x.told[i]) {
			continue
		}
		x.told[i] = v
		x.mu.Lock()
		x.shown[i] = x.decoded(i, v)
		x.mu.Unlock()
		for _, l := range x.leaves {
			for _, b := range l.ports {
				if l.query != nil && b.entry != "" && b.slot == i {
					x.doubt(l)
				}
			}
		}
	}
}

// starts notes what the Start of an action reads: tasks after it may write the same entries before it is called.
func (x *Execution) starts(l *leaf) {
	for _, b := range l.ports {
		if b.entry == "" || l.action == nil {
			continue
		}
		v := x.world.Signals()[x.world.p.Signal(b.slot)]
		x.mu.Lock()
		if l.starting == nil {
			l.starting = map[int]any{}
		}
		l.starting[b.slot] = x.decoded(b.slot, v)
		x.mu.Unlock()
	}
}

// decoded returns the value for which a number of the plan stands, numbers as they are; nil: none. The caller holds the
// lock.
func (x *Execution) decoded(i int, v float64) any {
	switch s := &x.signals[i]; {
	case math.IsNaN(v):
		return nil
	case s.Type == expr.Real, s.Type == expr.Integer && s.entry:
		return v
	case s.Type == expr.Text:
		return x.code.Texts()[int(v)]
	case s.Type == expr.Enumeration && s.Values == nil:
		return x.kept[v]
	default:
		return s.value(v)
	}
}

// encoded returns the number for which an object stands that an action has set. The caller holds the lock.
func (x *Execution) encoded(i int) float64 {
	if x.signals[i].Type == expr.Text {
		text, _ := x.objects[i].(string)
		return x.code.Text(text)
	}
	x.versions++
	x.kept[x.versions] = x.objects[i]
	return x.versions
}
