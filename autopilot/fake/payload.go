package fake

import (
	"fmt"
	"math"
	"strings"

	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

const (
	servos          = 32
	relays          = 6
	relayFunction   = 1
	gripTime        = 600 * millisecond
	mountRate       = 60 * math.Pi / 180 // [rad/s]
	pitchMost       = math.Pi / 2
	gripperReleased = "released"
	gripperGrabbed  = "grabbed"
)

// payload is what the vehicle carries. The gripper and the mount begin where they are at power-on.
type payload struct {
	pwm     [servos]uint16 // [us]
	relays  uint16
	gripper string     // its state
	moving  int64      // when the gripper has done what it does; 0: it does nothing
	image   uint16     // number of the last photo
	every   [2]float64 // way [m] and time [s] between photos; 0: none
	since   [2]float64 // that passed since the last one
	mount   [2]float64 // pitch, yaw [rad]
	aim     [2]float64
}

// arduPayload are the commands of ArduPilot, and its messages.
var arduPayload = map[common.MAV_CMD]handler{
	common.MAV_CMD_DO_SET_SERVO: func(v *Autopilot, o order) result {
		n := int(o.params[0])
		if !v.freeServo(n) {
			return failed
		}
		v.payload.pwm[n-1] = uint16(o.params[1])
		return accepted
	},
	common.MAV_CMD_DO_SET_RELAY: func(v *Autopilot, o order) result {
		n, to, p := int(o.params[0]), o.params[1], &v.payload
		if !v.hasRelay(n) {
			return failed
		}
		if bit := uint16(1) << n; to == 1 || to == -1 && p.relays&bit == 0 { // -1 toggles it
			p.relays |= bit
		} else {
			p.relays &^= bit
		}
		return accepted
	},
	common.MAV_CMD_DO_GRIPPER: func(v *Autopilot, o order) result {
		p := &v.payload
		if v.value("GRIP_ENABLE") == 0 || o.params[1] != 0 && o.params[1] != 1 {
			return failed
		}
		to, does := gripperReleased, "releasing"
		if o.params[1] == 1 {
			to, does = gripperGrabbed, "grabbing"
		}
		if p.gripper == to && p.moving == 0 {
			v.say(mav.MAV_SEVERITY_INFO, "Gripper load %s", to)
			return accepted
		}
		if p.gripper != to {
			v.say(mav.MAV_SEVERITY_INFO, "Gripper load %s", does)
			p.gripper, p.moving = to, v.now+gripTime
		}
		return accepted
	},
	common.MAV_CMD_DO_DIGICAM_CONTROL: func(v *Autopilot, o order) result {
		if o.params[4] == 1 {
			v.shoot()
		}
		return accepted
	},
	common.MAV_CMD_DO_SET_CAM_TRIGG_DIST: func(v *Autopilot, o order) result {
		v.payload.every[0], v.payload.since[0] = o.params[0], 0
		if o.params[2] == 1 {
			v.shoot()
		}
		return accepted
	},
	common.MAV_CMD_IMAGE_START_CAPTURE: func(v *Autopilot, o order) result {
		if v.value("CAM1_TYPE") == 0 {
			return failed
		}
		v.shoot()
		if o.params[2] != 1 {
			v.payload.every[1], v.payload.since[1] = o.params[1], 0
		}
		return accepted
	},
	common.MAV_CMD_IMAGE_STOP_CAPTURE: func(v *Autopilot, _ order) result {
		v.payload.every[1] = 0
		return accepted
	},
	common.MAV_CMD_DO_MOUNT_CONTROL:           pointed(2),
	common.MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW: pointed(1),
}

// freeServo reports whether commands may move a servo: not where it has a function of the aircraft.
func (v *Autopilot) freeServo(n int) bool {
	if n < 1 || n > servos {
		return false
	}
	switch v.value(fmt.Sprintf("SERVO%d_FUNCTION", n)) {
	case 0, 10, 28: // none, camera trigger, gripper
		return true
	}
	v.say(mav.MAV_SEVERITY_INFO, "ServoRelayEvent: Channel %d is already in use", n)
	return false
}

func (v *Autopilot) hasRelay(n int) bool {
	return n >= 0 && n < relays && v.value(fmt.Sprintf("RELAY%d_FUNCTION", n+1)) == relayFunction
}

// shoot takes a photo, if there is a camera.
func (v *Autopilot) shoot() {
	if v.value("CAM1_TYPE") != 0 {
		v.payload.image++
		v.sendMessage(180)
	}
}

// pointed points the mount, in degrees; the yaw is the parameter with a number.
func pointed(yaw int) handler {
	return func(v *Autopilot, o order) result {
		if v.value("MNT1_TYPE") == 0 {
			return failed
		}
		const degree = math.Pi / 180
		v.payload.aim = [2]float64{max(-pitchMost, min(pitchMost, o.params[0]*degree)),
			math.Remainder(o.params[yaw]*degree, 2*math.Pi)}
		return accepted
	}
}

// carry lets time [s] pass for the payload.
func (v *Autopilot) carry(dt float64) {
	p := &v.payload
	if p.moving != 0 && v.now >= p.moving {
		p.moving = 0
		v.say(mav.MAV_SEVERITY_INFO, "Gripper load %s", p.gripper)
	}
	for i, moved := range [2]float64{math.Hypot(v.body.vn, v.body.ve) * dt, dt} {
		if p.every[i] > 0 {
			if p.since[i] += moved; p.since[i] >= p.every[i] {
				p.since[i] -= p.every[i]
				v.shoot()
			}
		}
	}
	for i := range p.mount {
		p.mount[i] += max(-mountRate*dt, min(mountRate*dt, p.aim[i]-p.mount[i]))
	}
}

// payloadItem executes an item of the mission, which is skipped where it fails.
func (v *Autopilot) payloadItem(it item) {
	run := arduPayload[it.command]
	if run == nil || v.firmware.autopilot != mav.MAV_AUTOPILOT_ARDUPILOTMEGA {
		return
	}
	run(v, order{id: it.command, params: [7]float64{it.params[0], it.params[1], it.params[2], it.params[3],
		float64(it.x), float64(it.y), it.z}})
	if it.command == common.MAV_CMD_DO_GRIPPER { // with or without a gripper
		v.say(mav.MAV_SEVERITY_INFO, "Gripper %s", map[bool]string{true: "Grabbed", false: "Released"}[it.params[1] == 1])
	}
	if it.command == common.MAV_CMD_DO_MOUNT_CONTROL {
		v.send(&mav.MessageMissionItemReached{Seq: uint16(v.route.current)})
	}
}

// payloadMessages are the rows of the table of messages.
var payloadMessages = []message{
	{36, 0, 3, func(v *Autopilot) frame.Message {
		p := v.payload.pwm
		return &mav.MessageServoOutputRaw{TimeUsec: uint32(v.clock() / 1000), Servo1Raw: p[0], Servo2Raw: p[1],
			Servo3Raw: p[2], Servo4Raw: p[3], Servo5Raw: p[4], Servo6Raw: p[5], Servo7Raw: p[6], Servo8Raw: p[7],
			Servo9Raw: p[8], Servo10Raw: p[9], Servo11Raw: p[10], Servo12Raw: p[11], Servo13Raw: p[12],
			Servo14Raw: p[13], Servo15Raw: p[14], Servo16Raw: p[15]}
	}},
	{180, 0, 3, func(v *Autopilot) frame.Message { // asked for at a rate, it repeats the last photo
		if v.value("CAM1_TYPE") == 0 {
			return nil
		}
		return &mav.MessageCameraFeedback{ImgIdx: v.payload.image, CompletedCaptures: v.payload.image}
	}},
	{285, 0, 3, func(v *Autopilot) frame.Message {
		const fromNose = 32
		if v.value("MNT1_TYPE") == 0 {
			return nil
		}
		p, y := v.payload.mount[0]/2, v.payload.mount[1]/2
		return &mav.MessageGimbalDeviceAttitudeStatus{TimeBootMs: v.milliseconds(), Flags: fromNose,
			Q: [4]float32{float32(math.Cos(y) * math.Cos(p)), float32(-math.Sin(y) * math.Sin(p)),
				float32(math.Cos(y) * math.Sin(p)), float32(math.Sin(y) * math.Cos(p))}}
	}},
	{376, 0, 3, func(v *Autopilot) frame.Message {
		m := &mav.MessageRelayStatus{TimeBootMs: v.milliseconds(), On: v.payload.relays}
		for n := range relays {
			if v.hasRelay(n) {
				m.Present |= 1 << n
			}
		}
		return m
	}},
}

// Equip gives the vehicle a camera, a mount, a gripper and two relays, if its firmware has them.
func (v *Autopilot) Equip() {
	for _, name := range strings.Fields("GRIP_ENABLE CAM1_TYPE MNT1_TYPE RELAY1_FUNCTION RELAY2_FUNCTION") {
		v.Set(name, 1)
	}
}

// Payload is what is true of the payload, whatever the messages tell.
type Payload struct {
	PWM     [servos]uint16 // [us], by channel from 0
	Relays  uint16         // bits, those that are on
	Gripper string
	Photos  int
	Pitch   float64 // of the mount [rad]
}

// Payload returns it.
func (v *Autopilot) Payload() Payload {
	p := v.payload
	gripper := p.gripper
	if p.moving != 0 {
		gripper = ""
	}
	return Payload{p.pwm, p.relays, gripper, int(p.image), p.mount[0]}
}

// Asked reports whether a message is sent at a rate to the first channel.
func (v *Autopilot) Asked(id uint32) bool { return v.channels[0].streams[v.row(id)].interval > 0 }
