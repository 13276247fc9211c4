package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
)

// point is a vehicle that moves as told.
const point = `vehicle: point
states:
  x: {unit: m, derivative: v}
commands:
  v: {unit: m/s}
`

// Every run watches what proofs assume: facts and effects. A violation shows in the table, the report, the summary and
// the exit status, and names the proofs that rest on it; so in flight as from the log.
func TestRunThatViolatesAnAssumption(t *testing.T) {
	for _, test := range []struct {
		check, verdict, at string
		wants              []string
	}{
		{"facts: ['x <= 30 [m]']", "violated", "0:00:20", []string{"fact", "x <= 30 [m]", "the proofs of `canopy check` rest on it"}},
		{"facts: ['far -> x >= 20 [m]', 'x >= 0 [m]']", "satisfied", "", []string{"satisfied, margin 0: x >= 0 [m]"}},
		{"facts: ['far -> x >= 20 [m] -> x < 5 [m]']", "violated", "0:00:10", nil},
		{"always: [far -> slow]", "satisfied", "", []string{"property"}},
		{"always: [slow -> far]", "satisfied", "", nil},
		{"always: [not slow]", "violated", "0:00:10", nil},
		{"effects: {slow: {x: [0.5, 1.5]}, fast: {x: up}}", "satisfied", "", []string{"effect", "margin 0.5", "slow: x [0.5, 1.5]"}},
		{"effects: {slow: {x: [1, 1]}, fast: {x: [2, 2]}}", "satisfied", "", nil},
		{"effects: {fast: {x: [2.001, 3]}}", "violated", "0:00:00", []string{"reach, regression, property and chatter"}},
		{"effects: {slow: {x: down}}", "violated", "0:00:10", []string{"slow: x down"}},
	} {
		dir := write(t, map[string]string{
			"m.yaml": "mission: m\nplan: p.xml\nvehicle: point.yaml\nhorizon: 60\nrecord: {interval: 10, signals: []}\n" +
				"check: {" + test.check + "}\n",
			"point.yaml": point,
			"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback><ReactiveSequence><Condition name="far" on="x gt 20 [m]"/>` +
				`<Action name="slow" write="v := 1 [m/s]"/></ReactiveSequence><Action name="fast" write="v := 2 [m/s]"/></ReactiveFallback></BehaviorTree></root>`,
		})
		out := filepath.Join(dir, "out")
		stdout, stderr, status := canopy("run", filepath.Join(dir, "m.yaml"), "--out", out)
		want := exitOK
		if test.verdict == "violated" {
			want = exitRefute
			says(t, test.check, stdout, "violated at "+test.at)
			says(t, test.check, stderr, "the run violates")
		}
		if status != want {
			t.Errorf("%s: status %d\n%s%s", test.check, status, stdout, stderr)
		}
		says(t, test.check, stdout, append(test.wants, test.verdict)...)
		for _, file := range []string{"summary.json", "report.html"} {
			text, err := os.ReadFile(filepath.Join(out, file))
			if err != nil || !strings.Contains(string(text), test.verdict) {
				t.Errorf("%s: %s does not have the verdict: %v", test.check, file, err)
			}
		}
		first, _, status := canopy("monitor", filepath.Join(dir, "m.yaml"), "--json")
		again, _, other := canopy("monitor", out, "--json")
		if status != want || other != want || first != again || !strings.Contains(first, test.verdict) {
			t.Errorf("%s: monitor: %d, %d\n%s%s", test.check, status, other, first, again)
		}
	}
}

// The proofs that a violated assumption names are those that package verify lets rest on it.
func TestProofsThatRestOnAssumptions(t *testing.T) {
	src := &diag.Source{Name: "facts.yaml", Text: "facts: [c]\neffects: {a: {x: up}}\n"}
	p, diags := plan.Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveSequence>` +
		`<Condition ID="c"/><Action ID="a"/></ReactiveSequence></BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(diags)
	}
	declared, diags := declare.ReadFile(src, p)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var onFacts, onEffects []string
	for _, q := range verify.Questions() {
		if !q.Anywhere {
			onFacts = append(onFacts, q.Name)
		}
		if q.Moves {
			onEffects = append(onEffects, q.Name)
		}
	}
	onMotion := slices.DeleteFunc(slices.Clone(onEffects), func(q string) bool { return q == "chatter" })
	list := declared.Watch(p.Tree, nil, false, true).Assertions
	if len(list) != 4 || !slices.Equal(list[3].Proofs, onMotion) || !slices.Equal(list[0].Proofs, onFacts) || !slices.Equal(list[1].Proofs, onEffects) || !slices.Equal(
		list[2].Proofs, onEffects) {
		t.Errorf("%+v, want %v and %v", list, onFacts, onEffects)
	}
}

// Where tasks take turns without end and the motion slides, their statuses stay as they are: proofs from rates assume
// that it does not, and the run says that it did.
func TestProofsAssumeThatNothingSlides(t *testing.T) {
	for _, policy := range []string{"stop", "continue"} {
		dir := write(t, map[string]string{
			"m.yaml": "mission: m\nplan: p.xml\nvehicle: v.yaml\nhorizon: 20\nchattering: " + policy +
				"\ncheck: {properties: [always within 3 not up, always within 3 not down]}\n",
			"v.yaml": "vehicle: v\nstates: {x: {unit: m, derivative: v, min: 0, max: 1}}\ncommands: {v: {unit: m/s}}\n",
			"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback><ReactiveSequence><Condition name="high" on="x ge 0.5 [m]"/>` +
				`<Action name="down" write="v := -1 [m/s]"/></ReactiveSequence><Action name="up" write="v := 1 [m/s]"/></ReactiveFallback></BehaviorTree></root>`,
		})
		slides := policy == "continue"
		stdout, stderr, _ := canopy("check", filepath.Join(dir, "m.yaml"), "--json")
		if n := strings.Count(stdout, "within 3 not"); n < 2 || strings.Contains(stdout, verify.NoSliding.Text) != slides {
			t.Errorf("%s: %s%s", policy, stdout, stderr)
		}
		stdout, stderr, status := canopy("run", filepath.Join(dir, "m.yaml"), "--out", filepath.Join(dir, "out"))
		if status == exitOK || strings.Contains(stdout, "sliding      violated at 0:00:00: "+verify.NoSliding.Text) != slides {
			t.Errorf("%s: status %d\n%s%s", policy, status, stdout, stderr)
		}
		first, _, _ := canopy("monitor", filepath.Join(dir, "m.yaml"), "--json")
		again, _, _ := canopy("monitor", filepath.Join(dir, "out"), "--json")
		if slides && (first != again || !strings.Contains(first, verify.NoSliding.Text)) {
			t.Errorf("monitor:\n%s%s", first, again)
		}
	}
}
