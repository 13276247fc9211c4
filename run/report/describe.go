package report

import (
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
)

// Plan returns the plan attached to a log with this header, nil if it is not that of the run.
func Plan(h *record.Header) *plan.Plan {
	i := slices.IndexFunc(h.Attachments, func(a record.Attachment) bool { return a.Name == record.PlanFile })
	if i < 0 {
		return nil
	}
	p, _ := plan.ReadFlown(&diag.Source{Name: record.PlanFile, Text: string(h.Attachments[i].Data)})
	if p == nil || p.Tree.Len() != len(h.Tasks) {
		return nil
	}
	for i, t := range h.Tasks {
		if p.Tree.Name(bt.Task(i)) != t.Name {
			return nil
		}
	}
	return p
}

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
