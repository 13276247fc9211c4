package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
)

// latched draws plans with many latches that depend on each other: on two signals with five values each, and one free
// condition.
type latched struct {
	randomPlan
	n       int
	on, off []string
}

func (r *latched) condition() string {
	one := func() string {
		return fmt.Sprintf("%s %s %d", r.pick("x", "x", "y"), r.pick("ge", "gt", "le", "lt"), 1+r.IntN(4))
	}
	if r.IntN(2) == 0 {
		return one()
	}
	return one() + r.pick(" and ", " or ") + one()
}

func (r *latched) name() string { return fmt.Sprintf("c%d", r.IntN(r.n)) }

func (r *latched) draw(t *testing.T, coupled bool) declare.Subject {
	r.n, r.on, r.off = 10+r.IntN(3), nil, nil
	text := `<ReactiveFallback name="f">`
	for i := range r.n {
		r.on, r.off = append(r.on, r.condition()), append(r.off, r.condition())
		text += fmt.Sprintf(`<ReactiveSequence name="s%d"><Condition name="c%d" on="%s" off="%s"/><Action name="a%d"/></ReactiveSequence>`,
			i, i, r.on[i], r.off[i], i)
	}
	text += `<ReactiveSequence name="s"><Condition name="plain" on="x ge 2 and y lt 3"/><Action name="a"/></ReactiveSequence>`
	s := declare.Subject{Plan: readPlan(t, strings.NewReplacer("<=", "le").Replace(text)+`<Action name="rest"/></ReactiveFallback>`)}
	statement := func(text string) declare.Statement {
		parts, err := expr.ParseStatement(text)
		if err != nil {
			t.Fatal(err)
		}
		return declare.Statement{Text: text, Parts: parts}
	}
	for range r.IntN(3) {
		fact := r.pick("x >= 1 or y >= 2", "plain -> x < 4", "not (x < 2 and y < 2)", "plain or x < 3", "y < 4 -> not plain")
		if coupled {
			fact = r.pick(fact, r.name()+" -> "+r.name(), "not ("+r.name()+" and "+r.name()+")", r.name()+" -> x < 3", "y > 2 or not "+r.name())
		}
		s.Declared.Facts = append(s.Declared.Facts, statement(fact))
	}
	for range 12 {
		var parts []string
		for range 2 + r.IntN(4) {
			parts = append(parts, r.pick("", "not ")+r.name())
		}
		if r.IntN(2) == 0 {
			parts = append(parts, r.pick("x >= 2", "y < 3", "x < 4 and y > 1", "plain"))
		}
		s.Declared.Always = append(s.Declared.Always, statement("not ("+strings.Join(parts, " and ")+")"))
	}
	return s
}

// reach visits all values of the latches that a run can have, in all worlds.
func (r *latched) reach(s declare.Subject, visit func(values []float64, truth map[string]bool)) {
	code := func(text string) *expr.Code {
		e, err := expr.Parse(text)
		if err != nil {
			panic(err)
		}
		return bruteCode(e)
	}
	var on, off []*expr.Code
	for i := range r.n {
		on, off = append(on, code(r.on[i])), append(off, code(r.off[i]))
	}
	plain := code("x ge 2 and y lt 3")
	var facts []bruteStatement
	for _, f := range s.Declared.Facts {
		facts = append(facts, bruteParts(f))
	}
	seen, todo := map[int]bool{}, []int{0}
	for len(todo) > 0 {
		before := todo[0]
		todo = todo[1:]
		for k := range 9 * 9 {
			w := []float64{0.5 + float64(k%9)/2, 0.5 + float64(k/9)/2}
			after, truth := 0, map[string]bool{"plain": plain.Bool(w, nil)}
			for i := range r.n {
				v := on[i].Bool(w, nil) || before>>i&1 == 1 && !off[i].Bool(w, nil)
				truth[fmt.Sprintf("c%d", i)] = v
				after |= btoi(v) << i
			}
			if slices.ContainsFunc(facts, func(f bruteStatement) bool { return !f.holds(w, truth) }) {
				continue
			}
			visit(w, truth)
			if !seen[after] {
				seen[after] = true
				todo = append(todo, after)
			}
		}
	}
}

// TestLatchesAgreeWithBruteForce: groups of 10 to 12 conditions with hysteresis have exactly the values together that a
// run can have, also where facts name them; each refutation's script begins where a run begins and shows it.
func TestLatchesAgreeWithBruteForce(t *testing.T) {
	for _, coupled := range []bool{false, true} {
		r := &latched{randomPlan: randomPlan{Rand: rand.New(rand.NewPCG(9, 5))}}
		cases, proved, refuted := 60, 0, 0
		if testing.Short() {
			cases = 5
		}
		for range cases {
			s := r.draw(t, coupled)
			properties := make([]bruteStatement, len(s.Declared.Always))
			for i, p := range s.Declared.Always {
				properties[i] = bruteParts(p)
			}
			violated := make([]bool, len(properties))
			lawful := false
			r.reach(s, func(w []float64, truth map[string]bool) {
				lawful = true
				for i, p := range properties {
					violated[i] = violated[i] || !p.holds(w, truth)
				}
			})
			if !lawful {
				continue
			}
			for i, f := range askAlways(NewModel(s)) {
				want := Proved
				if violated[i] {
					want = Refuted
				}
				if f.Verdict != want {
					t.Fatalf("%s\nfacts %v\n%s: %s, want %s", s.Plan.Source.Text, s.Declared.Facts, f.Text, f.Verdict, want)
				}
				if want == Proved {
					proved++
					continue
				}
				refuted++
				status := finals(t, s.Plan.Tree, f.Script)
				for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(s.Declared.Always[i].Text, "not ("), ")"), " and ") {
					name := strings.TrimPrefix(part, "not ")
					if strings.HasPrefix(name, "c") && (status[name] == bt.Success) != (name == part) {
						t.Fatalf("%s\nfacts %v\n%s\nthe script ends with %s %s:\n%s", s.Plan.Source.Text, s.Declared.Facts, f.Text, name, status[name],
							f.Script)
					}
				}
			}
		}
		if proved < cases/2 || refuted < cases/2 {
			t.Errorf("%d proved, %d refuted", proved, refuted)
		}
	}
}

