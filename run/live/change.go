package live

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
)

// Change is one change of a task's status, as a subscriber receives it. Its methods are valid until the subscriber
// returns.
type Change struct {
	At       time.Duration // since the beginning of Run
	Task     string
	From, To bt.Status

	x     *Execution
	index int // among the changes of the instant
}

// change returns a change of this instant.
func (x *Execution) change(index int) Change {
	c := x.changes[index]
	return Change{At: time.Duration(math.Round(x.world.t * 1e9)), Task: x.world.p.Tree.Name(c.Task), From: c.From,
		To: c.To, x: x, index: index}
}

// String returns the time, the task and its statuses, as in "1m30s fly: Running -> Aborted".
func (c Change) String() string { return fmt.Sprintf("%v %s: %v -> %v", c.At, c.Task, c.From, c.To) }

// Cause returns the change, at the same instant, from which this one follows; ok is false if it follows from an input,
// which Input describes. Repeated, it leads from the failure of a plan to the leaf that made it fail.
func (c Change) Cause() (cause Change, ok bool) {
	if i := bt.Cause(c.x.world.p.Tree, c.x.changes, c.index); i >= 0 {
		return c.x.change(i), true
	}
	return Change{}, false
}

// Err returns the error with which the program has ended an action that is now Aborted, nil for other changes.
func (c Change) Err() error {
	l := c.x.leafOf[c.x.changes[c.index].Task]
	if l == nil || c.To != bt.Aborted {
		return nil
	}
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	return l.err
}

// Input describes the input from which the change follows if it has no cause.
func (c Change) Input() string {
	l := c.x.leafOf[c.x.changes[c.index].Task]
	if l == nil || c.To == bt.Activating || c.To == bt.Deactivating {
		return "a timer has elapsed, or the run has begun or ended"
	}
	if err := c.Err(); err != nil {
		return err.Error()
	}
	if l.query != nil {
		return fmt.Sprintf("%s answers %t", l.name, c.To == bt.Success)
	}
	text, e := l.plan.Reason(c.x.changes[c.index])
	if e != nil {
		text += c.x.given(e)
	}
	return text
}

// given returns what decides that a condition holds, with the values of its signals.
func (x *Execution) given(e *expr.Expr) string {
	at := map[string]float64{}
	for name, i := range x.places {
		at[name] = x.world.signals.Values[x.world.p.Signal(i)]
	}
	e, _ = e.Deciding(at)
	var list []string
	for _, name := range e.Names() {
		i, ok := x.places[name]
		if !ok {
			continue
		}
		s := &x.signals[i]
		v := x.world.signals.Values[x.world.p.Signal(i)]
		if s.Type == expr.Boolean {
			list = append(list, fmt.Sprintf("%s = %t", name, v != 0))
		} else {
			unit := ""
			if s.unit != expr.AnyUnit {
				unit = " " + s.unit.String()
			}
			list = append(list, fmt.Sprintf("%s = %.6g%s", name, s.unit.Of(v), unit))
		}
	}
	slices.Sort(list)
	return e.String() + " (" + strings.Join(list, ", ") + ")"
}
