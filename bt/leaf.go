package bt

import (
	"fmt"
	"strings"

	"canopy/snapshot"
)

// Input is a change of one leaf's inputs. The functions that return one name the task it is meant for; an engine that
// is given an input for a task of another kind panics.
type Input struct {
	task  Task
	kind  inputKind
	value Status     // the truth value, request or outcome
	slow  procedures // the procedures that take time
}

type inputKind uint8

const (
	inputSet inputKind = iota
	inputRequest
	inputEnd
	inputSlow
	inputEntered
	inputExited
)

// procedures is a set of an action's procedures.
type procedures uint8

const (
	entry procedures = 1 << iota
	exit
)

// Task returns the leaf that an input is meant for.
func (in *Input) Task() Task { return in.task }

// Set gives a condition its truth value.
func Set(condition Task, value bool) Input {
	verdict := Failure
	if value {
		verdict = Success
	}
	return Input{task: condition, kind: inputSet, value: verdict}
}

// Request tells what an action says while it is not active: Accept asks to be activated, Success says that its goal
// holds already, Failure that it cannot run now.
func Request(action Task, request Status) Input {
	if !request.Transient() {
		panic("bt: a request is Accept, Success or Failure")
	}
	return Input{task: action, kind: inputRequest, value: request}
}

// End tells that an action has ended, with Success or Failure. It is ignored unless the action is Activating or
// Running.
func End(action Task, outcome Status) Input {
	if outcome != Success && outcome != Failure {
		panic("bt: an outcome is Success or Failure")
	}
	return Input{task: action, kind: inputEnd, value: outcome}
}

// Slow tells which procedures of an action take time from now on; they are complete by Entered and Exited only. A
// procedure that is running already is not affected.
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

// Entered tells that an action's entry procedure is complete. It is ignored if none is running.
func Entered(action Task) Input { return Input{task: action, kind: inputEntered} }

// Exited tells that an action's exit procedure is complete. It is ignored if none is running.
func Exited(action Task) Input { return Input{task: action, kind: inputExited} }

// Text returns the input as a trace script spells it for a leaf of a name.
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
	}
	panic("bt: an input that does not exist")
}

// Command tells a leaf's owner to start a procedure.
type Command struct {
	Task Task
	Exit bool // the exit procedure, else the entry procedure
}

// Told is what the inputs have told of a leaf. An engine has one for each leaf.
type Told struct {
	Request Status     // what it says while it is not active; a condition's truth value
	Outcome Status     // what it says while it is active; Accept: nothing yet
	Busy    bool       // the running procedure is not complete
	slow    procedures // those that take time
}

// NewTold returns what is told of a leaf without any input: one that is only judged is false, one that acts asks to be
// activated and has no procedures that take time.
func NewTold(kind Kind) Told {
	if kind.Acts() {
		return Told{Request: Accept, Outcome: Accept}
	}
	return Told{Request: Failure, Outcome: Accept}
}

// State passes what was told.
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

// Take takes over an input of a leaf that has a kind and a status. It reports whether that may change what the leaf
// says now.
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

// visitLeaf applies the status cycle to a leaf until it is stable. While a leaf is transient or Deactivating its
// verdict is its request, else its outcome; a condition's request is its truth value, so that it is never activated.
func (e *Engine) visitLeaf(t Task, s *task) {
	for {
		verdict := s.Outcome
		if s.status.in(transient | 1<<Deactivating) {
			verdict = s.Request
		}
		to := cycle(s.status, verdict, s.active, s.Busy)
		if to == s.status {
			return
		}
		e.step(t, s, to)
		switch to {
		case Activating:
			s.Busy = s.Slow(false)
			e.commands = append(e.commands, Command{Task: t})
		case Deactivating:
			s.Outcome = Accept // nobody hears it before the action is active again
			s.Busy = s.Slow(true)
			e.commands = append(e.commands, Command{Task: t, Exit: true})
		case Success, Failure:
			return
		}
	}
}
