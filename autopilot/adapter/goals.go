package adapter

import (
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// attempt is the state of one goal.
type attempt struct {
	phase  phase
	intent []int // the revisions of the slots that were last acted on; none: it was not acted on
	ticket service.Ticket
	sent   service.Clock // when the last command or parameter was given to its service
	vain   int           // accepted commands without effect, and repairs, of this intent
	base   float64       // what its goal measures before the command
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

// settled reports whether a goal has been done, and needs no more.
func (p phase) settled() bool { return p == proved || p == done }

// serve compares the wanted state with the vehicle and commands where they differ.
func (a *Adapter) serve() {
	a.keepFence()
	for i := range a.firmware.goals {
		if a.state == Ready { // a goal may find that someone else commands the vehicle
			a.attempt(&a.firmware.goals[i], &a.attempts[i])
		}
	}
}

// attempt advances one goal.
func (a *Adapter) attempt(g *goal, t *attempt) {
	if !g.wanted(a) {
		a.forget(t)
		t.intent = nil
		return
	}
	if intent := a.intent(g); !slices.Equal(t.intent, intent) {
		a.forget(t)
		t.vain, t.second, t.intent = 0, false, intent
	}
	if t.phase == asked && a.withholds(g) && a.withheld() != "" {
		a.forget(t)
	}
	shown := g.holds(a, t)
	if shown == yes && !t.phase.settled() {
		a.forget(t)
		t.phase = proved
		a.report(Proved, g, g.name)
	}
	young := a.young(g, t)
	switch t.phase {
	case idle:
		a.begin(g, t, shown)
	case asked:
		if shown == no && young && t.ticket != 0 && a.commands.Observe(a.now, t.ticket, false) {
			t.sent = a.now
		}
	case accepted:
		if a.passed(t.sent, g.within) && (shown == unknown || young) {
			a.retry(g, t, "was accepted and had no effect")
		}
	case resting:
		if g.once && shown == unknown {
			a.refuse(g, t, unclear)
		} else if a.passed(t.sent, rest) {
			a.begin(g, t, shown)
		}
	case proved:
		if shown == no {
			a.unproved(g, t)
		}
	case refused:
		if t.reason != "" && a.unfit(g) == "" {
			a.forget(t)
			a.due = a.now.Wall
		}
	}
}

// young reports whether what telemetry shows of a goal is younger than the effect of its last command.
func (a *Adapter) young(g *goal, t *attempt) bool {
	at := a.groups[g.by].at
	return t.sent == (service.Clock{}) || at.Wall-t.sent.Wall > settle ||
		t.sent.Vehicle != 0 && at.Vehicle-t.sent.Vehicle > settle
}

// begin sends the command of a goal, if nothing stands against it.
func (a *Adapter) begin(g *goal, t *attempt, shown verdict) {
	if why := a.unfit(g); why != "" {
		a.refuse(g, t, why)
		t.reason = why // until the values are others
		return
	}
	for i := range a.firmware.goals {
		other := &a.firmware.goals[i]
		if slices.Contains(g.needs, other.name) && other.wanted(a) && !a.attempts[i].phase.settled() && !a.disarms(g) {
			t.phase = idle
			return
		}
	}
	why := ""
	if a.withholds(g) {
		why = a.withheld()
	}
	if why == "" && shown == unknown && !g.blind {
		why = "telemetry does not show the present state"
	}
	if g.once && t.vain > 0 && shown == unknown && a.passed(t.sent, awaited) {
		a.refuse(g, t, unclear)
		return
	}
	if why == "" && g.repeat == service.Guarded && (!a.young(g, t) || g.once && t.vain > 0 && shown == unknown) {
		why = "telemetry does not show yet what became of the last command"
	}
	if why == "" && g.wait != nil {
		why = g.wait(a)
	}
	if why != "" {
		if t.phase = idle; t.reason != why {
			t.reason = why
			a.report(Waiting, g, g.name+": "+why)
		}
		return
	}
	if g.once {
		t.vain++
	}
	if t.base = 0; g.base != nil {
		t.base = g.base(a)
	}
	t.sent, t.reason, t.phase = a.now, "", asked
	if g.name == "arm" && a.options.Unfenced && !a.disarms(g) {
		if why := a.unfenced(); why != "" {
			a.find(true, "fence: the vehicle is armed without it, as --without-fence allows: "+why)
		}
	}
	if g.write != nil {
		name, value := g.write(a)
		a.report(Commanded, g, fmt.Sprintf("%s: %s = %v", g.name, name, value))
		if err := a.parameters.Write(a.now, name, value); err != nil {
			a.refuse(g, t, err.Error())
		}
		return
	}
	command := g.command
	if t.second {
		command = g.instead
	}
	order := command(a)
	order.Repeat = g.repeat
	if t.ticket, why = a.send(order); why != "" {
		a.refuse(g, t, why)
		return
	}
	a.report(Commanded, g, fmt.Sprintf("%s: command %d %v", g.name, order.ID, order.Params))
}

// answers takes what became of commands and parameters: their results, or that nobody answered.
func (a *Adapter) answers() {
	for _, r := range a.commands.Replies() {
		a.attachment.answered = a.attachment.answered || r.Answer != service.Silent
		if at := &a.attachment; at.enabling != 0 && r.Ticket == at.enabling {
			at.enabling, at.answer = 0, r.Answer.String()
		}
		for i := range a.attempts {
			if t := &a.attempts[i]; t.phase == asked && t.ticket == r.Ticket {
				t.ticket = 0
				a.reply(&a.firmware.goals[i], t, r)
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
		if s.Knowledge == service.Found || s.Knowledge == service.Different {
			a.facts.parameters[s.Name] = s.Value
		}
		for i := range a.attempts {
			g, t := &a.firmware.goals[i], &a.attempts[i]
			if g.write == nil || t.phase != asked {
				continue
			}
			if name, _ := g.write(a); name == s.Name {
				a.written(g, t, s)
			}
		}
	}
}

// written takes what became of the parameter of a goal.
func (a *Adapter) written(g *goal, t *attempt, s service.Setting) {
	t.sent = a.now
	switch s.Knowledge {
	case service.Found, service.Different:
		t.phase = accepted
	case service.Refused:
		a.refuse(g, t, "the vehicle refuses a change of "+s.Name)
	case service.Missing:
		a.retry(g, t, "the vehicle does not answer about "+s.Name)
	case service.Unanswered:
		t.phase = resting
	}
}

// reply takes what became of a command. An acknowledgement that refuses may belong to an earlier command of the same
// number, to which no acknowledgement arrived: then the command is sent again.
func (a *Adapter) reply(g *goal, t *attempt, r service.Reply) {
	doubt := t.doubt
	t.doubt = r.Answer == service.Silent
	switch {
	case r.Answer == service.Accepted, r.Answer == service.Happened:
		t.phase, t.sent = accepted, a.now
	case r.Answer == service.Silent:
		if t.phase = resting; !t.mute {
			t.mute = true
			a.report(Waiting, g, fmt.Sprintf("%s: command %d was sent %d times, and nobody acknowledges it", g.name, r.ID,
				r.Tries))
		}
	case doubt:
		t.phase = idle
	case g.instead != nil && !t.second:
		t.second, t.phase = true, idle
		a.report(Waiting, g, fmt.Sprintf("%s: command %s%s: another one is tried", g.name, r.Answer, a.reason()))
	default:
		a.watch.denied, a.watch.deniedSlot = a.now, a.contract.Slot(g.slots[0])
		a.refuse(g, t, fmt.Sprintf("%s%s%s", g.neither, r.Answer, a.reason()))
	}
}

// retry sends again what had no effect, a few times.
func (a *Adapter) retry(g *goal, t *attempt, why string) {
	if t.vain++; t.vain >= maximum || g.once {
		a.refuse(g, t, why)
		return
	}
	t.phase = idle
}

// refuse leaves a goal until its intent changes.
func (a *Adapter) refuse(g *goal, t *attempt, why string) {
	a.forget(t)
	t.phase = refused
	a.report(Refused, g, g.name+": "+why)
}

// unproved treats that telemetry no longer shows what it has shown.
func (a *Adapter) unproved(g *goal, t *attempt) {
	switch g.lost {
	case repaired:
		t.phase = idle
		if t.vain++; t.vain > maximum {
			a.yield(StationTook, "it changes again and again: "+g.name)
		}
	case left:
		t.phase = done
		a.report(Waiting, g, g.name+": it no longer holds, and is not commanded again")
	case settled: // what telemetry shows of it varies
	}
}

// forget drops what is under way for a goal.
func (a *Adapter) forget(t *attempt) {
	if t.ticket != 0 {
		a.commands.Cancel(t.ticket)
	}
	*t = attempt{intent: t.intent, sent: t.sent, vain: t.vain, second: t.second, doubt: t.doubt || t.phase == asked}
}

// intent returns the revisions of the slots that a goal depends on.
func (a *Adapter) intent(g *goal) []int {
	list := make([]int, len(g.slots))
	for i, s := range g.slots {
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

// proven reports whether a goal of the firmware has been done.
func (a *Adapter) proven(name string) bool {
	i := a.goal(name)
	return i >= 0 && a.attempts[i].phase.settled()
}

// goal returns the place of a goal of the firmware, -1 if it has none with this name.
func (a *Adapter) goal(name string) int {
	if a.firmware == nil {
		return -1
	}
	return slices.IndexFunc(a.firmware.goals, func(g goal) bool { return g.name == name })
}

// refused reports whether the autopilot refuses a part of the wanted state.
func (a *Adapter) refused() bool {
	return slices.ContainsFunc(a.attempts, func(t attempt) bool { return t.phase == refused }) ||
		slices.ContainsFunc(a.untaken, func(slot int) bool { return a.want[slot] != a.contract.Slots[slot].Default })
}

// Shows reports whether telemetry shows all that is wanted of a slot, and may be believed.
func (a *Adapter) Shows(slot int) bool {
	if a.firmware == nil || a.state != Ready {
		return false
	}
	for i := range a.firmware.goals {
		g, t := &a.firmware.goals[i], &a.attempts[i]
		if slices.Contains(g.slots, a.contract.Slots[slot].Name) && g.wanted(a) &&
			(!t.phase.settled() || !slices.Equal(t.intent, a.intent(g))) {
			return false
		}
	}
	return true
}
