package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// craft is a vehicle with one state and two commands; u has a range, v a slot of the mission behind it.
const craft = "states: {x: {unit: m, derivative: u, min: -1000, max: 1000}}\ncommands: {u: {unit: m/s}, w: {}}\n"

// stopping returns the files of a plan and of its mission.
func stopping(plan string) map[string]string {
	return map[string]string{"v.yaml": craft, "plan.xml": `<root BTCPP_format="4"><BehaviorTree ID="M">` + plan +
		`</BehaviorTree></root>`, "m.yaml": "mission: m\nplan: plan.xml\nvehicle: v.yaml\nhorizon: 20\n" +
		"signals: {q: {unit: m/s, default: 0, hold: true}, d: {unit: s, default: -1, hold: true}}\n"}
}

// claim is an answer of `canopy check --json`.
type claim struct{ Question, Verdict, Text, Script string }

// claims returns what check answers about a file.
func claims(t *testing.T, file string) (found []claim) {
	t.Helper()
	stdout, stderr, _ := canopy("check", "--json", file)
	if err := json.Unmarshal([]byte(stdout), &found); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	return found
}

// Nothing is proved of a plan whose run stops with an error at the start: it is complete or has a bound for its reaction
// as little as what holds because nothing happens. The error that `check` gives is the run's, and its script can be
// replayed.
func TestStops(t *testing.T) {
	const keep = `<KeepRunningUntilFailure name="k">%s</KeepRunningUntilFailure>`
	for name, c := range map[string]struct{ plan, run string }{
		"a script that is run again": {`<Sequence><Script code="n := 1"/>` +
			fmt.Sprintf(keep, `<Script name="s" code="n := 3 - n"/>`) + `</Sequence>`, "do not settle"},
		"an action that is run again": {fmt.Sprintf(keep, `<Action name="a" entry="q := 1 [m/s] - q" done="true"/>`),
			"do not settle"},
		"a failure that is tried again": {`<RetryUntilSuccessful num_attempts="-1"><Action name="a" entry="q := 1 [m/s] - q" failed="true"/>
			</RetryUntilSuccessful>`, "do not settle"},
		"an entry that is read first": {`<Script name="s" code="a := a + 1"/>`, "an entry that is not written"},
		"an entry that is read behind another": {`<Sequence><Script name="s" code="b := 1"/><Script name="r" code="b = a + b"/>
			<Script name="w" code="a := 1"/></Sequence>`, "an entry that is not written"},
		"a command that is no number":  {`<Action name="a" write="u := 0/0"/>`, "u is NaN"},
		"a slot that is no number":     {`<Sequence><Action name="b" entry="q := 0/0" done="true"/><Action name="a" write="u := q"/></Sequence>`, "u is NaN"},
		"a duration that is negative":  {`<Action name="a" entry_time="d" write="u := 1"/>`, "impossible duration"},
		"conditions that tasks change": {`<ReactiveFallback><ReactiveSequence><Condition name="off" on="w lt 1"/><Action name="on" write="w := 2"/></ReactiveSequence><Action name="stop" write="w := 0"/></ReactiveFallback>`, "do not settle"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, stopping(c.plan))
			at := func(name string) string { return filepath.Join(dir, name) }
			_, stderr, status := canopy("run", "--out", at("out"), at("m.yaml"))
			if status == exitOK || !strings.Contains(stderr, c.run) {
				t.Fatalf("the run: status %d, %s, want %q", status, stderr, c.run)
			}
			seen := map[string]string{}
			for _, f := range claims(t, at("m.yaml")) {
				seen[f.Question] = f.Verdict
				if strings.HasPrefix(f.Verdict, "proved") {
					t.Errorf("%s is proved: %s", f.Question, f.Text)
				}
				if f.Verdict == "refuted" && f.Script != "" {
					files := write(t, map[string]string{"script.txt": f.Script})
					out, stderr, status := canopy("trace", at("plan.xml"), filepath.Join(files, "script.txt"))
					if stops := strings.Contains(stderr, c.run); status != exitOK && !stops || out == "" && !stops {
						t.Errorf("the script of %s: status %d, %s", f.Question, status, stderr)
					}
				}
			}
			if seen["complete"] != "refuted" || seen["reaction"] != "refuted" {
				t.Errorf("complete is %s, reaction %s", seen["complete"], seen["reaction"])
			}
			for _, file := range []string{"m.yaml", "plan.xml"} {
				if file == "plan.xml" && strings.Contains(c.plan, "entry_time") { // d may have any value
					continue
				}
				stdout, stderr, status := canopy("reaction", at(file))
				if status != exitRefute {
					t.Errorf("%s: exit status %d", file, status)
				}
				says(t, "reaction "+file+stderr, stdout, "refuted: every run stops with an error in its first instant")
				if strings.Contains(stdout, "proved") {
					t.Errorf("a bound is proved: %s", stdout)
				}
			}
		})
	}
}

