package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/syntax/xmltree"
	"canopy/vehicle/contract"
)

// within reports whether a place is in a polygon, by the number of sides north of it.
func within(corners []spot, p spot) bool {
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
func apart(l leg, p spot) float64 {
	n, e := l.to.north-l.from.north, l.to.east-l.from.east
	s := 0.0
	if length := n*n + e*e; length > 0 {
		s = max(0, min(1, ((p.north-l.from.north)*n+(p.east-l.from.east)*e)/length))
	}
	return math.Hypot(p.north-l.from.north-s*n, p.east-l.from.east-s*e)
}

// star returns a random polygon round a place: concave, or with radius 1 of all corners convex.
func star(random *rand.Rand, convex bool) []spot {
	n := 3 + random.IntN(9)
	centre := spot{1000 * (random.Float64() - 0.5), 1000 * (random.Float64() - 0.5)}
	var corners []spot
	for i := range n {
		angle := 2 * math.Pi * (float64(i) + 0.8*random.Float64()) / float64(n)
		radius := 300.0
		if !convex {
			radius = 60 + 400*random.Float64()
		}
		corners = append(corners, spot{centre.north + radius*math.Cos(angle), centre.east + radius*math.Sin(angle)})
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
		legs := sweep(corners, heading, spacing)
		sin, cos := math.Sincos(heading)
		lines, last := 0, math.Inf(-1)
		for _, l := range legs {
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
				p := spot{l.from.north + float64(s)/20*(l.to.north-l.from.north), l.from.east + float64(s)/20*(l.to.east-l.from.east)}
				near := math.Inf(1)
				for k := range corners {
					near = min(near, apart(leg{corners[k], corners[(k+1)%len(corners)]}, p))
				}
				if !within(corners, p) && near > spacing/2+1e-6 {
					t.Fatalf("polygon %d: the line %v is %g m away from the polygon", i, l, near)
				}
			}
		}
		for range 300 {
			p := spot{corners[0].north + 1000*(random.Float64()-0.5), corners[0].east + 1000*(random.Float64()-0.5)}
			if random.IntN(4) == 0 { // where lines are most likely to be too short
				p = corners[random.IntN(len(corners))]
			} else if !within(corners, p) {
				continue
			}
			near := math.Inf(1)
			for _, l := range legs {
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

// surveyed reads a plan with a survey.
func surveyed(class, attributes string) (*Plan, diag.List) {
	c := contract.Plane
	if class == "copter" {
		c = contract.Copter
	}
	return Read(&diag.Source{Name: "s.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="m">
<include path="library:` + class + `"/>
<BehaviorTree ID="m"><Sequence><SubTree ID="survey" ` + attributes + `/></Sequence></BehaviorTree>
</root>`}, interfaceOf(c))
}

// A survey is a sequence of lines, with the height and the speed that it gives.
func TestSurvey(t *testing.T) {
	for class, wanted := range map[string]string{
		"plane":  "set_speed align fly_line align fly_line",
		"copter": "set_speed begin fly_line begin fly_line",
	} {
		p, list := surveyed(class, `name="field" polygon=" 0,0 ;0, 100; 90.5,100;90.5 , 0;" spacing="60 [m]" heading="90 [deg]"
			to_h="0.05 [km]" to_speed="18" _skipIf="false"`)
		if len(list) > 0 {
			t.Fatal(list.Err())
		}
		var names []string
		for _, l := range p.Leaves {
			if p.Tree.Kind(l.Task) == bt.Action {
				name := p.Tree.Name(l.Task)
				names = append(names, name[strings.LastIndex(name, "/")+1:])
			}
		}
		if got := strings.Join(names, " "); got != wanted {
			t.Errorf("%s: the actions are %s, want %s", class, got, wanted)
		}
		last := p.Leaves[len(p.Leaves)-1]
		h := fmt.Sprint(last.Write)
		if !strings.Contains(h, "target_h") {
			t.Errorf("%s: the last line writes %s", class, h)
		}
	}
}

// A plan without the library has no survey of its own; one that has too many lines in all is refused.
func TestSurveyBounds(t *testing.T) {
	text := `<root BTCPP_format="4"><BehaviorTree ID="m"><SubTree ID="survey" polygon="x"/></BehaviorTree></root>`
	if _, list := Read(&diag.Source{Name: "s.xml", Text: text}, interfaceOf(contract.Plane)); !strings.Contains(
		fmt.Sprint(list), `there is no tree "survey"`) {
		t.Error(list)
	}
	one := `<SubTree ID="survey" polygon="0, 0; 0, 100; 100, 100; 100, 0" spacing="0.1" to_h="50"/>`
	text = `<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:copter"/><BehaviorTree ID="m"><Sequence>` +
		strings.Repeat(one, 30) + `</Sequence></BehaviorTree></root>`
	doc, _ := xmltree.Parse(&diag.Source{Name: "s.xml", Text: text})
	_, list, _ := assemble(doc, nil)
	if got := fmt.Sprint(list); strings.Count(got, "the surveys of the plan have more than 10000 lines") != 1 {
		t.Errorf("%.500s", got)
	}
}
