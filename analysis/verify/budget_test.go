package verify

import "testing"

// A search that its bounds end is noted: with larger ones it may find all states.
func TestBoundsAreNoted(t *testing.T) {
	s, _ := check(t, `<Condition name="c"/>`, "")
	m := NewModel(s)
	for effort, enough := range map[int]bool{1: false, deeper: true} {
		m.effort, m.tired = effort, false
		over := m.bounds(m.effort * 128).Over
		for range 10 {
			over(0)
		}
		if m.tired == enough {
			t.Errorf("640 moves of %d: %t", m.effort*128, m.tired)
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
