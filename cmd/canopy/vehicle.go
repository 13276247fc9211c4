package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/fmu"
	"github.com/canopy-uav/canopy/vehicle/model"

	"github.com/spf13/cobra"
)

func vehicleCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "vehicle",
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 0 {
				for _, v := range equations.Vehicles() {
					if _, err := fmt.Fprintf(out, "%s  %s\n", diag.Visible(v.Name), diag.Visible(v.Text)); err != nil {
						return failed(err)
					}
				}
				return nil
			}
			v, err := findVehicle(args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return show(out, asJSON, vehicleObject(v), func(w io.Writer) error { return vehicleTable(w, v) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// findVehicle returns a built-in vehicle, or reads one from its file.
func findVehicle(name string, stderr io.Writer) (*model.Vehicle, error) {
	if equations.IsFile(name) || name == standardInput {
		src, err := source(name)
		if err != nil {
			return nil, err
		}
		v, diags := equations.Read(src)
		return v, accepted(diags, stderr)
	}
	if fmu.IsFile(name) {
		data, err := readFile(name)
		if err != nil {
			return nil, err
		}
		u, err := fmu.Read(data, fmu.Any, 0)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be a vehicle: %w", name, err)
		}
		return u.Vehicle(nil), nil
	}
	for _, o := range equations.Offers() {
		if o.Name == name {
			return o.Make(), nil
		}
	}
	return nil, errors.New(unknownWord("vehicle", name, vehicleNames()))
}

func vehicleNames() []string {
	var names []string
	for _, o := range equations.Offers() {
		names = append(names, o.Name)
	}
	return names
}

// vehicleObject returns a vehicle for JSON.
func vehicleObject(v *model.Vehicle) any {
	discrete := map[string]string{}
	for i, t := range v.Discrete {
		if t != "" {
			discrete[v.States[i].Name] = t
		}
	}
	return struct {
		Commands   any                `json:"commands"`
		Discrete   map[string]string  `json:"discrete,omitempty"`
		Events     []model.Occurrence `json:"events,omitempty"`
		Name       string             `json:"name"`
		Outputs    any                `json:"outputs"`
		Parameters any                `json:"parameters"`
		States     any                `json:"states"`
		Tables     []model.Tabulation `json:"tables,omitempty"`
		Text       string             `json:"text"`
	}{v.Commands, discrete, v.Events, v.Name, v.Outputs, v.Parameters, v.States, v.Tables, v.Text}
}

func vehicleTable(out io.Writer, v *model.Vehicle) error {
	fmt.Fprintf(out, "%s: %s\n", diag.Visible(v.Name), diag.Visible(v.Text))
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	row := func(name, value, unit, text, within string) {
		line := []string{"", name, value, unit, text, within}
		for i, cell := range line {
			line[i] = diag.Visible(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, "\t"), "\t"))
	}
	section := func(title string) { fmt.Fprintf(w, "\n%s\n", title) }
	section("commands, which a plan writes")
	for _, c := range v.Commands {
		row(c.Name, diag.Number(c.Default, -1), c.Unit, c.Text, c.Range.String())
	}
	var discrete []int
	section("states")
	for i, s := range v.States {
		if v.Discrete != nil && v.Discrete[i] != "" {
			discrete = append(discrete, i)
			continue
		}
		row(s.Name, "", s.Unit, s.Text, s.Range.String())
	}
	if len(discrete) > 0 {
		section("discrete states, which only events change")
	}
	for _, i := range discrete {
		s := v.States[i]
		row(s.Name, v.Discrete[i], s.Unit, s.Text, s.Range.String())
	}
	section("outputs")
	for _, o := range v.Outputs {
		row(o.Name, "", o.Unit, o.Text, "")
	}
	if len(v.Events) > 0 {
		section("events: when, then")
	}
	for _, e := range v.Events {
		row(e.When, e.Then, "", "", "")
	}
	if len(v.Tables) > 0 {
		section("tables")
	}
	for _, t := range v.Tables {
		var names, spans []string
		for _, a := range t.Arguments {
			names = append(names, a.Name)
			unit := ""
			if a.Unit != "1" {
				unit = " " + a.Unit
			}
			spans = append(spans, fmt.Sprintf("%s: %d points, %v%s", a.Name, a.Points, a.Range, unit))
		}
		if t.Text != "" {
			spans = append(spans, t.Text)
		}
		outside := map[bool]string{false: "undefined outside", true: "clamped outside"}[t.Clamp]
		row(fmt.Sprintf("%s(%s)", t.Name, strings.Join(names, ", ")), outside, t.Unit, strings.Join(spans, "; "),
			t.Range.String())
	}
	section("parameters (D: published by the maker, P: published for another aircraft, A: assumed)")
	for _, p := range v.Parameters {
		row(p.Name, diag.Number(p.Default, -1), p.Unit, p.Tag.String()+"  "+p.Text, p.Range().String())
	}
	return w.Flush()
}
