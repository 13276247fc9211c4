package reaction

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/snapshot"
)

// randomInputs returns the possible inputs of leaves: some are unrestricted, some are like those of plans.
func randomInputs(r *rand.Rand, tree *bt.Tree) []Repertoire {
	all := Stubs(tree)
	for i, t := range tree.Leaves() {
		if tree.Kind(t) == bt.Condition || r.IntN(3) == 0 {
			continue
		}
		all[i] = Repertoire{
			Values:   [][]bt.Status{{bt.Accept}, {bt.Success}, {bt.Accept, bt.Success}, {bt.Failure, bt.Accept}}[r.IntN(4)],
			Outcomes: [][]bt.Status{nil, {bt.Success}, {bt.Failure}, {bt.Success, bt.Failure}}[r.IntN(4)],
			Entry:    Duration(r.IntN(3)), Exit: Duration(r.IntN(3)),
		}
	}
	return all
}

// randomTree returns a tree of any kinds: in some, tasks share resources or conditions last until a task has ended.
func randomTree(t *testing.T, r *rand.Rand, size int) *bt.Tree {
	t.Helper()
	d := trees.Random(r, size)
	if r.IntN(8) == 0 {
		d = trees.Guarded(r, d)
	}
	if size%8 == 7 {
		trees.Zero(rand.New(rand.NewPCG(13, uint64(size))), d)
	}
	tree := trees.Compile(t, d)
	until, lasts := map[bt.Task][]bt.Task{}, r.IntN(4) == 0
	for _, l := range tree.Leaves() {
		if lasts && tree.Kind(l) == bt.Condition && r.IntN(2) == 0 {
			until[l] = []bt.Task{bt.Task(r.IntN(tree.Len()))}
		}
	}
	return tree.Lasting(until)
}

func outline(tree *bt.Tree) string {
	var b strings.Builder
	var walk func(t bt.Task, indent string)
	walk = func(t bt.Task, indent string) {
		fmt.Fprintln(&b, indent, tree.Name(t), tree.Kind(t), tree.Params(t))
		for _, c := range tree.Children(t) {
			walk(c, indent+"  ")
		}
	}
	walk(tree.Root(), "")
	return b.String()
}

// every returns every possible input of a leaf, whether it changes something or not.
func every(t bt.Task, kind bt.Kind, in Repertoire) []bt.Input {
	var all []bt.Input
	for _, v := range in.Values {
		if len(in.Values) == 1 && v == bt.Accept { // the initial and only request of an action
			continue
		}
		if kind == bt.Condition {
			all = append(all, bt.Set(t, v == bt.Success))
		} else {
			all = append(all, bt.Request(t, v))
		}
	}
	if kind == bt.Condition {
		return all
	}
	for _, v := range in.Outcomes {
		all = append(all, bt.End(t, v))
	}
	if in.Entry != Immediate || in.Exit != Immediate {
		all = append(all, bt.Entered(t), bt.Exited(t))
	}
	for _, entry := range []Duration{Immediate, Lasting} {
		for _, exit := range []Duration{Immediate, Lasting} {
			if (in.Entry == Either || in.Entry == entry) && (in.Exit == Either || in.Exit == exit) {
				all = append(all, bt.Slow(t, entry == Lasting, exit == Lasting))
			}
		}
	}
	return all
}

// plod explores the same as Explore as directly as possible: depth first, with engines that are copied, and with `slow` as
// an input like the others, so that each state comes with all that is said of procedures.
func plod(tree *bt.Tree, inputs []Repertoire, limit int) (most Work, leaves []Work, decided bool) {
	leaves = make([]Work, len(inputs)+len(tree.Timers()))
	seen := map[string]bool{}
	var visit func(e *bt.Engine)
	visit = func(e *bt.Engine) {
		key := string(snapshot.Save(nil, e))
		if seen[key] || len(seen) > limit {
			return
		}
		seen[key] = true
		for i, t := range slices.Concat(tree.Leaves(), tree.Timers()) {
			all := []bt.Input{bt.Elapsed(t)}
			if i < len(inputs) {
				all = every(t, tree.Kind(t), inputs[i])
			}
			for _, in := range all {
				next := e.Clone()
				instant, err := next.Settle([]bt.Input{in})
				if err != nil {
					panic(err)
				}
				w := WorkOf(instant)
				most, leaves[i] = most.most(w), leaves[i].most(w)
				visit(next)
			}
		}
	}
	visit(start(tree, inputs))
	return most, leaves, len(seen) <= limit
}

