package expr

import (
	"fmt"
	"math"
)

// implied are the signals and constants that a function of places reads behind its arguments: the vehicle's position,
// the place of home, and the radii of the ellipsoid there, which are metres for each radian.
var implied = map[string][]string{
	"north_of":    {"home_lat", "home_meridian"},
	"east_of":     {"home_lon", "home_parallel"},
	"distance_to": {"home_lat", "home_meridian", "home_lon", "home_parallel", "north", "east"},
}

// ofHome are hints for the constants and the signals that depend on the place of home, or on its height.
var ofHome = func() map[string]string {
	const site = "set it in the mission: `environment: {lat_deg: 48.0814, lon_deg: 11.2831}`"
	const height = "set its height in the mission: `environment: {alt: 590}`, above mean sea level [m]"
	return map[string]string{"home_lat": site, "home_meridian": site, "home_lon": site, "home_parallel": site,
		"lat": site, "lon": site, "home_alt": height, "alt": height}
}()

// farthest is the largest distance from home, north or east, of a place [m]: a plane is a map for short distances.
const farthest = 100_000

// joinImplied returns the arguments of a call with the names that it implies.
func (n *Node) joinImplied(args []*Node, end int) []*Node {
	list := implied[n.name]
	if f := functionIndex(n.name); list == nil || len(args) != functions[f].most-len(list) {
		return args
	}
	for _, name := range list {
		args = append(args, (&Node{op: OpName, name: name, implied: true, at: end, end: end}).complete())
	}
	return args
}

// coordinates returns the positions north and east of home, or one of them, that a function of places computes.
func (n *Node) coordinates() []*Node {
	if a := n.args; n.name == "distance_to" {
		return []*Node{function1("north_of", a[0], a[2], a[3]), function1("east_of", a[1], a[4], a[5])}
	}
	return []*Node{n}
}

// placeMeaning returns what a function of places stands for, on the plane that touches the ellipsoid at home. The
// arcsine takes the shorter way round the earth, without a jump.
func (n *Node) placeMeaning() *Node {
	if at := n.coordinates(); len(at) == 2 {
		square := func(i int) *Node { return build(OpPower, build(OpSubtract, n.args[6+i], at[i]), literal(2)) }
		return function1("sqrt", build(OpAdd, square(0), square(1)))
	}
	angle := n.args[0]
	if angle.unitless() {
		angle = build(OpMultiply, angle, literal(math.Pi/180))
	}
	if angle = build(OpSubtract, angle, n.args[1]); n.name == "east_of" {
		angle = function1("asin", function1("sin", angle))
	}
	return build(OpMultiply, angle, n.args[2])
}

// located returns a tree with the constants of the scope as numbers, and functions of places as what they stand for.
func (s Scope) located(n *Node) *Node {
	switch {
	case n.op == OpName && s[n.name].Constant != nil:
		return (&Node{op: OpNumber, at: n.at, end: n.end, value: *s[n.name].Constant, unit: s[n.name].Unit}).complete()
	case implied[n.name] == nil || n.means == nil || n.op != OpCall:
		return n.rebuilt(s.located)
	}
	c := s.located(n.means)
	if c.constant {
		c = (&Node{op: OpNumber, value: c.folded, unit: metre}).complete()
	}
	return c.moved(&Node{at: n.at, end: n.end, name: n.replaced})
}

// unitless reports whether a node is a constant without any unit.
func (n *Node) unitless() bool {
	return n.constant && n.walk(func(n *Node) bool { return n.op != OpPi && (n.op != OpNumber || n.unit.any) })
}

// degrees reports a number without a unit that is compared with an angle: with a place on the earth, or with another
// one if it is more than a turn.
func (c *checker) degrees(sides []*Node) {
	for i, a := range sides {
		b, least := sides[1-i], 2*math.Pi
		if ofHome[a.name] != "" {
			least = 0
		}
		if a.op == OpName && c.scope[a.name].Unit.text == "rad" && b.unitless() && math.Abs(b.folded) > least {
			c.report(b, CodeIncoherence, fmt.Sprintf("%s is an angle, and %s has no unit", a.name, short(b)),
				"write "+short(b)+" [deg]")
		}
	}
}

// angular reports whether each number of an angle that changes has a unit, and each signal in it is an angle.
func (c *checker) angular(n *Node) bool {
	return n.walk(func(n *Node) bool {
		return n.op == OpNumber && !n.unit.any || n.op == OpName && c.scope[n.name].Unit.text == "rad" ||
			n.op != OpNumber && n.op != OpName
	})
}

// place checks a function of places.
func (c *checker) place(n *Node) quantity {
	before := len(c.errors)
	own := len(n.args) - len(implied[n.name])
	for _, a := range n.args[own:] {
		if c.value(a); len(c.errors) > before {
			return quantity{unit: metre} // one name that is missing is enough
		}
	}
	for i, a := range n.args[:own] {
		what, most := "latitude", math.Pi/2
		if i > 0 || n.name == "east_of" {
			what, most = "longitude", math.Pi
		}
		angle := a.folded
		if a.unitless() {
			angle *= math.Pi / 180
		}
		q, degrees := c.number(a, n.name+" needs numbers"), 180/math.Pi
		switch {
		case !q.plain():
			c.report(a, CodeIncoherence, fmt.Sprintf("%s takes a %s, but %s", n.name, what, q.of(a)), "")
		case !a.constant && c.scope != nil && !c.angular(a):
			c.report(a, CodeIncoherence, fmt.Sprintf("%s takes a %s, and %s has a part without [deg]", n.name, what, short(a)),
				"write numbers with their unit, and signals that are angles")
		case a.constant && !(math.Abs(angle) <= most):
			c.report(a, CodeIncoherence, fmt.Sprintf("%.7g degrees is not a %s, which is between -%g and %g",
				angle*degrees, what, most*degrees, most*degrees), latitudeFirst)
		}
	}
	for _, at := range n.coordinates() {
		x := c.scope.located(at)
		if x.constant && len(c.errors) == before && !(math.Abs(x.folded) <= farthest) {
			c.report(n, CodeIncoherence, fmt.Sprintf("%s is more than %d km from home", short(n), farthest/1000), latitudeFirst)
		}
	}
	return quantity{unit: metre}
}

const latitudeFirst = "write degrees, the latitude first, as in 48.0814, 11.2831"
