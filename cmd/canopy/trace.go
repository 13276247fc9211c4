package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"canopy/analysis/reaction"
	"canopy/bt"
	"canopy/diag"
	"canopy/document/plan"
	"canopy/document/script"

	"github.com/spf13/cobra"
)

func traceCommand() *cobra.Command {
	var count bool
	c := &cobra.Command{
		Use:   "trace FILE SCRIPT",
		Short: "Run a plan whose leaves are scripted: no vehicle, no time",
		Long: `Run a plan whose leaves are scripted: no vehicle, no time.

FILE is a plan (.xml) or a mission (.yaml), whose plan is run. Each line of the script is one instant; ";" separates
inputs that change together; "#" starts a comment.

  set C true|false                  a condition's truth value (initially false)
  request A accept|success|failure  an action's request (initially accept)
  end A success|failure             the outcome of an action that is Activating or Running
  slow A [entry] [exit]             from now on, only these procedures of A take time
  entered A, exited A               the running entry or exit procedure of A is complete
  elapsed T                         the running timer of T, a Sleep, Delay or Timeout, has elapsed
  set ENTRY VALUE                   an entry of the blackboard that is written from outside

Entries of the blackboard act by themselves: scripts write them, and conditions over them alone are judged in the same
instant. A script with inputs for such a leaf plays all leaves. VALUE is a number, true, false, or a text in quotes.

Each status change is printed as "N NAME: From -> To"; N is the number of the script's line, 0 the first settling.
With --count, each instant ends with a line "N: I event iterations, C status changes, V visits".`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := readPlan(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			src, err := source(args[1])
			if err != nil {
				return err
			}
			if count {
				err = traceCounts(p, src, cmd.OutOrStdout())
			} else {
				err = script.PrintPlan(p, src, cmd.OutOrStdout())
			}
			if errors.As(err, new(diag.List)) {
				return err
			}
			return failed(err)
		},
	}
	c.Flags().BoolVar(&count, "count", false, "print the work of each instant")
	return c
}

// traceCounts traces a script and prints the work of each instant after it.
func traceCounts(p *plan.Plan, src *diag.Source, w io.Writer) error {
	out := bufio.NewWriter(w)
	err := script.Play(p, src, func(n int, instant bt.Instant) {
		for _, c := range instant.Changes {
			fmt.Fprintf(out, "%d %s: %s -> %s\n", n, diag.Visible(p.Tree.Name(c.Task)), c.From, c.To)
		}
		fmt.Fprintf(out, "%d: %s\n", n, inWords(reaction.WorkOf(instant)))
	})
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return err
}
