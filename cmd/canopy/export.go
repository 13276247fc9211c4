package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/analysis/smv"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/codegen"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/qgc"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/contract"

	"github.com/spf13/cobra"
)

func exportCommand() *cobra.Command {
	var out, facts, tree string
	budget := seconds(60)
	c := &cobra.Command{
		Use: "export",
		RunE: func(cmd *cobra.Command, args []string) error {
			var text string
			var err error
			switch args[0] {
			case "smv":
				text, err = modelChecked(cmd, args[1], facts, budget)
			case "qgc":
				text, err = contingency(args[1], tree, cmd.ErrOrStderr())
			case "c":
				return program(cmd, args[1], out, budget)
			default:
				err = &usageError{unknownWord("format", args[0], []string{"c", "qgc", "smv"})}
			}
			if err != nil {
				return err
			}
			return writeText(cmd.OutOrStdout(), out, text)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to this `file` (default standard output); with c: a folder")
	c.Flags().StringVar(&tree, "tree", "", "with qgc: the `tree` of the plan")
	c.Flags().StringVar(&facts, "facts", "", "a `file` with the entries of `check`, for a plan without a mission")
	c.Flags().Var(&budget, "budget", "maximum `time`")
	return c
}

// modelChecked returns the model of a plan for NuSMV.
func modelChecked(cmd *cobra.Command, name, facts string, budget seconds) (string, error) {
	s, err := subject(name, facts, cmd.ErrOrStderr())
	if err != nil {
		return "", err
	}
	ctx, end := interruptible(cmd.Context())
	defer end()
	over, stop := within(ctx, budget)
	defer stop()
	text, err := smv.Write(s, "canopy export smv "+filepath.ToSlash(name), over)
	return text, failed(err)
}

// program writes the tree of a plan in C to a folder.
func program(cmd *cobra.Command, name, folder string, budget seconds) error {
	if folder == "" {
		return &usageError{"a program has several files: name their folder with --out"}
	}
	p, m, err := readPlan(name, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	about := func(t bt.Task) string {
		line, file := p.Place(t)
		place := fmt.Sprintf("line %d", line)
		if file != "" {
			place = file + ":" + strconv.Itoa(line)
		}
		tag := p.Element(t).Tag
		text := strings.Join(strings.Fields(p.Source.Text[tag.At:tag.End]), " ")
		return fmt.Sprintf("%s, %s: %s", p.Tree.Kind(t), place, text)
	}
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	made := "From " + filepath.ToSlash(name) + ", made by canopy export c; do not edit."
	list, err := codegen.C(base, made, p.Tree, about, programOf(m))
	if err != nil {
		return failed(err)
	}
	place := func(t bt.Task) string {
		line, file := p.Place(t)
		return cmp.Or(file, filepath.Base(p.Source.Name)) + ":" + strconv.Itoa(line)
	}
	s, err := settling(cmd, p, m, budget)
	if err != nil {
		return err
	}
	list = append(list, codegen.Readme(base, made, p.Tree, place, programOf(m), s))
	for _, f := range list {
		if err := files.Save(filepath.Join(folder, f.Name), []byte(f.Text)); err != nil {
			return failed(err)
		}
	}
	return nil
}

// settling proves how many iterations a settling in C can take: those that the search counts, and a last one.
func settling(cmd *cobra.Command, p *plan.Plan, m *mission.Mission, budget seconds) (s codegen.Settling, err error) {
	ctx, end := interruptible(cmd.Context())
	defer end()
	over, stop := within(ctx, budget)
	defer stop()
	limit := reaction.DefaultBudget
	limit.Over = func(int) string { return over() }
	inputs, search := reaction.Stubs(p.Tree), reaction.Explore
	if m != nil {
		inputs, search = reaction.InputsOf(p, nil), reaction.ExploreRuns
	}
	r := search(p.Tree, inputs, limit)
	const start = 2 // of the first settling: nothing has ended, so activity is passed on once, and statuses follow
	switch {
	case r.Loop != nil:
		s.Why = r.Loop.Error()
	case len(p.Tree.Shared()) > 0:
		s.Why = "who waits for a resource that tasks share does not follow from the structure"
	default:
		s.Most = max(start, r.Bound.Iterations) + 1
	}
	if s.Missing = r.Why; r.Decided {
		s.OfOne, s.States = max(r.Start.Iterations, r.Most.Iterations)+1, r.States
	}
	if ctx.Err() != nil {
		err = record.ErrInterrupted
	}
	return s, err
}

// programOf returns the plan of a mission with its expressions, nil for a plan alone.
func programOf(m *mission.Mission) *codegen.Program {
	if m == nil {
		return nil
	}
	m = m.Flown()
	names := m.Subject().Signals
	return &codegen.Program{Program: m.Program, About: func(place int) (name, about string) {
		name = names[place]
		s, _ := m.Signal(name)
		about = name
		switch {
		case len(s.Values) > 0:
			about += ": "
			for i, v := range s.Values {
				about += fmt.Sprintf("%d %s, ", i, v)
			}
			about = strings.TrimSuffix(about, ", ")
		case s.Type != expr.Real:
			about += ": " + s.Type.Name()
		default:
			about += " [" + s.Unit.String() + "]"
		}
		if s.Text != "" {
			about += ": " + s.Text
		}
		return name, about
	}}
}

// contingency returns the plan of QGroundControl for a tree of a mission's plan.
func contingency(name, tree string, stderr io.Writer) (string, error) {
	m, err := readMission(name, nil, stderr)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(contract.Contracts(), func(c *contract.Contract) bool { return c.Name == m.Vehicle.Name }) {
		return "", fmt.Errorf("the vehicle %s belongs to no class of vehicles that QGroundControl knows; use plane or copter",
			diag.Visible(m.Vehicle.Name))
	}
	at, alt, _ := m.Site()
	text, list := qgc.Export(m.Plan.Document, tree, qgc.Spot{Position: at, H: alt},
		m.Vehicle.Name == contract.Copter.Name, m.Fence, m.Rally, m.Scope())
	return text, accepted(list, stderr)
}
