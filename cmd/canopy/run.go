package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"canopy/diag"
	"canopy/run"
	"canopy/run/control"
	"canopy/run/folder"
	"canopy/run/record"
	"canopy/run/report"
	"canopy/run/simulated"
	"canopy/vehicle/model"

	"github.com/spf13/cobra"
)

// usualLog and mostLog are the limit of a log, unless --log-limit gives another one, and its maximum [MiB].
const usualLog, mostLog = 8 << 10, 1 << 30

func runCommand() *cobra.Command {
	until, checkpoint := seconds(math.Inf(1)), seconds(math.Inf(1))
	var out string
	var set []string
	var asJSON, quiet, resume, withReport bool
	var speed float64
	var limit int64
	c := &cobra.Command{
		Use:   "run MISSION",
		Short: "Simulate a mission and write its log and report",
		Long: `Simulate a mission in continuous time and write its log and report.

The output folder receives
  report.html     plots, status lanes, the tree and the events; one file, works offline
  run.mcap        the whole log, for Foxglove, PlotJuggler and "canopy report"
  status.csv      one line per status change
  signals.csv     the recorded signals on the recording grid and on both sides of every event
  summary.json    the cost of the run, why it ended, the outcome of the plan, and the verdicts
  run.checkpoint  the state of the run when Ctrl-C ended it, or at the last multiple of --checkpoint

The same command with --resume continues an interrupted or killed run from its checkpoint. The log is then identical,
byte for byte, to that of a run without interruption.

When the mission ends or is interrupted, its active actions are ended: the run continues until their exit procedures
are complete, for at most one hour of simulated time.

The properties that the mission declares under "check", and the facts, ranges and rates that proofs assume, are judged
in flight, as "canopy monitor" judges them.

Exit status: 0 the mission was flown to its end, the plan did not fail, no property or assumption was violated and the
vehicle did not leave its fence, 1 the run failed or was interrupted (its records are complete up to that time), 2 wrong
input, nothing was run, 3 the mission was flown to its end, but the plan failed, a property or an assumption was
violated, or the fence was breached.`,
		Example: `  canopy run missions/solar-day.yaml
  canopy run missions/solar-day.yaml --until 12h --set battery.E_Wh=5000 --out half-day
  canopy run missions/solar-day.yaml --set horizon="28 [d]" --checkpoint 24h
  canopy run missions/solar-day.yaml --set horizon="28 [d]" --resume
  canopy run missions/solar-day.yaml --json | jq .state_events`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			if !(speed >= 0) || math.IsInf(speed, 1) || cmd.Flags().Changed("speed") && speed == 0 {
				return &usageError{"--speed is a positive number"}
			}
			if limit < 1 || limit > mostLog {
				return &usageError{fmt.Sprintf("--log-limit is at least 1 and at most %d", mostLog)}
			}
			m, err := readMission(args[0], set, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if limit := float64(until); limit > m.Horizon && !math.IsInf(limit, 1) {
				fmt.Fprintf(cmd.ErrOrStderr(),
					"canopy: --until is after the mission's horizon, where it ends; --set horizon=%.0f extends it\n", limit)
			}
			watch, err := watched(m)
			if err != nil {
				return err
			}
			r, err := simulated.New(m.Judging(watch), run.Continuous{}, float64(until))
			if errors.Is(err, model.ErrParameters) {
				return err
			} else if err != nil {
				return failed(err)
			}
			if out == "" {
				out = filepath.Join("out", folder.Name(args[0]))
				if args[0] == standardInput {
					out = filepath.Join("out", "stdin")
				}
			}
			bar := newProgress(cmd.ErrOrStderr(), r.Until())
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			pace := paced{operated: operated{Run: r}, dir: out, speed: speed, cancel: cancel}
			o := folder.Options{Every: float64(checkpoint), Resume: resume, Bare: !withReport, Guard: &unfinished,
				Limit: limit << 20, Watch: watch, Observe: func() {
					bar.show(r.T(), r.Events)
					pace.wait(ctx)
				}}
			if speed > 0 {
				pace.feed = control.NewFeed(r.Header())
				o.Also = pace.feed
			}
			var table bytes.Buffer
			if !asJSON && !quiet {
				o.Table = &table
			}
			summary, err := folder.Fly(ctx, r, out, o)
			if pace.feed != nil {
				pace.feed.End(summary)
			}
			err = errors.Join(pace.close(), err)
			bar.clear()
			if errors.Is(err, record.ErrHeader) || errors.Is(err, folder.ErrCheckpoint) {
				return err
			}
			if err != nil && summary != nil && !errors.Is(err, folder.ErrLog) {
				hint := ""
				if errors.Is(err, record.ErrInterrupted) {
					hint = "; the same command with --resume continues from there"
				}
				if errors.Is(err, folder.ErrFull) {
					hint += "; a plan that switches less often, a longer interval or fewer signals under `record` take less, " +
						"--log-limit and an --out on another disk permit more"
				}
				err = fmt.Errorf("%w\ncanopy: the results up to %s of simulated time are in %s%s", err, report.Clock(r.T()), out,
					hint)
			}
			err = errors.Join(err, printed(cmd.OutOrStdout(), summary, table.Bytes(), out, asJSON, withReport))
			if err != nil {
				return failed(err)
			}
			return judged(cmd.ErrOrStderr(), summary, "run")
		},
	}
	c.Flags().Var(&until, "until", "end at this simulated `time`: seconds, 12h30m or \"28 [d]\"")
	c.Flags().StringArrayVar(&set, "set", nil,
		"set `name=value`: a parameter of the vehicle, horizon, tolerance or method; may be repeated")
	c.Flags().StringVar(&out, "out", "", "output `folder` (default out/ followed by the mission's file name)")
	c.Flags().Var(&checkpoint, "checkpoint",
		"save a checkpoint at each multiple of this simulated `time`, after the step that reaches it")
	c.Flags().Float64Var(&speed, "speed", 0,
		"fly at most this `number` of simulated seconds per second, and listen to canopy upload and canopy watch (default: "+
			"no limit)")
	c.Flags().Int64Var(&limit, "log-limit", usualLog, "the largest size of "+folder.LogFile+", "+folder.StatusFile+" and "+
		folder.SignalsFile+" together, in `MiB`: the run ends there, or if the disk is nearly full")
	c.Flags().BoolVar(&resume, "resume", false, "continue from the checkpoint in the output folder")
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON instead of the table")
	c.Flags().BoolVar(&withReport, "report", true, "write report.html")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "do not print the table")
	return c
}

