package verify

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/formalism/stategraph"
)

// change makes another version of a plan: some do the same, some do not.
func (r *randomPlan) change(text string) string {
	body := plain(text)
	switch r.IntN(5) {
	case 0:
		body = "<Inverter><Inverter>" + body + "</Inverter></Inverter>"
	case 1:
		body = "<ReactiveSequence>" + body + "</ReactiveSequence>"
	case 2:
		body = strings.NewReplacer(" ge ", " lt ", " lt ", " ge ").Replace(body)
	case 3:
		body = strings.NewReplacer("ReactiveSequence", "ReactiveFallback", "ReactiveFallback", "ReactiveSequence").Replace(body)
	default:
		body = strings.Replace(body, `name="a`, `name="other`, 1)
	}
	return document(body)
}

// document and plain add and remove the elements around a tree.
func document(tree string) string {
	return `<root BTCPP_format="4"><BehaviorTree ID="p">` + tree + `</BehaviorTree></root>`
}

func plain(text string) string {
	return strings.TrimSuffix(strings.TrimPrefix(text, `<root BTCPP_format="4"><BehaviorTree ID="p">`), `</BehaviorTree></root>`)
}

// endless bounds nothing.
func endless() bool { return true }

// TestPlansAreCompared: decision diagrams and the search with both engines agree, and the way to a difference shows it.
func TestPlansAreCompared(t *testing.T) {
	for _, memory := range []bool{false, true} {
		r := &randomPlan{Rand: rand.New(rand.NewPCG(5, 7)), memory: memory}
		cases, same, differ := 60, 0, 0
		if testing.Short() {
			cases = 30
		}
		for range cases {
			old := declare.Subject{Plan: r.subject(t).Plan}
			p, list := plan.Read(&diag.Source{Name: "new.xml", Text: r.change(old.Plan.Source.Text)}, nil)
			if p == nil {
				t.Fatal(list)
			}
			updated := declare.Subject{Plan: p}
			models := newModels(newDiagrams, false, old, updated)
			searched := searchPlans(models[0], models[1], true, endless)
			got := searched
			if !memory && models[0].same(models[1]) {
				got = compared(old, updated, endless)
			} else if !memory && len(models[0].vocab.latches) == 0 && searched.Verdict == Proved {
				t.Fatalf("%s\n%s\nthe diagrams do not see that both are the same", old.Plan.Source.Text, p.Source.Text)
			}
			if got.Verdict == Undecided || searched.Verdict == Undecided {
				continue
			}
			if got.Verdict != searched.Verdict {
				t.Fatalf("%s\n%s\n%s, searched: %s", old.Plan.Source.Text, p.Source.Text, got.Text, searched.Text)
			}
			if got.Verdict == Proved {
				same++
				continue
			}
			differ++
			last := got.Steps[len(got.Steps)-1]
			replay(t, old.Plan, got.Old, last.Old)
			replay(t, p, got.New, last.New)
			if slices.Equal(last.Old, last.New) && !strings.Contains(got.Text, "the same actions are active, but") {
				t.Fatalf("%s\n%s\nno difference: %v", old.Plan.Source.Text, p.Source.Text, got.Steps)
			}
			for _, s := range got.Steps[:len(got.Steps)-1] {
				if !slices.Equal(s.Old, s.New) {
					t.Fatalf("%s\n%s\nnot the first difference: %v", old.Plan.Source.Text, p.Source.Text, got.Steps)
				}
			}
		}
		if same < cases/20 || differ < cases/20 {
			t.Errorf("memory %t: %d the same, %d differ", memory, same, differ)
		}
	}
}

// replay replays a script, after which these actions must be active.
func replay(t *testing.T, p *plan.Plan, text string, want []string) {
	t.Helper()
	if text == "" {
		t.Fatal("no script")
	}
	e := played(t, p.Tree, text)
	var active []string
	for _, l := range p.Tree.Leaves() {
		if e.Active(l) && p.Tree.Kind(l).Acts() {
			active = append(active, ownName(p.Tree.Name(l)))
		}
	}
	slices.Sort(active)
	if active = slices.Compact(active); !slices.Equal(active, want) {
		t.Fatalf("after the script %v are active, not %v\n%s\n%s", active, want, text, p.Source.Text)
	}
}

