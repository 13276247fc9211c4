package driver

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/run/flight"
)

// The libraries' actions but those without an end, one after the other.
const (
	planeActions = `<Sequence><take_off/><fly_to to_north="600 [m]" to_east="-200 [m]" to_h="90 [m]"/>
		<climb_to to_h="120 [m]"/><set_speed to_speed="20 [m/s]"/>
		<SubTree ID="loiter_turns" to_north="300 [m]" to_east="300 [m]" to_h="100 [m]" to_radius="150 [m]" turns="2"/>
		<SubTree ID="loiter_time" to_north="0 [m]" to_east="300 [m]" to_h="100 [m]" duration="30 [s]"/>
		<wait duration="5 [s]"/><return_home/><land/><take_off/><return_home/><land/></Sequence>`
	copterActions = `<Sequence><take_off/><fly_to to_north="60 [m]" to_east="-20 [m]" to_h="30 [m]"/>
		<climb_to to_h="40 [m]"/><set_speed to_speed="5 [m/s]"/>
		<SubTree ID="loiter_time" to_north="0 [m]" to_east="30 [m]" to_h="20 [m]" duration="30 [s]"/>
		<SubTree ID="circuit" north_1="0" east_1="0" north_2="50 [m]" east_2="0" north_3="50 [m]" east_3="50 [m]" north_4="0"
			east_4="50 [m]" to_h="25 [m]" rounds="1"/>
		<wait duration="5 [s]"/><return_home/><take_off to_h="10 [m]"/><land/></Sequence>`
	payloadActions = `<set_servo number="9" to_pwm="1700 [us]"/><set_servo name="back" number="9" to_pwm="1100 [us]"/>
		<set_relay number="1" state="1"/><grip/><release/><grip name="once_more"/><take_photo/><take_photo name="second"/>
		<point_mount pitch="-90 [deg]" yaw="20 [deg]"/><point_mount name="ahead" pitch="-10 [deg]"/>
		<take_photos distance="15 [m]"/><fly_to name="along" to_north="200 [m]" to_east="100 [m]" to_h="60 [m]"/><stop_photos/>
		<SubTree ID="repeat_servo" number="10" to_pwm="1800 [us]" times="2" period="2 [s]"/>
		<SubTree ID="repeat_relay" number="2" times="3" period="1 [s]"/>
		<take_photos name="timed" interval="1 [s]"/><wait duration="5 [s]"/><stop_photos name="stop"/>`
)

// kinds are the kinds of fake vehicles, with what their libraries do.
var kinds = []struct {
	firmware    fake.Firmware
	class, body string
}{{fake.ArduPlane, "plane", planeActions}, {fake.PX4Plane, "plane", planeActions}, {fake.ArduCopter, "copter", copterActions},
	{fake.PX4Copter, "copter", copterActions}}

// All actions of the libraries end well on each fake vehicle.
func TestTheLibraryFliesFakes(t *testing.T) {
	for _, c := range kinds {
		if !testing.Short() || c.firmware == fake.PX4Plane {
			begin(t, read(t, c.class, c.body, ""), fake.Options{Firmware: c.firmware, Wind: [2]float64{3, -2}}).succeed(nil)
		}
	}
}

// equipped prepares a flight of a vehicle that has a payload if its firmware knows one.
func equipped(t *testing.T, firmware fake.Firmware, class, body string) *trip {
	t.Helper()
	x := begin(t, read(t, class, body, ""), fake.Options{Firmware: firmware})
	x.vehicle.Equip()
	return x
}

// All actions of the payload end well on the fakes of ArduPilot. A PX4 takes none of their slots: the flight ends before
// anything is commanded.
func TestThePayloadFlies(t *testing.T) {
	for _, c := range kinds {
		if c.firmware == fake.PX4Plane || c.firmware == fake.PX4Copter {
			x := equipped(t, c.firmware, c.class, `<Sequence><take_off/><set_relay number="1" state="1"/><return_home/></Sequence>`)
			err := x.fly(nil)
			if !errors.Is(err, flight.ErrSlot) || !strings.Contains(err.Error(), "wanted_relay, wanted_relay_on") ||
				x.vehicle.State().Armed {
				t.Errorf("%s: %v", c.class, err)
			}
			continue
		}
		x := equipped(t, c.firmware, c.class, `<Sequence><take_off to_h="60 [m]"/>`+payloadActions+`<return_home/></Sequence>`)
		x.succeed(nil)
		p := x.vehicle.Payload()
		if p.PWM[8] != 1100 || p.PWM[9] != 1500 || p.Relays != 1 || p.Gripper != "grabbed" || p.Photos < 8 {
			t.Errorf("the payload is %+v", p)
		}
	}
}

