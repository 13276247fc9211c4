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

// withhold withholds tasks by their numbers; those that were withheld before no longer are.
func (s *sweeper) withhold(tasks []bt.Task) {
	for _, t := range s.tasks {
		t.withheld = slices.Contains(tasks, t.number)
	}
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
			chain := t.kind != bt.Parallel && t.kind != bt.ParallelAll && t.kind != bt.ReactiveParallel
			switch {
			case !below:
				c.held, c.pinned = false, false
			case chain && c.pinned && !front:
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

// mutate returns a changed copy of a tree with names: tasks are removed, added, moved and changed.
func mutate(r *rand.Rand, d *bt.Node, fresh *int) *bt.Node {
	c := *d
	c.Children = nil
	for _, child := range d.Children {
		c.Children = append(c.Children, mutate(r, child, fresh))
	}
	least, most := c.Kind.Arity()
	added := func() *bt.Node {
		*fresh++
		return &bt.Node{Kind: trees.Leaf(r), Name: fmt.Sprint("new", *fresh)}
	}
	switch r.IntN(12) {
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
	case 4:
		*fresh++
		inner := c
		return &bt.Node{Kind: bt.Inverter, Name: fmt.Sprint("new", *fresh), Children: []*bt.Node{&inner}}
	case 5:
		if n := len(c.Children); n > 0 && n >= least {
			return c.Children[r.IntN(n)]
		}
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

// TestExchange compares exchanges of trees with those of the sweeps, on random trees, changes and scripts: logs and
// states are equal. When the new tree takes over, no removed action is engaged. Until it does, no removed action is
// entered. An exchange for the same tree changes and logs nothing.
func TestExchange(t *testing.T) {
	count, exchanged, waited, running, moved := trees.Count(20_000, 3_000), 0, 0, 0, 0
	for seed := range count {
		r := rand.New(rand.NewPCG(9, uint64(seed)))
		d, n, fresh := trees.Random(r, 2+r.IntN(16)), 0, 0
		if seed%4 == 1 {
			d = trees.Guarded(r, d)
		}
		named(d, &n)
		tree := trees.Compile(t, d)
		var initial []bt.Input
		for _, l := range tree.Leaves() {
			if tree.Kind(l).Acts() && r.IntN(2) == 0 {
				initial = append(initial, bt.Slow(l, false, true))
			}
		}
		e, s := bt.NewEngine(tree, initial, 0), newSweeper(d, initial, 1000)
		var next *bt.Exchange
		var to *bt.Node
		var inputs []bt.Input
		fail := func(text string, args ...any) {
			t.Fatalf("seed %d: %s\n%s\nto\n%s", seed, fmt.Sprintf(text, args...), trees.Outline(d), trees.Outline(to))
		}
		to = d
		for range 16 {
			iterations, settled := s.settle(inputs)
			instant, err := e.Settle(inputs)
			if !settled || err != nil {
				break // a script repeats without end
			}
			compare(t, uint64(seed), fmt.Sprint("inputs ", inputs), to, e, s, instant, iterations)
			if err := e.Check(); err != nil {
				fail("%v", err)
			}
			for _, c := range instant.Commands {
				if next != nil && !c.Exit && slices.Contains(next.Gone(), c.Task) {
					fail("%s is entered, although it is removed", tree.Name(c.Task))
				}
			}
			if next != nil && !e.Ready(next) {
				waited++
			}
			inputs = nil
			if next != nil && e.Ready(next) {
				var kept []bt.Task
				for x := range next.To().Len() {
					kept = append(kept, next.Kept(bt.Task(x)))
				}
				for _, k := range next.Gone() {
					if !e.Status(k).Transient() {
						fail("%s is engaged", tree.Name(k))
					}
				}
				before := e
				s, e = s.exchange(to, kept, nil), e.Exchange(next, nil)
				d, tree, next = to, next.To(), nil
				exchanged++
				for x, k := range kept {
					if k >= 0 && before.Status(k) == bt.Running && tree.Kind(bt.Task(x)).Acts() {
						if running++; before.Tree().Parent(k) >= 0 && tree.Parent(bt.Task(x)) >= 0 &&
							before.Tree().Name(before.Tree().Parent(k)) != tree.Name(tree.Parent(bt.Task(x))) {
							moved++
						}
					}
				}
				continue
			}
			switch {
			case next == nil && r.IntN(4) == 0:
				same := bt.NewExchange(tree, tree, func(a, b bt.Task) bool { return true })
				o := e.Exchange(same, nil)
				if instant, err := o.Settle(nil); err != nil || len(instant.Changes)+len(instant.Commands)+len(instant.Timings) > 0 ||
					!bytes.Equal(snapshot.Save(nil, o), snapshot.Save(nil, e)) {
					fail("an exchange for the same tree changes something: %v", instant)
				}
				e.Withhold(same)
			case next == nil && r.IntN(3) == 0:
				to = mutate(r, d, &fresh)
				tree2, err := bt.Compile(to)
				if err != nil {
					to = d
					break
				}
				next = bt.NewExchange(tree, tree2, func(a, b bt.Task) bool { return true })
				e.Withhold(next)
				s.withhold(next.Gone())
			case next != nil && r.IntN(6) == 0: // the old one goes on
				next, to = nil, d
				e.Withhold(nil)
				s.withhold(nil)
			}
			if r.IntN(5) == 0 {
				o := bt.NewEngine(tree, nil, 0)
				reload(t, e, o)
				e = o
			}
			for range r.IntN(3) * min(1, len(tree.Leaves())+len(tree.Timers())) {
				inputs = append(inputs, trees.Input(r, tree, e.Status))
			}
		}
	}
	t.Logf("%d exchanges, %d waits, %d actions went on, %d of them elsewhere", exchanged, waited, running, moved)
	if exchanged < count || waited < count/20 || running < count/10 || moved < count/200 {
		t.Error("too few")
	}
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
