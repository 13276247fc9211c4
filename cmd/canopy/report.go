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
		Use: "report",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(filepath.Join(args[0], folder.LogFile)); err != nil {
				return noRun(err)
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

// noRun adds a hint to the error of a folder without a run.
func noRun(err error) error {
	return fmt.Errorf("%w; give the output folder of `canopy run`, with its %s", nearFile(err), folder.LogFile)
}
