package bt

// Verdict returns the verdict of a task.
func (e *Engine) Verdict(t Task) Status { return e.task(t).Request }

// Decode returns the contents of an input.
func Decode(in Input) (t Task, verb string, value Status, entryToo, exitToo bool) {
	verb = [...]string{inputSet: "set", inputRequest: "request", inputEnd: "end", inputSlow: "slow",
		inputEntered: "entered", inputExited: "exited", inputElapsed: "elapsed",
		inputWait: "wait", inputAgain: "again"}[in.kind]
	return in.task, verb, in.value, in.slow&entry != 0, in.slow&exit != 0
}
