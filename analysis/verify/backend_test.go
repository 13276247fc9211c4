package verify

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"canopy/bt"
	"canopy/expr"

	"github.com/crillab/gophersat/solver"
)

// tables is the space of truth tables: one bit for each assignment. It is as dumb as can be.
type tables struct{ n int }

func newTables(n int) space { return tables{n} }

type table []uint64

func (s tables) size() int { return max(1, 1<<s.n/64) }

func (s tables) fill(value func(assignment int) bool) set {
	t := make(table, s.size())
	for a := range 1 << s.n {
		if value(a) {
			t[a/64] |= 1 << (a % 64)
		}
	}
	return t
}

func (t table) has(a int) bool { return t[a/64]>>(a%64)&1 != 0 }

func (s tables) none() set          { return s.fill(func(int) bool { return false }) }
func (s tables) all() set           { return s.fill(func(int) bool { return true }) }
func (s tables) variable(i int) set { return s.fill(func(a int) bool { return a>>i&1 != 0 }) }
func (s tables) not(a set) set      { return s.fill(func(x int) bool { return !a.(table).has(x) }) }
func (s tables) full() bool         { return false }

func (s tables) and(a, b set) set {
	return s.fill(func(x int) bool { return a.(table).has(x) && b.(table).has(x) })
}

func (s tables) or(a, b set) set {
	return s.fill(func(x int) bool { return a.(table).has(x) || b.(table).has(x) })
}

func (s tables) hide(a set, variables []int) set {
	for _, v := range variables {
		old := a.(table)
		a = s.fill(func(x int) bool { return old.has(x|1<<v) || old.has(x&^(1<<v)) })
	}
	return a
}

func (s tables) empty(a set) bool {
	return !slices.ContainsFunc(a.(table), func(word uint64) bool { return word != 0 })
}

func (s tables) has(a set, assignment []value) bool {
	x := 0
	for i, v := range assignment {
		x |= btoi(v != no) << i
	}
	return a.(table).has(x)
}

func (s tables) top(set) int { return 0 }

func (s tables) shortest(a set) []value { return s.witness(a) }

func (s tables) witness(a set) []value {
	w := make([]value, s.n)
	for i, word := range a.(table) {
		if word != 0 {
			x := i*64 + bits.TrailingZeros64(word)
			for v := range w {
				w[v] = value(x >> v & 1)
			}
		}
	}
	return w
}

// clauses is an encoding of its own of what a plan without memory does, for a satisfiability solver. It does not follow
// the recursion of the model: each task has a status, said by two variables, and each composite states the conditions
// under which its children's statuses go together with its own.
type clauses struct {
	m     *Model
	next  int
	list  [][]int
	good  []int // by task
	bad   []int
	skip  []int
	live  []int // active
	input []int
	cuts  map[string][]int // by signal
}

func (c *clauses) fresh() int {
	c.next++
	return c.next
}

func (c *clauses) add(lits ...int) { c.list = append(c.list, lits) }

// means makes v equal to the conjunction.
func (c *clauses) and(lits ...int) int {
	v := c.fresh()
	back := []int{v}
	for _, l := range lits {
		c.add(-v, l)
		back = append(back, -l)
	}
	c.add(back...)
	return v
}

func (c *clauses) or(lits ...int) int {
	denied := make([]int, len(lits))
	for i, l := range lits {
		denied[i] = -l
	}
	return -c.and(denied...)
}

func (c *clauses) constant(value bool) int {
	v := c.fresh()
	if value {
		c.add(v)
	} else {
		c.add(-v)
	}
	return v
}

// logic encodes a formula. Thresholds use the order encoding: a limit that is passed implies those below it.
func (c *clauses) logic(l *expr.Logic) int {
	if l == nil {
		return c.constant(false)
	}
	switch l.Op {
	case expr.LogicTruth:
		return c.constant(l.Value)
	case expr.LogicThreshold:
		s, k := c.m.vocab.above(l)
		return c.cuts[s.name][k]
	case expr.LogicRelation:
		return c.input[c.m.vocab.byFree[l.Key]]
	case expr.LogicProposition:
		t, _ := c.m.tree.Find(l.Text)
		return c.good[t]
	case expr.LogicNot:
		return -c.logic(&l.Args[0])
	}
	var lits []int
	for i := range l.Args {
		lits = append(lits, c.logic(&l.Args[i]))
	}
	if l.Op == expr.LogicAnd {
		return c.and(lits...)
	}
	return c.or(lits...)
}

