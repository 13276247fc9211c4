package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run/box"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"

	"github.com/spf13/cobra"
)

// tlogFile is the log of the frames in the format of that name, in a run's folder.
const tlogFile = "run.tlog"

// replaying is the command line of a replay.
type replaying struct {
	results
	other string // plan
	tlog  bool
}

func replayCommand() *cobra.Command {
	var r replaying
	c := &cobra.Command{Use: "replay", RunE: r.run}
	r.flags(c, "output `folder` of the replay; not that of the flight")
	c.Flags().Lookup("json").Usage = "print the result as JSON"
	c.Flags().StringVar(&r.other, "plan", "", "give the inputs to this `plan` instead of the recorded one")
	c.Flags().BoolVar(&r.tlog, "tlog", false, "write "+tlogFile+": all frames, for MAVLink tools")
	return c
}

func (x *replaying) run(cmd *cobra.Command, args []string) error {
	if x.out == "" {
		return &usageError{"--out is missing: the folder for the replay"}
	}
	if a, b := filepath.Clean(args[0]), filepath.Clean(x.out); a == b {
		return &usageError{fmt.Sprintf("--out is %s, the folder of the flight, which a replay does not change",
			diag.Visible(a))}
	}
	start, err := boxStart(args[0])
	if err != nil {
		return err
	}
	d, err := described(start.Data)
	if err != nil {
		return err
	}
	var p *plan.Plan
	if x.other != "" {
		if p, _, err = readPlan(x.other, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	f, watch, err := d.flight(p, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	r, summary, err := replayInto(ctx, args[0], x.out, f, p != nil, x.tlog, x.options(watch))
	if errors.Is(err, record.ErrHeader) || errors.Is(err, folder.ErrOccupied) {
		return err
	} else if err != nil {
		return failed(err)
	}
	result := &replayed{Inputs: r.Inputs, Datagrams: r.Frames, Missing: r.Missing(), From: r.From, Until: r.T(),
		Summary: summary}
	if err = result.compare(r, args[0], x.out); err == nil && x.asJSON {
		err = printJSON(cmd.OutOrStdout(), result)
	} else if err == nil {
		err = errors.Join(x.print(cmd.OutOrStdout(), summary), result.print(cmd.OutOrStdout(), p != nil))
	}
	switch {
	case err != nil:
		return failed(err)
	case r.Damage != nil && !r.Torn():
		return failed(fmt.Errorf("%w; nothing after it was replayed or compared", r.Damage))
	case p == nil && !result.Same:
		return errRefuted
	}
	return nil
}

// boxStart returns the first input of the flight of a folder, which describes it.
func boxStart(dir string) (flight.Input, error) {
	start, err := box.Start(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Stat(filepath.Join(dir, folder.LogFile)); e == nil {
			return start, fmt.Errorf("%s is not the folder of a flight: it has no %s; if it is a simulated run, "+
				"\"canopy run\" simulates its mission again, with the same result", dir, box.File)
		}
		return start, nearFile(err)
	}
	return start, err
}

// replayed is the result of a replay.
type replayed struct {
	Inputs    int     `json:"inputs"`
	Datagrams int     `json:"datagrams"`         // that the flight sent
	Same      bool    `json:"same"`              // as far as the box goes; false if it is damaged
	Missing   string  `json:"missing,omitempty"` // why the box does not contain the whole flight
	From      float64 `json:"from_s"`            // time of the plan at which the black box begins
	Until     float64 `json:"until_s"`           // time of the plan at the end of the replay

	Difference *otherDatagram  `json:"datagram,omitempty"` // the first one that differs
	Status     *otherLine      `json:"status,omitempty"`
	Summary    *record.Summary `json:"summary"`
}

// otherDatagram is the first datagram that differs.
type otherDatagram struct {
	Input    int     `json:"input"`
	Cause    string  `json:"cause"`
	Wall     float64 `json:"wall_s"`
	Recorded string  `json:"recorded"` // hexadecimal; empty: none
	Replayed string  `json:"replayed"`
}

// otherLine is the first line of status.csv that differs.
type otherLine struct {
	Line     int    `json:"line"`     // from 1
	Recorded string `json:"recorded"` // empty: the file ends
	Replayed string `json:"replayed"`
}

// compare compares a replay with its flight.
func (r *replayed) compare(replay *box.Replay, flown, again string) error {
	if d := replay.Difference; d != nil {
		r.Difference = &otherDatagram{Input: d.Number, Cause: d.Kind.String(), Wall: float64(d.At.Wall) / 1e9,
			Recorded: fmt.Sprintf("%x", d.Recorded), Replayed: fmt.Sprintf("%x", d.Replayed)}
	}
	a, err := os.ReadFile(filepath.Join(flown, folder.StatusFile))
	if errors.Is(err, fs.ErrNotExist) { // only the black box was kept
		r.Same = r.Difference == nil && (replay.Damage == nil || replay.Torn())
		return nil
	} else if err != nil {
		return err
	}
	b, err := os.ReadFile(filepath.Join(again, folder.StatusFile))
	if err != nil {
		return err
	}
	if replay.Dropped > 0 {
		a, b = sharedLines(a, b)
	}
	if !replay.Ended { // the log of a killed flight ends earlier than its box, or its box earlier than the log
		n := min(len(a), len(b))
		a, b = a[:n], b[:n]
	}
	r.Status = firstLine(a, b)
	r.Same = r.Difference == nil && r.Status == nil && (replay.Damage == nil || replay.Torn())
	return nil
}

// sharedLines returns what is to be compared of two status logs, of which the second begins later: the first from the
// line with which the second begins, and the second without its head. A log that has ended before shares nothing.
func sharedLines(a, b []byte) (flown, again []byte) {
	_, again, _ = bytes.Cut(b, []byte("\n"))
	first, _, _ := bytes.Cut(again, []byte("\n"))
	if at := bytes.Index(a, append(append([]byte("\n"), first...), '\n')); at >= 0 {
		return a[at+1:], again
	}
	return nil, again
}

// firstLine returns the first line in which two texts differ, nil if they are the same.
func firstLine(a, b []byte) *otherLine {
	if bytes.Equal(a, b) {
		return nil
	}
	for n := 1; ; n++ {
		x, restA, _ := bytes.Cut(a, []byte("\n"))
		y, restB, _ := bytes.Cut(b, []byte("\n"))
		if !bytes.Equal(x, y) || len(a) == 0 || len(b) == 0 {
			return &otherLine{Line: n, Recorded: string(x), Replayed: string(y)}
		}
		a, b = restA, restB
	}
}

// print prints the result for readers.
func (r *replayed) print(w io.Writer, free bool) error {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%d inputs, %d datagrams\n", r.Inputs, r.Datagrams)
	upTo := ""
	if r.Missing != "" {
		upTo = "from " + report.Clock(r.From) + " to " + report.Clock(r.Until) + ": "
		fmt.Fprintf(&text, "the black box covers the plan from %s to %s: %s\n", report.Clock(r.From), report.Clock(r.Until),
			r.Missing)
	}
	const none = "nothing"
	switch s, d := r.Status, r.Difference; {
	case d == nil && s == nil:
		text.WriteString(upTo + "the same datagrams and the same status.csv\n")
		if free {
			text.Reset()
			fmt.Fprintf(&text, "%d inputs; the other plan has the same status.csv\n", r.Inputs)
		}
	default:
		if d != nil {
			fmt.Fprintf(&text, "a datagram differs: input %d, %s at %s: sent %s, now %s\n", d.Input, d.Cause,
				report.Clock(d.Wall), cmp.Or(d.Recorded, none), cmp.Or(d.Replayed, none))
		}
		if s != nil {
			fmt.Fprintf(&text, "status.csv differs from line %d on: was %s, is %s\n", s.Line,
				diag.Visible(cmp.Or(s.Recorded, none)), diag.Visible(cmp.Or(s.Replayed, none)))
		}
	}
	_, err := w.Write(text.Bytes())
	return err
}
