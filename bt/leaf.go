package bt

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/snapshot"
)

// Input is a change of one leaf's inputs, that a task's timer has elapsed, or when a loop goes on. The functions that
// create one take the task it is meant for. An engine panics on an input for a task of another kind.
type Input struct {
	task  Task
	kind  inputKind
	value Status     // the truth value, request or outcome
	slow  procedures // the procedures that take time to complete
}

type inputKind uint8

const (
	inputSet inputKind = iota
	inputRequest
	inputEnd
	inputSlow
	inputEntered
	inputExited
	inputElapsed
	inputWait
	inputAgain
)

// procedures is a set of an action's procedures.
type procedures uint8

const (
	entry procedures = 1 << iota
	exit
)

// Task returns the task that the input is meant for.
func (in *Input) Task() Task { return in.task }

// Set sets a condition's truth value.
func Set(condition Task, value bool) Input {
	verdict := Failure
	if value {
		verdict = Success
	}
	return Input{task: condition, kind: inputSet, value: verdict}
}

// Request sets an action's verdict while it is not active: Accept asks to be activated, Success means that its goal
// already holds, Failure that it cannot run now.
func Request(action Task, request Status) Input {
	if request > Accept {
		panic("bt: a request is Accept, Success or Failure")
	}
	return Input{task: action, kind: inputRequest, value: request}
}

// End reports that an action has ended, with Success or Failure. It is ignored unless the action is Activating or
// Running.
func End(action Task, outcome Status) Input {
	if outcome != Success && outcome != Failure {
		panic("bt: an outcome is Success or Failure")
	}
	return Input{task: action, kind: inputEnd, value: outcome}
}

// Slow sets which procedures of an action take time from now on; only Entered and Exited complete them. A procedure
// that is already running is not affected.
func Slow(action Task, entryToo, exitToo bool) Input {
	in := Input{task: action, kind: inputSlow}
	if entryToo {
		in.slow |= entry
	}
	if exitToo {
		in.slow |= exit
	}
	return in
}

// Entered reports that an action's entry procedure is complete. It is ignored if none is running.
func Entered(action Task) Input { return Input{task: action, kind: inputEntered} }

// Exited reports that an action's exit procedure is complete. It is ignored if none is running.
func Exited(action Task) Input { return Input{task: action, kind: inputExited} }

// Elapsed reports that the timer of a task has elapsed. It is ignored if the timer does not run.
func Elapsed(task Task) Input { return Input{task: task, kind: inputElapsed} }

// Wait lets a loop that would run its child again in this instant wait with it, until Again or RunAgain.
func Wait(loop Task) Input { return Input{task: loop, kind: inputWait} }

// Again lets a loop that waits run its child again. It is ignored if the loop does not wait.
func Again(loop Task) Input { return Input{task: loop, kind: inputAgain} }

// For returns the same input for another task.
func (in Input) For(t Task) Input {
	in.task = t
	return in
}

// Elapses reports whether the input is that of a timer.
func (in *Input) Elapses() bool { return in.kind == inputElapsed }

// Text returns the input in the notation of trace scripts, for a task with the given name.
func (in Input) Text(name string) string {
	switch in.kind {
	case inputSet:
		return fmt.Sprintf("set %s %t", name, in.value == Success)
	case inputRequest:
		return "request " + name + " " + strings.ToLower(in.value.String())
	case inputEnd:
		return "end " + name + " " + strings.ToLower(in.value.String())
	case inputSlow:
		text := "slow " + name
		if in.slow&entry != 0 {
			text += " entry"
		}
		if in.slow&exit != 0 {
			text += " exit"
		}
		return text
	case inputEntered:
		return "entered " + name
	case inputExited:
		return "exited " + name
	case inputElapsed:
		return "elapsed " + name
	case inputWait:
		return "wait " + name
	case inputAgain:
		return "again " + name
	}
	panic("bt: an input that does not exist")
}

// Command requests a leaf's owner to start a procedure.
type Command struct {
	Task Task
	Exit bool // the exit procedure, else the entry procedure
}

// Told is a leaf's state as set by its inputs. An engine has one for each leaf.
type Told struct {
	Request Status     // verdict while it is not active; a condition's truth value
	Outcome Status     // verdict while it is active; Accept: undecided
	Busy    bool       // the running procedure is not complete
	slow    procedures // those that take time to complete
}

// NewTold returns the state of a leaf without any input: a condition is false; an action asks to be activated, and its
// procedures take no time.
func NewTold(kind Kind) Told {
	if kind.Acts() {
		return Told{Request: Accept, Outcome: Accept}
	}
	return Told{Request: Failure, Outcome: Accept}
}

// State passes the leaf's inputs to the codec.
func (l *Told) State(c *snapshot.Codec) {
	l.Request.State(c)
	l.Outcome.State(c)
	snapshot.Int(c, &l.slow)
	snapshot.Bool(c, &l.Busy)
}

// Slow reports whether the entry or the exit procedure takes time.
func (l *Told) Slow(exitToo bool) bool {
	if exitToo {
		return l.slow&exit != 0
	}
	return l.slow&entry != 0
}

// Take applies an input to a leaf of the given kind and status. It reports whether that may change the leaf's verdict.
func (l *Told) Take(in *Input, kind Kind, status Status) bool {
	switch {
	case in.kind == inputSet && (kind.Acts() || kind.Family() != Leaf):
		panic("bt: a truth value was set of a task that is not a condition")
	case in.kind != inputSet && !kind.Acts():
		panic("bt: an action's input was given to a task that is not an action")
	}
	switch in.kind {
	case inputSet, inputRequest:
		l.Request = in.value
	case inputEnd:
		if status != Activating && status != Running {
			return false
		}
		l.Outcome = in.value
	case inputSlow:
		l.slow = in.slow
		return false
	case inputEntered:
		if status != Activating {
			return false
		}
		l.Busy = false
	case inputExited:
		if status != Deactivating {
			return false
		}
		l.Busy = false
	}
	return true
}
