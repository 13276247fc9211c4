package mission_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/diag"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/vehicle/earth"
	"canopy/vehicle/equations"
)

const home = "environment: {lat_deg: 48.0814, lon_deg: 11.2831, alt: 590}\n"

// sited reads a mission of a copter whose plan is a sequence of tasks of the library.
func sited(tasks, yaml string) (*mission.Mission, diag.List) {
	files := cart.Files{"test.yaml": "mission: test\nplan: plan.xml\nvehicle: copter\nhorizon: 100\n\n" + yaml,
		"plan.xml": `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/>` +
			"\n<BehaviorTree ID=\"m\"><Sequence>\n" + tasks + "\n</Sequence></BehaviorTree></root>"}
	return mission.Read("test.yaml", files.Open, equations.Offers(), nil)
}

// A place on the earth is the same place in metres from home, to a millimetre, up to 20 km away, on both sides of the
// date line and near the poles: in fences, rally points and actions.
func TestPlacesAreMetresFromHome(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 6))
	for range 100 {
		origin := earth.Position{Lat: 88 * (2*random.Float64() - 1), Lon: 180 * (2*random.Float64() - 1)}
		if random.IntN(3) == 0 {
			origin.Lon = math.Copysign(180-1e-3*random.Float64(), origin.Lon)
		}
		plane, alt := earth.NewPlane(origin), 4000*random.Float64()
		place := func() (earth.Coordinates, earth.Position) {
			c := earth.Coordinates{North: 14_000 * (2*random.Float64() - 1), East: 14_000 * (2*random.Float64() - 1)}
			return c, plane.Global(c.North, c.East)
		}
		site := fmt.Sprintf("environment: {lat_deg: %.9f, lon_deg: %.9f, alt: %.3f}\n", origin.Lat, origin.Lon, alt)
		centre, at := place()
		refuge, shelter := place()
		goal, target := place()
		yaml := site + fmt.Sprintf("fence: {max_alt: %.3f, inclusion: [{circle: {lat: %.9f, lon: %.9f, radius: 90000}}, "+
			"{polygon_lat_lon: [[%.9f, %.9f], [%.9f, %.9f], [%.9f, %.9f]]}]}\nrally: [{lat: %.9f, lon: %.9f, alt: %.3f}]",
			alt+120, at.Lat, at.Lon, plane.Global(-60000, -60000).Lat, plane.Global(-60000, -60000).Lon,
			plane.Global(-60000, 95000).Lat, plane.Global(-60000, 95000).Lon, plane.Global(95000, -60000).Lat,
			plane.Global(95000, -60000).Lon, shelter.Lat, shelter.Lon, alt+50)
		m, list := sited(fmt.Sprintf(`<fly_to to_lat="%.9f" to_lon="%.9f [deg]" to_alt="%.3f"/>`, target.Lat, target.Lon, alt+33), yaml)
		if m == nil {
			t.Fatal(site, list)
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) < 2e-3) {
				t.Errorf("%s: %s is %v, want %v", site, what, got, want)
			}
		}
		near("top", m.Fence.Top, 120)
		near("centre", m.Fence.Areas[0].Centre.North, centre.North)
		near("centre", m.Fence.Areas[0].Centre.East, centre.East)
		near("corner", m.Fence.Areas[1].Corners[1].East, 95000)
		near("rally point", m.Rally[0].North, refuge.North)
		near("rally point", m.Rally[0].East, refuge.East)
		near("rally point", m.Rally[0].H, 50)
		for _, a := range m.Plan.Leaves[0].Write {
			want, is := map[string]float64{"target_north": goal.North, "target_east": goal.East, "target_h": 33}[a.Target]
			if got, constant := a.Value.Constant(); is && !constant {
				t.Errorf("%s is %v", a.Target, a.Value)
			} else if is {
				near(a.Target, got, want)
			}
		}
	}
}

