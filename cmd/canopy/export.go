package main

import (
	"fmt"
	"io"
	"path/filepath"

	"canopy/analysis/smv"
	"canopy/internal/files"

	"github.com/spf13/cobra"
)

func exportCommand() *cobra.Command {
	var out, facts string
	budget := seconds(60)
	c := &cobra.Command{
		Use:   "export FORMAT FILE",
		Short: "Write a plan as a model for another model checker",
		Long: `Write a plan as a model for another model checker, with the questions that "canopy check" asks about single
states.

FORMAT is smv, the language of NuSMV and nuXmv. FILE is a mission (.yaml) or a plan (.xml); --facts names a file with
the facts about a plan without a mission. docs/export.md describes the model.`,
		Example: `  canopy export smv missions/solar-day.yaml --out out/solar-day.smv
  NuSMV out/solar-day.smv                      answer the questions again`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "smv" {
				return &usageError{unknownWord("format", args[0], []string{"smv"})}
			}
			s, err := subject(args[1], facts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			ctx, end := interruptible(cmd.Context())
			defer end()
			over, stop := within(ctx, budget)
			defer stop()
			text, err := smv.Write(s, fmt.Sprintf("canopy export smv %s", filepath.ToSlash(args[1])), over)
			if err != nil {
				return failed(err)
			}
			if out == "" {
				_, err := io.WriteString(cmd.OutOrStdout(), text)
				return failed(err)
			}
			return failed(files.Save(out, []byte(text)))
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to this `file` (default standard output)")
	c.Flags().StringVar(&facts, "facts", "", "a `file` with the entries of `check`, for a plan without a mission")
	c.Flags().Var(&budget, "budget", "maximum `time`")
	return c
}
