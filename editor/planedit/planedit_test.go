package planedit

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/syntax/xmltree"

	"pgregory.net/rapid"
)

// writer writes random plans in random layouts.
type writer struct {
	*rapid.T
	strings.Builder
	numbers map[string]int
}

func (w *writer) one(of ...string) string { return rapid.SampledFrom(of).Draw(w.T, "") }

// fresh returns a name that no other has.
func (w *writer) fresh(of string) string {
	w.numbers[of]++
	return fmt.Sprint(of, w.numbers[of])
}

// between writes what may be between elements.
func (w *writer) between(depth int) {
	for rapid.IntRange(0, 2).Draw(w.T, "") == 0 {
		w.WriteString(w.one("", " ", "\n", "\n  ", "\n", "\n\n") + "<!--" + w.fresh("note") + w.one("", "\n  on two lines ") + "-->")
	}
	w.WriteString(w.one("", " ", "\r\n", "\n\n", "\t", "\n"+strings.Repeat("  ", depth), "\n"+strings.Repeat("  ", depth),
		"\n"+strings.Repeat("\t", depth)))
}

// task writes a task with those in it.
func (w *writer) task(depth int) {
	gap := func() string { return w.one(" ", "\n   ", "\n"+strings.Repeat("  ", depth+1)) }
	name := gap() + "name=" + w.one(`"%s"`, `'%s'`)
	kinds := []string{`Condition` + gap() + `on="x gt k"`, `Action`, `AlwaysSuccess`, `Sleep msec="5"`, `Script` + gap() + `code="n := 1;` + "\n  n += 2\"", `ScriptCondition code="m == 1"`}
	most := 0
	if depth < 4 || depth < 6 && rapid.Bool().Draw(w.T, "") {
		kinds = []string{"Sequence", "Fallback", "ReactiveSequence", "Parallel"}
		if most = 3; rapid.Bool().Draw(w.T, "") {
			kinds, most = []string{"Inverter", "ForceSuccess", `Timeout msec="9"`, "Precondition if='x lt 3'"}, 1
		}
	}
	tag := w.one(kinds...)
	w.WriteString("<" + tag + fmt.Sprintf(name, w.fresh("task")))
	if rapid.IntRange(0, 9).Draw(w.T, "") == 0 {
		w.WriteString(gap() + `_skipIf="x gt 2"`)
	}
	if most == 0 {
		w.WriteString(w.one("/>", " />"))
		return
	}
	w.WriteString(">")
	for range rapid.SampledFrom([]int{1, 2, 3}[:most]).Draw(w.T, "children") {
		w.between(depth + 1)
		w.task(depth + 1)
	}
	w.between(depth)
	w.WriteString("</" + strings.Fields(tag)[0] + ">")
}

// document draws a plan that can be read.
func document(t *rapid.T) string {
	w := writer{T: t, numbers: map[string]int{}}
	w.WriteString(w.one("", "\ufeff", "<?xml version='1.0'?>\n") + `<root BTCPP_format="4" main_tree_to_execute="Main">`)
	w.between(1)
	w.WriteString(`<BehaviorTree ID="Main"` + ` k="1">`)
	w.between(2)
	w.WriteString(`<Sequence name="first"><Script code="m := 1"/>`)
	w.task(3)
	w.WriteString(`<SubTree ID="Other" k="2"/></Sequence>`)
	w.between(1)
	w.WriteString(`</BehaviorTree>`)
	w.between(1)
	w.WriteString(`<BehaviorTree ID="Other"><Sequence><Script code="m := 2"/>`)
	w.task(3)
	w.WriteString(`</Sequence></BehaviorTree>`)
	w.between(0)
	w.WriteString("</root>")
	return w.String()
}

// meaning returns the plan that a text is read as.
func meaning(text string) (string, error) {
	p, found := plan.Read(&diag.Source{Name: "plan.xml", Text: text}, nil)
	if found.HasErrors() {
		return "", found.Err()
	}
	return Meaning(p)
}

// tags returns the names and attributes of elements, as many as there are.
func tags(p *Plan) (list []string) {
	for _, e := range p.Elements {
		text := e.Name
		for _, a := range e.Attributes {
			text += fmt.Sprintf(" %s=%q", a.Name, a.Value)
		}
		list = append(list, text)
	}
	return list
}

// notes returns the comments of a text.
func notes(text string) []string {
	return slices.Sorted(slices.Values(regexp.MustCompile(`note\d+`).FindAllString(text, -1)))
}

