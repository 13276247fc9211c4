package preprocess

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// within reports whether a place is in a polygon, by the number of sides north of it.
func within(corners []point, p point) bool {
	inside := false
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		if (a.east > p.east) != (b.east > p.east) && p.north < a.north+(b.north-a.north)*(p.east-a.east)/(b.east-a.east) {
			inside = !inside
		}
	}
	return inside
}

// apart returns the distance of a place from a line.
func apart(l segment, p point) float64 {
	n, e := l.to.north-l.from.north, l.to.east-l.from.east
	s := 0.0
	if length := n*n + e*e; length > 0 {
		s = max(0, min(1, ((p.north-l.from.north)*n+(p.east-l.from.east)*e)/length))
	}
	return math.Hypot(p.north-l.from.north-s*n, p.east-l.from.east-s*e)
}

// star returns a random polygon round a place: concave, or with radius 1 of all corners convex.
func star(random *rand.Rand, convex bool) []point {
	n := 3 + random.IntN(9)
	centre := point{1000 * (random.Float64() - 0.5), 1000 * (random.Float64() - 0.5)}
	var corners []point
	for i := range n {
		angle := 2 * math.Pi * (float64(i) + 0.8*random.Float64()) / float64(n)
		radius := 300.0
		if !convex {
			radius = 60 + 400*random.Float64()
		}
		corners = append(corners, point{centre.north + radius*math.Cos(angle), centre.east + radius*math.Sin(angle)})
	}
	return corners
}

// Each point of a polygon is within half the spacing of a line, and each point of a line within half the spacing of the
// polygon. The lines are parallel, and neighbours are flown in opposite directions.
func TestSweep(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 3))
	several := 0
	for i := range 300 {
		corners := star(random, i%2 == 0)
		if text, _ := flaw(corners); text != "" {
			continue
		}
		heading, spacing := 2*math.Pi*random.Float64(), 20+60*random.Float64()
		segments := sweep(corners, heading, spacing)
		sin, cos := math.Sincos(heading)
		lines, last := 0, math.Inf(-1)
		for _, l := range segments {
			a := (l.to.north-l.from.north)*cos + (l.to.east-l.from.east)*sin
			c := l.from.east*cos - l.from.north*sin
			if math.Abs(c-(l.to.east*cos-l.to.north*sin)) > 1e-9 || c < last-1e-9 || c > last+1e-9 && c-last > spacing+1e-9 &&
				lines > 0 {
				t.Fatalf("%v is not parallel, or in another order", l)
			}
			if c > last+1e-9 {
				lines, last = lines+1, c
			} else {
				several++
			}
			if (a > 0) != (lines%2 == 1) {
				t.Fatalf("line %d goes %g m in the direction of the heading", lines, a)
			}
			for s := range 21 {
				p := point{l.from.north + float64(s)/20*(l.to.north-l.from.north), l.from.east + float64(s)/20*(l.to.east-l.from.east)}
				near := math.Inf(1)
				for k := range corners {
					near = min(near, apart(segment{corners[k], corners[(k+1)%len(corners)]}, p))
				}
				if !within(corners, p) && near > spacing/2+1e-6 {
					t.Fatalf("polygon %d: the line %v is %g m away from the polygon", i, l, near)
				}
			}
		}
		for range 300 {
			p := point{corners[0].north + 1000*(random.Float64()-0.5), corners[0].east + 1000*(random.Float64()-0.5)}
			if random.IntN(4) == 0 { // where lines are most likely to be too short
				p = corners[random.IntN(len(corners))]
			} else if !within(corners, p) {
				continue
			}
			near := math.Inf(1)
			for _, l := range segments {
				near = min(near, apart(l, p))
			}
			if near > spacing/2+1e-6 {
				t.Fatalf("polygon %d: %v is %g m away from the lines, the spacing is %g m", i, p, near, spacing)
			}
		}
	}
	if several < 50 {
		t.Errorf("only %d lines consist of several parts", several)
	}
}

// A plan that has too many lines of surveys in all is refused, with one mistake.
func TestSurveyBounds(t *testing.T) {
	one := `<SubTree ID="survey" polygon="0, 0; 0, 100; 100, 100; 100, 0" spacing="0.1" to_h="50"/>`
	text := `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/><BehaviorTree ID="m"><Sequence>` +
		strings.Repeat(one, 30) + `</Sequence></BehaviorTree></root>`
	doc, _ := xmltree.Parse(&diag.Source{Name: "s.xml", Text: text})
	_, list, _ := Document(doc, nil)
	if got := fmt.Sprint(list); strings.Count(got, "the surveys of the plan have more than 10000 lines") != 1 {
		t.Errorf("%.500s", got)
	}
}
