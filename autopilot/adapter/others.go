package adapter

import (
	"cmp"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
)

// beacon is how programs like this one notice each other on the network of a vehicle, which does not forward
// heartbeats of equal addresses: while one commands, it sends its number to everyone.
type beacon struct {
	number int32         // of this flight: when it began [2^16 ns], modulo 2^32: 78 h; 0: it has not
	sent   service.Clock // when it was last sent; zero: never
	other  int32         // the last other number that was heard
	heard  service.Clock // when; zero: never
	told   bool          // that a later one is heard
}

const (
	beaconName = "CANOPY"
	beaconGone = 10 * second // without its number, another one commands no more
)

// begin chooses the number at the first input.
func (b *beacon) begin(now service.Clock) {
	if b.number == 0 {
		b.number = cmp.Or(int32(now.Unix>>16), 1)
	}
}

// hear takes the number of another one. An echo of our own is none.
func (a *Adapter) hear(f frame.Frame) {
	m, ok := f.Message.(*mav.MessageNamedValueInt)
	b := &a.beacon
	if !ok || m.Name != beaconName || m.Value == b.number {
		return
	}
	b.other, b.heard = m.Value, a.now
	if a.state == Ready && !a.yields() && !b.told {
		b.told = true
		a.note(Waiting, "another Canopy, which began later, commands the vehicle, too: it is to yield")
	}
}

// shared reports whether another one commands the vehicle.
func (a *Adapter) shared() bool { return a.recent(a.beacon.heard, beaconGone) }

// yields reports whether another one, which began earlier, commands the vehicle.
func (a *Adapter) yields() bool { return a.shared() && a.beacon.other-a.beacon.number < 0 }

// announce sends our number while we command the vehicle.
func (a *Adapter) announce() {
	b := &a.beacon
	if (a.state == Ready || a.state == Lost && a.watch.before == Ready) && a.passed(b.sent, second) {
		b.sent = a.now
		a.out = append(a.out, &mav.MessageNamedValueInt{TimeBootMs: uint32(a.now.Wall / millisecond),
			Name: beaconName, Value: b.number})
		a.wakeAt(a.now.Wall + second)
	}
}
