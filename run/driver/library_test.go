package driver

import (
	"context"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run/flight"
	"canopy/run/record"
	"canopy/vehicle/equations"
)

// libraryMission is a mission of a contract, whose plan has the contract's library.
func libraryMission(t testing.TB, vehicle, body, yaml string) *mission.Mission {
	t.Helper()
	plan := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:` + vehicle +
		`"/><BehaviorTree ID="m">` + body + `</BehaviorTree></root>`
	head := "mission: test\nplan: plan.xml\nvehicle: " + vehicle + "\nhorizon: 1200\nends_with_plan: true\n" +
		"record: {interval: 1, signals: [h, airspeed, north, east]}\n"
	files := cart.Files{"m/test.yaml": head + yaml, "m/plan.xml": plan}
	m, diags := mission.Read("m/test.yaml", files.Open, equations.Offers(), nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

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
)

// All actions of the libraries end well on each fake vehicle.
func TestTheLibraryFliesFakes(t *testing.T) {
	for _, c := range []struct {
		firmware fake.Firmware
		class    string
		body     string
	}{
		{fake.ArduPlane, "plane", planeActions},
		{fake.PX4Plane, "plane", planeActions},
		{fake.ArduCopter, "copter", copterActions},
		{fake.PX4Copter, "copter", copterActions},
	} {
		if testing.Short() && c.firmware != fake.PX4Plane {
			continue
		}
		t.Run(fake.FirmwareNames()[c.firmware], func(t *testing.T) {
			m := libraryMission(t, c.class, c.body, "")
			v := fake.New(fake.Options{Firmware: c.firmware, Wind: [2]float64{3, -2}})
			d, p := newDriver(t, m, flight.Options{Arm: true}, newWire(v))
			if err := d.Fly(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			if s := d.Summary(); s.Plan != record.PlanSucceeded {
				t.Errorf("%+v\n%+v\n%s", s, v.State(), strings.Join(p.lines, "\n"))
			}
		})
	}
}
