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

// TestNotes: a note is a comment of the document, at its place; the same words in a text are none.
func TestNotes(t *testing.T) {
	p := read(t, `<Action name="climb"/>`)
	src := &diag.Source{Name: "facts.yaml", Text: "free: [ # canopy: accept conflict climb: it is meant\n  climb] #canopy:accept confict x: y\n" +
		"properties:\n  - '# canopy: accept conflict climb: a text'\n  # canopy: accept conflict\n"}
	d, list := ReadFile(src, p)
	var got []string
	for _, n := range d.Notes {
		got = append(got, fmt.Sprintf("%s, %s, %s, %s", n.Question, n.About, n.Reason, src.Text[n.Offset:n.Offset+n.Length]))
	}
	for _, m := range list {
		line, column := m.Position()
		got = append(got, fmt.Sprintf("%d:%d %s", line, column, m.Code))
	}
	want := []string{"conflict, climb, it is meant, # canopy: accept conflict climb: it is meant", "4:6 syntax", "2:25 unknown-question",
		"5:20 missing-reason"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
