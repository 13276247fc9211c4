package fake

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// message is a row of the table of messages that can be requested.
type message struct {
	id    uint32
	group byte                           // of the older requests for data streams, MAV_DATA_STREAM
	only  mav.MAV_AUTOPILOT              // the autopilots that have it; 0: all
	of    func(*Autopilot) frame.Message // nil: there is nothing to send now
}

// stream is how often a message is sent.
type stream struct {
	interval int64 // 0: not at all
	due      int64
}

// fastest is the shortest interval that is accepted: 0.8 of the rate of the loop.
const (
	fastest = 25 * millisecond
	slowest = 60 * second
)

// messages is the table.
var messages = append([]message{
	{1, 2, 0, (*Autopilot).sysStatus},
	{2, 12, 0, func(v *Autopilot) frame.Message {
		m := &mav.MessageSystemTime{TimeBootMs: v.milliseconds()}
		if v.guard.fixed(v) {
			m.TimeUnixUsec = uint64(v.options.Unix+v.now+v.stepped) / 1000
		}
		return m
	}},
	{24, 2, 0, (*Autopilot).gps},
	{30, 10, 0, func(v *Autopilot) frame.Message {
		b := v.shown
		return &mav.MessageAttitude{TimeBootMs: v.milliseconds(), Roll: float32(b.bank),
			Pitch: float32(math.Atan2(b.climb, max(b.speed, 5))), Yaw: float32(math.Remainder(b.heading, 2*math.Pi))}
	}},
	{33, 6, 0, (*Autopilot).position},
	{42, 2, 0, (*Autopilot).missionCurrent},
	{62, 12, 0, (*Autopilot).controller},
	{65, 3, 0, (*Autopilot).radio},
	{74, 11, 0, func(v *Autopilot) frame.Message {
		b := v.shown
		m := &mav.MessageVfrHud{Airspeed: float32(b.speed),
			Groundspeed: float32(math.Hypot(b.vn, b.ve)), Heading: int16(b.heading * 180 / math.Pi),
			Alt: float32(b.h + v.options.Altitude), Climb: float32(b.climb)}
		if v.armed {
			m.Throttle = uint16(max(0, min(100, 50+8*b.climb)))
		}
		return m
	}},
	{87, 6, 0, (*Autopilot).aim},
	{147, 12, 0, func(v *Autopilot) frame.Message {
		m := &mav.MessageBatteryStatus{Temperature: math.MaxInt16, TimeRemaining: 0,
			CurrentBattery: int16(100 * v.current()), EnergyConsumed: -1, CurrentConsumed: int32(3300 * (1 - v.charge)),
			BatteryRemaining: int8(100 * v.charge), Voltages: [10]uint16{uint16(1000 * v.voltage())}}
		for i := 1; i < len(m.Voltages); i++ {
			m.Voltages[i] = math.MaxUint16
		}
		m.ChargeState = mav.MAV_BATTERY_CHARGE_STATE(v.guard.charge + 1)
		return m
	}},
	{148, 0, 0, func(v *Autopilot) frame.Message {
		return &mav.MessageAutopilotVersion{Capabilities: mav.MAV_PROTOCOL_CAPABILITY(v.firmware.capabilities),
			FlightSwVersion: v.firmware.version, FlightCustomVersion: [8]uint8{'f', 'a', 'k', 'e'},
			Uid: uint64(v.options.System)}
	}},
	{162, 12, 3, func(v *Autopilot) frame.Message {
		if !v.guard.fenced {
			return nil // silence while the fence is off
		}
		m := &mav.MessageFenceStatus{BreachCount: uint16(v.guard.breaches)}
		if v.guard.breach != 0 {
			m.BreachStatus, m.BreachType = 1, mav.FENCE_BREACH(v.guard.breach)
			m.BreachTime = uint32((v.guard.breached - v.booted + v.stepped) / millisecond)
		}
		return m
	}},
	{168, 12, 3, func(v *Autopilot) frame.Message {
		from := math.Atan2(-v.wind[1], -v.wind[0]) * 180 / math.Pi
		return &mav.MessageWind{Direction: float32(math.Mod(from+360, 360)), Speed: float32(math.Hypot(v.wind[0], v.wind[1]))}
	}},
	{193, 12, 3, (*Autopilot).estimator},
	{105, 0, 12, func(v *Autopilot) frame.Message {
		b := v.shown
		return &mav.MessageHighresImu{TimeUsec: uint64(v.clock() / 1000), Zacc: -gravity,
			AbsPressure: float32(1013.25 - 0.12*(b.h+v.options.Altitude)),
			PressureAlt: float32(b.h + v.options.Altitude), Temperature: 25, FieldsUpdated: 0x1FFF}
	}},
	{230, 0, 12, func(v *Autopilot) frame.Message {
		m := &mav.MessageEstimatorStatus{TimeUsec: uint64(v.clock() / 1000)}
		e := v.estimator().(*mav.MessageEkfStatusReport)
		m.Flags = mav.ESTIMATOR_STATUS_FLAGS(e.Flags &^ 1024) // a glitch here, not initialised there
		return m
	}},
	{231, 0, 12, func(v *Autopilot) frame.Message { // the velocity of the air
		return &mav.MessageWindCov{TimeUsec: uint64(v.clock() / 1000), WindX: float32(v.wind[0]),
			WindY: float32(v.wind[1]), VarHoriz: 0.1, WindAlt: float32(v.shown.h + v.options.Altitude)}
	}},
	{242, 0, 0, func(v *Autopilot) frame.Message {
		if !v.homed {
			return nil
		}
		p, h := v.global(v.home)
		m := &mav.MessageHomePosition{Latitude: e7(p.Lat), Longitude: e7(p.Lon), Altitude: int32(h * 1000), Q: [4]float32{1}}
		if v.now < v.guard.origin {
			none := float32(math.NaN())
			m.X, m.Y, m.Z = none, none, none
		}
		return m
	}},
	{245, 2, 0, func(v *Autopilot) frame.Message {
		return &mav.MessageExtendedSysState{LandedState: v.landed()}
	}},
}, payloadMessages...)