// subsets calls f with every choice of k of the children.
func subsets(n, k int, f func(mask int)) {
	for mask := range 1 << n {
		if bits.OnesCount(uint(mask)) == k {
			f(mask)
		}
	}
}

func encode(m *Model) *clauses {
	c := &clauses{m: m, cuts: map[string][]int{}, good: make([]int, m.tree.Len()), bad: make([]int, m.tree.Len()),
		skip: make([]int, m.tree.Len()), live: make([]int, m.tree.Len())}
	for range m.vocab.inputs {
		c.input = append(c.input, c.fresh())
	}
	for _, s := range m.vocab.signals {
		for k := range s.cuts {
			c.cuts[s.name] = append(c.cuts[s.name], c.fresh())
			if k > 0 {
				c.add(-c.cuts[s.name][k], c.cuts[s.name][k-1])
			}
		}
	}
	for t := range m.tree.Len() {
		c.good[t], c.bad[t], c.skip[t], c.live[t] = c.fresh(), c.fresh(), c.fresh(), c.fresh()
		c.add(-c.good[t], -c.bad[t])
		c.add(-c.good[t], -c.skip[t])
		c.add(-c.bad[t], -c.skip[t])
	}
	for t := range m.tree.Len() {
		c.task(bt.Task(t))
	}
	for i := range m.facts {
		c.add(c.logic(&m.facts[i]))
	}
	root := m.tree.Root()
	c.iff(c.live[root], c.and(-c.good[root], -c.bad[root], -c.skip[root]))
	return c
}

func (c *clauses) iff(a, b int) {
	c.add(-a, b)
	c.add(a, -b)
}

