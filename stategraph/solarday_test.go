package stategraph

import (
	"os"
	"slices"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/plan"
)

// solarDay reads the graph and the plan of the solar day.
func solarDay(t testing.TB) (*Graph, *plan.Plan) {
	t.Helper()
	text, err := os.ReadFile("../missions/solar-day.xml")
	if err != nil {
		t.Fatal(err)
	}
	p, list := plan.Read(&diag.Source{Name: "solar-day.xml", Text: string(text)}, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	var known Vocabulary
	for _, leaf := range p.Leaves {
		if name := p.Tree.Name(leaf.Task); p.Tree.Kind(leaf.Task) == bt.Condition {
			known.Conditions = append(known.Conditions, name)
		} else {
			known.Actions = append(known.Actions, name)
		}
	}
	text, err = os.ReadFile("../missions/solar-day.graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g, list := Read(&diag.Source{Name: "solar-day.graph.yaml", Text: string(text)}, &known)
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
	names []string // conditions, in the order of the graph
	tasks []bt.Task
	now   float64
}

func newFormalisms(t *testing.T, g *Graph, p *plan.Plan) *formalisms {
	f := &formalisms{t: t, tree: bt.NewEngine(p.Tree, nil, 0), graph: NewEngine(g), names: g.Conditions()}
	for _, name := range f.names {
		task, ok := p.Tree.Find(name)
		if !ok {
			t.Fatalf("the plan has no condition %q", name)
		}
		f.tasks = append(f.tasks, task)
	}
	return f
}

// settle gives both the conditions whose bits are set and compares the active actions.
func (f *formalisms) settle(bits int) {
	f.t.Helper()
	f.now++
	var inputs []bt.Input
	values := make([]bool, len(f.names))
	for i, task := range f.tasks {
		values[i] = bits>>i&1 == 1
		inputs = append(inputs, bt.Set(task, values[i]))
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

// The graph does what the tree does: from the start, and after every change of the four conditions from every
// combination to every other, be it of one condition or of several at once. Both have no memory beyond the conditions,
// so these are all cases; the last walk goes through all changes with the same engines all the same.
func TestSolarDayIsThePlan(t *testing.T) {
	g, p := solarDay(t)
	n := 1 << len(g.Conditions())
	if n != 16 {
		t.Fatalf("the graph has the conditions %v, four were expected", g.Conditions())
	}
	for from := range n {
		for to := range n {
			f := newFormalisms(t, g, p)
			f.settle(from)
			f.settle(to)
		}
	}
	f := newFormalisms(t, g, p)
	for from := range n {
		for to := range n {
			f.settle(from)
			f.settle(to)
		}
	}
}

// The four states need all twelve transitions between them: each is the only one for some change of the conditions.
func TestSolarDayHasTwelveTransitions(t *testing.T) {
	g, p := solarDay(t)
	if got := len(g.Transitions()); got != 12 {
		t.Errorf("%d transitions, docs/stategraphs.md says 12", got)
	}
	used := map[[2]Step]bool{}
	n := 1 << len(g.Conditions())
	for from := range n {
		for bit := range len(g.Conditions()) {
			f := newFormalisms(t, g, p)
			f.settle(from)
			before := slices.Clone(f.graph.active)
			f.settle(from ^ 1<<bit)
			if !slices.Equal(before, f.graph.active) {
				used[[2]Step{Step(slices.Index(before, true)), Step(slices.Index(f.graph.active, true))}] = true
			}
		}
	}
	if len(used) != 12 {
		t.Errorf("changes of one condition take %d transitions, want all 12", len(used))
	}
}
