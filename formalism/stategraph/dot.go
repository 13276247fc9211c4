package stategraph

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"canopy/diag"
	"canopy/internal/palette"
)

// DOT writes the graph in the DOT language of Graphviz: parallel steps are boxes around others with a dot for the entry
// and one for the exit; suspending and resuming transitions are dashed. It returns the error of the writer.
func (g *Graph) DOT(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph %s {\n", quote(g.Name))
	fmt.Fprintln(out, `  graph [compound=true, fontname="sans-serif", fontsize=11];`)
	fmt.Fprintf(out, "  node [shape=box, style=\"rounded,filled\", fillcolor=%q, color=%q,\n",
		palette.Tint(palette.Blue, 0.15), palette.Blue)
	fmt.Fprintln(out, `    fontname="sans-serif", fontsize=11];`)
	fmt.Fprintf(out, "  edge [color=%q, fontname=\"sans-serif\", fontsize=10];\n", palette.Muted)
	fmt.Fprintln(out, `  start [shape=point, label=""];`)
	g.drawLevel(out, None, "  ")
	for k := range g.transitions {
		g.drawTransition(out, k)
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// drawLevel draws the steps inside a step and where they begin and end.
func (g *Graph) drawLevel(out io.Writer, around Step, indent string) {
	start, from, end := "start", Step(0), Step(len(g.steps))
	if around != None {
		start, from, end = fmt.Sprintf("n%d_entry", around), around+1, g.steps[around].end
	}
	for s := from; s < end; s = g.steps[s].end {
		st := &g.steps[s]
		label := st.name
		for _, a := range st.actions {
			label += "\n" + g.actions[a]
		}
		if !st.parallel {
			fmt.Fprintf(out, "%sn%d [label=%s];\n", indent, s, quote(label))
		} else {
			fmt.Fprintf(out, "%ssubgraph cluster_n%d {\n", indent, s)
			fmt.Fprintf(out, "%s  label=%s; style=rounded; color=%q;\n", indent, quote(label), palette.Accept)
			fmt.Fprintf(out, "%s  n%d_entry [shape=point, label=\"\"];\n", indent, s)
			if len(st.exits) > 0 {
				fmt.Fprintf(out, "%s  n%d_exit [shape=point, label=\"\"];\n", indent, s)
			}
			g.drawLevel(out, s, indent+"  ")
			for _, exit := range st.exits {
				fmt.Fprintf(out, "%s  %s -> n%d_exit [arrowhead=none];\n", indent, g.leftAt(exit), s)
			}
			fmt.Fprintf(out, "%s}\n", indent)
		}
		if st.first {
			fmt.Fprintf(out, "%s%s -> %s;\n", indent, start, g.enteredAt(s))
		}
	}
}

// enteredAt and leftAt return the nodes between which transitions are drawn.
func (g *Graph) enteredAt(s Step) string {
	if g.steps[s].parallel {
		return fmt.Sprintf("n%d_entry", s)
	}
	return fmt.Sprintf("n%d", s)
}

func (g *Graph) leftAt(s Step) string {
	if g.steps[s].parallel {
		return fmt.Sprintf("n%d_exit", s)
	}
	return fmt.Sprintf("n%d", s)
}

func (g *Graph) drawTransition(out io.Writer, k int) {
	t := &g.transitions[k]
	from, list := g.leftAt(t.From), g.steps[t.From].out
	attributes := []string{}
	if t.Suspends {
		from, list = g.enteredAt(t.From), g.steps[t.From].suspend
		attributes = append(attributes, fmt.Sprintf("ltail=cluster_n%d", t.From), "style=dashed")
	}
	if t.Resumes {
		attributes = append(attributes, fmt.Sprintf("lhead=cluster_n%d", t.To), "style=dashed")
	}
	var label []string
	if len(list) > 1 {
		for i, other := range list {
			if other == k {
				label = append(label, fmt.Sprintf("%d:", i+1))
			}
		}
	}
	if t.When != nil {
		label = append(label, t.When.String())
	}
	if t.After > 0 {
		label = append(label, fmt.Sprintf("after %g s", t.After))
	}
	attributes = append([]string{"label=" + quote(strings.Join(label, " "))}, attributes...)
	fmt.Fprintf(out, "  %s -> %s [%s];\n", from, g.enteredAt(t.To), strings.Join(attributes, ", "))
}

// quote returns a text as a quoted ID of the DOT language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(diag.VisibleLines(s)) + `"`
}
