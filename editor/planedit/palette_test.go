package planedit

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// The palette has each kind with its documentation, and what the plan, the files that it includes and the libraries
// declare: also what a person adds can be read.
func TestPalette(t *testing.T) {
	const text = `<root BTCPP_format="4" main_tree_to_execute="Main">
  <include path="library:copter"/>
  <include path="other.xml"/>
  <TreeNodesModel>
    <!-- Is
         it high? -->
    <Condition ID="High" on="h gt limit" _description="Of the copter."><input_port name="limit" default="9 [m]">the height [m]</input_port></Condition>
    <Action ID="go home" write="u := 1"/>
  </TreeNodesModel>
  <BehaviorTree ID="Main"><AlwaysSuccess/></BehaviorTree>
</root>`
	list := Palette(&diag.Source{Name: "plan.xml", Text: text}, "copter", func(name string) ([]byte, error) {
		if name != "other.xml" {
			return nil, fs.ErrNotExist
		}
		return []byte("<root BTCPP_format='4'>\n<!-- Lands. -->\n<BehaviorTree ID='Down' speed='2'><AlwaysSuccess/></BehaviorTree></root>"), nil
	})
	find := func(element, id string) Piece {
		i := slices.IndexFunc(list, func(p Piece) bool { return p.Element == element && p.ID == id })
		if i < 0 {
			t.Fatalf("there is no %s %s", element, id)
		}
		return list[i]
	}
	for _, k := range bt.Kinds() {
		if !k.Attributed() {
			if p := find(k.String(), ""); p.Text != k.Text() || p.Category == "" {
				t.Errorf("%+v", p)
			}
		}
	}
	for _, want := range []struct{ element, id, category, text, port string }{
		{"High", "", "condition", "Of the copter. Is it high?", "{limit the height [m] 9 [m]}"},
		{"Action", "go home", "action", "", "{name"},
		{"take_off", "", "action", "Arm, and climb to a height.", "{to_h height of the hold above home 20 [m]}"},
		{"SubTree", "survey", "subtree", "", "{polygon"},
		{"SubTree", "Down", "subtree", "Lands.", "{speed  2}"},
		{"SubTree", "Main", "subtree", "", ""},
		{"Script", "", "action", "Executes a script", "{name"},
		{"LoopInt", "", "decorator", "each integer", "{name"},
		{"BehaviorTree", "", "tree", "A tree of tasks", "{ID"},
	} {
		p := find(want.element, want.id)
		if p.Category != want.category || !strings.Contains(p.Text, want.text) || len(p.Attributes) == 0 && want.port != "" ||
			len(p.Attributes) > 0 && !strings.HasPrefix(fmt.Sprint(p.Attributes[0]), want.port) {
			t.Errorf("%+v, not %v", p, want)
		}
	}
	for i, p := range list {
		if slices.ContainsFunc(list[:i], func(o Piece) bool { return o.Element == p.Element && o.ID == p.ID }) {
			t.Errorf("%s %s is there twice", p.Element, p.ID)
		}
		doc, err := Read(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := doc.Do(Op{Do: "add", Element: p.Element, ID: p.ID, Place: Place{0, Into}}, nil)
		if err != nil {
			t.Errorf("%+v: %v", p, err)
			continue
		}
		if _, found := plan.Read(&diag.Source{Text: c.Text}, nil); slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code == "malformed-xml" }) {
			t.Errorf("%+v: %v", p, found)
		}
	}
	if broken := Palette(&diag.Source{Text: "<root><"}, "", nil); len(broken) < 40 {
		t.Errorf("while a plan is typed, the palette has %d pieces", len(broken))
	}
}

// An action of the vehicle is added with the library that declares it: then the plan can be read.
func TestLibrary(t *testing.T) {
	for class, action := range map[string]string{"plane": "align", "copter": "pass_by"} {
		text := "<root BTCPP_format=\"4\">\n  <BehaviorTree ID=\"Main\">\n    <Sequence/>\n  </BehaviorTree>\n</root>\n"
		for range 2 {
			list := Palette(&diag.Source{Text: text}, class, nil)
			i := slices.IndexFunc(list, func(p Piece) bool { return p.Element == action })
			if i < 0 {
				t.Fatalf("a %s has no %s", class, action)
			}
			p, err := Read(text)
			if err != nil {
				t.Fatal(err)
			}
			c, err := p.Do(Op{Do: "add", Element: action, Include: "library:" + class, Place: Place{2, Into}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if after, _ := Read(c.Text); after.Elements[c.Select].Name != action {
				t.Errorf("<%s> is selected", after.Elements[c.Select].Name)
			}
			text = c.Text
		}
		wanted := "<root BTCPP_format=\"4\" main_tree_to_execute=\"Main\">\n  <include path=\"library:" + class + "\"/>\n" +
			"  <BehaviorTree ID=\"Main\">\n    <Sequence>\n" + strings.Repeat("      <"+action+"/>\n", 2) +
			"    </Sequence>\n  </BehaviorTree>\n</root>\n"
		_, found := plan.Read(&diag.Source{Name: "plan.xml", Text: text}, nil)
		if text != wanted || slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Code != "missing-port" && d.Severity == diag.Error }) {
			t.Errorf("%v\n%s", found, text)
		}
		if list := Palette(&diag.Source{Text: text}, class, nil); slices.ContainsFunc(list, func(p Piece) bool { return p.Include != "" }) {
			t.Errorf("what is included must be included again")
		}
	}
}
