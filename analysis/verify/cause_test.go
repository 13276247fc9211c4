package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
)

// One task that is always active keeps a hundred others from it: that is one finding, with one cause.
func TestOneCauseIsOneFinding(t *testing.T) {
	var shadowed, writers strings.Builder
	for i := range 100 {
		fmt.Fprintf(&shadowed, `<ReactiveSequence name="s%d"><Condition name="c%d"/><Action name="b%d"/></ReactiveSequence>`, i, i, i)
		fmt.Fprintf(&writers, `<Action name="b%d" write="u := %d"/>`, i, i)
	}
	for _, test := range []struct {
		name, plan, question, text, advice string
		units                              int
	}{
		{"a task that shadows", `<ReactiveFallback name="f"><Action name="a"/>` + shadowed.String() + `</ReactiveFallback>`, "dead",
			"s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, 88 more are never active: each would need that a has failed," +
				" which never happens", "move it before a, or let a end: give it a condition or an outcome", 100},
		{"two causes", `<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="c" on="x lt 1"/><Action name="a"/></ReactiveSequence>
			<ReactiveSequence name="r"><Condition name="d" on="x lt 0"/><Action name="b"/></ReactiveSequence><Action name="e"/><Action name="g"/>
			</ReactiveFallback>`, "dead", "r is never active: b would need that s has failed and that d is true (x < 0), which exclude each other",
			"change one of these, or remove the task", 0},
		{"writers", `<ReactiveParallel name="p">` + writers.String() + `</ReactiveParallel>`, "conflict",
			"any two of b0, b1", "let only one of them be active", 4950},
		{"one beside others", `<ReactiveParallel name="p"><ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="c"/>
			<Action name="a" write="u := 1"/></ReactiveSequence><Action name="b" write="u := 2"/></ReactiveFallback>
			<Action name="e" write="u := 3"/></ReactiveParallel>`, "conflict",
			"e and each of a, b are active together and both use u", "let only one of them be active", 2},
	} {
		_, all := check(t, test.plan, "")
		found := byQuestion(all, test.question)
		f := found[0]
		if f.Verdict != Refuted || !strings.HasPrefix(f.Text, test.text) || !strings.HasPrefix(f.Advice, test.advice) ||
			len(f.Units) != test.units || test.units > 0 && len(found) > 1 {
			t.Errorf("%s: %d findings, %d units: %s; %s", test.name, len(found), len(f.Units), f.Text, f.Advice)
		}
	}
}

// A thousand dead tasks are explained with the work that grows with their number.
func TestManyDeadTasks(t *testing.T) {
	f := family{text: func(n int) string {
		var b strings.Builder
		b.WriteString(`<ReactiveFallback name="f"><Action name="a"/>`)
		for i := range n {
			fmt.Fprintf(&b, `<ReactiveSequence name="s%d"><Condition name="c%d" on="x lt %d"/><Action name="b%d"/></ReactiveSequence>`, i, i, i, i)
		}
		return b.String() + `</ReactiveFallback>`
	}}
	kept := func(n int) int {
		m := NewModel(f.subject(t, n))
		if found := askDead(m); len(found) != 1 || len(found[0].Units) != n {
			t.Errorf("%d tasks: %d findings", n, len(found))
		}
		return len(m.space.nodes)
	}
	if small, large := kept(100), kept(1000); large > 15*small {
		t.Errorf("100 tasks take %d nodes, 1,000 take %d", small, large)
	}
}

