package translate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/snapshot"
)

// randomTree returns a description with about the given number of tasks; leaves have the names c1, c2, ..., a1, a2, ...
func randomTree(r *rand.Rand, size int) *bt.Node {
	var conditions, actions int
	var build func(size int) *bt.Node
	build = func(size int) *bt.Node {
		if size <= 1 {
			if conditions < 4 && (actions == 3 || r.IntN(2) == 0) {
				conditions++
				return &bt.Node{Kind: bt.Condition, Name: fmt.Sprint("c", conditions)}
			}
			actions++
			return &bt.Node{Kind: bt.Action, Name: fmt.Sprint("a", actions)}
		}
		d := &bt.Node{Kind: trees.Composite(r)}
		n := trees.Width(r, d.Kind, min(size-1, 4))
		for i := range n {
			d.Children = append(d.Children, build((size-1)/n-i%2))
		}
		d.Params = trees.Params(r, d.Kind, n)
		return d
	}
	return build(size)
}

// randomInputs returns an input for each condition, and for some inputs of actions.
func randomInputs(r *rand.Rand, tree *bt.Tree, most int) []Proposition {
	var inputs, more []Proposition
	for _, t := range tree.Leaves() {
		if tree.Kind(t) == bt.Condition {
			inputs = append(inputs, Proposition{identifier(tree.Name(t)), []Use{{t, executive.On}}})
			continue
		}
		for says := executive.SuccessIf; says < executive.Criteria; says++ {
			if r.IntN(3) == 0 || says == executive.Done {
				more = append(more, Proposition{identifier(fmt.Sprint(tree.Name(t), says)), []Use{{t, says}}})
			}
		}
	}
	for _, t := range tree.Timers() {
		more = append(more, Proposition{identifier(tree.Name(t) + "_elapsed"), []Use{{t, executive.On}}})
	}
	r.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
	return slices.Concat(inputs, more[:max(0, min(len(more), most-len(inputs)))])
}

// compile returns a random tree with few inputs.
func compile(t *testing.T, r *rand.Rand, most int) (*bt.Tree, []Proposition) {
	t.Helper()
	for {
		tree, err := bt.Compile(randomTree(r, 2+r.IntN(12)))
		if err != nil {
			t.Fatal(err)
		}
		if inputs := randomInputs(r, tree, most); len(inputs) <= most {
			return tree, inputs
		}
	}
}

// truths returns the truth of a graph's conditions when the inputs are the bits of a word.
func truths(g *stategraph.Graph, inputs []Proposition, word int) []bool {
	var truth []bool
	for _, name := range g.Conditions() {
		i := slices.IndexFunc(inputs, func(in Proposition) bool { return in.Name == name })
		truth = append(truth, word>>i&1 == 1)
	}
	return truth
}

func isActive(e *bt.Engine, t bt.Task) bool {
	return e.Status(t) == bt.Activating || e.Status(t) == bt.Running
}

// active returns the names of the active actions of a tree, sorted.
func active(e *bt.Engine) []string {
	var names []string
	tree := e.Tree()
	for _, t := range tree.Leaves() {
		if tree.Kind(t) == bt.Action && isActive(e, t) {
			names = append(names, tree.Name(t))
		}
	}
	slices.Sort(names)
	return names
}

func activeSteps(e *stategraph.Engine) []string {
	var names []string
	for _, a := range e.ActiveActions(nil) {
		names = append(names, e.Graph().Actions()[a])
	}
	slices.Sort(names)
	return names
}

// follow holds that the same actions are active in a graph, in the state graph's own engine, and in the tree, in the
// tree's, after each instant with the inputs that next returns. The tree receives the inputs of its actions as in a
// mission, implemented here once more.
func follow(t *testing.T, seed int, tree *bt.Tree, inputs []Proposition, g *stategraph.Graph, next func() int) {
	t.Helper()
	graph, world := stategraph.NewEngine(g), newOracle(tree, inputs)
	for instant := range 30 {
		word := next()
		treeErr := world.settle(word)
		if treeErr != nil && runsAgain(tree) {
			return // an instantaneous loop: a child that fails at once is run again forever
		}
		_, graphErr := graph.Settle(float64(instant), truths(g, inputs, word))
		if (treeErr == nil) != (graphErr == nil) {
			t.Fatalf("seed %d, instant %d: tree: %v, graph: %v", seed, instant, treeErr, graphErr)
		}
		if treeErr != nil {
			return
		}
		if want, got := active(world.engine), activeSteps(graph); !slices.Equal(got, want) {
			t.Fatalf("seed %d, instant %d, inputs %b: the graph has %v active, the tree %v\n%s", seed, instant, word,
				got, want, g.Source.Text)
		}
	}
}

