package main

import (
	"fmt"
	"io"
	"strings"

	"canopy/diag"
	"canopy/explore"
	"canopy/formalism/backchain"
	"canopy/internal/files"

	"github.com/spf13/cobra"
)

func backchainCommand() *cobra.Command {
	var goal, out, name string
	var seconds float64
	c := &cobra.Command{
		Use:   "backchain ACTIONS",
		Short: "Build a plan backwards from a goal",
		Long: `Build a plan backwards from a goal.

ACTIONS is a plan document whose <TreeNodesModel> declares conditions and, for actions, what they need and bring about:

  <Condition ID="door_open" on="door gt 0.9"/>
  <Action ID="unlock" pre="at_door and has_key" post="door_open" write="lock := 0"/>

The goal is a list of such facts, with "not" and "and". The plan is written as a plan document, which "canopy show",
"canopy trace" and missions take. Then it is flown in thought from every state of the world, if there are at most 14
conditions, until --budget seconds are over or Ctrl-C ends it. The result and all warnings go to the standard error.`,
		Example: `  canopy backchain examples/11-back-chaining/world.xml --goal "inspected and at_hangar" --out plan.xml`,
		Args:    arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if goal == "" {
				return &usageError{`--goal "..." says what the plan is to reach`}
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
			list = append(list, found...)
			if list.HasErrors() {
				return list
			}
			list.Write(cmd.ErrOrStderr(), colour(cmd.ErrOrStderr()))
			goOn, err := within(seconds)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			writeCoverage(cmd.ErrOrStderr(), w.Check(p, facts, explore.Budget{
				GoOn: func(int) bool { return ctx.Err() == nil && goOn() }}))
			if out == "" {
				_, err = io.WriteString(cmd.OutOrStdout(), p.Source.Text)
			} else {
				err = files.Save(out, []byte(p.Source.Text))
			}
			return failed(err)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "the `facts` to reach")
	c.Flags().Float64Var(&seconds, "budget", 60, "time in `seconds` after which the check of the plan ends")
	c.Flags().StringVar(&out, "out", "", "write the plan to this `file`, not to the standard output")
	c.Flags().StringVar(&name, "name", "goal", "the plan's `name`")
	return c
}

// writeCoverage tells from where the plan reaches its goal.
func writeCoverage(out io.Writer, c backchain.Coverage) {
	switch {
	case c.Why == "":
		fmt.Fprintf(out, "checked: of %d states of the world the goal can be reached from %d; "+
			"the plan reaches it from %d of these\n", 1<<c.Facts, c.Solvable, c.Reached)
	case c.Flown == 0:
		fmt.Fprintf(out, "not checked from where the plan reaches the goal: %s; try parts of the world\n", c.Why)
	default:
		fmt.Fprintf(out, "not checked from all states of the world: %s; of %d from which the goal can be reached, %d were "+
			"tried, and the plan reaches it from %d of these; try a larger --budget, or parts of the world\n", c.Why,
			c.Solvable, c.Flown, c.Reached)
	}
	if c.Lost == nil {
		return
	}
	facts := strings.Join(c.Lost, ", ")
	if facts == "" {
		facts = "nothing"
	}
	fmt.Fprintf(out, "not, for example, when at first %s holds\n", diag.Visible(facts))
}
