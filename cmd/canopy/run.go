package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"canopy/internal/cputime"
	"canopy/mission"
	"canopy/model"
	"canopy/record"
	"canopy/report"

	"github.com/spf13/cobra"
)

func runCommand() *cobra.Command {
	var until, out string
	var set []string
	var asJSON, quiet bool
	c := &cobra.Command{
		Use:   "run MISSION",
		Short: "Simulate a mission and write its log and report",
		Long: `Simulate a mission in continuous time and write its log and report.

The output folder gets
  report.html   plots, status lanes, the tree and the events; one file, works offline
  run.mcap      the whole log, for Foxglove, PlotJuggler and "canopy report"
  status.csv    one line per status change
  signals.csv   the recorded signals on the recording grid and on both sides of every event
  summary.json  what the run cost and why it ended

Exit status: 0 the mission was flown to its end, 1 the run failed or was interrupted (what it recorded is complete
up to there), 2 wrong input, nothing was run.`,
		Example: `  canopy run missions/solar-day.yaml
  canopy run missions/solar-day.yaml --until 12h --set battery.E_Wh=5000 --out half-day
  canopy run missions/solar-day.yaml --json | jq .state_events`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			limit, err := duration(until)
			if err != nil {
				return err
			}
			m, diags := mission.Read(filepath.ToSlash(args[0]), os.ReadFile, model.Vehicles(), set)
			if diags.HasErrors() {
				return diags
			}
			diags.Write(cmd.ErrOrStderr(), colour(cmd.ErrOrStderr()))
			r, err := m.NewRun(limit)
			if errors.Is(err, model.ErrParameters) {
				return err
			} else if err != nil {
				return failed(err)
			}
			if out == "" {
				out = filepath.Join("out", strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0])))
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			var closing io.Writer = cmd.OutOrStdout()
			if quiet || asJSON {
				closing = io.Discard
			}
			summary, err := fly(ctx, r, out, closing, cmd.ErrOrStderr())
			if asJSON && summary != nil {
				if _, err := cmd.OutOrStdout().Write(summary); err != nil {
					return failed(err)
				}
			}
			if errors.Is(err, record.ErrHeader) {
				return err
			}
			return failed(err)
		},
	}
	c.Flags().StringVar(&until, "until", "", "end at this simulated `time`: seconds, or a duration such as 12h30m")
	c.Flags().StringArrayVar(&set, "set", nil,
		"set `name=value`: a parameter of the vehicle, horizon or tolerance; may be repeated")
	c.Flags().StringVar(&out, "out", "", "output `folder` (default out/ and the mission's file name)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON instead of the table")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no table")
	return c
}

// patience is how long a second signal counts as the same wish: who runs a program for others (timeout, npm, a
// container) sends one signal to the process and one to its group.
const patience = time.Second

// interruptible returns a context that ends with Ctrl-C or a request to terminate; one more, after [patience], ends the
// process.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(patience, stop) })
	return ctx, stop
}

// duration reads a simulated time [s]; "" is no limit.
func duration(s string) (float64, error) {
	if s == "" {
		return math.Inf(1), nil
	}
	t, err := strconv.ParseFloat(s, 64)
	if err != nil {
		d, e := time.ParseDuration(s)
		t, err = d.Seconds(), e
	}
	if err != nil || math.IsNaN(t) || t <= 0 {
		return 0, fmt.Errorf("--until %q is not a time: give seconds, or a duration such as 12h30m", s)
	}
	return t, nil
}

// errInterrupted is the error of a run that the user stopped.
var errInterrupted = errors.New("interrupted")

// fly runs a mission into an output folder, writes its report and prints the closing table. It returns the summary as
// JSON. Whatever ends the run, the files are complete up to there.
func fly(ctx context.Context, r *mission.Run, out string, table, stderr io.Writer) ([]byte, error) {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	for _, stale := range []string{"summary.json", "report.html"} { // of an earlier run: this one writes them last
		if err := os.Remove(filepath.Join(out, stale)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	files, closeFiles, err := create(out)
	if err != nil {
		return nil, err
	}
	began := cputime.Now()
	w, err := record.NewWriter(r.Header(), files)
	if err != nil {
		return nil, errors.Join(err, closeFiles())
	}
	r.Attach(w)
	bar := newProgress(stderr, r.Until())
	more := true
	for more && err == nil {
		if ctx.Err() != nil {
			err = errors.Join(errInterrupted, r.Stop(errInterrupted.Error()))
			break
		}
		more, err = r.Step()
		bar.show(r.T(), r.Events())
	}
	bar.clear()
	summary := r.Summary()
	lost := w.Close(summary)
	summary.CPU = cputime.Now() - began
	lost = also(lost, closeFiles())
	if lost != nil {
		return nil, also(err, lost) // what cannot be written would fail once more with the summary and the report
	}
	text, e := json.MarshalIndent(summary, "", "  ")
	text = append(text, '\n')
	lost = errors.Join(e, replace(filepath.Join(out, "summary.json"), text), writeReport(out, table))
	if err != nil && lost == nil {
		return text, fmt.Errorf("%w\ncanopy: the results up to %s of simulated time are in %s", err, report.Clock(r.T()),
			out)
	}
	return text, also(err, lost)
}

// also joins two errors, unless the first is about the second already: a recorder that has failed says so at every
// call.
func also(err, more error) error {
	switch {
	case more == nil || errors.Is(err, more):
		return err
	case err == nil:
		return more
	}
	return errors.Join(err, more)
}

// replace writes a file whole or not at all: an earlier one stays until the new one is complete.
func replace(name string, data []byte) error {
	part := name + ".part"
	err := os.WriteFile(part, data, 0o666)
	if err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}

// create opens the files that a run writes while it goes on.
func create(out string) (record.Files, func() error, error) {
	var opened []*os.File
	closeAll := func() error {
		var err error
		for _, f := range opened {
			err = errors.Join(err, f.Close())
		}
		return err
	}
	for _, name := range []string{"run.mcap", "status.csv", "signals.csv"} {
		f, err := os.Create(filepath.Join(out, name))
		if err != nil {
			return record.Files{}, nil, errors.Join(err, closeAll())
		}
		opened = append(opened, f)
	}
	return record.Files{MCAP: opened[0], Status: opened[1], Signals: opened[2]}, closeAll, nil
}
