package fake_test

import (
	"math"
	"strings"
	"testing"

	"canopy/autopilot/fake"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// The fakes of ArduPilot answer commands of the payload as both were measured to, disarmed.
func TestTrapsOfThePayload(t *testing.T) {
	for _, firmware := range []fake.Firmware{fake.ArduPlane, fake.ArduCopter} {
		bare := newStation(t, fake.Options{Firmware: firmware})
		bare.pass(10)
		for _, c := range []struct {
			want common.MAV_RESULT
			id   uint16
			p    []float32
		}{
			{0, 183, []float32{9, 1700}}, {0, 183, []float32{9, 0}}, {0, 183, []float32{9, 5000}}, {4, 183, []float32{0, 1500}},
			{4, 183, []float32{33, 1500}}, {4, 183, []float32{1, 1500}}, {4, 184, []float32{1, 1500, 2, 2}},
			{4, 181, []float32{0, 1}}, {4, 182, []float32{0, 1, 1}}, {4, 211, []float32{1, 1}},
			{0, 203, []float32{0, 0, 0, 0, 1}}, {0, 206, []float32{10}}, {4, 2000, []float32{0, 1, 0}}, {0, 2001, nil},
			{4, 205, []float32{-90, 0, 0, 0, 0, 0, 2}}, {4, 1000, []float32{-90, 0}},
		} {
			if got := bare.long(c.id, c.p...); got != c.want {
				t.Errorf("without a payload: %d %v: %v, want %v", c.id, c.p, got, c.want)
			}
		}
		bare.pass(2)
		if _, seen := last[*ardupilotmega.MessageCameraFeedback](bare); seen ||
			!bare.said("ServoRelayEvent: Channel 1 is already in use") || bare.said("Gripper load") {
			t.Errorf("without a payload: %q, a photo %t", bare.texts, seen)
		}

		s := newStation(t, fake.Options{Firmware: firmware})
		s.v.Equip()
		s.pass(10)
		for _, id := range []float32{36, 285, 376} {
			s.expect(0, s.long(511, id, 1e5))
		}
		s.expect(0, s.long(184, 9, 1700, 2, 2))
		s.expect(0, s.long(181, 0, -1))
		s.expect(0, s.long(211, 1, 1))
		s.expect(4, s.long(211, 1, 2))
		s.expect(0, s.long(205, -200, 0, 0, 0, 0, 0, 2))
		s.pass(0.4)
		servo, _ := last[*ardupilotmega.MessageServoOutputRaw](s)
		relay, _ := last[*ardupilotmega.MessageRelayStatus](s)
		if servo.Servo9Raw != 1700 || relay.On != 1 || relay.Present != 3 || !s.said("Gripper load grabbing") ||
			s.said("Gripper load grabbed") {
			t.Errorf("%+v %+v %q", servo, relay, s.texts)
		}
		s.pass(5)
		mount, _ := last[*ardupilotmega.MessageGimbalDeviceAttitudeStatus](s)
		if p := s.v.Payload(); p.PWM[8] != 1500 || !s.said("Gripper load grabbed") || math.Abs(p.Pitch+math.Pi/2) > 1e-9 ||
			math.Abs(float64(mount.Q[2])+math.Sqrt2/2) > 1e-6 {
			t.Errorf("%+v %q %+v", p, s.texts, mount)
		}
		s.expect(0, s.long(203, 0, 0, 0, 0, 1))
		first, _ := last[*ardupilotmega.MessageCameraFeedback](s)
		s.expect(0, s.long(511, 180, 1e6))
		s.pass(3)
		if again, _ := last[*ardupilotmega.MessageCameraFeedback](s); again.ImgIdx != first.ImgIdx || again.ImgIdx != 1 {
			t.Errorf("the photo %d, and without another one %d", first.ImgIdx, again.ImgIdx)
		}
		s.expect(0, s.long(206, 10)) // it stands
		s.pass(5)
		s.expect(0, s.long(2000, 0, 1, 0))
		s.pass(2.5)
		s.expect(0, s.long(2001))
		s.pass(3)
		if n := s.v.Payload().Photos; n != 4 {
			t.Errorf("%d photos, want 1 and 3", n)
		}
	}
}

// Items of the payload are stored whether the vehicle can execute them or not, and are executed at their place; those
// that fail are skipped.
func TestPayloadOfAMission(t *testing.T) {
	s := newStation(t, fake.Options{})
	s.v.Set("CAM1_TYPE", 1)
	s.pass(35)
	if a, b := s.upload(0, s.item(9999, [4]float32{}, 0, 0, 0)), s.upload(0, s.item(530, [4]float32{}, 0, 0, 0)); a != 3 || b != 3 {
		t.Errorf("unknown items: %v, %v", a, b)
	}
	at := func(command uint16, x int32, p ...float32) *ardupilotmega.MessageMissionItemInt {
		it := s.item(command, [4]float32(append(p, 0, 0, 0, 0)), 0, 0, 0)
		it.X, it.Y = x, 0
		return it
	}
	if got := s.upload(0, s.item(16, [4]float32{}, 0, 0, 0), s.item(22, [4]float32{}, 0, 0, 50),
		s.item(16, [4]float32{}, 300, 0, 50), at(183, 0, 9, 1700), at(183, 0, 1, 1700), at(211, 0, 1, 0), at(203, 1),
		s.item(17, [4]float32{}, 600, 0, 50)); got != 0 {
		t.Fatal(got)
	}
	s.expect(0, s.long(400, 1))
	s.expect(0, s.long(176, 1, 10))
	reached := s.until(200, func() bool { return s.v.Payload().PWM[8] == 1700 })
	s.pass(1)
	if p := s.v.Payload(); reached < 5 || s.distance(300, 0) > 150 || p.PWM[0] != 0 || p.Photos != 1 || p.Gripper != "" ||
		!s.said("Gripper Released") || strings.Contains(strings.Join(s.texts, " "), "Gripper load") {
		t.Errorf("%v %+v %q", reached, p, s.texts)
	}
}
