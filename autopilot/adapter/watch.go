package adapter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/service"
)

// watch is what the adapter remembers to notice that someone else commands the vehicle.
type watch struct {
	pilot, failsafe bool          // the latched signals
	commanded       []commanded   // modes that we commanded, oldest first
	text            service.Clock // when the autopilot last reported a failsafe; zero: never
	moved           service.Clock // when the pilot last moved the mode switch; zero: never
	unexplained     service.Clock // when the mode changed for an unknown reason; zero: it did not
	failing         string        // the text of the failsafe that has not ended; "": none
	adrift          service.Clock // when a failsafe took the vehicle and left it in our mode; zero: it did not
	rescuing        bool          // which is then commanded to go on in another one
	warning         string        // the autopilot's last warning
	warned          service.Clock // when it arrived; zero: never
	channel         uint16        // the position of the mode switch [µs]; 0: unknown
	sticks          [3]uint16     // the sticks when the vehicle was given to us [µs]; 0: unknown
	excused         bool          // the operator resumed although the autopilot is in a critical state
	continued       service.Clock // when the autopilot last reported a failsafe in which its mode continues; zero: never
	denied          service.Clock // when the autopilot last refused a command; zero: never
	deniedSlot      int           // and the slot concerned
	shown           int           // the revision of the wanted mode that the vehicle was last in
	mode            uint32        // the mode of the last heartbeat, while the link is lost the one before
	known           bool          // there was a heartbeat since the boot
	armed           bool          // in the last heartbeat
	absent          service.Clock // when the link came back; zero: never
	before          State         // while the link is lost: the state before
	newest          int64         // while the link is lost: the newest stamp before
	boots, jumps    int
	jumped          int64 // the time that the vehicle's clock jumped over so far [ns]
}

type commanded struct {
	mode uint32
	at   service.Clock
}

// remember keeps a mode that is commanded now, and the few before.
func (w *watch) remember(mode uint32, now service.Clock) {
	w.commanded = append(w.commanded[max(0, len(w.commanded)-4):], commanded{mode, now})
}

const (
	near     = 2 * second  // a text, or a move of the switch, explains a change of mode that is as near as this
	ours     = 10 * second // a mode that we commanded may appear this much later
	switched = 100         // the mode switch was moved [µs]
	deadband = 150         // a stick was moved [µs]

	naming     = second / 2 // the text of a failsafe follows the change of the mode
	reasonNear = second     // a warning explains a refusal that is as near as this
)

// guard notices everything that takes the command of the vehicle away.
func (a *Adapter) guard() {
	w := &a.watch
	if boots := a.clock.Boots(); boots != w.boots {
		w.boots = boots
		a.reboot()
	}
	if n, by := a.clock.Jumps(); n != w.jumps {
		a.note(Jumped, fmt.Sprintf("the vehicle's clock went forward by %.1f s more than time did: this does not count",
			float64(by-w.jumped)/second))
		w.jumps, w.jumped = n, by
	}
	switch link := a.heartbeat.Link(); {
	case link == service.Lost && a.state != Lost:
		w.before, w.newest = a.state, a.newest
		a.enter(Lost, LinkLost, "no heartbeat arrives")
	case link == service.Up && a.state == Lost &&
		(w.before == Attach || a.newest > w.newest): // nothing is known yet, or the same clock: it did not reboot
		a.state, w.absent = w.before, a.now
		a.note(LinkBack, "heartbeats arrive again")
		a.again()
	}
	if a.facts.heartbeat == nil || a.firmware == nil {
		return
	}
	if armed := a.armed(); armed != w.armed {
		if w.armed = armed; armed {
			a.askHome() // an autopilot may move home when it is armed
		}
	}
	if a.state != Lost {
		a.follow()
	}
	w.excused = (w.excused || a.recent(w.continued, near)) && a.critical()
	if !a.critical() && !a.recent(w.text, near) {
		w.failing = "" // the text that says so may be lost
	}
	switch {
	case w.unexplained != (service.Clock{}):
		a.explain()
	case a.state == Ready && a.yields():
		a.yield(StationTook, "another Canopy, which began earlier, commands the vehicle")
	case a.state != Ready || !a.armed():
	case a.critical() && !w.excused:
		a.yield(FailsafeTook, "the autopilot is in a critical state"+a.culprit())
	case a.recent(w.text, near):
		a.yield(FailsafeTook, "the autopilot reports a failsafe"+a.culprit())
	case a.inAir() != 0 && a.steered():
		a.yield(PilotTook, "the pilot moves the sticks")
	}
}