func e7(degrees float64) int32 { return int32(math.Round(degrees * 1e7)) }

// row returns the place of a message in the table, or -1 if the firmware has none.
func (v *Autopilot) row(id uint32) int {
	return slices.IndexFunc(messages, func(m message) bool {
		return m.id == id && (m.only == 0 || m.only == v.firmware.autopilot)
	})
}

// usual returns how often a message is sent that nobody asked for.
func (v *Autopilot) usual(id uint32) stream {
	if hz := v.firmware.unasked[id]; hz > 0 {
		return stream{int64(float64(second) / hz), v.now}
	}
	return stream{}
}

// sendMessage sends a message of the table now; it reports whether there was anything to send.
func (v *Autopilot) sendMessage(id uint32) bool {
	i := v.row(id)
	if i < 0 {
		return false
	}
	m := messages[i].of(v)
	if m != nil {
		v.send(m)
	}
	return m != nil
}

// sendStreams sends what is due.
func (v *Autopilot) sendStreams() {
	if v.now >= v.beat {
		v.beat += second
		v.heartbeat()
	}
	if v.now >= v.synced {
		v.synced += 10 * second
		v.send(&mav.MessageTimesync{Ts1: v.clock()})
	}
	for c := range v.channels {
		for i := range v.channels[c].streams {
			s := &v.channels[c].streams[i]
			if s.interval == 0 || v.now < s.due {
				continue
			}
			s.due = max(s.due+s.interval, v.now-s.interval)
			if m := messages[i].of(v); m != nil {
				v.channels[c].send(m)
			}
		}
	}
}

// orderStream treats SET_MESSAGE_INTERVAL.
func (v *Autopilot) orderStream(o order) result {
	i := v.row(uint32(o.params[0]))
	interval := int64(o.params[1]) * 1000 / millisecond * millisecond
	switch strict := v.firmware.strict; {
	case !strict && (i < 0 || slices.Contains(v.firmware.fixed, messages[i].id)):
		return failed
	case strict && (i < 0 || o.params[2] != 0 || interval > 0 && interval < fastest):
		return denied
	case o.params[1] < 0:
		v.channels[v.heard].streams[i] = stream{}
		return accepted
	case o.params[1] == 0: // the default
		v.channels[v.heard].streams[i] = v.usual(messages[i].id)
		return accepted
	}
	v.channels[v.heard].streams[i] = stream{max(fastest, min(interval, slowest)), v.now}
	return accepted
}

