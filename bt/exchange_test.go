package bt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/snapshot"
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
	d.Params, d.Prompt = trees.Params(r, d.Kind, n), d.Prompt && d.Kind.Acts()
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
	c, err := x.start(r, size)
	if err != nil {
		return err.Error()
	}
	var inputs []bt.Input
	for range instants {
		looped, wrong := c.settle(inputs)
		if looped || wrong != "" {
			return wrong
		}
		inputs = nil
		if c.next != nil && c.engine.Ready(c.next) {
			if wrong := c.takeOver(); wrong != "" {
				return wrong
			}
			continue
		}
		if wrong := c.propose(); wrong != "" {
			return wrong
		}
		if r.IntN(5) == 0 {
			if wrong := c.restore(); wrong != "" {
				return wrong
			}
		}
		if c.next != nil && c.gently && len(c.awaited) > 0 && r.IntN(2) == 0 {
			end := c.awaited[r.IntN(len(c.awaited))]
			inputs = append(inputs, bt.End(end, []bt.Status{bt.Success, bt.Failure}[r.IntN(2)]))
		}
		for range r.IntN(3) * min(1, len(c.tree.Leaves())+len(c.tree.Timers())) {
			inputs = append(inputs, trees.Input(r, c.tree, c.engine.Status))
		}
	}
	return ""
}

// change is a random tree that is exchanged for others, in the engine and in the sweeps.
type change struct {
	*exchanges
	r       *rand.Rand
	root    *bt.Node
	tree    *bt.Tree
	engine  *bt.Engine
	sweeps  *sweeper
	fresh   int               // names of new tasks
	until   map[string]string // conditions that last until the end of a task
	to      *bt.Node          // the next tree
	next    *bt.Exchange      // nil: none is under way
	gently  bool              // it waits for the end of actions that were engaged
	awaited []bt.Task         // those of them that have not ended
}

func (x *exchanges) start(r *rand.Rand, size int) (*change, error) {
	d, n := trees.Random(r, size), 0
	if r.IntN(4) == 0 {
		d = trees.Guarded(r, d)
	}
	named(d, &n)
	tree, err := bt.Compile(d)
	if err != nil {
		return nil, err
	}
	c := &change{exchanges: x, r: r, root: d, to: d, until: map[string]string{}}
	for _, l := range tree.Leaves() {
		if r.IntN(6) == 0 {
			c.until[tree.Name(l)] = tree.Name(bt.Task(r.IntN(tree.Len())))
		}
	}
	c.tree = tree.Lasting(lasts(tree, c.until))
	initial := c.slow(tree.Leaves())
	c.engine, c.sweeps = bt.NewEngine(c.tree, initial, 0), newSweeper(d, initial, 1000).lasting(lasts(tree, c.until))
	return c, nil
}

// slow makes procedures of some leaves take time.
func (c *change) slow(leaves []bt.Task) (initial []bt.Input) {
	for _, l := range leaves {
		if c.tree.Kind(l).Acts() && c.r.IntN(2) == 0 {
			initial = append(initial, bt.Slow(l, c.r.IntN(3) == 0, true))
		}
	}
	return initial
}

// fail returns what is wrong, with the trees.
func (c *change) fail(text string, args ...any) string {
	return fmt.Sprintf("%s\n%s\nto\n%s\n%v", fmt.Sprintf(text, args...), trees.Outline(c.root), trees.Outline(c.to), c.until)
}

// settle settles an instant in the engine and in the sweeps and compares them; looped: a script repeats without end.
func (c *change) settle(inputs []bt.Input) (looped bool, wrong string) {
	iterations, settled := c.sweeps.settle(inputs)
	instant, err := c.engine.Settle(inputs)
	if settled != (err == nil) {
		return false, c.fail("%v, the sweeps settle: %t", err, settled)
	}
	if !settled {
		return true, ""
	}
	if text := differ(c.engine, c.sweeps, instant, iterations); text != "" {
		return false, c.fail("inputs %v: %s", inputs, text)
	}
	if err := c.engine.Check(); err != nil {
		return false, c.fail("%v", err)
	}
	switch {
	case c.next == nil:
	case c.gently:
		if text := c.awaits(instant); text != "" {
			return false, c.fail("%s", text)
		}
	default:
		for _, command := range instant.Commands {
			if !command.Exit && slices.Contains(c.next.Gone(), command.Task) {
				return false, c.fail("%s is entered, although it is removed", c.tree.Name(command.Task))
			}
		}
	}
	return false, ""
}

