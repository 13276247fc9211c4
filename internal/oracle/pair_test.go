package oracle

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
)

// unwritable are postconditions whose first child is no script: attributes of plans do not give any. One such pair in
// 100, a Post of an action and a condition in either order, is found to differ although no flight shows it.
var unwritable = regexp.MustCompile(`<(Post|OnSuccess|OnFailure)( [^>]*)?>\s*<[^S]`)

// TestComparisonsAgreeWithTheWitness: two missions are found to do the same exactly if all flights show that.
func TestComparisonsAgreeWithTheWitness(t *testing.T) {
	_, limit := effort(400, 300)
	eachClass(t, 400, 41, func(x *trial) {
		shape := classes[x.class].shape
		k := &maker{Rand: rand.New(rand.NewPCG(x.seed, uint64(43+100*x.class))), Shape: shape}
		k.m = Random(rand.New(rand.NewPCG(x.seed, uint64(41+100*x.class))), shape)
		if !k.variant() || unwritable.MatchString(x.m.String()) || unwritable.MatchString(k.m.String()) {
			return
		}
		for _, m := range []*Mission{x.m, k.m} { // statements may name what is gone, and facts do not matter
			m.Always, m.Facts, m.Goal, m.Written = nil, nil, nil, nil
		}
		same, ok := together(x.m, k.m, limit)
		a, _ := x.m.Read()
		b, diags := k.m.Read()
		if b == nil {
			panic(fmt.Sprint(diags, k.m))
		}
		c := verify.ComparePlans(a.Subject(), b.Subject(), func() bool { return true })
		x.counts[fmt.Sprintf("%s, same %t, decided %t", c.Verdict, same, ok)]++
		switch {
		case c.Verdict == verify.Undecided || len(c.Mismatches) > 0 && c.Steps == nil:
		case same && !ok: // nothing is known
		case c.Verdict == verify.Proved != same:
			x.wrong(c.Verdict.String(), "%s, in flights the same: %t %v\n%s", c.Text, same, c.Steps, k.m)
		}
	}, func(*testing.T, Shape, int, map[string]int) {})
}

// Variant changes a mission, and reports whether it could: its plan then does the same, or something else.
func (k *maker) variant() bool {
	var composites, conditions []*node
	var comparisons []*expression
	k.m.root.each(func(n *node) {
		if len(n.children) > 1 && n.kind.Cases() == 0 && !n.attached && n.name != whole {
			composites = append(composites, n)
		}
		for _, e := range []*expression{n.on, n.off, n.done, n.failed, n.successIf, n.failureIf} {
			e.each(func(e *expression) {
				if e.comparison() {
					comparisons = append(comparisons, e)
				}
			})
		}
		if n.off != nil || n.until != "" {
			conditions = append(conditions, n)
		}
	})
	change := k.IntN(6)
	switch {
	case change == 0 && len(composites) > 0:
		n := composites[k.IntN(len(composites))]
		n.children[0], n.children[1] = n.children[1], n.children[0]
	case change == 1 && len(comparisons) > 0:
		comparisons[k.IntN(len(comparisons))].op = k.relation()
	case change == 2 && len(comparisons) > 0:
		comparisons[k.IntN(len(comparisons))].args[1] = number(float64(1 + k.IntN(2)))
	case change == 3 && len(composites) > 0:
		n := composites[k.IntN(len(composites))]
		for _, kind := range bt.Kinds() {
			if kind.Family() == n.kind.Family() && kind.Family() == bt.Chain && kind.Over() == n.kind.Over() &&
				kind.Memory() != n.kind.Memory() {
				n.kind = kind
				return true
			}
		}
		return false
	case change == 4 && len(conditions) > 0:
		n := conditions[k.IntN(len(conditions))]
		n.off, n.until = nil, ""
	case change == 5 && len(composites) > 0:
		n := composites[k.IntN(len(composites))]
		if least, _ := n.kind.Arity(); len(n.children)-1 < least || n.params != nil || k.Entries {
			return false
		}
		n.children = n.children[:len(n.children)-1]
		left := map[string]bool{}
		k.m.root.each(func(n *node) { left[n.name] = true })
		k.m.root.each(func(n *node) {
			if !left[n.until] {
				n.until = ""
			}
		})
	default:
		return false
	}
	return true
}

// together visits the states that two missions in one world reach together, and reports whether the same actions, by
// name, are active in all of them, the same values are written, and the plans have the same result; ok is false if
// there are more states than the limit or an instant does not settle.
func together(m, o *Mission, limit int) (same, ok bool) {
	p, q := m.compile(), o.compile()
	type pair struct{ f, g *Flight }
	seen := map[string]bool{}
	var todo []pair
	same, ok = true, true
	try := func(f, g *Flight, first, second error) {
		if first != nil || second != nil {
			ok = false
			return
		}
		same = same && slices.Equal(f.busy(), g.busy()) && f.result() == g.result()
		for i := range f.slots {
			a, b := f.slot(i), g.slot(i)
			same = same && (a == b || a != a && b != b)
		}
		simplify(f, g)
		if key := fmt.Sprint(f.key(), "|", g.key(), f.root, g.root); !seen[key] {
			seen[key] = true
			todo = append(todo, pair{f, g})
		}
	}
	worlds := m.worlds()
	for _, w := range worlds {
		f, first := p.begin(w[0], w[1])
		g, second := q.begin(w[0], w[1])
		try(f, g, first, second)
	}
	for ; len(todo) > 0 && ok && same; todo = todo[1:] {
		if len(seen) > limit {
			return same, false
		}
		for _, t := range times(todo[0].f, todo[0].g) {
			for _, w := range worlds {
				f, g := todo[0].f.clone(), todo[0].g.clone()
				first := f.move(t, w[0], w[1])
				try(f, g, first, g.move(t, w[0], w[1]))
			}
		}
	}
	return same, ok
}

// busy returns the names of the active actions, without paths.
func (f *Flight) busy() []string {
	var names []string
	for i, t := range f.Tree.Leaves() {
		if f.engine.Active(t) {
			names = append(names, f.nodes[i].name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