// orderMessage treats REQUEST_MESSAGE.
func (v *Autopilot) orderMessage(o order) result {
	switch {
	case v.sendMessage(uint32(o.params[0])):
		return accepted
	case v.firmware.strict:
		return failed
	}
	return denied
}

// dataStream treats the older request for a group of messages; group 0 is all.
func (v *Autopilot) dataStream(group byte, hz uint16, on bool) {
	for i := range v.channels[v.heard].streams {
		if v.row(messages[i].id) != i {
			continue
		}
		if g := messages[i].group; g == 0 || group != 0 && g != group {
			continue
		}
		v.channels[v.heard].streams[i] = stream{}
		if on && hz > 0 {
			v.channels[v.heard].streams[i] = stream{max(second/int64(hz), fastest), v.now}
		}
	}
}

// position is GLOBAL_POSITION_INT. It has no flag of validity: some firmwares go on with the last values without an
// estimate.
func (v *Autopilot) position() frame.Message {
	m := &mav.MessageGlobalPositionInt{TimeBootMs: v.milliseconds(), Hdg: uint16(v.shown.heading * 18000 / math.Pi)}
	if !v.firmware.stale && !v.guard.positioned(v) {
		return nil
	}
	if !v.homed {
		return m
	}
	b := v.shown
	p, h := v.global(b.place)
	m.Lat, m.Lon, m.Alt = e7(p.Lat), e7(p.Lon), int32(math.Round(h*1000))
	m.RelativeAlt = int32(math.Round((b.h - v.home.h) * 1000))
	m.Vx, m.Vy, m.Vz = cm(b.vn), cm(b.ve), cm(-b.climb)
	return m
}

func cm(x float64) int16 { return int16(math.Round(x * 100)) }

// gps is GPS_RAW_INT.
func (v *Autopilot) gps() frame.Message {
	m := &mav.MessageGpsRawInt{TimeUsec: uint64(v.clock() / 1000), FixType: mav.GPS_FIX_TYPE_NO_FIX,
		Eph: math.MaxUint16, Epv: math.MaxUint16, Vel: math.MaxUint16, Cog: math.MaxUint16}
	if !v.guard.fixed(v) {
		return m
	}
	p, h := v.global(v.body.place)
	m.FixType, m.Lat, m.Lon, m.Alt = mav.GPS_FIX_TYPE_3D_FIX, e7(p.Lat), e7(p.Lon), int32(h*1000)
	m.Eph, m.Epv, m.SatellitesVisible, m.HAcc, m.VAcc = 121, 200, 10, 300, 300
	m.Vel = uint16(cm(math.Hypot(v.body.vn, v.body.ve)))
	return m
}

// sysStatus is SYS_STATUS.
func (v *Autopilot) sysStatus() frame.Message {
	const (
		gps       = 1 << 5
		rc        = 1 << 16
		fence     = 1 << 20
		ahrs      = 1 << 21
		battery   = 1 << 25
		prearm    = 1 << 28
		equipment = gps | rc | fence | ahrs | battery | prearm
	)
	health := uint32(rc | battery)
	for _, part := range []struct {
		bit     uint32
		healthy bool
	}{
		{gps, v.guard.fixed(v)}, {fence, v.guard.breach == 0}, {ahrs, v.guard.positioned(v)},
		{prearm, v.armed || len(v.guard.reasons(v)) == 0},
	} {
		if part.healthy {
			health |= part.bit
		}
	}
	enabled := uint32(equipment)
	if !v.guard.fenced {
		enabled &^= fence
	}
	return &mav.MessageSysStatus{
		OnboardControlSensorsPresent: mav.MAV_SYS_STATUS_SENSOR(equipment),
		OnboardControlSensorsEnabled: mav.MAV_SYS_STATUS_SENSOR(enabled),
		OnboardControlSensorsHealth:  mav.MAV_SYS_STATUS_SENSOR(health),
		VoltageBattery:               uint16(1000 * v.voltage()),
		CurrentBattery:               int16(100 * v.current()),
		BatteryRemaining:             int8(100 * v.charge),
	}
}

func (v *Autopilot) voltage() float64 { return 10.2 + 2.4*v.charge }

