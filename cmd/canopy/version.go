package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what the program was built from. Go writes it into every program.
type build struct {
	Version string `json:"version"`          // of the module: a tag, or a time and a commit
	Commit  string `json:"commit,omitempty"` // if it was built in a clone
	Changed bool   `json:"changed"`          // there were changes that are not in the commit
	Go      string `json:"go"`
	System  string `json:"system"`
}

func thisBuild() build {
	b := build{Version: "unknown", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

// String is the line of canopy version.
func (b build) String() string {
	text := "canopy " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
	}
	if b.Changed {
		text += " with changes"
	}
	return text + ", " + b.Go + " " + b.System
}

func versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := thisBuild()
			return show(cmd.OutOrStdout(), asJSON, b, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, b)
				return err
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}
