package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/spf13/cobra"
)

func watchCommand() *cobra.Command {
	var signals []string
	var asJSON bool
	var r reach
	c := &cobra.Command{
		Use: "watch",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := r.place(args[0])
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			last, err := follow(ctx, args[0], "the run has ended without a word, or this was too slow",
				func(tell func(control.News) error) error { return control.Follow(at, tell) },
				func(l *control.News) error { return watchedLine(cmd.OutOrStdout(), l, signals, asJSON) })
			switch {
			case err != nil:
				return err
			case last.Outcome != record.Complete:
				return failed(fmt.Errorf("%s: the run: %s", args[0], last.Outcome))
			case last.Plan == record.PlanFailed:
				return errRefuted
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&signals, "signal", nil, "show this recorded `signal`, too; may be repeated")
	r.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print each line as a JSON object, with all recorded signals")
	return c
}

// watchedLine prints a line of a run.
func watchedLine(w io.Writer, l *control.News, signals []string, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(l)
	}
	text := ""
	switch {
	case l.Outcome != "":
		text = fmt.Sprintf("the run is %s; the plan: %s", l.Outcome, l.Plan.Words())
	case l.Task != "":
		text = l.Task + "  " + l.Status
	case l.Kind != "":
		text = l.Kind + ": " + l.Text
	default:
		var values []string
		for name, v := range l.Signals {
			if slices.Contains(signals, name) {
				values = append(values, name+" = "+diag.Number(v, 6))
			}
		}
		if len(values) == 0 {
			return nil
		}
		slices.Sort(values)
		text = strings.Join(values, "  ")
	}
	_, err := fmt.Fprintf(w, "%12.3f  %s\n", l.T, diag.Visible(text))
	return err
}
