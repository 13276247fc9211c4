package verify

import (
	"strings"
	"testing"
)

// TestElapsedIsNotFollowed: the time since an action was activated is a free input. So what holds for any time is proved;
// a property with times that only a free time refutes is not concluded, with the reason and a remedy.
func TestElapsedIsNotFollowed(t *testing.T) {
	const plan = `<KeepRunningUntilFailure><Sequence><Action name="wait" done="elapsed ge 10 [s]"/>
		<Action name="go" done="elapsed ge 5 [s] and x ge 5"/></Sequence></KeepRunningUntilFailure>`
	for property, want := range map[string]Verdict{
		"never both(wait, go)":              Proved,
		"always (wait or go)":               Proved,
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
