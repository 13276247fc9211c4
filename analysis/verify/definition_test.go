package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/formalism/translate"
)

// Conditions with one definition are one input, for every question, in comparisons and in translations.
func TestOneDefinitionIsOneInput(t *testing.T) {
	level, err := expr.Parse("h + 1 [m]")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, one, other string }{
		{"one ID", `<Condition ID="door"/>`, `<Condition ID="door" name="again"/>`},
		{"one name", `<Condition name="door"/>`, `<Condition name="door"/>`},
		{"other units", `<Condition name="c" on="x * y ge 1"/>`, `<Condition name="d" on="x * y &gt;= 1 "/>`},
		{"hysteresis", `<Condition name="c" on="x ge 2 [km]" off="x lt 1 [km]"/>`,
			`<Condition name="d" on="2000 [m] le x" off="x lt 1000 [m]"/>`},
		{"a computed signal", `<Condition name="c" on="level ge 2" off="level lt 1 and z*z ge 3"/>`,
			`<Condition name="d" on="h + 1 [m] ge 2" off="h + 1 [m] lt 1 and z*z ge 3"/>`},
	} {
		text := `<ReactiveFallback name="f"><ReactiveSequence name="s">%s<Action name="a"/></ReactiveSequence>
			<ReactiveSequence name="t"><Inverter name="i">%s</Inverter>%s</ReactiveSequence></ReactiveFallback>`
		subject := func(rest string) declare.Subject {
			return declare.Subject{Plan: readPlan(t, fmt.Sprintf(text, test.one, test.other, rest)),
				Computed: map[string]*expr.Expr{"level": level}}
		}
		s := subject(`<Action name="b"/>`)
		for _, f := range slices.Concat(byQuestion(Check(s), "complete"), byQuestion(Check(s), "dead")) {
			if f.Verdict != Proved {
				t.Errorf("%s: %s: %s %v", test.name, f.Question, f.Text, f.Where)
			}
		}
		never := subject(`<Inverter name="j">` + test.other + `</Inverter><ReactiveSequence name="u">` + test.one + `<Action name="b"/></ReactiveSequence>`)
		if f := byQuestion(Check(never), "dead"); len(f) != 1 || f[0].Verdict != Refuted {
			t.Errorf("%s: %v", test.name, f)
		}
		if inputs := translate.Inputs(s.Plan); len(inputs) != 1 && test.name != "a computed signal" {
			t.Errorf("%s: %d inputs", test.name, len(inputs))
		}
		if g, err := translate.StateGraph(s.Plan, translate.Assumptions{}); test.name == "one ID" || test.name == "one name" {
			if err != nil {
				t.Fatal(err)
			}
			if c := CompareGraph(s, g, endless); c.Verdict != Proved {
				t.Errorf("%s: %s %v", test.name, c.Text, c.Steps)
			}
		}
		simple := s
		simple.Plan = readPlan(t, `<ReactiveFallback name="f"><ReactiveSequence name="s">`+test.one+
			`<Action name="a"/></ReactiveSequence><Action name="b"/></ReactiveFallback>`)
		if c := ComparePlans(s, simple, endless); c.Verdict != Proved {
			t.Errorf("%s: %s %v", test.name, c.Text, c.Steps)
		}
	}
}

// Limits that differ in their last digits are written so that their interval is not empty.
func TestCloseLimits(t *testing.T) {
	s := &signal{name: "x", cuts: []cut{{limit: 0.011}, {limit: 0.011000000000000001}, {limit: 0.02}}}
	if got, want := s.text(1, 1), "x in [0.011, 0.011000000000000001)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := s.text(2, 2), "x in [0.011, 0.02)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The sets of states and flights call what a free action does by one name.
func TestFreeActionsHaveOneName(t *testing.T) {
	s := declare.Subject{Plan: readPlan(t, `<ReactiveSequence><Action name="a"/><Condition name="c" on="x ge 1"/></ReactiveSequence>`)}
	s.Declared.Free = []string{"a"}
	m := newModel(s, newDiagramsWithin(&meter{goOn: endless}))
	for i := range m.vocab.inputs {
		if in := m.vocab.inputs[i]; in.kind == inputFree && !slices.ContainsFunc([]string{flown.Succeeds, flown.Fails, flown.Idle,
			flown.Unable}, func(does string) bool { return in.text == "a"+does && in.denied == flown.Denied(in.text) }) {
			t.Errorf("%q, not %q", in.text, in.denied)
		}
	}
	if f := byQuestion(Check(s), "complete")[0]; f.Verdict != Refuted || f.Script == "" {
		t.Errorf("%v %q", f.Verdict, f.Where)
	}
}

// What leaves of another program can avoid is not refuted, whatever else is.
func TestEachRefutationIsBlamedAlone(t *testing.T) {
	guarded := `<ReactiveFallback><Condition ID="Blocked"/><Action name="a" write="u := 1"/></ReactiveFallback>
		<Action name="b" write="u := 2" done="x ge 1"/>`
	for _, test := range []struct{ plan, refuted, open string }{
		{`<Sequence><Parallel name="p">` + guarded + `</Parallel><Parallel name="q"><Action name="c" write="u := 1"/>
			<Action name="d" write="u := 2"/></Parallel></Sequence>`, "", "a and b; c and d"},
		{`<Sequence><Parallel name="q"><Action name="c" write="u := 1" done="x ge 1"/><Action name="d" write="u := 2"
			done="x ge 1"/></Parallel><Parallel name="p">` + guarded + `</Parallel></Sequence>`, "c and d", "a and b"},
		{`<Parallel name="p">` + guarded + `<Action name="c" write="u := 1"/></Parallel>`, "b and c", "any two of a, b, c"},
	} {
		s := declare.Subject{Plan: readPlan(t, test.plan)}
		s.Declared.AddFree(s.Plan)
		texts := map[Verdict]string{}
		for _, f := range byQuestion(Check(s), "conflict") {
			who, _, _ := strings.Cut(strings.TrimPrefix(f.Text, "not concluded whether "), " are active")
			texts[f.Verdict] = strings.TrimPrefix(texts[f.Verdict]+"; "+who, "; ")
		}
		if texts[Refuted] != test.refuted || texts[Undecided] != test.open {
			t.Errorf("refuted %q, open %q\n%s", texts[Refuted], texts[Undecided], test.plan)
		}
	}
}
