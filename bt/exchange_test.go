package bt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"canopy/bt"
	"canopy/internal/trees"
	"canopy/snapshot"
)

// withhold removes tasks by their numbers; those that were removed before no longer are. If gently, those that are
// engaged may end by themselves.
func (s *sweeper) withhold(tasks []bt.Task, gently bool) {
	s.gently = gently
	for _, t := range s.tasks {
		t.removed = slices.Contains(tasks, t.number)
		t.awaited = gently && t.removed && !t.status.Transient()
	}
}

// withholds reports whether a task has no activity because it is removed.
func (s *sweeper) withholds(t *sweptTask) bool {
	if !s.gently || !t.removed {
		return t.removed
	}
	return t.status.Transient() && !slices.ContainsFunc(s.tasks, func(o *sweptTask) bool { return o.awaited })
}

// exchange is the rule of docs/semantics.md, section 9, written down once more. By task of the new tree, kept is the
// same task of the old one, or -1.
func (s *sweeper) exchange(root *bt.Node, kept []bt.Task, initial []bt.Input) *sweeper {
	n := &sweeper{limit: s.limit, halted: s.halted}
	n.root = n.build(root, nil)
	old := func(t *sweptTask) *sweptTask {
		if t == nil || kept[t.number] < 0 {
			return nil
		}
		return s.tasks[kept[t.number]]
	}
	same := len(s.tasks) == len(n.tasks)
	for _, t := range n.tasks {
		o := old(t)
		same = same && o != nil && o.number == t.number && old(t.parent) == o.parent
		if o == nil {
			continue
		}
		t.status, t.active, t.held, t.pinned, t.result = o.status, o.active, o.held, o.pinned, o.result
		t.truth, t.request, t.outcome = o.truth, o.request, o.outcome
		t.slowEntry, t.slowExit, t.entryUnfinished, t.exitUnfinished =
			o.slowEntry, o.slowExit, o.entryUnfinished, o.exitUnfinished
	}
	for _, in := range initial {
		n.input(in)
	}
	for _, t := range n.tasks { // children first
		o := old(t)
		whole, front := o != nil && len(o.children) == len(t.children), true
		for i, c := range t.children {
			below := o != nil && old(c) != nil && old(c).parent == o
			whole = whole && below && o.children[i] == old(c)
			front = front && below && c.pinned
			switch {
			case !below:
				c.held, c.pinned = false, false
			case !t.parallel() && c.pinned && !front:
				c.pinned = false
				c.held = c.status != bt.Success && c.status != bt.Failure && c.status != bt.Skipped
			}
		}
		if whole {
			t.runs, t.once, t.branch, t.place, t.some = o.runs, o.once, o.branch, o.place, o.some
			t.caught, t.timed, t.elapsed = o.caught, o.timed, o.elapsed
		}
		t.computeFlags()
		if o == nil {
			t.status = t.judgement()
		}
	}
	if !same {
		n.root.held, n.root.pinned = false, false
	}
	return n
}

// around puts a task below a new one with a single child, a guard of a resource among them.
func around(r *rand.Rand, d *bt.Node, fresh *int) *bt.Node {
	*fresh++
	kinds := slices.DeleteFunc(bt.Kinds(), func(k bt.Kind) bool { least, most := k.Arity(); return least > 1 || most != 1 })
	kind := kinds[r.IntN(len(kinds))]
	n := &bt.Node{Kind: kind, Name: fmt.Sprint("new", *fresh), Children: []*bt.Node{d}, Params: trees.Params(r, kind, 1)}
	if trees.Guards(kind) {
		n.Params = []int{1 + r.IntN(2)}
	}
	return n
}

// exchangeKind gives a task another kind that may have as many children.
func exchangeKind(r *rand.Rand, d *bt.Node) {
	n := len(d.Children)
	kinds := slices.DeleteFunc(bt.Kinds(), func(k bt.Kind) bool {
		least, most := k.Arity()
		return (k.Family() == bt.Leaf) != (d.Kind.Family() == bt.Leaf) || n < least || most >= 0 && n > most || trees.Guards(k)
	})
	d.Kind = kinds[r.IntN(len(kinds))]
	d.Params = trees.Params(r, d.Kind, n)
}