// Each mistake in a place has its code, its place and what to do.
func TestMistakesOfPlaces(t *testing.T) {
	area := func(area string) string { return home + "fence: {inclusion: [" + area + "]}" }
	for _, c := range []struct{ name, tasks, yaml, want string }{
		{"no site", `<fly_to to_lat="48.08" to_lon="11.28" to_h="30"/>`, "", "need the place of home lat_deg"},
		{"no height", `<fly_to to_lat="48.08" to_lon="11.28" to_alt="600"/>`, "environment: {lat_deg: 48.08, lon_deg: 11.28}",
			"set its height alt: 590"},
		{"exchanged", `<fly_to to_lat="11.28" to_lon="48.08" to_h="30"/>`, home, "3:17 more than 100 km from home latitude first"},
		{"no latitude", `<fly_to to_lat="480.8" to_lon="11.28" to_h="30"/>`, home, "480.8 degrees are no latitude"},
		{"no longitude", `<fly_to to_lat="48.08" to_lon="-180.1" to_h="30"/>`, home, "-180.1 degrees are no longitude"},
		{"two heights", `<fly_to to_lat="48.08" to_lon="11.28" to_alt="600" to_h="30"/>`, home,
			"3:39 conflicting-attributes to_alt to_h both"},
		{"two places", `<fly_to to_lat="48.08" to_north="9" to_lon="11.28" to_h="30"/>`, home, "3:9 to_lat to_north both"},
		{"half a place", `<fly_to lat="48.08" to_h="30"/>`, home, "3:9 missing-attribute lat needs lon"},
		{"a condition without a site", `<Condition name="c" on="distance_to(48.08, 11.28) lt 5 [m]"/>`, "", "need the place of home"},
		{"a condition far away", `<Condition name="c" on="distance_to(11.28, 48.08) lt 5 [m]"/>`, home, "more than 100 km"},
		{"a latitude without a site", `<Condition name="c" on="lat gt 48.1 [deg]"/>`, "", "need the place of home"},
		{"a latitude without a unit", `<Condition name="c" on="lat gt 48.1"/>`, home, "has no unit 48.1 [deg]"},
		{"a small longitude without a unit", `<Condition name="c" on="1.3 gt lon"/>`, home, "has no unit 1.3 [deg]"},
		{"a heading without a unit", `<Condition name="c" on="heading gt 90"/>`, home, "has no unit 90 [deg]"},
		{"a step without a unit", `<fly_to lat="lat + 0.001" lon="lon" to_h="30"/>`, home, "part without [deg] unit"},
		{"a signal that is no angle", `<fly_to lat="48.08" lon="h / 1 [m]" to_h="30"/>`, home, "part without [deg]"},
		{"an altitude without that of home", `<Condition name="c" on="alt lt 600 [m]"/>`, "", "set its height"},
		{"a property", "<hold/>", "check: {properties: [\"always(alt lt 600 [m])\"]}", "set its height"},
		{"a computed signal", "<hold/>", "signals: {near: {type: boolean, value: \"distance_to(48.08, 11.28) lt 5\"}}", "place of home"},
		{"a survey", `<SubTree ID="survey" polygon_lat_lon="48.08, 11.28; 48.09, 11.28; 48.09" spacing="50" to_h="30"/>`, home,
			"bad-survey corner 3 latitude first"},
		{"a survey far away", `<SubTree ID="survey" polygon_lat_lon="11.28, 48.08; 11.28, 48.09; 11.29, 48.09" spacing="50" to_h="30"/>`,
			home, "more than 100 km"},
		{"two polygons", `<SubTree ID="survey" polygon="0,0;9,9;9,0" polygon_lat_lon="1,2;2,3;3,1" spacing="50" to_h="30"/>`, home,
			"polygon is given twice"},
		{"an area without a site", "<hold/>", "fence: {inclusion: [{circle: {lat: 48, lon: 11, radius: 9}}]}", "6:30 no-site lat_deg"},
		{"an area far away", "<hold/>", area("{circle: {lat: 11, lon: 48, radius: 9}}"), "7:30 out-of-range latitude first"},
		{"no such latitude", "<hold/>", area("{polygon_lat_lon: [[91, 11], [48, 11], [48, 12]]}"), "within 90 deg"},
		{"metres and degrees", "<hold/>", area("{circle: {lat: 48, east: 11, radius: 9}}"), "missing-key lat, lon, radius"},
		{"two heights of a rally point", "<hold/>", home + "rally: [{north: 1, east: 2, h: 30, alt: 620}]", "missing-key north, east, alt"},
		{"an altitude below home", "<hold/>", home + "rally: [{north: 1, east: 2, alt: 62}]", "out-of-range positive"},
		{"two tops", "<hold/>", home + "fence: {max_alt: 700, max_h: 100}", "7:8 two-sources max_h max_alt"},
		{"a top below home", "<hold/>", home + "fence: {max_alt: 120}", "max_alt is not above home"},
		{"a top without a height", "<hold/>", "fence: {max_alt: 720}", "no-site alt: 590"},
	} {
		m, list := sited(c.tasks, c.yaml)
		all := ""
		for _, d := range list {
			line, column := d.Position()
			all += fmt.Sprintf("%d:%d %s %s %s\n", line, column, d.Code, d.Text, d.Hint)
		}
		if m != nil {
			t.Errorf("%s is accepted", c.name)
		}
		rest := all
		for _, word := range strings.Fields(c.want) {
			i := strings.Index(rest, word)
			if i < 0 {
				t.Errorf("%s: no %q in\n%s", c.name, word, all)
				break
			}
			rest = rest[i+len(word):]
		}
	}
}

// A step from where the vehicle is, with its unit, is a place. With another home on the command line, the same place is
// elsewhere from there.
func TestPlacesOfOtherHomes(t *testing.T) {
	if m, list := sited(`<fly_to lat="lat + 0.001 [deg]" lon="(lon + home_lon) / 2 [rad]" to_h="30"/>`, home); m == nil {
		t.Error(list)
	}
	files := cart.Files{"test.yaml": "mission: test\nplan: plan.xml\nvehicle: copter\nhorizon: 100\n" + home,
		"plan.xml": `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/>` +
			`<BehaviorTree ID="m"><fly_to lat="48.0814" lon="11.2831" alt="640"/></BehaviorTree></root>`}
	m, list := mission.Read("test.yaml", files.Open, equations.Offers(), []string{"site.lat_deg=48.0914", "site.alt=600"})
	if m == nil {
		t.Fatal(list)
	}
	for _, a := range m.Plan.Leaves[0].Write {
		want, is := map[string]float64{"target_north": -1112, "target_east": 0, "target_h": 40}[a.Target]
		if got, _ := a.Value.Constant(); is && math.Abs(got-want) > 1 {
			t.Errorf("%s is %v, want %v", a.Target, got, want)
		}
	}
}
