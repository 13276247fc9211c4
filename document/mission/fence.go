package mission

import (
	"fmt"
	"slices"
	"strings"

	"canopy/expr"
	"canopy/syntax/yamldoc"
	"canopy/vehicle/fence"
	"canopy/vehicle/model"
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
		b.Sequence(rally, "rally", func(n *yamldoc.Node) { m.Rally = append(m.Rally, b.refuge(n)) })
	}
	if n := len(m.Rally); n > fence.MaxRefuges {
		b.Add(rally, "too-large", "", "there are %d rally points; at most %d are allowed", n, fence.MaxRefuges)
	}
	if len(b.Diags) > before {
		return
	}
	for i, a := range m.Fence.Areas {
		if n := at[i]; a.Contains(fence.Coordinates{}) == a.Forbidden {
			b.Add(n, "outside-fence", "positions are metres north and east of home, [0, 0]", "home is %s", side(a))
		}
	}
	for i, r := range m.Rally {
		if n := rally.Items[i]; !m.Fence.Allows(r.Coordinates, r.H) {
			b.Add(n, "outside-fence", "move it, or the fence", "the vehicle may not be at this rally point: it is %s",
				b.reason(r))
		}
	}
	if !m.Fence.Empty() {
		m.Vehicle = offer.Fenced(m.Fence.Breach())
	}
}

// side describes a place where the vehicle may not be because of an area.
func side(a fence.Area) string {
	if a.Forbidden {
		return "inside of an area of exclusion"
	}
	return "outside of an area of inclusion"
}

func (b *builder) reason(r fence.Refuge) string {
	for _, a := range b.m.Fence.Areas {
		if a.Contains(r.Coordinates) == a.Forbidden {
			return side(a)
		}
	}
	return "above max_h"
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
	before := len(b.Diags)
	b.Fields(n, "the fence", yamldoc.Keys{
		"max_h": func(n *yamldoc.Node) {
			f.Top = b.Bounded(n, metre, "max_h", func(v float64) bool { return v > 0 }, "be positive", "")
		},
		"inclusion": areas("inclusion", false),
		"exclusion": areas("exclusion", true),
	})
	if f.Empty() && len(b.Diags) == before {
		b.Add(n, "missing-key", "inclusion: [{circle: {north: 0, east: 0, radius: 500}}]",
			"a fence needs `inclusion`, `exclusion` or `max_h`")
	}
	if i := f.Items(); i > fence.MaxItems {
		b.Add(n, "too-large", "autopilots have little room for fences",
			"the fence has %d corners and circles; at most %d are allowed", i, fence.MaxItems)
	}
	return at
}

// area reads a polygon or a circle.
func (b *builder) area(n *yamldoc.Node) (a fence.Area) {
	before := len(b.Diags)
	kinds := 0
	b.Fields(n, "an area", yamldoc.Keys{
		"polygon": func(n *yamldoc.Node) {
			kinds++
			b.Sequence(n, "polygon", func(n *yamldoc.Node) { a.Corners = append(a.Corners, b.corner(n)) })
			if len(b.Diags) > before || len(a.Corners) > fence.MaxItems { // which is reported of the whole fence
				return
			}
			if text := a.Mistake(); text != "" {
				b.Add(n, "wrong-polygon", "list the corners in their order round the polygon, each as [north, east]", "%s", text)
			}
		},
		"circle": func(n *yamldoc.Node) {
			kinds++
			v := b.numbers(n, "a circle", "north", "east", "radius")
			a.Centre, a.Radius = fence.Coordinates{North: v[0], East: v[1]}, v[2]
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

func (b *builder) corner(n *yamldoc.Node) fence.Coordinates {
	if n.Kind != yamldoc.Sequence || len(n.Items) != 2 {
		b.Add(n, "wrong-type", "[120, -40]", "a corner is a list of two numbers, [north, east]")
		return fence.Coordinates{}
	}
	return fence.Coordinates{North: b.coordinate(n.Items[0], "north"), East: b.coordinate(n.Items[1], "east")}
}

func (b *builder) refuge(n *yamldoc.Node) fence.Refuge {
	before := len(b.Diags)
	v := b.numbers(n, "a rally point", "north", "east", "h")
	if v[2] <= 0 && len(b.Diags) == before {
		b.Add(n, "out-of-range", "", "the height of a rally point must be positive")
	}
	return fence.Refuge{Coordinates: fence.Coordinates{North: v[0], East: v[1]}, H: v[2]}
}

// numbers reads a mapping of three numbers [m], all of which are needed.
func (b *builder) numbers(n *yamldoc.Node, what string, names ...string) (values [3]float64) {
	before := len(b.Diags)
	given := [3]bool{}
	keys := yamldoc.Keys{}
	for i, name := range names {
		keys[name] = func(n *yamldoc.Node) { values[i], given[i] = b.coordinate(n, name), true }
	}
	b.Fields(n, what, keys)
	if i := slices.Index(given[:], false); i >= 0 && len(b.Diags) == before {
		b.Add(n, "missing-key", fmt.Sprintf("{%s: 100, %s: 50, %s: 40}", names[0], names[1], names[2]), "%s needs %s", what,
			strings.Join(names, ", "))
	}
	return values
}

func (b *builder) coordinate(n *yamldoc.Node, what string) float64 {
	return b.Bounded(n, metre, what, func(v float64) bool { return -fence.Farthest <= v && v <= fence.Farthest },
		fmt.Sprintf("be within %d m", fence.Farthest), "positions are metres from home")
}
