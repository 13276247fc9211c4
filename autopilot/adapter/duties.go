package adapter

import (
	"fmt"
	"slices"

	"canopy/autopilot/service"
)

// task is the state of one duty.
type task struct {
	phase  phase
	intent []int // the revisions of the slots that were last acted on; none: it was not acted on
	ticket service.Ticket
	sent   service.Clock // when the last command or parameter was given to its service
	vain   int           // accepted commands without effect, and repairs, of this intent
	base   float64       // what its duty measures before the command
	reason string        // why it waits
	mute   bool          // nobody has answered since the intent, which was told
	doubt  bool          // an acknowledgement may belong to an earlier command
	second bool          // the vehicle refused the command: the other one is sent
}

type phase uint8

const (
	idle     phase = iota
	asked          // a command is under way
	accepted       // it was acknowledged, which proves nothing
	resting        // nobody answered
	proved
	refused // until the intent changes
	done    // it was proved, is no longer so, and is not done again
)

const (
	rest    = 5 * second  // after a command that nobody answered
	awaited = 20 * second // after a command that is sent once, until something shows whether it was done
	unclear = "nothing shows whether it was done"

	settle  = second // telemetry that is younger than a command by this shows whether it had an effect
	maximum = 3      // accepted commands without effect, or repairs, of one intent
)

// settled reports whether a duty has been done, and needs no more.
func (p phase) settled() bool { return p == proved || p == done }

// serve compares the wanted state with the vehicle and commands where they differ.
func (a *Adapter) serve() {
	a.keepFence()
	for i := range a.firmware.duties {
		if a.state == Ready { // a duty may find that someone else commands the vehicle
			a.task(&a.firmware.duties[i], &a.tasks[i])
		}
	}
}

// task advances one duty.
func (a *Adapter) task(d *duty, t *task) {
	if !d.wanted(a) {
		a.forget(t)
		t.intent = nil
		return
	}
	if a.changedIntent(d, t) {
		a.forget(t)
		t.vain, t.second, t.intent = 0, false, a.intent(d)
	}
	if t.phase == asked && a.withholds(d) && a.withheld() != "" {
		a.forget(t)
	}
	shown := d.holds(a, t)
	if shown == yes && !t.phase.settled() {
		a.forget(t)
		t.phase = proved
		a.report(Proved, d, d.name)
	}
	young := a.young(d, t)
	switch t.phase {
	case idle:
		a.begin(d, t, shown)
	case asked:
		if shown == no && young && t.ticket != 0 && a.commands.Observe(a.now, t.ticket, false) {
			t.sent = a.now
		}
	case accepted:
		if a.passed(t.sent, d.within) && (shown == unknown || young) {
			a.retry(d, t, "was accepted and had no effect")
		}
	case resting:
		if d.once && shown == unknown {
			a.refuse(d, t, unclear)
		} else if a.passed(t.sent, rest) {
			a.begin(d, t, shown)
		}
	case proved:
		if shown == no {
			a.unproved(d, t)
		}
	case refused:
		if t.reason != "" && a.unfit(d) == "" {
			a.forget(t)
			a.due = a.now.Wall
		}
	}
}

// young reports whether what telemetry shows of a duty is younger than the effect of its last command.
func (a *Adapter) young(d *duty, t *task) bool {
	at := a.groups[d.by].at
	return t.sent == (service.Clock{}) || at.Wall-t.sent.Wall > settle ||
		t.sent.Vehicle != 0 && at.Vehicle-t.sent.Vehicle > settle
}

