package flown

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/internal/oracle"
)

// What instants show does not depend on whether conditions with hysteresis are free inputs where nothing else depends
// on their signals, nor on whether states that others cover are left out.
func TestLooseStepsShowTheSame(t *testing.T) {
	missions := 600
	if testing.Short() {
		missions = 150
	}
	compare := func(what string, subject func(r *rand.Rand) (s declare.Subject, text string)) (hidden, fewer int) {
		for seed := range uint64(missions) {
			subject, text := subject(rand.New(rand.NewPCG(seed, 79)))
			if subject.Plan == nil {
				continue
			}
			loose := Abstract(subject)
			if len(loose.latches) > 0 {
				hidden++
			}
			all, states, enough := shown(New(subject), false)
			some, covered, also := shown(loose, true)
			switch {
			case !enough:
				continue
			case !also:
				t.Errorf("%s, seed %d: %d states are enough, not if some are left out", what, seed, states)
			case !slices.Equal(all, some):
				t.Errorf("%s, seed %d\n%s\n%v\n%v", what, seed, text, all, some)
			}
			if covered < states {
				fewer++
			}
		}
		return hidden, fewer
	}
	_, fewer := compare("random missions", func(r *rand.Rand) (declare.Subject, string) {
		o := oracle.Random(r, oracle.All)
		m, _ := o.Read()
		if m == nil {
			return declare.Subject{}, ""
		}
		return m.Subject(), o.String()
	})
	hidden, _ := compare("guards", func(r *rand.Rand) (declare.Subject, string) { return guarded(t, r) })
	if fewer < missions/10 || hidden < missions/3 {
		t.Errorf("fewer states in %d missions, free inputs in %d", fewer, hidden)
	}
}

// guarded returns a random plan with conditions with hysteresis, of which most are alone with their signals, and
// random facts.
func guarded(t *testing.T, r *rand.Rand) (declare.Subject, string) {
	var build func(depth int) string
	leaf := 0
	build = func(depth int) string {
		leaf++
		signal := fmt.Sprintf("s%d", r.IntN(4))
		switch k := r.IntN(8); {
		case depth > 0 && k < 5:
			kind := []string{"ReactiveFallback", "ReactiveSequence", "Sequence", "Fallback", "Parallel"}[k]
			text := ""
			for range 2 + r.IntN(2) {
				text += build(depth - 1)
			}
			return "<" + kind + ">" + text + "</" + kind + ">"
		case k < 6:
			return fmt.Sprintf(`<Condition name="c%d" on="%s ge 2" off="%s lt 1"/>`, leaf, signal, signal)
		case r.IntN(4) == 0:
			return fmt.Sprintf(`<Condition name="d%d" on="%s ge 1.5"/>`, leaf, signal)
		default:
			more := []string{"", `done="z ge 1"`, `exit_time="2" entry="w := 1"`, `entry_time="1"`}[r.IntN(4)]
			return fmt.Sprintf(`<Action name="a%d" %s/>`, leaf, more)
		}
	}
	text := `<root BTCPP_format="4"><BehaviorTree ID="p"><ReactiveFallback>` + build(2) + build(1) + build(0) +
		`</ReactiveFallback></BehaviorTree></root>`
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
	if p == nil {
		t.Fatal(list)
	}
	facts := "facts:"
	for _, fact := range []string{"s0 >= 0 and s0 <= 3", "s1 <= 1.5", "not (s2 >= 2 and z < 0)", "s3 + z >= 0", "s0 >= z",
		"not (c2 and s0 >= 2)", "not (c2 and c3)", "c2 -> s0 <= 2.5"} {
		if r.IntN(3) == 0 {
			facts += "\n  - " + fact
		}
	}
	if facts == "facts:" {
		return declare.Subject{Plan: p}, text
	}
	d, list := declare.ReadFile(&diag.Source{Name: "facts.yaml", Text: facts}, p)
	if list.HasErrors() { // a signal that the plan does not read
		return declare.Subject{Plan: p}, text
	}
	return declare.Subject{Plan: p, Declared: d}, text + "\n" + facts
}

// shown returns what the ends of all instants show.
func shown(s *Stepper, covers bool) (what []string, states int, enough bool) {
	var cover Cover
	search := explore.New[Key, int](explore.Budget{States: 600, Moves: 20_000})
	search.Arrive(-1, "", 0)
	set := map[string]bool{}
	for n := range search.Leave() {
		s.Steps(search.Key(n), func(m *Moment) {
			switch {
			case m.Err != nil:
				set["error"] = true
			case m.Over && search.Spend() && m.Possible():
				var statuses []bt.Status
				for task := range bt.Task(s.Tree.Len()) {
					status := m.Status(task)
					if status.Transient() && task != s.Tree.Root() { // the tree may not hear it
						status = bt.Accept
					}
					statuses = append(statuses, status)
				}
				set[fmt.Sprint(statuses, m.Entered(), m.Elapsed())] = true
				key := m.After()
				if covers {
					if _, fresh := cover.Arrive(m, m.Class(), "", true, 0); !fresh {
						return
					}
				}
				search.Arrive(n, key, 0)
			}
		})
	}
	return slices.Sorted(maps.Keys(set)), search.Len(), search.Short() == ""
}
