package main

import (
	"fmt"
	"os"
	"path/filepath"

	"canopy/run/folder"

	"github.com/spf13/cobra"
)

func reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report FOLDER",
		Short: "Write the report of a run again from its run.mcap",
		Long: `Write report.html again from the run.mcap in a run's output folder, and print the closing table.

A run.mcap that was cut off, because the process was killed or the disk was full, is read up to its last
complete part.`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(filepath.Join(args[0], folder.LogFile)); err != nil {
				return noRun(err)
			}
			if err := folder.Report(args[0], cmd.OutOrStdout()); err != nil {
				return failed(err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "\nreport: %s\n", filepath.Join(args[0], folder.ReportFile))
			return failed(err)
		},
	}
}

// noRun completes the error of a folder in which there is no run.
func noRun(err error) error {
	return fmt.Errorf("%w; give the output folder of `canopy run`, with its %s", nearFile(err), folder.LogFile)
}