// follow compares the mode with that before. On the ground, the mode of a failsafe takes nothing away: it delays.
func (a *Adapter) follow() {
	w, mode := &a.watch, a.facts.heartbeat.CustomMode
	n, ok := a.firmware.number(a.word())
	ours := ok && n == mode
	if ours && !w.rescuing {
		w.shown = a.revision("wanted_mode")
	}
	before := w.mode
	strange := w.known && mode != before && a.state == Ready &&
		(a.armed() || !a.critical() || a.recent(w.moved, near))
	if mode != before && !(w.rescuing && ours) {
		a.settle()
	}
	w.mode, w.known = mode, true
	if strange && a.strange(before, mode) {
		w.unexplained = a.now
		a.enter(Taken, ModeChanged, fmt.Sprintf("from %s to %s; %s is wanted",
			a.firmware.word(before, ""), a.firmware.word(mode, ""), a.word()))
	}
}

// strange reports whether a change of the mode is none that the autopilot makes by itself, and the mode is neither the
// wanted one nor one that we commanded a short time ago, whose command may have been under way.
func (a *Adapter) strange(before, mode uint32) bool {
	word := a.word()
	if word == none || a.shows(word) || slices.Contains(a.firmware.natural, [2]uint32{before, mode}) {
		return false
	}
	return !slices.ContainsFunc(a.watch.commanded, func(c commanded) bool {
		return c.mode == mode && !a.passed(c.at, ours)
	})
}

// explain finds the reason of a strange mode. If there is none, it is attributed to a pilot.
func (a *Adapter) explain() {
	w := &a.watch
	switch {
	case a.follows(a.word()): // the end of the mission arrived after the mode
		w.unexplained = service.Clock{}
		a.enter(Ready, ModeChanged, a.firmware.word(a.facts.heartbeat.CustomMode, "")+" is what follows "+a.word())
	case a.recent(w.text, near), a.critical(),
		a.fresh(groupFence) && a.facts.fence.BreachStatus != 0:
		if name := a.culprit(); name != "" || a.passed(w.unexplained, naming) {
			a.yield(FailsafeTook, "a failsafe of the autopilot changed the mode"+name)
		}
	case a.recent(w.moved, near):
		a.yield(PilotTook, "the pilot changed the mode")
	case a.recent(w.absent, near):
		a.yield(FailsafeTook, "the mode changed while the link was lost")
	case a.passed(w.unexplained, near):
		a.yield(PilotTook, "a pilot or another station changed the mode")
	}
}

// culprit returns the text of the failsafe that has not ended, or the warning that came just now; "" if there is none.
func (a *Adapter) culprit() string {
	w := &a.watch
	switch {
	case w.failing != "":
		return ": " + w.failing
	case a.recent(w.warned, near):
		return ": " + w.warning
	}
	return ""
}

// yield latches that someone else commands the vehicle.
func (a *Adapter) yield(k Kind, why string) {
	w := &a.watch
	w.unexplained = service.Clock{}
	w.pilot, w.failsafe = w.pilot || k != FailsafeTook, w.failsafe || k == FailsafeTook
	if n, ok := a.firmware.number(a.word()); k == FailsafeTook && ok && n == w.mode {
		w.adrift = a.now
	}
	a.enter(Taken, k, why)
}

// enter changes the state, and drops what is under way. What has been done is not done again afterwards.
func (a *Adapter) enter(s State, k Kind, why string) {
	a.state = s
	for i := range a.attempts {
		t := &a.attempts[i]
		finished := a.firmware.goals[i].lost == left && t.phase.settled()
		if a.forget(t); finished {
			t.phase = done
		}
	}
	a.note(k, why)
}

// reboot forgets the vehicle, and attaches it anew.
func (a *Adapter) reboot() {
	attached := a.state != Attach && (a.state != Lost || a.watch.before != Attach)
	a.enter(Attach, Rebooted, "the vehicle rebooted")
	a.facts, a.newest = facts{photos: a.facts.photos}, 0
	for i := range a.groups {
		c := &a.groups[i]
		c.t, c.fresh = a.now.Vehicle, false
		a.emit(c, false)
		c.broken = true
	}
	a.commands, a.streams = service.NewCommands(a.options.Ends), nil
	a.transfers = service.NewTransfers(a.options.Ends)
	if a.firmware != nil {
		a.parameters = service.NewParameters(a.options.Ends, a.firmware.encoding)
	}
	a.watch = watch{boots: a.watch.boots, jumps: a.watch.jumps}
	a.own.t, a.wishes.t, a.gear.t = 0, 0, 0
	a.attachment = attachment{rebooted: attached || a.attachment.rebooted}
}

