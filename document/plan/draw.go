package plan

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
	"canopy/internal/palette"
)

// detail is one attribute of a leaf.
type detail struct{ attribute, text string }

// Details returns the attributes of the leaf as a list of "attribute: text", in canonical spelling, and its ports.
func (l *Leaf) Details() []string {
	var details []string
	for _, p := range l.Ports {
		details = append(details, p.Name+": "+p.Value)
	}
	for _, d := range l.details() {
		details = append(details, d.attribute+": "+d.text)
	}
	return details
}

func (l *Leaf) details() []detail {
	var details []detail
	add := func(name string, e *expr.Expr) {
		if e != nil {
			details = append(details, detail{name, e.String()})
		}
	}
	assign := func(name string, list []Assignment) {
		var parts []string
		for _, a := range list {
			parts = append(parts, a.String())
		}
		if len(parts) > 0 {
			details = append(details, detail{name, strings.Join(parts, "; ")})
		}
	}
	add(attrOn, l.On)
	add(attrOff, l.Off)
	if l.until != nil {
		details = append(details, detail{attrUntil, l.until.Value})
	}
	assign(attrWrite, l.Write)
	assign(attrEntry, l.Entry)
	add(attrEntryTime, l.EntryTime)
	add(attrEntryUntil, l.EntryUntil)
	add(attrDone, l.Done)
	add(attrFailed, l.Failed)
	assign(attrExit, l.Exit)
	add(attrExitTime, l.ExitTime)
	add(attrExitUntil, l.ExitUntil)
	add(attrSuccessIf, l.SuccessIf)
	add(attrFailureIf, l.FailureIf)
	return details
}

// drawing is a plan in the form that its pictures need.
type drawing struct {
	*Plan
	statuses []bt.Status
	leaf     map[bt.Task]*Leaf
}

func newDrawing(p *Plan, statuses []bt.Status) *drawing {
	if statuses != nil && len(statuses) != p.Tree.Len() {
		panic("plan: the number of statuses is not the number of tasks")
	}
	d := &drawing{Plan: p, statuses: statuses, leaf: map[bt.Task]*Leaf{}}
	for i := range p.Leaves {
		d.leaf[p.Leaves[i].Task] = &p.Leaves[i]
	}
	return d
}

// details returns the attributes of a leaf or the counts of a parallel, nothing for other tasks.
func (d *drawing) details(t bt.Task) []string {
	if l := d.leaf[t]; l != nil {
		return l.Details()
	}
	var values []string
	for i, p := range d.Tree.Kind(t).Params() {
		values = append(values, p.Label+" "+d.Param(t, i))
	}
	if values == nil {
		return nil
	}
	text := strings.Join(values, ", ")
	if d.Tree.Kind(t).Family() == bt.Count {
		text += fmt.Sprintf(" of %d", len(d.Tree.Children(t)))
	}
	return []string{text}
}

// shorten cuts a text to a number of characters.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// Text draws the tree with box-drawing characters, one task a line with its name, kind, status (indexed by task; nil:
// none) and the attributes of a leaf, shortened. It returns the error of the writer.
func Text(w io.Writer, p *Plan, statuses []bt.Status) error {
	const mostDetail, mostName = 90, 60
	d := newDrawing(p, statuses)
	type line struct{ name, kind, status, detail string }
	var lines []line
	var walk func(t bt.Task, lead, below string)
	walk = func(t bt.Task, lead, below string) {
		l := line{name: lead + diag.Visible(p.Tree.Name(t)), kind: p.Tree.Kind(t).String(),
			detail: shorten(diag.Visible(strings.Join(d.details(t), " · ")), mostDetail)}
		if statuses != nil {
			l.status = statuses[t].String()
		}
		lines = append(lines, l)
		children := p.Tree.Children(t)
		for i, c := range children {
			if i == len(children)-1 {
				walk(c, below+"└─ ", below+"   ")
			} else {
				walk(c, below+"├─ ", below+"│  ")
			}
		}
	}
	walk(p.Tree.Root(), "", "")
	names, kinds, words := 0, 0, 0
	for _, l := range lines {
		names = min(mostName, max(names, utf8.RuneCountInString(l.name)))
		kinds = max(kinds, len(l.kind))
		words = max(words, len(l.status))
	}
	out := bufio.NewWriter(w)
	for _, l := range lines {
		text := fmt.Sprintf("%-*s  %-*s  ", names, l.name, kinds, l.kind)
		if statuses != nil {
			text += fmt.Sprintf("%-*s  ", words, l.status)
		}
		fmt.Fprintln(out, strings.TrimRight(text+l.detail, " "))
	}
	return out.Flush()
}

// DOT writes the tree as a graph in the DOT language of Graphviz, with the attributes of the leaves as tooltips. It
// returns the error of the writer.
func DOT(w io.Writer, p *Plan) error {
	d := newDrawing(p, nil)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph %s {\n", quoteDOT(p.Name))
	fmt.Fprintln(out, `  graph [rankdir=LR, ordering=out, nodesep=0.15, ranksep=0.4];`)
	fmt.Fprintln(out,
		`  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, margin="0.12,0.05"];`)
	fmt.Fprintf(out, "  edge [arrowhead=none, color=%q];\n", palette.Accept)
	var walk func(t bt.Task)
	walk = func(t bt.Task) {
		label := p.labels[t]
		if kind := p.Tree.Kind(t).String(); kind != label {
			label += "\n" + kind
		}
		look := lookOf(p.Tree.Kind(t))
		fmt.Fprintf(out, "  n%d [label=%s, fillcolor=%q, color=%q, tooltip=%s];\n", t, quoteDOT(label), look.fill,
			look.line,
			quoteDOT(strings.Join(append([]string{p.Tree.Name(t)}, d.details(t)...), "\n")))
		for _, c := range p.Tree.Children(t) {
			walk(c)
			fmt.Fprintf(out, "  n%d -> n%d;\n", t, c)
		}
	}
	walk(p.Tree.Root())
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// quoteDOT returns a text as a quoted ID of the DOT language, in which only the quotation mark and, for labels, the
// backslash have a meaning.
func quoteDOT(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(diag.VisibleLines(s)) + `"`
}
