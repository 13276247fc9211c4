package main

import (
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/picture"

	"github.com/spf13/cobra"
)

func showCommand() *cobra.Command {
	var svg, desugared bool
	c := &cobra.Command{
		Use: "show",
		RunE: func(cmd *cobra.Command, args []string) error {
			what, err := kindOf(args[0])
			if err != nil {
				return err
			}
			if what == graphKind {
				if svg || desugared {
					return &usageError{"a state graph is written for Graphviz: leave --svg and --desugared out"}
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
				return failed(picture.SVG(cmd.OutOrStdout(), p))
			}
			return failed(plan.Text(cmd.OutOrStdout(), p, nil))
		},
	}
	c.Flags().BoolVar(&svg, "svg", false, "draw as an SVG picture on standard output")
	c.Flags().BoolVar(&desugared, "desugared", false, "write the tasks for which the plan's nodes stand as XML")
	c.MarkFlagsMutuallyExclusive("svg", "desugared")
	return c
}
