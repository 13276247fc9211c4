package plan

import (
	"canopy/bt"
	"canopy/expr"
)

// Reason returns what a leaf's change of status follows from if it follows from no other change ([bt.Cause]): a text,
// and the expression of the plan in it, nil if none gives the reason.
func (l *Leaf) Reason(c bt.Change) (text string, e *expr.Expr) {
	say := func(what string, e *expr.Expr, otherwise string) (string, *expr.Expr) {
		if e == nil {
			return otherwise, nil
		}
		return what + e.String(), e
	}
	switch {
	case l.On != nil && c.To == bt.Success:
		return say("", l.On, "")
	case l.On != nil && l.Off != nil:
		return say("", l.Off, "")
	case l.On != nil:
		return "not (" + l.On.String() + ")", l.On
	case c.From == bt.Activating && l.EntryTime != nil:
		return say("its entry procedure has taken ", l.EntryTime, "")
	case c.From == bt.Activating:
		return say("its entry procedure ends: ", l.EntryUntil, "its entry procedure has ended")
	case c.From == bt.Deactivating && l.ExitTime != nil:
		return say("its exit procedure has taken ", l.ExitTime, "")
	case c.From == bt.Deactivating:
		return say("its exit procedure ends: ", l.ExitUntil, "its exit procedure has ended")
	case c.To == bt.Finished:
		return say("it is done: ", l.Done, "it has succeeded")
	case c.To == bt.Aborted:
		return say("it has failed: ", l.Failed, "it has failed")
	case c.To == bt.Success:
		return say("its goal holds already: ", l.SuccessIf, "it requests success")
	case c.To == bt.Failure:
		return say("it cannot run: ", l.FailureIf, "it requests failure")
	case c.From == bt.Success:
		return say("its goal holds no longer: ", l.SuccessIf, "it asks to be activated")
	case c.From == bt.Failure:
		return say("it can run again: ", l.FailureIf, "it asks to be activated")
	}
	return "its judgement", nil
}