// Two tasks that begin and end within one instant both use a slot: that is no settled state, but the second assignment
// undoes the first.
func TestConflictWithinAnInstant(t *testing.T) {
	for _, test := range []struct {
		name, plan string
		verdict    Verdict
		text       string
	}{
		{"both at once", `<ReactiveParallel name="p"><Action name="a" entry="u := 1" done="x ge 1"/><Action name="b" entry="u := 2" done="x ge 1"/>
			</ReactiveParallel>`, Refuted, "a and b are active together and both use u, depending on the plan's memory"},
		{"one after the other", `<ReactiveSequence name="p"><Action name="a" entry="u := 1" done="true"/><Action name="b" entry="u := 2" done="true"/>
			</ReactiveSequence>`, Proved, "no two active tasks use u together"},
		{"one takes over from the other", `<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="c"/>
			<Action name="a" write="u := 1"/></ReactiveSequence><Action name="b" write="u := 2"/></ReactiveFallback>`, Proved,
			"no two active tasks use u together"},
		{"only one", `<ReactiveParallel name="p"><Action name="a" entry="u := 1" _failureIf="x ge 1" done="true"/>
			<Action name="b" entry="u := 2" _failureIf="x lt 1" done="true"/></ReactiveParallel>`, Proved, "no two active tasks use u together"},
	} {
		_, found := check(t, test.plan, "")
		if f := byQuestion(found, "conflict")[0]; f.Verdict != test.verdict || f.Text != test.text {
			t.Errorf("%s: %s %s", test.name, f.Verdict, f.Text)
		}
	}
	_, found := check(t, `<ReactiveSequence name="p"><Action name="a" done="true"/><Action name="b"/></ReactiveSequence>`, "")
	if f := byQuestion(found, "dead")[0]; f.Text != "each of 3 tasks can become active; only within an instant, because they end at once: a" {
		t.Error(f.Text)
	}
}

// What a task assigns on entry is in force while it is active: it is written.
func TestWrittenByEntry(t *testing.T) {
	_, found := check(t, `<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="c"/><Action name="a" entry="u := 1"/>
		</ReactiveSequence><Action name="b" write="u := 2"/></ReactiveFallback>`, "written: [u]")
	if f := byQuestion(found, "command")[0]; f.Verdict != Proved || f.Text != "u is written in every state" {
		t.Errorf("%s %s", f.Verdict, f.Text)
	}
	s, found := check(t, `<Action name="a" entry="u := 1"/>`, "written: [u]")
	if f := byQuestion(found, "command")[0]; f.Verdict != Proved || !slices.Contains(s.Declared.Written, "u") {
		t.Errorf("%s %s", f.Verdict, f.Text)
	}
}

// Facts that contradict each other prove nothing.
func TestContradictoryFacts(t *testing.T) {
	_, found := check(t, `<Action name="a" write="u := 1"/>`, "facts: [x < 0 and x > 1]\nalways: [not a]\ngoal: x > 2\nwritten: [u]\n")
	for _, f := range found {
		if f.Verdict == Proved && f.Question != "reaction" {
			t.Errorf("%s: %s", f.Question, f.Text)
		}
	}
}

// A proof that holds for a poor reason states it.
func TestVacuity(t *testing.T) {
	const plan = `<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="storm"/><Action name="hide"/></ReactiveSequence>
		<Action name="fly"/></ReactiveFallback>`
	for _, test := range []struct{ declared, question, text string }{
		{"always: [storm -> hide]", "always", "holds in every state: storm -> hide"},
		{"facts: [not storm]\nalways: [storm -> fly]", "always", "holds in every state: storm -> fly, because its premise never holds"},
		{"always: [storm -> hide or fly]", "always", "holds in every state: storm -> hide or fly, even where its premise does not hold"},
		{"facts: [not storm]\nproperties: ['always (storm -> fly)']", "property",
			"holds in every state: always (storm -> fly), because its premise never holds"},
		{"properties: ['always (storm -> hide)']", "property", "holds in every state: always (storm -> hide)"},
		{"goal: storm and not storm", "goal", "the plan succeeds only where its goal holds: storm and not storm, because it never succeeds"},
	} {
		_, found := check(t, plan, test.declared)
		if f := byQuestion(found, test.question)[0]; f.Verdict != Proved || f.Text != test.text {
			t.Errorf("%s: %s %s", test.declared, f.Verdict, f.Text)
		}
	}
	_, found := check(t, plan, "goal: storm and not storm")
	if f := byQuestion(found, "goal")[1]; !strings.HasSuffix(f.Text, ", because the goal never holds") {
		t.Error(f.Text)
	}
	_, found = check(t, `<Sequence name="s"><Action name="a" done="false"/><Action name="b"/></Sequence>`, "always: [not b]")
	if f := byQuestion(found, "always")[0]; f.Verdict != Proved || !strings.HasSuffix(f.Text, "the plan never leaves it") {
		t.Error(f.Text)
	}
}

