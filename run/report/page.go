package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/temporal"
	"github.com/canopy-uav/canopy/web"
)

// HTML writes the digest as one self-contained page that works offline: what the run was, the tree at any of its times,
// signals and statuses over one time axis, properties, time in each action, extremes, all status changes and events,
// parameters, the attached documents.
//
// A second digest is laid over the first one; nil: none is. All text may be hostile. Errors are those of w.
//
// A script, which the page contains, draws it: on canvas on a screen, as vectors on paper. Where scripts are off, the
// page shows the table of [Digest.Table]. Of a very long run, curves, lanes and table are thinned out, with a note.
func (d *Digest) HTML(w io.Writer, against *Digest) error {
	var table strings.Builder
	_ = d.Table(&table) // which has no errors
	out := bufio.NewWriter(w)
	title := html.EscapeString(d.Mission)
	_, _ = fmt.Fprintf(out, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; `+
		`script-src 'unsafe-inline'; img-src data: blob:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s – run report</title>
<style>%s</style>
</head>
<body>
<main id="page"></main>
<noscript><h1>%s</h1>
<p>A script draws this page; scripts are off here.</p>
<pre>%s</pre></noscript>
<script type="application/json" id="run">`, title, web.Style, title, html.EscapeString(table.String()))
	err := json.NewEncoder(out).Encode(d.page()) // which escapes what HTML could interpret
	if against != nil {
		_, _ = out.WriteString("</script>\n" + `<script type="application/json" id="against">`)
		err = errors.Join(err, json.NewEncoder(out).Encode(against.page()))
	}
	_, _ = out.WriteString("</script>\n<script>" + web.Report + "</script>\n</body>\n</html>\n")
	return errors.Join(err, out.Flush())
}

// Data writes what the page's script draws, as JSON that web/src/model/run.ts describes.
func (d *Digest) Data(w io.Writer) error { return json.NewEncoder(w).Encode(d.page()) }

// page returns the data of the page's script.
func (d *Digest) page() *data {
	to := d.data
	v := judge(&d.End)
	to.Mission, to.Text = d.Mission, d.Text
	to.Verdict = outcome{v.Outcome, v.Word, Clock(ended(&d.End)), Clock(d.Horizon), v.Reason}
	to.Facts, to.Notes = d.facts(), d.notes
	to.Fence, to.Rally = d.Fence, d.Rally
	to.Properties = d.properties()
	to.Verdicts, to.Activities, to.Extremes = d.verdicts(), d.actions(), d.ranges()
	to.Parameters = parameters(d.Parameters)
	for _, a := range d.Attachments {
		to.Documents = append(to.Documents, document{a.Name, string(a.Data)})
	}
	if d.plan != nil {
		describe(to.Tasks, d.plan, d.numbers)
	}
	return &to
}

// exact writes v with all its digits.
func exact(v float64) string { return diag.Number(v, -1) }

func (d *Digest) facts() (list []fact) {
	add := func(name, text, small string) { list = append(list, fact{name, text, small}) }
	add("Vehicle", d.Vehicle, "")
	add("Plan", d.Plan, "")
	iterations := ""
	s := d.Summary
	if s != nil && s.Sortie != nil {
		f := s.Sortie
		other := slices.DeleteFunc(f.Faults(), func(text string) bool { return text == f.Fault() })
		add("Flight", f.String(), strings.Join(append([]string{""}, other...), "; "))
	}
	if d.RelTol != 0 {
		add("Relative tolerance", exact(d.RelTol), "")
	}
	add("Sampling", exact(d.Interval)+" s and both sides of every event", "")
	if s != nil {
		if d.Date == 0 && s.Sortie == nil {
			add("Steps", strconv.Itoa(s.Steps), " and "+strconv.Itoa(s.RejectedSteps)+" rejected")
			add("Evaluations", strconv.Itoa(s.RHSEvaluations), " and "+strconv.Itoa(s.Jacobians)+" Jacobians")
		}
		add("Events", strconv.Itoa(s.StateEvents), " state, "+strconv.Itoa(s.TimeEvents)+" time")
		iterations = " in at most " + strconv.Itoa(s.MaxEventIterations) + " iterations an instant"
	}
	add("Status changes", strconv.Itoa(d.changes), iterations)
	return list
}

func (d *Digest) verdicts() *texts {
	t := &texts{Title: "Properties and assumptions",
		Columns: []string{"Verdict", "Kind", "Statement", "#Margin", "#Decided at", "Where and why"}}
	for _, v := range d.judged {
		decided, robust := "", d.robustness(&v)
		if robust != nil && robust.Decided == robust.Decided {
			decided = Clock(robust.Decided)
		}
		var notes []string
		if v.At != nil {
			notes = append(notes, "at "+Clock(*v.At))
		}
		if v.After != nil {
			notes = append(notes, "beyond "+Clock(*v.After))
		}
		class, consequence := "undecided", ""
		switch v.Verdict {
		case record.PropertyViolated:
			class, consequence = "bad", v.Consequence()
		case record.PropertySatisfied:
			class = "good"
		}
		for _, text := range []string{v.Because, v.Exchanged, consequence} {
			if text != "" {
				notes = append(notes, text)
			}
		}
		margin := ""
		if v.Margin != nil {
			margin = number(*v.Margin)
		}
		t.Classes = append(t.Classes, class)
		t.add(v.Verdict, cmp.Or(v.Kind, "property"), v.Property, margin, decided, strings.Join(notes, "; "))
	}
	return t.orNil()
}

// robustness returns how robustly the run has a property or a fact; nil: that is not known.
func (d *Digest) robustness(of *record.Property) *monitor.Robust {
	for i := range d.robust {
		r := &d.robust[i]
		if brief(r.Text) == of.Property && r.Kind.String() == cmp.Or(of.Kind, temporal.OfProperty.String()) {
			return r
		}
	}
	return nil
}

// properties returns the properties and facts with how robustly the run has them, thinned like curves.
func (d *Digest) properties() (list []property) {
	for i := range d.judged {
		v := &d.judged[i]
		r := d.robustness(v)
		if r == nil {
			continue
		}
		to := property{Text: v.Property, Kind: r.Kind.String(), Verdict: v.Verdict, At: v.At, Margin: v.Margin,
			Always: r.Always}
		if r.Decided == r.Decided {
			to.Decided = &r.Decided
		}
		times, values := r.T, r.V
		if n := len(times); n > mostRobust {
			c := curveThinner{columns: narrow(times[0], times[n-1], mostRobust/5)}
			for k, t := range times {
				c.add(point{k, t, values[k]})
			}
			times, values = c.points()
		}
		to.Time, to.Values = float64s(times), float32s(values)
		list = append(list, to)
	}
	return list
}

func (d *Digest) actions() *texts {
	t := &texts{Title: "Time in each action", Columns: []string{"Action", "#Entered", "#h:min:s", "#Share"}}
	for _, a := range d.activities {
		t.add(a.Name, strconv.Itoa(a.Entries), Clock(a.Time), fmt.Sprintf("%.1f %%", 100*a.Share))
	}
	return t.orNil()
}

func (d *Digest) ranges() *texts {
	t := &texts{Title: "Extremes", Columns: []string{"Signal", "Unit", "#Minimum", "#at", "#Maximum", "#at"}}
	for _, e := range d.extremes {
		t.add(e.Name, e.UnitOrOne(), named(e.Signal, e.Least), Clock(e.LeastAt), named(e.Signal, e.Greatest),
			Clock(e.GreatestAt))
	}
	return t.orNil()
}

func parameters(list []record.Parameter) *parameterList {
	if len(list) == 0 {
		return nil
	}
	changed := &texts{Columns: []string{"Name", "#Value", "#Default", "Unit", "Tag", "Meaning"}}
	all := &texts{Columns: []string{"Name", "#Value", "Unit", "Tag", "Meaning"}}
	var tags []string // in the order of their first parameters
	counts := map[string]int{}
	for _, v := range list {
		if v.Value != v.Default {
			changed.add(v.Name, number(v.Value), number(v.Default), v.Unit, v.Tag, v.Text)
		}
		all.add(v.Name, number(v.Value), v.Unit, v.Tag, v.Text)
		if counts[v.Tag]++; counts[v.Tag] == 1 {
			tags = append(tags, v.Tag)
		}
	}
	for i, tag := range tags {
		tags[i] = fmt.Sprintf("%d tagged %s", counts[tag], cmp.Or(tag, "none"))
	}
	text := fmt.Sprintf("%d parameters: %s. D is published by the maker of this aircraft, P published for another "+
		"aircraft or part, A assumed or tuned: no measurement.", len(list), strings.Join(tags, ", "))
	return &parameterList{text, changed.orNil(), all}
}
