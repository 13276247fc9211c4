// Package service contains the MAVLink microservices as state machines: commands, parameters, transfers of fences
// and rally points, message rates, heartbeats, the map between clocks, and texts.
//
// Every machine is pure: it receives frames and clock readings and returns messages. The caller passes each frame to
// Receive, also those that the machine does not use, and calls Wake when Due is reached; after either, Out returns the
// messages to be sent. A machine ends every exchange: with a result, or with the reason why there is none.
package service

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Clock is one reading of all clocks, in nanoseconds.
type Clock struct {
	Wall    int64 // monotonic, since the program's start
	Unix    int64 // since 1970; may step
	Vehicle int64 // since the vehicle's boot, by the clock map; 0: unknown
}

// Address names a component on the MAVLink network.
type Address struct{ System, Component byte }

// Ends are the two ends of an exchange.
type Ends struct{ Us, Vehicle Address }

// hears reports whether a frame is from the vehicle and for us.
func (e Ends) hears(f frame.Frame) bool {
	return e.from(f) && f.For(e.Us.System, e.Us.Component)
}

// from reports whether a frame is from the vehicle.
func (e Ends) from(f frame.Frame) bool { return f.From(e.Vehicle.System, e.Vehicle.Component) }

// outbox collects the messages of a machine.
type outbox struct{ out []frame.Message }

// Out returns the messages to be sent, and forgets them.
func (o *outbox) Out() []frame.Message { return Taken(&o.out) }

func (o *outbox) send(m frame.Message) { o.out = append(o.out, m) }

// Taken returns a list, and empties it.
func Taken[T any](list *[]T) []T {
	all := *list
	*list = nil
	return all
}

// without returns a list without an element. The list itself remains as it is.
func without[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(y T) bool { return y == x })
}

// timer measures a time from a clock reading. It ends when the wall clock or the vehicle's clock has advanced by it,
// whichever is first: a simulated vehicle may run at many times real time, and a vehicle that is silent has no time. It
// does not end before the wall clock has advanced by floor.
type timer struct {
	at           Clock
	after, floor int64
	on           bool
}

func (t *timer) set(now Clock, after int64) { *t = timer{now, after, retryFloor, true} }

func (t *timer) stop() { t.on = false }

// over reports whether the timer runs and has ended.
func (t *timer) over(now Clock) bool {
	if !t.on {
		return false
	}
	wall, vehicle := now.Wall-t.at.Wall, int64(0)
	if t.at.Vehicle != 0 && now.Vehicle != 0 {
		vehicle = now.Vehicle - t.at.Vehicle
	}
	return wall >= t.after || wall >= t.floor && vehicle >= t.after
}

// due returns the reading of the wall clock at which the timer ends at the latest, or [math.MaxInt64].
func (t *timer) due() int64 {
	if !t.on {
		return math.MaxInt64
	}
	return t.at.Wall + t.after
}
