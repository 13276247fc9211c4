package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/schema"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/equations"

	"github.com/spf13/cobra"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema KIND",
		RunE: func(cmd *cobra.Command, args []string) error {
			write, known := schemas[args[0]]
			if !known {
				return errors.New(unknownWord("kind of document", args[0], []string{"graph", "mission", "plan", "vehicle"}))
			}
			return failed(write(cmd.OutOrStdout()))
		},
	}
}

// schemas are the functions that write the schema of a kind of document.
var schemas = map[string]func(w io.Writer) error{
	"plan":    func(w io.Writer) error { return schema.XML(w, plan.Elements()) },
	"mission": jsonSchema("mission", mission.Shape),
	"vehicle": jsonSchema("vehicle", equations.Shape),
	"graph":   jsonSchema("state graph", stategraph.Shape),
}

func jsonSchema(what string, shape func() *yamldoc.Shape) func(w io.Writer) error {
	return func(w io.Writer) error { return schema.JSON(w, fmt.Sprintf("a %s of Canopy", what), shape()) }
}
