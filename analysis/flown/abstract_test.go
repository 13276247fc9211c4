package flown

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/internal/oracle"
	"github.com/canopy-uav/canopy/snapshot"
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

// What is forgotten of leaves that the tree does not hear, at the end of an instant, changes nothing that follows.
func TestWhatIsForgottenDecidesNothing(t *testing.T) {
	missions, forgotten := 4000, 0
	if testing.Short() {
		missions = 400
	}
	for seed := range uint64(missions) {
		subject, text := scripted(t, rand.New(rand.NewPCG(seed, 81)))
		s := Abstract(subject)
		search := explore.New[Key, struct{}](explore.Budget{States: 100, Moves: 2_000})
		search.Arrive(-1, "", struct{}{})
		before := map[Key]Key{} // by the state after what is forgotten
		for n := range search.Leave() {
			s.Steps(search.Key(n), func(m *Moment) {
				if !m.Over || !search.Spend() {
					return
				}
				s.widen()
				whole := Key(snapshot.Save(nil, s.states(rename(s.of))...))
				key := m.After()
				if search.Arrive(n, key, struct{}{}); key != whole {
					before[key] = whole
				}
			})
		}
		for key, whole := range before {
			if a, b := future(s, key), future(s, whole); !slices.Equal(a, b) {
				t.Fatalf("seed %d\n%s\n%q\n%q", seed, text, a, b)
			}
			forgotten++
		}
	}
	if forgotten < missions/10 {
		t.Errorf("something is forgotten in only %d states", forgotten)
	}
}

// future describes the transitions from a state, 2,000 at most.
func future(s *Stepper, from Key) (list []string) {
	s.Steps(from, func(m *Moment) {
		if m.Over {
			list = append(list, fmt.Sprint(m.Tape(), len(m.Rounds), m.Changes, m.After()))
		} else if m.Err != nil {
			list = append(list, fmt.Sprint(m.Tape(), len(m.Rounds), m.Changes, m.Err))
		}
		m.Stop = len(list) == 2_000
	})
	return list
}

// scripted returns a random plan with loops, and with scripts that write what conditions and actions read.
func scripted(t *testing.T, r *rand.Rand) (declare.Subject, string) {
	t.Helper()
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	test := func() string { return one("n == 1", "n gt 1", "m == 1", "n == m", "x ge 1", "y ge 1") }
	leaf := 0
	var build func(depth int) string
	build = func(depth int) string {
		leaf++
		switch k := r.IntN(12); {
		case depth > 0 && k < 7:
			return children(one("ReactiveFallback", "ReactiveSequence", "Sequence", "Fallback", "Parallel"), 2+r.IntN(2),
				func() string { return build(depth - 1) })
		case depth > 0 && k < 10:
			return children(one("KeepRunningUntilFailure", `Repeat num_cycles="2"`, `RetryUntilSuccessful num_attempts="2"`,
				"Inverter", "ForceSuccess"), 1, func() string { return build(depth - 1) })
		case k%4 == 0:
			return fmt.Sprintf(`<Condition name="c%d" on="%s"/>`, leaf, test())
		case k%4 == 1:
			return fmt.Sprintf(`<Action name="a%d" _successIf="%s" done="%s"/>`, leaf, test(), test())
		default:
			return fmt.Sprintf(`<Script name="s%d" code="%s := %s"/>`, leaf, one("n", "m"), one("1", "2", "3 - n", "m"))
		}
	}
	text := `<root BTCPP_format="4"><BehaviorTree ID="p"><Sequence><Script code="n := 1; m := 1"/>` + build(3) +
		`</Sequence></BehaviorTree></root>`
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
	if p == nil {
		t.Fatal(list)
	}
	return declare.Subject{Plan: p}, text
}

// children returns a task with n children.
func children(task string, n int, child func() string) string {
	text := "<" + task + ">"
	for range n {
		text += child()
	}
	kind, _, _ := strings.Cut(task, " ")
	return text + "</" + kind + ">"
}
