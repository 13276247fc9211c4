package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/temporal"
	"github.com/canopy-uav/canopy/vehicle/model"

	"github.com/spf13/cobra"
)

// usualLog and mostLog are the limit of a log, unless --log-limit gives another one, and its maximum [MiB].
const usualLog, mostLog = 8 << 10, 1 << 30

// simulation is the command line of a simulated run.
type simulation struct {
	results
	set               []string
	until, checkpoint seconds
	resume            bool
	speed             float64
	limit             int64 // MiB
}

func runCommand() *cobra.Command {
	s := simulation{until: seconds(math.Inf(1)), checkpoint: seconds(math.Inf(1))}
	c := &cobra.Command{Use: "run", RunE: s.run}
	s.flags(c, usualFolder)
	c.Flags().Var(&s.until, "until", "end at this simulated `time`: seconds, 12h30m, 13:57:06 or \"28 [d]\"")
	setFlag(c, &s.set)
	c.Flags().Var(&s.checkpoint, "checkpoint",
		"save a checkpoint at each multiple of this simulated `time`, after the step that reaches it")
	c.Flags().Float64Var(&s.speed, "speed", 0,
		"fly at most this `number` of simulated seconds per second, and listen to canopy upload and canopy watch (default: "+
			"no limit)")
	c.Flags().Int64Var(&s.limit, "log-limit", usualLog, "the largest size of "+folder.LogFile+", "+folder.StatusFile+
		" and "+folder.SignalsFile+" together, in `MiB`: the run ends there, or if the disk is nearly full")
	c.Flags().BoolVar(&s.resume, "resume", false, "continue from the checkpoint in the output folder")
	return c
}

func (s *simulation) run(cmd *cobra.Command, args []string) error {
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	r, watch, err := s.prepare(cmd, args[0])
	if err != nil {
		return err
	}
	s.of(args[0])
	bar := newProgress(cmd.ErrOrStderr(), r.Until())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pace := paced{operated: operated{Run: r}, dir: s.out, speed: s.speed, cancel: cancel}
	o := s.options(watch)
	o.Every, o.Resume, o.Limit = float64(s.checkpoint), s.resume, s.limit<<20
	o.Observe = func() {
		bar.show(r.T(), r.Events)
		pace.wait(ctx)
	}
	if s.speed > 0 {
		pace.feed = control.NewFeed(r.Header())
		o.Also = pace.feed
	}
	summary, err := folder.Fly(ctx, r, s.out, o)
	if pace.feed != nil {
		pace.feed.End(summary)
	}
	err = errors.Join(pace.close(), err)
	bar.clear()
	return s.end(cmd, summary, "run", report.Clock(r.T())+" of simulated time", goOnHint, err)
}

// prepare returns the run of a mission in a file, with what is judged in it.
func (s *simulation) prepare(cmd *cobra.Command, file string) (*run.Run, temporal.Watch, error) {
	watch := temporal.Watch{}
	if !(s.speed >= 0) || math.IsInf(s.speed, 1) || cmd.Flags().Changed("speed") && s.speed == 0 {
		return nil, watch, &usageError{"--speed is a positive number"}
	}
	if s.limit < 1 || s.limit > mostLog {
		return nil, watch, &usageError{fmt.Sprintf("--log-limit is at least 1 and at most %d", mostLog)}
	}
	m, err := simulatedMission(file, s.set, cmd.ErrOrStderr())
	if err != nil {
		return nil, watch, err
	}
	if until := float64(s.until); until > m.Horizon && !math.IsInf(until, 1) {
		fmt.Fprintf(cmd.ErrOrStderr(),
			"canopy: --until is after the mission's horizon, where it ends; --set horizon=%.0f extends it\n", until)
	}
	watch = m.Watch()
	r, err := simulated.New(m.Judging(watch), run.Continuous{}, float64(s.until))
	if err != nil && !errors.Is(err, model.ErrParameters) {
		err = failed(err)
	}
	return r, watch, err
}

// goOnHint says how to go on after a simulation that failed.
func goOnHint(err error) (hint string) {
	if errors.Is(err, record.ErrInterrupted) {
		hint = "; the same command with --resume continues from there"
	}
	if errors.Is(err, folder.ErrFull) {
		hint += "; a plan that switches less often, a longer interval or fewer signals under `record` take less, " +
			"--log-limit and an --out on another disk permit more"
	}
	return hint
}
