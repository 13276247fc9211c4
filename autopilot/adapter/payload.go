package adapter

import (
	"math"
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
)

// The commands of the payload: MAV_CMD.
const (
	setRelay        = 181
	setServo        = 183
	takePhoto       = 203
	pointMount      = 205
	triggerDistance = 206
	moveGripper     = 211
	startImages     = 2000
	stopImages      = 2001
)

// What shows the present payload.
const (
	pwmNear   = 0.51e-6           // [s] that an output may differ from the wanted one
	mountNear = 2 * math.Pi / 180 // [rad] likewise
	unseen    = 4 * second        // a photo that was taken is seen within this time
)

// payloadGroups is the telemetry of the payload. It is requested where the mission uses the payload. CAMERA_FEEDBACK
// repeats the last photo: only a new number in it is a photo.
var payloadGroups = [...]group{
	{name: "SERVO_OUTPUT_RAW", message: 36, hz: 5, payload: true, set: func(f *facts, m frame.Message) bool {
		s, ok := m.(*mav.MessageServoOutputRaw)
		return ok && s.Port == 0 && store(&f.servo, m)
	}},
	{name: "RELAY_STATUS", message: 376, hz: 5, payload: true,
		set: func(f *facts, m frame.Message) bool { return store(&f.relay, m) }},
	{name: "CAMERA_FEEDBACK", message: 180, hz: 2, payload: true, set: (*facts).photo},
	{name: "GIMBAL_DEVICE_ATTITUDE_STATUS", message: 285, hz: 5, payload: true,
		set: func(f *facts, m frame.Message) bool { return store(&f.mount, m) }},
}

// photo takes a CAMERA_FEEDBACK, and counts the photos since the last one.
func (f *facts) photo(m frame.Message) bool {
	last := f.camera
	c, ok := m.(*mav.MessageCameraFeedback)
	if !ok || c.CamIdx != 0 || !store(&f.camera, m) {
		return false
	}
	if last != nil {
		if news := c.ImgIdx - last.ImgIdx; news < math.MaxInt16 { // otherwise the numbers began anew
			f.photos += int(news)
		}
	}
	return true
}

// The last texts of a gripper, by their place among the values of the signal. The one of
// a mission's item is another one, and comes without a gripper.
var gripperTexts = []string{1: "Gripper load grabbed", 2: "Gripper load released"}

// payloadRows are the signals of the payload. Those about what is wanted change with the slots.
var payloadRows = []row{
	{"servo", func(a *Adapter) float64 { return a.seen("wanted_servo", groupServo, a.wanted("wanted_servo")) }, nil},
	{"pwm", func(a *Adapter) float64 { return a.seen("wanted_servo", groupServo, a.output()) }, nil},
	{"relay", func(a *Adapter) float64 { return a.seen("wanted_relay", groupRelay, a.wanted("wanted_relay")) }, nil},
	{"relay_on", func(a *Adapter) float64 { return a.seen("wanted_relay", groupRelay, boolean(a.relayOn())) }, nil},
	{"gripper", func(a *Adapter) float64 {
		if a.wanted("wanted_gripper") != 0 && !a.proven("gripper") {
			return 0
		}
		return float64(a.facts.gripper)
	}, nil},
	{"photos", func(a *Adapter) float64 { return float64(a.facts.photos) }, nil},
	{"shooting", func(a *Adapter) float64 {
		return boolean(a.shoots("photo_distance") || a.shoots("photo_interval"))
	}, nil},
	{"mount_pitch", func(a *Adapter) float64 { pitch, _ := a.pointed(); return pitch }, nil},
	{"mount_yaw", func(a *Adapter) float64 { _, yaw := a.pointed(); return yaw }, nil},
}

// seen returns a value about what a slot names: 0 while it names nothing, NaN if the telemetry about it is stale.
func (a *Adapter) seen(slot string, group int, value float64) float64 {
	switch {
	case a.wanted(slot) == 0:
		return 0
	case !a.fresh(group):
		return math.NaN()
	}
	return value
}

