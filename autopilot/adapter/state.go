package adapter

import (
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// State passes the adapter's variables to the codec. An adapter is saved after Out, Samples and Events were called:
// what they return is not part of a state. It is restored into one that was made with the same arguments.
func (a *Adapter) State(k *snapshot.Codec) {
	kind := slices.Index(firmwares, a.firmware)
	snapshot.Within(k, &kind, -1, len(firmwares)-1)
	if k.Loading() {
		if a.firmware = nil; kind >= 0 {
			a.assume(firmwares[kind])
		}
	}
	snapshot.Within(k, &a.state, Attach, Lost)
	snapshot.Vars(k, &a.now, &a.due, &a.newest, &a.disarm)
	a.facts.state(k)
	for _, c := range a.channels() {
		c.state(k)
	}
	snapshot.Floats(k, a.want)
	snapshot.Each(k, a.revisions, snapshot.Int)
	snapshot.Each(k, a.attempts, func(k *snapshot.Codec, t *attempt) {
		snapshot.Within(k, &t.phase, idle, done)
		snapshot.List(k, &t.intent, snapshot.Int)
		snapshot.Vars(k, &t.ticket, &t.sent, &t.vain, &t.base, &t.reason, &t.mute, &t.doubt, &t.second)
	})
	a.attachment.state(k)
	a.watch.state(k)
	b := &a.beacon
	snapshot.Vars(k, &b.number, &b.sent, &b.other, &b.heard, &b.told)
	rates := a.streams != nil
	snapshot.Bool(k, &rates)
	if k.Loading() {
		if a.streams = nil; rates && a.firmware != nil {
			a.askRates()
		} else if rates {
			k.Fail(snapshot.ErrMismatch)
		}
	}
	for _, m := range a.machines() {
		m.State(k)
	}
}

// channels returns the channels of all signals.
func (a *Adapter) channels() []*channel {
	list := []*channel{&a.own, &a.wishes, &a.gear}
	for i := range a.groups {
		list = append(list, &a.groups[i])
	}
	return list
}

func (f *facts) state(k *snapshot.Codec) {
	snapshot.Vars(k, &f.heartbeat, &f.position, &f.attitude, &f.hud, &f.status, &f.landed, &f.mission, &f.gps, &f.battery,
		&f.fence, &f.radio, &f.target, &f.home, &f.version, &f.servo, &f.relay, &f.camera, &f.mount)
	snapshot.Vars(k, &f.photos, &f.gripper, &f.grips, &f.estimator.flags, &f.estimator.bad, &f.wind)
	if k.Loading() && f.home != nil && !k.Failed() {
		f.settle()
	}
	known := f.parameters != nil
	snapshot.Bool(k, &known)
	names := slices.Sorted(maps.Keys(f.parameters))
	snapshot.List(k, &names, snapshot.Text)
	if k.Loading() {
		if f.parameters = nil; known {
			f.parameters = map[string]float64{}
		}
	}
	for _, n := range names {
		v := f.parameters[n]
		snapshot.Float(k, &v)
		if known {
			f.parameters[n] = v
		}
	}
}

func (c *channel) state(k *snapshot.Codec) {
	snapshot.Each(k, c.last, func(k *snapshot.Codec, v *Value) { snapshot.Vars(k, v) })
	snapshot.Vars(k, &c.at, &c.t, &c.fresh, &c.broken)
}

func (t *attachment) state(k *snapshot.Codec) {
	snapshot.Within(k, &t.step, 0, len(steps))
	snapshot.Each(k, t.lists[:], func(k *snapshot.Codec, p *progress) { snapshot.Within(k, p, unread, spoilt) })
	snapshot.Vars(k, &t.begun, &t.asked, &t.enabling, &t.answer, &t.unfenced, &t.started, &t.rebooted, &t.strange,
		&t.grave, &t.signs, &t.answered, &t.watched)
}

func (w *watch) state(k *snapshot.Codec) {
	snapshot.Vars(k, &w.pilot, &w.failsafe, &w.text, &w.moved, &w.unexplained, &w.failing, &w.adrift, &w.rescuing,
		&w.warning, &w.warned, &w.channel, &w.sticks, &w.excused, &w.continued, &w.denied, &w.deniedSlot, &w.shown, &w.mode,
		&w.known, &w.armed, &w.absent, &w.newest, &w.boots, &w.jumps, &w.jumped)
	snapshot.List(k, &w.commanded, func(k *snapshot.Codec, c *commanded) { snapshot.Vars(k, &c.mode, &c.at) })
	snapshot.Within(k, &w.before, Attach, Lost)
}
