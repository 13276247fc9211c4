package script

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestExchangesKeepEntries: a plan with entries of a blackboard runs alike if it is exchanged again and again for one
// with an action more, which is never reached, and back; exchanges for the same plan change nothing at all.
func TestExchangesKeepEntries(t *testing.T) {
	count, exchanges, changes := trees.Count(1_500, 200), 0, 0
	for seed := range count {
		r := rand.New(rand.NewPCG(17, uint64(seed)))
		body := randomPlan(r, 3)
		plans := map[string]*plan.Plan{}
		for name, more := range map[string]string{"without": "", "same": "", "with": `<Work name="last"/>`} {
			text := `<BehaviorTree ID="main"><Sequence><Script code="n := 0; m := 1"/><ParallelAll>` + body +
				`<Work name="z"/></ParallelAll>` + more + `</Sequence></BehaviorTree>`
			var list diag.List
			if plans[name], list = readPlan(t, text); plans[name] == nil {
				t.Fatalf("%s\n%v", text, list)
			}
		}
		var plain, same, other []string
		for range 12 {
			line := randomLine(r, plans["same"])
			if plain = append(plain, line); r.IntN(3) == 0 {
				same = append(same, "swap same")
				other = append(other, []string{"swap with", "swap without"}[len(other)%2])
				exchanges++
			}
			same, other = append(same, line), append(other, line)
		}
		play := func(lines []string, counts func(bt.Change) bool) string {
			var b strings.Builder
			n := -1
			err := Play(plans["without"], &diag.Source{Name: "script", Text: strings.Join(lines, "\n")},
				func(path string) (*plan.Plan, diag.List) { return plans[path], nil },
				func(i int, tree *bt.Tree, instant bt.Instant, _ []Written) {
					if i == 0 || !strings.HasPrefix(lines[i-1], "swap") {
						n++
					}
					for _, c := range instant.Changes {
						if changes++; counts(c) {
							fmt.Fprintln(&b, n, tree.Name(c.Task), c.From, c.To)
						}
					}
				})
			if err != nil {
				_, what, _ := strings.Cut(err.Error(), ": ")
				fmt.Fprintln(&b, what)
			}
			return b.String()
		}
		all := func(bt.Change) bool { return true }
		runs := func(c bt.Change) bool { return !c.From.Transient() || !c.To.Transient() } // others may not be heard
		for _, pair := range [][2]string{{play(plain, all), play(same, all)}, {play(plain, runs), play(other, runs)}} {
			if pair[0] != pair[1] {
				t.Fatalf("seed %d:\n%s\n%s\nwith exchanges\n%s\n%s\n%s", seed, body, pair[0], pair[1], plain, other)
			}
		}
	}
	t.Logf("%d exchanges, %d changes", exchanges, changes)
	if exchanges < count || changes < 20*count {
		t.Error("too few")
	}
}

