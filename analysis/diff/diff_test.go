package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/internal/trees"
)

func readPlan(t *testing.T, body string) *plan.Plan {
	t.Helper()
	text := `<root BTCPP_format="4"><BehaviorTree>` + "\n" + body + `</BehaviorTree></root>`
	p, diags := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
	if p == nil {
		t.Fatal(diags)
	}
	return p
}

func readGraph(t *testing.T, text string) *stategraph.Graph {
	t.Helper()
	g, diags := stategraph.Read(&diag.Source{Name: "g.yaml", Text: text}, nil)
	if g == nil {
		t.Fatal(diags)
	}
	return g
}

// text writes changes one a line: the operation, the lines, the name, what was said and what is.
func text(d Difference) string {
	var b strings.Builder
	for _, c := range d.Changes {
		fmt.Fprintf(&b, "%s %d %d %s", c.Op, c.OldLine, c.NewLine, c.Name)
		if c.Joining {
			b.WriteString(" *")
		}
		if c.Element == "node" && c.Op == Changed || c.Element != "node" && len(c.Before)+len(c.After) > 0 {
			fmt.Fprintf(&b, " %q %q", c.Before, c.After)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Each kind of change of a plan by itself, and that nothing else is reported.
func TestPlans(t *testing.T) {
	const old = `<ReactiveFallback name="top">
<ReactiveSequence name="a">
<Condition name="c" on="x ge 1"/>
<Inverter>
<Condition name="d" on="x ge 2"/>
</Inverter>
<Action name="do" write="y := 1"/>
</ReactiveSequence>
<Action name="else" write="y := 2"/>
</ReactiveFallback>`
	for _, c := range []struct{ what, from, to, want string }{
		{"nothing", "", "", ""},
		{"spelling of an expression", "x ge 1", "x>=1", ""},
		{"a behaviour", "x ge 1", "x ge 3", `changed 4 4 c ["on: x >= 1"] ["on: x >= 3"]` + "\n"},
		{"a name of a leaf", `"else"`, `"rest"`, `changed 10 10 rest ["name: else"] ["name: rest"]` + "\n"},
		{"a name of a composite", `"a"`, `"b"`, `changed 3 3 b ["name: a"] ["name: b"]` + "\n"},
		{"a kind", `<ReactiveFallback name="top">|</ReactiveFallback>`, `<Fallback name="top">|</Fallback>`,
			`changed 2 2 top ["ReactiveFallback"] ["Fallback"]` + "\n"},
		{"a subtree more", `<Action name="else"`, `<ReactiveSequence name="s"><Action name="new"/></ReactiveSequence>
<Action name="else"`, "added 0 10 s\nadded 0 10 new\nadded 0 10 top -> s *\nadded 0 10 s -> new\n"},
		{"a leaf less", `<Action name="else" write="y := 2"/>` + "\n", "", "removed 10 0 else\nremoved 10 0 top -> else *\n"},
		{"a decorator put in between", `<Action name="else" write="y := 2"/>`,
			`<ForceSuccess><Action name="else" write="y := 2"/></ForceSuccess>`,
			"added 0 10 ForceSuccess\nremoved 10 0 top -> else *\n" +
				"added 0 10 top -> ForceSuccess *\nadded 0 10 ForceSuccess -> else *\n"},
		{"a decorator taken away", "<Inverter>|</Inverter>", "|",
			"removed 5 0 Inverter\nremoved 5 0 a -> Inverter *\nremoved 6 0 Inverter -> d *\nadded 0 6 a -> d *\n"},
		{"an inverter before another one", "<Inverter>", `<Inverter><Condition name="e"/></Inverter>
<Inverter>`, "added 0 5 top/a/Inverter\nadded 0 5 e\nadded 0 5 a -> top/a/Inverter *\nadded 0 5 top/a/Inverter -> e\n"},
		{"a move", `<Condition name="c" on="x ge 1"/>|<Action name="else" write="y := 2"/>`,
			`|<Condition name="c" on="x ge 1"/><Action name="else" write="y := 2"/>`,
			"removed 4 0 a -> c *\nadded 0 10 top -> c *\n"},
		{"the order", `<Action name="do" write="y := 1"/>|<Condition name="c" on="x ge 1"/>`,
			`|<Action name="do" write="y := 1"/><Condition name="c" on="x ge 1"/>`, ""},
	} {
		updated, from, to := old, strings.Split(c.from, "|"), strings.Split(c.to, "|")
		if c.what == "the order" {
			updated = strings.Replace(updated, from[0]+"\n", "", 1)
			updated = strings.Replace(updated, from[1], from[0]+from[1], 1)
			c.want = `changed 8 4 a -> do [] ["another place in the order"]` + "\n"
		} else {
			for i := range from {
				updated = strings.Replace(updated, from[i], to[i], 1)
			}
		}
		if got := text(Plans(readPlan(t, old), readPlan(t, updated))); got != c.want {
			t.Errorf("%s: %s", c.what, cmp.Diff(c.want, got))
		}
	}
}

// A threshold of all children stays all when a child comes.
func TestAllChildren(t *testing.T) {
	old := readPlan(t, `<Parallel name="p"><Action name="a"/></Parallel>`)
	d := Plans(old, readPlan(t, `<Parallel name="p"><Action name="a"/><Action name="b"/></Parallel>`))
	if d.Counts[0].Changed != 0 || d.Counts[0].Added != 1 {
		t.Error(text(d))
	}
}

// Each kind of change of a state graph by itself.
func TestGraphs(t *testing.T) {
	const old = `steps:
  a: {initial: true, actions: [x]}
  b: {actions: [y]}
  c:
transitions:
  - {from: a, to: b, when: p}
  - {from: a, to: c, when: q}
  - {from: b, to: a, after: 2}
  - {from: c, to: a, after: 3}
`
	for _, c := range []struct{ what, from, to, want string }{
		{"nothing", "", "", ""},
		{"an action", "[y]", "[x]", `changed 3 3 b ["actions: y"] ["actions: x"]` + "\n"},
		{"a condition", "when: p", "when: p and r", `changed 6 6 a -> b ["when: p"] ["when: p and r"]` + "\n"},
		{"a delay", "after: 2", "after: 4", `changed 8 8 b -> a ["after: 2 s"] ["after: 4 s"]` + "\n"},
		{"a transition", "  - {from: b, to: a", "  - {from: b, to: c, when: q}\n  - {from: b, to: a",
			`added 0 8 b -> c * [] ["when: q"]` + "\n"},
		{"the priority", "  - {from: a, to: b, when: p}\n  - {from: a, to: c, when: q}",
			"  - {from: a, to: c, when: q}\n  - {from: a, to: b, when: p}",
			`changed 7 6 a -> c [] ["another place in the order"]` + "\n"},
		{"a step", "transitions:", "  d:\ntransitions:\n  - {from: a, to: d}\n  - {from: d, to: a, after: 1}",
			"added 0 5 d\nadded 0 7 a -> d *\nadded 0 8 d -> a * [] [\"after: 1 s\"]\n"},
	} {
		if got := text(Graphs(readGraph(t, old), readGraph(t, strings.Replace(old, c.from, c.to, 1)))); got != c.want {
			t.Errorf("%s: %s", c.what, cmp.Diff(c.want, got))
		}
	}
}

// Random plans whose tasks all have names: the report agrees with sets of names and of pairs of names. Names may be
// left away; then the counts still add up, and a plan does not differ from itself.
func TestRandomPlans(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(1, seed))
		names := 0
		old := randomNode(r, &names, 3)
		updated := edited(r, old, &names)
		a, b := made(t, old), made(t, updated)
		if d := Plans(a, a); len(d.Changes) > 0 {
			t.Fatalf("seed %d: a plan differs from itself:\n%s", seed, text(d))
		}
		d := Plans(a, b)
		oldNodes, oldLinks := sets(old)
		newNodes, newLinks := sets(updated)
		for i, want := range []struct{ old, updated map[string]bool }{{oldNodes, newNodes}, {oldLinks, newLinks}} {
			n := d.Counts[i]
			if n.Old != len(want.old) || n.New != len(want.updated) || n.Removed != beyond(want.old, want.updated) ||
				n.Added != beyond(want.updated, want.old) {
				t.Fatalf("seed %d: %+v, want %v and %v", seed, n, want.old, want.updated)
			}
		}
		unname(r, old)
		unname(r, updated)
		a, b = made(t, old), made(t, updated)
		if d := Plans(a, a); len(d.Changes) > 0 {
			t.Fatalf("seed %d: without names a plan differs from itself:\n%s", seed, text(d))
		}
		for _, n := range Plans(a, b).Counts {
			if n.Old-n.Removed+n.Added != n.New || n.Joining > n.Removed+n.Added {
				t.Fatalf("seed %d: %+v", seed, n)
			}
		}
	}
}

func made(t *testing.T, d *bt.Node) *plan.Plan {
	t.Helper()
	var leaves []plan.Leaf
	var visit func(d *bt.Node)
	visit = func(d *bt.Node) {
		if d.Kind.Family() == bt.Leaf {
			leaves = append(leaves, plan.Leaf{})
		}
		for _, c := range d.Children {
			visit(c)
		}
	}
	visit(d)
	p, diags := plan.New("p", d, leaves)
	if p == nil {
		t.Fatal(diags)
	}
	return p
}

func randomNode(r *rand.Rand, names *int, depth int) *bt.Node {
	*names++
	d := &bt.Node{Name: fmt.Sprint("n", *names)}
	switch {
	case depth == 0 || r.IntN(3) == 0:
		d.Kind = trees.Leaf(r)
	default:
		d.Kind = trees.Composite(r)
		for range trees.Width(r, d.Kind, 4) {
			d.Children = append(d.Children, randomNode(r, names, depth-1))
		}
		d.Params = trees.Params(r, d.Kind, len(d.Children))
	}
	return d
}

// edited returns a copy in which some nodes are left out, come or are wrapped, and siblings are shuffled.
func edited(r *rand.Rand, d *bt.Node, names *int) *bt.Node {
	c := *d
	c.Children = nil
	for _, child := range d.Children {
		child = edited(r, child, names)
		switch r.IntN(12) {
		case 0:
			if least, most := d.Kind.Arity(); most < 0 && len(c.Children) >= least {
				continue
			}
		case 1:
			*names++
			child = &bt.Node{Kind: bt.ForceSuccess, Name: fmt.Sprint("n", *names), Children: []*bt.Node{child}}
		case 2:
			if _, most := d.Kind.Arity(); most < 0 {
				c.Children = append(c.Children, randomNode(r, names, 1))
			}
		}
		c.Children = append(c.Children, child)
	}
	for i, p := range c.Kind.Params() {
		if c.Params != nil && p.Type == bt.Children { // there may be fewer children now
			c.Params = slices.Clone(c.Params)
			c.Params[i] = p.Default
		}
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(c.Children), func(i, j int) { c.Children[i], c.Children[j] = c.Children[j], c.Children[i] })
	}
	return &c
}

