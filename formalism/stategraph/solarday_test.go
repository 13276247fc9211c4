package stategraph

import (
	"os"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// solarDay reads the graph and the plan of the solar day, or of a variant.
func solarDay(t testing.TB, name string) (*Graph, *plan.Plan) {
	t.Helper()
	text, err := os.ReadFile("../../missions/" + name + ".xml")
	if err != nil {
		t.Fatal(err)
	}
	p, list := plan.Read(&diag.Source{Name: name + ".xml", Text: string(text)}, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	text, err = os.ReadFile("../../missions/" + name + ".graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g, list := Read(&diag.Source{Name: name + ".graph.yaml", Text: string(text)}, VocabularyOf(p.Tree))
	if len(list) > 0 {
		t.Fatal(list)
	}
	return g, p
}

// formalisms runs the tree and the graph of the solar day side by side.
type formalisms struct {
	t     *testing.T
	tree  *bt.Engine
	graph *Engine
	names []string    // conditions, in the order of the graph
	tasks [][]bt.Task // that are each condition: several if the tree has copies of it
	now   float64
}

func newFormalisms(t *testing.T, g *Graph, p *plan.Plan) *formalisms {
	f := &formalisms{t: t, tree: bt.NewEngine(p.Tree, nil, 0), graph: NewEngine(g), names: g.Conditions()}
	for _, name := range f.names {
		task, ok := p.Tree.Find(name)
		if !ok {
			t.Fatalf("the plan has no condition %q", name)
		}
		tasks := []bt.Task{task}
		if spare, ok := p.Tree.Find("spare"); ok && name == "surplus" {
			tasks = append(tasks, spare)
		}
		f.tasks = append(f.tasks, tasks)
	}
	return f
}

// settle gives both the conditions whose bits are set and compares the active actions.
func (f *formalisms) settle(bits int) {
	f.t.Helper()
	f.now++
	var inputs []bt.Input
	values := make([]bool, len(f.names))
	for i, tasks := range f.tasks {
		values[i] = bits>>i&1 == 1
		for _, task := range tasks {
			inputs = append(inputs, bt.Set(task, values[i]))
		}
	}
	if _, err := f.tree.Settle(inputs); err != nil {
		f.t.Fatal(err)
	}
	instant, err := f.graph.Settle(f.now, values)
	if err != nil {
		f.t.Fatal(err)
	}
	if instant.Rounds > 1 {
		f.t.Errorf("conditions %v %v: %d rounds: one transition leads to the right step", f.names, values, instant.Rounds)
	}
	var want, got []string
	tree := f.tree.Tree()
	for _, task := range tree.Leaves() {
		if tree.Kind(task) == bt.Action && f.tree.Status(task) == bt.Running {
			want = append(want, tree.Name(task))
		}
	}
	for _, a := range f.graph.ActiveActions(nil) {
		got = append(got, f.graph.Graph().Actions()[a])
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) != 2 || !slices.Equal(got, want) {
		f.t.Errorf("conditions %v %v: the graph has %v active, the tree %v", f.names, values, got, want)
	}
}

// The graph does what the tree does: from the start, and after every change of the conditions from every combination
// to every other, be it of one condition or of several at once. Both have no memory beyond the conditions, so these
// are all cases.
func TestSolarDayIsThePlan(t *testing.T) {
	isThePlan(t, "solar-day", 4)
	isThePlan(t, "solar-day-fuelcell", 5)
}

func isThePlan(t *testing.T, name string, conditions int) {
	g, p := solarDay(t, name)
	n := 1 << len(g.Conditions())
	if n != 1<<conditions {
		t.Fatalf("%s has the conditions %v, %d were expected", name, g.Conditions(), conditions)
	}
	for from := range n {
		for to := range n {
			f := newFormalisms(t, g, p)
			f.settle(from)
			f.settle(to)
		}
	}
}

// The four states need all twelve transitions between them: each is the only one for some change of one condition; with
// the fuel cell as fifth state there are twenty. Eight and twelve of them are left if the conditions change one by one
// and no battery is at once full and critical, no aircraft at once at the top and at the bottom.
func TestSolarDayTransitions(t *testing.T) {
	for name, want := range map[string]struct{ all, possible int }{
		"solar-day": {12, 8}, "solar-day-fuelcell": {20, 12},
	} {
		g, p := solarDay(t, name)
		if got := len(g.Transitions()); got != want.all {
			t.Errorf("%s has %d transitions, docs/stategraphs.md says %d", name, got, want.all)
		}
		bit := func(name string) int { return 1 << slices.Index(g.Conditions(), name) }
		impossible := func(bits int) bool {
			return bits&bit("surplus") != 0 && bits&bit("critical") != 0 || bits&bit("at_top") != 0 && bits&bit("at_bottom") != 0
		}
		used, possible := map[[2]Step]bool{}, map[[2]Step]bool{}
		for from := range 1 << len(g.Conditions()) {
			for i := range g.Conditions() {
				f, to := newFormalisms(t, g, p), from^1<<i
				f.settle(from)
				before := slices.Clone(f.graph.active)
				f.settle(to)
				if slices.Equal(before, f.graph.active) {
					continue
				}
				taken := [2]Step{Step(slices.Index(before, true)), Step(slices.Index(f.graph.active, true))}
				used[taken] = true
				if !impossible(from) && !impossible(to) {
					possible[taken] = true
				}
			}
		}
		if len(used) != want.all || len(possible) != want.possible {
			t.Errorf("%s: changes of one condition take %d transitions, of which %d are possible, want %d and %d", name,
				len(used), len(possible), want.all, want.possible)
		}
	}
}
