package report

import (
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// describe adds to tasks what their plan says of them; numbers are those of its tasks.
func describe(tasks []task, p *plan.Plan, numbers []bt.Task) {
	for i, n := range numbers {
		of, t := &tasks[n], bt.Task(i)
		of.Label = diag.Visible(p.Label(t))
		of.Detail = []string{}
		for _, d := range p.Details(t) {
			of.Detail = append(of.Detail, diag.Visible(d))
		}
		switch text := strings.Join(of.Detail, " · "); {
		case text == "":
			of.Note = of.Kind
		case of.Leaf:
			of.Note = text
		default:
			of.Note = of.Kind + ", " + text
		}
	}
	for _, l := range p.Leaves {
		if p.Tree.Kind(l.Task).Judged() {
			of := &tasks[numbers[l.Task]]
			of.On, of.Off = structure(l.On), structure(l.Off)
		}
	}
}

// structure returns the structure of a condition; nil if there is none.
func structure(e *expr.Expr) *logic {
	if e == nil {
		return nil
	}
	l := e.Logic(nil)
	to := newLogic(&l)
	return &to
}

// inConditions returns the names of the signals that the conditions of a plan read.
func inConditions(p *plan.Plan) map[string]bool {
	names := map[string]bool{}
	for _, l := range p.Leaves {
		for _, e := range []*expr.Expr{l.On, l.Off} {
			if e != nil && p.Tree.Kind(l.Task).Judged() {
				of := e.Logic(nil)
				for _, name := range of.Signals() {
					names[name] = true
				}
			}
		}
	}
	return names
}
