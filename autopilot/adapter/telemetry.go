package adapter

import (
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// facts is what the vehicle last reported: the last message of each group; nil before the first one and after a reboot.
type facts struct {
	heartbeat  *mav.MessageHeartbeat
	position   *mav.MessageGlobalPositionInt
	attitude   *mav.MessageAttitude
	hud        *mav.MessageVfrHud
	status     *mav.MessageSysStatus
	landed     *mav.MessageExtendedSysState
	mission    *mav.MessageMissionCurrent
	gps        *mav.MessageGpsRawInt
	battery    *mav.MessageBatteryStatus
	fence      *mav.MessageFenceStatus
	radio      *mav.MessageRcChannels
	target     *mav.MessagePositionTargetGlobalInt
	home       *mav.MessageHomePosition
	version    *mav.MessageAutopilotVersion
	plane      earth.Plane // touches the earth at home
	estimator  estimate
	servo      *mav.MessageServoOutputRaw
	relay      *mav.MessageRelayStatus
	camera     *mav.MessageCameraFeedback
	mount      *mav.MessageGimbalDeviceAttitudeStatus
	photos     int        // that were taken since the attachment
	gripper    int        // what it did last: the place among the values of the signal
	grips      int        // how often it told that
	wind       [2]float64 // towards north and east [m/s]
	parameters map[string]float64
}

// group is a kind of telemetry: the messages that carry it, how often they are requested, and the signals in them.
type group struct {
	name    string
	message uint32                               // its number; 0: heartbeats, which come by themselves
	hz      float64                              // the rate that is requested
	payload bool                                 // of the payload, which few missions use
	needed  bool                                 // without it the vehicle cannot be commanded
	set     func(f *facts, m frame.Message) bool // stores the message, if it is one of the group
	valid   func(a *Adapter) bool                // reports whether the values mean anything; nil: always
	rows    []row
}

// wishRows are the signals that depend on what is wanted: they change with the position and with the slots.
var wishRows = []row{
	{"target_distance", (*Adapter).distance, nil},
	{"reached", (*Adapter).reached, nil},
}

// ownRows are the signals that no message carries.
var ownRows = []row{
	{"link", func(a *Adapter) float64 { return boolean(a.state != Lost && a.facts.heartbeat != nil) }, nil},
	{"pilot", func(a *Adapter) float64 { return boolean(a.watch.pilot) }, nil},
	{"failsafe", func(a *Adapter) float64 { return boolean(a.watch.failsafe) }, nil},
	{"refused", func(a *Adapter) float64 { return boolean(a.refused()) }, nil},
	{"loiter_radius", (*Adapter).loiterRadius, nil},
}

// row gives one signal of the contract.
type row struct {
	signal string
	value  func(a *Adapter) float64 // NaN: unknown
	rate   func(a *Adapter) float64 // nil: the message does not carry it
}

// The places of the groups that the adapter itself reads.
const (
	groupHeartbeat = iota
	groupPosition
	groupAttitude
	groupAir
	groupStatus
	groupLanded
	groupMission
	groupEstimator
	groupGPS
	groupBattery
	groupWind
	groupFence
	groupRadio
	groupTarget
	groupHome
	groupServo
	groupRelay
	groupCamera
	groupMount
	groupCount
)

// groups is the telemetry. The rates are those of the table of streams; the sentinels those of the message definitions.
var groups = [groupCount]group{
	groupHeartbeat: {
		name: "HEARTBEAT", hz: 1,
		set: func(f *facts, m frame.Message) bool { return store(&f.heartbeat, m) },
		rows: []row{
			{"mode", (*Adapter).modeValue, nil},
			{"armed", func(a *Adapter) float64 { return boolean(a.armed()) }, nil},
		},
	},
	groupPosition: {
		name: "GLOBAL_POSITION_INT", message: 33, hz: 10, needed: true,
		set:   func(f *facts, m frame.Message) bool { return store(&f.position, m) },
		valid: (*Adapter).located,
		rows: []row{
			{"lat", func(a *Adapter) float64 { return a.place().Lat * math.Pi / 180 }, nil},
			{"lon", func(a *Adapter) float64 { return a.place().Lon * math.Pi / 180 }, nil},
			{"alt", func(a *Adapter) float64 { return float64(a.facts.position.Alt) * 1e-3 }, (*Adapter).climb},
			{"h", (*Adapter).height, (*Adapter).climb},
			{"north", func(a *Adapter) float64 { n, _ := a.local(); return n }, (*Adapter).northward},
			{"east", func(a *Adapter) float64 { _, e := a.local(); return e }, (*Adapter).eastward},
			{"v_north", (*Adapter).northward, nil},
			{"v_east", (*Adapter).eastward, nil},
			{"climb", (*Adapter).climb, nil},
			{"groundspeed", func(a *Adapter) float64 { return math.Hypot(a.northward(), a.eastward()) }, nil},
		},
	},
	groupAttitude: {
		name: "ATTITUDE", message: 30, hz: 5,
		set: func(f *facts, m frame.Message) bool { return store(&f.attitude, m) },
		rows: []row{
			{"heading", func(a *Adapter) float64 { return turn(float64(a.facts.attitude.Yaw)) }, nil},
			{"roll", func(a *Adapter) float64 { return float64(a.facts.attitude.Roll) },
				func(a *Adapter) float64 { return float64(a.facts.attitude.Rollspeed) }},
		},
	},
	groupAir: {
		name: "VFR_HUD", message: 74, hz: 5, needed: true,
		set: func(f *facts, m frame.Message) bool { return store(&f.hud, m) },
		rows: []row{
			{"airspeed", func(a *Adapter) float64 { return float64(a.facts.hud.Airspeed) }, nil},
		},
	},
	groupStatus: {
		name: "SYS_STATUS", message: 1, hz: 2, needed: true,
		set: func(f *facts, m frame.Message) bool { return store(&f.status, m) },
		rows: []row{
			{"ready", (*Adapter).armable, nil},
		},
	},
	groupLanded: {
		name: "EXTENDED_SYS_STATE", message: 245, hz: 2, needed: true,
		set: func(f *facts, m frame.Message) bool { return store(&f.landed, m) },
		rows: []row{
			{"in_air", (*Adapter).inAir, nil},
		},
	},
	groupMission: {
		name: "MISSION_CURRENT", message: 42, hz: 2,
		set: func(f *facts, m frame.Message) bool { return store(&f.mission, m) },
	},
	groupEstimator: {
		name: "EKF_STATUS_REPORT or ESTIMATOR_STATUS", message: 193, hz: 2, needed: true,
		set: func(f *facts, m frame.Message) bool {
			switch m := m.(type) {
			case *mav.MessageEkfStatusReport:
				f.estimator = estimate{flags: uint64(m.Flags), bad: ekfBad}
			case *mav.MessageEstimatorStatus:
				f.estimator = estimate{flags: uint64(m.Flags), bad: estimatorBad}
			default:
				return false
			}
			return true
		},
		rows: []row{
			{"estimator_ok", func(a *Adapter) float64 { return boolean(a.facts.estimator.position()) }, nil},
		},
	},
	groupGPS: {
		name: "GPS_RAW_INT", message: 24, hz: 2,
		set: func(f *facts, m frame.Message) bool { return store(&f.gps, m) },
		rows: []row{
			{"gps_ok", func(a *Adapter) float64 {
				return boolean(a.facts.gps.FixType >= mav.GPS_FIX_TYPE_3D_FIX)
			}, nil},
		},
	},
	groupBattery: {
		name: "BATTERY_STATUS", message: 147, hz: 1,
		set: func(f *facts, m frame.Message) bool {
			b, ok := m.(*mav.MessageBatteryStatus)
			return ok && b.Id == 0 && store(&f.battery, m)
		},
		rows: []row{
			{"battery", func(a *Adapter) float64 {
				return unless(float64(a.facts.battery.BatteryRemaining), -1) / 100
			}, nil},
			{"battery_voltage", (*Adapter).voltage, nil},
		},
	},
	groupWind: {
		name: "WIND or WIND_COV", message: 168, hz: 1,
		set: func(f *facts, m frame.Message) bool {
			switch m := m.(type) {
			case *mav.MessageWind: // the direction it comes from
				sine, cosine := math.Sincos(float64(m.Direction) * math.Pi / 180)
				f.wind = [2]float64{-float64(m.Speed) * cosine, -float64(m.Speed) * sine}
			case *mav.MessageWindCov: // the velocity of the air
				f.wind = [2]float64{float64(m.WindX), float64(m.WindY)}
			default:
				return false
			}
			return true
		},
		rows: []row{
			{"wind_north", func(a *Adapter) float64 { return a.facts.wind[0] }, nil},
			{"wind_east", func(a *Adapter) float64 { return a.facts.wind[1] }, nil},
		},
	},
	// Sent only while a fence is enabled. So silence is unknown, not inside.
	groupFence: {
		name: "FENCE_STATUS", message: 162, hz: 2,
		set: func(f *facts, m frame.Message) bool { return store(&f.fence, m) },
		rows: []row{
			{"fence_breached", func(a *Adapter) float64 { return boolean(a.facts.fence.BreachStatus != 0) }, nil},
		},
	},
	groupRadio: {
		name: "RC_CHANNELS", message: 65, hz: 5,
		set: func(f *facts, m frame.Message) bool { return store(&f.radio, m) },
	},
	groupTarget: {
		name: "POSITION_TARGET_GLOBAL_INT", message: 87, hz: 1, needed: true,
		set: func(f *facts, m frame.Message) bool { return store(&f.target, m) },
	},
	groupHome: {
		name: "HOME_POSITION", message: 242, hz: 0.2,
		set: func(f *facts, m frame.Message) bool { return store(&f.home, m) && f.settle() },
		rows: []row{
			{"home_known", func(*Adapter) float64 { return 1 }, nil},
		},
	},
	groupServo:  payloadGroups[0],
	groupRelay:  payloadGroups[1],
	groupCamera: payloadGroups[2],
	groupMount:  payloadGroups[3],
}

// store keeps a message if it has the type of the place.
func store[M any](place **M, m frame.Message) bool {
	if m, ok := m.(any).(*M); ok {
		*place = m
		return true
	}
	return false
}
