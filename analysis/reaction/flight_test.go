package reaction_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// instants counts the status changes of each instant.
type instants struct {
	record.Nothing
	n map[float64]int
}

func (r instants) Status(t float64, _ int, _ bt.Change) error {
	r.n[t]++
	return nil
}

// No instant of a flight with one input has more status changes than the maximum, and one more for each task that may not
// have been heard before.
func TestFlightsStayWithinTheMaximum(t *testing.T) {
	missions, most := 400, 0.0
	if testing.Short() {
		missions = 30
	}
	for seed := range missions {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		leaves := 0
		var tree func(depth int) string
		tree = func(depth int) string {
			leaves++
			if depth == 0 || random.IntN(4) == 0 {
				if random.IntN(3) > 0 {
					return fmt.Sprintf(`<Condition ID="c%d" on="sin(%.3f * t / 1 [s]) ge %.2f"/>`, leaves, 1+random.Float64()*3,
						random.Float64()-0.5)
				}
				return fmt.Sprintf(`<Action ID="a%d" write="v := 0"/>`, leaves) // one that ends may send another input
			}
			kind := []string{"ReactiveSequence", "ReactiveFallback", "Sequence", "Fallback", "Parallel"}[random.IntN(5)]
			var children []string
			for range 2 + random.IntN(3) {
				children = append(children, tree(depth-1))
			}
			return "<" + kind + ">" + strings.Join(children, "") + "</" + kind + ">"
		}
		body := tree(3)
		m, diags := cart.Read(body, "", "horizon=20")
		if m == nil {
			t.Fatal(diags, body)
		}
		r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		changes := instants{n: map[float64]int{}}
		r.Attach(changes)
		if err := r.Fly(t.Context(), nil); err != nil {
			continue
		}
		answer := reaction.ExploreRuns(m.Plan.Tree, reaction.InputsOf(m.Plan, nil), explore.Budget{Moves: 20000})
		bound := answer.Bound.Changes
		if answer.Decided {
			bound = answer.Most.Changes
		}
		for at, n := range changes.n {
			if at == 0 || at >= 20 {
				continue // several inputs
			}
			most = max(most, float64(n)/float64(bound))
			if n > bound+reaction.Unheard(m.Plan.Tree) {
				t.Errorf("%d: %d changes at %v s, at most %d and %d\n%s", seed, n, at, bound, reaction.Unheard(m.Plan.Tree), body)
			}
		}
	}
	if most <= 1 && !testing.Short() {
		t.Errorf("no flight had more than the maximum: %v", most)
	}
}
