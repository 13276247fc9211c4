package executive

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
)

// A slot's held value and each captured value has a mark: an input that is 1 if an entry of a blackboard has no value
// there and, for a value that a writer gives while it is known, if the captured one counts instead.

// set sets an input to the value of an expression; nil: to none.
func (x *Executive) set(input int, c *expr.Code) {
	if c == nil {
		x.world.Set(input, math.NaN())
	} else {
		x.world.Capture(input, c)
	}
	x.mark(input, c == nil)
}

// store sets an input to the present value of a slot, also if that is none.
func (x *Executive) store(input, slot int) {
	none := x.Unset(slot)
	x.storeValue(input, slot)
	x.mark(input, none)
}

// storeValue is store without the mark.
func (x *Executive) storeValue(input, slot int) {
	if x.Unset(slot) {
		x.world.Set(input, math.NaN())
	} else {
		x.world.Keep(input, x.p.Signal(slot))
	}
}

// mark sets the mark of an input.
func (x *Executive) mark(input int, marked bool) {
	at := x.p.mark(input)
	switch {
	case at < 0 || marked == (x.u[at] != 0):
	case marked:
		x.world.Set(at, 1)
	default:
		x.world.Set(at, 0)
	}
}

// assign sets a leaf to a phase in which it writes the values of assignments. They are captured one after the other,
// each with the effect of the earlier ones; before its turn, an assignment's slot keeps its value.
func (x *Executive) assign(i int, p Phase, list []Assignment) error {
	for _, a := range list {
		x.store(x.p.Capture(a.Captured), a.Slot)
	}
	x.turn(i, p)
	for _, a := range list {
		if a.Known != nil && !x.truth(a.Known) {
			continue // it keeps the value that it had
		}
		if err := x.missing(i, a.Entries); err != nil {
			return err
		}
		x.set(x.p.Capture(a.Captured), a.Value)
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
			at := x.p.Capture(w.Captured)
			known := x.truth(w.Known)
			if !known {
				x.storeValue(at, r.Slot)
			}
			x.mark(at, !known)
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
		known := x.truth(w.Known)
		at := x.p.Capture(w.Captured)
		if known != x.p.Marked(at, x.u) {
			continue
		}
		if !known {
			x.world.Capture(at, w.Value)
		}
		x.mark(at, !known)
		x.written(r.Slot)
		changed = true
	}
	return changed
}

// keep lets the slots with Hold that an action writes keep their values.
func (x *Executive) keep(i int) {
	for _, slot := range x.p.Leaves[i].Slots {
		if x.p.Slots[slot].Hold {
			x.store(x.p.Held(slot), slot)
		}
	}
}

// Unset reports whether a slot is an entry that has no value.
func (x *Executive) Unset(slot int) bool {
	s := &x.p.Slots[slot]
	if !s.Entry {
		return false
	}
	at := x.p.Held(slot)
	if n := int(x.u[x.p.counts(slot)]); n > 0 {
		w := &s.Writers[n-1]
		if w.Value != nil {
			return false
		}
		at = x.p.Capture(w.Captured)
	}
	return x.p.Marked(at, x.u)
}

// ErrUnset reports a task that reads an entry of the blackboard that is not written.
var ErrUnset = errors.New("an entry that is not written")

// missing returns the error of a leaf that reads entries now, if one is not written.
func (x *Executive) missing(i int, entries []int) error {
	for _, slot := range entries {
		if x.Unset(slot) {
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

// unseen instead of a task: the formula counts once the tasks above its leaf look at it.
const unseen bt.Task = -1

// unwritten reports whether a formula of a leaf reads an entry that is not written: a condition that does, does not
// hold. If the judgement counts, that is an error; for a later run, it is one only if the run begins at this instant or
// the judgement counts when the instant is over.
func (x *Executive) unwritten(i int, f Criterion) bool {
	if x.p.entries == nil {
		return false
	}
	err := x.missing(i, x.p.entries[i][f])
	d := x.tree
	t := x.p.Leaves[i].Task
	if err == nil || x.p.Leaves[i].Lenient || d == nil || d.listener == nil || d.keeps(x, t) || !d.hears(x, i) {
		return err != nil
	}
	if x.p.Tree.Revises(t, -1) && !d.listener.Counts(t) { // it is judged although nothing looks at it yet
		if q := (question{i, f, unseen}); !slices.Contains(x.open, q) {
			x.open = append(x.open, q)
		}
	} else if task := d.later(x, i, f); task >= 0 {
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
	e, t := d.listener, x.p.Leaves[i].Task
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
		if q.task == unseen {
			switch err := x.missing(q.leaf, x.p.entries[q.leaf][q.by]); {
			case err == nil:
			case x.tree.listener.Counts(x.p.Leaves[q.leaf].Task):
				x.lost = cmp.Or(x.lost, err)
			default:
				left = append(left, q)
			}
			continue
		}
		again := slices.ContainsFunc(changes, func(c bt.Change) bool { return c.Task == q.task && c.To == bt.Activating })
		if again || over && x.tree.decides(x.p.Leaves[q.leaf].Task) {
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
	return d.engine.Status(t).Transient() && d.listener.Counts(t)
}