// On random trees the graph is the tree, whatever the inputs are at an instant, and under assumptions as long as they
// hold. These need no more steps and fewer transitions.
func TestGraphIsTheTree(t *testing.T) {
	trees := 4000
	if testing.Short() {
		trees = 300
	}
	fewer := 0
	for seed := range trees {
		r := rand.New(rand.NewPCG(3, uint64(seed)))
		tree, inputs := compile(t, r, 7)
		free, err := StateGraphOf("random", tree, inputs, Assumptions{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		follow(t, seed, tree, inputs, free, func() int { return r.IntN(1 << len(inputs)) })
		if len(inputs) < 2 {
			continue
		}
		a := Assumptions{OneAtATime: true, Possible: func(in []bool) bool { return !(in[0] && in[1]) }}
		g, err := StateGraphOf("random", tree, inputs, a)
		if err != nil {
			t.Fatal(err)
		}
		if g.Len() > free.Len() || len(g.Transitions()) > len(free.Transitions()) {
			t.Fatalf("seed %d: the assumptions add steps or transitions", seed)
		}
		fewer += len(free.Transitions()) - len(g.Transitions())
		word := r.IntN(1<<len(inputs)) &^ 1
		follow(t, seed, tree, inputs, g, func() int {
			now := word
			for change := 3; change&3 == 3; {
				if change = word ^ 1<<r.IntN(len(inputs)); change&3 != 3 {
					word = change
				}
			}
			return now
		})
	}
	if fewer == 0 {
		t.Error("the assumptions save no transitions")
	}
}

// oracle gives a tree at an instant all inputs of the leaves, as long as there are new ones: the loop of a mission
// (docs/architecture.md).
type oracle struct {
	engine *bt.Engine
	inputs []Proposition
	told   map[bt.Task]bt.Status
	seen   func(before func(bt.Task) bool, commands []bt.Command) // what each settling is shown to, if it is there
}

func newOracle(tree *bt.Tree, inputs []Proposition) *oracle {
	o := &oracle{inputs: inputs, told: map[bt.Task]bt.Status{}}
	slow := map[bt.Task][2]bool{}
	for _, in := range inputs {
		s := slow[in.Uses[0].Task]
		switch in.Uses[0].Says {
		case executive.Entered:
			s[0] = true
		case executive.Exited:
			s[1] = true
		}
		slow[in.Uses[0].Task] = s
	}
	o.engine = bt.NewEngine(tree, nil, 0)
	var in []bt.Input
	for _, t := range tree.Leaves() {
		if tree.Kind(t) == bt.Action {
			in = append(in, bt.Slow(t, slow[t][0], slow[t][1]))
		}
	}
	o.engine = bt.NewEngine(tree, in, 0)
	return o
}

func (o *oracle) settle(word int) error {
	for round := 0; ; round++ {
		holds := map[Use]bool{}
		for i, in := range o.inputs {
			holds[in.Uses[0]] = word>>i&1 == 1
		}
		var in []bt.Input
		news := round == 0
		for _, t := range o.engine.Tree().Timers() {
			if holds[Use{t, executive.On}] && o.engine.At(t).Timed {
				in = append(in, bt.Elapsed(t))
				news = true
			}
		}
		for _, t := range o.engine.Tree().Leaves() {
			says := func(m executive.Criterion) bool { return holds[Use{t, m}] }
			if o.engine.Tree().Kind(t) == bt.Condition {
				in = append(in, bt.Set(t, says(executive.On)))
				continue
			}
			request := bt.Accept
			if says(executive.FailureIf) {
				request = bt.Failure
			} else if says(executive.SuccessIf) {
				request = bt.Success
			}
			in = append(in, bt.Request(t, request))
			outcome := bt.Accept
			if says(executive.Failed) {
				outcome = bt.Failure
			} else if says(executive.Done) {
				outcome = bt.Success
			}
			switch s := o.engine.Status(t); s {
			case bt.Activating, bt.Running:
				if outcome != bt.Accept && o.told[t] != outcome+1 {
					o.told[t] = outcome + 1
					in = append(in, bt.End(t, outcome))
					news = true
				}
				if s == bt.Activating && says(executive.Entered) {
					in = append(in, bt.Entered(t))
					news = true
				}
			case bt.Deactivating:
				if says(executive.Exited) {
					in = append(in, bt.Exited(t))
					news = true
				}
			}
		}
		if !news {
			return nil
		}
		if round == 1000 {
			return errors.New("never settles")
		}
		was := o.engine.Clone()
		instant, err := o.engine.Settle(in)
		if err != nil {
			return err
		}
		if o.seen != nil {
			o.seen(func(t bt.Task) bool { return isActive(was, t) }, instant.Commands)
		}
		for _, c := range instant.Commands {
			if !c.Exit {
				delete(o.told, c.Task)
			}
		}
	}
}

// TestUnseen counts what happens within a settling, so that a graph cannot show it: an action that begins and ends, or
// ends and begins again. docs/translate.md has the numbers.
func TestUnseen(t *testing.T) {
	const trees = 3000
	settlings, short, again := 0, 0, 0
	for seed := range trees {
		r := rand.New(rand.NewPCG(9, uint64(seed)))
		tree, inputs := compile(t, r, 6)
		if runsAgain(tree) {
			continue
		}
		o := newOracle(tree, inputs)
		o.seen = func(before func(bt.Task) bool, commands []bt.Command) {
			settlings++
			count := map[bt.Task]int{}
			for _, c := range commands {
				if count[c.Task]++; count[c.Task] != 2 {
					continue
				}
				switch was, is := before(c.Task), isActive(o.engine, c.Task); {
				case was && is:
					again++
				case !was && !is:
					short++
				}
			}
		}
		for range 200 {
			if err := o.settle(r.IntN(1 << len(inputs))); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d settlings, %d actions that begin and end in one, %d that end and begin again", settlings, short, again)
	if short+again == 0 || short+again > 10 {
		t.Error("docs/translate.md says otherwise")
	}
}

// TestKeyIsTheMemory: two engines whose keys are equal, though their saved states differ, do the same whatever they are
// told next: the active actions are the same and the keys are equal again. The saved states of a random tree are all
// visited.
func TestKeyIsTheMemory(t *testing.T) {
	trees := 1000
	if testing.Short() {
		trees = 100
	}
	engines, merged := 0, 0
	for seed := range trees {
		r := rand.New(rand.NewPCG(4, uint64(seed)))
		tree, inputs := compile(t, r, 4)
		var list []*loop
		known := map[string]bool{}
		row := map[string]string{} // by key: the keys that follow, one for each word
		visit := func(l *loop) {
			if saved := string(snapshot.Save(nil, l.engine)) + fmt.Sprint(l.known); !known[saved] {
				known[saved] = true
				list = append(list, l.clone())
			}
		}
		start := newLoop(tree, inputs)
		if err := start.settle(say(tree, inputs, 0)); err != nil {
			t.Fatal(err)
		}
		visit(start)
		for i := 0; i < len(list); i++ {
			var follow strings.Builder
			for w := range 1 << len(inputs) {
				l := list[i].clone()
				if err := l.settle(say(tree, inputs, w)); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&follow, "%q", l.key())
				visit(l)
			}
			key := list[i].key()
			if before, seen := row[key]; seen && before != follow.String() {
				t.Fatalf("seed %d: two engines with one key go on differently", seed)
			}
			row[key] = follow.String()
		}
		engines, merged = engines+len(list), merged+len(row)
	}
	t.Logf("%d trees, %d saved states, %d keys", trees, engines, merged)
	if merged >= engines {
		t.Error("no two engines had one key: nothing was tested")
	}
}

func readPlan(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, list := plan.Read(&diag.Source{Name: "plan.xml", Text: text}, nil)
	if list.HasErrors() {
		t.Fatal(list)
	}
	return p
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The solar day: as many steps and transitions as in the manually written graph, in which `loiter` is an autonomous
// step, and between the same steps. The manual ones have shorter conditions because the first of several has priority.
func TestSolarDay(t *testing.T) {
	g, err := StateGraph(readPlan(t, readFile(t, "../../missions/solar-day.xml")), Assumptions{})
	if err != nil {
		t.Fatal(err)
	}
	byHand, list := stategraph.Read(&diag.Source{Name: "solar-day.graph.yaml",
		Text: readFile(t, "../../missions/solar-day.graph.yaml")}, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	pairs := func(g *stategraph.Graph) []string {
		var lines []string
		for _, tr := range g.Transitions() {
			from, _, _ := strings.Cut(g.StepName(tr.From), " + ")
			to, _, _ := strings.Cut(g.StepName(tr.To), " + ")
			lines = append(lines, from+" -> "+to)
		}
		slices.Sort(lines)
		return lines
	}
	if want, got := pairs(byHand), pairs(g); len(got) != 12 || !slices.Equal(got, want) {
		t.Errorf("translated: %v\nby hand: %v", got, want)
	}
}

const root = `<root BTCPP_format="4"><BehaviorTree>%s</BehaviorTree></root>`

// jojo is the plan of Fig. 7 of the 2014 paper; a task may be added after the climb.
func jojo(more string) string {
	return fmt.Sprintf(root, `
	<ReactiveSequence>
	  <ReactiveFallback>
	    <ReactiveSequence>
	      <Condition ID="full"/><Condition ID="surplus"/>
	      <ReactiveFallback><Condition ID="at_max"/><Action ID="climb"/></ReactiveFallback>`+more+`
	    </ReactiveSequence>
	    <ReactiveSequence>
	      <ReactiveFallback><Condition ID="at_min"/><Action ID="sink"/></ReactiveFallback>
	      <Action ID="hold"/>
	    </ReactiveSequence>
	  </ReactiveFallback>
	  <Action ID="mission"/>
	</ReactiveSequence>`)
}

const fuelCell = `<ReactiveFallback><Condition ID="loaded"/><Action ID="load"/></ReactiveFallback>`

// The paper's claim in numbers: one more connection in the tree is one more step and six more transitions in the graph.
// Signals change one at a time, and the aircraft cannot be at both altitudes: full, surplus, at_max, at_min.
func TestJojo(t *testing.T) {
	for _, c := range []struct {
		more                     string
		steps, transitions, free int
	}{{"", 4, 10, 12}, {fuelCell, 5, 16, 20}} {
		p := readPlan(t, jojo(c.more))
		var top, bottom int
		for i, in := range Inputs(p) {
			switch in.Name {
			case "at_max":
				top = i
			case "at_min":
				bottom = i
			}
		}
		possible := func(in []bool) bool { return !(in[top] && in[bottom]) }
		g, err := StateGraph(p, Assumptions{Possible: possible, OneAtATime: true})
		if err != nil {
			t.Fatal(err)
		}
		if steps, transitions := g.Len(), len(g.Transitions()); steps != c.steps || transitions != c.transitions {
			t.Errorf("%d steps, %d transitions, want %d, %d\n%s", steps, transitions, c.steps, c.transitions, g.Source.Text)
		}
		if g, err = StateGraph(p, Assumptions{}); err != nil || g.Len() != c.steps || len(g.Transitions()) != c.free {
			t.Errorf("if all may change at once: %v, %d steps, %d transitions", err, g.Len(), len(g.Transitions()))
		}
	}
}

// The papers' argument in numbers: with k tasks, a priority list has k(k-1) transitions, a parallel of tasks that come
// and go 2^k (2^k - 1), and a sequence only k + 1.
func TestGrowingPlans(t *testing.T) {
	each := func(k int, format string) (text string) {
		for i := range k {
			text += fmt.Sprintf(format, i+1)
		}
		return text
	}
	for _, c := range []struct {
		name        string
		least, most int
		plan        func(k int) string
		graph       func(k int) (steps, transitions int)
	}{
		{"sequence", 1, 8, func(k int) string {
			return "<Sequence>" + each(k, `<Action ID="a%[1]d" done="x%[1]d ge 1"/>`) + "</Sequence>"
		}, func(k int) (steps, transitions int) { return k + 2, k + 1 }},
		{"priority list", 2, 10, func(k int) string {
			return "<ReactiveFallback>" + each(k-1, `<ReactiveSequence><Condition ID="c%[1]d"/><Action ID="a%[1]d"/>`+
				`</ReactiveSequence>`) + `<Action ID="rest"/></ReactiveFallback>`
		}, func(k int) (steps, transitions int) { return k, k * (k - 1) }},
		{"parallel", 1, 6, func(k int) string {
			return "<ReactiveParallel>" + each(k, `<ReactiveFallback><Condition ID="c%[1]d"/><Action ID="a%[1]d"/>`+
				`</ReactiveFallback>`) + "</ReactiveParallel>"
		}, func(k int) (steps, transitions int) { return 1 << k, (1 << k) * (1<<k - 1) }},
	} {
		for k := c.least; k <= c.most; k++ {
			p := readPlan(t, fmt.Sprintf(root, c.plan(k)))
			g, err := StateGraph(p, Assumptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-16s k=%2d: %2d tasks, %3d steps, %4d transitions", c.name, k, p.Tree.Len(), g.Len(), len(g.Transitions()))
			if steps, transitions := c.graph(k); g.Len() != steps || len(g.Transitions()) != transitions {
				t.Errorf("want %d steps, %d transitions", steps, transitions)
			}
		}
	}
}

// runsAgain reports whether a task runs a child again, or what is skipped then is judged anew. If that ends at once without
// end, a mission has an instantaneous loop; an outcome that lasts ends every run, which one line of a script does not.
func runsAgain(tree *bt.Tree) bool {
	var acts func(t bt.Task) bool
	acts = func(t bt.Task) bool { return tree.Kind(t).Acts() || slices.ContainsFunc(tree.Children(t), acts) }
	for t := range bt.Task(tree.Len()) {
		if tree.Repeats(t) || tree.Kind(t).Condition() != "" && acts(tree.Children(t)[0]) {
			return true
		}
	}
	return false
}

func TestTooLarge(t *testing.T) {
	var leaves strings.Builder
	for i := range 12 {
		fmt.Fprintf(&leaves, `<Action ID="a%d" done="x%d ge 0"/>`, i, i)
	}
	p := readPlan(t, fmt.Sprintf(root, `<Parallel>`+leaves.String()+`</Parallel>`))
	for limit, want := range map[int]string{1000: "13 tasks, 12 inputs", 13 << 14: "at least 5 states"} {
		_, err := StateGraph(p, Assumptions{Limit: limit})
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), want) {
			t.Errorf("limit %d: error %v", limit, err)
		}
	}
}

// A loop that counts has a state for each count, without any input.
func TestTooManyCounts(t *testing.T) {
	p := readPlan(t, fmt.Sprintf(root, `<Repeat num_cycles="2000000000"><Action name="a" done="true"/></Repeat>`))
	if _, err := StateGraph(p, Assumptions{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

// Leaves that ask the same share an input; names become such that expressions can spell them.
func TestInputs(t *testing.T) {
	p := readPlan(t, fmt.Sprintf(root, `<Sequence>
	  <Condition name="high" on="h ge 100"/><Condition name="high again" on="h ge 100"/>
	  <Condition name="latched" on="h ge 100" off="h le 90"/>
	  <Condition ID="near"/><Condition ID="near"/><Condition/><Condition name="not"/>
	  <Action name="climb up" done="h ge 100" failed="false" entry_time="3" exit_until="v le 1"/>
	  <Action name="rest" done="true" _successIf="h ge 100" _failureIf="v le 1"/>
	</Sequence>`))
	var got []string
	for _, in := range Inputs(p) {
		text := in.Name + ":"
		for _, u := range in.Uses {
			text += fmt.Sprintf(" %s %d", p.Tree.Name(u.Task), u.Says)
		}
		got = append(got, text)
	}
	want := []string{
		fmt.Sprintf("high: high %d high again %d climb up %d rest %d", executive.On, executive.On, executive.Done, executive.SuccessIf),
		fmt.Sprintf("latched: latched %d", executive.On),
		fmt.Sprintf("near: Sequence/near %d Sequence/near[2] %d", executive.On, executive.On),
		fmt.Sprintf("Condition: Condition %d", executive.On),
		fmt.Sprintf("_not: not %d", executive.On),
		fmt.Sprintf("climb_up_entered: climb up %d", executive.Entered),
		fmt.Sprintf("climb_up_exited: climb up %d rest %d", executive.Exited, executive.FailureIf),
		fmt.Sprintf(": rest %d", executive.Done),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := StateGraph(p, Assumptions{}); err != nil {
		t.Error(err)
	}
}

// The phases of actions are distinguished: entering, running, leaving; the step's name contains them.
func TestProcedures(t *testing.T) {
	g, err := StateGraph(readPlan(t, fmt.Sprintf(root, `<ReactiveFallback>
	  <ReactiveSequence><Condition ID="storm"/><Action ID="land" entry_time="5"/></ReactiveSequence>
	  <Action ID="film" exit_until="v le 1"/></ReactiveFallback>`)), Assumptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tr := range g.Transitions() {
		got = append(got, fmt.Sprintf("%s -> %s: %s", g.StepName(tr.From), g.StepName(tr.To), tr.When))
	}
	want := []string{
		"land (entering) -> land: storm and land_entered",
		"land (entering) -> film: not storm",
		"land -> film: not storm",
		"film -> film (leaving): storm",
		"film (leaving) -> land (entering): storm and film_exited",
		"film (leaving) -> film: not storm and film_exited",
	}
	if len(got) < len(want) {
		t.Fatalf("got\n%s", strings.Join(got, "\n"))
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
}
