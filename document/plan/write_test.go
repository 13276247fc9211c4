package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/trees"
)

// meaning is a plan without the places in its source.
func meaning(p *Plan) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Name)
	if err := Text(&b, p, nil); err != nil {
		panic(err)
	}
	for i := range p.Leaves {
		fmt.Fprintln(&b, p.Tree.Name(p.Leaves[i].Task), p.Leaves[i].ID, p.Leaves[i].Details())
	}
	for i, label := range p.labels {
		fmt.Fprintln(&b, i, label)
	}
	return b.String()
}

// checkWrite holds that a plan that is written is read as the same plan, and that it is then written in the same way.
func checkWrite(t *testing.T, p *Plan, signals Vocabulary) string {
	t.Helper()
	if len(p.Entries) > 0 { // only scripts declare them
		return ""
	}
	var first, second strings.Builder
	if err := Write(&first, p); err != nil {
		t.Fatal(err)
	}
	again, list := Read(&diag.Source{Name: "written.xml", Text: first.String()}, signals)
	if again == nil {
		t.Fatalf("%v\n%s", list, first.String())
	}
	if got, want := meaning(again), meaning(p); got != want {
		t.Fatalf("written as\n%s\nread as\n%s\nnot\n%s", first.String(), got, want)
	}
	if err := Write(&second, again); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Fatalf("written as\n%s\nand then as\n%s", first.String(), second.String())
	}
	return first.String()
}

// The good plans, expanded, are written and read again as the same plans.
func TestWrite(t *testing.T) {
	for _, path := range append(plans(t, "testdata/good/*.xml"), "../../missions/solar-day.xml") {
		p, list := ReadFiles(source(t, path), signals, beside(path))
		if p == nil {
			t.Fatal(list)
		}
		checkWrite(t, p, signals)
	}
	text := `<root BTCPP_format="4" main_tree_to_execute="a&lt;b"><TreeNodesModel><Action ID="SequenceStar"/></TreeNodesModel>
		<BehaviorTree ID="a&lt;b"><Sequence><SubTree ID="c"/><SubTree ID="c"/><SequenceStar/><SequenceStar name="&quot;&amp;"/>
		<Parallel success_count="1"><SubTree ID="c"/><Action ID="same"/><Action ID="same"/><Action name="same"/>
		<Action write="s := 'a &lt; b'; b := 2 &lt; 3; c := x == &quot;' &gt; &quot;"/></Parallel></Sequence></BehaviorTree><BehaviorTree ID="c"><Fallback name="c">
		<Condition on="x lt 3 and y &gt;= 2"/></Fallback></BehaviorTree></root>`
	p, list := Read(&diag.Source{Name: "x", Text: text}, nil)
	if p == nil {
		t.Fatal(list)
	}
	written := checkWrite(t, p, nil)
	for _, want := range []string{`<Action ID="SequenceStar"/>`, `</Fallback>
      <Fallback name="c">`, `on="x lt 3 and y ge 2"`,
		`write="s := &quot;a &lt; b&quot;; b := 2 lt 3; c := x == &quot;' > &quot;"`} {
		if !strings.Contains(written, want) {
			t.Errorf("%s is missing in\n%s", want, written)
		}
	}
}

func TestNew(t *testing.T) {
	parse := func(text string) *expr.Expr {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	root := &bt.Node{Kind: bt.ReactiveFallback, Name: "top", Children: []*bt.Node{
		{Kind: bt.Condition, Name: "high"}, {Kind: bt.Action, Name: "climb"}, {Kind: bt.Action}}}
	leaves := []Leaf{{On: parse("h > 100 [m]")}, {ID: "Climb", Done: parse("h > 200 [m]"),
		Write: []Assignment{{Target: "h_cmd", Value: parse("200 [m]")}}}, {}}
	p, list := New("day", root, leaves)
	if p == nil {
		t.Fatal(list)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<root BTCPP_format="4" main_tree_to_execute="day">

  <BehaviorTree ID="day">
    <ReactiveFallback name="top">
      <Condition name="high" on="h gt 100 [m]"/>
      <Action ID="Climb" name="climb" write="h_cmd := 200 [m]" done="h gt 200 [m]"/>
      <Action/>
    </ReactiveFallback>
  </BehaviorTree>

</root>
`
	if p.Source.Text != want {
		t.Errorf("got\n%s", p.Source.Text)
	}
	if q, list := New("", root, leaves); q == nil || q.Name != "BehaviorTree" {
		t.Errorf("a plan without a name: %v", list)
	}
	root.Children[0].Name = "line\nend"
	if p, list := New("day", root, leaves); p != nil || len(list) != 1 || list[0].Code != codeName {
		t.Errorf("a name with a line end: %v", list)
	}
	for _, n := range []int{2, 4} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "plan: a description has") {
					t.Errorf("%d leaves for 3: %q", n, text)
				}
			}()
			_, _ = New("day", root, append(leaves, Leaf{})[:n])
		}()
	}
}

// Random descriptions with any names are written and read as what was described.
func TestNewRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"", "a", "b", "a/b", `<&">'`, "Sequence", "SequenceStar", "Ü [2]", " "}
	ids := []string{"", "X", "FallbackStar", "SequenceStar", "y z", "a"}
	for range 200 {
		var leaves []Leaf
		var labels []string
		var describe func(size int) *bt.Node
		describe = func(size int) *bt.Node {
			n := &bt.Node{Name: names[r.IntN(len(names))]}
			if size <= 1 {
				n.Kind = trees.Leaf(r)
				id := ids[r.IntN(len(ids))]
				if id != "" && !n.Kind.Acts() { // a leaf type is of one kind
					id += "?"
				}
				leaves = append(leaves, Leaf{ID: id})
				labels = append(labels, cmp.Or(n.Name, id, n.Kind.String()))
				return n
			}
			n.Kind = trees.Composite(r)
			count := trees.Width(r, n.Kind, 4)
			n.Params = trees.Params(r, n.Kind, count)
			for range count {
				n.Children = append(n.Children, describe((size-1)/count))
			}
			labels = append(labels, cmp.Or(n.Name, n.Kind.String()))
			return n
		}
		d := describe(1 + r.IntN(30))
		tree, err := bt.Compile(d)
		if err != nil {
			t.Fatal(err)
		}
		p, list := New("plan", d, leaves)
		if p == nil {
			t.Fatal(list)
		}
		for task := range bt.Task(tree.Len()) {
			if p.Tree.Len() != tree.Len() || p.Tree.Kind(task) != tree.Kind(task) ||
				p.Tree.Parent(task) != tree.Parent(task) || !slices.Equal(p.Tree.Params(task), tree.Params(task)) {
				t.Fatalf("task %d differs in\n%s", task, p.Source.Text)
			}
		}
		if !slices.Equal(p.labels, labels) {
			t.Fatalf("the tasks are called %q, not %q", p.labels, labels)
		}
		for i, l := range leaves {
			if l.ID != "" && p.Leaves[i].ID != l.ID {
				t.Fatalf("leaf %d is %q, not %q", i, p.Leaves[i].ID, l.ID)
			}
		}
		if !strings.Contains(p.Source.Text, "<"+bt.RunOnce.String()) { // in a document, its child runs in any case
			checkWrite(t, p, nil)
		}
	}
}
