package driver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/document/mission"
	"canopy/run/flight"
	"canopy/run/record"
)

// payloadActions are all actions of the payload, in flight, between those of a class.
const payloadActions = `<set_servo number="9" to_pwm="1700 [us]"/><set_servo name="back" number="9" to_pwm="1100 [us]"/>
	<set_relay number="1" state="1"/><grip/><release/><grip name="once_more"/><take_photo/><take_photo name="second"/>
	<point_mount pitch="-90 [deg]" yaw="20 [deg]"/><point_mount name="ahead" pitch="-10 [deg]"/>
	<take_photos distance="15 [m]"/><fly_to name="along" to_north="200 [m]" to_east="100 [m]" to_h="60 [m]"/><stop_photos/>
	<SubTree ID="repeat_servo" number="10" to_pwm="1800 [us]" times="2" period="2 [s]"/>
	<SubTree ID="repeat_relay" number="2" times="3" period="1 [s]"/>
	<take_photos name="timed" interval="1 [s]"/><wait duration="5 [s]"/><stop_photos name="stop"/>`

// All actions of the payload end well on the fakes of ArduPilot. A PX4 takes none of their slots: the flight ends before
// anything is commanded.
func TestThePayloadFlies(t *testing.T) {
	for _, c := range []struct {
		firmware fake.Firmware
		class    string
	}{{fake.ArduPlane, "plane"}, {fake.ArduCopter, "copter"}} {
		t.Run(c.class, func(t *testing.T) {
			m := libraryMission(t, c.class, `<Sequence><take_off to_h="60 [m]"/>`+payloadActions+`<return_home/></Sequence>`, "")
			p, v, summary, err := flyPayload(t, m, c.firmware)
			if err != nil || summary.Plan != record.PlanSucceeded {
				t.Fatalf("%v %+v\n%s", err, summary, strings.Join(p.lines, "\n"))
			}
			if x := v.Payload(); x.PWM[8] != 1100 || x.PWM[9] != 1500 || x.Relays != 1 || x.Gripper != "grabbed" || x.Photos < 8 {
				t.Errorf("the payload is %+v", x)
			}
		})
	}
	for firmware, class := range map[fake.Firmware]string{fake.PX4Plane: "plane", fake.PX4Copter: "copter"} {
		m := libraryMission(t, class, `<Sequence><take_off/><set_relay number="1" state="1"/><return_home/></Sequence>`, "")
		_, v, _, err := flyPayload(t, m, firmware)
		if !errors.Is(err, flight.ErrSlot) || !strings.Contains(err.Error(), "wanted_relay, wanted_relay_on") || v.State().Armed {
			t.Errorf("%s: %v", class, err)
		}
	}
}

// flyPayload flies a mission on a fake that has a payload if its firmware knows one.
func flyPayload(t *testing.T, m *mission.Mission, firmware fake.Firmware) (*page, *fake.Autopilot, record.Summary, error) {
	t.Helper()
	v := fake.New(fake.Options{Firmware: firmware})
	v.Equip()
	d, p := newDriver(t, m, flight.Options{Arm: true}, newWire(v))
	err := d.Fly(context.Background(), nil)
	return p, v, d.Summary(), err
}

// An action whose command is refused fails, with the autopilot's reason in the log; the plan goes on as it says.
func TestPayloadFails(t *testing.T) {
	for action, reason := range map[string]string{
		`<set_servo number="1" to_pwm="1500 [us]"/>`: "the reason may be: ServoRelayEvent: Channel 1 is already in use",
		`<set_relay number="5" state="1"/>`:          "wanted_relay: failed",
		`<set_servo number="9" to_pwm="5000 [us]"/>`: "wanted_pwm = 0.005 s is not from 0.0005 to 0.0025",
		`<point_mount pitch="-200 [deg]"/>`:          "mount: was accepted and had no effect",
	} {
		m := libraryMission(t, "copter", `<Fallback>`+action+`<wait duration="1 [s]"/></Fallback>`, "")
		p, _, summary, err := flyPayload(t, m, fake.ArduCopter)
		log := strings.Join(p.lines, "\n")
		if err != nil || summary.Plan != record.PlanSucceeded || !strings.Contains(log, reason) || !strings.Contains(log, "wait Activating") {
			t.Errorf("%s: %v %+v\n%s", action, err, summary, log)
		}
	}
}

// A plan that ends, or is stopped, while the vehicle takes photos by itself leaves none to be taken.
func TestPhotosEndWithThePlan(t *testing.T) {
	for _, end := range []string{`<wait duration="3 [s]"/>`, `<return_home limit="1 [s]"/>`} {
		m := libraryMission(t, "copter", `<Sequence><take_off/><take_photos interval="0.5 [s]"/>`+end+`</Sequence>`, "")
		p, v, summary, err := flyPayload(t, m, fake.ArduCopter)
		before := v.Payload().Photos
		v.Step(10e9)
		if after := v.Payload().Photos; err != nil || before < 4 || after != before {
			t.Errorf("%s: %v %+v: %d photos, then %d\n%s", end, err, summary, before, after, strings.Join(p.lines, "\n"))
		}
	}
}
