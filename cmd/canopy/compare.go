package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cputime"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"
)

func compareCommand() *cobra.Command {
	until, budget, period := seconds(math.Inf(1)), seconds(20), periods{list: []float64{60, 1, 0.1}}
	var set []string
	var repeat int
	var asJSON bool
	c := &cobra.Command{
		Use: "compare",
		RunE: func(cmd *cobra.Command, args []string) error {
			if repeat < 1 {
				return &usageError{"--repeat must be at least 1"}
			}
			m, err := simulatedMission(args[0], set, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			for _, p := range period.list {
				if ticks := min(float64(until), m.Horizon) / p; ticks > mostTicks {
					return &usageError{fmt.Sprintf("--period %s is too short: the mission has %s of them, more than %s; "+
						"write a longer one, or an earlier --until", diag.Number(p, -1), diag.Number(ticks, 3),
						diag.Number(mostTicks, 3))}
				}
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			rows, err := compare(ctx, m, run.Configurations(m, period.list), float64(until), rounds{repeat, float64(budget)},
				cmd.ErrOrStderr())
			if err != nil && len(rows) == 0 {
				return failed(err)
			}
			shown := show(cmd.OutOrStdout(), asJSON, rows, func(w io.Writer) error { return comparison(w, rows) })
			return failed(errors.Join(shown, err))
		},
	}
	c.Flags().Var(&until, "until", "end at this simulated `time`: seconds, 12h30m, 13:57:06 or \"28 [d]\"")
	setFlag(c, &set)
	c.Flags().Var(&period, "period", "tick periods, a list of `times`")
	c.Flags().IntVar(&repeat, "repeat", 7, "number of rounds")
	c.Flags().Var(&budget, "budget", "CPU `time` after which a configuration is not flown again")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON: a list with an object for each configuration")
	return c
}

// row is one configuration in the comparison.
type row struct {
	Configuration      string  `json:"configuration"`
	CPU                float64 `json:"cpu_s"` // median
	CPULeast           float64 `json:"cpu_least_s"`
	CPUMost            float64 `json:"cpu_most_s"`
	Runs               int     `json:"runs"`
	Ratio              float64 `json:"ratio"` // to continuous, median over the rounds
	TimeEvents         int     `json:"time_events"`
	StateEvents        int     `json:"state_events"`
	Steps              int     `json:"steps"`
	Evaluations        int     `json:"rhs_evaluations"`
	MaxEventIterations int     `json:"max_event_iterations"`
	Same               bool    `json:"same"`
	TimeDifference     float64 `json:"time_difference_s"`
	SignalDifference   float64 `json:"signal_difference"` // share of the signal's range
	Signal             string  `json:"signal"`            // the one with the largest difference; "" if none differs
}

// mostTicks is the maximum number of ticks of a run, some minutes of work.
const mostTicks = 1e8

// rounds limits how often each configuration is flown.
type rounds struct {
	most   int
	budget float64 // CPU time [s] after which a configuration is not flown again
}

// compare flies the mission in all configurations and with recorded inputs, in turn, until each has had its rounds.
// The others are compared with the first configuration, whose inputs are recorded. With an error, compare also returns
// the rows of the configurations that were flown at least once.
func compare(ctx context.Context, m *mission.Mission, configurations []run.Configuration, until float64,
	limit rounds, stderr io.Writer) (rows []row, err error) {
	configurations = append(configurations, nil) // nil: recorded inputs, which exist after the first run
	rows = make([]row, len(configurations))
	times := make([][]float64, len(configurations))
	ratios := make([][]float64, len(configurations))
	var continuous *run.History
	bar := newProgress(stderr, float64(limit.most*len(configurations)))
	defer bar.clear()
flying:
	for round := range limit.most {
		if floats.Sum(times[0]) > limit.budget {
			break // a ratio needs a continuous run of the same round
		}
		for i, c := range configurations {
			if round > 0 && floats.Sum(times[i]) > limit.budget {
				continue
			}
			if c == nil {
				c = continuous.Inputs
			}
			bar.step(float64(round*len(configurations)+i), c.String())
			history, summary, spent, failure := measure(ctx, m, c, until)
			if failure != nil {
				err = fmt.Errorf("%s: %w", c, failure)
				break flying
			}
			if continuous == nil {
				continuous = history
			}
			times[i] = append(times[i], spent)
			ratios[i] = append(ratios[i], spent/times[0][round])
			if round == 0 {
				s, d := summary, history.Minus(continuous)
				rows[i] = row{Configuration: c.String(), TimeEvents: s.TimeEvents, StateEvents: s.StateEvents, Steps: s.Steps,
					Evaluations: s.RHSEvaluations, MaxEventIterations: s.MaxEventIterations, Same: d.Same,
					TimeDifference: d.Time, SignalDifference: d.Signal}
				if d.Signal > 0 {
					rows[i].Signal = m.Record[d.Which]
				}
			}
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.Configuration == "" })
	for i := range rows {
		r := &rows[i]
		r.CPU, r.CPULeast, r.CPUMost, r.Runs = median(times[i]), slices.Min(times[i]), slices.Max(times[i]), len(times[i])
		r.Ratio = median(ratios[i])
	}
	return rows, err
}

// measure flies one configuration once; the time is the CPU time of the run with its recording in memory.
func measure(ctx context.Context, m *mission.Mission, c run.Configuration, until float64) (
	*run.History, record.Summary, float64, error) {
	r, err := simulated.New(m, c, until)
	if err != nil {
		return nil, record.Summary{}, 0, err
	}
	history := run.NewHistory(m)
	r.Attach(history.Recorder())
	began := cputime.Now()
	err = r.Fly(ctx, nil)
	return history, r.Summary(), cputime.Now() - began, err
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// comparison prints the rows as a table.
func comparison(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "configuration\tcpu [s]\tmin-max\truns\tratio\ttime ev.\tstate ev.\tsteps\trhs\titer.\tsame\t"+
		"dt [s]\tsignal [%]\t")
	for _, r := range rows {
		same := "yes"
		if !r.Same {
			same = "NO"
		}
		fmt.Fprintf(w, "%s\t%.4f\t%.3f-%.3f\t%d\t%.2f\t", diag.Visible(r.Configuration), r.CPU, r.CPULeast, r.CPUMost,
			r.Runs, r.Ratio)
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t", r.TimeEvents, r.StateEvents, r.Steps, r.Evaluations, r.MaxEventIterations)
		fmt.Fprintf(w, "%s\t%s\t%s %s\t\n", same, diag.Number(r.TimeDifference, 3), diag.Number(100*r.SignalDifference, 2),
			diag.Visible(r.Signal))
	}
	return w.Flush()
}
