package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/spf13/cobra"
)

// checking is the command line of a check.
type checking struct {
	asJSON, strict, effects, notes, anywhere bool
	sarif, scripts, facts, flown             string
	budget                                   seconds
}

func checkCommand() *cobra.Command {
	o := checking{budget: 60}
	c := &cobra.Command{Use: "check", RunE: o.run}
	c.Flags().BoolVar(&o.asJSON, "json", false, "print as JSON: a list with an object for each finding")
	c.Flags().BoolVar(&o.strict, "strict", false,
		"exit with status 4 if nothing is refuted, but something is not proved, proved under an assumption that no run"+
			" checks, or not asked although what it needs is declared")
	c.Flags().BoolVar(&o.effects, "effects", false,
		"print the rates of the signals while each task is active, and where they come from, instead of the answers")
	c.Flags().BoolVar(&o.anywhere, "from-anywhere", false,
		"answer for runs that begin in any state, as where a plan takes over in flight, instead of for the start of the"+
			" mission and its flight")
	c.Flags().Var(&o.budget, "budget", "work of that much `time` for all questions")
	c.Flags().StringVar(&o.sarif, "sarif", "", "also write the findings as SARIF 2.1.0 into this `file`")
	c.Flags().BoolVar(&o.notes, "notes", false,
		"print only notes: comments that accept the findings that are not proved, and nothing worse")
	c.Flags().StringVar(&o.scripts, "scripts", "",
		"write counterexamples and worst cases into this `folder` as scripts for canopy trace")
	c.Flags().StringVar(&o.flown, "flown", "",
		"a `run` of the plan, its output folder or run.mcap: a task that was active there can become active")
	c.Flags().StringVar(&o.facts, "facts", "", "a `file` with the entries of `check`, for a plan without a mission")
	return c
}

func (o *checking) run(cmd *cobra.Command, args []string) error {
	s, err := subject(args[0], o.facts, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if o.anywhere {
		s = s.FromAnywhere()
	}
	if o.flown != "" {
		if s.Flown, err = witness(o.flown, s); err != nil {
			return err
		}
	}
	if o.effects {
		list := effectsOf(s)
		return show(cmd.OutOrStdout(), o.asJSON, list, func(w io.Writer) error { return printEffects(w, s, list) })
	}
	if err := scriptable(s.Plan.Tree, o.scripts); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	p := newProgress(cmd.ErrOrStderr(), float64(len(verify.Questions())))
	found := ask(ctx, s, float64(o.budget), p)
	p.clear()
	switch err := o.write(cmd.OutOrStdout(), args[0], s, found); {
	case err != nil:
		return failed(err)
	case ctx.Err() != nil:
		return failed(record.ErrInterrupted)
	}
	return outcome(found, o.strict)
}

// write writes the findings about a file as the command line wants them.
func (o *checking) write(out io.Writer, name string, s declare.Subject, found []verify.Finding) error {
	written, err := writeScripts(o.scripts, name, s.Sources, found)
	if err == nil && o.sarif != "" {
		var text []byte
		if text, err = verify.SARIF(found, s.Sources, thisBuild().Version); err == nil {
			err = files.Save(o.sarif, text)
		}
	}
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return printJSON(out, asObjects(s, found, written))
	case o.notes:
		return printNotes(out, s, found)
	}
	return printFindings(out, s, name, found, written)
}

// ask asks the questions until the time or the memory is over or the user interrupts. The question in progress then is
// undecided.
func ask(ctx context.Context, s declare.Subject, budget float64, p *progress) []verify.Finding {
	redraw := time.NewTicker(100 * time.Millisecond)
	defer redraw.Stop()
	questions := verify.Questions()
	type answer struct {
		question string
		found    []verify.Finding
	}
	answers := make(chan answer)
	ctx, goOn, stop := bounded(ctx, budget)
	defer stop()
	go func(s declare.Subject) {
		defer close(answers)
		for q, found := range verify.Answers(s, budget, goOn) {
			select {
			case answers <- answer{q.Name, found}:
			case <-ctx.Done():
				return
			}
		}
	}(s)
	all := make([][]verify.Finding, len(questions))
	for i := 0; ; {
		select {
		case a, more := <-answers:
			if !more && ctx.Err() == nil {
				return verify.Accept(s, slices.Concat(all...))
			}
			if more {
				at := slices.IndexFunc(questions, func(q verify.Question) bool { return q.Name == a.question })
				all[at], i = a.found, max(i, at+1)
			}
		case <-redraw.C:
			q := questions[min(i, len(questions)-1)]
			p.step(float64(i), q.Name+": "+q.Asks)
		case <-ctx.Done():
			text, advice := ended(ctx, budget)
			if i == len(questions) {
				found := verify.Accept(s, slices.Concat(all...))
				for i := range found {
					if f := &found[i]; f.Open {
						f.Text += "; a longer search did not end " + text
					}
				}
				return found
			}
			text = "not concluded " + text
			if rest := len(questions) - i - 1; rest > 0 {
				text += fmt.Sprintf(", nor were the %d questions after it asked", rest)
			}
			s.Declared.Notes = slices.DeleteFunc(slices.Clone(s.Declared.Notes), func(n declare.Note) bool {
				return slices.ContainsFunc(questions[i:], func(q verify.Question) bool { return q.Name == n.Question })
			})
			found := verify.Accept(s, slices.Concat(all...))
			for k, q := range questions[i:] {
				f := verify.Finding{Question: q.Name, Text: text, Late: true,
					Place: declare.Place{Source: s.Plan.Source}, Advice: advice + "check subtrees as separate plans"}
				if k > 0 {
					f.Verdict, f.Text = verify.NotAsked, "the check ended in the question "+questions[i].Name
				}
				found = append(found, f)
			}
			return found
		}
	}
}

