package executive

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"canopy/bt"
	"canopy/expr"
)

// Unset is the value of an entry of a blackboard that is not written: a NaN of its own.
var Unset = math.Float64frombits(0x7ff8_0000_0b5e_7000)

// IsUnset reports whether a value is Unset.
func IsUnset(x float64) bool { return math.Float64bits(x) == math.Float64bits(Unset) }

// assign sets a leaf to a phase in which it writes the values of assignments. They are captured one after the other,
// each with the effect of the earlier ones; before its turn, an assignment's slot keeps its value.
func (x *Executive) assign(i int, p Phase, list []Assignment) error {
	for _, a := range list {
		x.world.Set(x.p.Capture(a.Captured), x.present(a.Slot))
	}
	x.turn(i, p)
	for _, a := range list {
		if a.Known != nil && !x.truth(a.Known) {
			continue // it keeps the value that it had
		}
		value := Unset
		if a.Value != nil {
			if err := x.missing(i, a.Entries); err != nil {
				return err
			}
			value = x.world.Value(a.Value)
		}
		x.world.Set(x.p.Capture(a.Captured), value)
	}
	return nil
}

// truth evaluates a condition with the discrete signals of this instant.
func (x *Executive) truth(c *expr.Code) bool {
	x.refresh()
	return x.world.Truth(c)
}

// keepFirst prepares the writers of a leaf that becomes active: a slot whose new value is not known keeps its value.
func (x *Executive) keepFirst(leaf int) {
	for _, r := range x.p.Kept {
		if w := &x.p.Slots[r.Slot].Writers[r.Writer]; w.Leaf == leaf {
			value := Follows
			if !x.truth(w.Known) {
				value = x.present(r.Slot)
			}
			x.world.Set(x.p.Capture(w.Captured), value)
		}
	}
}

// keepUnknown lets the slots whose written values have ceased to be known keep them, and the others follow again. It
// reports whether a slot has changed.
func (x *Executive) keepUnknown() (changed bool) {
	if len(x.p.Kept) > 0 {
		x.fresh = false
	}
	for _, r := range x.p.Kept {
		w := &x.p.Slots[r.Slot].Writers[r.Writer]
		if x.u[w.Leaf] != w.Phase {
			continue
		}
		at := x.p.Capture(w.Captured)
		switch known, follows := x.truth(w.Known), x.u[at] == Follows; {
		case known == follows:
			continue
		case known:
			x.world.Set(at, Follows)
		default:
			x.world.Set(at, x.world.Value(w.Value))
		}
		x.Given(r.Slot)
		changed = true
	}
	return changed
}

// keep lets the slots with Hold that an action writes keep their values.
func (x *Executive) keep(i int) {
	for _, slot := range x.p.Leaves[i].Slots {
		if x.p.Slots[slot].Hold {
			x.world.Set(x.p.Held(slot), x.present(slot))
		}
	}
}

// present returns the present value of a slot.
func (x *Executive) present(slot int) float64 {
	if x.unset(slot) {
		return Unset
	}
	return x.world.Signal(x.p.Signal(slot))
}

// unset reports whether a slot is an entry that is not written.
func (x *Executive) unset(slot int) bool {
	s := &x.p.Slots[slot]
	if !s.Entry {
		return false
	}
	n := int(x.u[x.p.counts(slot)])
	if n == 0 {
		return IsUnset(x.u[x.p.Held(slot)])
	}
	w := &s.Writers[n-1]
	return w.Value == nil && IsUnset(x.u[x.p.Capture(w.Captured)])
}

// ErrUnset reports a task that reads an entry of the blackboard that is not written.
var ErrUnset = errors.New("an entry that is not written")

// missing returns the error of a leaf that reads entries now, if one is not written.
func (x *Executive) missing(i int, entries []int) error {
	for _, slot := range entries {
		if x.unset(slot) {
			return fmt.Errorf("%w: %s reads %s, to which nothing has been written, at t = %.9g s", ErrUnset,
				x.p.Tree.Name(x.p.Leaves[i].Task), x.p.Slots[slot].Name, x.world.T())
		}
	}
	return nil
}

// Unwritten returns the error of an active action that depends on an entry that is not written, nil if there is none.
func (x *Executive) Unwritten() error {
	var err error
	for i := range x.p.entries {
		if x.u[i] != Active {
			continue
		}
		for f := range Criteria {
			err = cmp.Or(err, x.missing(i, x.p.entries[i][f]))
		}
		for _, slot := range x.p.Leaves[i].Slots {
			for _, w := range x.p.Slots[slot].Writers {
				if w.Leaf == i && w.Value != nil {
					err = cmp.Or(err, x.missing(i, x.p.entriesOf(w.Value)))
				}
			}
		}
	}
	return err
}

// question is a formula that has read an entry that is not written, of a leaf below a task that has ended or of an
// action that is active: it is judged anew for a later run, so that this is no error yet.
type question struct {
	leaf int
	by   Criterion
	task bt.Task
}

// unwritten reports whether a formula of a leaf reads an entry that is not written: a condition that does, does not
// hold. If the judgement counts, that is an error; for a later run, it is one only if the run begins at this instant or
// the judgement counts when the instant is over.
func (x *Executive) unwritten(i int, f Criterion) bool {
	if x.p.entries == nil {
		return false
	}
	err := x.missing(i, x.p.entries[i][f])
	d, ok := x.decider.(*tree)
	if err == nil || !ok || !d.listens || d.keeps(x, x.p.Leaves[i].Task) || !d.hears(x, i) {
		return err != nil
	}
	if task := d.later(x, i, f); task >= 0 {
		x.open = append(x.open, question{i, f, task})
	} else {
		x.lost = cmp.Or(x.lost, err)
	}
	return true
}

// later returns the lowest task for whose next run a formula of a leaf is judged, -1 if it is not.
func (d *tree) later(x *Executive, i int, f Criterion) bt.Task {
	if f > FailureIf {
		return -1
	}
	e, t := d.engine.(Listener), x.p.Leaves[i].Task
	if !e.Status(t).Transient() {
		return t
	}
	for ; t >= 0; t = x.p.Tree.Parent(t) {
		if _, held := e.Held(t); held || e.Status(t).Ended() || e.Status(t) == bt.Deactivating {
			break
		}
	}
	return t
}

// answer decides the open questions of tasks that are activated again by these changes and, if the instant is over, all
// others.
func (x *Executive) answer(changes []bt.Change, over bool) {
	left := x.open[:0]
	for _, q := range x.open {
		again := slices.ContainsFunc(changes, func(c bt.Change) bool { return c.Task == q.task && c.To == bt.Activating })
		if again || over && x.decider.(*tree).decides(x.p.Leaves[q.leaf].Task) {
			x.lost = cmp.Or(x.lost, x.missing(q.leaf, x.p.entries[q.leaf][q.by]))
		}
		if !again && !over {
			left = append(left, q)
		}
	}
	x.open = left
}

// decides reports whether a leaf's judgement counts: not the request of an active action.
func (d *tree) decides(t bt.Task) bool {
	return d.engine.Status(t).Transient() && d.engine.(Listener).Counts(t)
}
