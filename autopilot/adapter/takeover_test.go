package adapter_test

import (
	"strings"
	"testing"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// TestFailsafesOfACopter checks that each failsafe of an ArduCopter in flight, as measured, takes the vehicle over and is
// named; that the mode is what it changed to; and that a failsafe that lets the mode continue takes nothing over.
func TestFailsafesOfACopter(t *testing.T) {
	station := fake.Event{Kind: fake.Lie} // the ground station falls silent
	for _, c := range []struct {
		name      string
		set       map[string]float64
		event     fake.Event
		mode, why string // "": nothing is taken over
	}{
		{"ground station", map[string]float64{"FS_GCS_ENABLE": 1}, station, "RTL", "GCS Failsafe"},
		{"ground station, land", map[string]float64{"FS_GCS_ENABLE": 5}, station, "LAND", "GCS Failsafe"},
		{"battery", map[string]float64{"BATT_FS_LOW_ACT": 2, "BATT_LOW_VOLT": 11}, fake.Event{Kind: fake.Battery, Value: 0.1}, "RTL",
			"Battery 1 is low"},
		{"battery, critical", map[string]float64{"BATT_FS_CRT_ACT": 1, "BATT_CRT_VOLT": 11},
			fake.Event{Kind: fake.Battery, Value: 0.1}, "LAND", "Battery 1 is critical"},
		{"radio", nil, fake.Event{Kind: fake.RadioLost}, "RTL", "Radio Failsafe"},
		{"radio, continued", map[string]float64{"FS_OPTIONS": 4}, fake.Event{Kind: fake.RadioLost}, "GUIDED", ""},
		{"radio, none", map[string]float64{"FS_THR_ENABLE": 0}, fake.Event{Kind: fake.RadioLost}, "GUIDED", ""},
		{"fence", nil, fake.Event{Kind: fake.Breach, Value: 30}, "RTL", "Polygon fence breached"},
		{"fence, brake", map[string]float64{"FENCE_ACTION": 4}, fake.Event{Kind: fake.Breach, Value: 30}, "BRAKE",
			"Polygon fence breached"},
		{"position", nil, fake.Event{Kind: fake.GPSLost}, "LAND", "EKF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fly(t, "copter")
			for name, v := range c.set {
				f.vehicle.Set(name, v)
			}
			f.vehicle.Set("FENCE_TYPE", 1)
			f.vehicle.Set("FENCE_ENABLE", 1)
			beating := c.event == station
			f.sends = func(m frame.Message) { // the ground station beats with us, and falls silent
				if h, ok := m.(*mav.MessageHeartbeat); ok && beating {
					data, _ := (&frame.Writer{System: 255, Component: 190}).Write(h, 0)
					f.vehicle.Receive(data)
				}
			}
			f.takeOff()
			f.mode("guided")
			f.set("target_north", 200)
			f.pass(3*sec, nil)
			if beating = false; c.event != station {
				f.vehicle.Inject(c.event)
			}
			if c.why == "" {
				f.pass(40*sec, nil)
				if f.Control() != adapter.Ready || f.signals["failsafe"] == 1 {
					t.Errorf("the state is %s\n%s", f.Control(), f.log.String())
				}
			} else {
				f.run(15*sec, func() bool { return f.Control() == adapter.Taken && f.signals["failsafe"] == 1 })
				if !strings.Contains(f.log.String(), "failsafe took over: ") || !strings.Contains(f.last("failsafe took over: "), c.why) {
					t.Errorf("%s is not named\n%s", c.why, f.log.String())
				}
			}
			if is := f.vehicle.State().Mode; is != c.mode {
				t.Errorf("the mode is %s, not %s\n%s", is, c.mode, f.log.String())
			}
		})
	}
}

// last returns the last line of the log that contains a text.
func (f *flown) last(text string) string {
	lines := strings.Split(f.log.String(), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.Contains(lines[i], text) {
			return lines[i]
		}
	}
	return ""
}
