package declare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
)

// Note accepts findings that are not worse than it states.
type Note struct {
	Question string
	About    string   // names of tasks, a signal, a command or a property, separated by commas; "": all findings
	Period   float64  // the shortest period that is accepted [s]; 0: any
	Where    []string // the regions that are accepted; nil: all
	Reason   string
	Place
}

// Names returns the single names of what the note is about.
func (n *Note) Names() []string {
	var names []string
	for name := range strings.SplitSeq(n.About, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Covers returns what the note accepts, in words.
func (n *Note) Covers() string {
	parts := []string{n.About}
	if n.Period > 0 {
		parts = append(parts, PeriodText(n.Period))
	}
	if n.Where != nil {
		parts = append(parts, "where "+strings.Join(n.Where, "; "))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// PeriodText returns the part of a note that accepts turns with a minimum period [s].
func PeriodText(period float64) string { return "period>=" + diag.Number(period, -1) + " [s]" }

var (
	noteText   = regexp.MustCompile(`^#\s*canopy:\s*accept\b\s*(.*)`)
	noteWhere  = regexp.MustCompile(`(?:^|\s)where\s+(.*)$`)
	notePeriod = regexp.MustCompile(`(?:^|\s)period\s*>=\s*(.*)$`)
)

// notes reads the document's comments
//
//	# canopy: accept QUESTION [NAMES] [period>=TIME] [where REGION; REGION]: reason
func (d *declarer) notes() {
	for _, c := range d.Comments() {
		at := noteText.FindStringSubmatchIndex(c.Text)
		if at == nil {
			continue
		}
		head, reason, _ := strings.Cut(c.Text[at[2]:], ":")
		question, rest, _ := strings.Cut(strings.TrimSpace(head), " ")
		n := Note{Question: question, Reason: strings.TrimSpace(reason), Place: Place{d.Source, c.Offset, len(c.Text)}}
		report := func(code, hint, text string) {
			d.Diags = append(d.Diags, diag.Diagnostic{Source: d.Source, Offset: c.Offset + at[2], Length: len(head), Code: code,
				Text: text, Hint: hint})
		}
		if m := noteWhere.FindStringSubmatchIndex(rest); m != nil {
			for w := range strings.SplitSeq(rest[m[2]:], ";") {
				n.Where = append(n.Where, strings.Join(strings.Fields(w), " "))
			}
			rest = rest[:m[0]]
		}
		if m := notePeriod.FindStringSubmatchIndex(rest); m != nil && question == "chatter" {
			period, err := expr.Duration(rest[m[2]:])
			if err != nil {
				report("wrong-period", "write it as in period>=39 [s]", "the accepted period: "+err.Error())
				continue
			}
			n.Period, rest = period, rest[:m[0]]
		}
		n.About = strings.TrimSpace(rest)
		tasks, names := d.plan.Tasks(anyTask), n.Names()
		for i, name := range names {
			switch means := tasks.Resolve(name); {
			case len(means) > 1:
				report(expr.CodeAmbiguous, diag.OneOf("write one of ", means),
					fmt.Sprintf("%d tasks are called %q", len(means), name))
			case len(means) == 1 && means[0] != name:
				names[i] = means[0]
				n.About = strings.Join(names, ", ")
			}
		}
		switch {
		case !slices.Contains(questions, question):
			hint := diag.DidYouMean(question, questions)
			if hint == "" {
				hint = "questions: " + strings.Join(questions, ", ")
			}
			report("unknown-question", hint, "there is no question \""+question+"\"")
		case n.Reason == "":
			report("missing-reason", "write `# canopy: accept "+strings.TrimSpace(head)+": why this is right`",
				"a finding can be accepted only with a reason")
		default:
			d.d.Notes = append(d.d.Notes, n)
		}
	}
}
