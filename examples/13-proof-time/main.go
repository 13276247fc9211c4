// Command 13-proof-time measures the cost of the questions about single states for growing plans.
package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/cputime"
	"github.com/canopy-uav/canopy/internal/flight"
)

func main() { flight.Main("13-proof-time", run) }

// family is a series of growing plans of one kind.
type family struct {
	name, text string
	sizes      []int
	plan       func(n int) string
	goal       func(n int) string // nil: none
}

var families = []family{
	{"checklist", "fallbacks of a check and a repair, then a goal", []int{50, 100, 200, 500, 1000, 2000, 4999},
		func(n int) string {
			return `<ReactiveSequence name="list">` + each(n, `<ReactiveFallback name="f%[1]d"><Condition name="check%[1]d"/>`+
				`<Action name="repair%[1]d"/></ReactiveFallback>`) + `<Condition name="goal"/></ReactiveSequence>`
		}, func(n int) string { return all(0, n) + " and goal" }},
	{"binary tree", "fallbacks and sequences in turn, two children each", []int{32, 64, 256, 1024, 4096},
		func(n int) string {
			leaf := 0
			return binary(n, 0, &leaf)
		}, nil},
	{"priority list", "the first whose two conditions hold", []int{50, 100, 200, 500, 1000},
		func(n int) string {
			return `<ReactiveFallback name="list">` + each(n, `<ReactiveSequence name="s%[1]d"><Condition name="low%[1]d" `+
				`on="x%[1]d ge 1"/><Condition name="high%[1]d" on="x%[1]d lt 2"/><Action name="a%[1]d" write="u := 1"/>`+
				`</ReactiveSequence>`) + `<Action name="rest"/></ReactiveFallback>`
		}, nil},
	{"remembering list", "the checklist with memory", []int{50, 100, 200, 500, 1000},
		func(n int) string {
			return `<Sequence name="list">` + each(n, `<Fallback name="f%[1]d"><Condition name="check%[1]d"/>`+
				`<Action name="repair%[1]d"/></Fallback>`) + `<Action name="go"/></Sequence>`
		}, nil},
}

func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// all is true if all checks hold; expressions are at most 500 levels deep.
func all(from, to int) string {
	if to-from == 1 {
		return fmt.Sprintf("check%d", from)
	}
	return "(" + all(from, (from+to)/2) + " and " + all((from+to)/2, to) + ")"
}

func binary(leaves, depth int, leaf *int) string {
	if leaves == 1 {
		*leaf++
		return fmt.Sprintf(`<%s name="n%d"/>`, [...]string{"Action", "Condition"}[*leaf%2], *leaf)
	}
	kind := [...]string{"ReactiveFallback", "ReactiveSequence"}[depth%2]
	return "<" + kind + ">" + binary(leaves/2, depth+1, leaf) + binary(leaves/2, depth+1, leaf) + "</" + kind + ">"
}

// subject reads a plan of a family.
func (f family) subject(n int) (declare.Subject, error) {
	p, list := plan.Read(&diag.Source{Name: f.name,
		Text: `<root BTCPP_format="4"><BehaviorTree>` + f.plan(n) + `</BehaviorTree></root>`}, nil)
	if list.HasErrors() {
		return declare.Subject{}, list
	}
	s := declare.Subject{Plan: p}
	if f.goal != nil {
		if s.Declared, list = declare.ReadFile(&diag.Source{Name: "goal", Text: "goal: " + f.goal(n)}, p); list.HasErrors() {
			return s, list
		}
	}
	return s, nil
}

// ask answers the questions about single states: all except how long the tree takes to react.
func ask(s declare.Subject) []verify.Finding {
	var found []verify.Finding
	m := verify.NewModel(s)
	for _, q := range verify.Questions() {
		if q.Name != "reaction" {
			found = append(found, q.Ask(m)...)
		}
	}
	return found
}

// rounds is the number of measurements of each plan; the median counts.
const rounds = 3

func run(w io.Writer, dir string) error {
	p := flight.New(flight.Axis{Label: "tasks of the tree", Min: 10, Max: 100_000, Log: true},
		flight.Axis{Label: "CPU time of all questions of one step [s]", Min: 1e-4, Max: 10, Log: true})
	p.KeyLeft = true
	fmt.Fprintf(w, "%-18s %6s %8s %7s %8s %10s\n", "", "tasks", "CPU [s]", "proved", "refuted", "not proved")
	for i, f := range families {
		var x, y []float64
		for _, n := range f.sizes {
			s, err := f.subject(n)
			if err != nil {
				return err
			}
			var verdicts [3]int
			var times []float64
			for range rounds {
				began := cputime.Now()
				found := ask(s)
				times = append(times, max(1e-4, cputime.Now()-began)) // the clock's resolution
				verdicts = [3]int{}
				for _, x := range found {
					verdicts[x.Verdict]++
				}
			}
			slices.Sort(times)
			fmt.Fprintf(w, "%-18s %6d %8.4f %7d %8d %10d\n", f.name, s.Plan.Tree.Len(), times[rounds/2],
				verdicts[verify.Proved], verdicts[verify.Refuted], verdicts[verify.Undecided])
			x, y = append(x, float64(s.Plan.Tree.Len())), append(y, times[rounds/2])
		}
		if err := p.Curve(i, f.name+": "+f.text, x, y); err != nil {
			return err
		}
	}
	return flight.Picture(w, dir, "proof-time.svg", 160, 90, p)
}