// randomPlan returns the XML of a tree with scripts, conditions over entries, and actions that a script ends.
func randomPlan(r *rand.Rand, depth int) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	condition := func() string { return pick("n &gt; m", "m != 2", "n &lt; 6") }
	attributes := ""
	if r.IntN(3) == 0 {
		attributes = fmt.Sprintf(` %s="%s"`, pick("_skipIf", "_while", "_failureIf", "_successIf"), condition())
	}
	if r.IntN(3) == 0 {
		attributes += fmt.Sprintf(` %s="%s"`, pick("_onSuccess", "_onFailure", "_onHalted", "_post"),
			pick("n += 1", "m := n", "m += 2"))
	}
	if depth == 0 || r.IntN(5) == 0 {
		switch r.IntN(4) {
		case 0:
			return fmt.Sprintf(`<Script code="%s"/>`, pick("n += 1", "m := n + 1", "n := 0"))
		case 1:
			return fmt.Sprintf(`<ScriptCondition code="%s"/>`, condition())
		}
		return fmt.Sprintf(`<Work name="%s"%s/>`, pick("a", "b", "c"), attributes)
	}
	kind, n := pick("Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "Parallel"), 1+r.IntN(3)
	if r.IntN(3) == 0 {
		kind, n = pick("Inverter", `Repeat num_cycles="3"`, `RetryUntilSuccessful num_attempts="2"`, `Delay delay_msec="100"`,
			`Timeout msec="900"`, "ForceSuccess"), 1
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<%s%s>", kind, attributes)
	for range n {
		b.WriteString(randomPlan(r, depth-1))
	}
	name, _, _ := strings.Cut(kind, " ")
	fmt.Fprintf(&b, "</%s>", name)
	return b.String()
}

// randomLine returns inputs for the actions and timers of a plan.
func randomLine(r *rand.Rand, p *plan.Plan) string {
	var inputs []string
	for range 1 + r.IntN(2) {
		tree := p.Tree
		timers := tree.Timers()
		leaves := tree.Leaves()
		t := leaves[r.IntN(len(leaves))]
		switch {
		case len(timers) > 0 && r.IntN(3) == 0:
			inputs = append(inputs, "elapsed "+tree.Name(timers[r.IntN(len(timers))]))
		case !free(p, t) || tree.Name(t) == "z": // it never ends
		default:
			inputs = append(inputs, []string{"end %s success", "end %s failure", "slow %s exit", "exited %s"}[r.IntN(4)])
			inputs[len(inputs)-1] = fmt.Sprintf(inputs[len(inputs)-1], tree.Name(t))
		}
	}
	if len(inputs) == 0 {
		return "slow z"
	}
	return strings.Join(inputs, "; ")
}

// free reports whether a task is an action that only a script ends.
func free(p *plan.Plan, t bt.Task) bool {
	i := slices.IndexFunc(p.Leaves, func(l plan.Leaf) bool { return l.Task == t })
	return p.Leaves[i].Free && p.Tree.Kind(t).Acts()
}

// TestBoundsOfExchanges: a script with too many exchanges is refused, with one mistake that says why, and nothing runs.
// The largest one that is not refused takes little time.
func TestBoundsOfExchanges(t *testing.T) {
	read := func(text string) *plan.Plan {
		p, list := readPlan(t, `<BehaviorTree ID="main"><Sequence><Script code="n := 0"/>`+text+`</Sequence></BehaviorTree>`)
		if p == nil {
			t.Fatal(list)
		}
		return p
	}
	small, other := read(`<Work name="a"/>`), read(`<Work name="a"/><Work name="b"/>`)
	large := *small
	large.Source = &diag.Source{Name: "large", Text: strings.Repeat(" ", maxText/2)}
	opened := 0
	play := func(text string) (settled int, err error) {
		err = Play(small, &diag.Source{Name: "script", Text: text}, func(path string) (*plan.Plan, diag.List) {
			opened++
			switch {
			case strings.HasPrefix(path, "bad"):
				return nil, diag.List{{Source: &diag.Source{Name: path}, Code: "file", Text: "there is none"}}
			case strings.HasPrefix(path, "large"):
				return &large, nil
			case strings.HasPrefix(path, "other"):
				return other, nil
			}
			return small, nil
		}, func(int, *bt.Tree, bt.Instant, []Written) { settled++ })
		return settled, err
	}
	names := func(name string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "swap %s%d\n", name, i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text, want string
		mistakes   int
	}{
		"exchanges": {strings.Repeat("swap other\n", 2000), "[too-many-swaps]", 1},
		"lines":     {strings.Repeat("\n", maxWork) + "swap other\n", "[too-many-swaps]", 1},
		"plans":     {names("other", maxPlans+20), "[too-many-plans]", 1},
		"bytes":     {names("large", 5), "can have at most 16 MiB together", 1},
		"unread":    {strings.Repeat("swap bad\n", 500), "there is none", 2},
	} {
		opened = 0
		settled, err := play(c.text)
		list, _ := err.(diag.List)
		if settled > 0 || len(list) != c.mistakes || opened > maxPlans || !strings.Contains(list.Err().Error(), c.want) {
			t.Errorf("%s: %d instants, %d plans read, %d mistakes: %.300v", name, settled, opened, len(list), err)
		}
	}
	count := 300
	if settled, err := play(strings.Repeat("swap other\nswap same\n", count/2)); err != nil || settled < 2*count {
		t.Errorf("%d instants, %v", settled, err)
	}
}
