package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"canopy/analysis/temporal"
	"canopy/analysis/verify"
	"canopy/bt"
	"canopy/diag"
	"canopy/document/mission"
	"canopy/expr"
	"canopy/run"
	"canopy/run/record"
	"canopy/run/report"
	"canopy/run/simulated"

	"github.com/spf13/cobra"
)

func monitorCommand() *cobra.Command {
	var texts []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "monitor RUN",
		Short: "Judge temporal properties on a run, with their margins",
		Long: `Judge temporal properties on a run, with their margins.

RUN is a mission (.yaml), which is flown, the output folder of "canopy run", or a run.mcap. The properties are those
that the mission declares under "check", or those of --property.

The margin, or robustness, says how far the signals are from changing the verdict, in SI units; it is negative if the
property is violated. Tasks are exact at events, signals are taken as linear between the samples of the recording.
docs/temporal.md has the language.

Exit status 0: nothing is violated. 3: something is. 2: wrong input.`,
		Example: `  canopy monitor missions/solar-day.yaml
  canopy monitor out/solar-day --property "always (critical -> within 10 [min] (sink or hold))"
  canopy monitor missions/solar-day.yaml --property "always (soc >= 0.1)" --json | jq .[].margin`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			read := recorded
			if yamlName(args[0]) || args[0] == standardInput {
				read = flown
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			log, properties, err := read(ctx, args[0], texts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if len(properties) == 0 {
				return &usageError{"there are no properties: declare some under `check`, or give --property"}
			}
			rows, err := judge(traceOf(log), properties)
			if err != nil {
				return failed(err)
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				e.SetEscapeHTML(false) // properties have arrows
				err = e.Encode(rows)
			} else {
				err = printJudgements(cmd.OutOrStdout(), args[0], rows)
			}
			if err != nil {
				return failed(err)
			}
			if slices.ContainsFunc(rows, func(r judged) bool { return r.Verdict == temporal.Violated.String() }) {
				return errRefuted
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&texts, "property", nil,
		"judge this `text` instead of what the mission declares; may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON: a list with an object for each property")
	return c
}

// readProperties reads the properties of --property.
func readProperties(texts, tasks []string, scope expr.Scope) ([]verify.Property, error) {
	var list []verify.Property
	var diags diag.List
	for _, text := range texts {
		src := &diag.Source{Name: "--property", Text: text}
		p, mistakes := temporal.Read(text, tasks, scope)
		for _, m := range mistakes {
			diags = append(diags, m.In(src, 0))
		}
		list = append(list, verify.Property{Property: p, Place: verify.Place{Source: src, Length: len(text)}})
	}
	return list, diags.Err()
}

// flown flies a mission, and records what the properties ask for.
func flown(
	ctx context.Context, name string, texts []string, stderr io.Writer,
) (*record.Log, []verify.Property, error) {
	m, err := readMission(name, nil, stderr)
	if err != nil {
		return nil, nil, err
	}
	properties := m.Declared.Properties
	if len(texts) > 0 {
		var tasks []string
		for t := range m.Plan.Tree.Len() {
			tasks = append(tasks, m.Plan.Tree.Name(bt.Task(t)))
		}
		var err error
		if properties, err = readProperties(texts, tasks, m.Scope()); err != nil {
			return nil, nil, err
		}
	}
	wide := *m
	wide.Record = slices.Clone(m.Record)
	scope := m.Scope()
	for _, p := range properties {
		p.Formula.Conditions(func(e *expr.Expr) {
			for _, n := range e.Names() {
				if _, known := scope[n]; known && !slices.Contains(wide.Record, n) {
					wide.Record = append(wide.Record, n)
				}
			}
		})
	}
	log, err := flyInMemory(ctx, &wide, stderr)
	return log, properties, failed(err)
}

func flyInMemory(ctx context.Context, m *mission.Mission, stderr io.Writer) (*record.Log, error) {
	r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	w, err := record.NewWriter(r.Header(), record.Files{MCAP: &file})
	if err != nil {
		return nil, err
	}
	r.Attach(w)
	bar := newProgress(stderr, r.Until())
	defer bar.clear()
	err = r.Fly(ctx, func(bool) error {
		bar.step(r.T(), "flying")
		return nil
	})
	if err == nil {
		err = w.Close(r.Summary())
	}
	if err != nil {
		return nil, err
	}
	return record.Read(bytes.NewReader(file.Bytes()))
}

// recorded reads a run's log.
func recorded(_ context.Context, name string, texts []string, _ io.Writer) (*record.Log, []verify.Property, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "run.mcap")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	log, err := record.Read(f)
	if err != nil {
		return nil, nil, err
	}
	var tasks []string
	for _, t := range log.Tasks {
		tasks = append(tasks, t.Name)
	}
	if len(texts) > 0 {
		scope := expr.Scope{}
		for _, s := range log.Signals {
			u, err := expr.ParseUnit(s.Unit)
			if err != nil {
				u = expr.AnyUnit
			}
			scope[s.Name] = expr.Number(u)
		}
		properties, err := readProperties(texts, tasks, scope)
		return log, properties, err
	}
	for _, a := range log.Attachments {
		if a.Name == "mission.yaml" {
			properties, diags := verify.ReadProperties(&diag.Source{Name: "mission.yaml in " + name, Text: string(a.Data)},
				tasks, nil)
			return log, properties, diags.Err()
		}
	}
	return log, nil, nil
}

// traceOf returns what a log tells at its samples, and on both sides of each change of a status. What happens at one
// time and is undone there is not seen; nor is the end of a run that failed, when every task is stopped.
func traceOf(log *record.Log) *temporal.Trace {
	tr := &temporal.Trace{Signals: map[string][]float64{}, Tasks: map[string][]bool{}}
	status := make([]bt.Status, len(log.Tasks))
	for i, t := range log.Tasks {
		status[i] = t.Initial
	}
	push := func(t float64, row func(signal int) float64) {
		tr.T = append(tr.T, t)
		for i, s := range log.Signals {
			tr.Signals[s.Name] = append(tr.Signals[s.Name], row(i))
		}
		for i, task := range log.Tasks {
			s := status[i]
			kind, known := bt.ParseKind(task.Kind)
			judged := known && kind.Family() == bt.Leaf && !kind.Acts()
			on := s == bt.Activating || s == bt.Running || s == bt.Success && judged
			tr.Tasks[task.Name] = append(tr.Tasks[task.Name], on)
		}
	}
	sample := func(k int) func(int) float64 {
		k = min(k, len(log.T)-1)
		return func(i int) float64 { return log.Values[i][k] }
	}
	changes := log.Changes
	if s := log.Summary; s != nil && s.Outcome == record.Failed {
		for len(changes) > 0 && changes[len(changes)-1].T == s.Ended {
			changes = changes[:len(changes)-1]
		}
	}
	change := func(t float64) {
		for ; len(changes) > 0 && changes[0].T <= t; changes = changes[1:] {
			status[changes[0].Task] = changes[0].To
		}
	}
	if len(log.T) == 0 {
		return tr
	}
	change(log.T[0])
	between := func(k int) { // the changes after the sample k-1 and before the sample k, if there is one
		for len(changes) > 0 && (k == len(log.T) || changes[0].T < log.T[k]) {
			t := changes[0].T
			row := sample(k)
			if k < len(log.T) {
				share := (t - log.T[k-1]) / (log.T[k] - log.T[k-1])
				row = func(i int) float64 { return log.Values[i][k-1] + share*(log.Values[i][k]-log.Values[i][k-1]) }
			}
			push(t, row)
			change(t)
			push(t, row)
		}
	}
	for k, t := range log.T {
		if k > 0 {
			between(k)
		}
		last := k+1 == len(log.T) || log.T[k+1] > t
		if first := k == 0 || log.T[k-1] < t; last && first && len(changes) > 0 && changes[0].T == t {
			push(t, sample(k))
		}
		if last {
			change(t)
		}
		push(t, sample(k))
	}
	between(len(log.T))
	return tr
}

// judged is one property in the answer.
type judged struct {
	Property string   `json:"property"`
	Verdict  string   `json:"verdict"` // satisfied, violated or open
	Margin   *float64 `json:"margin"`  // null: only tasks decide
	At       *float64 `json:"at_s,omitempty"`
}

func judge(tr *temporal.Trace, properties []verify.Property) ([]judged, error) {
	var rows []judged
	for _, p := range properties {
		j, err := tr.Judge(p.Formula)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Text, err)
		}
		r := judged{Property: p.Text, Verdict: j.Verdict.String()}
		if !math.IsInf(j.Margin, 0) {
			r.Margin = &j.Margin
		}
		if !math.IsNaN(j.At) {
			r.At = &j.At
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func printJudgements(out io.Writer, name string, rows []judged) error {
	var b strings.Builder
	count := map[string]int{}
	for _, r := range rows {
		count[r.Verdict]++
	}
	fmt.Fprintf(&b, "%s: %d satisfied, %d violated", name, count["satisfied"], count["violated"])
	if n := count["open"]; n > 0 {
		fmt.Fprintf(&b, ", %d open", n)
	}
	b.WriteString("\n")
	for _, r := range rows {
		word := r.Verdict
		if word == temporal.Violated.String() {
			word = "VIOLATED"
		}
		fmt.Fprintf(&b, "%-9s  %s\n", word, r.Property)
		row := func(label, format string, args ...any) {
			fmt.Fprintf(&b, "           %-7s %s\n", label, fmt.Sprintf(format, args...))
		}
		if r.Margin != nil {
			row("margin", "%.6g", *r.Margin)
		}
		if r.At != nil {
			row("at", "%s, %.3f s", report.Clock(*r.At), *r.At)
		}
		if r.Verdict == temporal.Open.String() {
			row("because", "the run ends before it is decided")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
