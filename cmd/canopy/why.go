package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/cause"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"

	"github.com/spf13/cobra"
)

func whyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "why",
		RunE: func(cmd *cobra.Command, args []string) error {
			from, until := math.Inf(1), math.Inf(1)
			if len(args) == 3 {
				t, err := expr.Duration(args[2])
				if err != nil {
					return &usageError{fmt.Sprintf("TIME: %v", err)}
				}
				from, until = shownAs(args[2], t)
			}
			end, err := why(cmd.OutOrStdout(), args[0], args[1], from, until)
			if err == nil && end.Missing() != "" {
				err = failed(incomplete(args[0], &end))
			}
			return err
		},
	}
}

// shownAs returns the first and the last time that is printed as a text which is read as t: a clock shows complete
// seconds, or minutes, a number is rounded to its decimals.
func shownAs(text string, t float64) (from, until float64) {
	_, decimals, rounded := strings.Cut(strings.TrimRight(text, " s[]"), ".")
	unit := math.Pow10(-len(decimals))
	switch strings.Count(text, ":") {
	case 0:
		if _, err := strconv.Atoi(decimals); err != nil || !rounded {
			return t, t
		}
		return t - unit/2, t + unit/2
	case 1:
		unit = 60
	}
	return t - unit/1000, math.Nextafter(t+unit-unit/1000, t)
}

// why explains the last start, result or judgement of a task up to a time, or the last of its other changes from a time
// on; +Inf: before the plan was stopped.
func why(out io.Writer, name, task string, from, until float64) (record.End, error) {
	log, done, err := openLog(name)
	if err != nil {
		return record.End{}, err
	}
	defer done()
	var s *moment
	play := func(most int) (record.End, error) {
		end, err := log.play(func(h *record.Header) record.Recorder {
			s = &moment{task: task, from: from, until: until, most: most}
			s.Reader = cause.NewReader(h, s.read)
			return s
		})
		if err == nil {
			s.Flush()
		}
		return end, err
	}
	end, err := play(math.MaxInt)
	if err == nil && math.IsInf(until, 1) && end.Summary != nil && end.Summary.Planned > 0 {
		end, err = play(end.Summary.Planned)
	}
	if err != nil {
		return end, err
	}
	var names []string
	for _, t := range s.Tasks() {
		names = append(names, t.Name)
	}
	switch {
	case !slices.Contains(names, task):
		return end, &usageError{strings.TrimSuffix(fmt.Sprintf("%s has no task %q; %s", log.name, task,
			diag.DidYouMean(task, names)), "; ")}
	case s.found == nil:
		when := "in this run"
		if !math.IsInf(until, 1) {
			when = "up to " + report.Clock(until)
		}
		return end, &usageError{fmt.Sprintf("%s: %s does not change %s", log.name, diag.Visible(task), when)}
	case s.found.Plan == nil:
		return end, &usageError{fmt.Sprintf("%s does not carry the plan of its run", log.name)}
	}
	_, err = io.WriteString(out, s.explain(&end))
	return end, failed(err)
}

// moment finds the instant of a log that explains a task.
type moment struct {
	*cause.Reader
	task        string
	from, until float64
	most        int            // number of changes that count: those before the plan was stopped
	found       *cause.Instant // nil: there is none so far
	last        int            // the place there of the last change that was found
	meant       []int          // the places of those that a person means
}

// read looks for changes of the task at an instant.
func (m *moment) read(in *cause.Instant) {
	for i, c := range in.Changes {
		meant := i < in.Jumps || happens(c, false) != ""
		if m.most--; m.most < 0 || m.Task(c.Task) != m.task || in.T > m.until ||
			!meant && (in.T < m.from || len(m.meant) > 0 && m.found.T >= m.from) {
			continue
		}
		if m.found != in {
			m.found, m.meant = in, nil
		}
		if m.last = i; meant {
			m.meant = append(m.meant, i)
		}
	}
}

// happens says what a task's start, result or judgement is; "" if a procedure begins or is complete.
func happens(c bt.Change, condition bool) string {
	judged := c.From.Transient() && c.To.Transient()
	switch {
	case c.To == bt.Activating:
		return "started"
	case c.To == bt.Finished:
		return "succeeded"
	case c.To == bt.Aborted:
		return "failed"
	case c.To == bt.Dropped, judged && c.To == bt.Skipped:
		return "was skipped"
	case c.To == bt.Deactivating && !c.From.Ended():
		return "was interrupted"
	case !judged:
		return ""
	case condition:
		return map[bt.Status]string{bt.Success: "became true", bt.Failure: "became false"}[c.To]
	}
	return map[bt.Status]string{bt.Success: "had nothing to do", bt.Failure: "could not run", bt.Accept: "could run"}[c.To]
}

// explain returns as text the chain of causes of the last change that a person means, and before it that of the first
// one at the same instant.
func (m *moment) explain(end *record.End) string {
	in, list := m.found, m.meant
	if len(list) == 0 {
		list = []int{m.last}
	}
	first, last := list[0], list[len(list)-1]
	text, chain := m.chain(end, last)
	if first != last && !slices.Contains(chain, first) {
		before, _ := m.chain(end, first)
		text = before + text
	}
	var what []string
	for _, i := range slices.Compact([]int{first, last}) {
		if i < in.Jumps {
			continue
		}
		if word := happens(in.Changes[i], in.Judged(i)); word != "" {
			what = append(what, word)
		}
	}
	head := fmt.Sprintf("%s, %.3f s", report.Clock(in.T), in.T)
	if len(what) > 0 {
		head += fmt.Sprintf(": %s %s", diag.Visible(m.task), strings.Join(what, ", then "))
	}
	if len(in.Unknown) > 0 {
		text += fmt.Sprintf("  while these are unknown: %s\n", diag.Visible(strings.Join(in.Unknown, ", ")))
	}
	return head + "\n" + text
}

// chain returns the chain of causes of a change, as text and as the places of the changes.
func (m *moment) chain(end *record.End, i int) (text string, places []int) {
	causes, because := m.found.Causes(), ""
	for k := i; k >= 0; k = causes[k] {
		c := m.found.Changes[k]
		i, places = k, append(places, k)
		text += fmt.Sprintf("%s%s: %s -> %s\n", because, diag.Visible(m.Task(c.Task)), c.From, c.To)
		because = "  because "
	}
	return text + because + diag.Visible(m.found.Reason(i, end)) + "\n", places
}