// An action whose command is refused fails, with the autopilot's reason in the log; the plan goes on as it says.
func TestPayloadFails(t *testing.T) {
	for action, reason := range map[string]string{
		`<set_servo number="1" to_pwm="1500 [us]"/>`: "the reason may be: ServoRelayEvent: Channel 1 is already in use",
		`<set_relay number="5" state="1"/>`:          "wanted_relay: failed",
		`<set_servo number="9" to_pwm="5000 [us]"/>`: "wanted_pwm = 0.005 s is not from 0.0005 to 0.0025",
		`<point_mount pitch="-200 [deg]"/>`:          "mount: was accepted and had no effect",
	} {
		x := equipped(t, fake.ArduCopter, "copter", `<Fallback>`+action+`<wait duration="1 [s]"/></Fallback>`)
		x.succeed(nil)
		if log := x.log(); !strings.Contains(log, reason) || !strings.Contains(log, "wait Activating") {
			t.Errorf("%s\n%s", action, log)
		}
	}
}

// A plan that ends, or is stopped, while the vehicle takes photos by itself leaves none to be taken.
func TestPhotosEndWithThePlan(t *testing.T) {
	for _, end := range []string{`<wait duration="3 [s]"/>`, `<return_home limit="1 [s]"/>`} {
		x := equipped(t, fake.ArduCopter, "copter", `<Sequence><take_off/><take_photos interval="0.5 [s]"/>`+end+`</Sequence>`)
		err := x.fly(nil)
		before := x.vehicle.Payload().Photos
		x.vehicle.Step(10e9)
		if after := x.vehicle.Payload().Photos; err != nil || before < 4 || after != before {
			t.Errorf("%s: %v %+v: %d photos, then %d\n%s", end, err, x.Summary(), before, after, x.log())
		}
	}
}

// Each leg of a plane ends, whatever the radius of its circles is, its own or the one of the action, in any wind; and it
// ends near the target: not farther from it than the radius, 25 m, and what the speed makes of it. So does a return.
func TestLegsEndAtAnyRadius(t *testing.T) {
	rounds := uint64(12)
	if testing.Short() {
		rounds = 4
	}
	for seed := range rounds {
		firmware, parameter := fake.ArduPlane, "WP_LOITER_RAD"
		if seed%2 == 1 {
			firmware, parameter = fake.PX4Plane, "NAV_LOITER_RAD"
		}
		r := rand.New(rand.NewPCG(seed, 23))
		radius := func() int { return 20 + r.IntN(381) }
		own := radius()
		body, legs, at := "<Sequence><take_off/>", []int{}, [][2]float64{}
		for i := range 3 {
			wanted := []int{0, radius()}[r.IntN(2)]
			legs = append(legs, wanted)
			if wanted == 0 {
				legs[i] = own
			}
			at = append(at, [2]float64{4000*r.Float64() - 2000, 4000*r.Float64() - 2000})
			body += fmt.Sprintf(`<fly_to name="leg_%d" to_north="%g [m]" to_east="%g [m]" to_h="%d [m]" to_radius="%d [m]" limit="5 [min]"/>`,
				i, at[i][0], at[i][1], 70+r.IntN(30), wanted)
		}
		m := read(t, "plane", body+`<return_home limit="8 [min]"/></Sequence>`, "")
		x := begin(t, m, fake.Options{Firmware: firmware, Wind: [2]float64{16*r.Float64() - 8, 16*r.Float64() - 8}})
		x.vehicle.Set(parameter, float64(own))
		ended := 0
		x.succeed(func() error {
			last := x.page.lines[len(x.page.lines)-min(9, len(x.page.lines)):]
			if !strings.Contains(strings.Join(last, "\n"), fmt.Sprintf("leg_%d Finished", ended)) {
				return nil
			}
			s, speed := x.vehicle.State(), 40.0
			off := math.Hypot(s.North-at[ended][0], s.East-at[ended][1])
			if most := max(float64(legs[ended])+25, speed*speed/6+10); off > most+speed {
				t.Errorf("seed %d: leg %d ends %.0f m from its target, more than %.0f m", seed, ended, off, most)
			}
			ended++
			return nil
		})
		if ended != len(legs) {
			t.Errorf("seed %d, %s = %d, legs %v\n%s", seed, parameter, own, legs, x.log())
		}
	}
}
