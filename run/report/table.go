package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"canopy/diag"
	"canopy/run/record"
)

// Table writes the closing table of a run as aligned plain text: the mission, vehicle and plan, why the run ended, its
// cost, how long each action was active, and the extremes of the plotted signals with their times. Errors are those of
// w.
func Table(w io.Writer, log *record.Log) error {
	log = visible(log)
	out := bufio.NewWriter(w)
	plan := log.Plan
	if s := log.Summary; s != nil && s.Plan != "" {
		plan += ": " + string(s.Plan)
	}
	rows := [][]string{{"mission", log.Mission}, {"vehicle", log.Vehicle}, {"plan", plan}}
	v := judge(log)
	end := strings.ToLower(v.Word)
	if v.Reason != "" {
		end += ": " + v.Reason
	}
	rows = append(rows, []string{"ended", Clock(ended(log)) + " of " + Clock(log.Horizon) + ", " + end})
	if s := log.Summary; s != nil {
		rows = append(rows,
			[]string{"integration", fmt.Sprintf("%d steps, %d rejected, %d evaluations, %d Jacobians",
				s.Steps, s.RejectedSteps, s.RHSEvaluations, s.Jacobians)},
			[]string{"events", fmt.Sprintf("%d state, %d time, at most %d iterations in an instant",
				s.StateEvents, s.TimeEvents, s.MaxEventIterations)})
	}
	changes := fmt.Sprintf("%d status changes of %d tasks", len(log.Changes), len(log.Tasks))
	rows = append(rows, []string{"tree", changes})
	rows = append(rows, noticed(log)...)
	if log.Summary != nil && log.Summary.CPU > 0 {
		rows = append(rows, []string{"CPU time", fmt.Sprintf("%.3g s", log.Summary.CPU)})
	}
	writeColumns(out, rows, "ll")

	if list := activities(log); len(list) > 0 {
		rows := [][]string{{"action", "entered", "time", "share"}}
		for _, a := range list {
			share := fmt.Sprintf("%.1f %%", 100*a.Share)
			rows = append(rows, []string{a.Name, strconv.Itoa(a.Entries), Clock(a.Time), share})
		}
		_, _ = out.WriteString("\n")
		writeColumns(out, rows, "lrrr")
	}
	if list := extremes(log); len(list) > 0 {
		rows := [][]string{{"signal", "unit", "least", "at", "greatest", "at"}}
		for _, e := range list {
			rows = append(rows, []string{e.Name, unit(e.Signal), number(e.Least), Clock(e.LeastAt), number(e.Greatest),
				Clock(e.GreatestAt)})
		}
		_, _ = out.WriteString("\n")
		writeColumns(out, rows, "llrrrr")
	}
	if _, left := panels(log); len(left) > 0 {
		_, _ = out.WriteString("\n" + unplotted(left, 5) + "\n")
	}
	return out.Flush()
}

// noticed returns a row for each of the first unusual events: all except the switching itself.
func noticed(log *record.Log) [][]string {
	const most = 5
	usual := map[string]bool{"state": true, "time": true, "step": true, "error": true}
	var rows [][]string
	left := 0
	for _, e := range log.Events {
		switch {
		case usual[e.Kind]:
		case len(rows) < most:
			rows = append(rows, []string{e.Kind, Clock(e.T) + " " + e.Text})
		default:
			left++
		}
	}
	if left > 0 {
		rows = append(rows, []string{"", fmt.Sprintf("and %d more such events", left)})
	}
	return rows
}

func unit(s record.Signal) string {
	if s.Unit == "" {
		return "1"
	}
	return s.Unit
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
