package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The time since an action was activated is followed where it is compared with constants.
func TestElapsedIsFollowed(t *testing.T) {
	const plan = `<KeepRunningUntilFailure><Sequence><Action name="wait" done="elapsed ge 10 [s]"/>
		<Action name="go" done="elapsed ge 5 [s] and x ge 5"/></Sequence></KeepRunningUntilFailure>`
	for property, want := range map[string]Verdict{
		"never both(wait, go)":              Proved,
		"always (wait or go)":               Proved,
		"always (go -> within 15 [s] wait)": Refuted, // x may stay below 5
		"wait -> within 10 [s] go":          Proved,
		"wait -> within 9.9 [s] go":         Refuted,
		"wait -> for 9.9 [s] wait":          Proved,
		"always (wait -> within 10 [s] go)": Proved,
		"always (go -> for 4.9 [s] go)":     Refuted, // of an activation that has begun before
		"never go":                          Refuted,
	} {
		_, all := check(t, plan, "properties: [\""+property+"\"]\n")
		if f := byQuestion(all, "property")[0]; f.Verdict != want {
			t.Errorf("%s: %s %s", property, f.Verdict, f.Text)
		}
	}
}

// Times have units, and relations either sign.
func TestElapsedHasUnits(t *testing.T) {
	for done, seconds := range map[string]int{"elapsed ge 2 [min]": 120, "not (elapsed lt 2 [min])": 120,
		"0.01 [h] le elapsed": 36, "2 * elapsed ge 10 [s]": 5, "elapsed gt 3000 [ms]": 3, "not (elapsed le 7)": 7} {
		for by, want := range map[int]Verdict{seconds + 1: Proved, seconds - 1: Refuted} {
			_, all := check(t, `<Sequence><Action name="a" done="`+done+`"/><Action name="b"/></Sequence>`,
				fmt.Sprintf("properties: ['a -> within %d [s] b']", by))
			if f := byQuestion(all, "property")[0]; f.Verdict != want {
				t.Errorf("%s, within %d s: %v %s", done, by, f.Verdict, f.Text)
			}
		}
	}
}

// TestElapsedIsNotFollowed: otherwise it is a free input. So what holds for any time is proved; a property with times that
// only a free time refutes is not concluded, with the reason and a remedy.
func TestElapsedIsNotFollowed(t *testing.T) {
	const plan = `<KeepRunningUntilFailure><Sequence><Action name="wait" done="elapsed ge x"/>
		<Action name="go" done="elapsed^2 ge 5 [s^2] and x ge 5"/></Sequence></KeepRunningUntilFailure>`
	for property, want := range map[string]Verdict{
		"never both(wait, go)":              Proved,
		"always (go -> within 15 [s] wait)": Undecided,
		"wait -> within 15 [s] go":          Undecided,
		"wait -> for 5 [s] wait":            Undecided,
		"eventually go":                     Undecided,
		"never go":                          Refuted,
	} {
		_, all := check(t, plan, "properties: [\""+property+"\"]\n")
		f := byQuestion(all, "property")[0]
		if f.Verdict != want {
			t.Errorf("%s: %s %s", property, f.Verdict, f.Text)
		}
		if want == Undecided && !(strings.Contains(f.Text, "wait and go (elapsed)") && strings.Contains(f.Advice, "Timeout")) {
			t.Errorf("%s: %s (%s)", property, f.Text, f.Advice)
		}
	}
}

// An action that is done when a time has elapsed is like one whose entry procedure takes that time: the same properties
// are proved, and none of either is proved where the other one refutes it.
func TestElapsedIsLikeAnEntryTime(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 27))
	proved, cases := 0, 200
	if testing.Short() {
		cases = 60
	}
	for range cases {
		var plans [2]string
		names := []string{"a", "b", "c"}
		lengths := []int{1 + r.IntN(9), 1 + r.IntN(9), 1 + r.IntN(9)}
		root := []string{"Sequence", "ReactiveParallel", "Fallback"}[r.IntN(3)]
		guarded := r.IntN(3)
		for k := range plans {
			var body strings.Builder
			for i, name := range names {
				text := fmt.Sprintf(`<Action name="%s" done="elapsed ge %d [s]"/>`, name, lengths[i])
				if k == 1 {
					text = fmt.Sprintf(`<Action name="%s" entry_time="%d [s]" done="true"/>`, name, lengths[i])
				}
				if i == guarded {
					text = `<ReactiveSequence><Condition name="g" on="x ge 1"/>` + text + `</ReactiveSequence>`
				}
				body.WriteString(text)
			}
			plans[k] = "<" + root + ">" + body.String() + "</" + root + ">"
			plans[k] = "<KeepRunningUntilFailure><Sequence>" + plans[k] + `<Sleep msec="1000"/></Sequence></KeepRunningUntilFailure>`
		}
		p, q := names[r.IntN(3)], names[r.IntN(3)]
		property := fmt.Sprintf([]string{"always (%s -> within %d [s] %s)", "always (%s -> within %d [s] (not %s))",
			"%s -> for %d [s] (%s)"}[r.IntN(3)], p, 1+r.IntN(15), q)
		var verdicts [2]Verdict
		for k, text := range plans {
			s := subjectOf(t, text, "properties: ['"+property+"']")
			verdicts[k] = askProperties(NewModel(s))[0].Verdict
		}
		if verdicts[0] != verdicts[1] {
			t.Errorf("%s: %v and %v\n%s\n%s", property, verdicts[0], verdicts[1], plans[0], plans[1])
		}
		if verdicts[0] == Proved {
			proved++
		}
	}
	if proved < cases/10 {
		t.Errorf("%d of %d are proved", proved, cases)
	}
}