func (v *Autopilot) current() float64 {
	if v.armed && v.body.flying {
		return 6
	}
	return 0.3
}

// landed is the estimate of the landed state, which takes seconds to follow.
func (v *Autopilot) landed() mav.MAV_LANDED_STATE {
	flying := v.body.flying
	lag := v.firmware.downLag
	if flying {
		lag = v.firmware.landedLag
	}
	if v.now-v.body.since < lag && v.body.since > v.booted {
		flying = !flying
	}
	switch {
	case !flying:
		return mav.MAV_LANDED_STATE_ON_GROUND
	case v.guidance.climbing:
		return mav.MAV_LANDED_STATE_TAKEOFF
	case v.route.landing, v.mode.conduct == lands, v.firmware.landsOff > 0 && v.mode.conduct == returns && v.overHome():
		return mav.MAV_LANDED_STATE_LANDING
	}
	return mav.MAV_LANDED_STATE_IN_AIR
}

// estimator is EKF_STATUS_REPORT.
func (v *Autopilot) estimator() frame.Message {
	const (
		attitude, constant, uninitialised = 1, 128, 1024
		position                          = 2 | 4 | 8 | 16 | 32 | 512
	)
	m := &mav.MessageEkfStatusReport{Flags: uninitialised}
	switch {
	case v.guard.positioned(v):
		m.Flags = attitude | position
	case v.now >= v.guard.home-2*second:
		m.Flags = attitude | constant
		m.VelocityVariance, m.PosHorizVariance = 1, 1
	}
	return m
}

// radio is RC_CHANNELS.
func (v *Autopilot) radio() frame.Message {
	m := &mav.MessageRcChannels{TimeBootMs: v.milliseconds(), Chancount: 16, Rssi: math.MaxUint8,
		Chan1Raw: 1500, Chan2Raw: 1500, Chan3Raw: uint16(v.pilot.lift()), Chan4Raw: 1500,
		Chan5Raw: 1800, Chan6Raw: 1000, Chan7Raw: 1000, Chan8Raw: 1800}
	if v.trouble.silent != 0 {
		return &mav.MessageRcChannels{TimeBootMs: v.milliseconds()}
	}
	if v.now < v.pilot.sticks {
		m.Chan1Raw = 1900
	}
	if v.pilot.moved {
		m.Chan8Raw = 1200
	}
	return m
}

// controller is NAV_CONTROLLER_OUTPUT.
func (v *Autopilot) controller() frame.Message {
	b, t := v.shown, v.guidance.target
	bearing := math.Atan2(t.e-b.e, t.n-b.n) * 180 / math.Pi
	return &mav.MessageNavControllerOutput{NavRoll: float32(b.bank * 180 / math.Pi),
		NavBearing: int16(bearing), TargetBearing: int16(bearing),
		WpDist: uint16(min(math.MaxUint16, b.distance(t))), AltError: float32(t.h - b.h)}
}

// aim is POSITION_TARGET_GLOBAL_INT: where the autopilot believes that it is to fly.
func (v *Autopilot) aim() frame.Message {
	if v.mode.conduct == sticks || !v.firmware.strict && !v.armed {
		return nil
	}
	p, h := v.global(v.guidance.target)
	kind := mav.MAV_FRAME_GLOBAL
	if !v.firmware.strict {
		kind = mav.MAV_FRAME_GLOBAL_INT
	}
	return &mav.MessagePositionTargetGlobalInt{TimeBootMs: v.milliseconds(),
		CoordinateFrame: kind, TypeMask: 0xFFF8,
		LatInt: e7(p.Lat), LonInt: e7(p.Lon), Alt: float32(h)}
}

// missionCurrent is MISSION_CURRENT.
func (v *Autopilot) missionCurrent() frame.Message {
	n := len(v.memory.mission())
	m := &mav.MessageMissionCurrent{Seq: uint16(v.route.current), Total: uint16(max(0, n-v.least()+1))}
	switch {
	case n < v.least():
		m.MissionState = 1
	case v.route.complete:
		m.MissionState = 5
	case v.mode.conduct == follows && v.armed:
		m.MissionState = 3
	case v.route.started:
		m.MissionState = 4
	default:
		m.MissionState = 2
	}
	if v.mode.conduct == follows {
		m.MissionMode = 1
	}
	return m
}
