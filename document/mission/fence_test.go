package mission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

func fenced(vehicle, yaml string) (*mission.Mission, diag.List) {
	files := cart.Files{"m/test.yaml": "mission: test\nplan: plan.xml\nvehicle: " + vehicle + "\nhorizon: 100\n\n" + yaml,
		"m/plan.xml": cart.Plan(idle)}
	return mission.Read("m/test.yaml", files.Open, equations.Offers(), nil)
}

// A fence has at most 200 items.
func TestTooManyFences(t *testing.T) {
	var many []string
	for i := range earth.MaxFenceItems + 1 {
		many = append(many, fmt.Sprintf("{circle: {north: 0, east: 0, radius: %d}}", i+1))
	}
	_, diags := fenced("copter", "fence: {inclusion: ["+strings.Join(many, ", ")+"]}")
	matches(t, "too many", diags, "6:8 too-large 201 200")
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
