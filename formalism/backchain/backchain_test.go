package backchain

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/explore"
)

// randomWorld returns a document with the given numbers of conditions and actions, and a goal. Without deletes, no fact
// is the opposite of a condition.
func randomWorld(r *rand.Rand, conditions, actions int, deletes bool) (document, goal string) {
	facts := func(most int) string {
		var list []string
		for _, i := range r.Perm(conditions)[:1+r.IntN(most)] {
			not := ""
			if deletes && r.IntN(3) == 0 {
				not = "not "
			}
			list = append(list, fmt.Sprintf("%sf%d", not, i))
		}
		return strings.Join(list, " and ")
	}
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4"><TreeNodesModel>`)
	for i := range conditions {
		fmt.Fprintf(&b, `<Condition ID="f%d"/>`, i)
	}
	for i := range actions {
		pre := ""
		if r.IntN(4) > 0 {
			pre = fmt.Sprintf(" pre=%q", facts(2))
		}
		fmt.Fprintf(&b, `<Action ID="a%d"%s post=%q/>`, i, pre, facts(2))
	}
	b.WriteString(`</TreeNodesModel></root>`)
	return b.String(), facts(2)
}

// reachable is a dumb planner: it walks through all states to which some actions lead and looks for the goal.
func reachable(w *World, s state, goal []plan.Fact) bool {
	seen := map[state]bool{s: true}
	for queue := []state{s}; len(queue) > 0; queue = queue[1:] {
		if w.holds(goal, queue[0]) {
			return true
		}
		for i := range w.actions {
			if a := &w.actions[i]; w.holds(a.pre, queue[0]) {
				if next := w.after(a, queue[0]); !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return false
}

// build reads a world and builds a plan; the plan is nil if the goal has an error.
func build(t *testing.T, document, goal string) (*World, []plan.Fact, *plan.Plan, diag.List) {
	t.Helper()
	w, list := Read(&diag.Source{Name: "world.xml", Text: document})
	if list.HasErrors() {
		t.Fatal(list)
	}
	src := &diag.Source{Name: "goal", Text: goal}
	facts, list := w.Goal(src)
	if list.HasErrors() {
		t.Fatal(list)
	}
	p, list := w.Build("goal", src, facts)
	if (p == nil) != list.HasErrors() {
		t.Fatalf("plan %v, list %v", p, list)
	}
	return w, facts, p, list
}

// Random worlds, with a simple planner that determines the states from which the goal can be reached. Without `not` the
// plan reaches it from all of these, with `not` from nearly all; Check counts the same.
func TestRandomWorlds(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for _, deletes := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		plans, all := 0, Coverage{}
		for range rounds {
			document, goal := randomWorld(r, 2+r.IntN(4), 1+r.IntN(6), deletes)
			w, facts, p, _ := build(t, document, goal)
			if p == nil {
				continue
			}
			plans++
			c := Coverage{Facts: len(w.names)}
			fly := func(s state, end bool) bool {
				reached, _ := w.fly(p, s, facts, end, explore.Budget{})
				return reached
			}
			for s := range state(1) << len(w.names) {
				if !reachable(w, s, facts) {
					continue
				}
				c.Solvable++
				c.Flown++
				reached := fly(s, true)
				if reached {
					c.Reached++
				} else if c.Lost == nil {
					c.Lost = w.facts(s)
				}
				if !deletes && !(reached && fly(s, false)) {
					t.Fatalf("%s, goal %s: not reached from %v\n%s", document, goal, w.facts(s), p.Source.Text)
				}
			}
			if got := w.Check(p, facts, explore.Budget{}); !reflect.DeepEqual(got, c) {
				t.Fatalf("%s, goal %s: Check says %+v, the dumb planner %+v", document, goal, got, c)
			}
			all.Solvable, all.Reached = all.Solvable+c.Solvable, all.Reached+c.Reached
		}
		t.Logf("deletes %v: %d plans reach the goal from %d of %d states", deletes, plans, all.Reached, all.Solvable)
		if plans < rounds/4 || all.Reached*100 < all.Solvable*99 {
			t.Errorf("%d plans reach the goal from only %d of %d states", plans, all.Reached, all.Solvable)
		}
	}
}

// tree draws a plan's tree.
func tree(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b strings.Builder
	if err := plan.Text(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBuild(t *testing.T) {
	const world = `<root BTCPP_format="4"><TreeNodesModel>
		<Condition ID="at_door" on="x gt 1"/><Condition ID="has_key"/><Condition ID="open"/><Condition ID="shut"/>
		<Action ID="go" post="at_door" write="v := 1"/>
		<Action ID="fetch" post="has_key and not at_door"/>
		<Action ID="unlock" pre="at_door and has_key and not open" post="open and not shut"/>
		<Action ID="push" pre="open" post="open"/>
		<Action ID="close" post="shut and not open"/></TreeNodesModel></root>`
	for _, c := range []struct{ goal, want, code string }{
		// The key is fetched first, as that undoes at_door; "not open" holds where open is wanted; push is cut.
		{"open", `
get open          ReactiveFallback
├─ open           Condition
└─ by unlock      ReactiveSequence
   ├─ get has_key ReactiveFallback
   │  ├─ has_key  Condition
   │  └─ fetch    Action
   ├─ get at_door ReactiveFallback
   │  ├─ at_door  Condition on: x > 1
   │  └─ go       Action    write: v := 1
   └─ unlock      Action`, ""},
		{"not open and has_key", `
goal             ReactiveSequence
├─ get not open  ReactiveFallback
│  ├─ not open   Inverter
│  │  └─ open    Condition
│  └─ close      Action
└─ get has_key   ReactiveFallback
   ├─ has_key    Condition
   └─ fetch      Action`, ""},
		{"open and shut", "", codeThreat},
	} {
		w, facts, p, list := build(t, world, c.goal)
		if c.code != "" {
			if len(list) != 1 || list[0].Code != c.code || p == nil {
				t.Errorf("%s: %v", c.goal, list)
			}
			if coverage := w.Check(p, facts, explore.Budget{}); coverage.Solvable != 4 || coverage.Reached != 4 {
				t.Errorf("%s: %+v", c.goal, coverage) // both only hold where they held before
			}
			continue
		}
		if got := tree(t, p); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want), " ") || len(list) > 0 {
			t.Errorf("%s: got\n%s%v", c.goal, got, list)
		}
		var written strings.Builder
		if err := plan.Write(&written, p); err != nil || written.String() != p.Source.Text {
			t.Errorf("%v: the plan is written otherwise:\n%s", err, written.String())
		}
	}
}

// A world whose plan would grow beyond all bounds is refused, and a large one is not checked.
func TestLargeWorlds(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4"><TreeNodesModel><Condition ID="f0"/><Action ID="a0" post="f0"/>`)
	for i := range 20 {
		fmt.Fprintf(&b, `<Condition ID="f%d"/><Condition ID="g%[1]d"/><Action ID="a%[1]d" pre="f%d and g%[1]d" post="f%[1]d"/>`+
			`<Action ID="b%[1]d" pre="f%[2]d" post="g%[1]d"/>`, i+1, i)
	}
	b.WriteString(`</TreeNodesModel></root>`)
	_, _, p, list := build(t, b.String(), "f20")
	if p != nil || len(list) != 1 || list[0].Code != codeTooLarge {
		t.Errorf("%v", list)
	}
	w, facts, p, list := build(t, b.String(), "f8")
	if p == nil {
		t.Fatal(list)
	}
	if c := w.Check(p, facts, explore.Budget{}); c.Why != "the world has 41 conditions, more than 14" || c.Solvable != 0 {
		t.Errorf("a world of 41 conditions was checked: %+v", c)
	}
}

// A check ends with its budget and reports its progress.
func TestCheckBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4"><TreeNodesModel><Condition ID="f0"/><Action ID="a0" post="f0"/>`)
	for i := range 13 {
		fmt.Fprintf(&b, `<Condition ID="f%d"/><Action ID="a%[1]d" pre="f%d" post="f%[1]d"/>`, i+1, i)
	}
	b.WriteString(`</TreeNodesModel></root>`)
	w, facts, p, _ := build(t, b.String(), "f13")
	whole := w.Check(p, facts, explore.Budget{})
	if whole.Why != "" || whole.Solvable != 1<<14 || whole.Reached != 1<<14 {
		t.Errorf("the whole: %+v", whole)
	}
	flights := 0
	c := w.Check(p, facts, explore.Budget{Over: func(int) string {
		flights++
		return map[bool]string{true: "enough"}[flights > 1000]
	}})
	if c.Why != "enough" || c.Solvable != whole.Solvable || c.Flown != 1000 || c.Reached != 1000 || flights != 1001 {
		t.Errorf("%d flights: %+v", flights, c)
	}
	for _, b := range []explore.Budget{{Moves: 5}, {States: 5}, {Bytes: 1000}} {
		if c := w.Check(p, facts, b); c.Why == "" || c.Solvable != whole.Solvable || c.Flown > 1000 || c.Reached != c.Flown {
			t.Errorf("%+v: %+v", b, c)
		}
	}
}

// docs/backchain.md explains every code.
func TestDocumentedCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/backchain.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, m[1])
	}
	codes := []string{"bad-facts", codeFact, codeNoAchiever, codeCycle, codeThreat, codeTooLarge}
	if !slices.Equal(documented, codes) {
		t.Errorf("documented are %v, the codes are %v", documented, codes)
	}
}