// choices calls f with each choice of one alternative for each source.
func choices(sources [][][]bt.Input, in []bt.Input, chosen []int, f func(in []bt.Input, chosen []int)) {
	if len(sources) == 0 {
		f(in, chosen)
		return
	}
	for i, some := range sources[0] {
		choices(sources[1:], slices.Concat(in, some), append(slices.Clip(chosen), i), f)
	}
}

// plodRuns explores the same as ExploreRuns as directly as possible: every start, and at each instant any inputs of all
// leaves.
func plodRuns(tree *bt.Tree, inputs []Repertoire, limit int) (start, most Work, decided bool) {
	var starts, news [][][]bt.Input
	for i, t := range tree.Leaves() {
		var first [][]bt.Input
		kinds := map[string][]bt.Input{}
		for _, in := range every(t, tree.Kind(t), inputs[i]) {
			word, _, _ := strings.Cut(in.Text("x"), " ")
			if len(inputs[i].Values) == 1 && (word == "set" || word == "request") {
				continue // it has its value from the start
			}
			kinds[word] = append(kinds[word], in)
		}
		for _, v := range inputs[i].Values {
			slow := bt.Slow(t, inputs[i].Entry == Lasting, inputs[i].Exit == Lasting)
			if tree.Kind(t) == bt.Condition {
				first = append(first, []bt.Input{bt.Set(t, v == bt.Success)})
			} else {
				first = append(first, []bt.Input{slow, bt.Request(t, v)})
			}
		}
		some := [][]bt.Input{nil}
		for _, word := range []string{"set", "request", "end", "entered", "exited"} {
			for _, before := range some {
				for _, in := range kinds[word] {
					some = append(some, append(slices.Clip(before), in))
				}
			}
		}
		starts, news = append(starts, first), append(news, some)
	}
	for _, t := range tree.Timers() {
		news = append(news, [][]bt.Input{nil, {bt.Elapsed(t)}})
	}
	seen, instants, each := map[string]bool{}, 0, 1
	for _, some := range news {
		each *= len(some)
	}
	if each > 200 {
		return start, most, false
	}
	var open []*bt.Engine
	arrive := func(e *bt.Engine, in []bt.Input) Work {
		instant, err := e.Settle(in)
		if err != nil {
			panic(err)
		}
		if key := string(snapshot.Save(nil, e)); !seen[key] {
			seen[key], open = true, append(open, e)
		}
		return WorkOf(instant)
	}
	choices(starts, nil, nil, func(in []bt.Input, _ []int) {
		start = start.most(arrive(bt.NewEngine(tree, in, 0), nil))
	})
	for ; len(open) > 0 && instants < limit; open = open[1:] {
		choices(news, nil, nil, func(in []bt.Input, chosen []int) {
			instants++
			w := arrive(open[0].Clone(), in)
			if len(slices.DeleteFunc(chosen, func(i int) bool { return i == 0 })) == 1 {
				most = most.most(w)
			}
		})
	}
	return start, most, len(open) == 0
}

