package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/model"

	"github.com/spf13/cobra"
)

func manifestCommand() *cobra.Command {
	return &cobra.Command{
		Use: "manifest",
		RunE: func(cmd *cobra.Command, args []string) error {
			var signals plan.Vocabulary
			var p *plan.Plan
			if len(args) > 0 {
				var err error
				if signals, p, err = library(args[0], cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			_, err := io.WriteString(cmd.OutOrStdout(), plan.Manifest(signals, p))
			return failed(err)
		},
	}
}

// library returns the signals of a vehicle, those of a mission with its plan, or a plan with models of all its leaves.
func library(name string, stderr io.Writer) (plan.Vocabulary, *plan.Plan, error) {
	if filepath.Ext(name) == ".xml" {
		src, err := planSource(name)
		if err != nil {
			return nil, nil, err
		}
		text, list := plan.Plain(src, readFile)
		if list.HasErrors() {
			return nil, nil, list
		}
		p, list := plan.Read(&diag.Source{Name: src.Name, Text: text}, nil)
		return nil, p, list.Err()
	}
	if equations.IsFile(name) || name == standardInput {
		src, err := source(name)
		if err != nil {
			return nil, nil, err
		}
		if yamldoc.Has(src, "plan") {
			m, err := readMission(name, nil, stderr)
			if err != nil {
				return nil, nil, err
			}
			return m.Vocabulary(), m.Plan, nil
		}
	}
	v, err := findVehicle(name, stderr)
	if err != nil {
		return nil, nil, err
	}
	m, err := idle(v)
	if err != nil {
		return nil, nil, err
	}
	return m.Vocabulary(), m.Plan, nil
}

// idle returns a mission of a vehicle that does nothing, whose plan has the library of the vehicle's contract, if any.
func idle(v *model.Vehicle) (*mission.Mission, error) {
	include := ""
	if slices.ContainsFunc(contract.Contracts(), func(c *contract.Contract) bool { return c.Name == v.Name }) {
		include = `<include path="library:` + v.Name + `"/>`
	}
	m, list := mission.Read("idle.yaml", func(name string) ([]byte, error) {
		switch name {
		case "idle.yaml":
			return fmt.Appendf(nil, "plan: idle.xml\nvehicle: %q\nhorizon: 1\n", v.Name), nil
		case "idle.xml":
			return []byte(`<root BTCPP_format="4" main_tree_to_execute="idle">` + include +
				`<BehaviorTree ID="idle"><Action/></BehaviorTree></root>`), nil
		}
		return nil, errors.ErrUnsupported
	}, model.Offers(v), nil)
	return m, list.Err()
}