// mutate returns a changed copy of a tree with names: tasks are removed, added, moved, renamed and changed, and get
// others around them.
func mutate(r *rand.Rand, d *bt.Node, fresh *int) *bt.Node {
	c := *d
	c.Children, c.Params = nil, slices.Clone(d.Params)
	for _, child := range d.Children {
		c.Children = append(c.Children, mutate(r, child, fresh))
	}
	least, most := c.Kind.Arity()
	added := func() *bt.Node {
		*fresh++
		return &bt.Node{Kind: trees.Leaf(r), Name: fmt.Sprint("new", *fresh)}
	}
	switch r.IntN(18) {
	case 0:
		if len(c.Children) > max(least, 1) {
			i := r.IntN(len(c.Children))
			c.Children = slices.Delete(c.Children, i, i+1)
		}
	case 1:
		if c.Kind.Family() != bt.Leaf && (most < 0 || len(c.Children) < most) {
			c.Children = slices.Insert(c.Children, r.IntN(len(c.Children)+1), added())
		}
	case 2:
		r.Shuffle(len(c.Children), func(i, j int) { c.Children[i], c.Children[j] = c.Children[j], c.Children[i] })
	case 3:
		if n := len(c.Children); n > 0 {
			c.Children[r.IntN(n)] = added()
		}
	case 4, 5:
		inner := c
		return around(r, &inner, fresh)
	case 6:
		if n := len(c.Children); n > 0 && n >= least {
			return c.Children[r.IntN(n)]
		}
	case 7:
		*fresh++
		c.Name = fmt.Sprint("new", *fresh)
	case 8:
		c.Params = trees.Params(r, c.Kind, len(c.Children))
	case 9:
		exchangeKind(r, &c)
	}
	if c.Params != nil {
		for i, p := range c.Kind.Params() { // of a number of children
			if _, ok := p.Resolve(c.Params[i], len(c.Children)); !ok {
				c.Params[i] = -1
			}
		}
	}
	return &c
}

// named gives all tasks names of their own.
func named(d *bt.Node, n *int) {
	*n++
	d.Name = fmt.Sprint("t", *n)
	for _, c := range d.Children {
		named(c, n)
	}
}

// exchanges counts what random exchanges show.
type exchanges struct {
	exchanged, waited, running, moved int
	left, between                     int              // gentle: actions that were awaited, and others that ran at that time
	met                               map[bt.Kind]bool // kinds of the new trees
}

// TestExchange compares exchanges of trees with those of the sweeps, on random trees, changes and scripts: logs and
// states are equal. When the new tree takes over, no removed action is engaged. Until it does, no removed action is
// entered. An exchange for the same tree changes and logs nothing.
func TestExchange(t *testing.T) {
	count, x := trees.Count(20_000, 3_000), &exchanges{met: map[bt.Kind]bool{}}
	for seed := range count {
		r := rand.New(rand.NewPCG(9, uint64(seed)))
		if text := x.run(r, 2+r.IntN(16), 16); text != "" {
			t.Fatalf("seed %d: %s", seed, text)
		}
	}
	t.Logf("%d awaited, %d meanwhile", x.left, x.between)
	t.Logf("%d exchanges, %d waits, %d actions went on, %d of them elsewhere", x.exchanged, x.waited, x.running, x.moved)
	for _, k := range bt.Kinds() {
		if !x.met[k] {
			t.Errorf("no %s takes part", k)
		}
	}
	if x.left < count/20 || x.between == 0 || x.exchanged < count || x.waited < count/20 || x.running < count/10 || x.moved < count/200 {
		t.Error("too few")
	}
}

// FuzzSwap is TestExchange with random numbers from the input.
func FuzzSwap(f *testing.F) {
	f.Add([]byte("a random tree, changed"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 400 {
			return
		}
		r := rand.New(&tape{data, rand.NewPCG(uint64(len(data)), 1)})
		if text := (&exchanges{met: map[bt.Kind]bool{}}).run(r, 2+r.IntN(24), 24); text != "" {
			t.Error(text)
		}
	})
}

// tape is a source of random numbers with 8 random bits, from a text and then from another source.
type tape struct {
	data []byte
	rest rand.Source
}

func (s *tape) Uint64() uint64 {
	if len(s.data) == 0 {
		return s.rest.Uint64()
	}
	x := uint64(s.data[0]) << 56
	s.data = s.data[1:]
	return x
}

// lasts returns the conditions of a tree that last until the end of another task, by names.
func lasts(d *bt.Tree, until map[string]string) map[bt.Task][]bt.Task {
	tasks := map[bt.Task][]bt.Task{}
	for condition, task := range until {
		c, ok := d.Find(condition)
		other, found := d.Find(task)
		if ok && found && d.Kind(c) == bt.Condition {
			tasks[c] = []bt.Task{other}
		}
	}
	return tasks
}

