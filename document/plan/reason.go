package plan

import (
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
)

// NoReason is the text about a change whose reason a log does not show.
const NoReason = "the log does not hold the reason"

// Reason returns what a leaf's change of status follows from if it follows from no other change ([bt.Cause]): a text,
// and the condition or the time that completes it, nil if none gives the reason.
func (l *Leaf) Reason(c bt.Change) (text string, e *expr.Expr) {
	type reason struct {
		text string
		e    *expr.Expr // at the end of the text; nil: it does not apply, the last one of a list always does
	}
	left := map[bt.Status][]reason{
		bt.Activating: {{"its entry procedure has taken ", l.EntryTime}, {"its entry procedure ends: ", l.EntryUntil},
			{"its entry procedure has ended", nil}},
		bt.Deactivating: {{"its exit procedure has taken ", l.ExitTime}, {"its exit procedure ends: ", l.ExitUntil},
			{"its exit procedure has ended", nil}},
		bt.Success: {{"its goal no longer holds: ", l.SuccessIf}, {"it asks to be activated", nil}},
		bt.Failure: {{"it can run again: ", l.FailureIf}, {"it asks to be activated", nil}},
	}
	reached := map[bt.Status][]reason{
		bt.Finished: {{"it is done: ", l.Done}, {"it has succeeded", nil}},
		bt.Aborted:  {{"it has failed: ", l.Failed}, {"it has failed", nil}},
		bt.Success:  {{"its goal holds already: ", l.SuccessIf}, {"it requests success", nil}},
		bt.Failure:  {{"it cannot run: ", l.FailureIf}, {"it requests failure", nil}},
	}
	list := reached[c.To]
	switch {
	case c.To == bt.Activating, c.To == bt.Deactivating:
	case l.On != nil && c.To == bt.Success:
		return "", l.On
	case l.On != nil && c.To == bt.Failure && l.Off != nil:
		return "", l.Off
	case l.On != nil && c.To == bt.Failure:
		return "", l.On.Not()
	case l.On != nil:
		list = nil
	case c.From == bt.Activating, c.From == bt.Deactivating, c.To == bt.Accept:
		list = left[c.From]
	}
	for i, r := range list {
		switch {
		case r.e != nil && r.e.String() == "true":
			return strings.TrimSuffix(r.text, ": "), nil
		case r.e != nil:
			return r.text, r.e
		case i == len(list)-1:
			return r.text, nil
		}
	}
	return NoReason, nil // such as activation, which other tasks decide
}