// printed prints the result of a run: its summary as JSON, or the closing table, if there is one, and the name of its
// report, if it has one.
func printed(w io.Writer, summary *record.Summary, table []byte, out string, asJSON, withReport bool) error {
	switch {
	case asJSON && summary != nil:
		text, err := folder.Text(summary)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	case len(table) > 0 && withReport:
		table = fmt.Appendf(table, "\nreport: %s\n", filepath.Join(out, folder.ReportFile))
	}
	_, err := w.Write(table)
	return err
}

// judged returns the error of a run without an error that its operator stopped, or whose plan failed, or that violates
// something, or whose vehicle did not do what the plan wanted, and reports that.
func judged(stderr io.Writer, s *record.Summary, what string) (err error) {
	if s.Sortie != nil {
		for _, text := range s.Sortie.Faults() {
			fmt.Fprintf(stderr, "canopy: %s\n", diag.Visible(text))
			err = errRefuted
		}
	}
	if s.Outcome == record.Interrupted {
		return failed(fmt.Errorf("the %s was %s", what, s.Reason))
	}
	if s.Breached != nil {
		fmt.Fprintf(stderr, "canopy: the vehicle left the fence at %s\n", report.Clock(*s.Breached))
		err = errRefuted
	}
	if s.Plan == record.PlanFailed {
		fmt.Fprintln(stderr, "canopy: the plan failed")
		err = errRefuted
	}
	for _, p := range s.Violations() {
		fmt.Fprintf(stderr, "canopy: the %s violates %s\n", what, diag.Visible(p.Statement()))
		err = errRefuted
	}
	return err
}
