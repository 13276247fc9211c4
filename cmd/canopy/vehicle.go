package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"canopy/diag"
	"canopy/model"

	"github.com/spf13/cobra"
)

func vehicleCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "vehicle [NAME]",
		Short: "List the vehicles, or the parameters, signals and commands of one",
		Args:  arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			var names []string
			for _, v := range model.Vehicles() {
				names = append(names, v.Name)
				if len(args) == 0 {
					if _, err := fmt.Fprintf(out, "%s  %s\n", v.Name, v.Text); err != nil {
						return failed(err)
					}
				} else if v.Name == args[0] {
					if asJSON {
						return failed(vehicleJSON(out, v))
					}
					return failed(vehicleTable(out, v))
				}
			}
			if len(args) == 0 {
				return nil
			}
			err := fmt.Errorf("there is no vehicle %q", args[0])
			if hint := diag.DidYouMean(args[0], names); hint != "" {
				err = fmt.Errorf("%w; %s", err, hint)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func vehicleJSON(w io.Writer, v *model.Vehicle) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"name": v.Name, "text": v.Text, "parameters": v.Parameters, "states": v.States,
		"outputs": v.Outputs, "commands": v.Commands})
}

func vehicleTable(out io.Writer, v *model.Vehicle) error {
	fmt.Fprintf(out, "%s: %s\n", v.Name, v.Text)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	row := func(cells ...any) { fmt.Fprintf(w, "  %v\t%v\t%v\t%v\n", cells...) }
	section := func(title string) { fmt.Fprintf(w, "\n%s\n", title) }
	section("commands: what a plan writes")
	for _, c := range v.Commands {
		row(c.Name, fmt.Sprint(c.Default), c.Unit, ranged(c.Text, c.Range))
	}
	section("states")
	for _, s := range v.States {
		row(s.Name, "", s.Unit, ranged(s.Text, s.Range))
	}
	section("outputs")
	for _, o := range v.Outputs {
		row(o.Name, "", o.Unit, o.Text)
	}
	section("parameters (D: published by the maker, P: published for another aircraft, A: assumed)")
	for _, p := range v.Parameters {
		row(p.Name, fmt.Sprint(p.Default), p.Unit, fmt.Sprintf("%s  %s", p.Tag, p.Text))
	}
	return w.Flush()
}

// ranged is a text with the range of what it describes, if that has one.
func ranged(text string, r model.Range) string {
	if within := r.String(); within != "" {
		text += ", " + within
	}
	return text
}
