package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// contractMission is a mission of the simulated vehicle of a contract, whose plan has the contract's library.
func contractMission(t *testing.T, vehicle, body, yaml string) *mission.Mission {
	t.Helper()
	plan := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:` + vehicle +
		`"/><BehaviorTree ID="m">` + body + `</BehaviorTree></root>`
	files := cart.Files{"m/test.yaml": "plan: plan.xml\nvehicle: " + vehicle + "\n" + yaml, "m/plan.xml": plan}
	m := read(t, "m/test.yaml", files.Open, equations.Offers(), nil)
	return m
}

// The circuit of the 2013 paper, on the contract of planes: the take-off is cut by the altitude check, the four points
// are reached in their order, twice, and the plane waits at its height.
func TestCircuitOfAPlane(t *testing.T) {
	m := read(t, "../../missions/circuit-plane.yaml", os.ReadFile, equations.Offers(), nil)
	r, l := flown(t, m)
	near(t, "altitude", l.at(m, "altitude", bt.Success), 0.1, 16.9)
	near(t, "take-off is left", l.at(m, "take_off", bt.Deactivating), 0.1, 16.9)
	near(t, "first point", l.at(m, "leg_1", bt.Finished), 0.1, 25.02, 123.34)
	near(t, "second point", l.at(m, "leg_2", bt.Finished), 0.1, 47.84, 148.52)
	near(t, "third point", l.at(m, "leg_3", bt.Finished), 0.1, 72.97, 173.70)
	near(t, "fourth point", l.at(m, "leg_4", bt.Finished), 0.1, 98.16, 198.88)
	near(t, "height at the end", l.ends(m, "h"), 0.5, 80)
	if h := l.column(m, "h"); !(h[0] == 0) {
		t.Errorf("it begins at %v m", h[0])
	}
	for i, h := range l.column(m, "h") {
		if l.times[i] > 25 && math.Abs(h-80) > 3 {
			t.Fatalf("it is at %.1f m at %.0f s", h, l.times[i])
		}
	}
	if s := r.Summary(); s.Plan != record.PlanSucceeded {
		t.Errorf("the plan is %v", s.Plan)
	}
}

// A take-off that is cut at 10 m ends in a safe hold: within 21 s the plane is at 80 m and 22 m/s, and circles over the
// place where it was cut.
func TestACutTakeOffEndsInAHold(t *testing.T) {
	m := contractMission(t, "plane", `<ReactiveFallback><Condition name="low" on="h ge 10 [m]" off="h lt 0 [m]"/><take_off/></ReactiveFallback>`,
		"horizon: 120\nrecord: {interval: 1}\n")
	_, l := flown(t, m)
	cut := l.at(m, "take_off", bt.Deactivating)
	if len(cut) != 1 {
		t.Fatalf("it is cut at %v", cut)
	}
	h, v, north, east := l.column(m, "h"), l.column(m, "airspeed"), l.column(m, "north"), l.column(m, "east")
	at := 0
	for i, s := range l.times {
		if s <= cut[0] {
			at = i
		}
		if s < cut[0]+21 {
			continue
		}
		if math.Abs(h[i]-80) > 3 || math.Abs(v[i]-22) > 1.5 || math.Hypot(north[i]-north[at], east[i]-east[at]) > 100 {
			t.Fatalf("%.0f s after the cut it is at %.1f m, %.1f m/s", s-cut[0], h[i], v[i])
		}
	}
	near(t, "height at the cut", []float64{h[at]}, 0.1, 10)
	near(t, "mode at the end", l.ends(m, "mode", "armed"), 0, 3, 1)
}

// What follows a take-off that was cut, at any height and to any hold, begins when the plane is near the height of
// the hold, and not slow. It holds there.
func TestTheHoldAfterACutTakeOff(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 23))
		to, speed := float64(40+r.IntN(120)), float64(16+r.IntN(12))
		at := 3 + r.IntN(int(to)-12)
		m := contractMission(t, "plane", fmt.Sprintf(`<Sequence><ReactiveFallback><Condition name="low" on="h ge %d [m]" off="h lt -9 [m]"/>
			<take_off to_h="%g [m]" to_speed="%g [m/s]"/></ReactiveFallback><hold/></Sequence>`, at, to, speed),
			"horizon: 200\nrecord: {interval: 1}\n")
		_, l := flown(t, m)
		holds := l.at(m, "hold", bt.Running)
		if len(holds) != 1 {
			t.Fatalf("seed %d: it holds at %v", seed, holds)
		}
		h, v := l.column(m, "h"), l.column(m, "airspeed")
		for i, s := range l.times {
			if s >= holds[0]+1 && (math.Abs(h[i]-to) > 6 || v[i] < min(speed, 20)-3) {
				t.Fatalf("seed %d: %.0f s after a cut at %d m to %g m it is at %.1f m, %.1f m/s, not %g", seed, s-holds[0], at, to,
					h[i], v[i], speed)
			}
		}
	}
}

