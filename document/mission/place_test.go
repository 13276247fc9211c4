package mission_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/equations"
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
