package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// The plans of testdata/plain are written for BehaviorTree.CPP as their golden file shows, with what it does not have.
func TestPlain(t *testing.T) {
	for _, path := range plans(t, "testdata/plain/*.xml") {
		text, list := Plain(source(t, path), nil)
		var b strings.Builder
		list.Write(&b, false)
		checkPlaces(t, list)
		name := strings.TrimSuffix(filepath.Base(path), ".xml")
		golden(t, filepath.Join("testdata", "plain", name+".txt"), b.String()+text)
	}
}

// Controls and decorators of other programs, which are free in a plan alone, are errors in a mission; so are mistakes in
// them.
func TestForeignControls(t *testing.T) {
	src := source(t, "testdata/plain/foreign.xml")
	if p, list := Read(src, signals); p != nil || !strings.Contains(list.Error(), `nothing defines what the control "Pipeline" does`) {
		t.Error(list)
	}
	wrong := &diag.Source{Name: "x.xml", Text: strings.Replace(src.Text, `<Sleep msec="500"/>`, `<Sleep/>`, 1)}
	if p, list := Read(wrong, nil); p != nil || !strings.Contains(list.Error(), "Sleep needs msec") {
		t.Error(list)
	}
	near := &diag.Source{Name: "x.xml", Text: strings.ReplaceAll(src.Text, "Fallback>", "Falback>")}
	if p, list := Read(near, nil); p != nil || !strings.Contains(list.Error(), `unknown node "Falback"`) {
		t.Error(list)
	}
}

// shape describes what the document of BehaviorTree.CPP keeps of a plan: tasks, parameters and what leaves do.
func shape(p *Plan) string {
	var b strings.Builder
	for task := range bt.Task(p.Tree.Len()) {
		label := p.Label(task)
		if p.Element(task).Name == elementSubTree { // whose tree is missing
			label = permitted(label)
		}
		fmt.Fprintln(&b, p.Tree.Kind(task), p.Tree.Params(task), p.Tree.Parent(task), label)
	}
	for i := range p.Leaves {
		l := p.Leaves[i]
		scripts := []**expr.Expr{&l.SuccessIf, &l.FailureIf}
		if p.Element(l.Task).Parent == nil { // a condition of an attribute
			scripts = append(scripts, &l.On)
		}
		for _, e := range scripts {
			if *e != nil {
				if text, ok := (*e).Plain(); ok {
					*e, _ = expr.Parse(text)
				}
			}
		}
		details := strings.Join(l.Details(), "; ")
		if details == "" && !l.Free {
			details = "done: false"
		}
		fmt.Fprintln(&b, l.Free, details)
	}
	return b.String()
}

func checkPlain(t *testing.T, src *diag.Source, open Open) {
	t.Helper()
	p, list := ReadFiles(src, nil, open)
	if p == nil {
		t.Fatal(list)
	}
	text, list := Plain(src, open)
	if list.HasErrors() {
		t.Fatal(list)
	}
	again, list := Read(&diag.Source{Name: "plain.xml", Text: text}, nil)
	if again == nil {
		t.Fatalf("%v\n%s", list, text)
	}
	if got, want := shape(again), shape(p); got != want {
		t.Fatalf("written as\n%s\nread as\n%s\nnot\n%s", text, got, want)
	}
	if twice, _ := Plain(again.Source, nil); twice != text {
		t.Fatalf("written as\n%s\nand then as\n%s", text, twice)
	}
	for e := range again.Document.Root.Elements() {
		if e.Name == elementTree {
			compact(t, e, text)
		}
	}
}

// The note that BehaviorTree.CPP starts a child again is of a child that may end and of a later one that takes time.
func TestRestartsAreNoted(t *testing.T) {
	for composite, want := range map[string]bool{
		`<ReactiveSequence><A/><B/></ReactiveSequence>`:                                           true,
		`<ReactiveSequence><A/><AlwaysSuccess/><Sleep msec="100"/></ReactiveSequence>`:            true,
		`<ReactiveSequence><Sleep msec="100"/><A/></ReactiveSequence>`:                            true,
		`<ReactiveFallback><Sleep msec="100"/><A/></ReactiveFallback>`:                            false,
		`<ReactiveSequence><Condition ID="C"/><Sleep msec="100"/></ReactiveSequence>`:             false,
		`<ReactiveSequence><A/><Condition ID="C"/></ReactiveSequence>`:                            false,
		`<ReactiveSequence><Action name="A" write="x := 1"/><B/></ReactiveSequence>`:              false,
		`<ReactiveSequence><A/><Delay delay_msec="1"><AlwaysSuccess/></Delay></ReactiveSequence>`: true,
	} {
		text := `<root BTCPP_format="4"><BehaviorTree ID="main">` + composite + `</BehaviorTree></root>`
		_, list := Plain(&diag.Source{Name: "plan.xml", Text: text}, nil)
		if got := strings.Contains(list.Error(), "again when it has ended"); got != want || list.HasErrors() {
			t.Errorf("%s: %v", composite, list)
		}
	}
}

