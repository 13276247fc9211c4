package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"canopy/analysis/verify"
	"canopy/diag"
	"canopy/document/declare"
	"canopy/internal/files"
	"canopy/run/record"

	"github.com/spf13/cobra"
)

func checkCommand() *cobra.Command {
	var asJSON, strict, effects bool
	var sarif, scripts, facts string
	budget := seconds(60)
	var questions strings.Builder
	for _, q := range verify.Questions() {
		fmt.Fprintf(&questions, "  %-10s %s\n", q.Name, q.Asks)
	}
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Prove what a plan does, or show where it does not",
		Long: `Prove what a plan does, or show where it does not. Nothing is flown.

FILE is a mission (.yaml) or a plan (.xml). The check answers these questions:

` + questions.String() + `
A mission declares facts about the world and the goal of its plan under "check". For a plan without a mission, --facts
names a file with the same entries. A comment "# canopy: accept QUESTION [TASK]: reason" in that document accepts a
finding. docs/verification.md describes all entries and answers.

Ctrl-C ends the check and prints the answers so far.

"proved if" is a proof that rests on an assumption that no run checks. With --strict, everything that is neither proved
without reservation nor accepted gives status 3.

Exit status: 0 every refuted finding is accepted, or there is none, 1 interrupted, 2 wrong input, 3 a finding is
refuted and not accepted.`,
		Example: `  canopy check missions/solar-day.yaml
  canopy check plan.xml --facts facts.yaml --scripts out
  canopy trace plan.xml out/complete-1.txt     replay a counterexample`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := subject(args[0], facts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if effects {
				return showEffects(cmd.OutOrStdout(), s, asJSON)
			}
			if err := scriptable(s.Plan.Tree, scripts); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			found := ask(ctx, s, float64(budget))
			written, err := writeScripts(scripts, args[0], found)
			if err != nil {
				return failed(err)
			}
			if sarif != "" {
				text, err := verify.SARIF(found, version())
				if err == nil {
					err = files.Save(sarif, text)
				}
				if err != nil {
					return failed(err)
				}
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), asObjects(s, found, written))
			} else {
				err = printFindings(cmd.OutOrStdout(), args[0], found, written)
			}
			if err != nil {
				return failed(err)
			}
			if ctx.Err() != nil {
				return failed(record.ErrInterrupted)
			}
			if !passes(found, strict) {
				return errRefuted
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON: a list with an object for each finding")
	c.Flags().BoolVar(&strict, "strict", false,
		"exit with status 3 also for findings that are not concluded, or proved under an assumption that no run checks")
	c.Flags().BoolVar(&effects, "effects", false,
		"print the rates of the signals while each task is active, and where they come from, instead of the answers")
	c.Flags().Var(&budget, "budget", "maximum `time` for all questions")
	c.Flags().StringVar(&sarif, "sarif", "", "also write the findings as SARIF 2.1.0 into this `file`")
	c.Flags().StringVar(&scripts, "scripts", "",
		"write counterexamples and worst cases into this `folder` as scripts for canopy trace")
	c.Flags().StringVar(&facts, "facts", "", "a `file` with the entries of `check`, for a plan without a mission")
	return c
}

// ask asks the questions until the time or the memory is over or the user interrupts. The question in progress then is
// undecided.
func ask(ctx context.Context, s declare.Subject, budget float64) []verify.Finding {
	questions := verify.Questions()
	answers := make(chan []verify.Finding, len(questions))
	ctx, goOn, stop := bounded(ctx, budget)
	defer stop()
	go func(s declare.Subject) {
		for _, found := range verify.Answers(s, goOn) {
			answers <- found
		}
	}(s)
	var all []verify.Finding
	for i, q := range questions {
		select {
		case found := <-answers:
			all = append(all, found...)
		case <-ctx.Done():
			text, advice := ended(ctx, budget)
			text = "not concluded " + text
			if rest := len(questions) - i - 1; rest > 0 {
				text += fmt.Sprintf(", nor were the %d questions after it asked", rest)
			}
			s.Declared.Notes = slices.DeleteFunc(slices.Clone(s.Declared.Notes), func(n declare.Note) bool {
				return slices.ContainsFunc(questions[i:], func(q verify.Question) bool { return q.Name == n.Question })
			})
			return append(verify.Accept(s, all), verify.Finding{Question: q.Name, Verdict: verify.Undecided,
				Text: text, Place: declare.Place{Source: s.Plan.Source},
				Advice: advice + "check subtrees as separate plans"})
		}
	}
	return verify.Accept(s, all)
}

// errRefuted ends a check that refutes something; its findings have been printed.
var errRefuted = errors.New("refuted")

// subject reads a mission, or a plan with the declarations of another file.
func subject(name, facts string, stderr io.Writer) (declare.Subject, error) {
	p, m, err := readPlan(name, stderr)
	switch {
	case err != nil:
		return declare.Subject{}, err
	case m != nil && facts != "":
		return declare.Subject{}, &usageError{"--facts is for a plan; a mission has a section `check`"}
	case m != nil:
		return provable(m)
	case facts == "":
		return declare.Subject{Plan: p}, nil
	}
	src, err := source(facts)
	if err != nil {
		return declare.Subject{}, err
	}
	d, diags := declare.ReadFile(src, p)
	if diags.HasErrors() {
		return declare.Subject{}, diags
	}
	return declare.Subject{Plan: p, Declared: d}, nil
}