// begin sends the command of a duty, if nothing stands against it.
func (a *Adapter) begin(d *duty, t *task, shown verdict) {
	if why := a.unfit(d); why != "" {
		a.refuse(d, t, why)
		t.reason = why // until the values are others
		return
	}
	for i := range a.firmware.duties {
		other := &a.firmware.duties[i]
		if slices.Contains(d.needs, other.name) && other.wanted(a) && !a.tasks[i].phase.settled() && !a.disarms(d) {
			t.phase = idle
			return
		}
	}
	why := ""
	if a.withholds(d) {
		why = a.withheld()
	}
	if why == "" && shown == unknown && !d.blind {
		why = "telemetry does not show the present state"
	}
	if d.once && t.vain > 0 && shown == unknown && a.passed(t.sent, awaited) {
		a.refuse(d, t, unclear)
		return
	}
	if why == "" && d.repeat == service.Guarded && (!a.young(d, t) || d.once && t.vain > 0 && shown == unknown) {
		why = "telemetry does not show yet what became of the last command"
	}
	if why == "" && d.wait != nil {
		why = d.wait(a)
	}
	if why != "" {
		if t.phase = idle; t.reason != why {
			t.reason = why
			a.report(Waiting, d, d.name+": "+why)
		}
		return
	}
	if d.once {
		t.vain++
	}
	if t.base = 0; d.base != nil {
		t.base = d.base(a)
	}
	t.sent, t.reason, t.phase = a.now, "", asked
	if d.name == "arm" && a.options.Unfenced && !a.disarms(d) {
		if why := a.unfenced(); why != "" {
			a.find(true, "fence: the vehicle is armed without it, as --without-fence allows: "+why)
		}
	}
	if d.write != nil {
		name, value := d.write(a)
		a.report(Commanded, d, fmt.Sprintf("%s: %s = %v", d.name, name, value))
		if err := a.parameters.Write(a.now, name, value); err != nil {
			a.refuse(d, t, err.Error())
		}
		return
	}
	command := d.command
	if t.second {
		command = d.instead
	}
	order := command(a)
	order.Repeat = d.repeat
	if t.ticket, why = a.send(order); why != "" {
		a.refuse(d, t, why)
		return
	}
	a.report(Commanded, d, fmt.Sprintf("%s: command %d %v", d.name, order.ID, order.Params))
}

// answers takes what became of commands and parameters: their results, or that nobody answered.
func (a *Adapter) answers() {
	for _, r := range a.commands.Replies() {
		a.attachment.answered = a.attachment.answered || r.Answer != service.Silent
		if at := &a.attachment; at.enabling != 0 && r.Ticket == at.enabling {
			at.enabling, at.answer = 0, r.Answer.String()
		}
		for i := range a.tasks {
			if t := &a.tasks[i]; t.phase == asked && t.ticket == r.Ticket {
				t.ticket = 0
				a.reply(&a.firmware.duties[i], t, r)
			}
		}
	}
	for _, x := range a.transfers.Ended() {
		a.transferred(x)
	}
	if a.parameters == nil {
		return
	}
	for _, s := range a.parameters.Settings() {
		a.found(s)
		for i := range a.tasks {
			d, t := &a.firmware.duties[i], &a.tasks[i]
			if d.write == nil || t.phase != asked {
				continue
			}
			if name, _ := d.write(a); name == s.Name {
				a.written(d, t, s)
			}
		}
	}
}

// written takes what became of the parameter of a duty.
func (a *Adapter) written(d *duty, t *task, s service.Setting) {
	t.sent = a.now
	switch s.Knowledge {
	case service.Found, service.Different:
		t.phase = accepted
	case service.Refused:
		a.refuse(d, t, "the vehicle refuses a change of "+s.Name)
	case service.Missing:
		a.retry(d, t, "the vehicle does not answer about "+s.Name)
	case service.Unanswered:
		t.phase = resting
	}
}

// reply takes what became of a command. An acknowledgement that refuses may belong to an earlier command of the same
// number, to which no acknowledgement arrived: then the command is sent again.
func (a *Adapter) reply(d *duty, t *task, r service.Reply) {
	doubt := t.doubt
	t.doubt = r.Answer == service.Silent
	switch {
	case r.Answer == service.Accepted, r.Answer == service.Happened:
		t.phase, t.sent = accepted, a.now
	case r.Answer == service.Silent:
		if t.phase = resting; !t.mute {
			t.mute = true
			a.report(Waiting, d, fmt.Sprintf("%s: command %d was sent %d times, and nobody acknowledges it", d.name, r.ID,
				r.Tries))
		}
	case doubt:
		t.phase = idle
	case d.instead != nil && !t.second:
		t.second, t.phase = true, idle
		a.report(Waiting, d, fmt.Sprintf("%s: command %s%s: another one is tried", d.name, r.Answer, a.reason()))
	default:
		a.watch.denied, a.watch.deniedSlot = a.now, a.contract.Slot(d.slots[0])
		a.refuse(d, t, fmt.Sprintf("%s%s%s", d.neither, r.Answer, a.reason()))
	}
}

