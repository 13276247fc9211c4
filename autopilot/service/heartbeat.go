package service

import (
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Link is whether the vehicle's heartbeats arrive.
type Link uint8

// The states of a link.
const (
	Unheard Link = iota // no heartbeat so far
	Up
	Lost
)

// String returns the state's name.
func (l Link) String() string { return [...]string{"unheard", "up", "lost"}[l] }

// Heartbeat sends our heartbeats and watches those of the vehicle. As it sends from the loop that decides, a loop that
// hangs is visible to others.
type Heartbeat struct {
	outbox
	ends   Ends
	kind   byte
	beat   timer
	silent timer
	heard  int64 // wall time of the last frame that shows the vehicle's time
	state  Link
}

// NewHeartbeat returns a machine that sends heartbeats of a MAV_TYPE: 18 for a computer on board, 6 for a ground
// station. The first is sent when it is woken.
func NewHeartbeat(e Ends, kind byte) *Heartbeat { return &Heartbeat{ends: e, kind: kind} }

// Link returns whether the link is up.
func (h *Heartbeat) Link() Link { return h.state }

// Receive takes a frame. A heartbeat that was overtaken or repeated proves that the link is up, too.
func (h *Heartbeat) Receive(now Clock, f frame.Frame) {
	if _, ok := f.Message.(*mav.MessageHeartbeat); ok && h.ends.from(f) {
		h.state = Up
		h.silent.set(now, beatLost)
		h.silent.floor = beatFloor
	}
	if f.Stamped && h.ends.from(f) {
		h.heard = now.Wall
	}
	h.Wake(now)
}

// Wake sends what is due, and notices that the vehicle is silent.
func (h *Heartbeat) Wake(now Clock) {
	switch over, at := h.silent.over(now), h.silent.at; {
	case over && now.Wall-h.heard < beatLost && at.Vehicle != 0 && now.Vehicle-at.Vehicle < beatLost:
		h.silent.after = now.Wall - at.Wall + beatFloor // a simulator may be slow: it is heard, and by its clock all is well
	case over:
		h.state = Lost
		h.silent.stop()
	}
	if h.beat.on && !h.beat.over(now) {
		return
	}
	h.beat.set(now, beatPeriod)
	h.send(&mav.MessageHeartbeat{
		Type:           mav.MAV_TYPE(h.kind),
		Autopilot:      mav.MAV_AUTOPILOT_INVALID,
		SystemStatus:   mav.MAV_STATE_ACTIVE,
		MavlinkVersion: 3,
	})
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (h *Heartbeat) Due() int64 {
	if !h.beat.on {
		return math.MinInt64
	}
	return min(h.beat.due(), h.silent.due())
}
