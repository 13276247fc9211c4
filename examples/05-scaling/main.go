// Command 05-scaling counts the steps and transitions of the state graphs of growing plans: the papers' argument for
// behaviour trees, measured.
package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/translate"
	"github.com/canopy-uav/canopy/internal/flight"
)

func main() { flight.Main("05-scaling", run) }

// family is a series of plans that grow by one task at a time.
type family struct {
	name  string
	text  string
	least int
	most  int
	plan  func(k int) string
}

var families = []family{
	{"sequence", "one after the other, each until it is done", 1, 8, func(k int) string {
		return "<Sequence>" + each(k, `<Action ID="a%[1]d" done="x%[1]d ge 1"/>`) + "</Sequence>"
	}},
	{"priority list", "the first whose condition holds, else the last", 2, 10, func(k int) string {
		return "<ReactiveFallback>" + each(k-1, guarded) + `<Action ID="rest"/></ReactiveFallback>`
	}},
	{"parallel", "all at once, each unless its condition holds", 1, 6, func(k int) string {
		return "<ReactiveParallel>" + each(k, unless) + "</ReactiveParallel>"
	}},
}

const (
	guarded = `<ReactiveSequence><Condition ID="c%[1]d"/><Action ID="a%[1]d"/></ReactiveSequence>`
	unless  = `<ReactiveFallback><Condition ID="c%[1]d"/><Action ID="a%[1]d"/></ReactiveFallback>`
)

// each writes tasks with the numbers from 1 to k.
func each(k int, format string) string {
	var b strings.Builder
	for i := range k {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

// jojo is the plan of Fig. 7 of the 2014 paper, as described in its text; more is a sub-task of the harvest.
func jojo(more string) string {
	return `
<ReactiveSequence>
  <ReactiveFallback>
    <ReactiveSequence name="harvest">
      <Condition ID="full"/> <Condition ID="surplus"/>
      <ReactiveFallback> <Condition ID="at_max"/> <Action ID="climb"/> </ReactiveFallback>
      ` + more + `
    </ReactiveSequence>
    <ReactiveSequence name="save">
      <ReactiveFallback> <Condition ID="at_min"/> <Action ID="sink"/> </ReactiveFallback>
      <Action ID="hold"/>
    </ReactiveSequence>
  </ReactiveFallback>
  <Action ID="mission"/>
</ReactiveSequence>`
}

const fuelCell = `<ReactiveFallback> <Condition ID="loaded"/> <Action ID="load"/> </ReactiveFallback>`

// size holds the sizes of a plan and its graph.
type size struct{ tasks, steps, transitions int }

func measure(text string, a func(p *plan.Plan) translate.Assumptions) (size, error) {
	p, list := plan.Read(&diag.Source{Name: "plan.xml",
		Text: `<root BTCPP_format="4"><BehaviorTree>` + text + `</BehaviorTree></root>`}, nil)
	if list.HasErrors() {
		return size{}, list
	}
	g, err := translate.StateGraph(p, a(p))
	if err != nil {
		return size{}, err
	}
	return size{p.Tree.Len(), g.Len(), len(g.Transitions())}, nil
}

func run(w io.Writer, dir string) error {
	tasks := flight.Axis{Label: "tasks of the tree"}
	steps := flight.New(tasks, flight.Axis{Label: "steps of the graph", Min: 1, Max: 1000, Log: true})
	transitions := flight.New(tasks, flight.Axis{Label: "transitions of the graph", Min: 1, Max: 100_000, Log: true})
	steps.KeyLeft, transitions.KeyLeft = true, true
	fmt.Fprintf(w, "%-21s %5s %5s %11s\n", "", "tasks", "steps", "transitions")
	for i, f := range families {
		var x, s, t []float64
		for k := f.least; k <= f.most; k++ {
			n, err := measure(f.plan(k), func(*plan.Plan) translate.Assumptions { return translate.Assumptions{} })
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%-16s k=%2d %5d %5d %11d\n", f.name, k, n.tasks, n.steps, n.transitions)
			x, s, t = append(x, float64(n.tasks)), append(s, float64(n.steps)), append(t, float64(n.transitions))
		}
		if err := steps.Curve(i, f.name+": "+f.text, x, s); err != nil {
			return err
		}
		if err := transitions.Curve(i, f.name, x, t); err != nil {
			return err
		}
	}
	for _, c := range []struct{ name, more string }{{"solar plan", ""}, {"with a fuel cell", fuelCell}} {
		n, err := measure(jojo(c.more), flying)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-21s %5d %5d %11d\n", c.name, n.tasks, n.steps, n.transitions)
	}
	return flight.Picture(w, dir, "scaling.svg", 160, 90, steps, transitions)
}

// flying states the assumptions on the solar aircraft's conditions: they change one at a time, and it is not at its
// minimum and its maximum altitude at once.
func flying(p *plan.Plan) translate.Assumptions {
	place := map[string]int{}
	for i, in := range translate.Inputs(p) {
		place[in.Name] = i
	}
	return translate.Assumptions{OneAtATime: true, Possible: func(inputs []bool) bool {
		return !inputs[place["at_min"]] || !inputs[place["at_max"]]
	}}
}