// retry sends again what had no effect, a few times.
func (a *Adapter) retry(d *duty, t *task, why string) {
	if t.vain++; t.vain >= maximum || d.once {
		a.refuse(d, t, why)
		return
	}
	t.phase = idle
}

// refuse leaves a duty until its intent changes.
func (a *Adapter) refuse(d *duty, t *task, why string) {
	a.forget(t)
	t.phase = refused
	a.report(Refused, d, d.name+": "+why)
}

// unproved treats that telemetry no longer shows what it has shown.
func (a *Adapter) unproved(d *duty, t *task) {
	switch d.lost {
	case repaired:
		t.phase = idle
		if t.vain++; t.vain > maximum {
			a.yield(StationTook, "it changes again and again: "+d.name)
		}
	case left:
		t.phase = done
		a.report(Waiting, d, d.name+": it no longer holds, and is not commanded again")
	case settled: // what telemetry shows of it varies
	}
}

// forget drops what is under way for a duty.
func (a *Adapter) forget(t *task) {
	if t.ticket != 0 {
		a.commands.Cancel(t.ticket)
	}
	*t = task{intent: t.intent, sent: t.sent, vain: t.vain, second: t.second, doubt: t.doubt || t.phase == asked}
}

// intent returns the revisions of the slots that a duty depends on.
func (a *Adapter) intent(d *duty) []int {
	list := make([]int, len(d.slots))
	for i, s := range d.slots {
		list[i] = a.revision(s)
	}
	return list
}

// revision returns how often the wanted value of a slot changed. What was withdrawn and is wanted again is a new
// intent.
func (a *Adapter) revision(slot string) int {
	if i := a.contract.Slot(slot); i >= 0 {
		return a.revisions[i]
	}
	return 0
}

// changedIntent reports whether something else is wanted than what a duty last acted on.
func (a *Adapter) changedIntent(d *duty, t *task) bool {
	if len(t.intent) == 0 {
		return true
	}
	for i, s := range d.slots {
		if a.revision(s) != t.intent[i] {
			return true
		}
	}
	return false
}

// wanted returns the wanted value of a slot, 0 if the contract has no such slot or nothing is wanted.
func (a *Adapter) wanted(slot string) float64 {
	if i := a.contract.Slot(slot); i >= 0 {
		return a.want[i]
	}
	return 0
}

// word returns the wanted mode, "none" if none is wanted.
func (a *Adapter) word() string {
	if a.watch.rescuing {
		return a.afterwards()
	}
	i := a.contract.Slot("wanted_mode")
	return a.contract.Slots[i].Values[int(a.want[i])]
}

// proven reports whether a duty of the firmware has been done.
func (a *Adapter) proven(name string) bool {
	i := a.duty(name)
	return i >= 0 && a.tasks[i].phase.settled()
}

// duty returns the place of a duty of the firmware, -1 if it has none with this name.
func (a *Adapter) duty(name string) int {
	if a.firmware == nil {
		return -1
	}
	return slices.IndexFunc(a.firmware.duties, func(d duty) bool { return d.name == name })
}

// refused reports whether the autopilot refuses a part of the wanted state.
func (a *Adapter) refused() bool {
	return slices.ContainsFunc(a.tasks, func(t task) bool { return t.phase == refused }) ||
		slices.ContainsFunc(a.untaken, func(slot int) bool { return a.want[slot] != a.contract.Slots[slot].Default })
}

// Shows reports whether telemetry shows all that is wanted of a slot, and may be believed.
func (a *Adapter) Shows(slot int) bool {
	if a.firmware == nil || a.state != Ready {
		return false
	}
	for i := range a.firmware.duties {
		d, t := &a.firmware.duties[i], &a.tasks[i]
		if slices.Contains(d.slots, a.contract.Slots[slot].Name) && d.wanted(a) &&
			(!t.phase.settled() || a.changedIntent(d, t)) {
			return false
		}
	}
	return true
}
