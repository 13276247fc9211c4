package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// foreignPlan returns a random plan with leaves A, B, C (conditions) and P, Q (actions) in %[n]s.
func foreignPlan(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(5) == 0 {
		return []string{"%[1]s", "%[2]s", "%[3]s", "%[4]s", "%[4]s", "%[5]s", "%[5]s", `<Condition name="x" on="x ge 1"/>`,
			`<Action name="w" write="u := 1"/>`, `<Script name="s" code="u := 2"/>`}[r.IntN(10)]
	}
	kinds := []string{"Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "Inverter", "ForceSuccess", "Parallel",
		`RetryUntilSuccessful num_attempts="2"`, `Timeout msec="100"`, `Repeat num_cycles="2"`}
	kind := kinds[r.IntN(len(kinds))]
	name, _, _ := strings.Cut(kind, " ")
	children := foreignPlan(r, depth-1)
	if strings.HasSuffix(name, "Sequence") || strings.HasSuffix(name, "Fallback") || name == "Parallel" {
		children += foreignPlan(r, depth-1)
	}
	return "<" + kind + ">" + children + "</" + name + ">"
}

// TestLeavesOfOtherPrograms: of a plan with leaves that nothing defines, check refutes only what is wrong whatever these
// leaves do: it is also refuted once they are defined, in each way.
func TestLeavesOfOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "p.xml")
	verdicts := func(plan string, leaves ...any) map[string]string {
		save(t, name, `<root BTCPP_format="4"><BehaviorTree ID="m">`+fmt.Sprintf(plan+"%.0[1]s%.0[2]s%.0[3]s%.0[4]s%.0[5]s",
			leaves...)+`</BehaviorTree></root>`)
		stdout, stderr, status := canopy("check", name, "--json")
		if status != exitOK && status != exitRefute {
			t.Fatalf("%s: %s", plan, stderr)
		}
		found := map[string]string{}
		for _, q := range refuted(t, stdout) {
			found[q] = stdout
		}
		return found
	}
	free := []any{`<Condition ID="A"/>`, `<Condition ID="B"/>`, `<Condition ID="C"/>`, `<Action ID="P"/>`, `<Action ID="Q"/>`}
	defined := func(on string, attribute string) (leaves []any) {
		for _, l := range []string{"A", "B", "C"} {
			leaves = append(leaves, fmt.Sprintf(`<Condition name="%s" on="%s"/>`, l, on))
		}
		for _, l := range []string{"P", "Q"} {
			leaves = append(leaves, fmt.Sprintf(`<Action name="%s" %s/>`, l, attribute))
		}
		return leaves
	}
	kept := 0
	for seed := range uint64(80) {
		plan := foreignPlan(rand.New(rand.NewPCG(seed, 0)), 3)
		found := verdicts(plan, free...)
		for _, leaves := range [][]any{defined("true", `done="true"`), defined("false", `done="true"`)} {
			now := verdicts(plan, leaves...)
			for _, q := range []string{"complete", "conflict"} {
				if found[q] == "" {
					continue
				}
				if kept++; now[q] == "" {
					t.Errorf("%d: %s\n%s is refuted, but not with %s", seed, plan, q, leaves)
				}
			}
		}
	}
	if kept < 20 {
		t.Errorf("only %d refutations", kept)
	}
}

// TestNoAlarmAboutOtherPrograms: a plan that is right as far as its leaves do what they should is not refuted; the
// finding names the answer that it takes, and what to do. A fault of the plan itself is refuted.
func TestNoAlarmAboutOtherPrograms(t *testing.T) {
	for plan, want := range map[string]string{
		`<Sequence><P/><Q/></Sequence>`:                                       "not proved",
		`<ReactiveSequence><Condition ID="A"/><P/></ReactiveSequence>`:        "not proved",
		`<Timeout msec="100"><P/></Timeout>`:                                  "not proved",
		`<Repeat num_cycles="-1"><P/></Repeat>`:                               "not proved",
		`<Fallback><P/><Action name="w" done="false"/></Fallback>`:            "proved",
		`<Inverter><P/></Inverter>`:                                           "REFUTED",
		`<Sequence><P/><AlwaysFailure/></Sequence>`:                           "REFUTED",
		`<ReactiveSequence><Condition on="x ge 1"/><P/></ReactiveSequence>`:   "REFUTED",
		`<Sequence><P/><Script name="s" code="n := n + 1"/></Sequence>`:       "REFUTED", // the entry is not written
		`<Fallback><Condition ID="A"/><Inverter><P/></Inverter></Fallback>`:   "not proved",
		`<KeepRunningUntilFailure><AlwaysSuccess/></KeepRunningUntilFailure>`: "REFUTED",
	} {
		dir := write(t, map[string]string{"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="m">` + plan + `</BehaviorTree></root>`})
		out, _, status := canopy("check", filepath.Join(dir, "p.xml"))
		if (status == exitRefute) != (want == "REFUTED") {
			t.Errorf("%s: status %d, %s", plan, status, out)
		}
		if out, _, status := canopy("reaction", filepath.Join(dir, "p.xml")); status == exitRefute && want != "REFUTED" {
			t.Errorf("%s: reaction: %s", plan, out)
		}
		if want == "not proved" && (!strings.Contains(out, "it happens where ") || !strings.Contains(out, "if that cannot be, define ")) {
			t.Errorf("%s: no advice: %s", plan, out)
		}
	}
}