// takeOver lets the next tree take over.
func (c *change) takeOver() (wrong string) {
	c.exchanged++
	to := c.next.To()
	var kept, added []bt.Task
	for now := range bt.Task(to.Len()) {
		c.met[to.Kind(now)] = true
		k := c.next.Kept(now)
		if kept = append(kept, k); k < 0 {
			if to.Kind(now).Family() == bt.Leaf {
				added = append(added, now)
			}
			continue
		}
		if c.engine.Status(k) != bt.Running || !c.tree.Kind(k).Acts() {
			continue
		}
		c.running++
		if c.tree.Parent(k) >= 0 && to.Parent(now) >= 0 && c.tree.Name(c.tree.Parent(k)) != to.Name(to.Parent(now)) {
			c.moved++
		}
	}
	for _, k := range c.next.Gone() {
		if !c.engine.Status(k).Transient() {
			return c.fail("%s is engaged", c.tree.Name(k))
		}
	}
	c.root, c.tree = c.to, to
	initial := c.slow(added)
	c.sweeps = c.sweeps.exchange(c.to, kept, initial).lasting(lasts(to, c.until))
	c.engine, c.next = c.engine.Exchange(c.next, initial), nil
	if c.r.IntN(4) == 0 {
		return c.restore()
	}
	return ""
}

// propose begins an exchange, for the same tree or for a mutated one, or gives up the one that is under way.
func (c *change) propose() (wrong string) {
	switch {
	case c.next != nil:
		if c.waited++; c.r.IntN(6) == 0 { // the old tree goes on
			c.next, c.to = nil, c.root
			c.engine.Withhold(nil)
			c.sweeps.withhold(nil, false)
		}
	case c.r.IntN(4) == 0:
		same := bt.NewExchange(c.tree, c.tree, func(a, b bt.Task) bool { return true })
		o := c.engine.Exchange(same, nil)
		if instant, err := o.Settle(nil); err != nil || len(instant.Changes)+len(instant.Commands)+len(instant.Timings) > 0 ||
			!bytes.Equal(snapshot.Save(nil, o), snapshot.Save(nil, c.engine)) {
			return c.fail("an exchange for the same tree changes something: %v", instant)
		}
		c.engine.Withhold(same)
		c.engine.Await(same)
	case c.r.IntN(3) == 0:
		to := mutate(c.r, c.root, &c.fresh)
		tree, err := bt.Compile(to)
		if err != nil {
			return ""
		}
		tree = tree.Lasting(lasts(tree, c.until))
		c.to, c.next = to, bt.NewExchange(c.tree, tree, func(old, now bt.Task) bool {
			_, before := c.tree.Find(c.until[c.tree.Name(old)])
			_, after := tree.Find(c.until[c.tree.Name(old)])
			return before == after
		})
		if c.gently = c.r.IntN(2) == 0; c.gently {
			c.engine.Await(c.next)
		} else {
			c.engine.Withhold(c.next)
		}
		c.sweeps.withhold(c.next.Gone(), c.gently)
		c.awaited = slices.DeleteFunc(slices.Clone(c.next.Gone()),
			func(t bt.Task) bool { return c.engine.Status(t).Transient() })
	}
	return ""
}

// restore goes on with an engine that is restored from the saved state.
func (c *change) restore() (wrong string) {
	o, saved := bt.NewEngine(c.tree, nil, 0), snapshot.Save(nil, c.engine)
	if err := snapshot.Load(saved, o); err != nil || !bytes.Equal(snapshot.Save(nil, o), saved) {
		return c.fail("a restored engine is another one: %v", err)
	}
	c.engine = o
	return ""
}

// awaits checks an instant of an exchange that lets removed actions end by themselves: once those that were engaged at
// the request have ended, no removed action is entered.
func (c *change) awaits(instant bt.Instant) (wrong string) {
	since := int32(0) // the iteration in which the last one ended
	if len(c.awaited) == 0 {
		since = -1
	}
	for _, step := range instant.Changes {
		if step.To.Transient() && slices.Contains(c.awaited, step.Task) {
			c.awaited = slices.DeleteFunc(c.awaited, func(t bt.Task) bool { return t == step.Task })
			c.left++
			if len(c.awaited) == 0 {
				since = step.Iteration
			}
		}
		if step.To != bt.Activating || !slices.Contains(c.next.Gone(), step.Task) {
			continue
		}
		if len(c.awaited) == 0 && step.Iteration > since {
			return fmt.Sprintf("%s is entered after the end of the actions that were awaited", c.tree.Name(step.Task))
		}
		c.between++
	}
	if len(c.awaited) > 0 && c.engine.Ready(c.next) {
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
