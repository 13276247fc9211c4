package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/qgc"
	"github.com/canopy-uav/canopy/syntax/xmltree"

	"github.com/spf13/cobra"
)

func importCommand() *cobra.Command {
	var out, name string
	c := &cobra.Command{
		Use: "import",
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := source(args[0])
			if err != nil {
				return err
			}
			name := cmp.Or(name, strings.TrimSuffix(filepath.Base(args[0]), ".plan"))
			if name != filepath.Base(name) || !xmltree.IsName(name) {
				return &usageError{fmt.Sprintf("%q cannot be the name of a mission; give another by --name", name)}
			}
			file, list := qgc.Read(src)
			if err := accepted(list, cmd.ErrOrStderr()); err != nil {
				return err
			}
			planText, missionText, list := qgc.Import(file, name)
			if err := accepted(list, cmd.ErrOrStderr()); err != nil {
				return err
			}
			return writeMission(filepath.Join(out, name), missionText, planText, func(m *mission.Mission) string {
				return "# canopy: accept complete: an action that the autopilot refuses ends the plan\n" + defaulted(m)
			}, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&out, "out", ".", "the `folder` of the two files")
	c.Flags().StringVar(&name, "name", "", "the `name` of the mission (default that of the file)")
	return c
}
