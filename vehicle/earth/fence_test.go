package earth_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// breached evaluates the condition of a fence.
func breached(t testing.TB, f earth.Fence) func(p earth.Coordinates, h float64) bool {
	t.Helper()
	metre, err := expr.ParseUnit("m")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"north", "east", "h"}
	scope := expr.Scope{}
	for _, n := range names {
		scope[n] = expr.Number(metre)
	}
	e, err := expr.Parse(f.Breach())
	if err != nil {
		t.Fatalf("%v in %s", err, f.Breach())
	}
	c := expr.NewCompiler(scope, func(name string) (int, bool) { i := slices.Index(names, name); return i, i >= 0 })
	code := c.CompileFor(e.Resolved(scope), expr.Variable{Type: expr.Boolean})
	return func(p earth.Coordinates, h float64) bool { return code.Bool([]float64{p.North, p.East, h}, nil) }
}

// polygon returns a random polygon whose sides do not cross: random corners, of which the two sides that cross are
// exchanged until none do.
func polygon(r *rand.Rand, n int, grid bool) []earth.Coordinates {
	corners := make([]earth.Coordinates, n)
	for i := range corners {
		corners[i] = earth.Coordinates{North: r.Float64()*1000 - 500, East: r.Float64()*1000 - 500}
		if grid { // equal coordinates, and corners in a line
			corners[i] = earth.Coordinates{North: float64(r.IntN(12)), East: float64(r.IntN(12))}
		}
	}
	for range 10_000 {
		text := (earth.Area{Corners: corners}).Mistake()
		if text == "" {
			return corners
		}
		var i, k int
		if _, err := fmt.Sscanf(text, "the sides %d and %d of the polygon cross", &i, &k); err != nil {
			return nil
		}
		slices.Reverse(corners[i:k])
	}
	return nil
}

// TestBreachIsThatOfTheCrossingNumber compares the condition with the areas that count crossings of a line, for random
// polygons of either direction, with dents of any depth.
func TestBreachIsThatOfTheCrossingNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tried, dented := 0, 0
	for tried < 150 {
		grid := r.IntN(3) == 0
		corners := polygon(r, 3+r.IntN(22), grid)
		if corners == nil {
			continue
		}
		tried++
		a := earth.Area{Corners: corners, Forbidden: r.IntN(2) == 0}
		f := earth.Fence{Areas: []earth.Area{a}}
		if strings.Contains(f.Breach(), ") or (") {
			dented++
		}
		out := breached(t, f)
		for range 100 {
			p := earth.Coordinates{North: r.Float64()*1100 - 550, East: r.Float64()*1100 - 550}
			if grid {
				p = earth.Coordinates{North: r.Float64()*14 - 1, East: r.Float64()*14 - 1}
			}
			if out(p, 10) == f.Allows(p, 10) {
				t.Fatalf("%v of %+v: breached %t, the crossing number says otherwise\n%s", p, a, out(p, 10), f.Breach())
			}
		}
	}
	if dented < 75 {
		t.Errorf("only %d of %d polygons have dents", dented, tried)
	}
}

// TestFence checks all kinds of areas together, and the height.
func TestFence(t *testing.T) {
	f := earth.Fence{Top: 120, Areas: []earth.Area{
		{Corners: []earth.Coordinates{{-100, -100}, {-100, 400}, {400, 400}, {400, -100}}},
		{Centre: earth.Coordinates{North: 100, East: 100}, Radius: 300},
		{Forbidden: true, Centre: earth.Coordinates{North: 150, East: 150}, Radius: 40},
	}}
	out := breached(t, f)
	for _, c := range []struct {
		north, east, h float64
		breach         bool
	}{
		{0, 0, 0, false}, {0, 0, 120, false}, {0, 0, 120.1, true}, {-101, 0, 10, true}, {399, 399, 10, true},
		{150, 111, 10, true}, {150, 109, 10, false}, {350, 100, 10, false},
	} {
		if p := (earth.Coordinates{North: c.north, East: c.east}); out(p, c.h) != c.breach || f.Allows(p, c.h) == c.breach {
			t.Errorf("%+v: breached %t, allowed %t", c, out(p, c.h), f.Allows(p, c.h))
		}
	}
	if f.Items() != 6 || (earth.Fence{}).Breach() != "false" {
		t.Errorf("%d items, %s", f.Items(), (earth.Fence{}).Breach())
	}
}

// TestMistakes: a polygon must have an inside.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		corners []earth.Coordinates
		want    string
	}{
		{[]earth.Coordinates{{0, 0}, {0, 100}}, "at least 3 corners, not 2"},
		{[]earth.Coordinates{{0, 0}, {100, 100}, {0, 100}, {100, 0}}, "the sides 1 and 3 of the polygon cross"},
		{[]earth.Coordinates{{0, 0}, {0, 100}, {0, 100}, {100, 0}}, "the corners 2 and 3 of the polygon are the same place"},
		{[]earth.Coordinates{{0, 0}, {0, 100}, {0, 50}, {100, 0}}, "the sides at corner 2 of the polygon lie on each other"},
		{[]earth.Coordinates{{0, 0}, {0, 100}, {0, 50}}, "lie on each other"},
		{[]earth.Coordinates{{0, 0}, {0, 100}, {50, 50}, {0, 50}, {50, 0}}, "cross"},
		{[]earth.Coordinates{{0, 0}, {100, 0}, {100, 100}, {50, 0}, {0, 100}}, "cross"},
		{[]earth.Coordinates{{0, 0}, {0, 100}, {100, 0}}, ""},
	} {
		got := (earth.Area{Corners: c.corners}).Mistake()
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v: %q, want %q", c.corners, got, c.want)
		}
	}
	if m := (earth.Area{Corners: []earth.Coordinates{{math.NaN(), 0}, {0, 1}, {1, 0}}}).Mistake(); m == "" {
		t.Error("a corner that is not a number is accepted")
	}
}
