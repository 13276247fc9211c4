package driver

import (
	"context"
	"strings"
	"testing"

	"canopy/autopilot/fake"
	"canopy/document/mission"
	"canopy/run/flight"
	"canopy/run/record"
)

const stopped fake.Kind = 255 // the operator stops the flight

// occurs reports whether it is time for an event, at a height and after a number of steps of the flight, and whether the
// plan has begun.
func occurs(kind fake.Kind, height float64, steps int, ready bool) bool {
	switch kind {
	case fake.Breach, fake.Reboot:
		return height > 10
	case stopped:
		return steps > 1000
	case fake.Refuse:
		return ready
	}
	return true
}

// The summary says what became of the vehicle, whatever the plan says of itself: nothing that did not fly passes for a
// flight, and a plan that did not want to fly is not blamed.
func TestWhatBecameOfTheVehicle(t *testing.T) {
	waits := func() *mission.Mission { return libraryMission(t, "plane", `<wait duration="20 [s]"/>`, "") }
	tries := func() *mission.Mission {
		return libraryMission(t, "plane", `<Fallback><take_off/><wait duration="5 [s]"/></Fallback>`, "")
	}
	for name, c := range map[string]struct {
		mission *mission.Mission
		arm     bool
		events  []fake.Event
		fate    record.Fate
		faults  string // what they say; "": there is none
	}{
		"flies":       {mission: libraryMission(t, "plane", `<take_off/>`, ""), arm: true, fate: record.InTheAir},
		"lands":       {mission: libraryMission(t, "copter", `<Sequence><wait duration="40 [s]"/><take_off/><land/></Sequence>`, ""), arm: true, fate: record.Landed},
		"observes":    {mission: waits(), arm: true, fate: record.NotAsked},
		"may not arm": {mission: tries(), fate: record.NeverArmed, faults: "--arm"},
		"arming is refused": {mission: libraryMission(t, "plane", `<Fallback><take_off/><wait duration="5 [s]"/></Fallback>`,
			"fence: {inclusion: [{circle: {north: 0, east: 0, radius: 900}}], max_h: 20}\n"), arm: true,
			fate: record.NeverArmed, faults: "never armed: arm: target_h"},
		"checks never end": {mission: tries(), arm: true, events: []fake.Event{{Kind: fake.GPSLost}},
			fate: record.NeverArmed, faults: "never armed: PreArm"},
		"the mode is refused": {mission: tries(), arm: true, events: []fake.Event{{Kind: fake.Refuse, Value: 50}},
			fate: record.NeverArmed, faults: "never armed: wanted_mode: failed at"},
		"no fence": {mission: libraryMission(t, "copter", `<Fallback><take_off/><wait duration="5 [s]"/></Fallback>`,
			"fence: {inclusion: [{circle: {north: 0, east: 0, radius: 90}}]}\n"), arm: true, fate: record.NeverArmed,
			faults: "never armed: wanted_mode: the mission's fence is not in effect: FENCE_TYPE = 0"},
		"failsafe": {mission: libraryMission(t, "plane", `<take_off/>`, ""), arm: true, events: []fake.Event{{Kind: stopped}},
			fate: record.NotBegun, faults: "it is in failsafe"},
		"stops before the position": {mission: tries(), arm: true,
			events: []fake.Event{{Kind: fake.GPSLost}, {Kind: stopped}}, fate: record.NeverArmed, faults: "never armed: PreArm"},
		"reboots": {mission: libraryMission(t, "plane", `<Sequence><take_off/><wait duration="60 [s]"/></Sequence>`, ""),
			arm: true, events: []fake.Event{{Kind: fake.Reboot}}, fate: record.Observed, faults: "only observed: it is in the mode manual"},
		"waits": {mission: libraryMission(t, "plane", `<take_off/>`,
			"fence: {inclusion: [{polygon: [[-700, -700], [-700, 700], [700, 700], [700, -700]]}]}\n"), arm: true,
			events: []fake.Event{{Kind: fake.GPSLost}, {Kind: stopped}}, fate: record.NotBegun,
			faults: "not begun: the vehicle is attaching: home: the vehicle sets it when it has a position"},
		"target is denied": {mission: libraryMission(t, "plane", `<Fallback><Sequence><take_off/>
			<fly_to to_north="900 [m]" to_east="0 [m]" to_h="80 [m]"/></Sequence><hold/></Fallback>`,
			"fence: {inclusion: [{polygon: [[-700, -700], [-700, 700], [700, 700], [700, -700]]}]}\n"), arm: true,
			fate: record.InTheAir, faults: "target"},
		"breach": {mission: libraryMission(t, "copter", `<Sequence><take_off/><wait duration="60 [s]"/></Sequence>`,
			"fence: {inclusion: [{circle: {north: 0, east: 0, radius: 90}}]}\n"), arm: true,
			events: []fake.Event{{Kind: fake.Breach, Value: 3}}, fate: record.TakenOver, faults: "taken over"},
	} {
		t.Run(name, func(t *testing.T) {
			o := fake.Options{}
			if c.mission.Vehicle.Name == "copter" {
				o.Firmware = fake.ArduCopter
			}
			v := fake.New(o)
			if name == "failsafe" {
				v.Set("FS_GCS_ENABL", 1)
				v.Set("FS_LONG_ACTN", 1)
			}
			if name == "no fence" {
				v.Set("FENCE_TYPE", 0)
			}
			far := newWire(v)
			d, p := newDriver(t, c.mission, flight.Options{Arm: c.arm, Until: 150}, far)
			calls := 0
			if err := d.Fly(context.Background(), func(bool) error {
				for calls++; len(c.events) > 0 && occurs(c.events[0].Kind, v.State().Height, calls, d.Started()); {
					if c.events[0].Kind == stopped {
						far.Operate(flight.Stop)
						c.events = nil
						break
					}
					v.Inject(c.events[0])
					c.events = c.events[1:]
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			s := d.Summary().Sortie
			faults := strings.Join(s.Faults(), "; ")
			if breached := d.Summary().Breached != nil; breached != (name == "breach") {
				t.Errorf("breached: %v", breached)
			}
			if s.Left != "" || s.Vehicle != c.fate || (faults != "") != (c.faults != "") || !strings.Contains(faults, c.faults) {
				t.Errorf("%+v, faults: %q\n%s", s, faults, strings.Join(p.lines, "\n"))
			}
		})
	}
}
