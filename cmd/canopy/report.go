package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/plan"
	"canopy/run/record"
	"canopy/run/report"

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
			if _, err := os.Stat(filepath.Join(args[0], "run.mcap")); err != nil {
				return err
			}
			return failed(writeReport(args[0], cmd.OutOrStdout()))
		},
	}
}

// writeReport makes report.html in an output folder from the run.mcap there, and prints the closing table.
func writeReport(out string, table io.Writer) error {
	f, err := os.Open(filepath.Join(out, "run.mcap"))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	log, err := record.Read(f)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	name := filepath.Join(out, "report.html")
	err = errors.Join(report.HTML(&page, log, drawing(log)),
		save(name, page.Bytes()), report.Table(table, log))
	if err == nil {
		_, err = fmt.Fprintf(table, "\nreport: %s\n", name)
	}
	return err
}

// drawing draws the plan that a log carries, with the statuses at the log's end.
func drawing(log *record.Log) string {
	for _, a := range log.Attachments {
		if a.Name != "plan.xml" {
			continue
		}
		p, diags := plan.Read(&diag.Source{Name: a.Name, Text: string(a.Data)}, nil)
		if diags.HasErrors() {
			return ""
		}
		statuses := make([]bt.Status, len(log.Tasks))
		for i, t := range log.Tasks {
			statuses[i] = t.Initial
		}
		for _, c := range log.Changes {
			statuses[c.Task] = c.To
		}
		var svg bytes.Buffer
		if plan.SVG(&svg, p, statuses) == nil {
			return svg.String()
		}
	}
	return ""
}
