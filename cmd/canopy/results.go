package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
	"github.com/canopy-uav/canopy/temporal"

	"github.com/spf13/cobra"
)

// results are what a run leaves, as its command line wants it: a folder, a report, and the closing table or the
// summary.
type results struct {
	out                     string
	asJSON, quiet, reported bool
	table                   bytes.Buffer
}

func (r *results) flags(c *cobra.Command, out string) {
	c.Flags().StringVar(&r.out, "out", "", out)
	c.Flags().BoolVar(&r.asJSON, "json", false, "print the summary as JSON instead of the table")
	c.Flags().BoolVar(&r.reported, "report", true, "write report.html")
	c.Flags().BoolVarP(&r.quiet, "quiet", "q", false, "do not print the table")
}

// usualFolder is the text of the flag for the folder of a mission's results.
const usualFolder = "output `folder` (default out/ followed by the mission's file name)"

// of names the folder by a mission's file, unless the command line names it.
func (r *results) of(file string) {
	switch {
	case r.out != "":
	case file == standardInput:
		r.out = filepath.Join("out", "stdin")
	default:
		r.out = filepath.Join("out", folder.Name(file))
	}
}

// options are the settings of the folder.
func (r *results) options(watch temporal.Watch) folder.Options {
	o := folder.Options{Bare: !r.reported, Guard: &unfinished, Watch: watch}
	if !r.asJSON && !r.quiet {
		o.Table = &r.table
	}
	return o
}

// end prints the result of a run that is over, and returns the error of its command. until is how far a run has come
// that failed, and hint what to do then.
func (r *results) end(cmd *cobra.Command, s *record.Summary, what, until string, hint func(error) string,
	err error,
) error {
	if errors.Is(err, record.ErrHeader) || errors.Is(err, folder.ErrCheckpoint) {
		return err
	}
	if err != nil && s != nil && !errors.Is(err, folder.ErrLog) {
		err = fmt.Errorf("%w\ncanopy: the results up to %s are in %s%s", err, until, r.out, hint(err))
	}
	if err = errors.Join(err, r.print(cmd.OutOrStdout(), s)); err != nil {
		return failed(err)
	}
	return judged(cmd.ErrOrStderr(), s, what)
}

// print prints the summary as JSON, or the closing table, if there is one, and the name of the report, if there is one.
func (r *results) print(w io.Writer, s *record.Summary) error {
	text := r.table.Bytes()
	switch {
	case r.asJSON && s != nil:
		var err error
		if text, err = folder.Text(s); err != nil {
			return err
		}
	case len(text) > 0 && r.reported:
		text = fmt.Appendf(text, "\nreport: %s\n", filepath.Join(r.out, folder.ReportFile))
	}
	_, err := w.Write(text)
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