// ExploreRuns agrees with a deliberately dumb exploration.
func TestExploreRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	rounds, decided, more := 150, 0, 0
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		tree := randomTree(t, r, 2+r.IntN(4))
		inputs := randomInputs(r, tree)
		for i := range inputs {
			if tree.Kind(tree.Leaves()[i]).Acts() {
				inputs[i].Entry, inputs[i].Exit = Duration(r.IntN(2)), Duration(r.IntN(2))
			} else if r.IntN(3) == 0 && len(tree.Lasts()) == 0 {
				inputs[i].Values = inputs[i].Values[r.IntN(2):][:1]
			}
		}
		start, most, all := plodRuns(tree, inputs, 10_000)
		if !all {
			continue
		}
		decided++
		got, scripts := ExploreRuns(tree, inputs, DefaultBudget), Explore(tree, inputs, DefaultBudget)
		if !got.Decided || got.Start != start || got.Most != most || got.Most.Iterations > got.Bound.Iterations {
			t.Fatalf("%t: %+v, %+v, the dumb exploration %+v, %+v; bound %+v\n%s%+v", got.Decided, got.Start, got.Most, start,
				most, got.Bound, outline(tree), inputs)
		}
		if !within(got.Most, scripts.Most) {
			more++
		}
		checkScripts(t, got)
	}
	t.Logf("%d of %d trees decided; %d need more than scripts without a start", decided, rounds, more)
	if decided < rounds/3 || more < rounds/40 {
		t.Error("these are too few")
	}
}

// A run begins with any inputs, and procedures that take time do so from the start.
func TestStartsOfRuns(t *testing.T) {
	for _, test := range []struct {
		plan  string
		most  Work
		start string
	}{
		{`<Action name="a" _failureIf="x ge 1"/>`, Work{2, 3, 3}, "start: request a failure"},
		{`<ForceFailure><AsyncSequence><Action name="a" failed="y lt 2" entry_until="x lt 1"/><Action name="b"/>` +
			`</AsyncSequence></ForceFailure>`, Work{2, 12, 9}, "start: slow a entry"},
	} {
		p, list := plan.Read(&diag.Source{Name: "plan.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="plan">` +
			test.plan + `</BehaviorTree></root>`}, nil)
		if p == nil {
			t.Fatal(list)
		}
		r := ExploreRuns(p.Tree, InputsOf(p, nil), DefaultBudget)
		lines, last := r.Script("changes", nil)
		if !r.Decided || r.Most != test.most || last != r.Most || lines[0] != test.start {
			t.Errorf("%+v, want %+v: %q", r.Most, test.most, lines)
		}
		checkScripts(t, r)
	}
}

func within(w, bound Work) bool { return w.most(bound) == bound }

// Explore agrees with a deliberately dumb exploration, and no bound is exceeded.
func TestExploreRandom(t *testing.T) {
	const limit = 3_000 // states; what lies above takes most of the time and is hardly more varied
	r := rand.New(rand.NewPCG(5, 6))
	rounds, decided, attained := 250, 0, 0
	if testing.Short() {
		rounds = 60
	}
	for range rounds {
		tree := randomTree(t, r, 2+r.IntN(6))
		inputs := randomInputs(r, tree)
		most, leaves, all := plod(tree, inputs, limit)
		if !all {
			continue
		}
		got := Explore(tree, inputs, DefaultBudget)
		if !got.Decided {
			continue
		}
		decided++
		if got.Most != most {
			t.Fatalf("Explore says %+v, the dumb exploration %+v\n%s%+v", got.Most, most, outline(tree), inputs)
		}
		for i, leaf := range got.Leaves {
			if leaf.Most != leaves[i] {
				t.Fatalf("leaf %d: %+v, the dumb exploration says %+v\n%s", i, leaf.Most, leaves[i], outline(tree))
			}
			if !within(leaf.Most, leaf.Bound) || !within(leaf.Bound, got.Bound) {
				t.Errorf("leaf %d: %+v is above the bound %+v\n%s%+v", i, leaf.Most, leaf.Bound, outline(tree), inputs)
			}
			if leaf.Most.Iterations == leaf.Bound.Iterations {
				attained++
			}
		}
		checkScripts(t, got)
	}
	t.Logf("%d of %d trees decided; %d leaves attain the bound of iterations", decided, rounds, attained)
	if decided < rounds/2 || attained < rounds/8 {
		t.Errorf("only %d of %d trees are decided and %d leaves attain their bound", decided, rounds, attained)
	}
}

