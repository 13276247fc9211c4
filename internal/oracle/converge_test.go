package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// changes collects the status changes of a run with their times.
type changes struct {
	record.Nothing
	times []float64
	list  []bt.Change
}

func (c *changes) Status(t float64, _ int, change bt.Change) error {
	change.Iteration = 0
	c.times, c.list = append(c.times, t), append(c.list, change)
	return nil
}

// changesOf runs a mission along a path.
func changesOf(m *mission.Mission, path []Point, how run.Configuration) (*changes, error) {
	r, err := run.New(m, NewWorld(m, path), how, path[len(path)-1].T+.25)
	if err != nil {
		return nil, err
	}
	c := &changes{}
	r.Attach(c)
	for more := true; more && err == nil; {
		more, err = r.Step()
	}
	return c, err
}

// until returns how many changes come at most at a time.
func (c *changes) until(t float64) int {
	n, _ := slices.BinarySearchFunc(c.times, t, func(at, t float64) int {
		if at <= t {
			return -1
		}
		return 1
	})
	return n
}

// TestTickingConverges: of random missions with all kinds, a tree that is ticked at a period shows the status changes of
// the continuous one in their order, each at most a period later, for every period below the shortest time between two
// instants at which something happens. Periods divide the lengths of procedures and timers: else each of them adds up to
// a period. Left out are missions with comparisons inside of values: where signals jump, a run commits these one settling
// before those that read the values, and a tick that comes later commits both together.
func TestTickingConverges(t *testing.T) {
	compared, most, met := 0, 0, map[bt.Kind]bool{}
	for seed := range uint64(rounds(1500)) {
		r := rand.New(rand.NewPCG(seed, 61))
		m, read := drawn(t, r, flights[seed%uint64(len(flights))])
		if slices.Contains(m.compile().inner, true) {
			continue
		}
		path := randomPath(r, m, 12)
		for i := range path[1:] { // no two of these times, clocks that start at them included, are the same
			path[i+1].T += .4 * r.Float64()
		}
		end := path[len(path)-1].T
		want, err := changesOf(read, path, run.Continuous{All: true})
		if err != nil { // it does not settle
			continue
		}
		var instants []float64
		for _, p := range path {
			instants = append(instants, p.T)
		}
		slices.Sort(instants)
		instants = append(instants, want.times[:want.until(end)]...)
		slices.Sort(instants)
		least := .25
		for i := range instants[1:] {
			if gap := instants[i+1] - instants[i]; gap > 1e-9 {
				least = min(least, gap)
			}
		}
		period := 1.0 / 8
		for period >= least {
			period /= 2
		}
		if period < 1e-3 { // many ticks
			continue
		}
		for ; period > 1e-3; period /= 8 {
			got, err := changesOf(read, path, run.Ticked{Period: period})
			if err != nil {
				t.Fatalf("seed %d, period %g s: %v\n%s", seed, period, err, m)
			}
			n := want.until(end)
			if len(got.list) < n || !slices.Equal(got.list[:n], want.list[:n]) || got.until(end) > n {
				t.Fatalf("seed %d, period %g s: %s\n%v\n%s", seed, period, firstDifference(read.Plan.Tree, want, got, n), path, m)
			}
			for i := range n {
				if late := got.times[i] - want.times[i]; late < -1e-9 || late > period+1e-9 {
					t.Fatalf("seed %d, period %g s: %v at %g s and %g s\n%s", seed, period, want.list[i], want.times[i], got.times[i], m)
				}
			}
			compared++
			most = max(most, n)
			for i := range read.Plan.Tree.Len() {
				met[read.Plan.Tree.Kind(bt.Task(i))] = true
			}
		}
	}
	t.Logf("%d runs compared, at most %d changes of a run", compared, most)
	if compared < rounds(1500)/4 {
		t.Errorf("only %d runs compared", compared)
	}
	for _, k := range bt.Kinds() {
		if k.Cases() <= 2 && !met[k] && !testing.Short() {
			t.Errorf("no mission has a %s", k)
		}
	}
}

func firstDifference(tree *bt.Tree, want, got *changes, n int) string {
	for i := range n {
		if i >= len(got.list) || want.list[i] != got.list[i] {
			text := fmt.Sprintf("change %d, at %g s: %s %s -> %s", i, want.times[i], tree.Name(want.list[i].Task), want.list[i].From,
				want.list[i].To)
			if i < len(got.list) {
				text += fmt.Sprintf("; ticked at %g s: %s %s -> %s", got.times[i], tree.Name(got.list[i].Task), got.list[i].From,
					got.list[i].To)
			}
			return text
		}
	}
	return "ticked shows more"
}
