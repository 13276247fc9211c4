package adapter_test

import (
	"math"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// landing gives the vehicle a mission with a landing.
func (f *flown) landing() {
	f.t.Helper()
	f.vehicle.Set("RTL_AUTOLAND", 2)
	lat, lon := int32(f.signals["lat"]*180/math.Pi*1e7), int32(f.signals["lon"]*180/math.Pi*1e7)
	station := frame.Writer{System: 255, Component: 190}
	list := []frame.Message{&mav.MessageMissionCount{TargetSystem: 1, TargetComponent: 1, Count: 3}}
	for i, id := range []common.MAV_CMD{16, 189, 21} {
		list = append(list, &mav.MessageMissionItemInt{TargetSystem: 1, TargetComponent: 1, Seq: uint16(i), Command: id,
			Frame: 3, X: lat, Y: lon})
	}
	for _, m := range list {
		data, err := station.Write(m, 0)
		if err != nil {
			f.t.Fatal(err)
		}
		f.vehicle.Receive(data)
	}
}

// TestFakeLands checks that each vehicle lands where landing is wanted, and that it is really down when it is shown so:
// an ArduPlane by the landing of its mission, or, where it has none, by AUTOLAND; without either it refuses, and goes on
// as it was.
func TestFakeLands(t *testing.T) {
	for _, c := range []struct {
		name, vehicle string
		sequence      bool
		refuse        float64
		orders, why   string
	}{
		{"the landing of the mission", "plane", true, 0, "189: 0", ""},
		{"AUTOLAND", "plane", false, 0, "189: 4 176: 0", ""},
		{"neither", "plane", false, 2, "189: 4 176: 4", "land: there is no landing in the vehicle's mission, and no AUTOLAND: failed"},
		{"a copter", "copter", false, 0, "176: 0", ""},
		{"PX4", "px4-plane", false, 0, "176: 0", ""},
		{"PX4 copter", "px4-copter", false, 0, "176: 0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fly(t, c.vehicle)
			f.takeOff()
			if c.sequence {
				f.landing()
			}
			if c.vehicle == "plane" || c.vehicle == "px4-plane" {
				f.mode("guided")
				f.run(30*sec, func() bool { return f.in("guided") })
			}
			f.pass(5*sec, nil)
			n := len(f.orders)
			f.vehicle.Inject(fake.Event{Kind: fake.Refuse, Value: c.refuse})
			f.mode("land")
			if c.why != "" {
				f.run(20*sec, func() bool { return f.signals["refused"] == 1 })
				f.pass(60*sec, nil)
				if !strings.Contains(f.log.String(), c.why) || !f.vehicle.State().Flying || !f.in("guided") {
					t.Errorf("%+v\n%s", f.vehicle.State(), f.log.String())
				}
			} else {
				f.run(400*sec, func() bool { return f.signals["in_air"] == 0 && f.signals["armed"] == 0 })
				if s := f.vehicle.State(); s.Flying || s.Armed || s.Height > 0.5 || f.signals["refused"] == 1 || f.signals["failsafe"]+f.signals["pilot"] > 0 {
					t.Errorf("%+v\n%s", s, f.log.String())
				}
			}
			if got := strings.Join(f.orders[n:], " "); got != c.orders {
				t.Errorf("commands %s, want %s\n%s", got, c.orders, f.log.String())
			}
		})
	}
}
