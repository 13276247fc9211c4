package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/expr"
)

func readPlan(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, list := plan.Read(&diag.Source{Name: "plan.xml",
		Text: `<root BTCPP_format="4"><BehaviorTree ID="plan">` + text + `</BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// check reads a plan with declarations and asks all questions.
func check(t *testing.T, text, declared string) (declare.Subject, []Finding) {
	t.Helper()
	s := subjectOf(t, text, declared)
	return s, Check(s)
}

// subjectOf reads a plan with declarations.
func subjectOf(t *testing.T, text, declared string) declare.Subject {
	t.Helper()
	s := declare.Subject{Plan: readPlan(t, text)}
	if declared != "" {
		d, list := declare.ReadFile(&diag.Source{Name: "facts.yaml", Text: declared}, s.Plan)
		if list.HasErrors() {
			t.Fatal(list)
		}
		s.Declared = d
	}
	return s
}

// played returns the engine after a script.
func played(t *testing.T, tree *bt.Tree, text string) *bt.Engine {
	t.Helper()
	start, lines, list := script.Parse(tree, &diag.Source{Name: "script.txt", Text: text})
	if len(list) > 0 {
		t.Fatalf("%v\n%s", list, text)
	}
	e := bt.NewEngine(tree, start, 0)
	_, err := e.Settle(nil)
	for _, line := range lines {
		_, failed := e.Settle(line.Inputs)
		err = errors.Join(err, failed)
	}
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return e
}

// finals returns each task's status after a script.
func finals(t *testing.T, tree *bt.Tree, text string) map[string]bt.Status {
	t.Helper()
	e, status := played(t, tree, text), map[string]bt.Status{}
	for i := range bt.Task(tree.Len()) {
		status[tree.Name(i)] = e.Status(i)
	}
	return status
}

// TestMarsRover: the rover of O. Biggar and M. Zamani, A Framework for Formal Verification of Behavior Trees with Linear
// Temporal Logic, 2020. It is to shelter whenever power is low or a storm comes, never to unfold its panels in a storm.
// With the power first, low power in a storm unfolds them; with the storm first it is proved that nothing does.
func TestMarsRover(t *testing.T) {
	storm := `<ReactiveSequence name="weather"><Condition name="storm"/><Action name="hibernate" write="panels := 0"/></ReactiveSequence>`
	power := `<ReactiveSequence name="energy"><Condition name="low_power"/><Action name="unfold_panels" write="panels := 1"/></ReactiveSequence>`
	for _, test := range []struct {
		name, first, second string
		want                Verdict
		where               string
	}{
		{"power first", power, storm, Refuted, "low_power and storm"},
		{"storm first", storm, power, Proved, ""},
	} {
		_, found := check(t, `<ReactiveFallback name="rover">`+test.first+test.second+
			`<Action name="explore"/></ReactiveFallback>`, "always: [storm -> not unfold_panels]")
		f := byQuestion(found, "always")[0]
		if f.Verdict != test.want || strings.Join(f.Where, "; ") != test.where {
			t.Errorf("%s: %s %q, want %s %q", test.name, f.Verdict, f.Where, test.want, test.where)
		}
	}
}

// TestDoor: the And-Or tree of the 2016 paper's example 1 (figures 5 and 6). A plan of conditions succeeds exactly where
// one of the tree's three solutions holds.
func TestDoor(t *testing.T) {
	door := `<ReactiveFallback name="enter"><Condition name="open_without_keys"/><ReactiveSequence name="with_keys">` +
		`<Condition name="keys_open"/><ReactiveFallback name="find"><Condition name="on_table"/>` +
		`<Condition name="in_drawer"/></ReactiveFallback></ReactiveSequence></ReactiveFallback>`
	_, found := check(t, door, "goal: open_without_keys or keys_open and on_table or keys_open and in_drawer")
	for _, f := range byQuestion(found, "goal") {
		if f.Verdict != Proved {
			t.Errorf("%s: %s %q", f.Verdict, f.Text, f.Where)
		}
	}
	_, found = check(t, door, "goal: open_without_keys or keys_open and on_table")
	f := byQuestion(found, "goal")[0]
	if want := []string{"not open_without_keys and keys_open and not on_table and in_drawer"}; !slices.Equal(f.Where, want) {
		t.Errorf("without the third solution: %q, want %q", f.Where, want)
	}
	if want := "set keys_open true; set in_drawer true\n"; f.Script != want {
		t.Errorf("script %q, want %q", f.Script, want)
	}
}

// TestQuestionsAreDeclared: notes may name exactly the questions that are asked.
func TestQuestionsAreDeclared(t *testing.T) {
	var names []string
	for _, q := range Questions() {
		names = append(names, q.Name)
	}
	if want := declare.Questions(); !slices.Equal(names, want) {
		t.Errorf("asked are %q, notes may name %q", names, want)
	}
}

func TestFindings(t *testing.T) {
	for _, test := range []struct {
		name, plan, declared, question string
		verdict                        Verdict
		text                           string
		where                          []string
	}{
		{"a gap between limits", `<ReactiveFallback name="p">
			<ReactiveSequence name="full"><Condition name="f" on="soc ge 0.98"/><Action name="climb"/></ReactiveSequence>
			<ReactiveSequence name="empty"><Condition name="e" on="soc lt 0.2"/><Action name="sink"/></ReactiveSequence>
			<ReactiveSequence name="rest"><Condition name="low" on="h lt 13 [km]"/><Action name="hold"/></ReactiveSequence>
			</ReactiveFallback>`, "", "complete", Refuted, "no action is active, and the plan has not succeeded",
			[]string{"soc in [0.2, 0.98) and h >= 13000"}},
		{"an action behind one that never ends", `<ReactiveFallback name="p"><Action name="a"/><Action name="b"/></ReactiveFallback>`,
			"", "dead", Refuted, "b is never active: it would need that a has failed, which never happens", nil},
		{"conditions that exclude each other", `<ReactiveSequence name="p"><Condition name="cold" on="T lt 260 [K]"/>
			<ReactiveFallback name="q"><Condition name="mild" on="T lt 290 [K]"/><Action name="cool"/></ReactiveFallback></ReactiveSequence>`,
			"", "dead", Refuted, "p is never active: cool would need that cold is true (T < 260 [K]) and that mild is false (T < 290 [K]), which exclude each other", nil},
		{"a fact", `<ReactiveFallback name="p"><Condition name="storm"/><ReactiveSequence name="q"><Condition name="sun"/><Action name="a"/>
			</ReactiveSequence><Action name="b"/></ReactiveFallback>`, "facts: [not storm -> not sun]", "dead", Refuted,
			"q is never active: a would need that the fact `not storm -> not sun` holds, that storm is false and that sun is true, which exclude each other", nil},
		{"latches on one signal", `<ReactiveFallback name="p"><Condition name="wide" on="x ge 2" off="x lt 0"/>
			<ReactiveSequence name="q"><Condition name="narrow" on="x ge 3" off="x lt 1"/><Action name="a"/></ReactiveSequence>
			<Action name="b"/></ReactiveFallback>`, "", "dead", Refuted, "", nil},
	} {
		s, found := check(t, test.plan, test.declared)
		f := byQuestion(found, test.question)[0]
		if f.Verdict != test.verdict || test.text != "" && f.Text != test.text || !slices.Equal(f.Where, test.where) {
			t.Errorf("%s: %s %q %q", test.name, f.Verdict, f.Text, f.Where)
		}
		if f.Source != s.Plan.Source {
			t.Errorf("%s: no place", test.name)
		}
	}
}

// TestProceduresThatTakeTime: findings that hold only because procedures take time.
func TestProceduresThatTakeTime(t *testing.T) {
	for _, test := range []struct{ name, plan, question, text, script string }{
		{"an exit procedure that writes", `<ReactiveParallel name="both"><ReactiveFallback name="f"><ReactiveSequence name="s">
				<Condition name="c"/><Action name="a" exit="u := 2" exit_time="5 [s]"/></ReactiveSequence><Action name="b"/></ReactiveFallback>
			<ReactiveFallback name="g"><Condition name="d"/><Action name="e" write="u := 1"/></ReactiveFallback></ReactiveParallel>`,
			"conflict", "a and e both use u, because procedures take time", "slow a exit; set c true\nset c false\n"},
		{"two exit procedures that write", `<ReactiveSequence name="s"><Condition name="c"/><ReactiveParallel name="both">
				<Action name="a" exit="u := 1" exit_time="5 [s]"/><Action name="b" exit="u := 2" exit_time="5 [s]"/></ReactiveParallel></ReactiveSequence>`,
			"conflict", "a and b both use u, because procedures take time", "slow a exit; slow b exit; set c true\nset c false\n"},
		{"a plan that ended while a procedure was under way", `<ReactiveFallback name="f"><Condition name="c" on="x ge 1"/>
				<Action name="a" exit_time="5 [s]"/></ReactiveFallback>`,
			"goal", "the plan succeeds where its goal does not hold: x >= 1, because procedures take time",
			"slow a exit\nset c true\nset c false; exited a\n"},
	} {
		s, found := check(t, test.plan, "goal: x >= 1")
		f := byQuestion(found, test.question)[0]
		if f.Verdict != Refuted || f.Text != test.text || f.Script != test.script {
			t.Errorf("%s: %s %s\n%s", test.name, f.Verdict, f.Text, f.Script)
		}
		finals(t, s.Plan.Tree, f.Script)
	}
}

// TestSearchGoesToTheEnd: a plan that remembers is searched to the end, also where procedures take time.
func TestSearchGoesToTheEnd(t *testing.T) {
	never := func(view) bool { return false }
	for _, attribute := range []string{"", ` exit_time="1 [s]"`} {
		m := NewModel(declare.Subject{Plan: readPlan(t, `<Sequence name="s"><Action name="a" done="x ge 1"`+attribute+
			`/><Action name="b"/></Sequence>`)})
		if c := m.search(never); c.verdict != Proved {
			t.Errorf("%q: %s %s %s", attribute, c.verdict, c.how, c.why)
		}
	}
	m := NewModel(declare.Subject{Plan: readPlan(t, `<Parallel success_count="9" name="p">`+
		strings.Repeat(`<Action done="x ge 1" entry_time="1 [s]"/>`, 9)+`</Parallel>`)})
	if c := m.search(never); c.verdict != Proved {
		t.Errorf("nine procedures: %s %s", c.verdict, c.why)
	}
}

// A script has no way to spell some names; then there is none.
func TestNamesThatScriptsCannotSpell(t *testing.T) {
	for _, test := range []struct{ name, want string }{{"wind up", "set wind up true\n"}, {"wind; up", ""}, {"wind #1", ""}} {
		_, found := check(t, `<ReactiveSequence name="s"><Inverter><Condition name="`+test.name+`"/></Inverter><Action name="a"/>`+
			`</ReactiveSequence>`, "")
		if f := byQuestion(found, "complete")[0]; f.Verdict != Refuted || f.Script != test.want {
			t.Errorf("%s: %s, script %q", test.name, f.Verdict, f.Script)
		}
	}
}

// TestScripts: a committed branch stays, a child is run again up to the limit, and a result is kept.
func TestScripts(t *testing.T) {
	branch := `<IfThenElse name="i"><Condition name="c" on="x ge 1"/><Action name="a"/><Action name="b"/></IfThenElse>`
	for _, test := range []struct {
		name, plan, declared, question string
		verdict                        Verdict
		script                         string
	}{
		{"one branch runs", branch, "", "complete", Proved, ""},
		{"not both", branch, "always: [not (a and b)]", "always", Proved, ""},
		{"the branch stays", branch, "always: [c -> not b]", "always", Refuted, "set c true\n"},
		{"a condition that never holds", branch, "facts: [x < 1]", "dead", Refuted, ""},
		{"runs end", `<RetryUntilSuccessful num_attempts="3" name="r"><Action name="a" failed="x ge 1"/></RetryUntilSuccessful>`,
			"", "complete", Refuted, "end a failure\nend a failure\nend a failure\n"},
		{"runs that never end", `<Repeat num_cycles="-1" name="r"><Action name="a" failed="x ge 1"/></Repeat>`,
			"facts: [x < 1]", "complete", Proved, ""},
		{"a script that waits", `<Repeat num_cycles="-1" name="r"><Condition name="c"/></Repeat>`, "", "complete", Refuted,
			"set c true\n"},
		{"a result is kept", `<ReactiveSequence name="s"><RunOnce then_skip="false" name="o"><Action name="a" done="x ge 1"/>
			</RunOnce><Action name="b"/></ReactiveSequence>`, "always: [x < 1 -> not b]", "always", Refuted, "end a success\n"},
		{"it is the result of a run", `<ReactiveSequence name="s"><RunOnce then_skip="false" name="o">
			<Action name="a" failed="x ge 1"/></RunOnce><Action name="b"/></ReactiveSequence>`, "", "dead", Refuted, ""},
		{"time passes", `<Delay delay_msec="100" name="d"><Action name="a"/></Delay>`, "", "complete", Proved, ""},
		{"a plan sleeps", `<Sequence name="q"><Sleep msec="100" name="s"/><Sleep msec="100" name="t"/></Sequence>`, "",
			"complete", Proved, ""},
		{"time passes before a gap", `<Sequence name="q"><Sleep msec="100" name="s"/><Condition name="c"/></Sequence>`, "",
			"complete", Refuted, "elapsed s\n"},
		{"a time limit does not wait", `<Timeout msec="100" name="t"><Repeat num_cycles="-1" name="r"><Condition name="c"/>
			</Repeat></Timeout>`, "facts: [c]", "complete", Refuted, "set c true\n"},
		{"after some time", `<Delay delay_msec="100" name="d"><Action name="a"/></Delay>`, "always: [not a]", "always", Refuted,
			"elapsed d\n"},
		{"the time is over", `<Fallback name="f"><Timeout msec="100" name="t"><Action name="a"/></Timeout><Action name="b"/>
			</Fallback>`, "always: [not b]", "always", Refuted, "elapsed t\n"},
		{"one before and one after", `<Fallback name="f"><Timeout msec="100" name="t"><Action name="a"/></Timeout>
			<Action name="b"/></Fallback>`, "", "complete", Proved, ""},
	} {
		s, found := check(t, test.plan, test.declared)
		f := byQuestion(found, test.question)[0]
		if f.Verdict != test.verdict || f.Script != test.script {
			t.Errorf("%s: %s %s\n%s", test.name, f.Verdict, f.Text, f.Script)
		}
		finals(t, s.Plan.Tree, f.Script)
	}
}

// TestOrderOfTimers: the lengths of timers that run together exclude orders.
func TestOrderOfTimers(t *testing.T) {
	_, found := check(t, `<ReactiveParallel name="p"><Delay delay_msec="100" name="d"><Action name="a"/></Delay>
		<Delay delay_msec="200" name="e"><Action name="b"/></Delay></ReactiveParallel>`, "always: [not b, b -> a, a -> b]")
	for i, want := range []Verdict{Refuted, Proved, Refuted} {
		if f := byQuestion(found, "always")[i]; f.Verdict != want {
			t.Errorf("%s: %s", f.Verdict, f.Text)
		}
	}
}

// A verdict that nothing has set is no answer.
func TestNoVerdictIsUndecided(t *testing.T) {
	if (Finding{}).Verdict != Undecided || (Comparison{}).Verdict != Undecided || (counterexample{}).verdict != Undecided ||
		(outcome{}).verdict != Undecided {
		t.Error("the zero value of a verdict is an answer")
	}
	for v, word := range map[Verdict]string{Undecided: "not proved", Proved: "proved", Refuted: "refuted", NotAsked: "not asked"} {
		if v.String() != word {
			t.Errorf("%s is written %s", word, v)
		}
	}
}

// A command whose only writer is never active, although the sets of states allow that, is written by no task.
func TestWritersThatAreNeverActive(t *testing.T) {
	s := declare.Subject{Commands: []string{"u"}, Plan: readPlan(t, `<ReactiveParallel success_count="-2" failure_count="2">
		<Fallback><Condition name="c3" on="x le 2 or y le 2"/><Condition name="c4" on="x le 1 and x ge 2" off="y lt 2"/>
			<Condition name="c5" on="x le 2" off="x lt 2"/></Fallback>
		<Action name="a" done="y lt 1" failed="x le 1" _failureIf="y gt 1" write="u := 2"/></ReactiveParallel>`)}
	parts, err := expr.ParseStatement("x ge 1 or y ge 1")
	if err != nil {
		t.Fatal(err)
	}
	s.Declared.Facts = []declare.Statement{{Text: "x ge 1 or y ge 1", Parts: parts}}
	for _, f := range Check(s) {
		if f.Question == "command" && f.Verdict != Refuted {
			t.Errorf("%s: %s", f.Verdict, f.Text)
		}
	}
}

// TestSignalBesideEntries: in a plan without a mission, a discrete signal that a condition compares belongs to the world,
// also if the plan has entries of its own.
func TestSignalBesideEntries(t *testing.T) {
	_, found := check(t, `<Sequence><Script code="n := 1"/><ReactiveSequence><Condition name="c" on="mode == 1"/>
		<Action name="a"/></ReactiveSequence></Sequence>`, "always: [not a]")
	verdicts := map[string]Verdict{}
	for _, f := range found {
		verdicts[f.Question+f.About] = f.Verdict
	}
	if verdicts["complete"] != Refuted || verdicts["alwaysnot a"] != Refuted {
		t.Errorf("%v", verdicts)
	}
}

// TestSkipping: sequences and parallels pass over a task that is skipped, which is neither success nor failure; a skipped
// root holds that.
func TestSkipping(t *testing.T) {
	for _, c := range []struct{ name, plan, facts, question, want string }{
		{"a task comes after it", `<Sequence><RunOnce name="o"><Action name="a" done="x ge 1"/></RunOnce><Action name="b"/>
			</Sequence>`, "always: [not (a and b)]", "dead", "each of 4 tasks can become active"},
		{"what runs once comes before", `<ReactiveSequence><RunOnce name="o"><Action name="a" done="x ge 1"/></RunOnce>
			<Condition name="c" on="y ge 1"/><Action name="b"/></ReactiveSequence>`, "always: [not (a and b)]", "always",
			"holds in every state: not (a and b)"},
		{"it is no success", `<KeepRunningUntilFailure><Fallback><RunOnce name="o"><Action name="a" done="x ge 1"/></RunOnce>
			<Action name="b"/></Fallback></KeepRunningUntilFailure>`, "always: [not b]", "always", "does not hold in every state: not b"},
		{"a skipped root", `<RunOnce name="o"><Action name="a" done="x ge 1" _successIf="x ge 2"/></RunOnce>`, "goal: x >= 1",
			"goal", "the plan does not succeed where its goal holds: x >= 1"},
		{"all children", `<ReactiveParallel name="p" success_count="1" failure_count="1"><RunOnce name="o"><Action name="a" done="x ge 1"/>
			</RunOnce></ReactiveParallel>`, "", "complete", "no action is active, and the plan has not succeeded"},
	} {
		_, found := check(t, c.plan, c.facts)
		if f := byQuestion(found, c.question); len(f) == 0 || !strings.HasPrefix(f[len(f)-1].Text, c.want) {
			t.Errorf("%s: %+v", c.name, f)
		}
		for _, f := range found {
			if f.Verdict == Undecided {
				t.Errorf("%s: %s: %s", c.name, f.Question, f.Text)
			}
		}
	}
}

// TestLasting: a condition that lasts until a task has ended stays true without its expression, and is false as soon as
// that task has ended, which counts as a reaction to the same input.
func TestLasting(t *testing.T) {
	const text = `<ReactiveFallback><ReactiveSequence name="s"><Condition name="c" on="x ge 1"%s/><Action name="a" done="x ge 2"/>
		<AlwaysFailure/></ReactiveSequence><Action name="b"/></ReactiveFallback>`
	lasting := fmt.Sprintf(text, ` until="a"`)
	_, found := check(t, lasting, `always: ["c -> x >= 1", a -> c]`)
	answers := byQuestion(found, "always")
	if answers[0].Verdict != Refuted || answers[1].Verdict != Proved {
		t.Errorf("%+v", answers)
	}
	if f := byQuestion(found, "reaction")[0]; f.Verdict != Proved || !strings.Contains(f.Text, "and 9 status changes; a flight takes up to 1 more,") {
		t.Errorf("%+v", f)
	}
	subject := func(text string) declare.Subject { return declare.Subject{Plan: readPlan(t, text)} }
	if c := compared(subject(lasting), subject(fmt.Sprintf(text, "")), endless); c.Verdict != Refuted {
		t.Errorf("%s: %s", c.Verdict, c.Text)
	}
}

// TestHaltedScriptsAreAnswered: what `_onHalted` assigns when a task is halted decides what can follow, and `_post` does
// not; the assignments themselves are no tasks that could be active.
func TestHaltedScriptsAreAnswered(t *testing.T) {
	plan := `<Sequence name="all"><Script name="begin" code="stops := 0"/><ReactiveFallback name="whole">` +
		`<Action name="look" _while="h lt 100" _onHalted="stops := %s" _post="stops += 1"/>` +
		`<ReactiveSequence name="rest"><ScriptCondition name="stopped" code="stops == 2"/><Action name="cool"/>` +
		`</ReactiveSequence><Action name="wait"/></ReactiveFallback></Sequence>`
	for stops, dead := range map[string]string{"1": "look._post.do rest", "2": "look._post.do"} {
		s, all := check(t, fmt.Sprintf(plan, stops), `always: ["cool -> h ge 100"]`)
		var never []string
		for _, f := range all {
			if f.Verdict == Undecided {
				t.Errorf("%s: %s", f.Question, f.Text)
			}
			for _, task := range f.Tasks {
				if f.Question == "dead" && f.Verdict == Refuted {
					never = append(never, s.Plan.Tree.Name(task))
				}
			}
		}
		slices.Sort(never)
		if got := strings.Join(never, " "); got != dead {
			t.Errorf("with %s these are never active: %s, not %s", stops, got, dead)
		}
	}
}

// TestGuardsInOppositeOrder: tasks that take two resources in opposite orders are found to wait for each other, for ever
// unless something else ends one of them; in the same order they never do.
func TestGuardsInOppositeOrder(t *testing.T) {
	branch := func(name, first, second string) string {
		return fmt.Sprintf(`<Guard name="%s" resource="%s"><Sequence name="%s_all"><Action name="%s_first" done="x ge %d"/>`+
			`<Guard name="%s_then" resource="%s"><Action name="%s_last" done="y ge 1"/></Guard></Sequence></Guard>`,
			name, first, name, name, 1+len(name)%2, name, second, name)
	}
	for _, test := range []struct{ plan, want string }{
		{`<Parallel name="both">` + branch("film", "camera", "radio") + branch("talk", "camera", "radio") + `</Parallel>`,
			"proved: no tasks wait for resources that each other's guards have, by visiting all 5 states that the engine can" +
				" reach"},
		{`<Parallel name="both">` + branch("film", "camera", "radio") + branch("call", "radio", "camera") + `</Parallel>`,
			"refuted: film_then waits for radio, which call has; call_then waits for camera, which film has; for ever"},
		{`<ReactiveSequence name="day"><Condition name="light" on="h ge 1"/><Parallel name="both">` +
			branch("film", "camera", "radio") + branch("call", "radio", "camera") + `</Parallel></ReactiveSequence>`,
			"refuted: film_then waits for radio, which call has; call_then waits for camera, which film has; " +
				"other tasks or signals may end this"},
		{`<Parallel name="three">` + branch("film", "camera", "radio") + branch("call", "radio", "lamp") +
			branch("look", "lamp", "camera") + `</Parallel>`,
			"refuted: film_then waits for radio, which call has; call_then waits for lamp, which look has; " +
				"look_then waits for camera, which film has; for ever"},
	} {
		s, all := check(t, test.plan, "")
		found := byQuestion(all, "dead")
		f := found[len(found)-1]
		if got := f.Verdict.String() + ": " + f.Text; got != test.want {
			t.Errorf("%s, not %s", got, test.want)
		}
		if f.Verdict != Refuted {
			continue
		}
		if status := finals(t, s.Plan.Tree, f.Script); status["film_then"] != bt.Running || status["film_last"] != bt.Accept ||
			status["call"] != bt.Running {
			t.Errorf("the script ends with %v", status)
		}
	}
}

// TestAlwaysInProcedures: what must always hold must hold while a procedure is under way, too, as in a run.
func TestAlwaysInProcedures(t *testing.T) {
	for procedure, want := range map[string]Verdict{`entry_time="2 [s]"`: Refuted, "": Proved} {
		_, found := check(t, `<Sequence name="s"><Action name="a" `+procedure+` done="true"/><Action name="b"/></Sequence>`,
			"always: [not a]")
		if f := byQuestion(found, "always")[0]; f.Verdict != want {
			t.Errorf("%s: %s %s", procedure, f.Word(), f.Text)
		}
	}
}