// run exchanges a random tree for random others, at random instants of a random script, and returns what is wrong.
func (x *exchanges) run(r *rand.Rand, size, instants int) (wrong string) {
	d, n, fresh := trees.Random(r, size), 0, 0
	if r.IntN(4) == 0 {
		d = trees.Guarded(r, d)
	}
	named(d, &n)
	tree, err := bt.Compile(d)
	if err != nil {
		return err.Error()
	}
	until := map[string]string{}
	for _, l := range tree.Leaves() {
		if r.IntN(6) == 0 {
			until[tree.Name(l)] = tree.Name(bt.Task(r.IntN(tree.Len())))
		}
	}
	lasting := func(of *bt.Tree) *bt.Tree { return of.Lasting(lasts(of, until)) }
	tree = lasting(tree)
	slow := func(leaves []bt.Task) (initial []bt.Input) {
		for _, l := range leaves {
			if tree.Kind(l).Acts() && r.IntN(2) == 0 {
				initial = append(initial, bt.Slow(l, r.IntN(3) == 0, true))
			}
		}
		return initial
	}
	initial := slow(tree.Leaves())
	e, s := bt.NewEngine(tree, initial, 0), newSweeper(d, initial, 1000).lasting(lasts(tree, until))
	var next *bt.Exchange
	var inputs []bt.Input
	gently, awaited := false, []bt.Task(nil) // an exchange waits for the end of actions that were engaged
	to := d
	fail := func(text string, args ...any) string {
		return fmt.Sprintf("%s\n%s\nto\n%s\n%v", fmt.Sprintf(text, args...), trees.Outline(d), trees.Outline(to), until)
	}
	all := func(a, b bt.Task) bool { return true }
	for range instants {
		iterations, settled := s.settle(inputs)
		instant, err := e.Settle(inputs)
		if settled != (err == nil) {
			return fail("%v, the sweeps settle: %t", err, settled)
		}
		if !settled {
			return "" // a script repeats without end
		}
		if text := differ(e, s, instant, iterations); text != "" {
			return fail("inputs %v: %s", inputs, text)
		}
		if err := e.Check(); err != nil {
			return fail("%v", err)
		}
		for _, c := range instant.Commands {
			if next != nil && !gently && !c.Exit && slices.Contains(next.Gone(), c.Task) {
				return fail("%s is entered, although it is removed", tree.Name(c.Task))
			}
		}
		if next != nil && gently {
			if text := x.awaits(e, instant, next, &awaited); text != "" {
				return fail("%s", text)
			}
		}
		inputs = nil
		switch {
		case next != nil && e.Ready(next):
			x.exchanged++
			for now := range bt.Task(next.To().Len()) {
				x.met[next.To().Kind(now)] = true
				k := next.Kept(now)
				if k < 0 || e.Status(k) != bt.Running || !tree.Kind(k).Acts() {
					continue
				}
				x.running++
				if tree.Parent(k) >= 0 && next.To().Parent(now) >= 0 &&
					tree.Name(tree.Parent(k)) != next.To().Name(next.To().Parent(now)) {
					x.moved++
				}
			}
			var kept, added []bt.Task
			for i := range bt.Task(next.To().Len()) {
				if kept = append(kept, next.Kept(i)); next.Kept(i) < 0 && next.To().Kind(i).Family() == bt.Leaf {
					added = append(added, i)
				}
			}
			for _, k := range next.Gone() {
				if !e.Status(k).Transient() {
					return fail("%s is engaged", tree.Name(k))
				}
			}
			d, tree = to, next.To()
			initial := slow(added)
			s = s.exchange(to, kept, initial).lasting(lasts(tree, until))
			e, next = e.Exchange(next, initial), nil
			if r.IntN(4) == 0 {
				o := bt.NewEngine(tree, nil, 0)
				if err := snapshot.Load(snapshot.Save(nil, e), o); err != nil {
					return fail("%v", err)
				}
				e = o
			}
			continue
		case next != nil:
			x.waited++
		}
		switch {
		case next == nil && r.IntN(4) == 0:
			same := bt.NewExchange(tree, tree, all)
			o := e.Exchange(same, nil)
			if instant, err := o.Settle(nil); err != nil || len(instant.Changes)+len(instant.Commands)+len(instant.Timings) > 0 ||
				!bytes.Equal(snapshot.Save(nil, o), snapshot.Save(nil, e)) {
				return fail("an exchange for the same tree changes something: %v", instant)
			}
			e.Withhold(same)
			e.Await(same)
		case next == nil && r.IntN(3) == 0:
			to = mutate(r, d, &fresh)
			tree2, err := bt.Compile(to)
			if err != nil {
				to = d
				break
			}
			tree2 = lasting(tree2)
			next = bt.NewExchange(tree, tree2, func(old, now bt.Task) bool {
				_, before := tree.Find(until[tree.Name(old)])
				_, after := tree2.Find(until[tree.Name(old)])
				return before == after
			})
			if gently = r.IntN(2) == 0; gently {
				e.Await(next)
			} else {
				e.Withhold(next)
			}
			s.withhold(next.Gone(), gently)
			awaited = slices.DeleteFunc(slices.Clone(next.Gone()), func(t bt.Task) bool { return e.Status(t).Transient() })
		case next != nil && r.IntN(6) == 0: // the old one goes on
			next, to = nil, d
			e.Withhold(nil)
			s.withhold(nil, false)
		}
		if r.IntN(5) == 0 {
			o := bt.NewEngine(tree, nil, 0)
			saved := snapshot.Save(nil, e)
			if err := snapshot.Load(saved, o); err != nil || !bytes.Equal(snapshot.Save(nil, o), saved) {
				return fail("a restored engine is another one: %v", err)
			}
			e = o
		}
		if next != nil && gently && len(awaited) > 0 && r.IntN(2) == 0 {
			inputs = append(inputs, bt.End(awaited[r.IntN(len(awaited))], []bt.Status{bt.Success, bt.Failure}[r.IntN(2)]))
		}
		for range r.IntN(3) * min(1, len(tree.Leaves())+len(tree.Timers())) {
			inputs = append(inputs, trees.Input(r, tree, e.Status))
		}
	}
	return ""
}

