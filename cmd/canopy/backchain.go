package main

import (
	"fmt"
	"io"
	"strings"

	"canopy/diag"
	"canopy/formalism/backchain"

	"github.com/spf13/cobra"
)

func backchainCommand() *cobra.Command {
	var goal, out, name string
	c := &cobra.Command{
		Use:   "backchain ACTIONS",
		Short: "Build a plan backwards from a goal",
		Long: `Build a plan backwards from a goal.

ACTIONS is a plan document whose <TreeNodesModel> declares conditions and, for actions, what they need and bring about:

  <Condition ID="door_open" on="door gt 0.9"/>
  <Action ID="unlock" pre="at_door and has_key" post="door_open" write="lock := 0"/>

The goal is a list of such facts, with "not" and "and". The plan is written as a plan document, which "canopy show",
"canopy trace" and missions take. Then it is flown in thought from every state of the world, if there are at most 14
conditions; the result and all warnings go to the standard error.`,
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
			if coverage, ok := w.Check(p, facts); ok {
				writeCoverage(cmd.ErrOrStderr(), coverage)
			}
			if out == "" {
				_, err = io.WriteString(cmd.OutOrStdout(), p.Source.Text)
			} else {
				err = save(out, []byte(p.Source.Text))
			}
			return failed(err)
		},
	}
	c.Flags().StringVar(&goal, "goal", "", "the `facts` to reach")
	c.Flags().StringVar(&out, "out", "", "write the plan to this `file`, not to the standard output")
	c.Flags().StringVar(&name, "name", "goal", "the plan's `name`")
	return c
}

// writeCoverage tells from where the plan reaches its goal.
func writeCoverage(out io.Writer, c backchain.Coverage) {
	fmt.Fprintf(out, "checked: of %d states of the world the goal can be reached from %d; "+
		"the plan reaches it from %d of these\n", 1<<c.Facts, c.Solvable, c.Reached)
	if c.Lost == nil {
		return
	}
	facts := strings.Join(c.Lost, ", ")
	if facts == "" {
		facts = "nothing"
	}
	fmt.Fprintf(out, "not, for example, when at first %s holds\n", facts)
}
