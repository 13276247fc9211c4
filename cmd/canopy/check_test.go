package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
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
	plan := fileText(t, folder+"plan.xml")
	readme := fileText(t, folder+"README.md")
	blocks := strings.Split(readme, "```diff\n")
	if len(blocks) != 6 {
		t.Fatalf("%d changes", len(blocks)-1)
	}
	text, left := plan, []string{"complete", "dead", "goal", "conflict", "chatter"}
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
	flat := strings.Join(strings.Fields(readme), " ")
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
	must(t, err)
	checked := 0
	for _, f := range files {
		text := fileText(t, f)
		if !strings.Contains(text, "\nplan:") {
			continue // a vehicle, or a state graph
		}
		if checked++; testing.Short() && (strings.Contains(f, "copter") || strings.Contains(f, "plane")) {
			continue // three seconds each
		}
		stdout, stderr, status := canopy("check", f)
		if status != exitOK || stderr != "" || strings.Contains(stdout, "not proved ") {
			t.Errorf("%s: status %d, %s%s", f, status, stdout, stderr)
		}
	}
	if checked < 6 {
		t.Errorf("only %d missions were checked", checked)
	}
}

// A proof that rests on an assumption that no run checks is shown as such, and has exit status 4 with --strict; one that
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
	must(t, printFindings(&out, declare.Subject{Plan: &plan.Plan{}}, "f", all, nil))
	says(t, "the table", out.String(), "f: 1 proved, 0 refuted, 1 proved under an assumption\n", "proved      always      a\n",
		"proved if   always      b\n            if          procedures take no time\n",
		"assumed                 the declared facts hold; each run of the mission checks this\n")
	text, err := verify.SARIF(all, nil, "0")
	must(t, err)
	says(t, "SARIF", string(text), "b, if procedures take no time", `"if": "the declared facts hold"`, `"kind": "open"`,
		`"kind": "pass"`, `"verdict": "proved_if"`)
	needs, late := open, open
	needs.Verdict, needs.Needs, late.Verdict = verify.NotAsked, "a `goal`", verify.NotAsked
	for i, want := range []string{"proved", "proved_if", "not_asked", "not_asked"} {
		f := []verify.Finding{watched, open, needs, late}[i]
		if got := asObjects(declare.Subject{Plan: &plan.Plan{Tree: &bt.Tree{}}}, []verify.Finding{f}, nil)[0]; got.Verdict != want {
			t.Errorf("JSON: %s, not %s", got.Verdict, want)
		}
	}
	text, err = verify.SARIF([]verify.Finding{needs, late}, nil, "0")
	must(t, err)
	says(t, "SARIF", string(text), `"kind": "notApplicable"`, `"kind": "open"`, `"verdict": "not_asked"`)
	for _, test := range []struct {
		found           []verify.Finding
		plain, asStrict error
	}{
		{all[:1], nil, nil},
		{all[1:], nil, errOpen},
		{[]verify.Finding{{}}, nil, errOpen}, // a finding without a verdict is no answer
		{[]verify.Finding{{Verdict: verify.NotAsked}}, nil, errOpen},
		{[]verify.Finding{{Verdict: verify.NotAsked, Needs: "a `goal`"}}, nil, nil},
		{[]verify.Finding{{Verdict: verify.Undecided, Accepted: "x"}}, nil, nil},
		{[]verify.Finding{{Verdict: verify.Refuted}, {}}, errRefuted, errRefuted},
	} {
		plain, strict := outcome(test.found, false), outcome(test.found, true)
		if !errors.Is(plain, test.plain) || !errors.Is(strict, test.asStrict) {
			t.Errorf("%+v: %v, %v", test.found, plain, strict)
		}
	}
}

// A check that is interrupted leaves what was decided.
func TestCheckInterrupted(t *testing.T) {
	s, err := subject("../../missions/solar-day.xml", "", io.Discard)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	if all := ask(ctx, s, 3600, &progress{}); len(all) < 4 {
		t.Errorf("%d findings", len(all))
	}
	stop()
	all := ask(ctx, s, 3600, &progress{})
	if first := all[0]; first.Verdict != verify.Undecided || !strings.Contains(first.Text, "before the interruption") {
		t.Errorf("%+v", first)
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
	says(t, "the answer", stdout, "1 not proved", "not proved  complete    not concluded within 1e-6 s", "questions after it",
		"not asked   dead        the check ended in the question complete", "also        goal, reach")
	if _, _, status := canopy("check", filepath.Join(dir, "large.xml"), "--budget", "0"); status != exitInput {
		t.Errorf("status %d", status)
	}
}

// The reference names all keys of a finding in JSON, and no others.
func TestJSONIsDocumented(t *testing.T) {
	page := fileText(t, "../../docs/verification.md")
	_, section, _ := strings.Cut(page, "## For programs")
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
	page := fileText(t, "../../docs/questions.md")
	sections := strings.Split(page, "\n## ")[1:]
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
		says(t, q.Name, sections[i], "\n* proved: ", "\n* REFUTED: ", "\n* not proved: ", "\nNext: ")
	}
	if !slices.Equal(names, declare.Questions()) {
		t.Errorf("notes accept %q, the questions are %q", declare.Questions(), names)
	}
}
