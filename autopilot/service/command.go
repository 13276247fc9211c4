package service

import (
	"math"
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Repeat is whether a command may be sent again if no acknowledgement arrives. It may have been executed.
type Repeat uint8

// The classes of commands.
const (
	Idempotent Repeat = iota // a second execution changes nothing: set a mode, a rate, a target, a speed
	Guarded                  // again only when telemetry shows that it did not happen: arm, take off, start a mission
)

// Order is a command to the vehicle.
type Order struct {
	ID     uint16 // MAV_CMD
	Repeat Repeat
	Int    bool // sent as COMMAND_INT, with Params[4] and Params[5] as latitude and longitude in degrees
	Frame  byte // MAV_FRAME, if it is sent as COMMAND_INT
	Params [7]float64
}

// Ticket identifies a command that was sent. The first is 1.
type Ticket int

// Answer is the end of a command: the vehicle's MAV_RESULT, or one of the values below.
type Answer uint8

// The answers that have a name here.
const (
	Accepted Answer = 0   // the vehicle will try: not a proof that it happens
	Silent   Answer = 255 // no acknowledgement arrived; whether it was executed is unknown
	Happened Answer = 254 // no acknowledgement arrived, but telemetry shows the effect
)

var answers = map[Answer]string{
	Accepted: "accepted", 1: "temporarily rejected", 2: "denied", 3: "unsupported", 4: "failed", 5: "in progress",
	6: "cancelled", 7: "accepted as COMMAND_LONG only", 8: "accepted as COMMAND_INT only", 9: "unsupported frame",
	10: "not in control", Happened: "no acknowledgement, but done", Silent: "no acknowledgement",
}

// String returns the answer in words.
func (a Answer) String() string {
	if s := answers[a]; s != "" {
		return s
	}
	return "refused for an unknown reason"
}

// Reply is the end of one command.
type Reply struct {
	Ticket
	ID     uint16
	Answer Answer
	Tries  int // how often it was sent
}

// Commands sends commands and waits for their acknowledgements. Acknowledgements name the command only, so that one
// command of each ID is under way at a time; others of this ID wait for its end. An acknowledgement that was repeated
// may be taken for that of the next command of this ID: only telemetry proves that a command was carried out.
type Commands struct {
	outbox
	ends    Ends
	last    Ticket
	queue   []*errand
	replies []Reply
}

// errand is a command under way.
type errand struct {
	Order
	ticket   Ticket
	tries    int
	turned   bool // sent in the other form, because the vehicle asked for that
	progress bool // the vehicle is at it: it is not sent again
	wait     timer
	limit    timer
}

// NewCommands returns a machine without commands.
func NewCommands(e Ends) *Commands { return &Commands{ends: e} }

// Send sends a command, or queues it behind an earlier one of the same ID.
func (c *Commands) Send(now Clock, o Order) Ticket {
	c.last++
	c.queue = append(c.queue, &errand{Order: o, ticket: c.last})
	c.Wake(now)
	return c.last
}

// Observe takes the evidence of telemetry about a guarded command, from a message that the vehicle sent after it would
// have executed the command: either the effect is there, which ends the command, or it is not, so that the command may
// be sent again once its acknowledgement is overdue. About other commands only an effect counts. It reports whether the
// command was sent again: older evidence is then worth nothing.
func (c *Commands) Observe(now Clock, t Ticket, happened bool) (again bool) {
	for _, e := range c.queue {
		switch {
		case e.ticket != t || e.tries == 0:
		case happened:
			c.end(e, Happened)
		case e.Repeat == Guarded && e.wait.over(now) && !e.progress:
			if e.tries == commandTries {
				c.end(e, Silent)
			} else {
				c.transmit(now, e)
				again = true
			}
		}
	}
	c.Wake(now)
	return again
}

// Cancel forgets a command. If it was sent, it may be executed all the same.
func (c *Commands) Cancel(t Ticket) {
	c.queue = slices.DeleteFunc(slices.Clone(c.queue), func(e *errand) bool { return e.ticket == t })
}

// Replies returns the commands that ended, and forgets them.
func (c *Commands) Replies() []Reply { return Taken(&c.replies) }

func (c *Commands) end(e *errand, a Answer) {
	c.replies = append(c.replies, Reply{e.ticket, e.ID, a, e.tries})
	c.queue = without(c.queue, e)
}

// Receive takes a frame.
func (c *Commands) Receive(now Clock, f frame.Frame) {
	if m, ok := f.Message.(*mav.MessageCommandAck); ok && c.ends.hears(f) {
		if e := c.first(uint16(m.Command)); e != nil && e.tries > 0 {
			c.acknowledge(now, e, m.Result)
		}
	}
	c.Wake(now)
}

// first returns the oldest command of an ID; nil: there is none.
func (c *Commands) first(id uint16) *errand {
	if i := slices.IndexFunc(c.queue, func(e *errand) bool { return e.ID == id }); i >= 0 {
		return c.queue[i]
	}
	return nil
}

// acknowledge takes the vehicle's answer. One that asks for the other form of the command means that the command was
// not executed.
func (c *Commands) acknowledge(now Clock, e *errand, result mav.MAV_RESULT) {
	asLong, asInt := result == common.MAV_RESULT_COMMAND_LONG_ONLY, result == common.MAV_RESULT_COMMAND_INT_ONLY
	switch {
	case result == mav.MAV_RESULT_IN_PROGRESS:
		if !e.progress {
			e.limit.set(now, ackLimit)
		}
		e.progress = true
		e.wait.set(now, ackProgress)
	case (asLong && e.Int || asInt && !e.Int) && !e.turned:
		e.Int, e.turned = !e.Int, true
		e.tries--
		c.transmit(now, e)
	case (asLong || asInt) && e.turned: // repeated
	default:
		c.end(e, Answer(result))
	}
}

// Wake sends what may be sent, and ends what took too long.
func (c *Commands) Wake(now Clock) {
	for i := 0; i < len(c.queue); i++ {
		e := c.queue[i]
		switch {
		case c.first(e.ID) != e:
		case e.tries == 0:
			limit := int64(ackLimit)
			if e.Repeat == Guarded {
				limit = guardedLimit
			}
			e.limit.set(now, limit)
			c.transmit(now, e)
		case e.limit.over(now),
			e.wait.over(now) && (e.progress || e.Repeat == Idempotent && e.tries == commandTries):
			c.end(e, Silent)
			i-- // the next one has its place
		case e.wait.over(now) && e.Repeat == Idempotent:
			c.transmit(now, e)
		}
	}
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (c *Commands) Due() int64 {
	due := int64(math.MaxInt64)
	for _, e := range c.queue {
		if e.tries == 0 {
			continue // another one comes first
		}
		due = min(due, e.limit.due())
		if e.Repeat != Guarded || e.progress {
			due = min(due, e.wait.due())
		}
	}
	return due
}

// transmit sends a command once more.
func (c *Commands) transmit(now Clock, e *errand) {
	e.tries++
	e.wait.set(now, [...]int64{Idempotent: ackIdempotent, Guarded: ackGuarded}[e.Repeat])
	to := c.ends.Vehicle
	var p [7]float32
	for i, v := range e.Params {
		p[i] = float32(v)
	}
	if !e.Int {
		c.send(&mav.MessageCommandLong{
			TargetSystem: to.System, TargetComponent: to.Component,
			Command: common.MAV_CMD(e.ID), Confirmation: uint8(e.tries - 1),
			Param1: p[0], Param2: p[1], Param3: p[2], Param4: p[3], Param5: p[4], Param6: p[5], Param7: p[6],
		})
		return
	}
	c.send(&mav.MessageCommandInt{
		TargetSystem: to.System, TargetComponent: to.Component,
		Frame: mav.MAV_FRAME(e.Frame), Command: common.MAV_CMD(e.ID),
		Param1: p[0], Param2: p[1], Param3: p[2], Param4: p[3],
		X: Degrees(e.Params[4]), Y: Degrees(e.Params[5]), Z: p[6],
	})
}

// Degrees returns a latitude or longitude in the unit of MAVLink's integers, 1e-7 degrees. Not a number is the largest
// integer: the vehicle's own position.
func Degrees(v float64) int32 {
	if v != v || math.Abs(v) > 180 {
		return math.MaxInt32
	}
	return int32(math.Round(v * 1e7))
}
