package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/record"
)

// Table writes the closing table of the run as aligned plain text: what ran and why it ended, what it cost, how long
// each action was active, and the extremes of the plotted signals with their times. Errors are those of w.
func (d *Digest) Table(w io.Writer) error {
	out := bufio.NewWriter(w)
	plan := d.Plan
	if s := d.Summary; s != nil && s.Plan != "" {
		plan += ": " + s.Plan.Words()
	}
	rows := [][]string{{"mission", d.Mission}, {"vehicle", d.Vehicle}, {"plan", plan}}
	rows = append(rows, d.flight()...)
	if s := d.Summary; s != nil && s.Breached != nil {
		rows = append(rows, []string{"fence", "breached at " + Clock(*s.Breached)})
	}
	v := judge(&d.End)
	end := strings.ToLower(v.Word)
	if v.Reason != "" {
		end += ": " + v.Reason
	}
	rows = append(rows, []string{"ended", Clock(ended(&d.End)) + " of " + Clock(d.Horizon) + ", " + end})
	if s := d.Summary; s != nil {
		if s.Sortie == nil {
			rows = append(rows, []string{"integration", fmt.Sprintf("%d steps, %d rejected, %d evaluations, %d Jacobians",
				s.Steps, s.RejectedSteps, s.RHSEvaluations, s.Jacobians)})
		}
		events := fmt.Sprintf("%d state, %d time, at most %d iterations in an instant", s.StateEvents, s.TimeEvents,
			s.MaxEventIterations)
		if s.Unproved > 0 {
			events += fmt.Sprintf(", %d parts of steps sampled, not proved to have none", s.Unproved)
		}
		rows = append(rows, []string{"events", events})
	}
	changes := fmt.Sprintf("%d status changes of %d tasks", d.changes, len(d.Tasks))
	if len(d.Tasks) == 1 {
		changes = strings.TrimSuffix(changes, "s")
	}
	rows = append(rows, []string{"tree", changes})
	if s := d.Summary; s != nil {
		for _, p := range slices.Concat(s.Properties, s.Assumptions) {
			rows = append(rows, []string{cmp.Or(p.Kind, "property"), p.Verdict + judged(p) + ": " + p.Property})
			if p.Verdict == record.PropertyViolated && p.Kind != "" {
				rows = append(rows, []string{"", p.Consequence()})
			}
		}
	}
	rows = append(rows, d.toNotice()...)
	writeColumns(out, rows, "ll")

	if list := d.activities; len(list) > 0 {
		rows := [][]string{{"action", "entered", "time", "share"}}
		for _, a := range list {
			share := fmt.Sprintf("%.1f %%", 100*a.Share)
			rows = append(rows, []string{a.Name, strconv.Itoa(a.Entries), Clock(a.Time), share})
		}
		_, _ = out.WriteString("\n")
		writeColumns(out, rows, "lrrr")
	}
	if list := d.extremes; len(list) > 0 {
		rows := [][]string{{"signal", "unit", "minimum", "at", "maximum", "at"}}
		for _, e := range list {
			rows = append(rows, []string{e.Name, e.UnitOrOne(), named(e.Signal, e.Least), Clock(e.LeastAt),
				named(e.Signal, e.Greatest), Clock(e.GreatestAt)})
		}
		_, _ = out.WriteString("\n")
		writeColumns(out, rows, "llrrrr")
	}
	if _, left := panels(&d.Header); len(left) > 0 {
		_, _ = out.WriteString("\n" + unplotted(left, 5) + "\n")
	}
	return out.Flush()
}

// judged returns an addition to the verdict of a property: where it is violated, or its margin.
func judged(p record.Property) string {
	switch {
	case p.At != nil:
		return " at " + Clock(*p.At)
	case p.After != nil:
		return " beyond " + Clock(*p.After)
	case p.Verdict == record.PropertyOpen:
		return ", " + p.Because
	case p.Margin != nil:
		return ", margin " + diag.Number(*p.Margin, 3)
	}
	return ""
}

// flight returns the rows about what became of a vehicle over a link, and the grave findings about it.
func (d *Digest) flight() (rows [][]string) {
	if d.Summary != nil && d.Summary.Sortie != nil {
		f := d.Summary.Sortie
		rows = append(rows, []string{"flight", f.String()})
		if f.PreArm != "" && f.PreArm != f.Text {
			rows = append(rows, []string{"", f.PreArm})
		}
		for _, text := range f.Faults() {
			if text != f.Fault() {
				rows = append(rows, []string{"fault", text})
			}
		}
	}
	for _, e := range d.noticed {
		if e.Grave {
			rows = append(rows, []string{e.Kind, e.Text})
		}
	}
	return rows
}

// toNotice returns a row for each of the first events that a person should know of: all but the switching itself, and
// what is at the top.
func (d *Digest) toNotice() [][]string {
	var rows [][]string
	for _, e := range d.noticed {
		if !e.Grave {
			rows = append(rows, []string{e.Kind, Clock(e.T) + " " + e.Text})
		}
	}
	if d.moreToNotice > 0 {
		rows = append(rows, []string{"", fmt.Sprintf("and %d more such events", d.moreToNotice)})
	}
	return rows
}

// named writes the name of a value if it has one, else the number with six digits.
func named(s record.Signal, v float64) string {
	if text, ok := s.Value(v); ok {
		return text
	}
	return number(v)
}

// number writes v with six digits.
func number(v float64) string { return diag.Number(v, 6) }

// writeColumns writes rows with columns two spaces apart; align has l or r for each column. Flush reports errors.
func writeColumns(w *bufio.Writer, rows [][]string, align string) {
	widths := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if align[i] == 'r' {
				line.WriteString(pad + cell + "  ")
			} else {
				line.WriteString(cell + pad + "  ")
			}
		}
		_, _ = w.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
