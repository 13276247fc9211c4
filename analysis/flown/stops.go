package flown

import (
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// ErrNotFinite reports a slot to which a task has given a constant that is no number. A run stops with an error when it
// records the slot.
var ErrNotFinite = errors.New("a value that is not finite")

// takesTime is the remedy for instants that do not end.
const takesTime = "let a task that is run again take time, with Sleep or Delay, or limit how often it is run"

// Remedy returns what to do about an error that stops a run.
func Remedy(err error) string {
	for _, r := range []struct {
		of     error
		remedy string
	}{
		{ErrUnsettled, takesTime},
		{executive.ErrUnsettled, takesTime},
		{errLong, takesTime},
		{bt.ErrLoop, takesTime},
		{executive.ErrUnset, "write the entry before the task that reads it, or test it with a condition first"},
		{executive.ErrDuration, "give the procedure a duration that is not negative"},
		{ErrNotFinite, "write a value that is a number"},
	} {
		if errors.Is(err, r.of) {
			return r.remedy
		}
	}
	return "correct the facts" // no state is left
}

func finite(x float64) bool { return x-x == 0 }

// notFinite reports whether a code is a constant that is no number.
func notFinite(c *expr.Code) bool {
	return c != nil && c.Type() == expr.Real && len(c.Reads()) == 0 && !finite(c.Value(nil, nil))
}

// lost returns the error of an instant at whose end a slot that is no entry of a blackboard is not finite.
func (w *world) lost() error {
	p := w.s.p
	for _, slot := range w.s.doubtful {
		if v := w.stored(slot); v.known() && !finite(v.offset) {
			return fmt.Errorf("%w: %s", ErrNotFinite, p.Slots[slot].Name)
		}
	}
	return nil
}

// doubt collects the slots to which a task may give a constant that is no number, of those that must have one.
func (s *Stepper) doubt(subject *declare.Subject) {
	note := func(slot int, c *expr.Code) {
		x := &s.p.Slots[slot]
		must := subject.Program == nil && !x.Entry || slices.Contains(subject.Finite, x.Name)
		if must && notFinite(c) && !slices.Contains(s.doubtful, slot) {
			s.doubtful = append(s.doubtful, slot)
		}
	}
	for i := range s.p.Slots {
		for _, w := range s.p.Slots[i].Writers {
			note(i, w.Value)
		}
	}
	for i := range s.p.Leaves {
		for _, a := range slices.Concat(s.p.Leaves[i].Entry, s.p.Leaves[i].Exit) {
			note(a.Slot, a.Value)
		}
	}
}

// few is a number of settlings that an instant of a run certainly has.
const few = executive.MaxSettlings / 4

// Settles reports whether each instant ends without an error, as far as the structure of the plan shows it: the input
// of a leaf does not change within an instant, apart from the ends of tasks; no task is run again; the tasks that can
// end at once are few; nothing reads an entry of a blackboard; and all durations and constants are numbers. Each task
// then begins at most once in an instant before its parent ends (docs/reaction.md), and each end is one settling.
func (s *Stepper) Settles() bool {
	if s.Written() || s.Lags() || len(s.doubtful) > 0 || len(s.Tree.Shared()) > 0 || len(s.Tree.Lasts()) > 0 {
		return false
	}
	for t := range bt.Task(s.Tree.Len()) {
		if s.Tree.Repeats(t) {
			return false
		}
	}
	settlings := len(s.Tree.Timers())
	for i := range s.p.Leaves {
		l := &s.p.Leaves[i]
		for _, c := range []*expr.Code{l.EntryTime, l.ExitTime} {
			if c != nil && (len(c.Reads()) > 0 || !(c.Value(nil, nil) >= 0)) {
				return false
			}
		}
		for _, a := range slices.Concat(l.Entry, l.Exit) {
			if len(a.Entries) > 0 {
				return false
			}
		}
		if l.Condition {
			continue
		}
		entry, exit := l.Slow()
		settlings += btoi(entry) + btoi(exit) +
			btoi(l.Formulas[executive.Done] != nil || l.Formulas[executive.Failed] != nil)
	}
	return settlings <= few
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// guess marks an answer about a side that may have changed within the instant.
const guess = -2

// Certain reports whether a run that comes here goes on, or stops, as the transition does: no answer of the instant
// rests on how signals follow what is commanded, which is not known.
func (m *Moment) Certain() bool {
	t := &m.s.w.tape
	return !errors.Is(m.Err, errLong) && !slices.ContainsFunc(t.forms[:t.at], func(f int32) bool {
		return f == guess || f >= 0 && len(m.s.followed(f)) > 0
	})
}
