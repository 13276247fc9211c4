package mission

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// fenceRadius is the parameter of the fence of a mission that has no fence of its own.
const fenceRadius = "fence.radius"

var metre, _ = expr.ParseUnit("m")

// fences reads the fence and the rally points, and gives the vehicle its fence. Home and the rally points must be
// where the vehicle may be.
func (b *builder) fences(limits, rally *yamldoc.Node, offer model.Offer) {
	m := b.m
	for _, n := range []*yamldoc.Node{limits, rally} {
		if n != nil && offer.Fenced == nil {
			b.Add(n, "no-fence", "write `vehicle: plane` or `vehicle: copter`", "vehicle %s has no fence and no rally points",
				m.Vehicle.Name)
			return
		}
	}
	before := len(b.Diags)
	var at []*yamldoc.Node // of the areas
	if limits != nil {
		at = b.limits(limits)
	}
	if rally != nil {
		b.Sequence(rally, "rally", func(n *yamldoc.Node) {
			before := len(b.Diags)
			at, h := b.spot(n, "a rally point", "h", "alt")
			if h <= 0 && len(b.Diags) == before {
				b.Add(n, "out-of-range", "", "the height of a rally point must be positive")
			}
			m.Rally = append(m.Rally, earth.Refuge{Coordinates: at, H: h})
		})
	}
	if n := len(m.Rally); n > earth.MaxRefuges {
		b.Add(rally, "too-large", "", "there are %d rally points; at most %d are allowed", n, earth.MaxRefuges)
	}
	if len(b.Diags) > before {
		return
	}
	for i, a := range m.Fence.Areas {
		if n, text := at[i], a.Wrong(earth.Coordinates{}); text != "" {
			b.Add(n, "outside-fence", "positions are metres north and east of home, [0, 0]", "home is %s", text)
		}
	}
	for i, r := range m.Rally {
		if n, text := rally.Items[i], m.Fence.Wrong(r.Coordinates, r.H); text != "" {
			b.Add(n, "outside-fence", "move it, or the fence", "the vehicle may not be at this rally point: it is %s", text)
		}
	}
	if !m.Fence.Empty() {
		m.Vehicle = offer.Fenced(m.Fence.Breach())
	}
}

// limits reads the fence, and returns the nodes of its areas.
func (b *builder) limits(n *yamldoc.Node) (at []*yamldoc.Node) {
	f := &b.m.Fence
	areas := func(what string, forbidden bool) func(*yamldoc.Node) {
		return func(n *yamldoc.Node) {
			b.Sequence(n, what, func(n *yamldoc.Node) {
				a := b.area(n)
				a.Forbidden = forbidden
				f.Areas, at = append(f.Areas, a), append(at, n)
			})
		}
	}
	before, tops := len(b.Diags), 0
	b.Fields(n, "the fence", yamldoc.Keys{
		"max_h": func(n *yamldoc.Node) {
			tops++
			f.Top = b.Bounded(n, metre, "max_h", func(v float64) bool { return v > 0 }, "be positive", "")
		},
		"max_alt": func(n *yamldoc.Node) {
			tops++
			f.Top = b.Number(n, metre, "max_alt") - b.level(n)
			if f.Top <= 0 && len(b.Diags) == before {
				b.Add(n, "out-of-range", "max_alt is above mean sea level; max_h is above home", "max_alt is not above home")
			}
		},
		"inclusion": areas("inclusion", false),
		"exclusion": areas("exclusion", true),
	})
	if tops > 1 {
		b.Add(n, "two-sources", "leave one out", "max_h and max_alt are both given")
	}
	if f.Empty() && len(b.Diags) == before {
		b.Add(n, "missing-key", "inclusion: [{circle: {north: 0, east: 0, radius: 500}}]",
			"a fence needs `inclusion`, `exclusion` or `max_h`")
	}
	if i := f.Items(); i > earth.MaxFenceItems {
		b.Add(n, "too-large", "autopilots have little room for fences",
			"the fence has %d corners and circles; at most %d are allowed", i, earth.MaxFenceItems)
	}
	return at
}

