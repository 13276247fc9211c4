package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/canopy-uav/canopy/analysis/diff"
	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/spf13/cobra"
)

func diffCommand() *cobra.Command {
	var asJSON, strict bool
	var scripts string
	budget := seconds(60)
	c := &cobra.Command{
		Use: "diff",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			d, err := difference(ctx, args[0], args[1], float64(budget), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := d.Behaviour.save(scripts, args); err != nil {
				return failed(err)
			}
			if err := show(cmd.OutOrStdout(), asJSON, d, d.write); err != nil {
				return err
			}
			return d.outcome(ctx, strict)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().BoolVar(&strict, "strict", false, "exit with status 4 if the behaviour was not concluded")
	c.Flags().Var(&budget, "budget", "maximum `time` of the comparison of behaviour")
	c.Flags().StringVar(&scripts, "scripts", "",
		"write the way to a difference into this `folder` as scripts for canopy trace: old.txt and new.txt")
	return c
}

// change is the difference between two files.
type change struct {
	*diff.Difference                // in structure; nil: a plan and a state graph have none in common
	Behaviour        *jsonBehaviour `json:"behaviour,omitempty"` // nil: of two state graphs
}

// jsonBehaviour records whether two plans, or a plan and a state graph, activate the same actions.
type jsonBehaviour struct {
	Verdict    string             `json:"verdict"` // same, differs or not_proved
	Text       string             `json:"text"`
	Steps      []verify.Situation `json:"steps,omitempty"` // a shortest way to states in which other actions are active
	Mismatches []verify.Mismatch  `json:"deeds,omitempty"` // what the same actions do differently
	Old        *jsonScript        `json:"old,omitempty"`   // the steps as scripts for canopy trace
	New        *jsonScript        `json:"new,omitempty"`
}

// jsonScript is a script and, if it was written, its file.
type jsonScript struct {
	Script  string `json:"script"`
	Written string `json:"script_file,omitempty"`
}

// save writes the scripts into a folder, if one is given.
func (b *jsonBehaviour) save(folder string, args []string) error {
	if b == nil || folder == "" {
		return nil
	}
	for _, s := range []struct {
		*jsonScript
		name, plan string
	}{{b.Old, "old.txt", args[0]}, {b.New, "new.txt", args[1]}} {
		if s.jsonScript == nil {
			continue
		}
		s.Written = filepath.Join(folder, s.name)
		head := fmt.Sprintf("# canopy diff %s %s\n# %s\n# canopy trace %s %s\n", filepath.ToSlash(args[0]),
			filepath.ToSlash(args[1]), b.Text, filepath.ToSlash(s.plan), filepath.ToSlash(s.Written))
		if err := files.Save(s.Written, []byte(head+s.Script)); err != nil {
			return err
		}
	}
	return nil
}

// write writes a change for a reader.
func (c *change) write(out io.Writer) error {
	if c.Difference != nil {
		if err := writeDifference(out, *c.Difference); err != nil {
			return err
		}
	}
	if c.Behaviour == nil {
		return nil
	}
	if c.Difference != nil {
		fmt.Fprintln(out)
	}
	return writeBehaviour(out, c.Behaviour)
}

// outcome returns the error with which the command ends.
func (c *change) outcome(ctx context.Context, strict bool) error {
	switch {
	case ctx.Err() != nil:
		return failed(record.ErrInterrupted)
	case c.Behaviour != nil && c.Behaviour.Verdict == "differs":
		return errRefuted
	case c.Behaviour != nil && strict && c.Behaviour.Verdict != "same":
		return errOpen
	}
	return nil
}

// difference compares two files.
func difference(ctx context.Context, old, updated string, budget float64, stderr io.Writer) (change, error) {
	was, err := kindOf(old)
	if err != nil {
		return change{}, err
	}
	is, err := kindOf(updated)
	if err != nil {
		return change{}, err
	}
	switch {
	case was == graphKind && is == graphKind:
		a, err := readGraph(old, nil, stderr)
		if err != nil {
			return change{}, err
		}
		b, err := readGraph(updated, nil, stderr)
		if err != nil {
			return change{}, err
		}
		d := diff.Graphs(a, b)
		return change{Difference: &d}, nil
	case was == graphKind:
		return change{}, &usageError{"a plan is compared with a state graph: give the plan first"}
	}
	a, m, err := readPlan(old, stderr)
	if err != nil {
		return change{}, err
	}
	sayFree(stderr, a)
	if is == graphKind {
		g, err := readGraph(updated, vocabularyOf(a), stderr)
		if err != nil {
			return change{}, err
		}
		return change{Behaviour: behaviourOf(ctx, budget, func(goOn func() bool) verify.Comparison {
			return verify.CompareGraph(unexplained(a), g, goOn)
		})}, nil
	}
	b, n, err := readPlan(updated, stderr)
	if err != nil {
		return change{}, err
	}
	sayFree(stderr, b)
	d := diff.Plans(a, b)
	return change{&d, behaviourOf(ctx, budget, func(goOn func() bool) verify.Comparison {
		if m == nil || n == nil {
			return verify.ComparePlans(unexplained(a), unexplained(b), goOn)
		}
		first, second := m.Subject(), n.Subject()
		for _, s := range []*declare.Subject{&first, &second} { // what is declared of a mission is not assumed
			s.Declared = declare.Declarations{Free: s.Declared.Free}
		}
		return verify.ComparePlans(first, second, goOn).With(verify.MismatchesOf(
			map[string]map[string]string{"mission": m.Settings()}, map[string]map[string]string{"mission": n.Settings()}))
	})}, nil
}

// unexplained returns a plan without a mission as a subject: its free leaves may give any answer.
func unexplained(p *plan.Plan) declare.Subject {
	s := declare.Subject{Plan: p}
	s.Declared.AddFree(p)
	return s
}

// behaviourOf compares until the time or the memory is used up or the user interrupts; one operation on sets may last
// longer.
func behaviourOf(ctx context.Context, budget float64, compare func(goOn func() bool) verify.Comparison) *jsonBehaviour {
	ctx, goOn, stop := bounded(ctx, budget)
	defer stop()
	answer := make(chan verify.Comparison, 1)
	go func() {
		if c := compare(goOn); goOn() {
			answer <- c
		}
	}()
	var c verify.Comparison
	select {
	case c = <-answer:
	case <-ctx.Done():
		text, advice := ended(ctx, budget)
		c = verify.Comparison{Verdict: verify.Undecided, Text: "not concluded " + text +
			" whether the behaviour is the same; " + advice + "compare subtrees as separate plans"}
	}
	words := [...]string{verify.Undecided: verify.Key(verdictOpen), verify.Proved: "same", verify.Refuted: "differs"}
	b := &jsonBehaviour{Verdict: words[c.Verdict], Text: c.Text, Steps: c.Steps, Mismatches: c.Mismatches}
	for _, s := range []struct {
		to   **jsonScript
		text string
	}{{&b.Old, c.Old}, {&b.New, c.New}} {
		if s.text != "" {
			*s.to = &jsonScript{Script: s.text}
		}
	}
	return b
}

// writeBehaviour writes whether the behaviour differs, and the way to a difference.
func writeBehaviour(out io.Writer, b *jsonBehaviour) error {
	var text strings.Builder
	fmt.Fprintln(&text, b.Text)
	names := func(list []string) string {
		if len(list) == 0 {
			return "no action"
		}
		return strings.Join(list, ", ")
	}
	for i, s := range b.Steps {
		over := ""
		if len(s.Over) > 0 {
			over = "; procedures are over of " + strings.Join(s.Over, ", ")
		}
		fmt.Fprintf(&text, "  %d  %s%s\n     old: %s\n     new: %s\n", i+1, s.World, over, names(s.Old), names(s.New))
	}
	for _, s := range []*jsonScript{b.Old, b.New} {
		if s != nil && s.Written != "" {
			fmt.Fprintf(&text, "  script: %s\n", s.Written)
		}
	}
	if b.Old != nil && b.Old.Written == "" {
		fmt.Fprintln(&text, "  `--scripts FOLDER` writes this as scripts for `canopy trace`")
	}
	for _, d := range b.Mismatches {
		fmt.Fprintf(&text, "  %s, %s\n     old: %s\n     new: %s\n", d.Of, d.What, shortened(d.Old), shortened(d.New))
	}
	_, err := io.WriteString(out, diag.VisibleLines(text.String()))
	return err
}

// shortened returns the first line of a text.
func shortened(text string) string {
	first, _, more := strings.Cut(text, "\n")
	switch {
	case more:
		return first + " ..."
	case text == "":
		return "none"
	}
	return text
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Op, c.Element, place(c), diag.Visible(c.Name))
		for _, side := range []struct {
			sign  string
			lines []string
		}{{"-", c.Before}, {"+", c.After}} {
			for _, line := range side.lines {
				fmt.Fprintf(w, "\t\t\t  %s %s\n", side.sign, diag.Visible(line))
			}
		}
	}
	return w.Flush()
}

// place names the lines of a change.
func place(c diff.PartChange) string {
	var lines []string
	add := func(which string, line int, file string) {
		switch {
		case line > 0 && file != "":
			lines = append(lines, fmt.Sprintf("%s line %d of %s", which, line, diag.Visible(file)))
		case line > 0:
			lines = append(lines, fmt.Sprintf("%s line %d", which, line))
		}
	}
	add("old", c.OldLine, c.OldFile)
	add("new", c.NewLine, c.NewFile)
	return strings.Join(lines, ", ")
}

// vocabularyOf returns the names for a graph that replaces a plan: those of its leaves, and of conditions that several
// leaves are.
func vocabularyOf(p *plan.Plan) *stategraph.Vocabulary {
	v := stategraph.VocabularyOf(p.Tree)
	for i := range p.Leaves {
		l := &p.Leaves[i]
		if _, name := p.Input(l, nil); !p.Tree.Kind(l.Task).Acts() && !slices.Contains(v.Conditions, name) {
			v.Conditions = append(v.Conditions, name)
		}
	}
	return v
}
