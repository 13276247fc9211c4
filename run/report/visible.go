package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"canopy/diag"
	"canopy/run/record"
)

// visible returns a header with all that authors named and wrote as it may be shown: a name in a log may hold what a
// page or terminal obeys instead of showing it.
func visible(h *record.Header) record.Header {
	shown := *h
	text := func(at ...*string) {
		for _, s := range at {
			*s = diag.Visible(*s)
		}
	}
	text(&shown.Mission, &shown.Text, &shown.Plan, &shown.Vehicle, &shown.Method)
	shown.Tasks, shown.Signals, shown.Plots = slices.Clone(h.Tasks), slices.Clone(h.Signals), slices.Clone(h.Plots)
	shown.Parameters, shown.Attachments = slices.Clone(h.Parameters), slices.Clone(h.Attachments)
	for i := range shown.Tasks {
		t := &shown.Tasks[i]
		text(&t.Name, &t.Detail)
	}
	for i := range shown.Signals {
		s := &shown.Signals[i]
		text(&s.Name, &s.Unit, &s.Text)
		s.Values = slices.Clone(s.Values)
		for k := range s.Values {
			text(&s.Values[k])
		}
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
	for i := range shown.Attachments {
		a := &shown.Attachments[i]
		text(&a.Name)
		a.Data = []byte(diag.VisibleLines(string(a.Data)))
	}
	return shown
}

// mostText is the maximum length of a text of an event or a summary [bytes]: the log has the rest.
const mostText = 500

// brief returns a text as it may be shown, cut off after mostText.
func brief(text string) string {
	if text = diag.Visible(text); len(text) > mostText {
		cut := mostText
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return strings.Clone(text) // not the whole of which it is a part
}

// visibleEvent returns an event as it may be shown.
func visibleEvent(e record.Event) record.Event {
	e.Kind, e.Text = brief(e.Kind), brief(e.Text)
	return e
}
