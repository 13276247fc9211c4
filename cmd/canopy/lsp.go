package main

import (
	"os"
	"path/filepath"

	"github.com/canopy-uav/canopy/editor/lsp"

	"github.com/spf13/cobra"
)

func lspCommand() *cobra.Command {
	return &cobra.Command{
		Use: "lsp",
		RunE: func(cmd *cobra.Command, _ []string) error {
			files := lsp.Files{
				Open: func(name string) ([]byte, error) {
					delete(documents, name) // it may have changed
					return readFile(name)
				},
				List: func(folder string) (names []string) {
					entries, _ := os.ReadDir(filepath.FromSlash(folder))
					for _, e := range entries {
						names = append(names, e.Name())
					}
					return names
				},
			}
			return failed(lsp.Serve(os.Stdin, cmd.OutOrStdout(), files))
		},
	}
}
