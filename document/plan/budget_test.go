package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// laughs returns a plan of nested trees; each gives the next one's port a value, and the last has a condition over it.
func laughs(levels, uses int, value, condition string) string {
	var b strings.Builder
	b.WriteString("<root BTCPP_format=\"4\" main_tree_to_execute=\"t0\">\n<TreeNodesModel>\n")
	for i := range levels {
		fmt.Fprintf(&b, "<SubTree ID=\"t%d\"><input_port name=\"p\" default=\"soc\"/></SubTree>\n", i+1)
	}
	b.WriteString("</TreeNodesModel>\n")
	for i := range levels {
		use := fmt.Sprintf("<SubTree ID=\"t%d\" p=\"%s\"/>\n", i+1, value)
		if i == 0 {
			use = strings.ReplaceAll(use, "p=\""+value, "p=\"soc")
		}
		fmt.Fprintf(&b, "<BehaviorTree ID=\"t%d\"><Sequence>\n%s</Sequence></BehaviorTree>\n", i, strings.Repeat(use, uses))
	}
	fmt.Fprintf(&b, "<BehaviorTree ID=\"t%d\"><Condition on=\"%s\"/></BehaviorTree></root>\n", levels, condition)
	return b.String()
}

// The expansion of a plan's ports is bounded, in one expression and in all: a few lines do not fill the memory, and the
// message is at the place in the author's own file where the bound is reached.
func TestPortsAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		text, line, says string
	}{
		"a billion laughs": {laughs(24, 1, "p+p", "p gt 0"), `<SubTree ID="t14" p="p+p"/>`, "more than 10000 parts"},
		"used by no leaf":  {laughs(24, 1, "p+p", "soc gt 0"), "", ""},
		"one long step": {laughs(3, 1, strings.Repeat("p+", 200)+"p", "p gt 0"), `<SubTree ID="t3" p="p+p+`,
			"more than 10000 parts"},
		"many uses": {laughs(5, 8, "p+p+p+p", "p gt 0"), `<SubTree ID="t`, "more than 100000 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			src := &diag.Source{Name: "x.xml", Text: c.text}
			p, list := reading{signals: signals, limits: limits{maxTasks, maxParts / 10}}.plan(src)
			if c.line == "" {
				if p == nil {
					t.Fatal(list)
				}
				return
			}
			if p != nil || len(list) != 1 || list[0].Code != xmltree.CodeTooLarge {
				t.Fatalf("%v", list)
			}
			d := list[0]
			at, _ := d.Position()
			line := strings.Split(c.text, "\n")[at-1]
			if !strings.HasPrefix(line, c.line) || !strings.Contains(d.Text, c.says) || d.Hint == "" {
				t.Errorf("%v: %s, hint %q", d, line, d.Hint)
			}
		})
	}
}

// Of the uses of subtrees, the message names the tree that grows.
func TestTasksAreBounded(t *testing.T) {
	_, list := Read(&diag.Source{Name: "x", Text: subtrees(60, 2)}, signals)
	if len(list) != 1 || !strings.Contains(list[0].Text, "100000") || list[0].Hint == "" {
		t.Errorf("%v", list)
	}
	long := strings.ReplaceAll(subtrees(15, 2), "<Sequence>", `<Sequence name="`+strings.Repeat("n", 1000)+`">`)
	_, list = Read(&diag.Source{Name: "x", Text: long}, signals)
	if len(list) != 1 || !strings.Contains(list[0].Text, "names of its tasks") {
		t.Errorf("%v", list)
	}
	flood := `<root BTCPP_format="4"><BehaviorTree ID="t"><Sequence>` + strings.Repeat("text<Foo/>", 10*maxFound)
	_, list = Read(&diag.Source{Name: "x", Text: flood}, signals)
	if len(list) != maxFound || !list.HasErrors() {
		t.Errorf("%d mistakes", len(list))
	}
	var cycle strings.Builder
	cycle.WriteString(`<root BTCPP_format="4" main_tree_to_execute="t0">`)
	const trees = 4000
	for i := range trees {
		fmt.Fprintf(&cycle, `<BehaviorTree ID="t%d"><SubTree ID="t%d"/></BehaviorTree>`, i, (i+1)%trees)
	}
	cycle.WriteString("</root>")
	_, list = Read(&diag.Source{Name: "x", Text: cycle.String()}, signals)
	if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == codeCycle }) {
		t.Errorf("%d mistakes, none of them is the cycle", len(list))
	}
}

// A model has a bounded number of ports.
func TestModelsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4"><TreeNodesModel><Action ID="X">`)
	for i := range 2 * maxPorts {
		fmt.Fprintf(&b, `<input_port name="p%d"/>`, i)
	}
	b.WriteString(`</Action></TreeNodesModel><BehaviorTree ID="t"><X/></BehaviorTree></root>`)
	_, list := Read(&diag.Source{Name: "x", Text: b.String()}, signals)
	if len(list) != 1 || list[0].Code != xmltree.CodeTooLarge || !strings.Contains(list[0].Text, "ports") {
		t.Errorf("%v", list)
	}
}

// entries returns a script that creates entries.
func entries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "e%d := 1;", i)
	}
	return b.String()
}

// Files that include each other without end, and ports and entries that grow by their uses, do not fill the memory.
func TestForeignPlansAreBounded(t *testing.T) {
	opened := 0
	many := func(string) ([]byte, error) {
		opened++
		return fmt.Appendf(nil, `<root BTCPP_format="4"><include path="%d.xml"/><include path="%d.xml"/></root>`, opened,
			opened+1_000_000), nil
	}
	port := `<Fly p="` + strings.Repeat("x", 1<<19) + `"/>`
	attributes := `<Fly` + strings.Repeat(` a=""`, 2000) + `/>`
	for _, c := range []struct{ text, says string }{
		{`<include path="a.xml"/><BehaviorTree ID="a"><Fly/></BehaviorTree>`, "more than 1000 files"},
		{`<BehaviorTree ID="a"><Sequence>` + strings.Repeat(`<SubTree ID="b"/>`, 200) + `</Sequence></BehaviorTree>` +
			`<BehaviorTree ID="b">` + port + `</BehaviorTree>`, "67108864 bytes"},
		{`<BehaviorTree ID="a">` + attributes + `</BehaviorTree>`, "more than 1000 attributes"},
		{`<BehaviorTree ID="a"><Script code="` + entries(maxEntries+1) + `"/></BehaviorTree>`, "more than 10000 entries"},
		{`<BehaviorTree ID="a"><SubTree ID="b" name="` + strings.Repeat("x", 1<<16) + `"/></BehaviorTree>` +
			`<BehaviorTree ID="b"><Script code="` + entries(300) + `"/></BehaviorTree>`, "16777216 bytes"},
		{`<BehaviorTree ID="a"><Sequence>` + strings.Repeat(`<Script code="e := 1"/><WasEntryUpdated entry="e"/>`, 400) +
			`</Sequence></BehaviorTree>`, "more than 100000 times"},
	} {
		_, list := ReadFiles(&diag.Source{Name: "x.xml", Text: `<root BTCPP_format="4">` + c.text + `</root>`}, nil, many)
		if !slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
			return d.Code == xmltree.CodeTooLarge && strings.Contains(d.Text, c.says)
		}) {
			t.Errorf("%s: %v", c.says, list)
		}
	}
	if opened > 1001 {
		t.Errorf("%d files were opened", opened)
	}
}