// writeScripts writes each counterexample into the folder and returns the files' names, by finding.
func writeScripts(folder, name string, found []verify.Finding) (map[int]string, error) {
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
		if err := files.Save(written[i], []byte(text+f.Script)); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// The verdicts that are printed, in the order in which they are counted.
const (
	verdictProved   = "proved"
	verdictProvedIf = "proved if" // under an assumption that no run checks
	verdictRefuted  = "REFUTED"
	verdictUnknown  = "unknown"
	verdictAccepted = "accepted"
)

// verdictOf returns the verdict that is printed for a finding.
func verdictOf(f *verify.Finding) string {
	switch {
	case f.Verdict == verify.Proved && len(f.Unwatched()) == 0:
		return verdictProved
	case f.Verdict == verify.Proved:
		return verdictProvedIf
	case f.Accepted != "":
		return verdictAccepted
	case f.Verdict == verify.Refuted:
		return verdictRefuted
	case f.Verdict == verify.Undecided:
		return verdictUnknown
	}
	panic("canopy: unknown verdict")
}

// tally counts findings by the verdict that is printed.
func tally(found []verify.Finding) map[string]int {
	n := map[string]int{}
	for i := range found {
		n[verdictOf(&found[i])]++
	}
	return n
}

// passes reports whether nothing is refuted; if strict, whether everything is proved without reservation or accepted.
func passes(found []verify.Finding, strict bool) bool {
	n := tally(found)
	return n[verdictRefuted] == 0 && (!strict || n[verdictProved]+n[verdictAccepted] == len(found))
}

// object is a finding in JSON.
type object struct {
	Question string              `json:"question"`
	Verdict  string              `json:"verdict"` // proved, refuted or undecided
	Tasks    []string            `json:"tasks,omitempty"`
	About    string              `json:"about,omitempty"`
	Text     string              `json:"text"`
	Where    []string            `json:"where,omitempty"` // regions in which it goes wrong
	More     bool                `json:"more,omitempty"`  // there are other regions
	Assumes  []verify.Assumption `json:"assumes,omitempty"`
	Advice   string              `json:"advice,omitempty"`
	Accepted string              `json:"accepted,omitempty"` // the reason
	Script   string              `json:"script,omitempty"`   // for canopy trace
	Written  string              `json:"script_file,omitempty"`
	File     string              `json:"file"`
	Line     int                 `json:"line"`
	Column   int                 `json:"column"`
}

func asObjects(s declare.Subject, found []verify.Finding, written map[int]string) []object {
	list := make([]object, len(found))
	for i, f := range found {
		line, column := f.Position()
		list[i] = object{Question: f.Question, Verdict: f.Verdict.String(), About: f.About, Text: f.Text, Where: f.Where,
			More: f.More, Assumes: f.Assumes, Advice: f.Advice, Accepted: f.Accepted, Script: f.Script, Written: written[i],
			File: f.Source.Name, Line: line, Column: column}
		for _, t := range f.Tasks {
			list[i].Tasks = append(list[i].Tasks, s.Plan.Tree.Name(t))
		}
	}
	return list
}

// printFindings prints each finding with its position, regions and advice.
func printFindings(out io.Writer, name string, found []verify.Finding, written map[int]string) error {
	var b strings.Builder
	n := tally(found)
	fmt.Fprintf(&b, "%s: %d proved, %d refuted", diag.Visible(name), n[verdictProved], n[verdictRefuted])
	for _, more := range [...][2]string{{verdictProvedIf, "proved under an assumption"}, {verdictUnknown, "not concluded"},
		{verdictAccepted, "accepted"}} {
		if n := n[more[0]]; n > 0 {
			fmt.Fprintf(&b, ", %d %s", n, more[1])
		}
	}
	b.WriteString("\n")
	asked := map[string]bool{}
	for i, f := range found {
		asked[f.Question] = true
		row := func(label, text string) { fmt.Fprintf(&b, "           %-10s  %s\n", label, diag.Visible(text)) }
		fmt.Fprintf(&b, "%-9s  %-10s  %s\n", verdictOf(&f), f.Question, diag.Visible(f.Text))
		for _, a := range f.Unwatched() {
			row("if", a.Text)
		}
		if f.Verdict != verify.Proved && f.Length > 0 {
			line, column := f.Position()
			row("at", fmt.Sprintf("%s:%d:%d", f.Source.Name, line, column))
		}
		for _, w := range f.Where {
			row("where", w)
		}
		if f.More {
			row("", "and elsewhere")
		}
		switch {
		case f.Accepted != "":
			row("because", f.Accepted)
		case f.Advice != "":
			row("advice", f.Advice)
		}
		if written[i] != "" {
			row("script", written[i])
		}
	}
	for _, q := range verify.Questions() {
		if !asked[q.Name] {
			fmt.Fprintf(&b, "%-9s  %-10s  %s %s\n", "-", q.Name, q.Asks, q.Needs)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
