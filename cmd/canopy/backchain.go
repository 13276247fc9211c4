package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/formalism/backchain"

	"github.com/spf13/cobra"
)

func backchainCommand() *cobra.Command {
	var goal, out, name string
	budget := seconds(60)
	c := &cobra.Command{
		Use: "backchain",
		RunE: func(cmd *cobra.Command, args []string) error {
			if goal == "" {
				return &usageError{`give the goal of the plan with --goal "..."`}
			}
			src, err := source(args[0])
			if err != nil {
				return err
			}
			w, list := backchain.Read(src)
			if list.HasErrors() {
				return list
			}
			goalSource := &diag.Source{Name: "--goal", Text: goal}
			facts, mistakes := w.Goal(goalSource)
			if mistakes.HasErrors() {
				return mistakes
			}
			p, found := w.Build(name, goalSource, facts)
			if err := accepted(append(list, found...), cmd.ErrOrStderr()); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			over, free := within(ctx, budget)
			defer free()
			writeCoverage(cmd.ErrOrStderr(), w.Check(p, facts, explore.Budget{Over: func(int) string { return over() }}))
			return writeText(cmd.OutOrStdout(), out, p.Source.Text)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "the `facts` to reach")
	c.Flags().Var(&budget, "budget", "maximum `time` for the check of the plan")
	c.Flags().StringVar(&out, "out", "", "write the plan to this `file` (default standard output)")
	c.Flags().StringVar(&name, "name", "goal", "the plan's `name`")
	return c
}

// writeCoverage writes from how many states the plan reaches its goal.
func writeCoverage(out io.Writer, c backchain.Coverage) {
	switch {
	case c.Why == "":
		fmt.Fprintf(out, "checked: the goal can be reached from %d of %d states of the world; "+
			"the plan reaches it from %d of these\n", c.Solvable, 1<<c.Facts, c.Reached)
	case c.Flown == 0:
		fmt.Fprintf(out, "not checked: %s; try parts of the world\n", c.Why)
	default:
		fmt.Fprintf(out, "not checked from all states of the world: %s; the goal can be reached from %d states, %d of "+
			"these were tried, and the plan reaches it from %d; try a larger --budget, or parts of the world\n", c.Why,
			c.Solvable, c.Flown, c.Reached)
	}
	if c.Lost == nil {
		return
	}
	facts := strings.Join(c.Lost, ", ")
	if facts == "" {
		facts = "nothing"
	}
	fmt.Fprintf(out, "it fails, for example, if initially %s holds\n", diag.Visible(facts))
}