// A check of plans with many conditions with hysteresis takes work and memory that grow with their number.
func TestManyLatches(t *testing.T) {
	for name, latch := range map[string]func(i, n int) (on, off string){
		"signals of their own": func(i, _ int) (string, string) { return fmt.Sprintf("x%d ge 2", i), fmt.Sprintf("x%d lt 1", i) },
		"one signal, rising":   func(i, _ int) (string, string) { return fmt.Sprintf("x ge %d", i+2), fmt.Sprintf("x lt %d", i+1) },
		"one signal, falling":  func(i, n int) (string, string) { return fmt.Sprintf("x ge %d", n-i+2), fmt.Sprintf("x lt %d", n-i+1) },
		"ten signals": func(i, _ int) (string, string) {
			return fmt.Sprintf("x%d ge %d", i%10, i+2), fmt.Sprintf("x%d lt %d", i%10, i+1)
		},
		"each with the next": func(i, n int) (string, string) {
			return fmt.Sprintf("x%d ge 2 and x%d ge 1", i, (i+1)%n), fmt.Sprintf("x%d lt 1", i)
		},
		"limits without hysteresis": func(i, n int) (string, string) { return fmt.Sprintf("x ge %d", n-i), fmt.Sprintf("x lt %d", n-i) },
	} {
		nodes := func(n int) int {
			f := family{text: func(n int) string {
				var b strings.Builder
				b.WriteString(`<ReactiveFallback name="f">`)
				for i := range n {
					on, off := latch(i, n)
					fmt.Fprintf(&b, `<ReactiveSequence name="s%d"><Condition name="c%d" on="%s" off="%s"/><Action name="a%d" write="u := 1"/></ReactiveSequence>`,
						i, i, on, off, i)
				}
				return b.String() + `<Action name="rest"/></ReactiveFallback>`
			}}
			m := NewModel(f.subject(t, n))
			for _, ask := range []func(*Model) []Finding{askComplete, askDead, askConflict} {
				for _, f := range ask(m) {
					if f.Verdict == Undecided {
						t.Errorf("%s: %s", name, f.Text)
					}
				}
			}
			return len(m.space.nodes)
		}
		if small, large := nodes(100), nodes(1000); large > 20*small {
			t.Errorf("%s: 100 take %d nodes, 1,000 take %d", name, small, large)
		}
	}
}

// Where a fact names more conditions with hysteresis than can be visited, no task is said to become active without a
// flight that shows it.
func TestMemoriesThatAreTooMany(t *testing.T) {
	if testing.Short() {
		return // the search goes to its bound
	}
	var text, either strings.Builder
	for i := range 14 {
		fmt.Fprintf(&text, `<ReactiveSequence><Condition name="c%d" on="x%[1]d ge 3" off="x%[1]d lt 1"/><Action name="a%[1]d"/>`+
			`</ReactiveSequence>`, i)
		fmt.Fprintf(&either, "c%d or ", i)
	}
	s := declare.Subject{Plan: readPlan(t, `<ReactiveFallback name="f">`+text.String()+`<Action name="b"/></ReactiveFallback>`)}
	d, list := declare.ReadFile(&diag.Source{Name: "facts.yaml",
		Text: "facts:\n  - x0 lt 3\n  - " + either.String() + "w ge 0\n"}, s.Plan)
	if list.HasErrors() {
		t.Fatal(list)
	}
	s.Declared = d
	for _, f := range askDead(NewModel(s)) {
		if f.Verdict == Proved || len(f.Tasks) != 1 || !strings.Contains(f.Text, "a0") {
			t.Errorf("%v: %s", f.Verdict, f.Text)
		}
	}
}

// TestOppositeLatches: of each of 20 signals, one condition becomes true where another one becomes false. Their 2^40
// memories are not visited to prove that never both are true.
func TestOppositeLatches(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, `<ReactiveSequence><Condition name="c%d" on="x%[1]d gt 2" off="x%[1]d lt 1"/>`+
			`<Condition name="d%[1]d" on="x%[1]d lt 1" off="x%[1]d gt 2"/><Action name="a%[1]d"/></ReactiveSequence>`, i)
	}
	s := declare.Subject{Plan: readPlan(t, `<ReactiveFallback>`+text.String()+`</ReactiveFallback>`)}
	parts, err := expr.ParseStatement("not (c3 and d3)")
	if err != nil {
		t.Fatal(err)
	}
	s.Declared.Always = []declare.Statement{{Text: "not (c3 and d3)", Parts: parts}}
	if f := askAlways(NewModel(s))[0]; f.Verdict != Proved {
		t.Error(f.Text)
	}
}

// A fact about a signal that has the name of a task is about the signal.
func TestFactAboutASignalWithTheNameOfATask(t *testing.T) {
	_, found := check(t, `<ReactiveFallback><ReactiveSequence name="soc"><Condition name="low" on="soc le 0.5" off="soc ge 0.8"/>
		<Action name="dock"/></ReactiveSequence><Action name="fly" done="x ge 1"/></ReactiveFallback>`,
		"{facts: [soc ge 0 and soc le 1], properties: [always (dock -> not fly)]}")
	if f := byQuestion(found, "property")[0]; f.Verdict != Proved {
		t.Errorf("%+v", f)
	}
}
