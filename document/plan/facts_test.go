package plan

import (
	"fmt"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

func TestReadLeafTypes(t *testing.T) {
	src := &diag.Source{Name: "x.xml", Text: `<root BTCPP_format="4">
		<TreeNodesModel>
			<Condition ID="door_open" on="door gt limit"><input_port name="limit" default="0.5"/></Condition>
			<Action ID="open" pre="not locked  and at_door" post="door_open" write="push := 1"/>
			<SubTree ID="other"/><Control ID="Mine"/><MetadataFields/>
		</TreeNodesModel></root>`}
	types, list := ReadLeafTypes(src)
	if len(list) > 0 || len(types) != 2 {
		t.Fatalf("%d types, %v", len(types), list)
	}
	door, open := types[0], types[1]
	if door.Kind != bt.Condition || door.Leaf.ID != "door_open" || fmt.Sprint(door.Leaf.Details()) != "[on: door > 0.5]" {
		t.Errorf("%+v %v", door, door.Leaf.Details())
	}
	if open.Kind != bt.Action || fmt.Sprint(open.Pre, open.Post) != "[not locked at_door] [door_open]" {
		t.Errorf("%+v", open)
	}
	for _, f := range open.Pre {
		text := src.Text[f.Offset : f.Offset+f.Length]
		if text != f.String() {
			t.Errorf("the fact %q stands at %q", f, text)
		}
	}
	for text, code := range map[string]string{
		`<root BTCPP_format="4"><TreeNodesModel><Action ID="a" done="x gt y"><input_port name="y"/></Action></TreeNodesModel></root>`: codeNoPort,
		`<root BTCPP_format="4"><TreeNodesModel><Action ID="a" pre="x or y"/></TreeNodesModel></root>`:                                codeFacts,
		`plan`: codeNotXML,
	} {
		types, list := ReadLeafTypes(&diag.Source{Name: "x", Text: text})
		if types != nil || len(list) != 1 || list[0].Code != code {
			t.Errorf("%s wanted, not %v", code, list)
		}
	}
}

func FuzzParseFacts(f *testing.F) {
	for _, text := range []string{"a", "not a and b", "a and not", "a a", " ", "not not a", "a and a", "x > 3", "\x80"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		facts, list := ParseFacts(&diag.Source{Name: "goal", Text: text})
		checkPlaces(t, list)
		if len(facts) == 0 && !list.HasErrors() {
			t.Errorf("%q gives neither facts nor mistakes", text)
		}
		if list.HasErrors() {
			return
		}
		again := ""
		for i, fact := range facts {
			if i > 0 {
				again += " and "
			}
			again += fact.String()
		}
		if facts2, list := ParseFacts(&diag.Source{Text: again}); len(list) > 0 || len(facts2) != len(facts) {
			t.Errorf("%q is read as %q, which is read as %v %v", text, again, facts2, list)
		}
	})
}
