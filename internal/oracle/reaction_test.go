package oracle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/explore"
)

// listener is the tree's engine beside a flight: it receives the same inputs, and counts its work.
type listener struct {
	*testing.T
	m      *Mission
	engine *bt.Engine
	told   []bt.Told
	bounds *reaction.Result
	inputs []reaction.Repertoire

	instants, alone, exact int
}

// settle is called before the tree of a flight settles.
func (l *listener) settle(f *Flight, in []bt.Input) {
	leaves := f.Tree.Leaves()
	if l.engine == nil {
		var start []bt.Input
		for i, n := range f.nodes {
			entry, exit := n.slow()
			if kind := f.Tree.Kind(leaves[i]); kind.Acts() {
				start = append(start, bt.Slow(leaves[i], entry, exit))
			}
			l.told = append(l.told, bt.NewTold(f.Tree.Kind(leaves[i])))
		}
		l.engine = bt.NewEngine(f.Tree, append(start, in...), 0)
	}
	var groups []string // what changes together, or the name of what changes alone
	var tasks []bt.Task
	var news []bt.Input
	for _, x := range in {
		t := x.Task()
		name := "timer " + f.Tree.Name(t)
		if i, leaf := f.leafOf[t]; leaf {
			told := &l.told[i]
			told.Outcome, told.Busy = bt.Accept, true
			before := *told
			if told.Take(&x, f.Tree.Kind(t), l.engine.Status(t)); before == *told {
				continue
			}
			if name = l.inputs[i].Input; name == "" {
				name = "leaf " + f.Tree.Name(t)
			}
		}
		news = append(news, x)
		if !slices.Contains(groups, name) {
			groups, tasks = append(groups, name), append(tasks, t)
		}
	}
	if l.instants++; l.instants == 1 { // the engine began with them
		news = nil
	}
	instant, err := l.engine.Settle(news)
	if err != nil {
		l.Fatalf("%v\n%s", err, l.m)
	}
	w := reaction.WorkOf(instant)
	check := func(of string, most reaction.Work) {
		if w.Iterations > most.Iterations || w.Changes > most.Changes || w.Visits > most.Visits {
			l.Fatalf("%v: %+v is above %s, %+v\n%s", news, w, of, most, l.m)
		}
	}
	if l.instants == 1 && l.bounds.Decided {
		check("the maximum of the start", l.bounds.Start)
	}
	if l.instants == 1 || len(groups) == 0 {
		return
	}
	check("the bound of several inputs", reaction.Work{Iterations: l.bounds.Bound.Iterations, Changes: w.Changes,
		Visits: w.Visits})
	if len(groups) > 1 {
		return
	}
	l.alone++
	i := slices.IndexFunc(l.bounds.Leaves, func(r reaction.LeafResult) bool { return r.Task == tasks[0] })
	check("its bound", l.bounds.Leaves[i].Bound)
	if l.bounds.Decided {
		l.exact++
		check("the maximum of the leaf", l.bounds.Leaves[i].Most)
	}
}

// TestReactionsAreWithinTheirBounds: no instant of a random mission takes more than the bounds of package reaction for
// the inputs that its plan can give.
func TestReactionsAreWithinTheirBounds(t *testing.T) {
	var all listener
	decided := 0
	for n, class := range classes {
		for seed := range uint64(rounds(100)) {
			r := rand.New(rand.NewPCG(seed, uint64(71+100*n)))
			m, read := drawn(t, r, class.shape)
			inputs := reaction.InputsOf(read.Plan, nil)
			l := &listener{T: t, m: m, inputs: inputs,
				bounds: reaction.ExploreRuns(read.Plan.Tree, inputs, explore.Budget{States: 500, Moves: 5000})}
			decided += int(truth(l.bounds.Decided))
			p := m.compile()
			p.told = l.settle
			path := randomPath(r, m, 20)
			f, err := p.begin(path[0].X, path[0].Y)
			for i := 1; i < len(path) && err == nil; i++ {
				for next := f.next(); next < path[i].T && err == nil; next = f.next() {
					err = f.move(next, f.world[0], f.world[1])
				}
				if err == nil {
					err = f.move(path[i].T, path[i].X, path[i].Y)
				}
			}
			all.instants, all.alone, all.exact = all.instants+l.instants, all.alone+l.alone, all.exact+l.exact
		}
	}
	t.Logf("%d instants, %d of one input, %d of these exact; %d trees decided", all.instants, all.alone, all.exact, decided)
	if n := rounds(100); all.instants < 400*n || all.alone < 40*n || all.exact < 5*n || decided < 8*n {
		t.Error("these are too few")
	}
}
