package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"canopy/diff"

	"github.com/spf13/cobra"
)

func diffCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what a plan or a state graph changes of an older version",
		Long: `Say what a plan or a state graph changes of an older version: which nodes and connections of a plan's tree,
which steps and transitions of a state graph were removed, changed or added. Subtrees are compared where they are used.

In the table, "joining" counts the removed and added connections or transitions with an end in what both versions have:
those by which an extension touches what was there.`,
		Example: `  canopy diff missions/solar-day.xml missions/solar-day-fuelcell.xml
  canopy diff missions/solar-day.graph.yaml missions/solar-day-fuelcell.graph.yaml`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := difference(args[0], args[1], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return failed(e.Encode(d))
			}
			return failed(writeDifference(cmd.OutOrStdout(), d))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// difference compares two files of one kind.
func difference(old, updated string, stderr io.Writer) (diff.Difference, error) {
	if isGraph(old) != isGraph(updated) {
		return diff.Difference{}, &usageError{fmt.Sprintf("%s and %s are not both plans or both state graphs", old, updated)}
	}
	if isGraph(old) {
		a, err := readGraph(old, stderr)
		if err != nil {
			return diff.Difference{}, err
		}
		b, err := readGraph(updated, stderr)
		if err != nil {
			return diff.Difference{}, err
		}
		return diff.Graphs(a, b), nil
	}
	a, err := readPlan(old, stderr)
	if err != nil {
		return diff.Difference{}, err
	}
	b, err := readPlan(updated, stderr)
	if err != nil {
		return diff.Difference{}, err
	}
	return diff.Plans(a, b), nil
}

// isGraph tells a state graph from a plan by the name of its file.
func isGraph(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// writeDifference writes the counts as a table, then each change with its lines in the old and the new file.
func writeDifference(out io.Writer, d diff.Difference) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, d.Formalism+"\told\tnew\tremoved\tchanged\tadded\tjoining\t")
	for _, n := range d.Counts {
		fmt.Fprintf(w, "%ss\t%d\t%d\t%d\t%d\t%d\t%d\t\n", n.Element, n.Old, n.New, n.Removed, n.Changed, n.Added, n.Joining)
	}
	if err := w.Flush(); err != nil || len(d.Changes) == 0 {
		return err
	}
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, c := range d.Changes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Op, c.Element, place(c), c.Name)
		for _, side := range []struct {
			sign  string
			lines []string
		}{{"-", c.Before}, {"+", c.After}} {
			for _, line := range side.lines {
				fmt.Fprintf(w, "\t\t\t  %s %s\n", side.sign, line)
			}
		}
	}
	return w.Flush()
}

// place names the lines of a change.
func place(c diff.Change) string {
	var lines []string
	if c.OldLine > 0 {
		lines = append(lines, fmt.Sprintf("old line %d", c.OldLine))
	}
	if c.NewLine > 0 {
		lines = append(lines, fmt.Sprintf("new line %d", c.NewLine))
	}
	return strings.Join(lines, ", ")
}