// Plans that go on keep their proofs: tasks that are run again but take time, or a number of times; entries that are
// written before they are read, on each way; a value that is no number where nobody reads it as one.
func TestGoesOn(t *testing.T) {
	for name, plan := range map[string]string{
		"it sleeps":     `<KeepRunningUntilFailure><Sequence><Script code="n := 1"/><Sleep msec="5000"/></Sequence></KeepRunningUntilFailure>`,
		"time passes":   `<KeepRunningUntilFailure><Sequence><Script code="n := 1"/><Action name="a" write="u := 1" done="x ge 3 [m]"/><Action name="b" write="u := -1" done="x le 0 [m]"/></Sequence></KeepRunningUntilFailure>`,
		"thirty times":  `<Sequence><Repeat num_cycles="30"><Script code="n := 1"/></Repeat><Action name="a" write="u := 1"/></Sequence>`,
		"written first": `<Sequence><Fallback><Sequence><Condition name="c" on="x ge 1 [m]"/><Script code="a := 1"/></Sequence><Script code="a := 2"/></Fallback><Script code="a := a + 1"/><Action name="w" write="u := a"/></Sequence>`,
		"no number":     `<Sequence><Script code="s := 0/0"/><Action name="w" write="u := 1"/></Sequence>`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, stopping(plan))
			if _, stderr, status := canopy("run", "--out", filepath.Join(dir, "out"), filepath.Join(dir, "m.yaml")); status != exitOK {
				t.Fatalf("the run: status %d, %s", status, stderr)
			}
			seen := map[string]claim{}
			for _, f := range claims(t, filepath.Join(dir, "m.yaml")) {
				seen[f.Question] = f
			}
			if seen["complete"].Verdict != "proved" || seen["reaction"].Verdict != "proved" {
				t.Errorf("complete is %+v\nreaction is %+v", seen["complete"], seen["reaction"])
			}
		})
	}
}

// Whatever is proved of random plans, with tasks that end at once and are run again, entries that may be read before
// they are written, and values that are no numbers, no run contradicts by ending in an error.
func TestProvedPlansGoOn(t *testing.T) {
	cases := 800
	if testing.Short() {
		cases = 60
	}
	proved, stopped := 0, 0
	for seed := range uint64(cases) {
		r := &stops{Rand: rand.New(rand.NewPCG(23, seed))}
		plan := r.node(3)
		dir := write(t, stopping(plan))
		at := func(name string) string { return filepath.Join(dir, name) }
		_, stderr, status := canopy("run", "--out", at("out"), at("m.yaml"))
		if status == exitInput { // a plan that its reader refuses
			continue
		}
		over := status == exitFailed // with exitRefute the plan has failed, which is an end
		var bold []claim
		for _, f := range claims(t, at("m.yaml")) {
			if (f.Question == "complete" || f.Question == "reaction") && strings.HasPrefix(f.Verdict, "proved") {
				bold = append(bold, f)
			}
			if f.Verdict == "refuted" && strings.HasPrefix(f.Text, "every run stops") && !over {
				t.Errorf("seed %d: %s, but the run goes on: %s", seed, f.Text, plan)
			}
		}
		if over {
			stopped++
			for _, f := range bold {
				t.Errorf("seed %d: %s is %s (%s), but the run: %s%s", seed, f.Question, f.Verdict, f.Text, stderr, plan)
			}
		}
		proved += len(bold)
	}
	t.Logf("%d answers are proved, %d of %d runs stopped", proved, stopped, cases)
	if proved < cases/4 || stopped < cases/10 {
		t.Errorf("%d answers are proved, %d of %d runs stopped: too few", proved, stopped, cases)
	}
}

// stops draws plans of which some stop.
type stops struct {
	*rand.Rand
	n int
}

func (r *stops) pick(words ...string) string { return words[r.IntN(len(words))] }

func (r *stops) node(depth int) string {
	if depth == 0 || r.IntN(5) == 0 {
		return r.leaf()
	}
	var b strings.Builder
	kind := r.pick("Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "Sequence", "KeepRunningUntilFailure",
		`Repeat num_cycles="-1"`, `Repeat num_cycles="3"`, `RetryUntilSuccessful num_attempts="-1"`, "ForceSuccess", "Inverter")
	children := 1
	if strings.HasSuffix(kind, "Sequence") || strings.HasSuffix(kind, "Fallback") {
		children = 1 + r.IntN(3)
	}
	b.WriteString("<" + kind + ">")
	for range children {
		b.WriteString(r.node(depth - 1))
	}
	kind, _, _ = strings.Cut(kind, " ")
	return b.String() + "</" + kind + ">"
}

func (r *stops) leaf() string {
	r.n++
	entry := func() string { return r.pick("a", "b", "c") }
	switch r.IntN(9) {
	case 0, 1:
		return fmt.Sprintf(`<Script code="%s := %d"/>`, entry(), r.IntN(3))
	case 2:
		return fmt.Sprintf(`<Script code="%s := %s + 1"/>`, entry(), entry())
	case 3:
		return fmt.Sprintf(`<ScriptCondition code="%s &gt; %d"/>`, entry(), r.IntN(3))
	case 4:
		return fmt.Sprintf(`<Condition name="n%d" on="x %s %d [m]"/>`, r.n, r.pick("ge", "lt"), r.IntN(5))
	case 5:
		return fmt.Sprintf(`<Action name="n%d" entry="q := %s" %s="true"/>`, r.n, r.pick("1", "2", "q + 1 [m/s]", "0/0"), r.pick("done", "failed"))
	case 6:
		return fmt.Sprintf(`<Sleep msec="%s"/>`, r.pick("0", "1000", "2500"))
	}
	return fmt.Sprintf(`<Action name="n%d" write="u := %s" %s="x %s %d [m]"/>`, r.n, r.pick("1", "-1", "q", "0/0"),
		r.pick("done", "failed"), r.pick("ge", "le"), r.IntN(5)-2)
}
