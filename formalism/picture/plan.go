// Package picture draws plans and state graphs as pictures.
package picture

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// DOT writes the tree as a graph in the DOT language of Graphviz, with the attributes of the leaves as tooltips. It
// returns the error of the writer.
func DOT(w io.Writer, p *plan.Plan) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph %s {\n", quoteDOT(p.Name))
	fmt.Fprintln(out, `  graph [rankdir=LR, ordering=out, nodesep=0.15, ranksep=0.4];`)
	fmt.Fprintln(out,
		`  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, margin="0.12,0.05"];`)
	fmt.Fprintf(out, "  edge [arrowhead=none, color=%q];\n", accept)
	var walk func(t bt.Task)
	walk = func(t bt.Task) {
		label := p.Label(t)
		if kind := p.Tree.Kind(t).String(); kind != label {
			label += "\n" + kind
		}
		look := lookOf(p.Tree.Kind(t))
		fmt.Fprintf(out, "  n%d [label=%s, fillcolor=%q, color=%q, tooltip=%s];\n", t, quoteDOT(label), look.fill,
			look.line,
			quoteDOT(strings.Join(append([]string{p.Tree.Name(t)}, p.Details(t)...), "\n")))
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