// checkScripts replays the worst scripts: the last line takes exactly what is claimed.
func checkScripts(t *testing.T, r *Result) {
	t.Helper()
	for m, measure := range Measures {
		lines, claimed := r.Script(measure, nil)
		var last, most Work
		err := script.Play(&plan.Plan{Tree: r.tree}, &diag.Source{Name: "script", Text: strings.Join(lines, "\n")}, nil,
			func(n int, _ *bt.Tree, instant bt.Instant, _ []script.Written) {
				last = WorkOf(instant)
				if n > 0 {
					most = most.most(last)
				}
			})
		if len(lines) == 0 {
			last = Work{}
		}
		if err != nil || last != claimed || claimed.measures()[m] != r.Most.measures()[m] || !within(most, r.Most) {
			t.Fatalf("%v: the script takes %+v at last, %+v at most; claimed are %+v and %+v\n%s%s", err, last, most, claimed,
				r.Most, outline(r.tree), strings.Join(lines, "\n"))
		}
	}
}

// start returns an engine that has settled for the first time with the procedures that always take time.
func start(tree *bt.Tree, inputs []Repertoire) *bt.Engine {
	var slow []bt.Input
	for i, t := range tree.Leaves() {
		if tree.Kind(t) == bt.Action {
			slow = append(slow, bt.Slow(t, inputs[i].Entry == Lasting, inputs[i].Exit == Lasting))
		}
	}
	e := bt.NewEngine(tree, slow, 0)
	if _, err := e.Settle(nil); err != nil {
		panic(err)
	}
	return e
}

// randomLeaf returns a random leaf and one of its inputs, if it has any.
func randomLeaf(r *rand.Rand, tree *bt.Tree, inputs []Repertoire) (leaf int, in []bt.Input) {
	leaf = r.IntN(len(inputs))
	task := tree.Leaves()[leaf]
	if all := every(task, tree.Kind(task), inputs[leaf]); len(all) > 0 {
		in = all[r.IntN(len(all)):][:1]
	}
	return leaf, in
}

// In trees of any size and with any number of inputs at an instant, the structural bounds hold.
func TestBoundsOfLargeTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	rounds := 10_000
	if testing.Short() {
		rounds = 1500
	}
	for round := range rounds {
		size := 1 + r.IntN(40)
		if round%100 == 0 {
			size = 400
		}
		tree := randomTree(t, r, size)
		inputs := randomInputs(r, tree)
		b := &Result{tree: tree, inputs: inputs}
		b.bound()
		e := start(tree, inputs)
		for range 60 {
			leaf, in := randomLeaf(r, tree, inputs)
			for range r.IntN(3) * r.IntN(2) * len(inputs) / 2 {
				_, other := randomLeaf(r, tree, inputs)
				in = append(slices.Clip(in), other...)
			}
			for i, t := range tree.Timers() {
				if r.IntN(10) == 0 {
					leaf, in = len(inputs)+i, append(in[:len(in)*r.IntN(2)], bt.Elapsed(t))
				}
			}
			instant, err := e.Settle(in)
			w := WorkOf(instant)
			if err != nil || w.Iterations > b.Bound.Iterations || len(in) <= 1 && !within(w, b.Leaves[leaf].Bound) {
				t.Fatalf("%d inputs: %+v, bound %+v, of the leaf %+v\n%s%+v %v", len(in), w, b.Bound, b.Leaves[leaf].Bound,
					outline(tree), inputs, err)
			}
		}
	}
}

