package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/temporal"

	"github.com/spf13/cobra"
)

func monitorCommand() *cobra.Command {
	var texts []string
	var asJSON bool
	c := &cobra.Command{
		Use: "monitor",
		RunE: func(cmd *cobra.Command, args []string) error {
			read := recorded
			if yamlName(args[0]) || args[0] == standardInput {
				read = judgedFlight
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			rows, end, err := read(ctx, args[0], texts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := show(cmd.OutOrStdout(), asJSON, rows, func(w io.Writer) error {
				return printJudgements(w, args[0], rows)
			}); err != nil {
				return err
			}
			if slices.ContainsFunc(rows, func(p record.Property) bool { return p.Verdict == record.PropertyViolated }) {
				return errRefuted
			}
			if end.Missing() != "" {
				return failed(incomplete(args[0], &end))
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&texts, "property", nil,
		"judge this `property` instead of those of the mission; may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON: a list with an object for each property")
	return c
}

// incomplete is the error of a log that does not cover the whole run.
func incomplete(name string, end *record.End) error {
	return fmt.Errorf("%s: %s: it contains nothing after %s, %.3f s", name, end.Missing(), report.Clock(end.Told),
		end.Told)
}

// readProperties reads the properties of --property.
func readProperties(texts []string, tasks expr.Tasks, scope expr.Scope) ([]temporal.Assertion, error) {
	var list []temporal.Assertion
	var diags diag.List
	for _, text := range texts {
		src := &diag.Source{Name: "--property", Text: text}
		p, mistakes := temporal.Read(text, tasks, scope)
		for _, m := range mistakes {
			diags = append(diags, m.In(src, 0))
		}
		if p != nil {
			list = append(list, temporal.Assertion{Text: p.Text, Formula: p.Formula})
		}
	}
	return list, diags.Err()
}

// errNoProperties reports a run without assertions to judge.
var errNoProperties = &usageError{"there are no properties: declare some under `check`, or give --property"}

// judgedFlight flies a mission and judges what it declares, or the properties of --property.
func judgedFlight(
	ctx context.Context, name string, texts []string, stderr io.Writer,
) ([]record.Property, record.End, error) {
	var end record.End
	m, err := simulatedMission(name, nil, stderr)
	if err != nil {
		return nil, end, err
	}
	watch := m.Watch()
	if len(texts) > 0 {
		all := m.Plan.Tasks(func(bt.Kind) bool { return true })
		if watch.Assertions, err = readProperties(texts, all, m.Scope()); err != nil {
			return nil, end, err
		}
	}
	if len(watch.Assertions) == 0 {
		return nil, end, errNoProperties
	}
	r, judge, err := judgedRun(m, watch)
	if err != nil {
		return nil, end, failed(err)
	}
	bar := newProgress(stderr, r.Until())
	defer bar.clear()
	if err := r.Fly(ctx, func(bool) error {
		bar.step(r.T(), "flying")
		return nil
	}); err != nil {
		return nil, end, failed(err)
	}
	end = endOf(r)
	rows, err := judge.Judge(&end)
	return rows, end, failed(err)
}

// judgedRun returns the run of a mission, with a monitor attached to it.
func judgedRun(m *mission.Mission, watch temporal.Watch) (*run.Run, *monitor.Monitor, error) {
	r, err := simulated.New(m.Judging(watch), run.Continuous{}, math.Inf(1))
	if err != nil {
		return nil, nil, err
	}
	header := r.Header()
	judge := monitor.New(&header, watch)
	r.Attach(judge)
	return r, judge, nil
}

// endOf returns the end of a run, as a log has it.
func endOf(r *run.Run) record.End {
	summary := r.Summary()
	return record.End{Told: r.T(), Summary: &summary}
}

// recorded judges what its mission declares on a run's log, or the properties of --property.
func recorded(_ context.Context, name string, texts []string, _ io.Writer) ([]record.Property, record.End, error) {
	log, done, err := openLog(name)
	if err != nil {
		return nil, record.End{}, err
	}
	defer done()
	return log.judge(texts)
}

// judge judges on a log the assertions of the mission that it carries, or the properties of --property. A log with
// exchanges of the plan is read twice: a property may name tasks of later plans.
func (l *runLog) judge(texts []string) ([]record.Property, record.End, error) {
	rows, end, plans, err := l.judgePlans(texts, nil)
	if len(plans) > 0 {
		rows, end, _, err = l.judgePlans(texts, plans)
	}
	return rows, end, err
}

// planned is a monitor that tells which plans take over.
type planned struct {
	*monitor.Monitor
	plans *[]record.Takeover
}

func (p planned) Plan(next record.Takeover) error {
	*p.plans = append(*p.plans, next)
	return p.Monitor.Plan(next)
}

func (l *runLog) judgePlans(texts []string, later []record.Takeover) (rows []record.Property, end record.End,
	plans []record.Takeover, err error,
) {
	var watch temporal.Watch
	var judge *monitor.Monitor
	var mistakes error
	end, err = l.play(func(h *record.Header) record.Recorder {
		if watch, mistakes = asked(h, later, l.name, texts); mistakes != nil {
			watch = temporal.Watch{}
		}
		judge = monitor.New(h, watch, later...)
		return planned{judge, &plans}
	})
	switch {
	case err != nil:
		return nil, end, nil, err
	case mistakes != nil:
		return nil, end, plans, mistakes
	case len(watch.Assertions) == 0:
		return nil, end, plans, errNoProperties
	}
	rows, err = judge.Judge(&end)
	return rows, end, plans, failed(err)
}

// asked returns what to judge on a recorded run.
func asked(h *record.Header, later []record.Takeover, name string, texts []string) (temporal.Watch, error) {
	w, err := monitor.Declared(h, name)
	if len(texts) > 0 {
		var tasks expr.TaskNames
		for _, t := range monitor.Tasks(h, later) {
			tasks = append(tasks, t.Name)
		}
		w.Assertions, err = readProperties(texts, tasks, monitor.Scope(h))
	}
	return w, err
}

func printJudgements(out io.Writer, name string, rows []record.Property) error {
	var b strings.Builder
	count := map[string]int{}
	for _, r := range rows {
		count[r.Verdict]++
	}
	fmt.Fprintf(&b, "%s: %d satisfied, %d violated", diag.Visible(name), count["satisfied"], count["violated"])
	if n := count["open"]; n > 0 {
		fmt.Fprintf(&b, ", %d open", n)
	}
	b.WriteString("\n")
	for _, r := range rows {
		word := r.Verdict
		if word == record.PropertyViolated {
			word = "VIOLATED"
		}
		fmt.Fprintf(&b, "%-9s  %s\n", word, diag.Visible(strings.TrimPrefix(r.Kind+" "+r.Property, " ")))
		row := func(label, format string, args ...any) {
			fmt.Fprintf(&b, "           %-7s %s\n", label, fmt.Sprintf(format, args...))
		}
		if r.Margin != nil {
			row("margin", "%s", diag.Number(*r.Margin, 6))
		}
		if r.At != nil {
			row("at", "%s, %.3f s", report.Clock(*r.At), *r.At)
		}
		if r.After != nil {
			row("open", "beyond %s, %.3f s", report.Clock(*r.After), *r.After)
		}
		if r.Because != "" {
			row("because", "%s", r.Because)
		}
		if r.Exchanged != "" {
			row("plan", "%s", diag.Visible(r.Exchanged))
		}
		if r.Verdict == record.PropertyViolated && r.Kind != "" {
			row("so", "%s", r.Consequence())
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
