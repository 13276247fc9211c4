package executive

import "github.com/canopy-uav/canopy/bt"

// Criterion is the role of a formula by which a leaf is judged.
type Criterion uint8

// The criteria of a leaf. All except the first two are for actions. Failed has priority over Done, FailureIf over
// SuccessIf. A formula that the plan does not give never holds, except Off, which then always holds: a condition
// without it is true while On holds, unless it stays true until a task has ended.
const (
	On        Criterion = iota // a condition becomes true
	Off                        // a condition becomes false if On does not hold
	SuccessIf                  // its request: the goal already holds
	FailureIf                  // its request: it cannot run now
	Done                       // its outcome while it is active: success
	Failed                     // its outcome while it is active: failure
	Entered                    // its entry procedure, which takes time, is complete
	Exited                     // its exit procedure, which takes time, is complete
	Criteria                   // their number
)

// Procedure is the running procedure of a leaf, one that takes time.
type Procedure uint8

// The procedures.
const (
	None Procedure = iota
	Entering
	Exiting
)

// Known is the state of a leaf as last sent to a tree's engine, so that only changes are sent. Only AppendInputs and
// Start change it.
type Known struct {
	Value     bool      // of a condition
	Spent     bool      // of a condition: what made it true counts no longer
	Request   bt.Status // of an action
	Outcome   bt.Status // of an action, while it is active; Accept: none
	Procedure Procedure // of an action
}

// Unknown is the state of a leaf of which nothing has been sent to the engine.
var Unknown = Known{Request: bt.Accept, Outcome: bt.Accept}

// AppendInputs appends to in the leaf's inputs that are new to the engine, and records them as sent. This function is
// the leaf protocol: packages that execute a plan differ only in how they evaluate the formulas of a leaf. It works on
// levels, not on edges, so that nothing is lost when changes coincide. The status is the leaf's current one.
//
//	condition: its truth, when it differs
//	action:    its request, when it differs
//	           while it is Activating or Running, its outcome, when there is one that differs
//	           that the running procedure is complete
func (k *Known) AppendInputs(
	in []bt.Input, t bt.Task, condition bool, status bt.Status, holds func(Criterion) bool,
) []bt.Input {
	if condition {
		if k.Judge(holds) {
			in = append(in, bt.Set(t, k.Value))
		}
		return in
	}
	if v := Verdict(holds, FailureIf, SuccessIf); v != k.Request {
		k.Request = v
		in = append(in, bt.Request(t, v))
	}
	if status == bt.Activating || status == bt.Running {
		if v := Verdict(holds, Failed, Done); v != bt.Accept && v != k.Outcome {
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

// Judge updates a condition's truth and reports whether it changed.
func (k *Known) Judge(holds func(Criterion) bool) bool {
	before := k.Value
	k.Value = Latch(before, holds) && !k.Spent
	k.Spent = k.Spent && holds(On)
	return k.Value != before
}

// Spend records that the engine has ended the truth of a condition that lasts until a task has ended: it becomes true
// again when On begins to hold again.
func (k *Known) Spend() { k.Value, k.Spent = false, true }

// Latch returns the new truth of a condition from its previous one: with hysteresis it has memory.
func Latch(before bool, holds func(Criterion) bool) bool { return holds(On) || before && !holds(Off) }

// Verdict is failure if the first formula holds, else success if the second does, else neither.
func Verdict(holds func(Criterion) bool, failure, success Criterion) bt.Status {
	switch {
	case holds(failure):
		return bt.Failure
	case holds(success):
		return bt.Success
	}
	return bt.Accept
}

// Start records that the engine has started the entry or the exit procedure of an action, and whether that takes time.
func (k *Known) Start(exit, slow bool) {
	k.Procedure, k.Outcome = None, bt.Accept
	switch {
	case slow && exit:
		k.Procedure = Exiting
	case slow:
		k.Procedure = Entering
	}
}