func unname(r *rand.Rand, d *bt.Node) {
	if r.IntN(2) == 0 {
		d.Name = ""
	}
	for _, c := range d.Children {
		unname(r, c)
	}
}

func sets(d *bt.Node) (nodes, links map[string]bool) {
	nodes, links = map[string]bool{}, map[string]bool{}
	var visit func(d *bt.Node)
	visit = func(d *bt.Node) {
		nodes[d.Name] = true
		for _, c := range d.Children {
			links[d.Name+" "+c.Name] = true
			visit(c)
		}
	}
	visit(d)
	return nodes, links
}

func beyond(a, b map[string]bool) (n int) {
	for name := range a {
		if !b[name] {
			n++
		}
	}
	return n
}

// The longest rising subsequence is compared with all subsequences.
func TestLongestRise(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(2, seed))
		place, keys := map[string]int{}, []string{}
		for i, v := range r.Perm(r.IntN(9)) {
			keys = append(keys, fmt.Sprint(i))
			place[keys[i]] = v
		}
		most := 0
		for set := range 1 << len(keys) {
			var places []int
			for i, k := range keys {
				if set>>i&1 == 1 {
					places = append(places, place[k])
				}
			}
			if slices.IsSorted(places) {
				most = max(most, len(places))
			}
		}
		got := longestRise(keys, place)
		var places []int
		for _, k := range keys {
			if got[k] {
				places = append(places, place[k])
			}
		}
		if len(got) != most || !slices.IsSorted(places) {
			t.Fatalf("seed %d: %v of %v", seed, got, place)
		}
	}
}