func (c *clauses) task(t bt.Task) {
	m, kids := c.m, c.m.tree.Children(t)
	var good, bad, skip []int
	for _, k := range kids {
		good, bad, skip = append(good, c.good[k]), append(bad, c.bad[k]), append(skip, c.skip[k])
	}
	never := func() { c.add(-c.skip[t]) }
	lives := func(i int, in ...int) { // an active child is not judged
		c.iff(c.live[kids[i]], c.and(append(in, c.live[t], -good[i], -bad[i], -skip[i])...))
	}
	switch kind := m.tree.Kind(t); kind {
	case bt.Condition:
		l := &m.leaves[m.leafOf[t]]
		v := c.logic(l.on)
		if l.latch >= 0 {
			v = c.or(v, c.and(c.input[l.latch], -c.logic(l.off)))
		}
		c.iff(c.good[t], v)
		c.iff(c.bad[t], -v)
		never()
	case bt.Action:
		c.add(-c.good[t])
		c.add(-c.bad[t])
		never()
	case bt.Guard: // of a resource that no other task needs
		c.iff(c.good[t], good[0])
		c.iff(c.bad[t], bad[0])
		c.iff(c.skip[t], skip[0])
		lives(0)
	case bt.OnHalted: // never runs its first child
		c.iff(c.good[t], good[1])
		c.iff(c.bad[t], bad[1])
		c.iff(c.skip[t], skip[1])
		c.add(-c.live[kids[0]])
		lives(1)
	case bt.Inverter, bt.ForceSuccess, bt.ForceFailure:
		says := c.or(good[0], bad[0])
		switch kind {
		case bt.Inverter:
			c.iff(c.good[t], bad[0])
			c.iff(c.bad[t], good[0])
		case bt.ForceSuccess:
			c.iff(c.good[t], says)
			c.add(-c.bad[t])
		default:
			c.iff(c.bad[t], says)
			c.add(-c.good[t])
		}
		c.iff(c.skip[t], skip[0])
		lives(0)
	case bt.AlwaysSuccess:
		c.add(c.good[t])
	case bt.AlwaysFailure:
		c.add(c.bad[t])
	case bt.ReactiveSequence, bt.ReactiveFallback:
		over, stop, all, one := good, bad, c.good[t], c.bad[t]
		if kind == bt.ReactiveFallback {
			over, stop, all, one = bad, good, c.bad[t], c.good[t]
		}
		var firsts, passed []int // the child that decides is the first that is not passed over
		for i := range kids {
			passed = append(passed, c.or(over[i], skip[i]))
			first := -passed[i]
			for j := range i {
				first = c.and(first, passed[j])
			}
			firsts = append(firsts, c.and(first, stop[i]))
			lives(i, first)
		}
		c.iff(c.skip[t], c.and(skip...))
		c.iff(all, c.and(append(passed, -c.skip[t])...))
		c.iff(one, c.or(firsts...))
	case bt.ReactiveParallel:
		counts := m.tree.Counts(t)
		enough, tooMany := int(counts.Enough), int(counts.TooMany)
		tooMany = min(tooMany, len(kids)-enough+1)
		// Success: some child is good, is number `enough` among the good, and fewer than tooMany before it are bad.
		reach := func(hits, other []int, count, limit int) int {
			var ways []int
			for i := range kids {
				subsets(i, count-1, func(mask int) {
					lits := []int{hits[i]}
					var rest []int
					for j := range i {
						if mask>>j&1 != 0 {
							lits = append(lits, hits[j])
						} else {
							rest = append(rest, other[j])
						}
					}
					subsets(len(rest), limit, func(bads int) { // fewer of the others
						var not []int
						for j := range rest {
							if bads>>j&1 != 0 {
								not = append(not, -rest[j])
							}
						}
						lits = append(lits, c.or(not...))
					})
					ways = append(ways, c.and(lits...))
				})
			}
			return c.or(ways...)
		}
		counted := slices.Clone(good)
		for i := range counted {
			if counts.Lenient {
				counted[i] = c.or(good[i], skip[i])
			}
			lives(i)
		}
		c.iff(c.good[t], reach(counted, bad, enough, tooMany))
		c.iff(c.bad[t], reach(bad, counted, tooMany, enough))
		c.iff(c.skip[t], c.and(append(slices.Clone(skip), -c.good[t])...))
	case bt.WhileDoElse, bt.Switch2, bt.Switch3, bt.Switch4, bt.Switch5, bt.Switch6:
		var goods, bads, skips []int
		before := c.constant(true) // the conditions so far are false
		does := func(i, in int) {
			goods, bads = append(goods, c.and(in, good[i])), append(bads, c.and(in, bad[i]))
			skips = append(skips, c.and(in, skip[i]))
			lives(i, in)
		}
		for i := 0; i+1 < len(kids); i += 2 {
			lives(i, before)
			skips = append(skips, c.and(before, skip[i]))
			does(i+1, c.and(before, good[i]))
			before = c.and(before, bad[i])
		}
		if i := len(kids) - 1; i%2 == 0 {
			does(i, before)
		} else {
			bads = append(bads, before)
		}
		c.iff(c.good[t], c.or(goods...))
		c.iff(c.bad[t], c.or(bads...))
		c.iff(c.skip[t], c.or(skips...))
	case bt.While:
		c.iff(c.good[t], c.and(good[0], good[1]))
		c.iff(c.bad[t], c.and(good[0], bad[1]))
		c.iff(c.skip[t], c.or(bad[0], skip[0], c.and(good[0], skip[1])))
		lives(0)
		lives(1, good[0])
	case bt.UtilitySelector2, bt.UtilitySelector3, bt.UtilitySelector4:
		n := kind.Ranked()
		ways := make([][]int, len(kids))
		var goods, bads, skips []int
		look := func(k, in int) { ways[k] = append(ways[k], in) }
		var compare func(left []int, ahead, next, in, failed int)
		compare = func(left []int, ahead, next, in, failed int) {
			if next < len(left) {
				a, b := left[ahead], left[next]
				pair := a*(2*n-a-1)/2 + b - a - 1
				look(pair, in)
				skips = append(skips, c.and(in, skip[pair]))
				compare(left, next, next+1, c.and(in, good[pair]), failed)
				compare(left, ahead, next+1, c.and(in, bad[pair]), failed)
				return
			}
			k := len(kids) - n + left[ahead]
			look(k, in)
			goods = append(goods, c.and(in, good[k]))
			if rest := slices.Delete(slices.Clone(left), ahead, ahead+1); len(rest) > 0 {
				compare(rest, 0, 1, c.and(in, bad[k]), c.constant(true))
				compare(rest, 0, 1, c.and(in, skip[k]), failed)
			} else {
				bads = append(bads, c.and(in, bad[k]), c.and(in, skip[k], failed))
				skips = append(skips, c.and(in, skip[k], -failed))
			}
		}
		compare([]int{0, 1, 2, 3}[:n], 0, 1, c.constant(true), c.constant(false))
		c.iff(c.good[t], c.or(goods...))
		c.iff(c.bad[t], c.or(bads...))
		c.iff(c.skip[t], c.or(skips...))
		for k := range kids {
			lives(k, c.or(ways[k]...))
		}
	default:
		panic("a kind that the encoding does not know: " + kind.String())
	}
}

