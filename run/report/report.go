// Package report presents a run log as an HTML page, tables and plots.
package report

import (
	"bufio"
	_ "embed" // the page's parts
	"encoding/json"
	"errors"
	"io"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

//go:embed assets/report.css
var styleText string

//go:embed assets/report.js
var scriptText string

// HTML writes the digest as one self-contained page that works offline: title block, the plots of the header over one
// time axis, the events, the status of every task as a lane under them, the tree, the time in each action, the
// extremes of the plotted signals, all status changes and events in a table, the parameters with their tags, the
// attached documents.
//
// treeSVG is the drawing of the plan's tree with its final statuses, as picture.SVG writes it; it is trusted markup.
// Empty: no drawing. All other text may be hostile. Errors are those of w.
//
// The page's own script draws the curves as SVG in the browser, from the original samples: where both sides of a
// discontinuity were recorded, a step remains a step. Prints are vector graphics. For a very long run, curves, lanes
// and table are thinned out, with a note.
func (d *Digest) HTML(w io.Writer, treeSVG string) error {
	p := page{bufio.NewWriter(w)}
	p.top(d)
	p.verdicts(d)
	if treeSVG != "" {
		p.put("<section>\n<h2>Tree at the end</h2>\n<figure class=\"tree\">" + treeSVG + "</figure>\n</section>\n")
	}
	p.put("<div class=\"pair\">\n")
	p.activities(d.activities)
	p.extremes(d.extremes)
	p.put("</div>\n")
	p.changes(d.notes.Table)
	p.parameters(d.Parameters)
	for _, a := range d.Attachments {
		p.put("<details class=\"document\">\n<summary>§</summary>\n<pre>§</pre>\n</details>\n", a.Name, string(a.Data))
	}
	p.put(`<script type="application/json" id="log">`)
	err := json.NewEncoder(p).Encode(&d.data) // which escapes what HTML could interpret
	p.put("</script>\n<script>" + scriptText + "</script>\n</body>\n</html>\n")
	return errors.Join(err, p.Flush())
}

// notes are the notes on the parts that the page leaves out.
type notes struct{ History, Table []string }

// data is the input of the page's script.
type data struct {
	Axis     string         `json:"axis"` // what the time is
	Start    float64        `json:"start"`
	End      float64        `json:"end"`
	Statuses []string       `json:"statuses"` // names by code
	Tasks    []task         `json:"tasks"`
	Lanes    []lane         `json:"lanes"`
	Time     []byte         `json:"time"` // float64s; for curves without times of their own
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
	Time   []byte `json:"time"`   // float64s; empty if they are those of the log
	Values []byte `json:"values"` // float32s
}

// changes are the status changes by column, in order of occurrence.
type changes struct {
	T     []float64 `json:"t"`
	Micro []int     `json:"micro"`
	Task  []bt.Task `json:"task"`
	From  []int     `json:"from"`
	To    []int     `json:"to"`
}