// undone returns the text from which a change made another one.
func undone(t *rapid.T, before string, c *Change) string {
	inverse, moved := []xmltree.Edit{}, 0
	for _, e := range slices.SortedStableFunc(slices.Values(c.Edits), func(a, b xmltree.Edit) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.End, b.End))
	}) {
		inverse = append(inverse, xmltree.Edit{Span: xmltree.Span{At: e.At + moved, End: e.At + moved + len(e.New)}, New: before[e.At:e.End]})
		moved += len(e.New) - e.Len()
	}
	d, _ := xmltree.Parse(&diag.Source{Text: c.Text})
	text, err := d.Apply(inverse...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// draw draws what a person does with a plan.
func draw(t *rapid.T, p *Plan) Op {
	var numbers []int // each as likely as the others
	for i := range p.Elements {
		numbers = append(numbers, i)
	}
	some := func(what string) int { return rapid.SampledFrom(numbers).Draw(t, what) }
	return Op{
		Do: rapid.SampledFrom([]string{"add", "paste", "delete", "move", "move", "move", "wrap", "unwrap", "set", "unset",
			"toggle", "extract"}).Draw(t, "do"),
		Task: some("task"), Place: Place{some("to"), rapid.SampledFrom([]Where{Into, Before, After}).Draw(t, "where")},
		Element: "Inverter", Text: "  <!--pasted-->\n  <New a='1\n  2'>\n    <In/>\n  </New>\n",
		Name: rapid.SampledFrom([]string{"name", "fresh", "_skipIf"}).Draw(t, "name"), Value: `<"'>`,
	}
}

// After each operation the text is well-formed, what no edit names is as before, comments and tasks are kept unless they
// are deleted, and what is undone is what was. What a person goes on with is selected.
func TestOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := document(t)
		if _, err := meaning(text); err != nil {
			t.Fatalf("%s\nis no plan: %v", text, err)
		}
		for range 8 {
			p, err := Read(text)
			if err != nil {
				t.Fatal(err)
			}
			op := draw(t, p)
			c, err := p.Do(op, meaning)
			if err != nil {
				continue // of a root, and so on: TestRefusals
			}
			if undone(t, text, c) != text {
				t.Fatalf("%+v cannot be undone in\n%s", op, text)
			}
			after, err := Read(c.Text)
			if err != nil {
				t.Fatal(err)
			}
			checkTags(t, op, p, after, c.Select)
			checkPlace(t, op, p, after, c.Select)
			if op.Do == "paste" {
				c.Text = strings.Replace(c.Text, "<!--pasted-->", "", 1)
			} else if op.Do != "delete" && !slices.Equal(notes(text), notes(c.Text)) {
				t.Fatalf("%+v loses a comment of\n%s\nin\n%s", op, text, c.Text)
			}
			text = c.Text
		}
	})
}

// checkTags checks which elements a plan has after an operation.
func checkTags(t *rapid.T, op Op, before, after *Plan, selected int) {
	old, now := tags(before), tags(after)
	is := now[selected]
	switch op.Do {
	case "add", "wrap":
		if is != op.Element {
			t.Fatalf("%+v selects %s", op, is)
		}
		now = slices.Delete(now, selected, selected+1)
	case "paste":
		if is != `New a="1\n  2"` || now[selected+1] != "In" {
			t.Fatalf("%+v selects %s with %s", op, is, now[selected+1])
		}
		now = slices.Delete(now, selected, selected+2)
	case "unwrap":
		old = slices.Delete(old, op.Task, op.Task+1)
	case "delete":
		end := op.Task + 1
		for end < len(old) && before.Elements[end].At < before.Elements[op.Task].End {
			end++
		}
		old = slices.Delete(old, op.Task, end)
	case "set", "unset", "toggle":
		old, now = slices.Delete(old, op.Task, op.Task+1), slices.Delete(now, op.Task, op.Task+1)
	case "move":
		if is != old[op.Task] {
			t.Fatalf("%+v of %s selects %s", op, old[op.Task], is)
		}
		slices.Sort(old)
		slices.Sort(now)
	case "extract":
		return // TestExtract
	}
	if !slices.Equal(old, now) {
		t.Fatalf("%+v makes of\n%s\n\n%s", op, strings.Join(old, "\n"), strings.Join(now, "\n"))
	}
}

