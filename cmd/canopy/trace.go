package main

import (
	"errors"

	"canopy/bt"
	"canopy/diag"

	"github.com/spf13/cobra"
)

func traceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trace PLAN SCRIPT",
		Short: "Run a plan whose leaves are scripted: no vehicle, no time",
		Long: `Run a plan whose leaves are scripted: no vehicle, no time.

Each line of the script is one instant; ";" separates inputs that change together; "#" starts a comment.

  set C true|false                  a condition's truth value (false at first)
  request A accept|success|failure  an action's request (accept at first)
  end A success|failure             the outcome of an action that is Activating or Running
  slow A [entry] [exit]             from now on exactly these procedures of A take time
  entered A, exited A               the running entry or exit procedure of A is complete

Each status change is printed as "N NAME: From -> To"; N counts the script's lines, 0 is the first settling.`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := readPlan(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			script, err := source(args[1])
			if err != nil {
				return err
			}
			err = bt.Trace(p.Tree, script, cmd.OutOrStdout())
			if errors.As(err, new(diag.List)) {
				return err
			}
			return failed(err)
		},
	}
}