// satisfiable asks the solver.
func (c *clauses) satisfiable(extra ...[]int) bool {
	all := append(append([][]int{}, c.list...), extra...)
	return solver.New(solver.ParseSlice(all)).Solve() == solver.Sat
}

// TestBackendsAgree: decision diagrams, truth tables under the same questions, and a satisfiability solver on an
// separate encoding agree on random plans.
func TestBackendsAgree(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(5, 3))}
	cases, solved := 600, 0
	if testing.Short() {
		cases = 100
	}
	for range cases {
		s := r.subject(t)
		m := NewModel(s)
		c := encode(m)
		if len(m.vocab.inputs) > 12 || len(m.groups) > 0 { // what is remembered together is not encoded
			continue
		}
		dumb := newModel(s, newTables)
		sp, td := m.space, dumb.space
		root := m.tree.Root()
		goal := c.logic(m.goal)
		live := []int{c.good[root]}
		for _, a := range m.actions() {
			live = append(live, c.live[a])
		}
		for _, t := range m.tree.Timers() {
			waits := []int{c.live[t]}
			for _, k := range m.tree.Children(t) {
				waits = append(waits, -c.live[k])
			}
			live = append(live, c.and(waits...))
		}
		for _, q := range []struct {
			name          string
			diagram, dumb set
			clauses       [][]int
		}{
			{"gap", sp.not(sp.or(m.judged[root][isGood], m.occupied())), td.not(td.or(dumb.judged[root][isGood], dumb.occupied())),
				denied(live)},
			{"early", sp.and(m.judged[root][isGood], sp.not(m.of(m.goal))), td.and(dumb.judged[root][isGood], td.not(dumb.of(dumb.goal))),
				[][]int{{c.good[root]}, {-goal}}},
			{"late", sp.and(sp.not(m.judged[root][isGood]), m.of(m.goal)), td.and(td.not(dumb.judged[root][isGood]), dumb.of(dumb.goal)),
				[][]int{{-c.good[root]}, {goal}}},
		} {
			want := c.satisfiable(q.clauses...)
			if got := !m.empty(q.diagram); got != want {
				t.Fatalf("%s\n%s: diagrams say %t, the solver %t", s.Plan.Source.Text, q.name, got, want)
			}
			if got := !dumb.empty(q.dumb); got != want {
				t.Fatalf("%s\n%s: tables say %t, the solver %t", s.Plan.Source.Text, q.name, got, want)
			}
		}
		for task := range m.tree.Len() {
			if want, got := c.satisfiable([]int{c.live[task]}), !m.empty(m.active[task]); got != want {
				t.Fatalf("%s\n%s active: diagrams say %t, the solver %t", s.Plan.Source.Text, m.tree.Name(bt.Task(task)), got, want)
			}
		}
		solved++
	}
	if solved < cases/3 {
		t.Errorf("only %d plans were compared", solved)
	}
}

func denied(lits []int) [][]int {
	var list [][]int
	for _, l := range lits {
		list = append(list, []int{-l})
	}
	return list
}
