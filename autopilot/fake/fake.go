// Package fake is an autopilot for tests and demonstrations: a vehicle with first-order flight that answers MAVLink as
// measurements on a simulated ArduPlane, the sources of ArduPilot, and documentation and sources of PX4 have shown,
// with their traps. It has its own clock and contains no socket: the same calls give the same datagrams.
//
// What it does not imitate: attitude dynamics, sensors and their noise, terrain, quadplanes, the pilot's flying.
package fake

import (
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/vehicle/earth"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// Times in nanoseconds.
const (
	millisecond int64 = 1_000_000
	second            = 1000 * millisecond

	period     = 20 * millisecond // of the vehicle's loop: an ArduPlane has 50 Hz
	silentBoot = 4 * second       // from power-on to the first heartbeat; measured
)

// Options describes a vehicle. The zero Options are an ArduPlane on an airfield without wind.
type Options struct {
	Firmware Firmware
	System   byte           // of the vehicle; 0: 1
	Channels int            // to which it is connected; 0: 1
	Home     earth.Position // where it is switched on; zero: Oberpfaffenhofen
	Altitude float64        // of that place [m above mean sea level]
	Wind     [2]float64     // blowing to the north and to the east [m/s]
	Seed     uint64         // lets the estimator begin up to 9 s later; 0: as measured
	Unix     int64          // time at power-on, nanoseconds since 1970
	Observe  func(Received) // is called for each command that the vehicle has executed or refused; nil: nobody observes
}

// Received is a command that reached the vehicle.
type Received struct {
	T                 int64 // [Autopilot.Now]
	System, Component byte  // who sent it
	ID                uint16
	Params            [7]float64 // latitude and longitude in degrees at 4 and 5, whatever message contained the command
	Result            byte       // MAV_RESULT
	Mode              uint32     // the vehicle's mode before
	Armed, Flying     bool       // before
}

// Autopilot is an autopilot, and its vehicle.
type Autopilot struct {
	options  Options
	firmware *firmware
	ground   earth.Plane // round the place of power-on
	channels []channel
	heard    int // the channel of the message that is treated

	now    int64 // since power-on
	loop   int64 // time of the next turn of the loop
	wind   [2]float64
	body   body
	charge float64 // of the battery, 0 to 1

	memory  memory // what a reboot keeps
	trouble trouble
	state   // what a reboot clears
}

// channel is a connection of the autopilot. Rates of messages are its own; everything else is sent to all channels.
type channel struct {
	reader  frame.Reader
	writer  frame.Writer
	streams []stream
	out     [][]byte
}

// state is what the autopilot keeps in memory. A reboot clears it; parameters, mission, fence and rally points stay.
type state struct {
	booted   int64 // time of the boot
	stepped  int64 // what was added to the clock since
	beat     int64 // time of the next heartbeat
	synced   int64 // time of the next request for the others' time
	mode     *mode
	armed    bool
	home     place
	homed    bool // home is known
	shown    body // as the estimator gives it
	pilot    pilot
	guidance guidance
	route    route
	guard    guard
	texts    texts
	transfer transfer
	echoes   []int // parameters whose values are to be sent
	payload  payload
	listing  int // next parameter of the list that is being sent; beyond the last: none
}

// New returns a vehicle on the ground, switched on.
func New(o Options) *Autopilot {
	if o.System == 0 {
		o.System = 1
	}
	if o.Home == (earth.Position{}) {
		o.Home, o.Altitude = earth.Position{Lat: 48.0814, Lon: 11.2831}, 590
	}
	v := &Autopilot{options: o, firmware: o.Firmware.row(), ground: earth.NewPlane(o.Home), wind: o.Wind, charge: 1,
		channels: make([]channel, max(1, o.Channels))}
	v.memory.names = map[string]int{}
	for i, p := range v.firmware.parameters {
		v.memory.names[p.name] = i
		v.memory.values = append(v.memory.values, p.value)
	}
	v.set(v.firmware.names.system, float64(v.options.System))
	v.boot()
	return v
}

// boot starts the autopilot. The vehicle goes on with its motion.
func (v *Autopilot) boot() {
	v.state = state{
		booted:  v.now,
		beat:    v.now + silentBoot,
		synced:  v.now + silentBoot + 10*second,
		mode:    &v.firmware.modes[0],
		listing: len(v.memory.values),
	}
	for c := range v.channels {
		k := &v.channels[c]
		k.writer = frame.Writer{System: v.options.System, Component: autopilot}
		k.streams = make([]stream, len(messages))
		for i := range k.streams {
			if v.row(messages[i].id) == i {
				k.streams[i] = v.usual(messages[i].id)
			}
		}
	}
	v.guard.boot(v.firmware, v.options.Seed, v.now)
	v.hold()
}

// Now returns the time since power-on [ns]. Unlike the vehicle's own clock it never jumps.
func (v *Autopilot) Now() int64 { return v.now }

// clock returns the time since boot as the autopilot believes [ns].
func (v *Autopilot) clock() int64 { return v.now - v.booted + v.stepped }

// milliseconds returns it as messages contain it.
func (v *Autopilot) milliseconds() uint32 { return uint32(v.clock() / millisecond) }

// Step lets time pass [ns].
func (v *Autopilot) Step(dt int64) {
	end := v.now + dt
	for v.loop <= end {
		v.now = v.loop
		v.loop += period
		v.turn()
	}
	v.now = end
}

// turn is one turn of the autopilot's loop.
func (v *Autopilot) turn() {
	v.move(float64(period) / float64(second))
	if v.now-v.booted < silentBoot {
		return
	}
	if v.guard.positioned(v) {
		v.shown = v.body
	}
	v.carry(float64(period) / float64(second))
	v.protect()
	v.transferTimes()
	v.sendTexts()
	v.sendParameters()
	v.sendStreams()
}

// Out returns the datagrams that the vehicle has sent since the last call, each with one frame, to its first channel.
func (v *Autopilot) Out() [][]byte { return v.OutOn(0) }

// OutOn returns those to a channel.
func (v *Autopilot) OutOn(channel int) [][]byte {
	k := &v.channels[channel]
	out := k.out
	k.out = nil
	return out
}

// send sends a message to all channels.
func (v *Autopilot) send(m frame.Message) {
	for c := range v.channels {
		v.channels[c].send(m)
	}
}

func (k *channel) send(m frame.Message) {
	raw, err := k.writer.Write(m, 0)
	if err != nil {
		panic("fake: a message outside the dialect")
	}
	k.out = append(k.out, raw)
}

// Receive gives the vehicle a datagram of its first channel.
func (v *Autopilot) Receive(datagram []byte) { v.ReceiveOn(0, datagram) }

// ReceiveOn gives the vehicle a datagram of a channel.
func (v *Autopilot) ReceiveOn(channel int, datagram []byte) {
	v.heard = channel
	for _, f := range v.channels[channel].reader.Read(datagram) {
		if v.now-v.booted < silentBoot || f.From(v.options.System, autopilot) || !f.For(v.options.System, autopilot) {
			continue // an autopilot takes frames with its own address for its echo
		}
		v.forward(channel, f)
		v.receive(f)
	}
}

// forward sends a message to everyone on to the other channels. Heartbeats only tell who is where.
func (v *Autopilot) forward(from int, f frame.Frame) {
	if _, beat := f.Message.(*mav.MessageHeartbeat); beat || f.TargetSystem != 0 {
		return
	}
	for c := range v.channels {
		if k := &v.channels[c]; c != from {
			k.out = append(k.out, slices.Clone(f.Raw))
		}
	}
}

// degrees returns a coordinate of a command; the largest number is none.
func degrees(e7 int32) float64 {
	if e7 == math.MaxInt32 {
		return math.NaN()
	}
	return float64(e7) / 1e7
}

// autopilot is the component of autopilots.
const autopilot = 1

// receive treats a message that is addressed to the vehicle.
func (v *Autopilot) receive(f frame.Frame) {
	switch m := f.Message.(type) {
	case *mav.MessageHeartbeat:
		if g := &v.guard; v.firmware.station.watched(v, f) {
			g.station = v.now
			if g.stationLost {
				g.stationLost = false
				v.say(mav.MAV_SEVERITY_WARNING, "%s", v.firmware.station.back)
			}
		}
	case *mav.MessageCommandInt:
		v.command(f, order{id: m.Command, whole: true, frame: m.Frame, params: [7]float64{
			float64(m.Param1), float64(m.Param2), float64(m.Param3), float64(m.Param4),
			degrees(m.X), degrees(m.Y), float64(m.Z)}})
	case *mav.MessageCommandLong:
		v.command(f, order{id: m.Command, params: [7]float64{
			float64(m.Param1), float64(m.Param2), float64(m.Param3), float64(m.Param4),
			float64(m.Param5), float64(m.Param6), float64(m.Param7)}})
	case *mav.MessageSetMode:
		v.setMode(m.CustomMode, byCommand)
	case *mav.MessageTimesync:
		if m.Tc1 == 0 {
			v.send(&mav.MessageTimesync{Tc1: v.clock(), Ts1: m.Ts1})
		}
	case *mav.MessageRequestDataStream:
		v.dataStream(byte(m.ReqStreamId), m.ReqMessageRate, m.StartStop != 0)
	case *mav.MessageParamSet:
		v.setParameter(m)
	case *mav.MessageParamRequestRead:
		v.readParameter(m)
	case *mav.MessageParamRequestList:
		v.listing = 0
	default:
		v.transferMessage(f)
	}
}

// heartbeat sends one. It is also sent when the mode changes.
func (v *Autopilot) heartbeat() {
	base := mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
	if v.armed {
		base |= mav.MAV_MODE_FLAG_SAFETY_ARMED
	}
	switch v.mode.conduct {
	case guided:
		base |= mav.MAV_MODE_FLAG_GUIDED_ENABLED | mav.MAV_MODE_FLAG_STABILIZE_ENABLED
	case sticks:
		base |= mav.MAV_MODE_FLAG_MANUAL_INPUT_ENABLED
	default:
		base |= mav.MAV_MODE_FLAG_AUTO_ENABLED | mav.MAV_MODE_FLAG_STABILIZE_ENABLED
	}
	v.send(&mav.MessageHeartbeat{
		Type: v.firmware.kind, Autopilot: v.firmware.autopilot,
		BaseMode: base, CustomMode: v.mode.number, SystemStatus: v.status(), MavlinkVersion: 3,
	})
}

// status is the state of the system in heartbeats.
func (v *Autopilot) status() mav.MAV_STATE {
	switch {
	case v.guard.acting(v):
		return mav.MAV_STATE_CRITICAL
	case v.body.flying:
		return mav.MAV_STATE_ACTIVE
	case v.now < v.guard.home:
		return mav.MAV_STATE_CALIBRATING
	}
	return mav.MAV_STATE_STANDBY
}

// global converts a place to latitude and longitude [deg] and altitude above mean sea level [m].
func (v *Autopilot) global(p place) (earth.Position, float64) {
	return v.ground.Global(p.n, p.e), p.h + v.options.Altitude
}

// local converts a position, and its height in a frame of MAVLink; false: no position on earth, or an unknown frame.
func (v *Autopilot) local(lat, lon, z float64, coordinates mav.MAV_FRAME) (place, bool) {
	var p place
	if !(math.Abs(lat) <= 90 && math.Abs(lon) <= 180) || math.IsNaN(z) || math.Abs(z) > 1e5 {
		return p, false
	}
	p.n, p.e = v.ground.Local(earth.Position{Lat: lat, Lon: lon})
	switch coordinates {
	case mav.MAV_FRAME_GLOBAL_RELATIVE_ALT, mav.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT:
		p.h = z + v.home.h
	case mav.MAV_FRAME_GLOBAL, mav.MAV_FRAME_GLOBAL_INT:
		p.h = z - v.options.Altitude
	case mav.MAV_FRAME_GLOBAL_TERRAIN_ALT, mav.MAV_FRAME_GLOBAL_TERRAIN_ALT_INT: // the ground is flat
		p.h = z
	default:
		return p, false
	}
	return p, true
}

// say sends a text.
func (v *Autopilot) say(severity mav.MAV_SEVERITY, format string, a ...any) {
	v.texts.add(v.now, severity, fmt.Sprintf(format, a...))
}
