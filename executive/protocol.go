package executive

import "canopy/bt"

// Formula is one of the questions by which a leaf is judged.
type Formula uint8

// The formulas of a leaf. All but the first two are about actions; Failed wins over Done, FailureIf over SuccessIf. One
// that a plan does not give never holds, only Off always does: a condition without it is true while On holds.
const (
	On        Formula = iota // a condition becomes true
	Off                      // a condition becomes false if On does not hold
	SuccessIf                // its request: nothing is left to do
	FailureIf                // its request: it cannot be done now
	Done                     // its outcome while it is active: it has ended well
	Failed                   // its outcome while it is active: it has ended badly
	Entered                  // its entry procedure, which takes time, is complete
	Exited                   // its exit procedure, which takes time, is complete
	Formulas                 // their number
)

// Procedure is the procedure of a leaf that takes time and is under way.
type Procedure uint8

// The procedures.
const (
	None Procedure = iota
	Entering
	Exiting
)

// Known is what a tree's engine knows of a leaf, so that it is told changes only. It changes by Tell and Start alone.
type Known struct {
	Value     bool      // of a condition
	Request   bt.Status // of an action
	Outcome   bt.Status // of an action, since its activation; Accept stands for none
	Procedure Procedure // of an action
}

// Unknown is what an engine knows of a leaf that it has been told nothing of.
var Unknown = Known{Request: bt.Accept, Outcome: bt.Accept}

// Tell appends to in what a leaf has to tell the engine that it does not know yet, and notes that it is told. This
// function is the leaf protocol: rooms that play a plan differ only in how they judge whether a formula of the leaf
// holds. It works on levels, not on edges, so that nothing is lost however changes coincide. The status is the leaf's
// present one.
//
//	condition: its truth, when it differs
//	action:    its request, when it differs
//	           while it is Activating or Running, its outcome, when there is one that differs
//	           that the procedure under way is complete
func (k *Known) Tell(in []bt.Input, t bt.Task, condition bool, status bt.Status, holds func(Formula) bool) []bt.Input {
	if condition {
		if k.Judge(holds) {
			in = append(in, bt.Set(t, k.Value))
		}
		return in
	}
	if v := verdict(holds, FailureIf, SuccessIf); v != k.Request {
		k.Request = v
		in = append(in, bt.Request(t, v))
	}
	if status == bt.Activating || status == bt.Running {
		if v := verdict(holds, Failed, Done); v != bt.Accept && v != k.Outcome {
			k.Outcome = v
			in = append(in, bt.End(t, v))
		}
	}
	switch {
	case k.Procedure == Entering && holds(Entered):
		k.Procedure = None
		in = append(in, bt.Entered(t))
	case k.Procedure == Exiting && holds(Exited):
		k.Procedure = None
		in = append(in, bt.Exited(t))
	}
	return in
}

// Judge brings a condition's truth up to date and reports whether it changed.
func (k *Known) Judge(holds func(Formula) bool) bool {
	before := k.Value
	k.Value = Latch(before, holds)
	return k.Value != before
}

// Latch returns the truth of a condition that had one before: with hysteresis it remembers.
func Latch(before bool, holds func(Formula) bool) bool { return holds(On) || before && !holds(Off) }

// verdict is failure if the first formula holds, else success if the second does, else neither.
func verdict(holds func(Formula) bool, failure, success Formula) bt.Status {
	switch {
	case holds(failure):
		return bt.Failure
	case holds(success):
		return bt.Success
	}
	return bt.Accept
}

// Start notes that the engine has started the entry or the exit procedure of an action, and whether that takes time.
func (k *Known) Start(exit, slow bool) {
	k.Procedure = None
	if !exit {
		k.Outcome = bt.Accept
	}
	switch {
	case slow && exit:
		k.Procedure = Exiting
	case slow:
		k.Procedure = Entering
	}
}
