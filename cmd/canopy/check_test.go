package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"canopy/analysis/verify"
	"canopy/diag"
	"canopy/document/declare"
	"canopy/document/plan"
)

// refuted returns the questions that a check answers with no, once each.
func refuted(t *testing.T, stdout string) []string {
	t.Helper()
	var found []object
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	var names []string
	for _, f := range found {
		if f.Verdict == "refuted" && f.Accepted == "" {
			names = append(names, f.Question)
		}
		if f.Line < 1 || f.Column < 1 || f.File == "" {
			t.Errorf("no place: %+v", f)
		}
	}
	return slices.Compact(names)
}

// patch applies a block of changed lines, which are compared without their blanks at both ends: a line of context is
// searched for from the last one on, lines with - must follow and are taken out, lines with + are put in.
func patch(t *testing.T, text, block string) string {
	t.Helper()
	lines, at := strings.Split(text, "\n"), 0
	for change := range strings.Lines(block) {
		change = strings.TrimRight(change, "\n")
		body := strings.TrimSpace(change[1:])
		if change[0] == '+' {
			lines = slices.Insert(lines, at, change[1:])
			at++
			continue
		}
		for at < len(lines) && strings.TrimSpace(lines[at]) != body {
			at++
		}
		if at == len(lines) {
			t.Fatalf("the plan has no line %q here", body)
		}
		if change[0] == '-' {
			lines = slices.Delete(lines, at, at+1)
		} else {
			at++
		}
	}
	return strings.Join(lines, "\n")
}

// The example's five faults are found, and each change of its text takes one away.
func TestProvingExample(t *testing.T) {
	const folder = "../../examples/12-proving/"
	plan, err := os.ReadFile(folder + "plan.xml")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(folder + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```diff\n")
	if len(blocks) != 6 {
		t.Fatalf("%d changes", len(blocks)-1)
	}
	text, left := string(plan), []string{"complete", "dead", "goal", "conflict", "chatter"}
	for i := 0; ; i++ {
		dir := write(t, map[string]string{"plan.xml": text})
		name, scripts := filepath.Join(dir, "plan.xml"), filepath.Join(dir, "scripts")
		stdout, stderr, status := canopy("check", name, "--facts", folder+"facts.yaml", "--json", "--scripts", scripts)
		want := exitRefute
		if len(left) == 0 {
			want = exitOK
		}
		if got := refuted(t, stdout); status != want || !slices.Equal(got, left) {
			t.Errorf("after %d changes: status %d, refuted %v, want %v\n%s", i, status, got, left, stderr)
		}
		if files, _ := filepath.Glob(filepath.Join(scripts, "*.txt")); (len(files) > 1) != (len(left) > 0) { // one shows the longest reaction
			t.Errorf("after %d changes: scripts %v", i, files)
		} else {
			for _, f := range files {
				if _, stderr, status := canopy("trace", name, f); status != exitOK {
					t.Errorf("%s: status %d, %s", f, status, stderr)
				}
			}
		}
		if len(left) == 0 {
			break
		}
		block, _, _ := strings.Cut(blocks[i+1], "```")
		text, left = patch(t, text, block), left[1:]
	}
	// The lines that the page cites are said.
	stdout, _, _ := canopy("check", folder+"plan.xml", "--facts", folder+"facts.yaml")
	flat := strings.Join(strings.Fields(string(readme)), " ")
	for _, line := range []string{"covered < 1 and soc >= 0.3 and h < 400 and distance >= 50", "covered >= 1 and home > 50",
		"climb_away and each of go_home, photograph are active together and both use h_cmd", "go_home and photograph take turns on soc at 0.3"} {
		if !strings.Contains(flat, line) || !strings.Contains(stdout, line) {
			t.Errorf("the page or the command does not say %q", line)
		}
	}
}

