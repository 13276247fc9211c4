package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"

	"github.com/spf13/cobra"
)

func traceCommand() *cobra.Command {
	var count bool
	c := &cobra.Command{
		Use: "trace",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, m, err := readPlan(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			src, err := source(args[1])
			if err != nil {
				return err
			}
			open := func(path string) (*plan.Plan, diag.List) { return otherPlan(args[1], path, m) }
			if count {
				err = traceCounts(p, src, open, cmd.OutOrStdout())
			} else {
				err = script.Print(p, src, open, cmd.OutOrStdout())
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

// otherPlan reads the plan that a script names, in the folder of the script unless the path is absolute. Of a mission's
// script, it is read for this mission.
func otherPlan(script, path string, m *mission.Mission) (*plan.Plan, diag.List) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(script), path)
	}
	src, list, err := planSource(path)
	if err != nil {
		return nil, diag.List{{Source: &diag.Source{Name: path}, Code: "file", Text: err.Error()}}
	}
	var signals plan.Vocabulary
	if m != nil {
		signals = m.Vocabulary()
	}
	p, found := plan.ReadFiles(src, signals, readFile)
	if list = append(list, found...); list.HasErrors() {
		return nil, list
	}
	return p, list
}

// traceCounts traces a script and prints the work of each instant after it.
func traceCounts(p *plan.Plan, src *diag.Source, open script.PlanReader, w io.Writer) error {
	out := bufio.NewWriter(w)
	at, sum := -1, reaction.Work{}
	end := func() {
		if at >= 0 {
			fmt.Fprintf(out, "%d: %s\n", at, inWords(sum))
		}
	}
	err := script.Play(p, src, open, func(n int, tree *bt.Tree, instant bt.Instant) {
		if n != at {
			end()
			at, sum = n, reaction.Work{}
		}
		for _, c := range instant.Changes {
			fmt.Fprintf(out, "%d %s: %s -> %s\n", n, diag.Visible(tree.Name(c.Task)), c.From, c.To)
		}
		w := reaction.WorkOf(instant)
		sum = reaction.Work{Iterations: sum.Iterations + w.Iterations, Changes: sum.Changes + w.Changes,
			Visits: sum.Visits + w.Visits}
	})
	end()
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return err
}
