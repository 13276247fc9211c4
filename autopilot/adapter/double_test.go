package adapter_test

import (
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// double is a deliberately dumb vehicle: it answers as the facts say, and moves in straight lines at constant speeds.
type double struct {
	kind, autopilot    byte
	now, booted        int64 // wall time [ns]
	mode               uint32
	armed              bool
	status             mav.MAV_STATE
	ready              bool
	mission            mav.MISSION_STATE
	landed             mav.MAV_LANDED_STATE
	north, east, h     float64
	airspeed, speed    float64
	target             [3]float64
	sticks             [8]uint16
	parameters         map[string]float32
	intervals          map[uint32]int64
	due                map[uint32]int64
	results            map[uint16]common.MAV_RESULT // answers of commands that are not carried out
	false              bool                         // it accepts what it does not do
	out                []frame.Message
	executed           []uint16 // the commands that were carried out, in order
	guarded            []int64  // when arming was commanded
	noPosition, silent bool
	lists              [3][]*mav.MessageMissionItemInt // mission, fence, rally points
	full               bool                            // it has no space for a list
	coming             int                             // items of an upload
}

// boot is the wall time at which doubles are switched on.
const boot = 2 * sec

var origin = earth.NewPlane(earth.Position{Lat: 47, Lon: 8})

func newDouble() *double {
	return &double{
		kind: 1, autopilot: 3, booted: boot, status: mav.MAV_STATE_STANDBY, ready: true,
		landed: mav.MAV_LANDED_STATE_ON_GROUND, speed: 22,
		sticks: [8]uint16{1500, 1500, 1000, 1500, 1500, 1500, 1500, 1100},
		parameters: map[string]float32{
			"TKOFF_ALT": 50, "WP_LOITER_RAD": 60, "FLTMODE_CH": 8, "FS_GCS_ENABL": 1, "FS_LONG_ACTN": 1, "THR_FAILSAFE": 1,
			"STICK_MIXING": 0, "RTL_AUTOLAND": 1, "FLTMODE_GCSBLOCK": 0, "BATT_MONITOR": 4, "BATT_FS_LOW_ACT": 1, "BATT_LOW_VOLT": 10.5, "BATT_LOW_MAH": 0,
			"BATT_FS_CRT_ACT": 1, "FENCE_ENABLE": 1, "FENCE_TYPE": 4, "FENCE_ACTION": 1, "FENCE_ALT_MAX": 100, "ARMING_CHECK": 1, "SYSID_MYGCS": 255,
		},
		intervals: map[uint32]int64{0: sec}, due: map[uint32]int64{}, results: map[uint16]common.MAV_RESULT{},
	}
}

// reboot switches the vehicle off and on.
func (d *double) reboot() {
	n := newDouble()
	n.now, n.booted, n.kind, n.autopilot, n.lists = d.now, d.now-4*sec, d.kind, d.autopilot, d.lists
	*d = *n
}

func (d *double) bootMs() uint32 { return uint32((d.now - d.booted) / ms) }

func (d *double) send(m frame.Message) { d.out = append(d.out, m) }

func (d *double) setMode(mode uint32) {
	if d.mode != mode {
		d.mode = mode
		d.due[0] = d.now
	}
}

// step lets time pass to a reading of the wall clock.
func (d *double) step(now int64) {
	dt := float64(now-d.now) / sec
	d.now = now
	if d.armed && (d.mode == 13 || d.landed == mav.MAV_LANDED_STATE_IN_AIR) {
		height, north, east := d.h, d.north, d.east
		switch d.mode {
		case 13:
			height = float64(d.parameters["TKOFF_ALT"])
		case 15:
			north, east, height = d.target[0], d.target[1], d.target[2]
		case 11:
			north, east, height = 0, 0, 100
		}
		d.h = towards(d.h, height, 5*dt)
		d.north, d.east = towards(d.north, north, 20*dt), towards(d.east, east, 20*dt)
		d.airspeed = towards(d.airspeed, d.speed, 3*dt)
		if d.h > 2 {
			d.landed = mav.MAV_LANDED_STATE_IN_AIR
		}
	}
	if d.silent {
		return
	}
	for _, id := range order {
		if every := d.intervals[id]; every > 0 && now >= d.due[id] {
			d.due[id] = now + every
			if m := d.message(id); m != nil {
				d.send(m)
			}
		}
	}
}

// order is that of the messages of one instant.
var order = []uint32{0, 1, 2, 24, 30, 33, 42, 65, 74, 87, 147, 162, 168, 193, 230, 231, 242, 245}

func towards(v, target, step float64) float64 {
	return v + max(-step, min(step, target-v))
}

// message returns the present content of a message.
func (d *double) message(id uint32) frame.Message {
	at := origin.Global(d.north, d.east)
	switch id {
	case 0:
		base := mav.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
		if d.armed {
			base |= mav.MAV_MODE_FLAG_SAFETY_ARMED
		}
		return &mav.MessageHeartbeat{Type: mav.MAV_TYPE(d.kind), BaseMode: base,
			Autopilot: mav.MAV_AUTOPILOT(d.autopilot), CustomMode: d.mode, SystemStatus: d.status}
	case 1:
		m := &mav.MessageSysStatus{OnboardControlSensorsPresent: 1 << 28}
		if d.parameters["FENCE_ENABLE"] != 0 {
			m.OnboardControlSensorsEnabled = 1 << 20
		}
		if d.ready {
			m.OnboardControlSensorsHealth = 1 << 28
		}
		return m
	case 2:
		return &mav.MessageSystemTime{TimeBootMs: d.bootMs()}
	case 24:
		return &mav.MessageGpsRawInt{FixType: 3}
	case 30:
		return &mav.MessageAttitude{TimeBootMs: d.bootMs()}
	case 33:
		return &mav.MessageGlobalPositionInt{TimeBootMs: d.bootMs(), Lat: service.Degrees(at.Lat),
			Lon: service.Degrees(at.Lon), Alt: int32((500 + d.h) * 1000), RelativeAlt: int32(d.h * 1000)}
	case 42:
		return &mav.MessageMissionCurrent{MissionState: d.mission}
	case 65:
		return &mav.MessageRcChannels{TimeBootMs: d.bootMs(), Chancount: 8, Chan1Raw: d.sticks[0],
			Chan2Raw: d.sticks[1], Chan3Raw: d.sticks[2], Chan4Raw: d.sticks[3], Chan5Raw: d.sticks[4],
			Chan6Raw: d.sticks[5], Chan7Raw: d.sticks[6], Chan8Raw: d.sticks[7]}
	case 74:
		return &mav.MessageVfrHud{Airspeed: float32(d.airspeed)}
	case 87:
		t := origin.Global(d.target[0], d.target[1])
		return &mav.MessagePositionTargetGlobalInt{TimeBootMs: d.bootMs(), LatInt: service.Degrees(t.Lat),
			LonInt: service.Degrees(t.Lon), Alt: float32(500 + d.target[2])}
	case 147:
		return &mav.MessageBatteryStatus{BatteryRemaining: 90, Voltages: cells(12_000, math.MaxUint16)}
	case 162:
		if d.parameters["FENCE_ENABLE"] == 0 {
			return nil // silence while the fence is off
		}
		return &mav.MessageFenceStatus{}
	case 168:
		return &mav.MessageWind{}
	case 193:
		if d.noPosition {
			return &mav.MessageEkfStatusReport{Flags: noPosition}
		}
		return good
	case 230:
		return &mav.MessageEstimatorStatus{Flags: 831}
	case 231:
		return &mav.MessageWindCov{}
	case 242:
		return home
	case 245:
		return &mav.MessageExtendedSysState{LandedState: d.landed}
	}
	return nil
}

// receive takes a message, and answers it.
func (d *double) receive(m frame.Message) {
	if d.silent {
		return
	}
	switch m := m.(type) {
	case *mav.MessageCommandLong:
		d.command(uint16(m.Command), [7]float64{float64(m.Param1), float64(m.Param2), float64(m.Param3), float64(m.Param4),
			float64(m.Param5), float64(m.Param6), float64(m.Param7)})
	case *mav.MessageCommandInt:
		d.command(uint16(m.Command), [7]float64{float64(m.Param1), float64(m.Param2), float64(m.Param3), float64(m.Param4),
			float64(m.X) * 1e-7, float64(m.Y) * 1e-7, float64(m.Z)})
	case *mav.MessageMissionRequestList:
		d.send(&mav.MessageMissionCount{TargetSystem: 1, TargetComponent: 191, Count: uint16(len(d.lists[m.MissionType])),
			MissionType: m.MissionType})
	case *mav.MessageMissionRequestInt:
		x := *d.lists[m.MissionType][m.Seq]
		x.TargetComponent = 191
		d.send(&x)
	case *mav.MessageMissionCount:
		if d.full {
			d.list(m.MissionType, mav.MAV_MISSION_NO_SPACE)
			return
		}
		d.lists[m.MissionType], d.coming = nil, int(m.Count)
		d.ask(m.MissionType)
	case *mav.MessageMissionItemInt:
		d.lists[m.MissionType] = append(d.lists[m.MissionType], m)
		d.ask(m.MissionType)
	case *mav.MessageParamRequestRead:
		d.parameter(m.ParamId)
	case *mav.MessageParamSet:
		if _, ok := d.parameters[m.ParamId]; ok {
			d.parameters[m.ParamId] = m.ParamValue
		}
		d.parameter(m.ParamId)
	}
}

// ask asks for the next item of an upload, or acknowledges it.
func (d *double) ask(l mav.MAV_MISSION_TYPE) {
	n := len(d.lists[l])
	if n == d.coming {
		d.list(l, mav.MAV_MISSION_ACCEPTED)
		return
	}
	d.send(&mav.MessageMissionRequestInt{TargetSystem: 1, TargetComponent: 191, Seq: uint16(n), MissionType: l})
}

// list ends an upload.
func (d *double) list(l mav.MAV_MISSION_TYPE, r mav.MAV_MISSION_RESULT) {
	d.send(&mav.MessageMissionAck{TargetSystem: 1, TargetComponent: 191, Type: r, MissionType: l})
}

// parameter sends a parameter; an unknown name is not answered.
func (d *double) parameter(name string) {
	if v, ok := d.parameters[name]; ok {
		d.send(&mav.MessageParamValue{ParamId: name, ParamValue: v, ParamType: 9})
	}
}

// command carries out a command.
func (d *double) command(id uint16, p [7]float64) {
	result, refused := d.results[id]
	if !refused && !d.false {
		result = d.execute(id, p)
	}
	d.send(&mav.MessageCommandAck{Command: common.MAV_CMD(id), Result: result, TargetSystem: 1, TargetComponent: 191})
}

func (d *double) execute(id uint16, p [7]float64) common.MAV_RESULT {
	switch id {
	case 511:
		d.intervals[uint32(p[0])] = int64(p[1]) * 1000
		return 0
	case 512:
		if uint32(p[0]) == 148 {
			d.send(&mav.MessageAutopilotVersion{FlightSwVersion: 0x04070000})
		} else {
			d.send(d.message(uint32(p[0])))
		}
		return 0
	case 22:
		if !d.armed {
			return mav.MAV_RESULT_FAILED
		}
		d.landed, d.h = mav.MAV_LANDED_STATE_IN_AIR, p[6]
	case 176:
		mode := uint32(p[1])
		if d.autopilot == 12 {
			mode = mode<<16 | uint32(p[2])<<24
		}
		d.setMode(mode)
	case 207:
		d.parameters["FENCE_ENABLE"] = float32(p[0])
	case 400:
		d.guarded = append(d.guarded, d.now)
		if p[0] == 0 && d.landed != mav.MAV_LANDED_STATE_ON_GROUND || p[0] == 1 && !d.ready {
			return mav.MAV_RESULT_FAILED
		}
		d.armed = p[0] == 1
	case 192:
		if d.kind == 1 && d.autopilot == 3 {
			d.setMode(15)
		}
		d.target[0], d.target[1] = origin.Local(earth.Position{Lat: p[4], Lon: p[5]})
		d.target[2] = p[6]
		if d.autopilot == 12 {
			d.target[2] -= 500 // above mean sea level
		}
	case 43000, 178:
		if d.mode != 15 && d.kind == 1 && d.autopilot == 3 {
			return mav.MAV_RESULT_FAILED
		}
		d.speed = p[1]
	default:
		return mav.MAV_RESULT_UNSUPPORTED
	}
	d.executed = append(d.executed, id)
	return 0
}
