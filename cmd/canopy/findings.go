package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
)

// The verdicts that are printed.
const (
	verdictRefuted  = "REFUTED"
	verdictAccepted = "accepted"
)

var verdictProved, verdictOpen, verdictNotAsked = verify.Proved.String(), verify.Undecided.String(),
	verify.NotAsked.String()

// verdicts are the verdicts in the order in which they are printed, with their words in the summary, which always has
// the others, and their colours.
var verdicts = []struct{ verdict, summary, colour string }{
	{verdictRefuted, "", "31;1"},
	{verdictOpen, verdictOpen, "33;1"},
	{verdictNotAsked, verdictNotAsked, "33;1"},
	{verify.ProvedIf, "proved under an assumption", "33"},
	{verdictAccepted, "accepted", "36"},
	{verdictProved, "", "32"},
}

// verdictOf returns the verdict that is printed for a finding.
func verdictOf(f *verify.Finding) string {
	switch word := f.Word(); {
	case f.Accepted != "":
		return verdictAccepted
	case f.Verdict == verify.Refuted:
		return verdictRefuted
	default:
		return word
	}
}

// tally counts findings by the verdict that is printed, without questions for want of declarations.
func tally(found []verify.Finding) map[string]int {
	n := map[string]int{}
	for i := range found {
		if found[i].Needs == "" {
			n[verdictOf(&found[i])]++
		}
	}
	return n
}

// outcome returns the error with which a check ends: something is refuted; or, if strict, something for which all is
// declared is neither proved without reservation nor accepted.
func outcome(found []verify.Finding, strict bool) error {
	switch n := tally(found); {
	case n[verdictRefuted] > 0:
		return errRefuted
	case strict && n[verdictOpen]+n[verdictNotAsked]+n[verify.ProvedIf] > 0:
		return errOpen
	}
	return nil
}

// object is a finding in JSON.
type object struct {
	Question string              `json:"question"`
	Verdict  string              `json:"verdict"` // proved, proved_if, refuted, not_proved or not_asked
	Tasks    []string            `json:"tasks,omitempty"`
	Units    [][]string          `json:"units,omitempty"` // the tasks of each of several findings with one cause
	About    string              `json:"about,omitempty"`
	Text     string              `json:"text"`
	Where    []string            `json:"where,omitempty"` // regions in which it goes wrong
	More     bool                `json:"more,omitempty"`  // there are other regions
	Assumes  []verify.Assumption `json:"assumes,omitempty"`
	Sources  []string            `json:"sources,omitempty"` // of signals, lost and found at any instant
	Period   float64             `json:"period,omitempty"`  // of tasks that take turns [s]
	Flight   bool                `json:"flight,omitempty"`  // a flight of the mission shows it,
	At       *float64            `json:"at,omitempty"`      // at this time [s]
	Start    string              `json:"start,omitempty"`   // of that flight
	Advice   string              `json:"advice,omitempty"`
	Accepted string              `json:"accepted,omitempty"` // the reason
	Covers   string              `json:"covers,omitempty"`   // what the note covers that accepts it
	Loose    bool                `json:"loose,omitempty"`    // that note would also accept a worse finding
	Note     string              `json:"note,omitempty"`     // that accepts it and nothing worse
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
		list[i] = object{Question: f.Question, Verdict: verify.Key(f.Word()), About: f.About, Text: f.Text, Where: f.Where,
			More: f.More, Assumes: f.Assumes, Period: f.Period, Flight: f.Flight, At: f.At, Start: f.Start, Advice: f.Advice,
			Accepted: f.Accepted, Covers: f.Covers, Loose: f.Loose, Script: f.Script, Written: written[i],
			File: f.File(), Line: line, Column: column,
			Tasks: s.Plan.Tree.Names(f.Tasks), Sources: s.Sources}
		for _, u := range f.Units {
			list[i].Units = append(list[i].Units, s.Plan.Tree.Names(u))
		}
		if v := verdictOf(&f); v != verdictProved && v != verdictAccepted && f.Needs == "" || f.Loose {
			list[i].Note = f.Note(s.Plan.Tree)
		}
	}
	return list
}

// table writes findings for a reader: the worst first, each with its assumptions, its place, its regions and what to do
// next.
type table struct {
	strings.Builder
	tree   *bt.Tree
	width  int  // at which lines are wrapped; 0: never
	colour bool // the verdicts have colours
}

// The widths of the first two columns.
const verdictWidth, labelWidth = 10, 10

// row writes the cells of a line; the last one continues below itself.
func (t *table) row(verdict, label, text string) {
	const indent = verdictWidth + labelWidth + 4
	first := fmt.Sprintf("%-*s", verdictWidth, verdict)
	for _, v := range verdicts {
		if t.colour && v.verdict == verdict {
			first = "\x1b[" + v.colour + "m" + first + "\x1b[0m"
		}
	}
	fmt.Fprintf(t, "%s  %-*s  ", first, labelWidth, label)
	for i, line := range wrapped(diag.Visible(text), t.width-indent) {
		if i > 0 {
			t.WriteString(strings.Repeat(" ", indent))
		}
		t.WriteString(line + "\n")
	}
}