// output returns the pulse width [s] at the wanted servo, NaN if it is unknown.
func (a *Adapter) output() float64 {
	s, n := a.facts.servo, int(a.wanted("wanted_servo"))
	if s == nil || n < 1 || n > 16 {
		return math.NaN()
	}
	return float64([...]uint16{s.Servo1Raw, s.Servo2Raw, s.Servo3Raw, s.Servo4Raw, s.Servo5Raw, s.Servo6Raw, s.Servo7Raw,
		s.Servo8Raw, s.Servo9Raw, s.Servo10Raw, s.Servo11Raw, s.Servo12Raw, s.Servo13Raw, s.Servo14Raw, s.Servo15Raw,
		s.Servo16Raw}[n-1]) * 1e-6
}

func (a *Adapter) relayOn() bool {
	n := int(a.wanted("wanted_relay"))
	return a.facts.relay != nil && n >= 1 && a.facts.relay.On>>(n-1)&1 != 0
}

// pointed returns where the mount points [rad], the yaw from the nose; NaN if it is unknown.
func (a *Adapter) pointed() (pitch, yaw float64) {
	const locked, fromNose, fromNorth = 16, 32, 64
	m := a.facts.mount
	if m == nil || !a.fresh(groupMount) {
		return math.NaN(), math.NaN()
	}
	w, x, y, z := float64(m.Q[0]), float64(m.Q[1]), float64(m.Q[2]), float64(m.Q[3])
	pitch, yaw = math.Asin(max(-1, min(1, 2*(w*y-z*x)))), 2*math.Atan2(z, w) // without roll
	if flags := int(m.Flags); flags&fromNorth != 0 || flags&(fromNose|locked) == locked {
		if a.facts.attitude == nil {
			return pitch, math.NaN()
		}
		yaw -= float64(a.facts.attitude.Yaw)
	}
	return pitch, math.Remainder(yaw, 2*math.Pi)
}

// shoots reports whether the vehicle takes photos by itself as a slot says: once that was seen, and until it was told
// to stop.
func (a *Adapter) shoots(slot string) bool {
	return a.revision(slot) > 0 && a.proven(slot) == (a.wanted(slot) > 0)
}

