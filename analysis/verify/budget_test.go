package verify

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A search that its bounds end is noted: with larger ones it may find all states.
func TestBoundsAreNoted(t *testing.T) {
	s, _ := check(t, `<Condition name="c"/>`, "")
	m := NewModel(s)
	for effort, enough := range map[int]bool{1: false, deeper: true} {
		m.effort, m.tired = effort, false
		over := m.bounds(128).Over
		for range 10 {
			over(0)
		}
		if m.tired == enough {
			t.Errorf("640 moves of %d: %t", m.effort*128, m.tired)
		}
	}
	s = subjectOf(t, `<Sequence><Action name="a" done="x ge 1"/><Action name="b"/></Sequence>`, "properties: [a before b]")
	for effort, enough := range map[int]bool{0: false, 1: true} {
		m := NewModel(s)
		m.effort = effort
		if found := askProperties(m); m.tired == enough || (found[0].Verdict == Undecided) == enough {
			t.Errorf("a property with the effort %d: %v, noted %t", effort, found[0].Text, m.tired)
		}
	}
	m, whole := NewModel(s), NewModel(s).newFlights()
	whole.run()
	for m.effort = 0; m.effort < 2; m.extend(m.effort + 1) { // it goes on where it has ended
		m.fly().run()
		want := []int{1, whole.states.Len()}[m.effort]
		if got := m.fly().states; got.Len() != want || (got.Short() == "") != (m.effort == 1) {
			t.Errorf("with the effort %d: %d states, want %d: %s", m.effort, got.Len(), want, got.Short())
		}
	}
	asked := 0
	for range Answers(s, 1, nil) {
		asked++
	}
	if asked != len(Questions()) {
		t.Errorf("%d answers", asked)
	}
}

// The answers do not depend on how fast the machine is: goOn, which measures time, may be asked at any pace as long as
// it is true. The work, not the time, ends an endless search.
func TestAnswersDoNotDependOnTheMachine(t *testing.T) {
	body := ""
	for i := range 9 {
		body += fmt.Sprintf(`<Action name="a%[1]d" entry_time="%[2]d [s]" done="x%[1]d ge 1" failed="x%[1]d lt 0"/>`, i, i+2)
	}
	s := subjectOf(t, `<KeepRunningUntilFailure><Parallel failure_count="9">`+body+`</Parallel></KeepRunningUntilFailure>`,
		"always: [a0 or a1 or a2]")
	answers := func(goOn func() bool) (all []string) {
		for q, found := range Answers(s, 0.01, goOn) {
			for _, f := range found {
				all = append(all, q.Name, f.Word(), f.Text)
			}
		}
		return all
	}
	quick := answers(nil)
	slow := answers(func() bool { runtime.Gosched(); return true })
	if !slices.Equal(quick, slow) {
		t.Errorf("quick %q\nslow %q", quick, slow)
	}
	if !slices.ContainsFunc(quick, func(s string) bool { return strings.Contains(s, "did not find all states") }) {
		t.Errorf("no search ended for its work: %q", quick)
	}
}
