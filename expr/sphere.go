package expr

import "math"

// EarthRadius is the radius of the sphere on which distance and bearing are computed [m]: the mean radius of the Earth
// (H. Moritz, Geodetic Reference System 1980, Journal of Geodesy 74, 2000: R1).
const EarthRadius = 6371008.7714

var metre, _ = ParseUnit("m")

// meaning returns what a function stands for that is short for an expression of others: analyses and compiled code read
// that; nil for another function.
func (n *Node) meaning() *Node {
	switch n.name {
	case "wrap":
		return wrap(n.args)
	case "distance":
		return distance(n.args)
	case "bearing":
		return bearing(n.args)
	case "distance_to", "north_of", "east_of":
		return n.placeMeaning()
	}
	return nil
}

func build(o Op, args ...*Node) *Node { return (&Node{op: o, args: args}).complete() }

func function1(name string, args ...*Node) *Node {
	return (&Node{op: OpCall, name: name, args: args}).complete()
}

func literal(x float64) *Node { return (&Node{op: OpNumber, value: x, unit: AnyUnit}).complete() }

// wrap returns the angle between -pi and pi that differs from x by whole turns.
func wrap(args []*Node) *Node {
	return build(OpSubtract, turned(build(OpAdd, args[0], literal(math.Pi))), literal(math.Pi))
}

// turned returns the angle between 0 and 2 pi.
func turned(x *Node) *Node { return function1("mod", x, literal(2*math.Pi)) }

// arc returns the components of the direction from one place to another on the unit sphere, given by latitude and
// longitude: to the east, to the north, and along the first place's vertical (T. Vincenty's formula for a sphere).
func arc(args []*Node) (east, north, up *Node) {
	sin := func(x *Node) *Node { return function1("sin", x) }
	cos := func(x *Node) *Node { return function1("cos", x) }
	from, to, turn := args[0], args[2], build(OpSubtract, args[3], args[1])
	level := build(OpMultiply, cos(to), cos(turn))
	return build(OpMultiply, cos(to), sin(turn)),
		build(OpSubtract, build(OpMultiply, cos(from), sin(to)), build(OpMultiply, sin(from), level)),
		build(OpAdd, build(OpMultiply, sin(from), sin(to)), build(OpMultiply, cos(from), level))
}

// distance returns the length of the great circle between two places.
func distance(args []*Node) *Node {
	east, north, up := arc(args)
	square := func(x *Node) *Node { return build(OpPower, x, literal(2)) }
	aside := function1("sqrt", build(OpAdd, square(east), square(north)))
	return build(OpMultiply, literal(EarthRadius), function1("atan2", aside, up))
}

// bearing returns the initial direction of the great circle between two places: the angle from north, clockwise.
func bearing(args []*Node) *Node {
	east, north, _ := arc(args)
	return turned(function1("atan2", east, north))
}
