package main

import (
	"bufio"
	"cmp"
	"encoding/json"
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

// tracing is the command line of a trace.
type tracing struct{ count, entries, asJSON bool }

func traceCommand() *cobra.Command {
	var o tracing
	c := &cobra.Command{
		Use: "trace",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.count && o.asJSON {
				return &usageError{"--json prints changes only: leave out --count"}
			}
			p, m, err := readPlan(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			src, err := source(args[1])
			if err != nil {
				return err
			}
			open := func(path string) (*plan.Plan, diag.List) { return otherPlan(args[1], path, m) }
			err = o.print(p, src, open, cmd.OutOrStdout())
			if errors.As(err, new(diag.List)) {
				return err
			}
			return failed(err)
		},
	}
	c.Flags().BoolVar(&o.count, "count", false, "print the work of each instant")
	c.Flags().BoolVar(&o.entries, "entries", false, "print also the changes of entries of the blackboard")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print each change as a JSON object, and those of entries")
	return c
}

// otherPlan reads the plan that a script names, in the folder of the script unless the path is absolute. Of a mission's
// script, it is read for this mission. The mistake of a file that cannot be read has no source.
func otherPlan(script, path string, m *mission.Mission) (*plan.Plan, diag.List) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(script), path)
	}
	src, err := planSource(path)
	if err != nil {
		return nil, diag.List{{Text: diag.OfFile(err)}}
	}
	var signals plan.Vocabulary
	if m != nil {
		signals = m.Vocabulary()
	}
	return plan.ReadFiles(src, signals, readFile)
}

// traced is a change of a trace as JSON.
type traced struct {
	Line  int    `json:"line"` // of the script; 0: the first settling
	Task  string `json:"task,omitempty"`
	Entry string `json:"entry,omitempty"`
	From  any    `json:"from"` // a status, or the value of the entry: null is none
	To    any    `json:"to"`
}

// print traces a script and prints its changes, and with --count the work of each instant after them.
func (o *tracing) print(p *plan.Plan, src *diag.Source, open script.PlanReader, w io.Writer) error {
	out := bufio.NewWriter(w)
	line := func(c traced) {
		switch name := diag.Visible(c.Task + c.Entry); {
		case o.asJSON:
			_ = json.NewEncoder(out).Encode(c) // the error is that of Flush
		case c.Task != "":
			fmt.Fprintf(out, "%d %s: %s -> %s\n", c.Line, name, c.From, c.To)
		case o.entries:
			fmt.Fprintf(out, "%d %s: %s -> %s\n", c.Line, name, entryText(c.From), entryText(c.To))
		}
	}
	at, sum := -1, reaction.Work{}
	end := func() {
		if o.count && at >= 0 {
			fmt.Fprintf(out, "%d: %s\n", at, inWords(sum))
		}
	}
	err := script.Play(p, src, open, func(n int, tree *bt.Tree, instant bt.Instant, written []script.Written) {
		if n != at {
			end()
			at, sum = n, reaction.Work{}
		}
		for i := range len(instant.Changes) + 1 {
			for ; len(written) > 0 && written[0].After == i; written = written[1:] {
				line(traced{Line: n, Entry: written[0].Entry, From: written[0].From, To: written[0].To})
			}
			if i < len(instant.Changes) {
				c := instant.Changes[i]
				line(traced{Line: n, Task: tree.Name(c.Task), From: c.From.String(), To: c.To.String()})
			}
		}
		w := reaction.WorkOf(instant)
		sum = reaction.Work{Iterations: sum.Iterations + w.Iterations, Changes: sum.Changes + w.Changes,
			Visits: sum.Visits + w.Visits}
	})
	end()
	return cmp.Or(err, out.Flush())
}

// entryText writes the value of an entry as a script sets it.
func entryText(v any) string {
	switch v := v.(type) {
	case nil:
		return "unset"
	case string:
		return "'" + diag.Visible(v) + "'"
	}
	return fmt.Sprint(v)
}
