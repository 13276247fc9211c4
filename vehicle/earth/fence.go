package earth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Coordinates are those of a place, in m from home.
type Coordinates struct {
	North float64 `json:"north"`
	East  float64 `json:"east"`
}

// Area is a polygon or a circle.
type Area struct {
	Forbidden bool          `json:"forbidden"` // the vehicle must stay outside; otherwise inside
	Corners   []Coordinates `json:"corners"`   // of a polygon; none: it is a circle
	Centre    Coordinates   `json:"centre"`    // of a circle
	Radius    float64       `json:"radius"`    // of a circle [m]
}

// Fence is where a vehicle may fly, in metres from home: inside each area, and outside of each forbidden one.
type Fence struct {
	Areas []Area
	Top   float64 // the greatest height above home [m]; 0: any
}

// Refuge is a rally point: a place to return to instead of home.
type Refuge struct {
	Coordinates
	H float64 // height above home [m]
}

// Limits of a fence. Autopilots store the corners of polygons and the circles as items, small boards fewer than these.
const (
	MaxFenceItems = 200     // corners and circles
	MaxRefuges    = 50      // rally points
	Farthest      = 100_000 // the largest coordinate [m]: maps of metres are for short distances
	Nearest       = 0.1     // the least distance [m] of two corners: autopilots store centimetres
)

// Empty reports whether the vehicle may fly anywhere.
func (f Fence) Empty() bool { return len(f.Areas) == 0 && f.Top == 0 }

// Items returns the number of items in which an autopilot stores the areas: corners and circles.
func (f Fence) Items() int {
	n := 0
	for _, a := range f.Areas {
		n += max(1, len(a.Corners))
	}
	return n
}

// Allows reports whether the vehicle may be at a place, at a height [m] above home.
func (f Fence) Allows(p Coordinates, h float64) bool { return f.Wrong(p, h) == "" }

// Wrong says where a place, at a height [m] above home, is that the vehicle may not be; "" if it may be there.
func (f Fence) Wrong(p Coordinates, h float64) string {
	for _, a := range f.Areas {
		if text := a.Wrong(p); text != "" {
			return text
		}
	}
	if f.Top != 0 && !(h <= f.Top) {
		return "above max_h"
	}
	return ""
}

// Wrong says where a place is that the area does not allow; "" if it does.
func (a Area) Wrong(p Coordinates) string {
	switch inside := a.Contains(p); {
	case inside && a.Forbidden:
		return "inside of an area of exclusion"
	case !inside && !a.Forbidden:
		return "outside of an area of inclusion"
	}
	return ""
}

// Contains reports whether a place is in the area: whether a line from it crosses the sides an odd number of times.
func (a Area) Contains(p Coordinates) bool {
	if len(a.Corners) == 0 {
		return math.Hypot(p.North-a.Centre.North, p.East-a.Centre.East) <= a.Radius
	}
	inside := false
	last := a.Corners[len(a.Corners)-1]
	for _, c := range a.Corners {
		if (last.North > p.North) != (c.North > p.North) &&
			p.East < (c.East-last.East)*(p.North-last.North)/(c.North-last.North)+last.East {
			inside = !inside
		}
		last = c
	}
	return inside
}

// Mistake returns what is wrong with a polygon, "" if nothing is.
func (a Area) Mistake() string {
	n := len(a.Corners)
	if n < 3 {
		return fmt.Sprintf("a polygon has at least 3 corners, not %d", n)
	}
	ends := func(i int) (from, to Coordinates) { return a.Corners[i], a.Corners[(i+1)%n] }
	for i := range n {
		from, to := ends(i)
		if !(math.Hypot(to.North-from.North, to.East-from.East) >= Nearest) {
			return fmt.Sprintf("the corners %d and %d of the polygon are the same place", i+1, (i+1)%n+1)
		}
	}
	for i := range n {
		before, at, after := a.Corners[(i+n-1)%n], a.Corners[i], a.Corners[(i+1)%n]
		if turn(before, at, after) == 0 &&
			(before.North-at.North)*(after.North-at.North)+(before.East-at.East)*(after.East-at.East) > 0 {
			return fmt.Sprintf("the sides at corner %d of the polygon lie on each other", i+1)
		}
	}
	for i := range n {
		for k := i + 2; k < n && (i > 0 || k < n-1); k++ { // neighbours meet in a corner
			p, q := ends(i)
			if r, s := ends(k); cross(p, q, r, s) {
				return fmt.Sprintf("the sides %d and %d of the polygon cross", i+1, k+1)
			}
		}
	}
	return ""
}

// turn is positive if the way from a over b to c turns from north to east, negative if it turns back; 0: it does not
// turn.
func turn(a, b, c Coordinates) float64 {
	return (b.North-a.North)*(c.East-a.East) - (b.East-a.East)*(c.North-a.North)
}

