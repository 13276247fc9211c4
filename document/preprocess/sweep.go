package preprocess

import (
	"fmt"
	"math"
	"slices"
)

// point is a place [m north and east of home].
type point struct{ north, east float64 }

// segment is a straight line that is flown from one place to another.
type segment struct{ from, to point }

// sweep returns parallel lines over a simple polygon, in the order in which they are flown: the first in the direction
// of the heading, at the left side of the polygon; each next one to its right, in the opposite direction.
//
// The polygon is cut into strips of one width, as few as are not wider than the spacing. In the middle of each strip
// there is a line as long as what the strip has of the polygon; where it leaves the polygon in between, there are
// several. So each point of the polygon is within half a strip of a line, and each point of a line within half a strip
// of the polygon.
func sweep(corners []point, heading, spacing float64) []segment {
	sin, cos := math.Sincos(heading)
	along, across := make([]float64, len(corners)), make([]float64, len(corners))
	for i, p := range corners {
		along[i], across[i] = p.north*cos+p.east*sin, p.east*cos-p.north*sin
	}
	left, width := slices.Min(across), slices.Max(across)-slices.Min(across)
	n := int(math.Max(1, math.Ceil(width/spacing-1e-9))) // widths that differ from whole ones by rounding only are whole
	place := func(a, c float64) point { return point{a*cos - c*sin, a*sin + c*cos} }
	var segments []segment
	for k := range n {
		low, high := left+width*float64(k)/float64(n), left+width*float64(k+1)/float64(n)
		parts, middle := extents(along, across, low, high), (low+high)/2
		if k%2 == 1 {
			slices.Reverse(parts)
		}
		for _, p := range parts {
			l := segment{place(p[0], middle), place(p[1], middle)}
			if k%2 == 1 {
				l.from, l.to = l.to, l.from
			}
			segments = append(segments, l)
		}
	}
	return segments
}

// extents returns the intervals along the lines in which a strip has points of the polygon, in their order.
//
// Whether it has some at a place changes only at the corners in the strip and where sides cross its borders.
func extents(along, across []float64, low, high float64) [][2]float64 {
	var at []float64
	for i := range along {
		k := (i + 1) % len(along)
		if across[i] >= low && across[i] <= high {
			at = append(at, along[i])
		}
		for _, border := range [...]float64{low, high} {
			if (across[i] < border) != (across[k] < border) {
				at = append(at, along[i]+(along[k]-along[i])*(border-across[i])/(across[k]-across[i]))
			}
		}
	}
	slices.Sort(at)
	var parts [][2]float64
	for i := 1; i < len(at); i++ {
		if !(at[i-1] < at[i]) || !touches(along, across, (at[i-1]+at[i])/2, low, high) {
			continue
		}
		if n := len(parts); n > 0 && parts[n-1][1] == at[i-1] {
			parts[n-1][1] = at[i]
		} else {
			parts = append(parts, [2]float64{at[i-1], at[i]})
		}
	}
	return parts
}

// touches reports whether the polygon has points between low and high at a place along the lines.
func touches(along, across []float64, a, low, high float64) bool {
	var crossings []float64
	for i := range along {
		k := (i + 1) % len(along)
		if (along[i] < a) != (along[k] < a) {
			crossings = append(crossings, across[i]+(across[k]-across[i])*(a-along[i])/(along[k]-along[i]))
		}
	}
	slices.Sort(crossings)
	for i := 1; i < len(crossings); i += 2 {
		if crossings[i-1] < high && crossings[i] > low {
			return true
		}
	}
	return false
}

// flaw says why a polygon cannot be surveyed, "" if it can.
func flaw(corners []point) (text, hint string) {
	n := len(corners)
	if n > 1 && corners[0] == corners[n-1] {
		return "the last corner is the first one", "leave it out: the polygon is closed without it"
	}
	for i := range n {
		if k := (i + 1) % n; corners[i] == corners[k] {
			return fmt.Sprintf("the corners %d and %d are the same", i+1, k+1), "leave one out"
		}
	}
	area := 0.0 // of the largest triangle with the first corner
	for i := range n {
		for k := range i {
			area = math.Max(area, math.Abs(turned(corners[0], corners[i], corners[k]))/2)
		}
	}
	if area < 1e-3 {
		return "the polygon has no area", "its corners must not be on one line"
	}
	for i := range n {
		for k := i + 1; k < n; k++ {
			if meet(corners, i, k) {
				return fmt.Sprintf("the sides that begin at the corners %d and %d touch or cross each other", i+1, k+1),
					"write the corners in their order round the polygon"
			}
		}
	}
	return "", ""
}

// turned returns twice the area of a triangle, positive if it is clockwise on the map.
func turned(a, b, c point) float64 {
	return (b.north-a.north)*(c.east-a.east) - (b.east-a.east)*(c.north-a.north)
}

// meet reports whether two sides of a polygon have a point in common that is not the corner between neighbours.
func meet(corners []point, i, k int) bool {
	n := len(corners)
	a, b := corners[i], corners[(i+1)%n]
	c, d := corners[k], corners[(k+1)%n]
	neighbours := (i+1)%n == k || (k+1)%n == i
	on := func(p, q, r point) bool { // r is between p and q
		return turned(p, q, r) == 0 && (p.north-r.north)*(q.north-r.north)+(p.east-r.east)*(q.east-r.east) <= 0 &&
			!(neighbours && (r == p || r == q))
	}
	return turned(a, b, c)*turned(a, b, d) < 0 && turned(c, d, a)*turned(c, d, b) < 0 ||
		on(a, b, c) || on(a, b, d) || on(c, d, a) || on(c, d, b)
}