// TestSolarGraph: the solar day's plan does what its four-state graph does; a plan that holds higher does not.
func TestSolarGraph(t *testing.T) {
	read := func(change ...string) declare.Subject {
		text, err := os.ReadFile("../../missions/solar-day.xml")
		if err != nil {
			t.Fatal(err)
		}
		p, list := plan.Read(&diag.Source{Name: "solar-day.xml",
			Text: strings.NewReplacer(change...).Replace(string(text))}, nil)
		if p == nil {
			t.Fatal(list)
		}
		return declare.Subject{Plan: p}
	}
	s := read()
	text, err := os.ReadFile("../../missions/solar-day.graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g, list := stategraph.Read(&diag.Source{Name: "solar-day.graph.yaml", Text: string(text)}, stategraph.VocabularyOf(s.Plan.Tree))
	if g == nil {
		t.Fatal(list)
	}
	if c := CompareGraph(s, g, endless); c.Verdict != Proved {
		t.Errorf("%s %v", c.Text, c.Steps)
	}
	other := read("<Inverter>", "<ForceSuccess>", "</Inverter>", "</ForceSuccess>")
	c := CompareGraph(other, g, endless)
	if c.Verdict != Refuted || len(c.Steps) != 1 || !slices.Equal(c.Steps[0].Old, []string{"climb", "loiter"}) {
		t.Errorf("%s %v", c.Text, c.Steps)
	}
	if !strings.Contains(c.Steps[0].World, "soc >= 0.996") || !strings.Contains(c.Steps[0].World, "h >= 12980") {
		t.Errorf("in the world %s", c.Steps[0].World)
	}
	if c := ComparePlans(s, read("on=\"soc ge 0.996\"", "on=\"soc ge 0.997\""), endless); c.Verdict != Refuted {
		t.Errorf("%s", c.Text)
	}
	if _, ok := s.Plan.Tree.Find("sink"); !ok || s.Plan.Tree.Kind(s.Plan.Tree.Root()) != bt.ReactiveParallel {
		t.Error("the plan is another one")
	}
}

// TestProceduresAreCompared: while a procedure takes time, other actions wait.
func TestProceduresAreCompared(t *testing.T) {
	read := func(a, b string) declare.Subject {
		return declare.Subject{Plan: readPlan(t, `<ReactiveFallback name="r"><ReactiveSequence name="s"><Condition name="c" on="x ge 1"/>
			<Action name="a"`+a+`/></ReactiveSequence><Action name="b"`+b+`/></ReactiveFallback>`)}
	}
	list := func(then string) declare.Subject {
		return declare.Subject{Plan: readPlan(t, `<Sequence name="s"><Action name="b" done="x ge 1" exit_time="9 [s]"/><Action name="`+then+
			`"/></Sequence>`)}
	}
	for _, test := range []struct {
		name     string
		old, new declare.Subject
		text     string
		steps    int
		over     []string // in the last step
	}{
		{"none takes time", read("", ""), read("", ""), "the plans are equal", 0, nil},
		{"another time", read("", ` exit_time="9 [s]"`), read("", ` exit_time="7 [s]"`),
			"the behaviour differs", 3, []string{"b"}},
		{"it takes time", read("", ""), read("", ` exit_time="9 [s]"`), "the behaviour differs", 2, nil},
		{"until when", read("", ` exit_until="x gt 2"`), read("", ` exit_until="x gt 3"`), "the behaviour differs", 2, nil},
		{"after the procedure", list("a"), list("z"), "the behaviour differs", 2, []string{"b"}},
	} {
		c := ComparePlans(test.old, test.new, endless)
		if !strings.Contains(c.Text, test.text) || len(c.Steps) != test.steps {
			t.Errorf("%s: %s %v", test.name, c.Text, c.Steps)
			continue
		}
		if n := len(c.Steps); n > 0 && !slices.Equal(c.Steps[n-1].Over, test.over) {
			t.Errorf("%s: %v", test.name, c.Steps)
		}
	}
}

// A comparison ends when it is told to, whether it builds sets or plays.
func TestComparisonEnds(t *testing.T) {
	for _, kind := range []string{"ReactiveFallback", "Fallback"} {
		var leaves strings.Builder
		for i := range 12 {
			fmt.Fprintf(&leaves, `<Condition name="c%d"/>`, i)
		}
		p, list := plan.Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="p"><` + kind + ">" +
			leaves.String() + "</" + kind + "></BehaviorTree></root>"}, nil)
		if p == nil {
			t.Fatal(list)
		}
		s := declare.Subject{Plan: p}
		asked := 0
		c := compared(s, s, func() bool { asked++; return asked < 20 })
		if c.Verdict != Undecided || asked > 1000 {
			t.Errorf("%s: %v after %d questions: %s", kind, c.Verdict, asked, c.Text)
		}
	}
}

// Legs that set their waypoint as they begin are flown in their order: two orders are not proved to be the same.
func TestOrdersOfLegsAreNotTheSame(t *testing.T) {
	subject := func(legs ...string) declare.Subject {
		text := ""
		for _, n := range legs {
			text += `<Action name="leg` + n + `" entry="waypoint := ` + n + `" write="navigate := 1" done="distance le 60"/>`
		}
		return declare.Subject{Plan: readPlan(t, `<Sequence name="legs">`+text+`</Sequence>`)}
	}
	c := ComparePlans(subject("1", "2", "3"), subject("1", "3", "2"), endless)
	if c.Verdict != Refuted || !strings.Contains(c.Text, "the values differ of waypoint") || len(c.Steps) != 1 {
		t.Errorf("%s %v", c.Text, c.Steps)
	}
	if c := compared(subject("1", "2", "3"), subject("1", "2", "3"), endless); c.Verdict != Proved {
		t.Errorf("%s %v", c.Text, c.Steps)
	}
}

// Equal plans do the same, which takes no search. Layout and spelling do not matter; every expression does, also those of
// computed signals and the defaults of slots.
func TestEqualPlansNeedNoSearch(t *testing.T) {
	const text = `<Parallel name="p"><Action name="a" entry="x := y" done="y ge 1"/><Action name="b" done="z lt 2"/></Parallel>`
	one := func(edits ...string) declare.Subject {
		return declare.Subject{Plan: readPlan(t, strings.NewReplacer(edits...).Replace(text))}
	}
	sum, err := expr.Parse("z + 1")
	if err != nil {
		t.Fatal(err)
	}
	computed := one()
	computed.Computed = map[string]*expr.Expr{"y": sum}
	free := one()
	free.Declared.Free = []string{"a"}
	for _, test := range []struct {
		updated declare.Subject
		same    bool
	}{
		{one(), true},
		{one(" ge 1", " &gt;= 1.0", "><", ">\n  <!-- as before --><"), true},
		{one("y ge 1", "y ge 1.0000001"), false},
		{one("x := y", "x := z"), false},
		{one("Parallel", "ReactiveParallel"), false},
		{one("<Parallel", `<Parallel success_count="1"`), false},
		{computed, false},
		{free, false},
	} {
		c := ComparePlans(one(), test.updated, func() bool { return false })
		if same := c.Verdict == Proved; same != test.same {
			t.Errorf("%s: %s", test.updated.Plan.Source.Text, c.Text)
		}
	}
}

// TestUnknownDurations: two procedures that begin at one instant and take as long as the same expression end together,
// whatever its value is.
func TestUnknownDurations(t *testing.T) {
	const list = `<Sequence name="s"><Action name="a" done="x ge 1" exit_time="%s"/><Action name="%s" done="y ge 2"/></Sequence>`
	old := fmt.Sprintf(list, "d", "b")
	for _, test := range []struct{ plan, text string }{
		{"<Inverter><Inverter>" + old + "</Inverter></Inverter>", "the behaviour is the same"},
		{`<ReactiveFallback name="f">` + old + `</ReactiveFallback>`, "the behaviour is the same"},
		{fmt.Sprintf(list, "d", "c"), "the behaviour differs"},
		{fmt.Sprintf(list, "5", "b"), "not concluded"},
		{fmt.Sprintf(list, "d + 1", "b"), "not concluded"},
		{fmt.Sprintf(list, "e", "b"), "not concluded"},
	} {
		c := ComparePlans(declare.Subject{Plan: readPlan(t, old)}, declare.Subject{Plan: readPlan(t, test.plan)}, endless)
		if !strings.Contains(c.Text, test.text) {
			t.Errorf("%s: %s, want %s", test.plan, c.Text, test.text)
		}
	}
}

// TestUnknownDurationsAreAnyDurations: plans that do the same whatever the durations are do the same with each of some;
// a plan does the same as one with the same durations that differs in form only.
func TestUnknownDurationsAreAnyDurations(t *testing.T) {
	r := &randomPlan{Rand: rand.New(rand.NewPCG(11, 3)), memory: true}
	cases, same, differ, unknown := 25, 0, 0, 0
	if testing.Short() {
		cases = 15
	}
	timed := regexp.MustCompile(`<Action name="(\w+)"`)
	for range cases {
		text := timed.ReplaceAllStringFunc(r.subject(t).Plan.Source.Text, func(s string) string {
			return s + r.pick("", ` exit_time="d"`, ` exit_time="e"`, ` entry_time="d"`)
		})
		updated := r.change(text)
		read := func(text, d, e string) declare.Subject {
			text = strings.NewReplacer(`_time="d"`, `_time="`+d+`"`, `_time="e"`, `_time="`+e+`"`).Replace(text)
			p, list := plan.Read(&diag.Source{Name: "p.xml", Text: text}, nil)
			if p == nil {
				t.Fatal(list)
			}
			return declare.Subject{Plan: p}
		}
		got := ComparePlans(read(text, "d", "e"), read(updated, "d", "e"), endless)
		switch got.Verdict {
		case Proved:
			same++
		case Refuted:
			differ++
		case Undecided:
			unknown++
		}
		for _, values := range [][2]string{{"1", "1"}, {"1", "2"}} {
			known := ComparePlans(read(text, values[0], values[1]), read(updated, values[0], values[1]), endless)
			if got.Verdict == Proved && known.Verdict == Refuted {
				t.Fatalf("%s\n%s\n%s, but for %v %s", text, updated, got.Text, values, known.Text)
			}
		}
		wrapped := "<Inverter><Inverter>" + plain(text) + "</Inverter></Inverter>"
		if c := ComparePlans(read(text, "d", "e"), read(document(wrapped), "d", "e"), endless); c.Verdict == Refuted {
			t.Fatalf("%s\n%s", text, c.Text)
		}
	}
	t.Logf("%d the same, %d differ, %d unknown", same, differ, unknown)
	if same < cases/20 || differ < cases/20 || unknown > cases/4 {
		t.Errorf("%d the same, %d differ, %d unknown", same, differ, unknown)
	}
}

// A plan that stops with an error is not the same as one that goes on, wherever the entry is read that nothing has
// written yet.
func TestPlansThatStopDiffer(t *testing.T) {
	reads := `<ScriptCondition code="x == 1"/>`
	for _, at := range []string{"<ForceSuccess>%s</ForceSuccess>", "<Fallback>%s<AlwaysSuccess/></Fallback>",
		`<Parallel success_count="1">%s<AlwaysSuccess/></Parallel>`} {
		for _, write := range []string{`<Script code="x := 1"/>`, `<Action name="w" done="y ge 1" exit="x := 1"/>`,
			`<Action name="w" _onSuccess="x := 1" done="y ge 1"/>`} {
			for _, around := range []string{"<Sequence>%s%s</Sequence>", "<ReactiveSequence>%s%s</ReactiveSequence>",
				`<Parallel success_count="2">%s%s</Parallel>`} {
				late := `<Sequence><Action name="wait" done="y ge 0"/>` + write + `</Sequence>`
				old := declare.Subject{Plan: readPlan(t, fmt.Sprintf(around, fmt.Sprintf(at, reads), late))}
				updated := declare.Subject{Plan: readPlan(t, fmt.Sprintf(around, "<AlwaysSuccess/>", late))}
				for _, c := range []Comparison{ComparePlans(old, updated, endless), ComparePlans(updated, old, endless)} {
					if c.Verdict != Refuted || !strings.Contains(c.Text, "plan alone stops with an error: an entry that is not written") {
						t.Errorf("%s: %v: %s", plain(old.Plan.Source.Text), c.Verdict, c.Text)
					}
				}
			}
		}
	}
}
