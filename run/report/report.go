// Package report presents a run log as an HTML page, tables and plots.
package report

import (
	"bufio"
	_ "embed" // the page's parts
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/run/record"
)

//go:embed assets/report.html
var pageText string

//go:embed assets/report.css
var styleText string

//go:embed assets/report.js
var scriptText string

// functions are those of the page's template.
var functions = template.FuncMap{
	"clock":  Clock,
	"named":  named,
	"number": number,
	"exact":  func(v float64) string { return diag.Number(v, -1) },
	"unit":   record.Signal.UnitOrOne,
	"percent": func(v float64) string {
		return fmt.Sprintf("%.1f", 100*v)
	},
}

// HTML writes the digest as one self-contained page that works offline: title block, the plots of the header over one
// time axis, the events, the status of every task as a lane under them, the tree, the time in each action, the
// extremes of the plotted signals, all status changes and events in a table, the parameters with their tags, the
// attached documents.
//
// treeSVG is the drawing of the plan's tree with its final statuses, as plan.SVG writes it; it is trusted markup.
// Empty: no drawing. All other text may be hostile. Errors are those of w.
//
// The page's own script draws the curves as SVG in the browser, from the original samples: where both sides of a
// discontinuity were recorded, a step remains a step. Prints are vector graphics. For a very long run, curves, lanes
// and table are thinned out, with a note.
func (d *Digest) HTML(w io.Writer, treeSVG string) error {
	v := view{
		Digest:        d,
		Style:         template.CSS(styleText), //nolint:gosec // our own file
		Script:        template.JS(scriptText), //nolint:gosec // our own file
		Tree:          template.HTML(treeSVG),  //nolint:gosec // trusted by contract
		Ended:         ended(&d.End),
		Verdict:       judge(&d.End),
		Verdicts:      d.verdicts(),
		StatusChanges: d.changes,
		Activities:    d.activities,
		Extremes:      d.extremes,
		Notes:         d.notes,
	}
	for _, p := range d.Parameters {
		v.count(p)
	}
	page := template.Must(template.New("").Funcs(functions).Parse(pageText))
	out := bufio.NewWriter(w)
	err := page.ExecuteTemplate(out, "top", v)
	if err == nil {
		err = d.data.script(out)
	}
	if err == nil {
		err = page.ExecuteTemplate(out, "bottom", v)
	}
	return errors.Join(err, out.Flush())
}

// view is the data of the page's template.
type view struct {
	*Digest
	Style         template.CSS
	Script        template.JS
	Tree          template.HTML
	Ended         float64
	Verdict       verdict
	Verdicts      []assertion
	StatusChanges int
	Activities    []activity
	Extremes      []extreme
	Changed       []record.Parameter // those that are not at their default
	Tags          []tagCount
	Notes         notes
}

// assertion is a row of the table of properties and assumptions.
type assertion struct {
	record.Property
	Class string // of the row: good, bad or undecided
	Note  string
}

func (d *Digest) verdicts() []assertion {
	if d.Summary == nil {
		return nil
	}
	var list []assertion
	for _, p := range slices.Concat(d.Summary.Properties, d.Summary.Assumptions) {
		c := assertion{Property: p}
		var notes []string
		if p.At != nil {
			notes = append(notes, "at "+Clock(*p.At))
		}
		if p.After != nil {
			notes = append(notes, "beyond "+Clock(*p.After))
		}
		if p.Because != "" {
			notes = append(notes, p.Because)
		}
		if p.Exchanged != "" {
			notes = append(notes, p.Exchanged)
		}
		switch p.Verdict {
		case record.PropertyViolated:
			c.Class = "bad"
			if text := p.Consequence(); text != "" {
				notes = append(notes, text)
			}
		case record.PropertySatisfied:
			c.Class = "good"
		default:
			c.Class = "undecided"
		}
		c.Note = strings.Join(notes, "; ")
		list = append(list, c)
	}
	return list
}

// notes are the notes on the parts that the page leaves out.
type notes struct{ History, Table []string }

// tagCount is the number of parameters with a tag.
type tagCount struct {
	Tag   string
	Count int
}

func (v *view) count(p record.Parameter) {
	if p.Value != p.Default {
		v.Changed = append(v.Changed, p)
	}
	for i := range v.Tags {
		if v.Tags[i].Tag == p.Tag {
			v.Tags[i].Count++
			return
		}
	}
	v.Tags = append(v.Tags, tagCount{p.Tag, 1})
}

// script writes the data as an element of the page. It is most of the page, so it does not pass through the template;
// encoding/json escapes what HTML could interpret.
func (d *data) script(w *bufio.Writer) error {
	text, err := json.Marshal(d)
	for _, part := range [][]byte{[]byte(`<script type="application/json" id="log">`), text, []byte("</script>\n")} {
		_, _ = w.Write(part) // Flush returns the error
	}
	return err
}

// data is the input of the page's script.
type data struct {
	Axis     string         `json:"axis"` // what the time is
	Start    float64        `json:"start"`
	End      float64        `json:"end"`
	Statuses []string       `json:"statuses"` // names by code
	Tasks    []task         `json:"tasks"`
	Lanes    []lane         `json:"lanes"`
	Time     string         `json:"time"` // float64s; for curves without times of their own
	Plots    []panel        `json:"plots"`
	Changes  changes        `json:"changes"`
	Events   []record.Event `json:"events"`
	Gap      []float64      `json:"gap"` // start and end of the omitted events; null if there are none
}

type task struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Leaf   bool   `json:"leaf"`
}

type panel struct {
	Title   string  `json:"title"`
	Signals []curve `json:"signals"`
}

type curve struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Text   string `json:"text"`
	Time   string `json:"time"`   // float64s; "" if they are those of the log
	Values string `json:"values"` // float32s
}

// changes are the status changes by column, in order of occurrence.
type changes struct {
	T     []float64 `json:"t"`
	Micro []int     `json:"micro"`
	Task  []bt.Task `json:"task"`
	From  []int     `json:"from"`
	To    []int     `json:"to"`
}