// The cause names which result of another child a script waits for; a task without tasks
// before it is not advised to let them end.
func TestCausesInScripts(t *testing.T) {
	for _, test := range []struct{ plan, text, advice string }{
		{`<TryCatch name="t"><Action name="a" done="x ge 1"/><Action name="clean"/></TryCatch>`,
			"clean is never active: it would need that t comes to clean after a has failed, which never happens",
			"change one of these, or remove the task"},
		{`<ReactiveSequence name="r"><Condition name="c" on="x ge 1"/><Sequence name="s"><Action name="z" done="x lt 1"/>` +
			`<Action name="q"/></Sequence></ReactiveSequence>`,
			"q is never active, found by visiting all", "let the tasks before it end, by `done` or a condition, or remove it"},
	} {
		found := askDead(NewModel(declare.Subject{Plan: readPlan(t, test.plan)}))
		if f := found[0]; !strings.HasPrefix(f.Text, test.text) || f.Advice != test.advice {
			t.Errorf("%s: %s", f.Text, f.Advice)
		}
	}
}

// TestLastStepsShowTasks: a task that only a step into a known state activates can become active.
func TestLastStepsShowTasks(t *testing.T) {
	p, diags := plan.Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="main"><BehaviorTree ID="main">
		<TryCatch name="n1"><IfThenElse name="n2"><SubTree ID="n3"/>
			<WhileDoElse name="n7"><SubTree ID="n3"/><Action name="a8" done="y le 1"/></WhileDoElse></IfThenElse>
			<ForceFailure name="n9"><ReactiveFallback name="n10"><Action name="a11" done="x lt 2 or y gt 1" _failureIf="y gt 1"/>
			</ReactiveFallback></ForceFailure><SubTree ID="n3"/></TryCatch></BehaviorTree>
		<BehaviorTree ID="n3"><AsyncFallback name="n3"><Condition name="c4" on="x ge 1" off="y le 1"/>
			<Condition name="c5" on="y le 2"/><Action name="a6" done="x ge 1" failed="x lt 1" _successIf="y lt 2"/>
		</AsyncFallback></BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(diags)
	}
	for _, f := range Check(declare.Subject{Plan: p}) {
		if f.Question == "dead" && f.Verdict != Proved {
			t.Errorf("%v: %s", f.Verdict, f.Text)
		}
	}
}

// A branch for a value that the queue of a loop does not have is never reached; one for a value that it has is.
func TestLoopValues(t *testing.T) {
	for value, want := range map[string]Verdict{"3": Proved, "4": Refuted} {
		_, all := check(t, `<LoopInt name="l" queue="1;2;3" value="{v}"><Fallback name="f"><Sequence name="s">
			<ScriptCondition name="c" code="v == `+value+`"/><Action name="a"/></Sequence>
			<Action name="b" done="x lt 1"/></Fallback></LoopInt>`, "")
		f := byQuestion(all, "dead")[0]
		if f.Verdict != want || want == Refuted && !strings.HasPrefix(f.Text, "s is never active") {
			t.Errorf("%s: %v: %s", value, f.Verdict, f.Text)
		}
	}
}

// A signal that nothing declares may have the value with which a condition compares it.
func TestUndeclaredSignalsHaveAnyValue(t *testing.T) {
	for _, text := range []string{
		`<Fallback><Sequence><Condition name="c" on="v == 1"/><a/></Sequence><b/></Fallback>`,
		`<Fallback><Sequence><Condition name="c" on="v == w"/><a/></Sequence><b/></Fallback>`,
		`<Fallback><Sequence><Condition name="c" on="armed == (if(d, x, y) gt 1)"/><a/></Sequence><b/></Fallback>`,
		`<Switch2 variable="{v}" case_1="survey" case_2="2"><a/><b/><c/></Switch2>`,
		`<ManualSelector choice="k"><a/><b/><c/></ManualSelector>`,
	} {
		_, found := check(t, text, "")
		if f := byQuestion(found, "dead")[0]; f.Verdict != Proved {
			t.Errorf("%s: %s %s", text, f.Verdict, f.Text)
		}
	}
}

// The tasks of an instant without end are a list in the language of the messages.
func TestUnsettledTasksAreListed(t *testing.T) {
	_, found := check(t, `<Sequence name="s"><Script name="i" code="n := 0"/>
		<Repeat name="r" num_cycles="-1"><Script name="x" code="n += 1"/></Repeat></Sequence>`, "")
	if f := byQuestion(found, "complete")[0]; !strings.HasSuffix(f.Text, "become active again and again: i, x, r, s") {
		t.Error(f.Text)
	}
}
