package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"canopy/run"
	"canopy/run/folder"
	"canopy/run/record"
	"canopy/run/report"
	"canopy/run/simulated"
	"canopy/vehicle/model"

	"github.com/spf13/cobra"
)

func runCommand() *cobra.Command {
	until, checkpoint := seconds(math.Inf(1)), seconds(math.Inf(1))
	var out string
	var set []string
	var asJSON, quiet, resume bool
	c := &cobra.Command{
		Use:   "run MISSION",
		Short: "Simulate a mission and write its log and report",
		Long: `Simulate a mission in continuous time and write its log and report.

The output folder gets
  report.html     plots, status lanes, the tree and the events; one file, works offline
  run.mcap        the whole log, for Foxglove, PlotJuggler and "canopy report"
  status.csv      one line per status change
  signals.csv     the recorded signals on the recording grid and on both sides of every event
  summary.json    what the run cost, why it ended, and what came of the plan
  run.checkpoint  the state of the run when Ctrl-C ended it, or at the last multiple of --checkpoint

With --resume and otherwise the same command, an interrupted or killed run goes on from its checkpoint. The log is then
byte for byte that of a run that was never interrupted.

When the mission ends or is interrupted, actions are ended: the run goes on until their exit procedures have ended, for
an hour of simulated time at most.

Exit status: 0 the mission was flown to its end and its plan has not failed, 1 the run failed or was interrupted (what it
recorded is complete up to there), 2 wrong input, nothing was run, 3 the mission was flown to its end, where its plan has
failed.`,
		Example: `  canopy run missions/solar-day.yaml
  canopy run missions/solar-day.yaml --until 12h --set battery.E_Wh=5000 --out half-day
  canopy run missions/solar-day.yaml --set horizon="28 [d]" --checkpoint 24h
  canopy run missions/solar-day.yaml --set horizon="28 [d]" --resume
  canopy run missions/solar-day.yaml --json | jq .state_events`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := readMission(args[0], set, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if limit := float64(until); limit > m.Horizon && !math.IsInf(limit, 1) {
				fmt.Fprintf(cmd.ErrOrStderr(),
					"canopy: --until is after the mission's horizon, where it ends; --set horizon=%.0f flies on\n", limit)
			}
			r, err := simulated.New(m, run.Continuous{}, float64(until))
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
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			bar := newProgress(cmd.ErrOrStderr(), r.Until())
			var table bytes.Buffer
			summary, err := folder.Fly(ctx, r, out, folder.Options{Every: float64(checkpoint), Resume: resume, Table: &table,
				Guard: &unfinished, Observe: func() { bar.show(r.T(), r.Events()) }})
			bar.clear()
			if errors.Is(err, record.ErrHeader) || errors.Is(err, folder.ErrCheckpoint) {
				return err
			}
			if err != nil && summary != nil {
				hint := ""
				if errors.Is(err, record.ErrInterrupted) {
					hint = "; the same command with --resume goes on from there"
				}
				err = fmt.Errorf("%w\ncanopy: the results up to %s of simulated time are in %s%s", err, report.Clock(r.T()), out,
					hint)
			}
			err = errors.Join(err, printed(cmd.OutOrStdout(), summary, table.String(), out, asJSON, quiet))
			if err == nil && summary.Plan == record.PlanFailed {
				fmt.Fprintln(cmd.ErrOrStderr(), "canopy: the plan has failed")
				return errRefuted
			}
			return failed(err)
		},
	}
	c.Flags().Var(&until, "until", "end at this simulated `time`: seconds, or like 12h30m or \"28 [d]\"")
	c.Flags().StringArrayVar(&set, "set", nil,
		"set `name=value`: a parameter of the vehicle, horizon, tolerance or method; may be repeated")
	c.Flags().StringVar(&out, "out", "", "output `folder` (default out/ and the mission's file name)")
	c.Flags().Var(&checkpoint, "checkpoint",
		"save a checkpoint at each multiple of this simulated `time`, after the step that reaches it")
	c.Flags().BoolVar(&resume, "resume", false, "go on from the checkpoint in the output folder")
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON instead of the table")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no table")
	return c
}

// printed prints what comes out of a run: its summary as JSON, or the closing table, if it was made, and where its
// report is.
func printed(w io.Writer, summary *record.Summary, table, out string, asJSON, quiet bool) error {
	text := []byte(table)
	switch {
	case asJSON && summary != nil:
		var err error
		if text, err = folder.Text(summary); err != nil {
			return err
		}
	case asJSON || quiet || table == "":
		return nil
	default:
		text = fmt.Appendf(text, "\nreport: %s\n", filepath.Join(out, folder.ReportFile))
	}
	_, err := w.Write(text)
	return err
}
