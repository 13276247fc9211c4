package report

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/record"
)

// page writes the page's markup. Errors are returned by Flush.
type page struct{ *bufio.Writer }

// put writes markup with the texts in place of the signs §. Texts may be hostile; markup is ours.
func (p page) put(markup string, texts ...string) {
	for _, text := range texts {
		before, after, _ := strings.Cut(markup, "§")
		_, _ = p.WriteString(before)
		_, _ = p.WriteString(html.EscapeString(text))
		markup = after
	}
	_, _ = p.WriteString(markup)
}

// table writes the beginning of a table after its tag. Columns that begin with # contain numbers.
func (p page) table(tag string, columns ...string) {
	p.put(tag + "\n<thead><tr>")
	for _, name := range columns {
		if name, number := strings.CutPrefix(name, "#"); number {
			p.put(`<th class="number">§</th>`, name)
		} else {
			p.put(`<th>§</th>`, name)
		}
	}
	p.put("</tr></thead>\n<tbody>\n")
}

const endOfTable = "</tbody>\n</table>\n"

// exact writes v with all its digits.
func exact(v float64) string { return diag.Number(v, -1) }

// top writes the title block and the place of the plots.
func (p page) top(d *Digest) {
	p.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; `+
		`script-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>§ – run report</title>
<style>`+styleText+`</style>
</head>
<body>
<header>
<h1>§</h1>
`, d.Mission, d.Mission)
	if d.Text != "" {
		p.put("<p class=\"lead\">§</p>\n", d.Text)
	}
	verdict := judge(&d.End)
	p.put(`<p class="verdict §"><strong>§ at §</strong> of §`,
		string(verdict.Outcome), verdict.Word, Clock(ended(&d.End)), Clock(d.Horizon))
	if verdict.Reason != "" {
		p.put(": §", verdict.Reason)
	}
	p.put("</p>\n<dl class=\"facts\">\n")
	fact := func(name, text, small string) {
		p.put("<div><dt>§</dt><dd>§", name, text)
		if small != "" {
			p.put("<small>§</small>", small)
		}
		p.put("</dd></div>\n")
	}
	fact("Vehicle", d.Vehicle, "")
	fact("Plan", d.Plan, "")
	if d.RelTol != 0 {
		fact("Relative tolerance", exact(d.RelTol), "")
	}
	fact("Sampling", exact(d.Interval)+" s and both sides of every event", "")
	iterations := ""
	if s := d.Summary; s != nil {
		if f := s.Sortie; f != nil {
			other := slices.DeleteFunc(f.Faults(), func(text string) bool { return text == f.Fault() })
			fact("Flight", f.String(), strings.Join(append([]string{""}, other...), "; "))
		} else {
			fact("Steps", strconv.Itoa(s.Steps), " and "+strconv.Itoa(s.RejectedSteps)+" rejected")
			fact("Evaluations", strconv.Itoa(s.RHSEvaluations), " and "+strconv.Itoa(s.Jacobians)+" Jacobians")
		}
		fact("Events", strconv.Itoa(s.StateEvents), " state, "+strconv.Itoa(s.TimeEvents)+" time")
		iterations = " in at most " + strconv.Itoa(s.MaxEventIterations) + " iterations an instant"
	}
	fact("Status changes", strconv.Itoa(d.changes), iterations)
	p.put(`</dl>
</header>
<section id="history">
<h2>History</h2>
<p class="tools screen">Drag to zoom, double-click to see all, arrow keys to move. ` +
		`<button id="all" type="button" hidden>See all</button></p>
<noscript><p class="verdict failed">The plots and the table of changes are drawn by a script, which is switched off ` +
		`here.</p></noscript>
`)
	p.notes(d.notes.History)
	p.put("<div id=\"figure\"></div>\n<div id=\"tip\" hidden></div>\n</section>\n")
}

func (p page) notes(list []string) {
	for _, text := range list {
		p.put("<p class=\"note\">§</p>\n", text)
	}
}

func (p page) verdicts(d *Digest) {
	if d.Summary == nil || len(d.Summary.Properties)+len(d.Summary.Assumptions) == 0 {
		return
	}
	p.put("<section>\n<h2>Properties and assumptions</h2>\n")
	p.table(`<table class="verdicts">`, "Verdict", "Kind", "Statement", "#Margin", "Where and why")
	for _, v := range slices.Concat(d.Summary.Properties, d.Summary.Assumptions) {
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
		p.put(`<tr class="§"><td>§</td><td>§</td><td><code>§</code></td><td class="number">§</td><td>§</td></tr>`+"\n",
			class, v.Verdict, cmp.Or(v.Kind, "property"), v.Property, margin, strings.Join(notes, "; "))
	}
	p.put(endOfTable + "</section>\n")
}

func (p page) activities(list []activity) {
	if len(list) == 0 {
		return
	}
	p.put("<section>\n<h2>Time in each action</h2>\n")
	p.table("<table>", "Action", "#Entered", "#h:min:s", "#Share", "")
	for _, a := range list {
		share := fmt.Sprintf("%.1f", 100*a.Share)
		p.put(`<tr><td>§</td><td class="number">§</td><td class="number">§</td><td class="number">§ %</td><td class="bar">`+
			`<svg width="100%" height="9" aria-hidden="true"><rect width="§%" height="9"></rect></svg></td></tr>`+"\n",
			a.Name, strconv.Itoa(a.Entries), Clock(a.Time), share, share)
	}
	p.put(endOfTable + "</section>\n")
}

func (p page) extremes(list []extreme) {
	if len(list) == 0 {
		return
	}
	p.put("<section>\n<h2>Extremes</h2>\n")
	p.table("<table>", "Signal", "Unit", "#Minimum", "#at", "#Maximum", "#at")
	for _, e := range list {
		p.put(`<tr><td title="§">§</td><td>§</td><td class="number">§</td><td class="number">§</td><td class="number">§</td>`+
			`<td class="number">§</td></tr>`+"\n", e.Text, e.Name, e.UnitOrOne(), named(e.Signal, e.Least), Clock(e.LeastAt),
			named(e.Signal, e.Greatest), Clock(e.GreatestAt))
	}
	p.put(endOfTable + "</section>\n")
}

// changes writes the frame of the table that the page's script fills.
func (p page) changes(notes []string) {
	p.put(`<section>
<h2>Status changes and events</h2>
<p class="tools screen"><input id="filter" type="search" placeholder="filter: task, status, event" aria-label="Filter">
<select id="kind" aria-label="Kind"><option value="">all</option></select> <span id="count"></span> ` +
		`Click a line to zoom to it.</p>
`)
	p.notes(notes)
	p.put(`<table id="changes">
<thead><tr><th class="number"><button type="button" data-key="t">Time [h:min:s]</button></th>` +
		`<th class="number"><button type="button" data-key="micro" title="event iteration within the instant">It.</button>` +
		`</th>` +
		`<th><button type="button" data-key="kind">Kind</button></th>` +
		`<th><button type="button" data-key="what">Task or event</button></th>` +
		`<th><button type="button" data-key="from">From</button></th>` +
		`<th><button type="button" data-key="to">To</button></th></tr></thead>
<tbody></tbody>
</table>
<p class="screen"><button id="more" type="button" hidden>Show all</button></p>
<p id="rest" class="note paper" hidden></p>
</section>
`)
}

func (p page) parameters(list []record.Parameter) {
	if len(list) == 0 {
		return
	}
	var changed []record.Parameter // those that are not at their default
	var tags []string              // in the order of their first parameters
	counts := map[string]int{}
	for _, v := range list {
		if v.Value != v.Default {
			changed = append(changed, v)
		}
		if counts[v.Tag]++; counts[v.Tag] == 1 {
			tags = append(tags, v.Tag)
		}
	}
	p.put("<section>\n<h2>Parameters</h2>\n<p>§ parameters:", strconv.Itoa(len(list)))
	comma := ""
	for _, tag := range tags {
		p.put(comma+` § tagged <b class="tag">§</b>`, strconv.Itoa(counts[tag]), cmp.Or(tag, "none"))
		comma = ","
	}
	p.put(". D is published by the maker of this aircraft, P published for another aircraft or part, A assumed or " +
		"tuned: no measurement.</p>\n")
	const row = `<td>§</td><td><b class="tag">§</b></td><td>§</td></tr>` + "\n"
	if len(changed) > 0 {
		p.table("<table>\n<caption>Changed by the mission</caption>",
			"Name", "#Value", "#Default", "Unit", "Tag", "Meaning")
		for _, v := range changed {
			p.put(`<tr><td>§</td><td class="number">§</td><td class="number">§</td>`+row,
				v.Name, number(v.Value), number(v.Default), v.Unit, v.Tag, v.Text)
		}
		p.put(endOfTable)
	}
	p.put("<details>\n<summary>All parameters</summary>\n")
	p.table("<table>", "Name", "#Value", "Unit", "Tag", "Meaning")
	for _, v := range list {
		p.put(`<tr><td>§</td><td class="number">§</td>`+row, v.Name, number(v.Value), v.Unit, v.Tag, v.Text)
	}
	p.put(endOfTable + "</details>\n</section>\n")
}
