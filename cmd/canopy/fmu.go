package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
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

// maxDescription is the largest size of a model description.
const maxDescription = 64 << 20

// checkFMU checks the description of an FMU, of a folder with one that is unpacked, or a description alone.
func checkFMU(name string) (diag.List, error) {
	const description = "modelDescription.xml"
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, description)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var files []string
	src := &diag.Source{Name: name, Text: string(data)}
	if bytes.HasPrefix(data, []byte("PK")) {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		src = nil
		for _, f := range z.File {
			files = append(files, f.Name)
			if f.Name != description {
				continue
			}
			r, err := f.Open()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			text, err := io.ReadAll(io.LimitReader(r, maxDescription))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			src = &diag.Source{Name: filepath.Join(name, description), Text: string(text)}
		}
		if src == nil {
			return nil, fmt.Errorf("%s has no file %s", name, description)
		}
	}
	return fmu.CheckDescription(src, files), nil
}
