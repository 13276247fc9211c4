package trees

import (
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

// TestAllKindsAreDrawn: random trees have tasks of each row of the table, also of rows to come.
func TestAllKindsAreDrawn(t *testing.T) {
	drawn := map[bt.Kind]bool{}
	var note func(d *bt.Node)
	note = func(d *bt.Node) {
		drawn[d.Kind] = true
		for _, c := range d.Children {
			note(c)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		note(Guarded(r, Random(r, 10)))
	}
	for _, k := range bt.Kinds() {
		if !drawn[k] {
			t.Errorf("no tree has a %s", k)
		}
	}
}
