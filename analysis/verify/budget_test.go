package verify

import "testing"

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
	for range Answers(s, func() bool { return true }) {
		asked++
	}
	if asked != len(Questions()) {
		t.Errorf("%d answers", asked)
	}
}
