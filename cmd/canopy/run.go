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

	"canopy/document/mission"
	"canopy/expr"
	"canopy/internal/cputime"
	"canopy/run/record"
	"canopy/run/report"
	"canopy/vehicle/model"

	"github.com/spf13/cobra"
)

func runCommand() *cobra.Command {
	var until, out, checkpoint string
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
  summary.json    what the run cost and why it ended
  run.checkpoint  the state of the run when Ctrl-C ended it, or at the last multiple of --checkpoint

With --resume and otherwise the same command, an interrupted or killed run goes on from its checkpoint. The log is then
byte for byte that of a run that was never interrupted.

Exit status: 0 the mission was flown to its end, 1 the run failed or was interrupted (what it recorded is complete
up to there), 2 wrong input, nothing was run.`,
		Example: `  canopy run missions/solar-day.yaml
  canopy run missions/solar-day.yaml --until 12h --set battery.E_Wh=5000 --out half-day
  canopy run missions/solar-day.yaml --set horizon="28 [d]" --checkpoint 24h
  canopy run missions/solar-day.yaml --set horizon="28 [d]" --resume
  canopy run missions/solar-day.yaml --json | jq .state_events`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			limit, err := duration("until", until)
			if err != nil {
				return err
			}
			every, err := duration("checkpoint", checkpoint)
			if err != nil {
				return err
			}
			m, diags := mission.Read(filepath.ToSlash(args[0]), readFile, model.Vehicles(), set)
			if diags.HasErrors() {
				return diags
			}
			diags.Write(cmd.ErrOrStderr(), colour(cmd.ErrOrStderr()))
			if limit > m.Horizon && !math.IsInf(limit, 1) {
				fmt.Fprintf(cmd.ErrOrStderr(),
					"canopy: --until is after the mission's horizon, where it ends; --set horizon=%.0f flies on\n", limit)
			}
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
			f := flight{Run: r, out: out, every: every, resume: resume, table: closing, stderr: cmd.ErrOrStderr()}
			summary, err := f.fly(ctx)
			if asJSON && summary != nil {
				if _, err := cmd.OutOrStdout().Write(summary); err != nil {
					return failed(err)
				}
			}
			if errors.Is(err, record.ErrHeader) || errors.Is(err, errCheckpoint) {
				return err
			}
			return failed(err)
		},
	}
	c.Flags().StringVar(&until, "until", "", "end at this simulated `time`: seconds, or like 12h30m or \"28 [d]\"")
	c.Flags().StringArrayVar(&set, "set", nil,
		"set `name=value`: a parameter of the vehicle, horizon, tolerance or method; may be repeated")
	c.Flags().StringVar(&out, "out", "", "output `folder` (default out/ and the mission's file name)")
	c.Flags().StringVar(&checkpoint, "checkpoint", "",
		"save a checkpoint at each multiple of this simulated `time`, after the step that reaches it")
	c.Flags().BoolVar(&resume, "resume", false, "go on from the checkpoint in the output folder")
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON instead of the table")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no table")
	return c
}

// patience is how long a second signal counts as the same wish: who runs a program for others (timeout, npm, a
// container) sends one signal to the process and one to its group.
var patience = time.Second

// interruptible returns a context that ends with Ctrl-C or a request to terminate; one more, after [patience], ends the
// process.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { time.AfterFunc(patience, stop) })
	return ctx, stop
}

// duration reads a simulated time [s], the value of a flag; "" is no limit.
func duration(flag, s string) (float64, error) {
	if s == "" {
		return math.Inf(1), nil
	}
	t, err := strconv.ParseFloat(s, 64)
	if err != nil {
		d, e := time.ParseDuration(s)
		t, err = d.Seconds(), e
	}
	if err != nil {
		t, err = literal(s)
	}
	if err != nil || math.IsNaN(t) || t <= 0 {
		return 0, fmt.Errorf("--%s %q is not a time: give seconds, or a duration like 12h30m or \"28 [d]\"", flag, s)
	}
	return t, nil
}

// literal reads a time [s] as missions write it.
func literal(s string) (float64, error) {
	second, err := expr.ParseUnit("s")
	if err != nil {
		return 0, err
	}
	e, err := expr.Parse(s)
	if err != nil {
		return 0, err
	}
	for _, mistake := range e.Check(expr.Real, second, expr.Scope{}) {
		return 0, mistake
	}
	return expr.NewCompiler(nil).Compile(e).Real(nil, nil), nil
}

// errInterrupted is the error of a run that the user stopped.
var errInterrupted = errors.New("interrupted")

// flight is a run and where its results go.
type flight struct {
	*mission.Run
	out    string
	every  float64 // distance of checkpoints in simulated time [s]; +Inf for none
	resume bool    // go on from the folder's checkpoint
	table  io.Writer
	stderr io.Writer
}

// begin opens the log, from its beginning or where the checkpoint is. What an earlier run has left and this one writes
// last is removed.
func (f *flight) begin(header record.Header, id *identity) (log *logFiles, w *record.Writer, err error) {
	if f.resume {
		point, err := id.load(f.out, f.Run)
		if err != nil {
			return nil, nil, err
		}
		if log, w, err = resumeLog(f.out, header, point); err != nil {
			return nil, nil, err
		}
		return log, w, f.remove("summary.json", "report.html")
	}
	if err := f.remove("summary.json", "report.html", checkpointFile); err != nil {
		return nil, nil, err
	}
	if log, err = openLog(f.out, "run.mcap", os.O_CREATE|os.O_TRUNC); err != nil {
		return nil, nil, err
	}
	if w, err = record.NewWriter(header, log.files()); err != nil {
		return nil, nil, errors.Join(err, log.close())
	}
	return log, w, nil
}

// remove deletes files of the output folder, if they are there.
func (f *flight) remove(names ...string) error {
	var err error
	for _, name := range names {
		if e := os.Remove(filepath.Join(f.out, name)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// fly runs the mission, writes its report and prints the closing table. It returns the summary as JSON. Whatever ends
// the run, the files are complete up to there.
func (f *flight) fly(ctx context.Context) ([]byte, error) {
	began := cputime.Now()
	header := f.Header()
	id := newIdentity(&header)
	if !f.resume {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return nil, err
		}
	}
	free, err := occupy(f.out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no folder %s", errCheckpoint, f.out)
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = free() }()
	log, w, err := f.begin(header, id)
	if err != nil {
		return nil, err
	}
	spent := func() float64 { return id.cpu + cputime.Now() - began }
	checkpoint := func() error {
		saved := *id
		saved.cpu = spent()
		return saved.save(f.out, f.Run, w)
	}
	f.Attach(w)
	bar := newProgress(f.stderr, f.Until())
	due := math.Floor(f.T()/f.every) + 1
	for more := true; more && err == nil; {
		if ctx.Err() != nil {
			err = errors.Join(errInterrupted, checkpoint(), f.Stop(errInterrupted.Error()))
			break
		}
		more, err = f.Step()
		if more && err == nil && f.T() >= due*f.every {
			due = math.Floor(f.T()/f.every) + 1
			err = checkpoint()
		}
		bar.show(f.T(), f.Events())
	}
	bar.clear()
	summary := f.Summary()
	lost := w.Close(summary)
	summary.CPU = spent()
	lost = also(lost, log.close())
	if lost != nil {
		return nil, also(err, lost) // what cannot be written would fail once more with the summary and the report
	}
	text, e := json.MarshalIndent(summary, "", "  ")
	text = append(text, '\n')
	lost = errors.Join(e, save(filepath.Join(f.out, "summary.json"), text), writeReport(f.out, f.table))
	if err != nil && lost == nil {
		hint := ""
		if errors.Is(err, errInterrupted) {
			hint = "; the same command with --resume goes on from there"
		}
		return text, fmt.Errorf("%w\ncanopy: the results up to %s of simulated time are in %s%s", err,
			report.Clock(f.T()), f.out, hint)
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
