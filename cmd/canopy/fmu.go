package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/vehicle/fmu"

	"github.com/spf13/cobra"
)

func fmuCommand() *cobra.Command {
	return &cobra.Command{
		Use: "fmu",
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "check" {
				return &usageError{unknownWord("action", args[0], []string{"check"})}
			}
			list, err := checkFMU(args[1])
			if err != nil {
				return err
			}
			if err := accepted(list, cmd.ErrOrStderr()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: no mistakes\n", args[1])
			return nil
		},
	}
}

// checkFMU checks an FMU, a folder with one that is unpacked, or a description alone.
func checkFMU(name string) (diag.List, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "modelDescription.xml")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	list, err := fmu.Check(name, data)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return list, err
}