// Resume gives the vehicle to the adapter, by the operator's order, if it is attached and the link is up.
func (a *Adapter) Resume(now service.Clock) {
	now.Vehicle = a.clock.Vehicle(now.Wall)
	a.now = now
	if a.state != Observing && a.state != Taken {
		return
	}
	w := &a.watch
	a.settle()
	w.pilot, w.failsafe, w.excused = false, false, a.armed()
	w.text, w.moved, w.unexplained, w.sticks = service.Clock{}, service.Clock{}, service.Clock{}, [3]uint16{}
	a.enter(Ready, Resumed, "by the operator")
	a.due = math.MinInt64
}

// MayExplain begins the text of a [Refused] event that gives the likely reason of the refusal before.
const MayExplain = "the reason may be: "

// heed takes a text of the autopilot. A text is no proof; it explains a refusal or a change of mode that is near.
func (a *Adapter) heed(x service.Notice) {
	w := &a.watch
	a.note(Text, x.Text)
	for i, t := range gripperTexts {
		if t != "" && strings.HasPrefix(x.Text, t) {
			a.facts.gripper, a.facts.grips = i, a.facts.grips+1
		}
	}
	lower := strings.ToLower(x.Text)
	switch ended := strings.HasSuffix(lower, " off") || strings.Contains(lower, "clear"); {
	case !strings.Contains(lower, "failsafe"), strings.Contains(lower, "arm: "), strings.Contains(lower, "preflight"):
		// it is none, or a check that fails because of one
	case strings.Contains(lower, "continuing"): // the autopilot is critical, and goes on as it was told
		w.continued = a.now
	case ended:
		w.failing = ""
	default:
		w.text, w.failing = a.now, x.Text
	}
	if x.Severity > byte(mav.MAV_SEVERITY_WARNING) && !strings.HasPrefix(x.Text, "ServoRelayEvent") {
		return
	}
	w.warning, w.warned = x.Text, a.now
	if a.recent(w.denied, reasonNear) {
		a.events = append(a.events, Event{Kind: Refused, Slot: w.deniedSlot, Text: MayExplain + x.Text})
	}
}

// reason returns the warning that came just before a refusal.
func (a *Adapter) reason() string {
	if a.recent(a.watch.warned, reasonNear) {
		return ": " + a.watch.warning
	}
	return ""
}

// listen takes the positions of the pilot's sticks and of the mode switch.
func (a *Adapter) listen() {
	r, w := a.facts.radio, &a.watch
	if a.firmware == nil { // a vehicle that sends already, before its first heartbeat
		return
	}
	all := [...]uint16{r.Chan1Raw, r.Chan2Raw, r.Chan3Raw, r.Chan4Raw, r.Chan5Raw, r.Chan6Raw, r.Chan7Raw, r.Chan8Raw,
		r.Chan9Raw, r.Chan10Raw, r.Chan11Raw, r.Chan12Raw, r.Chan13Raw, r.Chan14Raw, r.Chan15Raw, r.Chan16Raw}
	if n, ok := a.facts.parameters[a.firmware.switched]; ok && n >= 1 && int(n) <= len(all) {
		if at := all[int(n)-1]; plausible(at) {
			if w.channel != 0 && apart(at, w.channel) > switched {
				w.moved = a.now
			}
			w.channel = at
		}
	}
	for i, c := range sticks {
		if a.state == Ready && w.sticks[i] == 0 && plausible(all[c]) {
			w.sticks[i] = all[c]
		}
	}
}

// sticks are the channels of roll, pitch and yaw.
var sticks = [...]int{0, 1, 3}

// steered reports whether a stick is off the place where it was when the vehicle was given to us.
func (a *Adapter) steered() bool {
	if !a.fresh(groupRadio) {
		return false
	}
	r := a.facts.radio
	for i, at := range [...]uint16{r.Chan1Raw, r.Chan2Raw, r.Chan4Raw} {
		if was := a.watch.sticks[i]; was != 0 && plausible(at) && apart(at, was) > deadband {
			return true
		}
	}
	return false
}

// plausible reports whether a reading is the position of a stick [µs]: without a receiver it is 0 or 65535.
func plausible(reading uint16) bool { return reading >= 800 && reading <= 2200 }

func apart(a, b uint16) uint16 { return max(a, b) - min(a, b) }
