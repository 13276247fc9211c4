package verify

import (
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
)

// Each settled state of a plan that remembers, in which no procedure is under way, is a state of the model that tells
// apart what tasks remember: in none of them more or fewer tasks are active, or judged otherwise, than sets allow that
// the model calls empty.
func TestToldStatesCoverFlights(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(31, 7)), memory: true}
	told, states, empty := 0, 0, 0
	for range map[bool]int{true: 300, false: 5000}[testing.Short()] {
		r.slow, r.relations = r.IntN(2) == 0, r.IntN(4) == 0
		s := r.subject(t)
		m := NewModel(s)
		x := m.telling()
		if x == nil {
			continue
		}
		told++
		f := m.flights()
		for f.states.Len() < 200 && f.more() {
		}
		n, seen := m.tree.Len(), map[set]bool{}
		of := func(at *flown.Moment) set {
			in := always
			for t := range bt.Task(n) {
				is := map[bool]set{true: x.active[t], false: x.space.not(x.active[t])}[at.Active(t)]
				if m.tree.Kind(t).Acts() || !m.natures[t].Acts {
					in = x.space.and(in, is)
				}
			}
			for i := range m.leaves {
				if t := m.leaves[i].task; m.leaves[i].condition && at.Engine().Hears(t) {
					is := map[bool]set{true: x.truth[i], false: x.space.not(x.truth[i])}[at.Engine().Status(t) == bt.Success]
					in = x.space.and(in, is)
				}
			}
			root := m.tree.Root()
			if at.Good(root) {
				return x.space.and(in, x.judged[root].Good)
			}
			return x.space.and(in, x.space.not(x.judged[root].Good))
		}
		for i := 1; i < f.states.Len(); i++ {
			f.At(f.states.Key(i).key, func(at *flown.Moment) {
				if !at.Quiet() {
					return
				}
				in := of(at)
				if states++; !seen[in] && x.empty(in) {
					empty++
					t.Errorf("%s\nno state of the model: active %q, good %t, slow %t", s.Plan.Source.Text,
						m.tree.Names(m.activeAt(at)), at.Good(m.tree.Root()), m.slow())
				}
				seen[in] = true
			})
			if empty > 5 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d plans with %d states", told, states)
}
