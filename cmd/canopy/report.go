package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/spf13/cobra"
)

// overlayFile is the name of a report with a second run laid over the first one.
const overlayFile = "overlay.html"

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "report",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, dir := range args {
				if _, err := os.Stat(filepath.Join(dir, folder.LogFile)); err != nil {
					return noRun(err)
				}
			}
			if len(args) == 2 {
				return failed(overlay(cmd.OutOrStdout(), args))
			}
			end, err := folder.Report(args[0], cmd.OutOrStdout())
			if err != nil {
				return failed(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nreport: %s\n", filepath.Join(args[0], folder.ReportFile))
			if err == nil && end.Damage != nil {
				err = incomplete(args[0], &end)
			}
			return failed(err)
		},
	}
}

// overlay writes the report of the run in the first folder with that in the second one laid over it.
func overlay(out io.Writer, dirs []string) error {
	name := filepath.Join(dirs[0], overlayFile)
	ends, err := folder.Overlay(name, dirs[0], dirs[1])
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "report:", name)
	for i := range ends {
		if ends[i].Damage != nil {
			err = errors.Join(err, incomplete(dirs[i], &ends[i]))
		}
	}
	return err
}

// runLog is the log of a run.
type runLog struct {
	io.ReadSeeker
	name string
}

// openLog opens a log, which it or its folder names, until done is called.
func openLog(name string) (log *runLog, done func(), err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, folder.LogFile)
	}
	f, err := files.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, nil, noRun(err)
	}
	return &runLog{f, name}, func() { _ = f.Close() }, nil // only read
}

// play plays the log from its beginning.
func (l *runLog) play(begin func(*record.Header) record.Recorder) (end record.End, err error) {
	if end, err = record.Play(l, begin); errors.Is(err, record.ErrFormat) {
		err = fmt.Errorf("%s: %w", l.name, err)
	}
	return end, err
}

// noRun adds a hint to the error of a folder without a run.
func noRun(err error) error {
	return fmt.Errorf("%w; give the output folder of `canopy run`, with its %s", nearFile(err), folder.LogFile)
}
