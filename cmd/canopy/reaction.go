package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/spf13/cobra"
)

// reacting is the command line of a question for the maximum reaction.
type reacting struct {
	asJSON          bool
	script, measure string
	states          int
	budget          seconds
}

func reactionCommand() *cobra.Command {
	o := reacting{budget: 60}
	c := &cobra.Command{Use: "reaction", RunE: o.run}
	c.Flags().BoolVar(&o.asJSON, "json", false, "print as JSON")
	c.Flags().StringVar(&o.script, "script", "", "write the worst case to this `file` as a trace script")
	c.Flags().StringVar(&o.measure, "worst", reaction.Measures[0],
		"the `measure` that the script maximises: "+strings.Join(reaction.Measures, ", "))
	c.Flags().IntVar(&o.states, "states", reaction.DefaultBudget.States, "maximum number of states")
	c.Flags().Var(&o.budget, "budget", "maximum `time` of the search")
	return c
}

func (o *reacting) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(reaction.Measures, o.measure) {
		return &usageError{unknownWord("measure", o.measure, reaction.Measures)}
	}
	if o.states < 1 {
		return &usageError{"--states must be at least 1"}
	}
	s, inputs, search, err := leafInputs(args[0], cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	tree := s.Plan.Tree
	if err := scriptable(tree, o.script); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	bar := newProgress(cmd.ErrOrStderr(), float64(o.states))
	limit := reaction.DefaultBudget
	limit.States = o.states
	over, free := within(ctx, o.budget)
	defer free()
	limit.Over = func(seen int) string {
		bar.step(float64(seen), "of the states that --states allows")
		return over()
	}
	r := search(tree, inputs, limit)
	runs := verify.Runs(s, func() bool { return over() == "" })
	bar.clear()
	lines, last := r.Script(o.measure, func(t bt.Task) string { return script.Name(s.Plan, t) })
	if o.asJSON {
		err = writeReactionJSON(cmd.OutOrStdout(), tree, r, &runs, lines)
	} else {
		err = writeReaction(cmd.OutOrStdout(), tree, r, &runs, o.measure, lines, last)
	}
	if o.script != "" {
		err = errors.Join(err, files.Save(o.script, fmt.Appendf(nil,
			"# The most %s after one input of %s: the last line takes\n# %s.\n%s\n",
			o.measure, args[0], inWords(last), strings.Join(lines, "\n"))))
	}
	if err == nil && ctx.Err() != nil {
		err = record.ErrInterrupted
	}
	if err == nil && (r.Loop != nil || runs.Verdict == verify.Refuted) {
		return errRefuted
	}
	return failed(err)
}

// scriptable returns an error if scripts are requested and the tree has a leaf that a script cannot name.
func scriptable(tree *bt.Tree, to string) error {
	for _, leaf := range slices.Concat(tree.Leaves(), tree.Timers()) {
		if to != "" && !script.Names(tree, leaf) {
			return fmt.Errorf("a trace script cannot name the leaf %q: give it a name without \";\" and \"#\"",
				tree.Name(leaf))
		}
	}
	return nil
}

// leafInputs returns a plan, alone or of a mission, the inputs of its leaves, and the search of what they can do.
func leafInputs(name string, stderr io.Writer) (s declare.Subject, inputs []reaction.Repertoire,
	search func(*bt.Tree, []reaction.Repertoire, explore.Budget) *reaction.Result, err error) {
	p, m, err := readPlan(name, stderr)
	switch {
	case err != nil:
		return declare.Subject{}, nil, nil, err
	case m == nil:
		sayFree(stderr, p)
		return unexplained(p), reaction.Stubs(p.Tree), reaction.Explore, nil
	}
	return m.Subject(), reaction.InputsOf(p, nil), reaction.ExploreRuns, nil
}

func inWords(w reaction.Work) string {
	return fmt.Sprintf("%s, %s, %s", plural(w.Iterations, "event iteration"), plural(w.Changes, "status change"),
		plural(w.Visits, "visit"))
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func writeReaction(out io.Writer, tree *bt.Tree, r *reaction.Result, runs *verify.Finding, measure string,
	lines []string, last reaction.Work) error {
	proved, alone := "proved: one input", "proved by the structure alone: one input"
	if runs.Verdict != verify.Proved {
		fmt.Fprintf(out, "%s: %s.\nNext: %s.\n", runs.Word(), diag.Visible(runs.Text), runs.Advice)
		proved, alone = "In a script, one line with one input", "By the structure alone, one line of a script with one input"
	}
	switch {
	case r.Decided:
		fmt.Fprintf(out, "%s takes at most %s.\n%s can be reached, all explored.\n", proved, inWords(r.Most),
			plural(r.States, "state"))
	case r.Loop != nil:
		fmt.Fprintf(out, "refuted: one input does not settle: %s.\n", diag.Visible(r.Why))
	default:
		fmt.Fprintf(out, "not proved: %d states found, but %s.\n"+
			"Try more --states, a larger --budget, or the plan's mission, in which leaves have fewer inputs.\n"+
			"The largest so far: %s.\n"+
			"%s takes at most %s.\n", r.States, r.Why, inWords(r.Most), alone, inWords(r.Bound))
	}
	first := "The first settling takes at most"
	if !r.Decided {
		first = "The largest first settling so far takes"
	}
	fmt.Fprintf(out, "%s %s.\n\n", first, inWords(r.Start))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "one input of\titerations\tbound\tchanges\tbound\tvisits\tbound")
	row := func(name string, most, bound reaction.Work) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", name, most.Iterations, bound.Iterations, most.Changes,
			bound.Changes, most.Visits, bound.Visits)
	}
	for _, l := range r.Leaves {
		row(diag.Visible(tree.Name(l.Task)), l.Most, l.Bound)
	}
	row("all leaves", r.Most, r.Bound)
	if err := table.Flush(); err != nil {
		return err
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintln(out, "\nNo leaf has an input that changes.")
		return err
	}
	_, err := fmt.Fprintf(out, "\nThe most %s, %s, as a trace script:\n\n  %s\n", measure, inWords(last),
		diag.VisibleLines(strings.Join(lines, "\n  ")))
	return err
}

func writeReactionJSON(out io.Writer, tree *bt.Tree, r *reaction.Result, runs *verify.Finding, lines []string) error {
	type leaf struct {
		Leaf  string        `json:"leaf"`
		Most  reaction.Work `json:"most"`
		Bound reaction.Work `json:"bound"`
	}
	var leaves []leaf
	for _, l := range r.Leaves {
		leaves = append(leaves, leaf{tree.Name(l.Task), l.Most, l.Bound})
	}
	return printJSON(out, struct {
		Decided bool          `json:"decided"`
		Why     string        `json:"why,omitempty"`
		States  int           `json:"states"`
		Start   reaction.Work `json:"start"`
		Most    reaction.Work `json:"most"`
		Bound   reaction.Work `json:"bound"`
		Leaves  []leaf        `json:"leaves"`
		Script  []string      `json:"script"`
	}{r.Decided && runs.Verdict == verify.Proved, cmp.Or(runs.Text, r.Why), r.States, r.Start, r.Most, r.Bound, leaves,
		append([]string{}, lines...)})
}
