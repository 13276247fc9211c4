package main

import (
	"io"

	"canopy/document/plan"
	"canopy/formalism/stategraph"

	"github.com/spf13/cobra"
)

func showCommand() *cobra.Command {
	var svg, dot bool
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Draw a plan's tree as text, SVG or DOT, or a state graph as DOT",
		Args:  arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if svg && dot {
				return &usageError{"--svg and --dot are two pictures: choose one"}
			}
			if isGraph(args[0]) {
				if !dot {
					return &usageError{"a state graph is drawn with --dot"}
				}
				g, err := readGraph(args[0], cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return failed(g.DOT(cmd.OutOrStdout()))
			}
			p, err := readPlan(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			switch {
			case svg:
				return failed(plan.SVG(cmd.OutOrStdout(), p, nil))
			case dot:
				return failed(plan.DOT(cmd.OutOrStdout(), p))
			}
			return failed(plan.Text(cmd.OutOrStdout(), p, nil))
		},
	}
	c.Flags().BoolVar(&svg, "svg", false, "draw as an SVG picture on standard output")
	c.Flags().BoolVar(&dot, "dot", false, "write the tree in the DOT language of Graphviz")
	return c
}

// readGraph reads a state graph without a plan: the conditions and actions that it names are not checked.
func readGraph(name string, stderr io.Writer) (*stategraph.Graph, error) {
	src, err := source(name)
	if err != nil {
		return nil, err
	}
	g, diags := stategraph.Read(src, nil)
	if diags.HasErrors() {
		return nil, diags
	}
	diags.Write(stderr, colour(stderr))
	return g, nil
}

// readPlan reads a plan without a vehicle: the signals that it names are not checked. Warnings go to stderr.
func readPlan(name string, stderr io.Writer) (*plan.Plan, error) {
	src, err := source(name)
	if err != nil {
		return nil, err
	}
	p, diags := plan.Read(src, nil)
	if diags.HasErrors() {
		return nil, diags
	}
	diags.Write(stderr, colour(stderr))
	return p, nil
}
