package report

import (
	"slices"

	"canopy/diag"
	"canopy/run/record"
)

// visible returns the log with all authors' names and texts in a form that is safe to show: a name in a log may contain
// characters that a page or terminal interprets instead of showing.
func visible(log *record.Log) *record.Log {
	shown := *log
	text := func(at ...*string) {
		for _, s := range at {
			*s = diag.Visible(*s)
		}
	}
	text(&shown.Mission, &shown.Text, &shown.Plan, &shown.Vehicle, &shown.Method)
	shown.Tasks, shown.Signals, shown.Plots = slices.Clone(log.Tasks), slices.Clone(log.Signals), slices.Clone(log.Plots)
	shown.Parameters, shown.Events = slices.Clone(log.Parameters), slices.Clone(log.Events)
	shown.Attachments = slices.Clone(log.Attachments)
	for i := range shown.Tasks {
		t := &shown.Tasks[i]
		text(&t.Name, &t.Detail)
	}
	for i := range shown.Signals {
		s := &shown.Signals[i]
		text(&s.Name, &s.Unit, &s.Text)
	}
	for i := range shown.Plots {
		p := &shown.Plots[i]
		text(&p.Title)
		p.Signals = slices.Clone(p.Signals)
		for k := range p.Signals {
			text(&p.Signals[k])
		}
	}
	for i := range shown.Parameters {
		p := &shown.Parameters[i]
		text(&p.Name, &p.Unit, &p.Tag, &p.Text)
	}
	for i := range shown.Events {
		text(&shown.Events[i].Kind, &shown.Events[i].Text)
	}
	for i := range shown.Attachments {
		a := &shown.Attachments[i]
		text(&a.Name)
		a.Data = []byte(diag.VisibleLines(string(a.Data)))
	}
	if log.Summary != nil {
		s := *log.Summary
		text(&s.Reason)
		shown.Summary = &s
	}
	return &shown
}
