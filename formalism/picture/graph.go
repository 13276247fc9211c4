// Package picture draws plans as SVG, and state graphs for Graphviz.
package picture

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/formalism/stategraph"
)

// Graph writes a state graph in the DOT language of Graphviz: parallel steps are boxes around others with a dot for the
// entry and one for the exit; suspending and resuming transitions are dashed. It returns the error of the writer.
func Graph(w io.Writer, g *stategraph.Graph) error {
	out := bufio.NewWriter(w)
	d := &graphDrawing{g, out, map[stategraph.Step][]stategraph.Step{}, g.Actions(), map[bundle]int{}}
	for s := range stategraph.Step(g.Len()) {
		d.inside[g.Parent(s)] = append(d.inside[g.Parent(s)], s)
	}
	for _, t := range g.Transitions() {
		d.count[bundle{t.From, t.Suspends}]++
	}
	fmt.Fprintf(out, "digraph %s {\n", quoteDOT(g.Name))
	fmt.Fprintln(out, `  graph [compound=true, fontname="sans-serif", fontsize=11];`)
	fmt.Fprintf(out, "  node [shape=box, style=\"rounded,filled\", fillcolor=%q, color=%q,\n", tint(blue, 0.15), blue)
	fmt.Fprintln(out, `    fontname="sans-serif", fontsize=11];`)
	fmt.Fprintf(out, "  edge [color=%q, fontname=\"sans-serif\", fontsize=10];\n", muted)
	fmt.Fprintln(out, `  start [shape=point, label=""];`)
	d.level(stategraph.None, "start", "  ")
	drawn := map[bundle]int{}
	for _, t := range g.Transitions() {
		b := bundle{t.From, t.Suspends}
		drawn[b]++
		d.transition(t, drawn[b])
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// graphDrawing is a graph that is drawn.
type graphDrawing struct {
	*stategraph.Graph
	out     io.Writer
	inside  map[stategraph.Step][]stategraph.Step // the steps of each level
	actions []string
	count   map[bundle]int // transitions
}

// bundle is the transitions among which priorities decide: those that leave a step, or those that suspend it.
type bundle struct {
	from     stategraph.Step
	suspends bool
}

// level draws the steps inside a step and where they begin, from the node start, and end.
func (d *graphDrawing) level(around stategraph.Step, start, indent string) {
	for _, s := range d.inside[around] {
		label := d.StepName(s)
		for _, a := range d.StepActions(s) {
			label += "\n" + d.actions[a]
		}
		if !d.Parallel(s) {
			fmt.Fprintf(d.out, "%sn%d [label=%s];\n", indent, s, quoteDOT(label))
		} else {
			fmt.Fprintf(d.out, "%ssubgraph cluster_n%d {\n", indent, s)
			fmt.Fprintf(d.out, "%s  label=%s; style=rounded; color=%q;\n", indent, quoteDOT(label), line)
			fmt.Fprintf(d.out, "%s  n%d_entry [shape=point, label=\"\"];\n", indent, s)
			exits := d.Exits(s)
			if len(exits) > 0 {
				fmt.Fprintf(d.out, "%s  n%d_exit [shape=point, label=\"\"];\n", indent, s)
			}
			d.level(s, d.node(s, "_entry"), indent+"  ")
			for _, exit := range exits {
				fmt.Fprintf(d.out, "%s  %s -> n%d_exit [arrowhead=none];\n", indent, d.node(exit, "_exit"), s)
			}
			fmt.Fprintf(d.out, "%s}\n", indent)
		}
		if d.First(s) {
			fmt.Fprintf(d.out, "%s%s -> %s;\n", indent, start, d.node(s, "_entry"))
		}
	}
}

// node returns the node at which a transition enters or leaves a step: of a parallel one, its dot.
func (d *graphDrawing) node(s stategraph.Step, dot string) string {
	if !d.Parallel(s) {
		dot = ""
	}
	return fmt.Sprintf("n%d%s", s, dot)
}

func (d *graphDrawing) transition(t stategraph.Transition, priority int) {
	from := d.node(t.From, "_exit")
	attributes := []string{}
	if t.Suspends {
		from = d.node(t.From, "_entry")
		attributes = append(attributes, fmt.Sprintf("ltail=cluster_n%d", t.From), "style=dashed")
	}
	if t.Resumes {
		attributes = append(attributes, fmt.Sprintf("lhead=cluster_n%d", t.To), "style=dashed")
	}
	var label []string
	if d.count[bundle{t.From, t.Suspends}] > 1 {
		label = append(label, fmt.Sprintf("%d:", priority))
	}
	if t.When != nil {
		label = append(label, t.When.String())
	}
	if t.After > 0 {
		label = append(label, fmt.Sprintf("after %g s", t.After))
	}
	attributes = append([]string{"label=" + quoteDOT(strings.Join(label, " "))}, attributes...)
	fmt.Fprintf(d.out, "  %s -> %s [%s];\n", from, d.node(t.To, "_entry"), strings.Join(attributes, ", "))
}

// quoteDOT returns a text as a quoted ID of the DOT language, in which only the quotation mark and, for labels, the
// backslash have a meaning.
func quoteDOT(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(diag.VisibleLines(s)) + `"`
}