// These end a command whose answer is no, or, with --strict, which has none; what it found has been printed.
var (
	errRefuted = errors.New("refuted")
	errOpen    = errors.New("not proved")
)

// subject reads a mission, or a plan with the declarations of another file.
func subject(name, facts string, stderr io.Writer) (declare.Subject, error) {
	p, m, err := readPlan(name, stderr, plan.CodeWriteConflict)
	switch {
	case err != nil:
		return declare.Subject{}, err
	case m != nil && facts != "":
		return declare.Subject{}, &usageError{"--facts is for a plan; a mission has a section `check`"}
	case m != nil:
		sayFree(stderr, m.Plan)
		return provable(m)
	}
	var d declare.Declarations
	if facts != "" {
		src, err := source(facts)
		if err != nil {
			return declare.Subject{}, err
		}
		var diags diag.List
		if d, diags = declare.ReadFile(src, p); diags.HasErrors() {
			return declare.Subject{}, diags
		}
	}
	d.AddFree(p)
	sayFree(stderr, p)
	return declare.Subject{Plan: p, Declared: d}, nil
}

// sayFree says which leaves and entries of a plan are free, if any.
func sayFree(stderr io.Writer, p *plan.Plan) {
	sayFreeOf(stderr, p, func(bt.Kind) bool { return true }, "leaves, so all their answers are tried")
	var names []string
	for i := range p.Entries {
		if p.Entries[i].Free {
			names = append(names, p.Entries[i].Name)
		}
	}
	sayNames(stderr, "entries, so all their values are tried", names)
}

// sayFreeOf says which leaves of some kinds are free, if any, and what follows from it.
func sayFreeOf(stderr io.Writer, p *plan.Plan, of func(bt.Kind) bool, follows string) {
	var ids []string
	for i := range p.Leaves {
		l := &p.Leaves[i]
		id := l.ID
		if id == p.Tree.Kind(l.Task).String() {
			id = p.Label(l.Task)
		}
		if l.Free && of(p.Tree.Kind(l.Task)) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	sayNames(stderr, follows, ids)
}

// sayNames says that nothing defines what is named, if anything, and what follows from it.
func sayNames(stderr io.Writer, follows string, names []string) {
	const most = 8
	if len(names) > most {
		names = append(names[:most:most], "...")
	}
	if len(names) > 0 {
		fmt.Fprintf(stderr, "canopy: nothing defines these %s: %s\n", follows, diag.Visible(strings.Join(names, ", ")))
	}
}

// writeScripts writes each counterexample into the folder and returns the files' names, by finding.
func writeScripts(folder, name string, sources []string, found []verify.Finding) (map[int]string, error) {
	written := map[int]string{}
	if folder == "" {
		return written, nil
	}
	number := map[string]int{}
	for i := range found {
		f := &found[i]
		if f.Script == "" {
			continue
		}
		number[f.Question]++
		written[i] = filepath.Join(folder, fmt.Sprintf("%s-%d.txt", f.Question, number[f.Question]))
		text := fmt.Sprintf("# canopy check %s\n# %s: %s\n", filepath.ToSlash(name), f.Question, f.Text)
		for _, w := range f.Where {
			text += "# where " + w + "\n"
		}
		if len(sources) > 0 {
			text += "# sources that may be lost and found at any instant: " + strings.Join(sources, ", ") + "\n"
		}
		if err := files.Save(written[i], []byte(text+f.Script)); err != nil {
			return nil, err
		}
	}
	return written, nil
}