// compact holds that the nodes in an element are in compact form.
func compact(t *testing.T, e *xmltree.Element, text string) {
	t.Helper()
	for c := range e.Elements() {
		if c.Name != elementSubTree && (c.Find("ID") != nil || reserved(c.Name) && !isKind(c.Name) && accesses[c.Name].attributes == nil) ||
			c.Name == elementAction || c.Name == elementCondition {
			t.Fatalf("<%s> in\n%s", c.Name, text)
		}
		compact(t, c, text)
	}
}

func isKind(name string) bool { _, ok := bt.ParseKind(name); return ok }

// What is written for BehaviorTree.CPP is read as the same plan: the good plans, and random ones.
func TestPlainIsTheSamePlan(t *testing.T) {
	for _, path := range slices.Concat(plans(t, "testdata/good/*.xml"), plans(t, "testdata/plain/*.xml"), plans(t, "../../missions/*.xml")) {
		if !strings.HasSuffix(path, "conflicts.xml") {
			checkPlain(t, source(t, path), beside(path))
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		checkPlain(t, &diag.Source{Name: "random.xml", Text: randomPlan(r)}, nil)
	}
}

// randomPlan writes a random tree in one of its forms, with leaves of which each says what it does or is free.
func randomPlan(r *rand.Rand) string {
	names := []string{"", "a", "b c", "Sequence", "1", "<é>"}
	ids := []string{"", "", "X", "y z", "a", "Script"}
	var write func(d *bt.Node) *xmltree.Markup
	write = func(d *bt.Node) *xmltree.Markup {
		m := &xmltree.Markup{Name: d.Kind.String()}
		id := ids[r.IntN(len(ids))]
		switch leaf := d.Kind.Family() == bt.Leaf; {
		case leaf && id != "":
			m.Add("ID", m.Name[:1]+id)
		case !leaf && r.IntN(3) == 0:
			m.Add("ID", m.Name)
			m.Name = formOf(d.Kind)
		}
		if name := names[r.IntN(len(names))]; name != "" || r.IntN(4) == 0 {
			m.Add("name", name)
		}
		switch behaves := r.IntN(2) == 0; {
		case behaves && d.Kind.Acts():
			m.Add(actionAttributes[r.IntN(2)], "x := y")
		case behaves && d.Kind.Family() == bt.Leaf:
			m.Add(attrOn, "h gt 3")
		case id != "" && d.Kind.Family() == bt.Leaf:
			m.Add("port", "{x}")
		}
		for i, value := range d.Params {
			p := &d.Kind.Params()[i]
			m.Add(p.Name, p.Write(value))
		}
		for _, c := range d.Children {
			m.Children = append(m.Children, write(c))
		}
		return m
	}
	tree := &xmltree.Markup{Name: elementTree, Children: []*xmltree.Markup{write(trees.Random(r, 1+r.IntN(20)))}}
	return (&xmltree.Markup{Name: elementRoot, Attributes: []xmltree.Pair{{Name: attrFormat, Value: preprocess.Format4}},
		Children: []*xmltree.Markup{tree}}).String()
}

// Included files are in the place of their elements, without blanks around them; one without content leaves nothing.
func TestPlainIncludes(t *testing.T) {
	text, list := Plain(&diag.Source{Name: "x.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="x">
  <include path="climb.xml"/>
  <include path="climb.xml"/>
  <include path="empty.xml"/>
  <BehaviorTree ID="x">
    <SubTree ID="climb"/>
  </BehaviorTree>
  <include path="last.xml"/>  <!-- that is all -->
</root>
`}, func(name string) ([]byte, error) {
		return map[string][]byte{
			"climb.xml": []byte("<root BTCPP_format=\"4\">\n  <include path=\"fly.xml\"/>  \n</root>"),
			"fly.xml":   []byte("<root BTCPP_format=\"4\">\n\n  <BehaviorTree ID=\"climb\">\n    <Fly/>\n  </BehaviorTree>\n\n</root>"),
			"empty.xml": []byte(`<root BTCPP_format="4"/>`),
			"last.xml":  []byte(`<root BTCPP_format="4"> <TreeNodesModel><Action ID="Fly"/></TreeNodesModel></root>`),
		}[name], nil
	})
	if want := `<root BTCPP_format="4" main_tree_to_execute="x">
  <BehaviorTree ID="climb">
    <Fly/>
  </BehaviorTree>
  <BehaviorTree ID="x">
    <SubTree ID="climb"/>
  </BehaviorTree>
  <TreeNodesModel><Action ID="Fly"/></TreeNodesModel>  <!-- that is all -->
</root>
`; text != want || len(list) > 0 {
		t.Errorf("%v\n%s", list, text)
	}
}

// blackboardPlan has scripts and entries.
const blackboardPlan = `<root BTCPP_format="4" main_tree_to_execute="Deliver">
  <!-- Scripts and entries are those of BehaviorTree.CPP: they stay as they are. -->
  <BehaviorTree ID="Deliver">
    <Sequence>
      <Script code=" tries := 0; depot := 'north' "/>
      <Action ID="SetBlackboard" name="to the dock" output_key="goal" value="dock"/>
      <Condition ID="ScriptCondition" code=" tries &lt; 3 &amp;&amp; !(depot == 'south')"/>
      <SubTree ID="Go" to="{goal}" tries="{tries}" _skipIf="tries == 3"/>
      <UnsetBlackboard key="goal"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="Go">
    <RetryUntilSuccessful num_attempts="3">
      <Timeout msec="20000"><Sequence><Script code="tries += 1"/><MoveTo pose="{to}" _skipIf="tries &gt; 2"/></Sequence></Timeout>
    </RetryUntilSuccessful>
  </BehaviorTree>
</root>
`

// Scripts and entries are those of BehaviorTree.CPP: they stay as they are, in compact form.
func TestPlainBlackboard(t *testing.T) {
	src := &diag.Source{Name: "x.xml", Text: blackboardPlan}
	text, list := Plain(src, nil)
	want := strings.NewReplacer(`<Action ID="SetBlackboard"`, "<SetBlackboard", `<Condition ID="ScriptCondition"`, "<ScriptCondition",
		"</root>\n", "").Replace(blackboardPlan)
	if len(list) > 0 || !strings.HasPrefix(text, want) || strings.Contains(text, `ID="Script`) {
		t.Errorf("%v\n%s", list, text)
	}
	checkPlain(t, src, nil)
}

// The IDs of trees: one that is called as its element keeps its ID, one without gets one.
func TestPlainTreeIDs(t *testing.T) {
	for text, want := range map[string]string{
		`<root BTCPP_format="4"><BehaviorTree ID="BehaviorTree"><X/></BehaviorTree></root>`:                   `<BehaviorTree ID="BehaviorTree">`,
		`<root BTCPP_format="4"><BehaviorTree><X/></BehaviorTree></root>`:                                     `<BehaviorTree ID="MainTree">`,
		`<root BTCPP_format="4" main_tree_to_execute="a b"><BehaviorTree ID="a b"><X/></BehaviorTree></root>`: `main_tree_to_execute="a_b"><BehaviorTree ID="a_b">`,
	} {
		if got, list := Plain(&diag.Source{Name: "x.xml", Text: text}, nil); !strings.Contains(got, want) {
			t.Errorf("%s: %v\n%s", text, list, got)
		}
	}
}

// A document of format 3 is read as the one of format 4 that is written for it; that one does not change.
func TestModern(t *testing.T) {
	for _, path := range plans(t, "testdata/good/*.xml") {
		src := source(t, path)
		before, _ := ReadFiles(src, signals, beside(path))
		text, list := preprocess.Modern(src)
		if list.HasErrors() {
			t.Fatal(list)
		}
		after, list := ReadFiles(&diag.Source{Name: src.Name, Text: text}, signals, beside(path))
		if after == nil || meaning(after) != meaning(before) {
			t.Errorf("%v\n%s", list, text)
		}
		if again, list := preprocess.Modern(&diag.Source{Name: src.Name, Text: text}); again != text || len(list) > 0 {
			t.Errorf("%v\n%s", list, again)
		}
	}
}

// Two attributes of format 3 that have one name in format 4: the second stays, and is reported at its place. An entry
// that <remap> passes on must have a name.
func TestModernDuplicates(t *testing.T) {
	text, _ := preprocess.Modern(&diag.Source{Name: "x.xml", Text: `<root BTCPP_format="3"><BehaviorTree ID="a"><Parallel threshold="1" success_threshold="2"><A/><B/></Parallel></BehaviorTree></root>`})
	if want := `<Parallel failure_count="-1" success_count="1" success_threshold="2">`; !strings.Contains(text, want) {
		t.Error(text)
	}
	if p, list := Read(&diag.Source{Name: "x.xml", Text: text}, nil); p != nil || !strings.Contains(list.Error(), `Parallel has no attribute "success_threshold"`) {
		t.Error(list)
	}
	text, _ = preprocess.Modern(&diag.Source{Name: "x.xml", Text: `<root BTCPP_format="3"><BehaviorTree ID="a"><SubTree ID="b"><remap internal="" external="c"/></SubTree></BehaviorTree></root>`})
	if !strings.Contains(text, `<remap internal="" external="c"/>`) {
		t.Error(text)
	}
}

// A model may be declared twice in the same way, as in a manifest that its plan includes.
func TestSameModelTwice(t *testing.T) {
	const models, tree = `<TreeNodesModel><Action ID="Fly" done="h gt x"><input_port name="x" default="3"/></Action></TreeNodesModel>`,
		`<BehaviorTree ID="a"><Fly/></BehaviorTree>`
	p, list := Read(&diag.Source{Name: "x.xml", Text: `<root BTCPP_format="4">` + models + tree + `</root>`}, nil)
	if p == nil {
		t.Fatal(list)
	}
	manifest := Manifest(nil, p)
	open := func(string) ([]byte, error) { return []byte(manifest), nil }
	for text, want := range map[string]bool{models: true, strings.Replace(models, `"3"`, `"4"`, 1): false} {
		again, list := ReadFiles(&diag.Source{Name: "x.xml", Text: `<root BTCPP_format="4"><include path="m.xml"/>` + text + tree + `</root>`}, nil, open)
		if again != nil != want {
			t.Error(list)
		}
	}
}

// The canonical layout of a plan is that of the same plan.
func TestCanonicalIsTheSamePlan(t *testing.T) {
	for _, path := range plans(t, "testdata/good/*.xml") {
		src := source(t, path)
		before, _ := ReadFiles(src, signals, beside(path))
		doc, _ := xmltree.Parse(src)
		after, list := ReadFiles(&diag.Source{Name: src.Name, Text: doc.Canonical()}, signals, beside(path))
		if after == nil || meaning(after) != meaning(before) {
			t.Errorf("%v\n%s", list, doc.Canonical())
		}
	}
}

// The manifest declares the nodes of BehaviorTree.CPP as it does itself, but not SubTree: it refuses its own model.
func TestManifestIsThatOfBehaviorTreeCpp(t *testing.T) {
	data, err := os.ReadFile("testdata/btcpp/models.txt")
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := xmltree.Parse(&diag.Source{Text: Manifest(nil, nil)})
	ours := map[string]string{}
	for models := range doc.Root.Elements() {
		for m := range models.Elements() {
			var ports []string
			for p := range m.Elements() {
				text := strings.TrimSuffix(p.Name, "_port")
				for _, name := range []string{"name", "type", "default"} {
					value := strings.ReplaceAll(valueOf(p.Find(name)), " ", "_")
					text += " " + cmp.Or(value, "-")
				}
				ports = append(ports, text)
			}
			slices.Sort(ports)
			ours[m.Find("ID").Value] = strings.Join(append([]string{m.Name + " " + m.Find("ID").Value}, ports...), "; ")
		}
	}
	count := 0
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") || strings.HasPrefix(line, "SubTree") {
			continue
		}
		head, _, _ := strings.Cut(line, ";")
		if _, id, _ := strings.Cut(head, " "); ours[id] != line {
			t.Errorf("%s, not %s", ours[id], line)
		}
		count++
	}
	if count != 41 {
		t.Errorf("%d nodes", count)
	}
}