// tall returns a tree of the given depth that needs as many iterations as any tree of that depth, and what its leaves
// may tell. Each level is a parallel of which two children decide. An action "kept" ends with a result, which is held;
// the level below, or at the bottom the action "end", ends with the opposite result and, deactivated, says the same as
// "kept". So the parallel ends; deactivated, it forgets what was kept and says the opposite, as two actions "turn"
// request. If entry procedures take time, it ends an iteration later: until then an action "late" is entered.
func tall(depth int, entry Duration) (*bt.Tree, []Repertoire) {
	var all []Repertoire
	leaf := func(name string, level int, in Repertoire) *bt.Node {
		all = append(all, in)
		return &bt.Node{Kind: bt.Action, Name: name + strconv.Itoa(level)}
	}
	results := [2]bt.Status{bt.Failure, bt.Success}
	var grow func(level int) *bt.Node
	grow = func(level int) *bt.Node {
		own, opposite := results[level%2], results[1-level%2]
		if level == 0 {
			return leaf("end", 0, Repertoire{Values: []bt.Status{bt.Accept, opposite}, Outcomes: []bt.Status{own}})
		}
		d := &bt.Node{Kind: bt.ReactiveParallel, Params: []int{2, 2}}
		d.Children = append(d.Children, leaf("kept", level, Repertoire{Values: []bt.Status{bt.Accept}, Outcomes: []bt.Status{own}}))
		d.Children = append(d.Children, grow(level-1))
		for _, name := range []string{"turn", "turn too "} {
			d.Children = append(d.Children, leaf(name, level, Repertoire{Values: []bt.Status{bt.Accept, opposite}}))
		}
		if entry != Immediate {
			d.Children = append(d.Children, leaf("late", level, Repertoire{Values: []bt.Status{bt.Accept}, Entry: entry}))
		}
		return d
	}
	tree, err := bt.Compile(grow(depth))
	if err != nil {
		panic(err)
	}
	return tree, all
}

// The bound of the iterations is attained: depth + 2 if procedures take no time, and one more for each parallel in which
// another entry procedure takes time.
func TestBoundIsTight(t *testing.T) {
	for _, entry := range []Duration{Immediate, Lasting} {
		for depth := range 3 {
			tree, inputs := tall(depth, entry)
			got := Explore(tree, inputs, explore.Budget{States: 400_000})
			want := depth + 2
			if entry == Lasting {
				want += depth
			}
			lines, _ := got.Script("iterations", nil)
			t.Logf("depth %d: %+v of %+v, %d states, decided %v", depth, got.Most, got.Bound, got.States, got.Decided)
			if got.Most.Iterations != want || got.Bound.Iterations != want {
				t.Errorf("depth %d: %d iterations of %d, want %d\n%s", depth, got.Most.Iterations, got.Bound.Iterations, want,
					strings.Join(lines, "\n"))
			}
			checkScripts(t, got)
		}
	}
}

// A script that runs its child again is judged by what the child returns, deactivated: that is one iteration for each of
// nested ones, and the bound is attained.
func TestBoundOfRunsIsTight(t *testing.T) {
	for kind, result := range map[bt.Kind]bt.Status{bt.RetryUntilSuccessful: bt.Failure, bt.Repeat: bt.Success} {
		root := &bt.Node{Kind: bt.Action, Name: "a"}
		for depth := range 5 {
			tree := trees.Compile(t, root)
			got := Explore(tree, []Repertoire{{Values: []bt.Status{bt.Accept, result}, Outcomes: []bt.Status{result}}},
				DefaultBudget)
			if !got.Decided || got.Most.Iterations != depth+2 || got.Bound.Iterations != depth+2 {
				t.Errorf("%s, depth %d: %d iterations, bound %d", kind, depth, got.Most.Iterations, got.Bound.Iterations)
			}
			checkScripts(t, got)
			root = &bt.Node{Kind: kind, Name: strconv.Itoa(depth), Params: []int{2}, Children: []*bt.Node{root}}
		}
	}
}

// A task that is skipped once it has ended turns: the tasks above it may then be judged otherwise.
func TestSkippedTasksTurn(t *testing.T) {
	node := func(kind bt.Kind, kids ...*bt.Node) *bt.Node { return &bt.Node{Kind: kind, Children: kids} }
	for _, wrap := range []bt.Kind{bt.Inverter, bt.ForceFailure} {
		once := node(wrap, node(bt.RunOnce, node(bt.Action)))
		tree := trees.Compile(t, node(bt.ReactiveSequence,
			node(bt.ReactiveFallback, node(bt.ReactiveSequence, once, node(bt.Condition)), node(bt.Action)), node(bt.Action)))
		accept := Repertoire{Values: []bt.Status{bt.Accept}}
		inputs := []Repertoire{accept, {Values: []bt.Status{bt.Success, bt.Failure}}, accept, accept}
		inputs[0].Outcomes = []bt.Status{bt.Success}
		got := Explore(tree, inputs, DefaultBudget)
		if !got.Decided || got.Most.Iterations != 4 || got.Bound.Iterations < 4 {
			t.Errorf("%s: %d iterations, bound %d", wrap, got.Most.Iterations, got.Bound.Iterations)
		}
	}
}

