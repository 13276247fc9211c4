package declare

import (
	"fmt"
	"slices"
	"testing"

	"canopy/diag"
	"canopy/document/plan"
)

func read(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, list := plan.Read(&diag.Source{Name: "plan.xml",
		Text: `<root BTCPP_format="4"><BehaviorTree ID="plan">` + text + `</BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// TestPropertyMistakes: all of them are reported at their places in the document.
func TestPropertyMistakes(t *testing.T) {
	p := read(t, `<Action name="climb"/>`)
	src := &diag.Source{Name: "facts.yaml", Text: "properties:\n  - always (climb -> sinc)\n  - never both(climb)\n  - eventually climb\n"}
	_, list := ReadFile(src, p)
	var got []string
	for _, d := range list {
		line, column := d.Position()
		got = append(got, fmt.Sprintf("%d:%d %s", line, column, d.Text))
	}
	want := []string{`2:22 no condition or task is called "sinc"`, `3:21 "," is expected between the properties of never both`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
