package simulated

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run"
)

// Durations that a plan writes as decimals add up exactly, whatever the time at which they begin, and also after the run
// has been resumed: branches with equal sums end at one instant.
func TestEqualSumsOfDurationsEndTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 27))
	for range 200 {
		var short []string
		total := 0
		for range 2 + random.IntN(4) {
			ms := 1 + random.IntN(2000)
			total += ms
			short = append(short, fmt.Sprintf(`<Sleep msec="%d"/>`, ms))
		}
		plan := `<ReactiveParallel><Action ID="go" write="v := 1"/><Sequence>` +
			fmt.Sprintf(`<Action ID="start" done="x ge %v [m]"/>`, random.Float64()) +
			`<Parallel success_count="2"><Sequence name="many">` + strings.Join(short, "") + `</Sequence>` +
			fmt.Sprintf(`<Sleep name="one" msec="%d"/>`, total) + `</Parallel></Sequence></ReactiveParallel>`
		m := cartMission(t, plan, "", "horizon=20")
		l := &log{}
		r := begin(t, m, run.Continuous{}, math.Inf(1), l)
		if err := r.Fly(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		many, one := l.at(m, "many", bt.Finished), l.at(m, "one", bt.Finished)
		if len(many) == 0 || len(one) == 0 || many[len(many)-1] != one[len(one)-1] {
			t.Fatalf("%s: %.17g, %.17g", plan, many, one)
		}
	}
}
