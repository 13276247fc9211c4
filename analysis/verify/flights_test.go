package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
)

// TestTransitionsThatMeetAreSeen: two transitions of one instant come to one state, because `brief` and `first` write the same
// to s, whose first value is unknown. Only one of them has activated `brief`, beside `other`.
func TestTransitionsThatMeetAreSeen(t *testing.T) {
	for condition, written := range map[string]string{"s ge 1": "0", "s lt 1": "2"} {
		text := strings.NewReplacer("CONDITION", condition, "WRITTEN", written).Replace(
			`<Parallel failure_count="1" success_count="-1"><WhileDoElse><Condition name="c" on="CONDITION"/>` +
				`<Action name="brief" entry="s := WRITTEN"/>` +
				`<Sequence><Action name="first" entry="s := WRITTEN" done="true"/>` +
				`<Action name="a1" entry="r := 1" done="r ge 1"/><Action name="a2" entry="r := 2" done="r ge 2"/>` +
				`<Action name="a3" entry="r := 3" done="r ge 3"/></Sequence></WhileDoElse>` +
				`<Action name="other"/></Parallel>`)
		s, found := check(t, text, "")
		for _, f := range byQuestion(found, "dead") {
			if f.Verdict != Proved {
				t.Errorf("%s: %v", condition, f.Text)
			}
		}
		x := NewModel(s).newFlights()
		for x.more() {
		}
		brief, _ := s.Plan.Tree.Find("brief")
		other, _ := s.Plan.Tree.Find("other")
		if !x.entered[brief] || !x.met[pairOf(brief, other)] {
			t.Errorf("%s: brief is not seen: %v", condition, x.met)
		}
	}
}

// TestMeetingsKeepTheirStart: the tasks that are active before are those of the next transition, too.
func TestMeetingsKeepTheirStart(t *testing.T) {
	m := NewModel(declare.Subject{Plan: readPlan(t, `<Parallel><Action name="a"/><Action name="b"/><Action name="c"/></Parallel>`)})
	active := []bt.Task{0, 1}
	turns := []bt.Change{{Task: 0, To: bt.Deactivating}, {Task: 2, To: bt.Activating}}
	if got := m.meetings(active, turns); !slices.Equal(got, []pair{{1, 2}}) || !slices.Equal(active, []bt.Task{0, 1}) {
		t.Error(got, active)
	}
}

// TestConflictsWithinAnInstant: the abstraction allows a state in which `brief` and `other` are active, because it does
// not know that `brief` changes s. There is only an instant.
func TestConflictsWithinAnInstant(t *testing.T) {
	for _, parallel := range []string{"Parallel", "ReactiveParallel"} {
		_, found := check(t, "<"+parallel+`><WhileDoElse><Condition name="c" on="s lt 1"/>`+
			`<Action name="brief" entry="s := 1" write="q := 1"/><Action name="next"/></WhileDoElse>`+
			`<Action name="other" write="q := 2"/></`+parallel+">", "")
		found = byQuestion(found, "conflict")
		if len(found) != 1 || found[0].Verdict != Refuted || !strings.Contains(found[0].Text, "within one instant") {
			t.Errorf("%s: %v", parallel, found)
		}
	}
}

// TestConflictsBesideScripts: a script of a guard runs while the action behind it stays active; both are scripts, or one
// is in front, they are never active together.
func TestConflictsBesideScripts(t *testing.T) {
	const script, act = `<Action name="script" entry="u := 1" done="true"/>`, `<Action name="act" write="u := 2"/>`
	const guard = `<Sequence><Condition name="c" on="s ge 1"/>` + script + `<Condition name="d" on="s ge 2"/></Sequence>`
	for children, want := range map[string]Verdict{
		"<ReactiveFallback>" + guard + act + "</ReactiveFallback>":                                                           Refuted,
		"<ReactiveFallback>" + act + guard + "</ReactiveFallback>":                                                           Proved,
		"<ReactiveFallback>" + guard + strings.Replace(act, "/>", ` done="true"/>`, 1) + "</ReactiveFallback>":               Proved,
		`<WhileDoElse>` + guard + act + `<Action/></WhileDoElse>`:                                                            Refuted,
		`<WhileDoElse><Condition name="e" on="s ge 3"/>` + script + act + `</WhileDoElse>`:                                   Proved,
		`<Parallel failure_count="2"><SkipIf><Condition name="c" on="s ge 1"/>` + script + `</SkipIf>` + act + `</Parallel>`: Refuted,
	} {
		_, found := check(t, children, "")
		found = byQuestion(found, "conflict")
		if len(found) != 1 || found[0].Verdict != want {
			t.Errorf("%s: %v, want %s", children, found, want)
		}
	}
}

// overtakes observes whether an action becomes active although another one has not been active before. A run in which
// that one has been is done, also within the instant.
type overtakes struct{ first, then bt.Task }

func (o overtakes) step(at *flown.Moment, _ struct{}) (after struct{}, now event) {
	switch {
	case at.Active(o.then):
		return after, hit
	case at.Active(o.first):
		return after, done
	}
	return after, nothing
}

// TestDone: what one settling decides remains so for the instant and the run, without a mark.
func TestDone(t *testing.T) {
	for _, test := range []struct{ plan, want string }{
		{`<Sequence><Action name="x" done="s ge 1"/><Action name="y"/></Sequence>`,
			"proved, which the first instant of a run decides"},
		{`<Sequence><Action name="z" done="s ge 1"/><Action name="x" done="s ge 2"/><Action name="y"/></Sequence>`,
			"proved, by visiting the only state in which a run leaves it open"},
		{`<Parallel><Action name="x"/><Action name="y"/></Parallel>`, "refuted"},
	} {
		s := subjectOf(t, test.plan, "")
		first, _ := s.Plan.Tree.Find("x")
		then, _ := s.Plan.Tree.Find("y")
		c := watch(NewModel(s), overtakes{first, then}, struct{}{})
		if f := c.finding(Finding{Text: "proved"}, Finding{Text: "refuted"}); f.Text != test.want {
			t.Errorf("%s: %s, want %s", test.plan, f.Text, test.want)
		}
	}
}
