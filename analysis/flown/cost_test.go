package flown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/explore"
)

// tour is a plan of legs below guards with hysteresis.
func tour(legs, guards int) string {
	var b strings.Builder
	b.WriteString(`<ReactiveFallback name="root">`)
	signals := []string{"h", "V", "x", "y"}
	for i := range guards {
		fmt.Fprintf(&b, `<ReactiveSequence><Condition name="guard%d" on="%s lt 50" off="%s gt 60"/>
			<Action name="save%d" write="h_cmd := %d"/></ReactiveSequence>`, i, signals[i], signals[i], i, 100+i)
	}
	b.WriteString(`<Sequence name="legs">`)
	for k := range legs {
		fmt.Fprintf(&b, `<Action name="leg%d" entry="waypoint := %d" write="navigate := 1" done="distance le 60 [m]"/>`, k, k%4+1)
	}
	return b.String() + `</Sequence></ReactiveFallback>`
}

// The states of a tour grow with its legs: which outcomes earlier legs had is forgotten.
func TestStatesOfTours(t *testing.T) {
	states := map[int]int{}
	for _, legs := range []int{10, 20, 40} {
		states[legs], _, _ = reach(t, New(shipped(t, "circuit.yaml", tour(legs, 1)).Subject()))
	}
	if states[40]-states[20] != 2*(states[20]-states[10]) {
		t.Errorf("states by number of legs: %v", states)
	}
}

// So do those of legs before which scripts write what a condition of each leg reads: how it was judged in an earlier
// leg is forgotten.
func TestStatesOfScripts(t *testing.T) {
	states := map[int]int{}
	for _, legs := range []int{5, 10, 20} {
		var b strings.Builder
		for k := range legs {
			fmt.Fprintf(&b, `<Script code="mode := %[1]d"/><Fallback><Condition name="c%[2]d" on="mode gt %[1]d"/>
				<Action name="leg%[2]d" entry="waypoint := %[3]d" done="distance le 60 [m]"/></Fallback>`, k%4, k, k%4+1)
		}
		plan := `<Sequence name="legs">` + b.String() + `</Sequence>`
		states[legs], _, _ = reach(t, Abstract(shipped(t, "circuit.yaml", plan).Subject()))
	}
	if states[20]-states[10] != 2*(states[10]-states[5]) {
		t.Errorf("states by number of legs: %v", states)
	}
}

// A transition that goes on from a settling that it has in common with another one is the one from the start.
func TestResumedCourses(t *testing.T) {
	type end struct {
		tape Tape
		key  Key
		text string
	}
	tell := func(m *Moment) end {
		return end{m.Tape(), m.After(), fmt.Sprint(m.Rounds, m.Changes, m.Entered(), m.Elapsed(), m.Text())}
	}
	slow := strings.ReplaceAll(tour(4, 2), `done=`, `exit_time="1" done=`)
	for _, plan := range []string{legs, tour(4, 2), slow, ""} {
		s := New(shipped(t, "circuit.yaml", plan).Subject())
		search := explore.New[Key, struct{}](explore.Budget{States: 60})
		search.Arrive(-1, "", struct{}{})
		for n := range search.Leave() {
			var ends []end
			s.Steps(search.Key(n), func(m *Moment) {
				if m.Over {
					ends = append(ends, tell(m))
					search.Arrive(n, m.After(), struct{}{})
				}
			})
			for _, e := range ends {
				s.Follow(search.Key(n), e.tape, func(m *Moment) {
					if !m.Over {
						return
					}
					if again := tell(m); again.key != e.key || again.text != e.text {
						t.Fatalf("%s\n%s", e.text, again.text)
					}
				})
			}
		}
	}
}

// So is one of two plans side by side.
func TestResumedCoursesOfTwo(t *testing.T) {
	tell := func(p *Product, tape *Tape) string {
		*tape = p.Old.Tape()
		old, updated := p.Judgements()
		shown := []any{*tape, p.Old.Rounds, p.New.Rounds, p.Old.Changes, p.New.Changes, p.Text(), p.Written(), p.Inexact, old,
			updated, fmt.Sprint(p.Old.Err), fmt.Sprint(p.New.Err)}
		return fmt.Sprint(append(shown, p.Old.After())...)
	}
	slow := strings.ReplaceAll(tour(3, 1), `done=`, `exit_time="1" done=`)
	held := strings.ReplaceAll(tour(3, 1), `write="h_cmd := 100"`, `entry="h_cmd := h"`)
	for _, pair := range [][2]string{{legs, legs}, {tour(3, 1), slow}, {slow, slow}, {held, tour(3, 1)}, {"", ""}} {
		p := NewProduct(shipped(t, "circuit.yaml", pair[0]).Subject(), shipped(t, "circuit.yaml", pair[1]).Subject())
		search := explore.New[Key, struct{}](explore.Budget{States: 40})
		search.Arrive(-1, "", struct{}{})
		for n := range search.Leave() {
			var tapes []Tape
			var texts []string
			p.Steps(search.Key(n), func(m *Moment) {
				var tape Tape
				texts = append(texts, tell(p, &tape))
				tapes = append(tapes, tape)
				if m.Err == nil {
					search.Arrive(n, m.After(), struct{}{})
				}
			})
			for i, want := range texts {
				p.Follow(search.Key(n), tapes[i], func(*Moment) {
					var tape Tape
					if text := tell(p, &tape); text != want {
						t.Fatalf("%s\n%s", want, text)
					}
				})
			}
		}
	}
}