// cross reports whether two sides have a place in common.
func cross(p, q, r, s Coordinates) bool {
	if (turn(p, q, r) > 0) != (turn(p, q, s) > 0) && (turn(r, s, p) > 0) != (turn(r, s, q) > 0) {
		return true
	}
	on := func(a, b, c Coordinates) bool { // c is on the side from a to b
		return turn(a, b, c) == 0 && min(a.North, b.North) <= c.North && c.North <= max(a.North, b.North) &&
			min(a.East, b.East) <= c.East && c.East <= max(a.East, b.East)
	}
	return on(p, q, r) || on(p, q, s) || on(r, s, p) || on(r, s, q)
}

// Breach returns the condition, over the signals north, east and h, that the vehicle is where it may not be; "false" if
// it may be anywhere. Its relations are smooth, and it has one for each side of a polygon.
func (f Fence) Breach() string {
	var parts []string
	for _, a := range f.Areas {
		inside := a.inside()
		if !a.Forbidden {
			inside = "not (" + inside + ")"
		}
		parts = append(parts, inside)
	}
	if f.Top > 0 {
		parts = append(parts, "h gt "+metres(f.Top))
	}
	return cmp.Or(strings.Join(parts, " or "), "false")
}

// inside returns the condition that the vehicle is in the area.
func (a Area) inside() string {
	if len(a.Corners) == 0 {
		return fmt.Sprintf("(%s)^2 + (%s)^2 le %s^2", from("north", a.Centre.North), from("east", a.Centre.East),
			metres(a.Radius))
	}
	corners := a.Corners
	if area(corners) < 0 { // the inside is to the right of each side
		corners = slices.Clone(corners)
		slices.Reverse(corners)
	}
	first, last := 0, 0 // the corners farthest to the south and to the north
	for i, c := range corners {
		if c.North < corners[first].North {
			first = i
		}
		if c.North > corners[last].North {
			last = i
		}
	}
	chain := func(from, to int) []Coordinates {
		list := []Coordinates{corners[from]}
		for i := from; i != to; {
			i = (i + 1) % len(corners)
			list = append(list, corners[i])
		}
		return list
	}
	return "(" + right(chain(first, last)) + ") and (" + right(chain(last, first)) + ")"
}

// right returns the condition of being to the right of a chain of sides whose first and last one go on for ever. Each
// side occurs once (D. Dobkin, L. Guibas, J. Hershberger and J. Snoeyink, An efficient algorithm for finding the CSG
// representation of a simple polygon, SIGGRAPH 1988): the chain is divided at a corner of its convex hull, beyond which
// both parts go on without crossing.
func right(chain []Coordinates) string {
	n := len(chain) - 1 // sides
	if n == 1 {
		return side(chain[0], chain[1])
	}
	start, end := direction(chain[1], chain[0]), direction(chain[n-1], chain[n])
	out := Coordinates{-start.North - end.North, -start.East - end.East} // away from both ends
	if math.Hypot(out.North, out.East) < 1e-9 {                          // they are opposite
		out = Coordinates{-start.East, start.North}
	}
	at := 1
	for i := 2; i < n; i++ {
		if out.North*(chain[i].North-chain[at].North)+out.East*(chain[i].East-chain[at].East) > 0 {
			at = i
		}
	}
	operator := "and"
	if turn(chain[at-1], chain[at], chain[at+1]) < 0 {
		operator = "or"
	}
	return "(" + right(chain[:at+1]) + ") " + operator + " (" + right(chain[at:]) + ")"
}

// side returns the condition of being to the right of a line.
func side(a, b Coordinates) string {
	d := direction(a, b)
	relation := func(name string, at, sign float64) string {
		if sign > 0 {
			return name + " ge " + metres(at)
		}
		return name + " le " + metres(at)
	}
	switch {
	case a.East == b.East:
		return relation("east", a.East, d.North)
	case a.North == b.North:
		return relation("north", a.North, -d.East)
	}
	return fmt.Sprintf("%s * (%s) ge %s * (%s)", number(d.North), from("east", a.East), number(d.East),
		from("north", a.North))
}

func direction(a, b Coordinates) Coordinates {
	n, e := b.North-a.North, b.East-a.East
	l := math.Hypot(n, e)
	return Coordinates{n / l, e / l}
}

// area is that of a polygon [m^2], positive if its corners go round from north to east.
func area(corners []Coordinates) (sum float64) {
	for i := 1; i+1 < len(corners); i++ {
		sum += turn(corners[0], corners[i], corners[i+1])
	}
	return sum / 2
}

// from returns the difference of a signal from a number.
func from(signal string, at float64) string {
	switch {
	case at < 0:
		return signal + " + " + metres(-at)
	case at > 0:
		return signal + " - " + metres(at)
	}
	return signal
}

func metres(v float64) string { return number(v) + " [m]" }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
