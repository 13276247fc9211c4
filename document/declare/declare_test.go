package declare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
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

// TestOperatorsOfTime: in a condition, an unknown function that is like none is taken for an operator over time.
func TestOperatorsOfTime(t *testing.T) {
	_, list := ReadFile(&diag.Source{Name: "facts.yaml", Text: "always: [G(climb), sqr(2) > 3]\n"}, read(t, `<Action name="climb"/>`))
	if len(list) != 2 || !strings.Contains(list[0].Advice(), "`properties`") || strings.Contains(list[1].Advice(), "`properties`") {
		t.Error(list)
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

// TestPaths: the path of a task, with the names of subtrees and without steps that are not needed, serves in all
// entries; a name that several tasks have is refused with their paths, unless they are one input.
func TestPaths(t *testing.T) {
	const text = `<root BTCPP_format="4" main_tree_to_execute="survey">
		<BehaviorTree ID="survey"><ReactiveFallback name="list"><SubTree ID="come_home"/><SubTree ID="come_home" name="give up"/>
			<ReactiveSequence name="job"><Condition ID="low"/><Action name="scan"/></ReactiveSequence></ReactiveFallback></BehaviorTree>
		<BehaviorTree ID="come_home"><ReactiveSequence name="home"><Condition ID="low"/><Condition name="windy" on="wind ge 5"/>
			<Action name="land" done="h le 0" write="v := 1"/></ReactiveSequence></BehaviorTree></root>`
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
	if p == nil {
		t.Fatal(list)
	}
	first, second := "list/home/land", "list/home[2]/land"
	d, list := ReadFile(&diag.Source{Name: "facts", Text: `
facts: [low -> h ge 3, windy and not job/low]
always: ["not ({give up/land} and survey/scan)", "list/job/low -> scan"]
properties: ["never both({give up/land}, survey/list/job/scan)"]
free: ["give up/land"]
resources: {runway: ["give up/land", list/home/land]}
effects: {survey/job/scan: {h: up}}
# canopy: accept dead come_home/home/windy, job/scan: as it should be
`}, p)
	if len(list) > 0 {
		t.Fatal(list)
	}
	if got := d.Free; !slices.Equal(got, []string{second}) {
		t.Error(got)
	}
	if got, want := d.Notes[0].About, "list/home/windy, scan"; got != want {
		t.Errorf("the note is about %s", got)
	}
	var names []string
	for _, s := range slices.Concat(d.Facts, d.Always) {
		for _, e := range s.Parts {
			for _, n := range e.Propositions() {
				names = append(names, n.Name())
			}
		}
	}
	d.Properties[0].Formula.Conditions(func(e *expr.Expr) {
		for _, n := range e.Propositions() {
			names = append(names, n.Name())
		}
	})
	want := []string{"list/home/low", "list/home/windy", "list/job/low", second, "scan", "list/job/low", "scan", second, "scan"}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	for text, want := range map[string]string{
		"always: [not land]":                          `2 tasks are called "land": write one of ` + first + ", " + second,
		"properties: [never come_home/land]":          `2 tasks are called "come_home/land": write one of ` + first + ", " + second,
		"free: [land]":                                `2 actions are called "land": write one of ` + first + ", " + second,
		"resources: {x: [home/land]}":                 `2 actions are called "home/land": write one of ` + first + ", " + second,
		"free: [scan]\n# canopy: accept dead land: x": `2 tasks are called "land": write one of ` + first + ", " + second,
		"facts: [survey/lo]":                          `no condition or task is called "survey/lo": `,
		"facts: [h / 2]":                              `a condition is expected`,
	} {
		_, list := ReadFile(&diag.Source{Name: "facts", Text: text}, p)
		if len(list) != 1 || !strings.HasPrefix(list[0].Text+": "+list[0].Advice(), want) {
			t.Errorf("%s: %v", text, list)
		}
	}
}