// A search that is ended reports this, and its result so far is a lower bound.
func TestExploreInterrupted(t *testing.T) {
	tree := trees.Compile(t, &bt.Node{Kind: bt.Parallel, Params: []int{1, 1}, Children: []*bt.Node{
		{Kind: bt.Action, Name: "a"}, {Kind: bt.Action, Name: "b"}}})
	whole := Explore(tree, Stubs(tree), DefaultBudget)
	asked := 0
	part := Explore(tree, Stubs(tree), explore.Budget{Over: func(states int) string {
		asked++
		if asked == 1 && states != 1 {
			t.Errorf("%d states at first", states)
		}
		return map[bool]string{true: "enough"}[asked == 3]
	}})
	if part.Decided || part.Why != "enough" || !whole.Decided || asked != 3 || part.States < 10 || part.States >= whole.States ||
		part.Most.Iterations > whole.Most.Iterations || part.Bound != whole.Bound {
		t.Errorf("%d states and %+v of %d and %+v, asked %d times", part.States, part.Most, whole.States, whole.Most, asked)
	}
}

// An instant at which many procedures start that may take time or not is as many instants as there are choices: the
// budget holds within it.
func TestExploreBounded(t *testing.T) {
	root := &bt.Node{Kind: bt.Parallel, Params: []int{1, 1}}
	for range 500 {
		root.Children = append(root.Children, &bt.Node{Kind: bt.Action})
	}
	tree := trees.Compile(t, root)
	for _, b := range []explore.Budget{{Moves: 500}, {Bytes: 200_000, Moves: 500}, {States: 100, Moves: 500}} {
		r := Explore(tree, Stubs(tree), b)
		if r.Decided || r.Why == "" || r.States > 501 || r.Bound.Iterations == 0 {
			t.Errorf("%+v: decided %t, %q, %d states, bound %+v", b, r.Decided, r.Why, r.States, r.Bound)
		}
	}
}

// TestOneInput: conditions with one definition change together, and the maximum is that of this instant.
func TestOneInput(t *testing.T) {
	const part = `<ReactiveFallback><ReactiveSequence><Condition name="c%d" on="%s"/><Action name="a%[1]d"/>` +
		`</ReactiveSequence><Action name="b%[1]d"/></ReactiveFallback>`
	for _, test := range []struct {
		conditions []string
		most       int
	}{
		{[]string{"x ge 1"}, 8},
		{[]string{"x ge 1", "x ge 1", "1 le x"}, 24},
		{[]string{"x ge 1", "x ge 2", "x ge 3"}, 8},
		{[]string{"x ge 1", "x ge 2", "x ge 1"}, 16},
	} {
		var b strings.Builder
		for i, on := range test.conditions {
			fmt.Fprintf(&b, part, i, on)
		}
		p, list := plan.Read(&diag.Source{Name: "plan.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="plan"><Parallel ` +
			`success_count="-1" failure_count="-1">` + b.String() + `</Parallel></BehaviorTree></root>`}, nil)
		if p == nil {
			t.Fatal(list)
		}
		r := Explore(p.Tree, InputsOf(p, nil), DefaultBudget)
		lines, last := r.Script("changes", nil)
		if !r.Decided || r.Most.Changes != test.most || last != r.Most || r.Most.most(r.Bound) != r.Bound {
			t.Errorf("%v: %+v, bound %+v, want %d changes: %q", test.conditions, r.Most, r.Bound, test.most, lines)
		}
	}
}
