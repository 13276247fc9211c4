package expr

import (
	"fmt"
	"math"
	"slices"
)

// implied are the signals that a function of places reads behind its arguments: the vehicle's place; or home's, with
// the radii of the ellipsoid there, which are metres for each radian.
var implied = map[string][]string{
	"distance_to": {"lat", "lon"},
	"north_of":    {"home_lat", "home_meridian"},
	"east_of":     {"home_lon", "home_parallel"},
}

// joinImplied returns the arguments of a call with the signals that it implies.
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

// placeMeaning returns what a function of places stands for. On the plane that touches the ellipsoid at home, the
// arcsine takes the shorter way round the earth, without a jump.
func (n *Node) placeMeaning() *Node {
	a := slices.Clone(n.args)
	for i := range a {
		if a[i].unitless() {
			a[i] = build(OpMultiply, a[i], literal(math.Pi/180))
		}
	}
	switch n.name {
	case "distance_to":
		return distance([]*Node{a[2], a[3], a[0], a[1]})
	case "north_of":
		return build(OpMultiply, build(OpSubtract, a[0], a[1]), a[2])
	}
	return build(OpMultiply, function1("asin", function1("sin", build(OpSubtract, a[0], a[1]))), a[2])
}

// Places returns the constants that the expression gives to functions of places: latitude and longitude [deg], NaN where
// there is none.
func (e *Expr) Places() (list [][2]float64) {
	e.root.walk(func(n *Node) bool {
		if own := len(n.args) - len(implied[n.name]); n.op == OpCall && own < len(n.args) {
			at := [2]float64{math.NaN(), math.NaN()}
			for i, a := range n.args[:own] {
				if n.name == "east_of" {
					i = 1
				}
				if a.constant {
					at[i] = a.degrees()
				}
			}
			list = append(list, at)
		}
		return true
	})
	return list
}

// degrees returns the angle [deg] that a constant is in a function of places.
func (n *Node) degrees() float64 {
	if n.unitless() {
		return n.folded
	}
	return n.folded * (180 / math.Pi)
}

// unitless reports whether a node is a constant without any unit.
func (n *Node) unitless() bool {
	return n.constant && n.walk(func(n *Node) bool { return n.op != OpPi && (n.op != OpNumber || n.unit.any) })
}

// degrees reports a number without a unit that is compared with an angle and is more than a turn.
func (c *checker) degrees(sides []*Node) {
	for i, a := range sides {
		b := sides[1-i]
		if a.op == OpName && c.scope[a.name].Unit.text == "rad" && b.unitless() && math.Abs(b.folded) > 2*math.Pi {
			c.report(b, CodeIncoherence, fmt.Sprintf("%s is in rad, and %s rad are more than a turn", a.name, short(b)),
				"write "+short(b)+" [deg]")
		}
	}
}

// place checks a function of places.
func (c *checker) place(n *Node) quantity {
	own := len(n.args) - len(implied[n.name])
	for i, a := range n.args {
		q := c.number(a, n.name+" needs numbers")
		if i >= own {
			continue
		}
		what, most := "latitude", 90.0
		if i > 0 || n.name == "east_of" {
			what, most = "longitude", 180
		}
		switch degrees := a.degrees(); {
		case !q.plain():
			c.report(a, CodeIncoherence, fmt.Sprintf("%s takes a %s, but %s", n.name, what, q.of(a)), "")
		case a.constant && !(math.Abs(degrees) <= most):
			c.report(a, CodeIncoherence, fmt.Sprintf("%.7g degrees are no %s: it is between -%g and %g", degrees, what, most,
				most), "write degrees, the latitude first, as in 48.0814, 11.2831")
		}
	}
	return quantity{unit: metre}
}