// payloadGoals are those of ArduPilot. What has been done is not done again: the pilot may change it.
var payloadGoals = []goal{
	{
		name: "servo", slots: []string{"wanted_servo", "wanted_pwm"}, wanted: wants("wanted_servo"),
		holds: func(a *Adapter, _ *attempt) verdict {
			if !a.fresh(groupServo) {
				return unknown
			}
			return judge(math.Abs(a.output()-a.wanted("wanted_pwm")) <= pwmNear)
		},
		by: groupServo, blind: true, within: 2 * second, lost: left,
		command: func(a *Adapter) service.Order {
			return service.Order{ID: setServo,
				Params: [7]float64{math.Round(a.wanted("wanted_servo")), math.Round(a.wanted("wanted_pwm") * 1e6)}}
		},
	},
	{
		name: "relay", slots: []string{"wanted_relay", "wanted_relay_on"}, wanted: wants("wanted_relay"),
		holds: func(a *Adapter, _ *attempt) verdict {
			if !a.fresh(groupRelay) {
				return unknown
			}
			return judge(a.relayOn() == (a.wanted("wanted_relay_on") == 1))
		},
		by: groupRelay, blind: true, within: 2 * second, lost: left,
		command: func(a *Adapter) service.Order {
			return service.Order{ID: setRelay, Params: [7]float64{a.wanted("wanted_relay") - 1, a.wanted("wanted_relay_on")}}
		},
	},
	{ // its last text is the proof, which it repeats if it is told again
		name: "gripper", slots: []string{"wanted_gripper"}, wanted: wants("wanted_gripper"),
		base: func(a *Adapter) float64 { return float64(a.facts.grips) },
		holds: func(a *Adapter, t *attempt) verdict {
			if t.phase == idle || float64(a.facts.grips) <= t.base || float64(a.facts.gripper) != a.wanted("wanted_gripper") {
				return unknown
			}
			return yes
		},
		by: groupHeartbeat, blind: true, within: 3 * second, lost: left,
		command: func(a *Adapter) service.Order {
			return service.Order{ID: moveGripper, Params: [7]float64{1, 2 - a.wanted("wanted_gripper")}}
		},
	},
	{ // without a camera it is accepted, too
		name: "photo", slots: []string{"wanted_photos"}, wanted: wants("wanted_photos"),
		holds: func(a *Adapter, t *attempt) verdict {
			switch at := a.groups[groupCamera].at.Wall; {
			case float64(a.facts.photos) >= a.wanted("wanted_photos"):
				return yes
			case !a.fresh(groupCamera), t.sent != service.Clock{} && at-t.sent.Wall < unseen:
				return unknown
			}
			return no
		},
		by: groupCamera, blind: true, once: true, within: unseen + 2*second, repeat: service.Guarded, lost: left,
		command: func(*Adapter) service.Order {
			return service.Order{ID: takePhoto, Params: [7]float64{4: 1}}
		},
	},
	shootingGoal("photo_distance", func(distance float64) service.Order { // the first photo at once
		return service.Order{ID: triggerDistance, Params: [7]float64{distance, 0, min(1, math.Ceil(distance))}}
	}),
	shootingGoal("photo_interval", func(interval float64) service.Order {
		if interval == 0 {
			return service.Order{ID: stopImages}
		}
		return service.Order{ID: startImages, Params: [7]float64{1: interval}}
	}),
	{
		name: "mount", slots: []string{"wanted_mount", "wanted_pitch", "wanted_yaw"}, wanted: wants("wanted_mount"),
		holds: func(a *Adapter, t *attempt) verdict {
			pitch, yaw := a.pointed()
			if t.phase == idle || math.IsNaN(pitch+yaw) { // a mount that is near is told all the same
				return unknown
			}
			return judge(math.Abs(pitch-a.wanted("wanted_pitch")) <= mountNear &&
				math.Abs(math.Remainder(yaw-a.wanted("wanted_yaw"), 2*math.Pi)) <= mountNear)
		},
		by: groupMount, blind: true, within: 6 * second, lost: settled,
		command: func(a *Adapter) service.Order {
			const degree, targeting = math.Pi / 180, 2
			return service.Order{ID: pointMount,
				Params: [7]float64{a.wanted("wanted_pitch") / degree, 0, a.wanted("wanted_yaw") / degree, 6: targeting}}
		},
	},
}

// wants reports whether a slot is not at its default.
func wants(slot string) func(a *Adapter) bool {
	return func(a *Adapter) bool { return a.wanted(slot) != 0 }
}

// shootingGoal lets the vehicle take photos by itself, which the first one proves, and stops that, which nothing proves
// but the acknowledgement.
func shootingGoal(slot string, order func(every float64) service.Order) goal {
	return goal{
		name: slot, slots: []string{slot}, wanted: func(a *Adapter) bool { return a.revision(slot) > 0 },
		base: func(a *Adapter) float64 { return float64(a.facts.photos) },
		holds: func(a *Adapter, t *attempt) verdict {
			if a.wanted(slot) == 0 {
				return acknowledged(a, t)
			}
			if t.phase == idle || float64(a.facts.photos) <= t.base {
				return unknown
			}
			return yes
		},
		by: groupCamera, blind: true, within: unseen, lost: left,
		command: func(a *Adapter) service.Order { return order(a.wanted(slot)) },
	}
}

// Takes reports whether the vehicle can do something about a slot. It is true as long as the vehicle is not known.
func (a *Adapter) Takes(slot int) bool {
	return a.firmware == nil || slices.ContainsFunc(a.firmware.goals, func(g goal) bool {
		return slices.Contains(g.slots, a.contract.Slots[slot].Name)
	})
}
