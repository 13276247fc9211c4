package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// family is a kind of plan in growing sizes.
type family struct {
	name  string
	sizes []int
	text  func(n int) string
	goal  func(n int) string // "": none
}

var families = []family{
	// A chain of fallbacks [check, repair] with a final goal, as in the published benchmarks of behaviour-tree checkers.
	{"checklist", []int{50, 500, 4900}, func(n int) string {
		var b strings.Builder
		b.WriteString(`<ReactiveSequence name="list">`)
		for i := range n {
			fmt.Fprintf(&b, `<ReactiveFallback name="f%d"><Condition name="check%d"/><Action name="repair%d"/></ReactiveFallback>`, i, i, i)
		}
		return b.String() + `<Condition name="goal"/></ReactiveSequence>`
	}, func(n int) string {
		var all func(from, to int) string
		all = func(from, to int) string {
			if to-from == 1 {
				return fmt.Sprintf("check%d", from)
			}
			return "(" + all(from, (from+to)/2) + " and " + all((from+to)/2, to) + ")"
		}
		return all(0, n) + " and goal"
	}},
	// The same with memory in every sequence and fallback.
	{"remembering", []int{50, 500, 1667}, func(n int) string {
		var b strings.Builder
		b.WriteString(`<Sequence name="list">`)
		for i := range n {
			fmt.Fprintf(&b, `<Fallback name="f%d"><Condition name="check%d"/><Action name="repair%d"/></Fallback>`, i, i, i)
		}
		return b.String() + `<Action name="go"/></Sequence>`
	}, nil},
	// Sequences and fallbacks in turn, two children each, down to conditions and actions in turn.
	{"binary", []int{127, 1023, 8191}, func(n int) string {
		leaf := 0
		var node func(n, depth int) string
		node = func(n, depth int) string {
			if n == 1 {
				if leaf++; leaf%2 == 0 {
					return fmt.Sprintf(`<Action name="a%d"/>`, leaf)
				}
				return fmt.Sprintf(`<Condition name="c%d"/>`, leaf)
			}
			kind := [...]string{"ReactiveFallback", "ReactiveSequence"}[depth%2]
			return "<" + kind + ">" + node(n/2, depth+1) + node(n/2, depth+1) + "</" + kind + ">"
		}
		return node(n, 0)
	}, nil},
	// Tasks by priority, each with two limits of a signal of its own.
	{"priority", []int{50, 500}, func(n int) string {
		var b strings.Builder
		b.WriteString(`<ReactiveFallback name="list">`)
		for i := range n {
			fmt.Fprintf(&b, `<ReactiveSequence name="s%d"><Condition name="low%d" on="x%d ge 1"/><Condition name="high%d" on="x%d lt 2"/>`+
				`<Action name="a%d" write="u := %d"/></ReactiveSequence>`, i, i, i, i, i, i, i)
		}
		return b.String() + `<Action name="rest" write="u := 0"/></ReactiveFallback>`
	}, nil},
	// The same, but all tasks look at one signal.
	{"ladder", []int{50, 500}, func(n int) string {
		var b strings.Builder
		b.WriteString(`<ReactiveFallback name="list">`)
		for i := range n {
			fmt.Fprintf(&b, `<ReactiveSequence name="s%d"><Condition name="c%d" on="x lt %d"/><Action name="a%d" write="u := %d"/></ReactiveSequence>`,
				i, i, i, i, i)
		}
		return b.String() + `<Action name="rest" write="u := 0"/></ReactiveFallback>`
	}, nil},
}

func (f family) subject(tb testing.TB, n int) declare.Subject {
	tb.Helper()
	p, list := plan.Read(&diag.Source{Name: "plan.xml",
		Text: `<root BTCPP_format="4"><BehaviorTree ID="plan">` + f.text(n) + `</BehaviorTree></root>`}, nil)
	if p == nil {
		tb.Fatal(list)
	}
	s := declare.Subject{Plan: p}
	if f.goal != nil {
		e, err := expr.Parse(f.goal(n))
		if err != nil {
			tb.Fatal(err)
		}
		s.Declared.Goal = &declare.Statement{Text: "the checks and the goal", Parts: []*expr.Expr{e}}
	}
	return s
}

// BenchmarkCheck asks all questions of plans of growing size. The limit is a second for 1,000 inputs.
func BenchmarkCheck(b *testing.B) {
	for _, f := range families {
		for _, n := range f.sizes {
			s := f.subject(b, n)
			b.Run(fmt.Sprintf("%s-%d", f.name, n), func(b *testing.B) {
				for b.Loop() {
					Check(s)
				}
				b.ReportMetric(float64(s.Plan.Tree.Len()), "tasks")
			})
		}
	}
}

// TestLargePlans: the answers for the families' plans are known.
func TestLargePlans(t *testing.T) {
	want := map[string]map[string]Verdict{
		// The goal may be missing when all is checked, and nothing repairs that.
		"checklist":   {"complete": Refuted, "dead": Proved, "goal": Proved},
		"remembering": {"complete": Proved},
		"priority":    {"complete": Proved, "dead": Proved, "conflict": Proved},
		"ladder":      {"complete": Proved, "dead": Proved, "conflict": Proved},
	}
	for _, f := range families {
		s := f.subject(t, f.sizes[0])
		all := Check(s)
		for q, v := range want[f.name] {
			for _, g := range byQuestion(all, q) {
				if g.Verdict != v {
					t.Errorf("%s: %s is %s: %s", f.name, q, g.Verdict, g.Text)
				}
			}
		}
	}
}

// The limits of one signal take work that grows with their number, in whatever order the plan names them.
func TestManyLimits(t *testing.T) {
	for name, at := range map[string]func(i, n int) int{
		"ascending":  func(i, _ int) int { return i },
		"descending": func(i, n int) int { return n - i },
		"shuffled":   func(i, n int) int { return i * 7919 % n },
	} {
		kept := func(n int) int {
			f := family{text: func(n int) string {
				var b strings.Builder
				b.WriteString("<ReactiveFallback>")
				for i := range n {
					fmt.Fprintf(&b, `<ReactiveSequence><Condition name="c%d" on="x lt %d"/><Action name="a%d"/></ReactiveSequence>`,
						i, at(i, n), i)
				}
				return b.String() + "</ReactiveFallback>"
			}}
			return len(NewModel(f.subject(t, n)).space.nodes)
		}
		if small, large := kept(100), kept(1000); large > 15*small {
			t.Errorf("%s: 100 limits take %d nodes, 1,000 take %d", name, small, large)
		}
	}
}