// awaits checks an instant of an exchange that lets removed actions end by themselves: once those that were engaged at
// the request have ended, no removed action is entered.
func (x *exchanges) awaits(e *bt.Engine, instant bt.Instant, next *bt.Exchange, awaited *[]bt.Task) (wrong string) {
	since := int32(0) // the iteration in which the last one ended
	if len(*awaited) == 0 {
		since = -1
	}
	for _, c := range instant.Changes {
		if c.To.Transient() && slices.Contains(*awaited, c.Task) {
			*awaited = slices.DeleteFunc(*awaited, func(t bt.Task) bool { return t == c.Task })
			x.left++
			if len(*awaited) == 0 {
				since = c.Iteration
			}
		}
		if c.To != bt.Activating || !slices.Contains(next.Gone(), c.Task) {
			continue
		}
		if len(*awaited) == 0 && c.Iteration > since {
			return fmt.Sprintf("%s is entered after the end of the actions that were awaited", e.Tree().Name(c.Task))
		}
		x.between++
	}
	if len(*awaited) > 0 && e.Ready(next) {
		return "it is ready, although awaited actions have not ended"
	}
	return ""
}

// TestExchangeBeforeItSettles: between an exchange and its first settling, an engine can be saved, restored and copied,
// and nothing more be withheld; of three active children, one goes on.
func TestExchangeBeforeItSettles(t *testing.T) {
	var children []*bt.Node
	for _, name := range []string{"a", "b", "c"} {
		children = append(children, &bt.Node{Kind: bt.Action, Name: name})
	}
	compile := func(kind bt.Kind, name string) *bt.Tree {
		d := &bt.Node{Kind: kind, Name: name, Children: children}
		if len(kind.Params()) > 0 {
			d.Params = []int{-1, 1}
		}
		return trees.Compile(t, d)
	}
	from, to := compile(bt.Parallel, "p"), compile(bt.Sequence, "s")
	x := bt.NewExchange(from, to, func(old, now bt.Task) bool { return true })
	for name, do := range map[string]func(e *bt.Engine) *bt.Engine{
		"untouched": func(e *bt.Engine) *bt.Engine { return e },
		"saved":     func(e *bt.Engine) *bt.Engine { snapshot.Save(nil, e); return e },
		"copied":    func(e *bt.Engine) *bt.Engine { return e.Clone() },
		"restored": func(e *bt.Engine) *bt.Engine {
			o := bt.NewEngine(to, nil, 0)
			reload(t, e, o)
			return o
		},
		"not withheld": func(e *bt.Engine) *bt.Engine { e.Withhold(nil); return e },
	} {
		e := bt.NewEngine(from, nil, 0)
		if _, err := e.Settle(nil); err != nil {
			t.Fatal(err)
		}
		e = do(e.Exchange(x, nil))
		_, err := e.Settle(nil)
		var active []string
		for _, l := range to.Leaves() {
			if !e.Status(l).Transient() {
				active = append(active, to.Name(l))
			}
		}
		if err != nil || e.Check() != nil || !slices.Equal(active, []string{"a"}) {
			t.Errorf("%s: %v are active; %v %v", name, active, err, e.Check())
		}
	}
}
