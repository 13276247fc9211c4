package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"canopy/plan"
	"canopy/stategraph"
	"canopy/translate"

	"github.com/spf13/cobra"
)

func translateCommand() *cobra.Command {
	var to, out string
	c := &cobra.Command{
		Use:   "translate FILE",
		Short: "Translate a plan to a state graph",
		Long: `Translate a plan to a state graph. What is written is said by --to:

  graph  a state graph (default), which "canopy show --dot" draws and a mission can name
  scxml  the state graph as a state chart, SCXML 1.0
  dot    the state graph in the DOT language of Graphviz
  xml    the plan with all subtrees in their places

The state graph has the same actions active as the plan's tree after every instant, whatever the conditions are.`,
		Example: `  canopy translate missions/solar-day.xml
  canopy translate missions/solar-day.xml --to scxml --out out/solar-day.scxml`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			write := writers[to]
			if to == "" {
				write = writers["graph"]
			}
			if write == nil {
				return &usageError{fmt.Sprintf("--to is one of %s, not %q", strings.Join(formats, ", "), to)}
			}
			if ext := filepath.Ext(args[0]); ext != ".xml" {
				return &usageError{fmt.Sprintf("the kind of %s is not known by its name: a plan is called .xml", args[0])}
			}
			p, err := readPlan(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := write(&b, p); err != nil {
				return failed(err)
			}
			if out == "" {
				_, err := cmd.OutOrStdout().Write(b.Bytes())
				return failed(err)
			}
			if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
				return err
			}
			return failed(replace(out, b.Bytes()))
		},
	}
	c.Flags().StringVar(&to, "to", "", "`format` to write: "+strings.Join(formats, ", "))
	c.Flags().StringVar(&out, "out", "", "`file` to write; standard output if it is not given")
	return c
}

// formats are the keys of writers in the order of the help.
var formats = []string{"graph", "scxml", "dot", "xml"}

// writers write a plan in another form.
var writers = map[string]func(io.Writer, *plan.Plan) error{
	"graph": graph(func(w io.Writer, g *stategraph.Graph) error {
		_, err := io.WriteString(w, g.Source.Text)
		return err
	}),
	"scxml": graph(translate.SCXML),
	"dot":   graph(func(w io.Writer, g *stategraph.Graph) error { return g.DOT(w) }),
	"xml":   plan.Write,
}

// graph makes a writer of plans of one of state graphs.
func graph(write func(io.Writer, *stategraph.Graph) error) func(io.Writer, *plan.Plan) error {
	return func(w io.Writer, p *plan.Plan) error {
		g, err := translate.Graph(p, translate.Assumptions{})
		if err != nil {
			return err
		}
		return write(w, g)
	}
}
