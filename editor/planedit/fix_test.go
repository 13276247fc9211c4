package planedit

import (
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"

	"pgregory.net/rapid"
)

// A name with two letters exchanged is mended by the fix of the mistake, wherever it stands: then the text is as before.
func TestFix(t *testing.T) {
	const text = `<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main"><ReactiveSequence name="first">
    <Condition name="high" on="altitude gt 5 [m]"/>
    <SubTree ID="Landing"/>
    <Timeout msec="100"><Action name="go" write="throttle := min(altitude / 9 [m], 1)"/></Timeout>
  </ReactiveSequence></BehaviorTree>
  <BehaviorTree ID="Landing"><Action name="down" done="altitude lt 1 [m]"/></BehaviorTree>
</root>`
	metres, _ := expr.ParseUnit("m")
	signals := plan.Vocabulary{"altitude": {Unit: metres}, "throttle": {Slot: true}}
	read := func(text string) diag.List {
		_, found := plan.Read(&diag.Source{Name: "plan.xml", Text: text}, signals)
		return found
	}
	if found := read(text); found.HasErrors() {
		t.Fatal(found)
	}
	words := []string{"altitude gt", "<ReactiveSequence", "write=", "throttle", "Landing\"/", "altitude lt", "<Timeout", "msec"}
	rapid.Check(t, func(t *rapid.T) {
		at := strings.Index(text, rapid.SampledFrom(words).Draw(t, "word"))
		wrong := []byte(text)
		for i := at + rapid.IntRange(1, 2).Draw(t, "letter"); ; i++ {
			if wrong[i] != wrong[i+1] {
				wrong[i], wrong[i+1] = wrong[i+1], wrong[i]
				break
			}
		}
		if rest, found := strings.CutPrefix(text[at:], "<"); found { // the end tag, too
			name := rest[:strings.IndexAny(rest, " >")]
			wrong = []byte(strings.Replace(string(wrong), "</"+name, "</"+string(wrong[at+1:at+1+len(name)]), 1))
		}
		found := read(string(wrong))
		i := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return len(Fix(d)) > 0 })
		if i < 0 {
			t.Fatalf("no fix of %v", found)
		}
		p, err := Read(string(wrong))
		if err != nil {
			t.Fatal(err)
		}
		if mended, err := p.Apply(Fix(found[i])...); err != nil || mended != text {
			t.Fatalf("%v\n%v\n%s", err, found[i], mended)
		}
	})
}

// What a message suggests is not written where it is not a name that is wrong.
func TestNoFix(t *testing.T) {
	for _, text := range []string{
		`<root BTCPP_format="4"><BehaviorTree ID="A"><Timeout msec="x y"><AlwaysSuccess/></Timeout></BehaviorTree></root>`,
		`<root BTCPP_format="4"><BehaviorTree ID="A"><Sleep/></BehaviorTree></root>`,
		`<root><`, ``,
	} {
		_, found := plan.Read(&diag.Source{Name: "plan.xml", Text: text}, nil)
		for _, d := range found {
			if fix := Fix(d); len(fix) > 0 {
				t.Errorf("%v: %v", d, fix)
			}
		}
	}
}