// Every mission that ships is proved, or gives the reason why a finding is accepted.
func TestShippedMissionsAreProved(t *testing.T) {
	files, err := filepath.Glob("../../missions/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\nplan:") {
			continue // a vehicle, or a state graph
		}
		if checked++; testing.Short() && (strings.Contains(f, "copter") || strings.Contains(f, "plane")) {
			continue // three seconds each
		}
		stdout, stderr, status := canopy("check", f)
		if status != exitOK || stderr != "" || strings.Contains(stdout, "unknown ") {
			t.Errorf("%s: status %d, %s%s", f, status, stdout, stderr)
		}
	}
	if checked < 6 {
		t.Errorf("only %d missions were checked", checked)
	}
}

func TestCheck(t *testing.T) {
	dir := write(t, map[string]string{
		"gap.xml":    `<root BTCPP_format="4"><BehaviorTree ID="a"><ReactiveSequence name="s"><Condition name="c"/><Action name="a"/></ReactiveSequence></BehaviorTree></root>`,
		"accept.yml": "# canopy: accept complete: the aircraft waits on ground\ngoal: c\n# canopy: accept goal: never mind\n",
		"stale.yml":  "facts: [c]\n# canopy: accept complete: no longer so\n",
		"goals.yml":  "facts: [c]\ngoal: c\nproperties:\n  - never c\n  - never both(c, not c)\n",
		"bad.yml":    "facts: [c > 1, x and, sky]\nfre: [a]\nfree: [aa]\neffects: {a: {soc: sideways}}\n# canopy: accept compleet: x\n# canopy: accept dead\n",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	sarif := at("out.sarif")
	stdout, stderr, status := canopy("check", at("gap.xml"), "--sarif", sarif)
	const free = "canopy: nothing defines these leaves, so all their answers are tried: c\n"
	if status != exitRefute || stderr != free {
		t.Errorf("status %d, %s", status, stderr)
	}
	says(t, "a gap", stdout, "1 refuted", "REFUTED    complete", "not c", "goal (a `goal`), reach")
	text, err := os.ReadFile(sarif)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Locations []struct {
					PhysicalLocation struct {
						Region struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, r := range log.Runs[0].Results {
		if log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || (r.RuleID == "complete") != (r.Level == "error") ||
			r.Locations[0].PhysicalLocation.Region.StartLine != 1 {
			t.Errorf("%+v", r)
		}
	}
	stdout, stderr, status = canopy("check", at("gap.xml"), "--facts", at("accept.yml"))
	if status != exitOK || stderr != free {
		t.Errorf("status %d, %s", status, stderr)
	}
	says(t, "accepted", stdout, "accepted   complete", "the aircraft waits on ground", "never mind")
	stdout, _, status = canopy("check", at("gap.xml"), "--facts", at("stale.yml"))
	if status != exitOK {
		t.Errorf("status %d", status)
	}
	says(t, "a note that has no effect", stdout, "1 not concluded", "has no effect")
	stdout, _, status = canopy("check", at("gap.xml"), "--facts", at("goals.yml"))
	if status != exitRefute {
		t.Errorf("status %d", status)
	}
	says(t, "what each finding is about", stdout, "at          "+at("goals.yml")+":2:7\n", "at          "+at("goals.yml")+":4:5\n")
	stdout, stderr, status = canopy("check", at("gap.xml"), "--facts", at("bad.yml"))
	if status != exitInput || stdout != "" {
		t.Errorf("status %d, %s", status, stdout)
	}
	says(t, "all mistakes", stderr, "[syntax]", `"sky"`, `"fre"`, `"aa"`, "up, down, or", `did you mean "complete"?`, "[missing-reason]")
	for _, args := range [][]string{{}, {"none.xml"}, {at("gap.xml"), "--facts", "none.yml"}, {solarDay, "--facts", at("bad.yml")}} {
		if stdout, stderr, status := canopy(append([]string{"check"}, args...)...); status != exitInput || stdout != "" || stderr == "" {
			t.Errorf("%v: status %d, %s", args, status, stdout)
		}
	}
}

// A proof that rests on an assumption that no run checks is shown as such, and counts as unknown with --strict; one that
// rests on declarations, which runs watch, is a proof.
func TestCheckAssumptions(t *testing.T) {
	watched := verify.Finding{Question: "always", Verdict: verify.Proved, Assumes: []verify.Assumption{verify.FactsHold},
		Text: "a"}
	open := verify.Finding{Question: "always", Verdict: verify.Proved,
		Assumes: []verify.Assumption{verify.FactsHold, verify.NoDelay}, Text: "b"}
	for i := range 2 {
		f := []*verify.Finding{&watched, &open}[i]
		f.Source = &diag.Source{Name: "f", Text: "a: b"}
	}
	all := []verify.Finding{watched, open}
	var out strings.Builder
	if err := printFindings(&out, declare.Subject{Plan: &plan.Plan{}}, "f", all, nil); err != nil {
		t.Fatal(err)
	}
	says(t, "the table", out.String(), "f: 1 proved, 0 refuted, 1 proved under an assumption\n", "proved     always      a\n",
		"proved if  always      b\n           if          procedures take no time\n",
		"assumed                the declared facts hold; each run of the mission checks this\n")
	text, err := verify.SARIF(all, nil, "0")
	if err != nil {
		t.Fatal(err)
	}
	says(t, "SARIF", string(text), "b, if procedures take no time", `"if": "the declared facts hold"`, `"kind": "open"`)
	for _, test := range []struct {
		found           []verify.Finding
		plain, asStrict bool
	}{
		{all[:1], true, true},
		{all[1:], true, false},
		{[]verify.Finding{{}}, true, false}, // a finding without a verdict is no answer
		{[]verify.Finding{{Verdict: verify.Undecided}}, true, false},
		{[]verify.Finding{{Verdict: verify.Undecided, Accepted: "x"}}, true, true},
		{[]verify.Finding{{Verdict: verify.Refuted}}, false, false},
	} {
		if passes(test.found, false) != test.plain || passes(test.found, true) != test.asStrict {
			t.Errorf("%+v", test.found)
		}
	}
}

// A conflict is decided by the check, which therefore does not repeat the warning that there may be one.
func TestCheckDecidesConflicts(t *testing.T) {
	writers := func(a, b string) string {
		return `<root BTCPP_format="4"><BehaviorTree><ReactiveParallel name="p"><Action name="a" write="u := 1" _failureIf="` + a +
			`"/><Action name="b" write="u := 2" _failureIf="` + b + `"/></ReactiveParallel></BehaviorTree></root>`
	}
	dir := write(t, map[string]string{"apart.xml": writers("x ge 1", "x lt 1"), "together.xml": writers("x ge 1", "x lt 0")})
	for name, wants := range map[string]string{"apart.xml": "proved     conflict", "together.xml": "REFUTED    conflict"} {
		stdout, stderr, _ := canopy("check", filepath.Join(dir, name))
		if stderr != "" {
			t.Errorf("%s: %s", name, stderr)
		}
		says(t, name, stdout, wants)
		_, stderr, _ = canopy("show", filepath.Join(dir, name))
		says(t, name, stderr, "may be active at the same time [write-conflict]", "`canopy check` decides")
	}
}

// A conflict names the pairs that meet, and no pair that only the abstraction allows: no task writes m, so c never runs.
func TestCheckNamesPairsThatMeet(t *testing.T) {
	dir := write(t, map[string]string{
		"p.yaml": "mission: p\nplan: p.xml\nvehicle: circuit\nhorizon: 10 [s]\nsignals: {u: {default: 0}, m: {default: 0}}\n",
		"p.xml": `<root BTCPP_format="4"><BehaviorTree><ReactiveParallel name="p"><Action name="a" write="u := 1"/><Action name="b" write="u := 2"/>
<ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="k" on="m ge 1"/><Action name="c" write="u := 3"/></ReactiveSequence>
<Action name="d"/></ReactiveFallback></ReactiveParallel></BehaviorTree></root>`})
	stdout, _, _ := canopy("check", filepath.Join(dir, "p.yaml"))
	says(t, "check", stdout, "a and b are active together and both use u")
}

// A note accepts what it states, and nothing worse; the note that the check proposes is such a note.
func TestCheckNotes(t *testing.T) {
	plan := func(off string) string {
		return `<root BTCPP_format="4"><BehaviorTree><ReactiveSequence name="q"><ReactiveFallback name="f"><ReactiveSequence name="s"><Condition name="low" on="soc lt 0.3" off="soc ge ` +
			off + `"/><Action name="home" write="u := 1"/></ReactiveSequence><ReactiveSequence name="r"><Condition name="high" on="h ge 400"/>
<Action name="photograph" write="u := 2"/></ReactiveSequence><Action name="rest"/></ReactiveFallback></ReactiveSequence></BehaviorTree></root>`
	}
	const facts = "period: 600\neffects:\n  home: {soc: [1e-3, 1e-3], h: [0, 0]}\n  photograph: {soc: [-1e-3, -1e-3], h: [0, 0]}\n  rest: {soc: [0, 0], h: [0, 0]}\n"
	run := func(off, notes string, more ...string) (string, int) {
		dir := write(t, map[string]string{"plan.xml": plan(off), "facts.yaml": facts + notes})
		stdout, stderr, status := canopy(append([]string{"check", filepath.Join(dir, "plan.xml"), "--facts", filepath.Join(dir, "facts.yaml")}, more...)...)
		if stderr != "" {
			t.Error(stderr)
		}
		return stdout, status
	}
	stdout, status := run("0.4", "", "--notes")
	note := strings.TrimSuffix(stdout, "\n")
	if status != exitRefute || note != "# canopy: accept chatter home, photograph, soc period>=200 [s] where h >= 400: REASON" {
		t.Fatalf("status %d, %q", status, note)
	}
	note = strings.Replace(note, "REASON", "the camera is cheap", 1)
	stdout, status = run("0.4", note)
	if status != exitOK {
		t.Errorf("status %d", status)
	}
	says(t, "the note", stdout, "because     the camera is cheap\n", "covers      home, photograph, soc period>=200 [s] where h >= 400\n")
	stdout, status = run("0.35", note)
	if status != exitRefute {
		t.Errorf("a shorter period is accepted: status %d", status)
	}
	says(t, "a worse finding", stdout, "REFUTED    chatter", "does not accept this: it accepts a period of 200 s")
	stdout, status = run("0.5", note)
	if status != exitOK {
		t.Errorf("a longer period is not accepted: status %d\n%s", status, stdout)
	}
	stdout, status = run("0.4", strings.Replace(note, "h >= 400", "h >= 500", 1))
	if status != exitRefute {
		t.Errorf("other regions are accepted: status %d", status)
	}
	says(t, "another region", stdout, "it accepts other regions")
	stdout, status = run("0.4", strings.Replace(note, "photograph", "rest", 1))
	if status != exitRefute {
		t.Errorf("other tasks are accepted: status %d", status)
	}
	says(t, "another task", stdout, "the note has no effect")
	stdout, status = run("0.4", "# canopy: accept chatter home: as before\n")
	if status != exitOK {
		t.Errorf("status %d", status)
	}
	says(t, "a note without limits", stdout, "covers      also worse findings; this note does not: # canopy: accept chatter home, photograph, soc period>=200 [s]")
	if stdout, _ := run("0.4", "# canopy: accept chatter home: as before\n", "--notes"); !strings.Contains(stdout, "where h >= 400: as before\n") {
		t.Errorf("the reason is lost: %s", stdout)
	}
}

// A check that is interrupted leaves what was decided.
func TestCheckInterrupted(t *testing.T) {
	s, err := subject("../../missions/solar-day.xml", "", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	if all := ask(ctx, s, 3600, &progress{}); len(all) < 4 {
		t.Errorf("%d findings", len(all))
	}
	stop()
	all := ask(ctx, s, 3600, &progress{})
	if last := all[len(all)-1]; last.Verdict != verify.Undecided || !strings.Contains(last.Text, "before the interruption") {
		t.Errorf("%+v", last)
	}
}

// A check that takes too long reports this, and the questions that it has not answered.
func TestCheckBudget(t *testing.T) {
	var b strings.Builder
	for range 300 {
		b.WriteString(`<Fallback><Condition on="true"/><Action/></Fallback>`)
	}
	dir := write(t, map[string]string{
		"large.xml": `<root BTCPP_format="4"><BehaviorTree><Sequence>` + b.String() + `<Action/></Sequence></BehaviorTree></root>`,
	})
	stdout, stderr, status := canopy("check", filepath.Join(dir, "large.xml"), "--budget", "1e-6")
	if status != exitOK || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	says(t, "the answer", stdout, "1 not concluded", "unknown    complete    not concluded within 1e-6 s", "questions after it")
	if _, _, status := canopy("check", filepath.Join(dir, "large.xml"), "--budget", "0"); status != exitInput {
		t.Errorf("status %d", status)
	}
}

// Where rates are not bounded, no number is given for what no number mends.
func TestCheckUnboundedRates(t *testing.T) {
	dir := write(t, map[string]string{"plan.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback name="f">
<ReactiveSequence name="s"><Condition name="low" on="x lt 1" off="x gt 2"/><Action name="up" write="u := 1"/></ReactiveSequence>
<Action name="down" write="u := -1"/></ReactiveFallback></BehaviorTree></root>`,
		"facts.yaml": "effects: {up: {x: up}, down: {x: down}}\nperiod: 1min\n"})
	stdout, _, status := canopy("check", filepath.Join(dir, "plan.xml"), "--facts", filepath.Join(dir, "facts.yaml"))
	if status != exitRefute || strings.Contains(stdout, "NaN") || strings.Contains(stdout, "every 0 s") {
		t.Errorf("status %d\n%s", status, stdout)
	}
	says(t, "the advice", stdout, "without a minimum period", "declare the maximum rates")
}

// The reference names all keys of a finding in JSON, and no others.
func TestJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/verification.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## For programs")
	section, _, _ = strings.Cut(section, "\n## ")
	var documented, keys []string
	for line := range strings.Lines(section) {
		if cell, isRow := strings.CutPrefix(line, "| `"); isRow {
			cell, _, _ = strings.Cut(cell, " |")
			documented = append(documented, strings.Split(strings.ReplaceAll(cell, "`", ""), ", ")...)
		}
	}
	for f := range reflect.TypeFor[object]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	slices.Sort(documented)
	slices.Sort(keys)
	if !slices.Equal(documented, keys) {
		t.Errorf("documented are %q, printed are %q", documented, keys)
	}
}

// The page explains all questions, in their order and words, each with an example of each answer and the next step.
func TestQuestionsAreExplained(t *testing.T) {
	page, err := os.ReadFile("../../docs/questions.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")[1:]
	questions := verify.Questions()
	if len(sections) != len(questions) {
		t.Fatalf("%d sections, %d questions", len(sections), len(questions))
	}
	var names []string
	for i, q := range questions {
		names = append(names, q.Name)
		if !strings.HasPrefix(sections[i], q.Name+"\n\n*"+q.Asks+"*\n\n") {
			t.Errorf("%s: %s", q.Name, sections[i])
		}
		says(t, q.Name, sections[i], "\n* proved: ", "\n* REFUTED: ", "\n* unknown: ", "\nNext: ")
	}
	if !slices.Equal(names, declare.Questions()) {
		t.Errorf("notes accept %q, the questions are %q", declare.Questions(), names)
	}
}
