package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/picture"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/formalism/translate"

	"github.com/spf13/cobra"
)

func translateCommand() *cobra.Command {
	var to, out string
	var actions bool
	c := &cobra.Command{
		Use: "translate",
		RunE: func(cmd *cobra.Command, args []string) error {
			var b bytes.Buffer
			if err := translated(&b, args[0], to, actions, cmd.ErrOrStderr()); err != nil {
				return err
			}
			return writeText(cmd.OutOrStdout(), out, b.String())
		},
	}
	c.Flags().StringVar(&to, "to", "", "`format` to write: "+strings.Join(formats, ", "))
	c.Flags().StringVar(&out, "out", "", "write to this `file` (default standard output)")
	c.Flags().BoolVar(&actions, "actions", false, "And-Or trees: replace leaves by their actions")
	return c
}

// translated writes a file in another format.
func translated(w io.Writer, name, to string, actions bool, stderr io.Writer) error {
	ext := filepath.Ext(name)
	if name == standardInput {
		ext = ".xml"
	}
	read := readers[ext]
	switch {
	case read == nil:
		return &usageError{fmt.Sprintf("unknown kind of file %s: its name must end in .xml, .tr or .andor", name)}
	case actions && ext != ".andor":
		return &usageError{"--actions is for And-Or trees"}
	case to == "solutions" && ext == ".andor":
		return solutions(w, name)
	case to == "solutions":
		return &usageError{"--to solutions is for And-Or trees"}
	case to == "" && ext == ".xml":
		to = "graph"
	case to == "":
		to = "xml"
	}
	write := writers[to]
	if write == nil {
		return &usageError{unknownWord("format", to, formats)}
	}
	src, err := source(name)
	if err != nil {
		return err
	}
	p, diags := read(src, actions)
	if err := accepted(diags, stderr); err != nil {
		return err
	}
	if ext == ".xml" && to != "xml" {
		sayFreeOf(stderr, p, bt.Kind.Acts, "actions, so they never end in the state graph")
	}
	return failed(write(w, p))
}

// readers read files as plans, by the ends of their names.
var readers = map[string]func(src *diag.Source, actions bool) (*plan.Plan, diag.List){
	".xml": func(src *diag.Source, _ bool) (*plan.Plan, diag.List) {
		return plan.ReadFiles(src, nil, readFile)
	},
	".tr": func(src *diag.Source, _ bool) (*plan.Plan, diag.List) {
		program, found := translate.ReadTeleoReactive(src)
		if program == nil {
			return nil, found
		}
		p, more := program.Plan()
		return p, append(found, more...)
	},
	".andor": func(src *diag.Source, actions bool) (*plan.Plan, diag.List) {
		tree, found := translate.ReadAndOr(src)
		if tree == nil {
			return nil, found
		}
		p, more := tree.Plan(actions)
		return p, append(found, more...)
	},
}

// formats are the formats that can be written, in the order of the help.
var formats = []string{"graph", "scxml", "dot", "xml", "solutions"}

// writers write a plan in another format.
var writers = map[string]func(io.Writer, *plan.Plan) error{
	"graph": graph(func(w io.Writer, g *stategraph.Graph) error {
		_, err := io.WriteString(w, g.Source.Text)
		return err
	}),
	"scxml": graph(translate.SCXML),
	"dot":   graph(picture.Graph),
	"xml":   plan.Write,
}

// graph returns a writer of plans, given one of state graphs.
func graph(write func(io.Writer, *stategraph.Graph) error) func(io.Writer, *plan.Plan) error {
	return func(w io.Writer, p *plan.Plan) error {
		g, err := translate.StateGraph(p, translate.Assumptions{})
		if err != nil {
			return err
		}
		return write(w, g)
	}
}

// solutions writes the solutions of an And-Or tree.
func solutions(w io.Writer, name string) error {
	src, err := source(name)
	if err != nil {
		return err
	}
	tree, diags := translate.ReadAndOr(src)
	if diags.HasErrors() {
		return diags
	}
	found, err := tree.Solutions()
	for i, s := range found {
		fmt.Fprintf(w, "%d: %s\n", i+1, diag.Visible(strings.Join(s, " + ")))
	}
	return err
}
