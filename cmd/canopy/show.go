package main

import (
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/picture"

	"github.com/spf13/cobra"
)

func showCommand() *cobra.Command {
	var svg, dot, desugared bool
	c := &cobra.Command{
		Use: "show",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case svg && dot:
				return &usageError{"--svg and --dot are two pictures: choose one"}
			case desugared && (svg || dot):
				return &usageError{"--desugared writes XML, not a picture: leave --svg and --dot out"}
			}
			what, err := kindOf(args[0])
			if err != nil {
				return err
			}
			if what == graphKind {
				if !dot {
					return &usageError{"a state graph is drawn with --dot"}
				}
				g, err := readGraph(args[0], nil, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				return failed(picture.Graph(cmd.OutOrStdout(), g))
			}
			p, _, err := readPlan(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			switch {
			case desugared:
				return failed(plan.Desugared(cmd.OutOrStdout(), p))
			case svg:
				return failed(picture.SVG(cmd.OutOrStdout(), p, nil))
			case dot:
				return failed(picture.DOT(cmd.OutOrStdout(), p))
			}
			return failed(plan.Text(cmd.OutOrStdout(), p, nil))
		},
	}
	c.Flags().BoolVar(&svg, "svg", false, "draw as an SVG picture on standard output")
	c.Flags().BoolVar(&dot, "dot", false, "write the tree in the DOT language of Graphviz")
	c.Flags().BoolVar(&desugared, "desugared", false, "write the tasks for which the plan's nodes stand as XML")
	return c
}