// area reads a polygon or a circle.
func (b *builder) area(n *yamldoc.Node) (a earth.Area) {
	before := len(b.Diags)
	kinds := 0
	polygon := func(key string, names ...string) func(*yamldoc.Node) {
		return func(n *yamldoc.Node) {
			kinds++
			b.Sequence(n, key, func(n *yamldoc.Node) { a.Corners = append(a.Corners, b.corner(n, names...)) })
			if len(b.Diags) > before || len(a.Corners) > earth.MaxFenceItems { // which is reported of the whole fence
				return
			}
			if text := a.Mistake(); text != "" {
				b.Add(n, "wrong-polygon", "list the corners in their order round the polygon, each as ["+
					strings.Join(names, ", ")+"]", "%s", text)
			}
		}
	}
	b.Fields(n, "an area", yamldoc.Keys{
		"polygon":         polygon("polygon", "north", "east"),
		"polygon_lat_lon": polygon("polygon_lat_lon", "lat", "lon"),
		"circle": func(n *yamldoc.Node) {
			kinds++
			a.Centre, a.Radius = b.spot(n, "a circle", "radius")
			if a.Radius <= 0 && len(b.Diags) == before {
				b.Add(n, "out-of-range", "", "the radius of a circle must be positive")
			}
		},
	})
	if kinds != 1 && len(b.Diags) == before {
		b.Add(n, "missing-key", "{circle: {north: 0, east: 0, radius: 500}}", "an area is either a polygon or a circle")
	}
	return a
}

func (b *builder) corner(n *yamldoc.Node, names ...string) earth.Coordinates {
	if n.Kind != yamldoc.Sequence || len(n.Items) != 2 {
		b.Add(n, "wrong-type", "[120, -40]", "a corner is a list of two numbers, [%s, %s]", names[0], names[1])
		return earth.Coordinates{}
	}
	return b.placed(n, names, b.coordinate(n.Items[0], names[0]), b.coordinate(n.Items[1], names[1]))
}

// spot reads a mapping of a place and of a length [m], which may have several names; all three are needed. It may be a
// place on the earth.
func (b *builder) spot(n *yamldoc.Node, what string, lengths ...string) (at earth.Coordinates, l float64) {
	before := len(b.Diags)
	given, keys := map[string]float64{}, yamldoc.Keys{}
	for _, name := range append([]string{"north", "east", "lat", "lon"}, lengths...) {
		keys[name] = func(n *yamldoc.Node) { given[name] = b.coordinate(n, name) }
	}
	b.Fields(n, what, keys)
	names := []string{"north", "east", lengths[0]}
	if _, degrees := given["lat"]; degrees {
		names = []string{"lat", "lon", lengths[0]}
	}
	if _, other := given[lengths[len(lengths)-1]]; other {
		names[2] = lengths[len(lengths)-1]
	}
	lacks := func(name string) bool { _, ok := given[name]; return !ok }
	if len(b.Diags) == before && (len(given) != len(names) || slices.ContainsFunc(names, lacks)) {
		b.Add(n, "missing-key", fmt.Sprintf("{%s: 100, %s: 50, %s: 40}", names[0], names[1], names[2]), "%s needs %s", what,
			strings.Join(names, ", "))
	}
	if len(b.Diags) > before {
		return at, 0
	}
	if l = given[names[2]]; names[2] == "alt" {
		l -= b.level(n)
	}
	return b.placed(n, names, given[names[0]], given[names[1]]), l
}

// placed returns the metres from home of two coordinates, which have names.
func (b *builder) placed(n *yamldoc.Node, names []string, first, second float64) (at earth.Coordinates) {
	if names[0] != "lat" {
		return earth.Coordinates{North: first, East: second}
	}
	home, _, given := b.m.Site()
	at.North, at.East = earth.NewPlane(home).Local(earth.Position{Lat: first, Lon: second})
	switch {
	case !given:
		b.Add(n, "no-site", "add `environment: {lat_deg: 48.0814, lon_deg: 11.2831}`",
			"places on the earth need the place of home, which the mission does not set")
	case math.Abs(at.North) > earth.Farthest || math.Abs(at.East) > earth.Farthest:
		b.Add(n, "out-of-range", "write the latitude first, as in 48.0814, 11.2831", "this is more than %d km from home",
			earth.Farthest/1000)
	}
	return at
}

// level returns the height of home above mean sea level [m].
func (b *builder) level(n *yamldoc.Node) float64 {
	if !b.m.leveled {
		b.Add(n, "no-site", "add `alt: 590` to `environment` [m]", "heights above mean sea level need that of home")
	}
	_, alt, _ := b.m.Site()
	return alt
}

// degree is the unit of places on the earth.
var degree, _ = expr.ParseUnit("deg")

func (b *builder) coordinate(n *yamldoc.Node, what string) float64 {
	unit, most, hint := metre, float64(earth.Farthest), "positions are metres from home"
	switch what {
	case "lat":
		unit, most, hint = degree, 90, "degrees, the latitude first"
	case "lon":
		unit, most, hint = degree, 180, "degrees, the latitude first"
	}
	return b.Bounded(n, unit, what, func(v float64) bool { return math.Abs(v) <= most },
		fmt.Sprintf("be within %g %v", most, unit), hint)
}