// wrapped divides a text at blanks into lines of at most width characters where words allow it; a width below 20 leaves
// it whole.
func wrapped(text string, width int) []string {
	if width < 20 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), word
			continue
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// findings writes all findings of a file; written are the files of their scripts.
func (t *table) findings(name string, found []verify.Finding, written map[int]string) {
	n := tally(found)
	fmt.Fprintf(t, "%s: %d proved, %d refuted", diag.Visible(name), n[verdictProved], n[verdictRefuted])
	for _, v := range verdicts {
		if v.summary != "" && n[v.verdict] > 0 {
			fmt.Fprintf(t, ", %d %s", n[v.verdict], v.summary)
		}
	}
	t.WriteString("\n")
	for _, v := range verdicts {
		for i := range found {
			if found[i].Needs == "" && verdictOf(&found[i]) == v.verdict {
				t.finding(found, i, written[i])
			}
		}
	}
}

// finding writes a finding. Questions that have no answer for the same reason are written with the first of them.
func (t *table) finding(found []verify.Finding, i int, script string) {
	f := &found[i]
	var same []string
	for k := range found {
		g := &found[k]
		answered := f.Verdict == verify.Proved || f.Verdict == verify.Refuted
		if answered || g.Question == f.Question || g.Text != f.Text || g.Place != f.Place {
			continue
		}
		if k < i {
			return
		}
		same = append(same, g.Question)
	}
	t.row(verdictOf(f), f.Question, f.Text)
	if same != nil {
		t.row("", "also", strings.Join(same, ", "))
	}
	for _, a := range f.Unwatched() {
		t.row("", "if", a.Text)
	}
	if f.Verdict != verify.Proved && f.Length > 0 {
		line, column := f.Position()
		t.row("", "at", fmt.Sprintf("%s:%d:%d", f.File(), line, column))
	}
	for i, w := range f.Where {
		t.row("", []string{"where", "or where"}[min(i, 1)], w)
	}
	if f.More {
		t.row("", "or where", "elsewhere")
	}
	switch {
	case f.Accepted != "":
		t.row("", "because", f.Accepted)
		if f.Loose {
			t.row("", "covers", "also worse findings; this note does not: "+f.Note(t.tree))
		} else {
			t.row("", "covers", cmp.Or(f.Covers, "all findings of this question"))
		}
	case f.Advice != "":
		t.row("", "next", f.Advice)
	}
	if script != "" {
		t.row("", "script", script)
	}
}

// close writes what concerns all findings: the questions that were not asked, the sources that may be lost, what the
// proofs assume, and how to go on.
func (t *table) close(s declare.Subject, found []verify.Finding, scripts bool) {
	var needs []string
	for _, f := range found {
		if f.Needs != "" {
			needs = append(needs, f.Question+" ("+f.Needs+")")
		}
	}
	if needs != nil {
		t.row(verdictNotAsked, "", "these need declarations: "+strings.Join(needs, ", "))
	}
	if len(s.Sources) > 0 {
		t.row("sources", "", "lost and found at any instant, in all answers: "+strings.Join(s.Sources, ", "))
	}
	var watched []string
	open, shown := false, false
	for i := range found {
		f := &found[i]
		for _, a := range f.Assumes {
			if a.Watched && !slices.Contains(watched, a.Text) {
				watched = append(watched, a.Text)
			}
		}
		if v := verdictOf(f); v == verdictRefuted || v == verdictOpen || f.Loose {
			open = true
		}
		if f.Verdict != verify.Proved && f.Script != "" {
			shown = true
		}
	}
	if watched != nil {
		t.row("assumed", "", strings.Join(watched, " and ")+"; each run of the mission checks this")
	}
	if open {
		text := "`canopy check --notes` prints notes that accept findings that are meant"
		if shown && !scripts {
			text = "`--scripts FOLDER` writes the counterexamples for `canopy trace`; " + text
		}
		t.row("to go on", "", text)
	}
}

// printFindings prints all findings.
func printFindings(
	out io.Writer, s declare.Subject, name string, found []verify.Finding, written map[int]string,
) error {
	t := &table{tree: s.Plan.Tree, width: columns(out, 100), colour: colour(out)}
	t.findings(name, found, written)
	t.close(s, found, len(written) > 0)
	_, err := io.WriteString(out, t.String())
	return err
}

// printNotes prints the notes that accept the findings that are not accepted, or not strictly.
func printNotes(out io.Writer, s declare.Subject, found []verify.Finding) error {
	for i := range found {
		f := &found[i]
		if v := verdictOf(f); v == verdictProved || v == verdictAccepted && !f.Loose || f.Late || f.Needs != "" {
			continue
		}
		note := f.Note(s.Plan.Tree)
		if f.Loose {
			note = strings.Replace(note, verify.Reason, f.Accepted, 1)
		}
		if _, err := fmt.Fprintln(out, diag.Visible(note)); err != nil {
			return err
		}
	}
	return nil
}