// checkPlace checks that what is new or moved is where it was wanted. The name tells the element of the place.
func checkPlace(t *rapid.T, op Op, before, after *Plan, selected int) {
	near := before.Elements[op.Place.Task]
	name := near.Find("name")
	if !slices.Contains([]string{"add", "paste", "move"}, op.Do) || name == nil || op.Do == "move" && op.Task == op.Place.Task {
		return
	}
	e := after.Elements[selected]
	beside := slices.Collect(e.Parent.Elements())
	at := slices.Index(beside, e)
	var found *xmltree.Element
	switch {
	case op.Where == Into && at == len(beside)-1:
		found = e.Parent
	case op.Where == Before && at+1 < len(beside):
		found = beside[at+1]
	case op.Where == After && at > 0:
		found = beside[at-1]
	}
	if found == nil || found.Name != near.Name || found.Find("name") == nil || found.Find("name").Value != name.Value {
		t.Fatalf("%+v is not at %s %s", op, op.Where, name.Value)
	}
}

// What is wrapped and then unwrapped is as before, to the byte if the line ends are of one kind; and so is what is
// disabled and then enabled.
func TestInverses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(document(t), "\r\n", "\n")
		p, _ := Read(text)
		i := rapid.IntRange(0, len(p.Elements)-1).Draw(t, "task")
		for _, ops := range [][2]string{{"wrap", "unwrap"}, {"toggle", "toggle"}} {
			c, err := p.Do(Op{Do: ops[0], Task: i, Element: "Inverter"}, nil)
			if err != nil {
				continue
			}
			wrapped, _ := Read(c.Text)
			if back, err := wrapped.Do(Op{Do: ops[1], Task: c.Select}, nil); err != nil || back.Text != text {
				t.Fatalf("%v: %v\n%s\nis then\n%s\nand then\n%s", ops, err, text, c.Text, back.Text)
			}
		}
	})
}

// A task that is extracted, with its entries and ports, does what it did.
func TestExtract(t *testing.T) {
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		text := document(t)
		p, _ := Read(text)
		i := rapid.IntRange(1, len(p.Elements)-1).Draw(t, "task")
		c, err := p.Do(Op{Do: "extract", Task: i, Name: "Fresh"}, meaning)
		if e := p.Elements[i]; e.Name == tree {
			if err == nil {
				t.Fatal("a tree is extracted")
			}
			return
		}
		if err != nil {
			t.Fatalf("task %d of\n%s: %v", i, text, err)
		}
		was, _ := meaning(text)
		if now, err := meaning(c.Text); err != nil || was != now {
			t.Fatalf("%v\n%s\nis then\n%s\n%s\nand then\n%s", err, text, was, c.Text, now)
		}
		if strings.Contains(c.Text, remap) {
			passed++
		}
	})
	if passed == 0 {
		t.Error("no tree needs the entries of another one")
	}
}

// What cannot be done is refused with a reason.
func TestRefusals(t *testing.T) {
	const text = `<root><include path="x"/><BehaviorTree ID="A"><Sequence><Fallback><Action _skipIf="x"/></Fallback></Sequence></BehaviorTree></root>`
	p, err := Read(text)
	if err != nil || len(p.Elements) != 5 {
		t.Fatal(p, err)
	}
	const root, aTree, sequence, fallback, action = 0, 1, 2, 3, 4
	for want, op := range map[string]Op{
		"one root element":    {Do: "delete", Task: root},
		"no element 5":        {Do: "delete", Task: 5},
		"no element -1":       {Do: "add", Element: "A", Place: Place{-1, Into}},
		"into itself":         {Do: "move", Task: sequence, Place: Place{action, Before}},
		"tasks in trees":      {Do: "move", Task: sequence, Place: Place{aTree, After}},
		"wrap its root":       {Do: "wrap", Task: aTree, Element: "Inverter"},
		"no other element":    {Do: "unwrap", Task: aTree},
		"contains no task":    {Do: "unwrap", Task: action},
		"whole elements":      {Do: "paste", Text: "</x><x/>", Place: Place{fallback, Into}},
		"the name 1":          {Do: "add", Element: "1", Place: Place{fallback, Into}},
		`an attribute "a b"`:  {Do: "set", Task: action, Name: "a b"},
		`no attribute "name"`: {Do: "unset", Task: action, Name: "name"},
		"disable its root":    {Do: "toggle", Task: aTree},
		"has _skipIf already": {Do: "toggle", Task: action},
		"no operation fly":    {Do: "fly"},
		"a name":              {Do: "extract", Task: action},
		"has a mistake":       {Do: "extract", Task: action, Name: "B"},
	} {
		if _, err := p.Do(op, meaning); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, not: %s", op, err, want)
		}
	}
	for _, text := range []string{"", "<root>", "<root></x></root>", "<a/><b/>"} {
		if _, err := Read(text); !errors.Is(err, ErrNotWhole) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
