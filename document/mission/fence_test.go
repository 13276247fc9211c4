package mission_test

import (
	"fmt"
	"strings"
	"testing"

	"canopy/diag"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/vehicle/earth"
	"canopy/vehicle/equations"
)

func fenced(vehicle, yaml string) (*mission.Mission, diag.List) {
	files := cart.Files{"m/test.yaml": "mission: test\nplan: plan.xml\nvehicle: " + vehicle + "\nhorizon: 100\n\n" + yaml,
		"m/plan.xml": cart.Plan(idle)}
	return mission.Read("m/test.yaml", files.Open, equations.Offers(), nil)
}

// Every mistake of a fence has its place, its code and a suggestion.
func TestMistakesOfFences(t *testing.T) {
	const square = "[[-9, -9], [-9, 9], [9, 9], [9, -9]]"
	polygon := func(corners string) string { return "fence: {inclusion: [{polygon: " + corners + "}]}" }
	var many []string
	for i := range earth.MaxFenceItems + 1 {
		many = append(many, fmt.Sprintf("{circle: {north: 0, east: 0, radius: %d}}", i+1))
	}
	for _, c := range []struct{ name, yaml, want string }{
		{"two corners", polygon("[[0, 0], [0, 9]]"), "6:31 wrong-polygon 3 corners, not 2 round the polygon"},
		{"sides that cross", polygon("[[-9, -9], [9, 9], [-9, 9], [9, -9]]"), "6:31 wrong-polygon sides 1 and 3 cross"},
		{"home outside", polygon("[[1, 1], [1, 9], [9, 9]]"), "6:21 outside-fence home is outside inclusion"},
		{"home in an exclusion", "fence: {exclusion: [{circle: {north: 3, east: 0, radius: 4}}]}",
			"6:21 outside-fence home is inside exclusion"},
		{"rally point outside", polygon(square) + "\nrally: [{north: 2, east: 2, h: 9}, {north: 10, east: 0, h: 30}]",
			"7:36 outside-fence rally point outside inclusion"},
		{"rally point too high", "fence: {max_h: 20}\nrally: [{north: 2, east: 2, h: 21}]", "7:9 outside-fence max_h"},
		{"unknown key", "fence: {inclusions: []}", `6:9 unknown-key did you mean "inclusion"?`},
		{"unknown key of an area", "fence: {inclusion: [{polygn: []}]}", `6:22 unknown-key did you mean "polygon"?`},
		{"unknown key of a rally point", "rally: [{north: 2, east: 2, hh: 9}]", `6:29 unknown-key hh did you mean "h"?`},
		{"no number", polygon("[[.nan, 1], [1, 9], [9, 9]]"), "6:33 not-a-number .nan north"},
		{"nan", polygon("[[nan, 1], [1, 9], [9, 9]]"), "6:33 not-a-number nan"},
		{"another unit", "fence: {max_h: \"120 [s]\"}", "6:17 unit-mismatch 120 [s]"},
		{"far away", polygon("[[2e5, 1], [1, 9], [9, 9]]"), "6:33 out-of-range within 100000 m"},
		{"a corner of three numbers", polygon("[[1, 2, 3], [1, 9], [9, 9]]"), "6:32 wrong-type [120, -40]"},
		{"no radius", "fence: {inclusion: [{circle: {north: 0, east: 0}}]}", "6:30 missing-key radius"},
		{"a negative radius", "fence: {inclusion: [{circle: {north: 0, east: 0, radius: -1}}]}", "6:30 out-of-range positive"},
		{"neither", "fence: {inclusion: [{}]}", "6:21 missing-key polygon circle"},
		{"empty", "fence: {}", "6:8 missing-key max_h"},
		{"no height", "rally: [{north: 2, east: 2}]", "6:9 missing-key h"},
		{"on the ground", "rally: [{north: 2, east: 2, h: 0}]", "6:9 out-of-range positive"},
		{"too many", "fence: {inclusion: [" + strings.Join(many, ", ") + "]}", "6:8 too-large 201 200"},
		{"the other fence", "parameters: {fence.radius: 100}\nfence: {max_h: 9}", "6:28 no-fence fence.radius remove"},
	} {
		_, diags := fenced("copter", c.yaml)
		matches(t, c.name, diags, c.want)
	}
	_, diags := fenced("quad", "fence: {max_h: 120}")
	matches(t, "a vehicle without a fence", diags, "6:8 no-fence quad plane copter")
}

// Lengths may have units; a mission's settings tell its fence from another.
func TestFences(t *testing.T) {
	m, diags := fenced("plane", "fence: {max_h: \"0.2 [km]\", inclusion: [{circle: {north: 10, east: \"-20 [m]\", radius: 500}}], exclusion: "+
		"[{polygon: [[100, 100], [100, 200], [200, 100]]}]}\nrally: [{north: 50, east: 0, h: 60}]")
	if m == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	if f := m.Fence; f.Top != 200 || len(f.Areas) != 2 || f.Areas[0].Radius != 500 || f.Areas[0].Centre.East != -20 ||
		!f.Areas[1].Forbidden || len(m.Rally) != 1 || m.Rally[0].H != 60 {
		t.Errorf("%+v, %+v", f, m.Rally)
	}
	if s := m.Settings(); !strings.Contains(s["fence"], "h gt 200 [m]") || s["rally point 1"] != "50 m north, 0 m east, 60 m high" {
		t.Errorf("%q, %q", s["fence"], s["rally point 1"])
	}
}
