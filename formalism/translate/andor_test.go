package translate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"
)

func andOr(t testing.TB, text string) *AndOr {
	t.Helper()
	tree, list := ReadAndOr(&diag.Source{Name: "t.andor", Text: text})
	if len(list) > 0 {
		t.Fatal(list)
	}
	return tree
}

const door = "../../examples/07-and-or/door.andor"

// TestDoor: the three solutions that the paper lists.
func TestDoor(t *testing.T) {
	got, err := andOr(t, readFile(t, door)).Solutions()
	want := [][]string{
		{"the door can be opened without keys"},
		{"the keys are on the table", "the keys can open the door"},
		{"the keys are in the drawer", "the keys can open the door"},
	}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDoorPlan plays the paper's description of its Fig. 6: each action is tried when those before it have failed, and
// the keys are not tried when they were not found.
func TestDoorPlan(t *testing.T) {
	p, list := andOr(t, readFile(t, door)).Plan(true)
	if len(list) > 0 {
		t.Fatal(list)
	}
	for text, want := range map[string]string{
		"end open door without keys success": "the door is open: Running -> Finished",
		"end open door without keys failure\nend find keys on table success\nend open door with keys success": "the " +
			"door is open: Running -> Finished",
		"end open door without keys failure\nend find keys on table failure\nend find keys in drawer success\n" +
			"end open door with keys failure": "the door is open: Running -> Aborted",
		"end open door without keys failure\nend find keys on table failure\nend find keys in drawer failure": "the door " +
			"is open: Running -> Aborted",
	} {
		var b strings.Builder
		if err := script.Print(&plan.Plan{Tree: p.Tree}, &diag.Source{Name: "s", Text: text}, nil, &b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("after %q no %q in\n%s", text, want, &b)
		}
		tries := strings.Count(text, "with keys")
		if got := strings.Count(b.String(), "open door with keys: Accept -> Activating"); got != tries {
			t.Errorf("after %q the keys were tried %d times", text, got)
		}
	}
}

// randomAndOr writes a tree over leaves a, b, ...; they may occur several times.
func randomAndOr(r *rand.Rand, leaves int) string {
	var b strings.Builder
	var write func(level int)
	write = func(level int) {
		b.WriteString(strings.Repeat("  ", level))
		if level == 4 || level > 0 && r.IntN(3) == 0 {
			fmt.Fprintf(&b, "%c\n", 'a'+r.IntN(leaves))
			return
		}
		b.WriteString([]string{"and\n", "or\n", "and all\n", "or one\n"}[r.IntN(4)])
		for range 1 + r.IntN(3) {
			write(level + 1)
		}
	}
	write(0)
	return b.String()
}

// solved judges a problem by its definition.
func solved(n *problem, holds func(text string) bool) bool {
	switch n.kind {
	case bt.Condition:
		return holds(n.text)
	case bt.ReactiveFallback:
		return slices.ContainsFunc(n.parts, func(p *problem) bool { return solved(p, holds) })
	}
	return !slices.ContainsFunc(n.parts, func(p *problem) bool { return !solved(p, holds) })
}

// TestRandomAndOr: on random trees of up to ten leaves, with conditions only, the plan succeeds exactly when the tree has
// a solution in which all is true, and fails otherwise; and the solutions are the prime implicants, found by brute
// force: the sets that solve the problem, and do not if any one leaf is left out.
func TestRandomAndOr(t *testing.T) {
	trees := 1000
	if testing.Short() {
		trees = 150
	}
	count := 0
	for seed := range trees {
		r := rand.New(rand.NewPCG(8, uint64(seed)))
		tree := andOr(t, randomAndOr(r, 1+r.IntN(10)))
		p, list := tree.Plan(true) // no leaf has an action
		if len(list) > 0 {
			t.Fatal(list)
		}
		solutions, err := tree.Solutions()
		if err != nil {
			t.Fatal(err)
		}
		count += len(solutions)
		engine := bt.NewEngine(p.Tree, nil, 0)
		var primes [][]string
		for word := range 1 << len(tree.leaves) {
			holds := func(word int) func(string) bool {
				return func(text string) bool { return word>>slices.Index(tree.leaves, text)&1 == 1 }
			}
			var in []bt.Input
			var all []string
			for _, l := range p.Leaves {
				in = append(in, bt.Set(l.Task, holds(word)(l.ID)))
			}
			prime := solved(tree.root, holds(word))
			for k, text := range tree.leaves {
				if word>>k&1 == 1 {
					all = append(all, text)
					prime = prime && !solved(tree.root, holds(word&^(1<<k)))
				}
			}
			if prime {
				primes = append(primes, all)
			}
			if _, err := engine.Settle(in); err != nil {
				t.Fatal(err)
			}
			has := slices.ContainsFunc(solutions, func(s []string) bool {
				return !slices.ContainsFunc(s, func(text string) bool { return !holds(word)(text) })
			})
			want := bt.Failure
			if has {
				want = bt.Success
			}
			if got := engine.Status(p.Tree.Root()); got != want || has != solved(tree.root, holds(word)) {
				t.Fatalf("seed %d, %v: the plan is %v, solutions %q\n%s", seed, all, got, solutions, tree.Source.Text)
			}
		}
		sorted := func(list [][]string) string {
			var texts []string
			for _, s := range list {
				texts = append(texts, strings.Join(s, " "))
			}
			slices.Sort(texts)
			return strings.Join(texts, "; ")
		}
		if sorted(primes) != sorted(solutions) {
			t.Fatalf("seed %d: solutions %s, prime implicants %s\n%s", seed, sorted(solutions), sorted(primes), tree.Source.Text)
		}
	}
	t.Logf("%d trees, %d solutions", trees, count)
}

func TestManySolutions(t *testing.T) {
	var b strings.Builder
	b.WriteString("and\n")
	for i := range 12 {
		fmt.Fprintf(&b, " or\n  a%d\n  b%d\n", i, i)
	}
	lines := func(word string, count int) string {
		var b strings.Builder
		b.WriteString(word + "\n")
		for i := range count {
			fmt.Fprintf(&b, " a%d\n", i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text, says string
		solutions  int
	}{
		"4096 pairs":     {b.String(), "there are more than 2000 solutions", 0},
		"2000 leaves":    {lines("or", 2000), "", 2000},
		"2001 leaves":    {lines("or", 2001), "there are more than 2000 solutions", 0},
		"all of 1000":    {lines("and", 1000), "", 1},
		"all of 10,000":  {lines("and", 10_000), "", 1},
		"some of 90,000": {lines("or", 90_000), "sets of 90000 leaves are too many", 0},
	} {
		solutions, err := andOr(t, c.text).Solutions()
		var list diag.List
		if errors.As(err, &list); len(solutions) != c.solutions || (c.says != "") != (len(list) == 1) {
			t.Errorf("%s: %d solutions, %v", name, len(solutions), err)
		} else if len(list) == 1 && (!strings.Contains(list[0].Text, c.says) || list[0].Code != "too-large") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, list := ReadAndOr(&diag.Source{Text: lines("or", 2*mostProblems)}); len(list) != 1 || list[0].Code != "too-large" {
		t.Errorf("%d lines: %v", 2*mostProblems, list)
	}
}

func TestAndOrMistakes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"# nothing", []string{"1:1 empty-file"}},
		{"or\n\ta\n b", []string{"2:1 bad-character"}},
		{"or\nand\n a\nb\n", []string{"1:1 no-parts", "2:1 several-roots", "4:1 several-roots"}},
		{"or\n a\n  b\n  or\n   c\n", []string{"3:3 leaf-with-parts", "4:3 leaf-with-parts"}},
		{"or\n   a\n  b\n", []string{"3:3 wrong-indent"}},
		{"or x\n a ->\n -> b\n Sequence -> SubTree\n", []string{"2:2 missing-text", "3:2 missing-text", "4:2 reserved-name",
			"4:2 reserved-name"}},
		{"or\n and\n", []string{"2:2 no-parts"}},
	} {
		_, list := ReadAndOr(&diag.Source{Name: "t.andor", Text: c.text})
		var got []string
		for _, d := range list {
			line, column := d.Position()
			got = append(got, fmt.Sprintf("%d:%d %s", line, column, d.Code))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q\n%v", c.text, got, c.want, list)
		}
	}
	var deep strings.Builder
	for i := range 102 {
		deep.WriteString(strings.Repeat(" ", i) + "or\n")
	}
	if _, list := ReadAndOr(&diag.Source{Text: deep.String()}); list[0].Code != "too-deep" {
		t.Error(list)
	}
}

// FuzzReadAndOr holds that any text gives either a tree or an error, with all places inside the file, and that a tree
// has a plan and its solutions solve it.
func FuzzReadAndOr(f *testing.F) {
	f.Add(readFile(f, door))
	f.Add("or\n a\n  b\n and x\n   c -> d\n   c\n#\n\r\n")
	f.Add("and\n or\n  a\n  b\n or\n  a\n  c\n")
	f.Fuzz(func(t *testing.T, text string) {
		tree, list := ReadAndOr(&diag.Source{Name: "fuzz.andor", Text: text})
		if (tree == nil) != list.HasErrors() {
			t.Fatalf("tree %v, list %v", tree, list)
		}
		checkPlaces(t, list)
		if tree == nil {
			return
		}
		for _, actions := range []bool{false, true} {
			if p, list := tree.Plan(actions); p == nil {
				t.Fatal(list)
			}
		}
		solutions, err := tree.Solutions()
		for _, s := range solutions {
			if err != nil || !solved(tree.root, func(text string) bool { return slices.Contains(s, text) }) {
				t.Fatalf("%q is no solution", s)
			}
		}
	})
}
