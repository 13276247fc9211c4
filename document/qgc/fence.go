package qgc

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// limits returns the fence and the rally points in metres from home, to a centimetre, and why a mission cannot have
// them.
func (f *File) limits() (limits earth.Fence, rally []earth.Refuge, list diag.List) {
	plane := earth.NewPlane(f.Home.Position)
	local := func(at earth.Position) earth.Coordinates {
		north, east := plane.Local(at)
		return earth.Coordinates{North: math.Round(north*100) / 100, East: math.Round(east*100) / 100}
	}
	mistake := func(part, hint, format string, args ...any) {
		list = append(list, diag.Diagnostic{Source: f.source, Offset: f.places[part].Offset, Length: f.places[part].Length,
			Code: codeRange, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	far := func(at earth.Coordinates) bool { return max(math.Abs(at.North), math.Abs(at.East)) > earth.Farthest }
	included := 0
	for _, x := range f.Fence {
		a := earth.Area{Forbidden: !x.Inclusion}
		if len(x.Corners) == 0 {
			a.Centre, a.Radius = local(x.Centre), math.Round(x.Radius*100)/100
		}
		for _, c := range x.Corners {
			a.Corners = append(a.Corners, local(c))
		}
		limits.Areas = append(limits.Areas, a)
		if n := len(a.Corners); n == 0 || n > earth.MaxFenceItems { // which is reported of the whole fence
			continue
		}
		if text := a.Mistake(); text != "" {
			mistake(partFence, "correct it in QGroundControl", "%s", text)
		}
	}
	away := false
	for _, a := range limits.Areas {
		if !a.Forbidden {
			included++
		}
		away = away || far(a.Centre) || a.Radius > earth.Farthest
		for _, c := range a.Corners {
			away = away || far(c)
		}
	}
	if away {
		mistake(partFence, "", "the fence is farther than %d km from home", earth.Farthest/1000)
	}
	if n := limits.Items(); n > earth.MaxFenceItems {
		mistake(partFence, "", "the fence has %d corners and circles; a mission may have %d", n, earth.MaxFenceItems)
	}
	if f.PX4 && included > 1 {
		mistake(partFence, "draw one area of inclusion", "a PX4 may be inside any of several areas of inclusion, but "+
			"a vehicle of a mission must be inside each")
	}
	if len(list) == 0 && !limits.Allows(earth.Coordinates{}, 0) {
		mistake(partFence, "a vehicle of a mission must be inside of each area of inclusion: move the planned home, or "+
			"correct the fence in QGroundControl", "the planned home is not inside of the fence")
	}
	for i, r := range f.Rally {
		p := earth.Refuge{Coordinates: local(r.Position), H: math.Round(r.H*100) / 100}
		switch {
		case !(p.H > 0) || far(p.Coordinates):
			mistake(partRally, "", "rally point %d is far away, or not above home", i+1)
		case len(list) == 0 && !limits.Allows(p.Coordinates, p.H):
			mistake(partRally, "correct it in QGroundControl", "rally point %d is not inside of the fence", i+1)
		}
		rally = append(rally, p)
	}
	if n := len(rally); n > earth.MaxRefuges {
		mistake(partRally, "", "there are %d rally points; a mission may have %d", n, earth.MaxRefuges)
	}
	return limits, rally, list
}

// The parts of a file that its diagnostics point to.
const (
	partFence = "fence"
	partRally = "rally points"
)

// limited returns the fence and the rally points as a part of a mission.
func limited(limits earth.Fence, rally []earth.Refuge) string {
	var b strings.Builder
	metres := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	pair := func(c earth.Coordinates) string { return "[" + metres(c.North) + ", " + metres(c.East) + "]" }
	if !limits.Empty() {
		b.WriteString("\nfence:\n")
	}
	for _, forbidden := range []bool{false, true} {
		head := map[bool]string{false: "  inclusion:\n", true: "  exclusion:\n"}[forbidden]
		for _, a := range limits.Areas {
			if a.Forbidden != forbidden {
				continue
			}
			b.WriteString(head)
			head = ""
			if len(a.Corners) == 0 {
				fmt.Fprintf(&b, "    - circle: {north: %s, east: %s, radius: %s}\n", metres(a.Centre.North), metres(a.Centre.East),
					metres(a.Radius))
				continue
			}
			b.WriteString("    - polygon:\n")
			for _, c := range a.Corners {
				b.WriteString("        - " + pair(c) + "\n")
			}
		}
	}
	if len(rally) > 0 {
		b.WriteString("\nrally:\n")
	}
	for _, r := range rally {
		fmt.Fprintf(&b, "  - {north: %s, east: %s, h: %s}\n", metres(r.North), metres(r.East), metres(r.H))
	}
	return b.String()
}

// object is an object of JSON.
type object = map[string]any

// geoFence returns a fence as a part of a file.
func (x *exporter) geoFence() object {
	place := func(c earth.Coordinates) []float64 {
		at := x.plane.Global(c.North, c.East)
		return []float64{at.Lat, at.Lon}
	}
	polygons, circles := []any{}, []any{}
	for _, a := range x.limits.Areas {
		if len(a.Corners) == 0 {
			circles = append(circles, object{"inclusion": !a.Forbidden, "version": 1,
				"circle": object{"center": place(a.Centre), "radius": a.Radius}})
			continue
		}
		corners := [][]float64{}
		for _, c := range a.Corners {
			corners = append(corners, place(c))
		}
		polygons = append(polygons, object{"inclusion": !a.Forbidden, "version": 1, "polygon": corners})
	}
	return object{"version": 2, "circles": circles, "polygons": polygons}
}

// rallyPoints returns rally points as a part of a file.
func (x *exporter) rallyPoints() object {
	points := [][]float64{}
	for _, r := range x.rally {
		at := x.plane.Global(r.North, r.East)
		points = append(points, []float64{at.Lat, at.Lon, r.H})
	}
	return object{"version": 2, "points": points}
}