// All actions of the library but those without an end end well on the simulated plane, one after the other, until it is
// on the ground and disarmed; with wind.
func TestTheLibraryFlies(t *testing.T) {
	m := contractMission(t, "plane", `<Sequence><take_off/><fly_to to_north="600 [m]" to_east="-200 [m]" to_h="90 [m]"/><climb_to to_h="120 [m]"/>
		<set_speed to_speed="26 [m/s]"/>
		<SubTree ID="loiter_turns" to_north="300 [m]" to_east="300 [m]" to_h="100 [m]" to_radius="150 [m]" turns="2"/>
		<SubTree ID="loiter_time" to_north="0 [m]" to_east="300 [m]" to_h="100 [m]" duration="30 [s]"/>
		<wait duration="5 [s]"/><return_home/><land/><take_off/><return_home/><land/></Sequence>`,
		"horizon: 1200\nends_with_plan: true\nenvironment: {}\nparameters: {wind.north: 3, wind.east: -2}\n")
	r, l := flown(t, m)
	if s := r.Summary(); s.Plan != record.PlanSucceeded {
		t.Fatalf("the plan is %v", s.Plan)
	}
	near(t, "h, airspeed, armed, in air", l.ends(m, "h", "airspeed", "armed", "in_air"),
		1, 0, 0.5, 0, 0)
	if turns := l.at(m, "turn", bt.Finished); len(turns) != 1 {
		t.Errorf("turns end at %v", turns)
	}
}

// So do those of the library of copters.
func TestTheLibraryOfCoptersFlies(t *testing.T) {
	m := contractMission(t, "copter", `<Sequence><take_off/><fly_to to_north="60 [m]" to_east="-20 [m]" to_h="30 [m]"/><climb_to to_h="40 [m]"/>
		<set_speed to_speed="5 [m/s]"/>
		<SubTree ID="loiter_time" to_north="0 [m]" to_east="30 [m]" to_h="20 [m]" duration="30 [s]"/>
		<SubTree ID="circuit" north_1="0" east_1="0" north_2="50 [m]" east_2="0" north_3="50 [m]" east_3="50 [m]" north_4="0" east_4="50 [m]"
			to_h="25 [m]" rounds="2"/>
		<SubTree ID="loiter_turns" to_north="20 [m]" to_east="0 [m]" to_h="25 [m]" turns="2"/>
		<wait duration="5 [s]"/><return_home/><take_off to_h="10 [m]"/><land/></Sequence>`,
		"horizon: 1200\nends_with_plan: true\nparameters: {wind.north: 3, wind.east: -2}\n")
	r, l := flown(t, m)
	if s := r.Summary(); s.Plan != record.PlanSucceeded {
		t.Fatalf("the plan is %v", s.Plan)
	}
	near(t, "h, north, east, armed, in air", l.ends(m, "h", "north", "east", "armed", "in_air"), 2, 0, 0, 0, 0, 0)
	if rounds := l.at(m, "round", bt.Finished); len(rounds) != 2 {
		t.Errorf("rounds end at %v", rounds)
	}
}

// A take-off of a copter that is cut at 3 m ends in a hold over the place.
func TestACutTakeOffOfACopter(t *testing.T) {
	m := contractMission(t, "copter", `<ReactiveFallback><Condition name="low" on="h ge 3 [m]" off="h lt 0 [m]"/><take_off/></ReactiveFallback>`,
		"horizon: 60\nrecord: {interval: 1}\n")
	_, l := flown(t, m)
	near(t, "h, climb, groundspeed, armed", l.ends(m, "h", "climb", "groundspeed", "armed"), 0.1, 20, 0, 0, 1)
}
