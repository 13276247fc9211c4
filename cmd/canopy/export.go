package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
	"github.com/canopy-uav/canopy/vehicle/model"

	"github.com/spf13/cobra"
)

func exportCommand() *cobra.Command {
	var out, facts, tree string
	var unit fmuFlags
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
				return program(cmd, args[1], out, budget, inC)
			case "fmu":
				return exportFMU(args[1], out, unit, cmd.ErrOrStderr())
			case "lua":
				return program(cmd, args[1], out, budget, inLua)
			default:
				err = &usageError{unknownWord("format", args[0], []string{"c", "fmu", "lua", "qgc", "smv"})}
			}
			if err != nil {
				return err
			}
			return writeText(cmd.OutOrStdout(), out, text)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to this `file` (default standard output); with c and lua: a folder")
	c.Flags().StringVar(&tree, "tree", "", "with qgc: the `tree` of the plan")
	c.Flags().StringVar(&facts, "facts", "", "a `file` with the entries of `check`, for a plan without a mission")
	c.Flags().Var(&budget, "budget", "maximum `time`")
	c.Flags().IntVar(&unit.version, "fmi", 2, "with fmu: the `version` of FMI, 2 or 3")
	c.Flags().StringVar(&unit.kind, "kind", "both", "with fmu: the `interface`, me, cs or both")
	c.Flags().BoolVar(&unit.vehicle, "vehicle", false, "with fmu: the vehicle of the mission instead of its plan")
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

// design is what a program is made of.
type design struct {
	name, from string
	plan       *plan.Plan
	mission    *mission.Mission // nil: of a plan alone
	budget     seconds          // of proofs
}

// inC writes a program in C to a folder.
func inC(cmd *cobra.Command, s *design, folder string) error {
	made, tree := s.from+", made by canopy export c; do not edit.", s.plan.Tree
	list, err := codegen.C(s.name, made, tree, taskText(s.plan), programOf(s.mission))
	if err != nil {
		return err
	}
	place := func(t bt.Task) string {
		line, file := s.plan.Place(t)
		return cmp.Or(file, filepath.Base(s.plan.Source.Name)) + ":" + strconv.Itoa(line)
	}
	bound, err := settling(cmd, s.plan, s.mission, s.budget)
	list = append(list, codegen.Readme(s.name, made, tree, place, programOf(s.mission), bound))
	for _, f := range list {
		err = errors.Join(err, files.Save(filepath.Join(folder, f.Name), []byte(f.Text)))
	}
	return err
}

// inLua writes a program in Lua to a folder; a script that is there is kept.
func inLua(cmd *cobra.Command, s *design, folder string) error {
	vehicle := ""
	if s.mission != nil {
		vehicle = s.mission.Vehicle.Name
	}
	module, script, err := codegen.Lua(s.name, s.from+", made by canopy export lua", s.plan.Tree, taskText(s.plan),
		programOf(s.mission), vehicle)
	if err != nil {
		return err
	}
	if err := files.Save(filepath.Join(folder, module.Name), []byte(module.Text)); err != nil {
		return err
	}
	name := filepath.Join(folder, script.Name)
	if _, err := os.Lstat(name); err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "canopy: %s is kept as it is: it is yours; remove it to have a new one\n",
			filepath.ToSlash(name))
		return nil
	}
	return files.Save(name, []byte(script.Text))
}

// program writes the tree of a plan, or a mission, in a language to a folder.
func program(cmd *cobra.Command, name, folder string, budget seconds,
	write func(cmd *cobra.Command, s *design, folder string) error) error {
	if folder == "" {
		return &usageError{"a program has several files: name their folder with --out"}
	}
	p, m, err := readPlan(name, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	return failed(write(cmd, &design{base, "From " + filepath.ToSlash(name), p, m, budget}, folder))
}

// taskText describes the tasks of a plan: the kind, the place, the tag.
func taskText(p *plan.Plan) func(t bt.Task) string {
	return func(t bt.Task) string {
		line, file := p.Place(t)
		place := fmt.Sprintf("line %d", line)
		if file != "" {
			place = file + ":" + strconv.Itoa(line)
		}
		tag := p.Element(t).Tag
		text := strings.Join(strings.Fields(p.Source.Text[tag.At:tag.End]), " ")
		return fmt.Sprintf("%s, %s: %s", p.Tree.Kind(t), place, text)
	}
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
	names, ranges := m.Subject().Signals, rangesOf(m.Vehicle)
	return &codegen.Program{Program: m.Program, About: func(place int) codegen.Signal {
		name := names[place]
		s, _ := m.Signal(name)
		about := name
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
			about += " [" + s.Unit.String() + "]" + ranges[name]
		}
		if s.Text != "" {
			about += ": " + s.Text
		}
		return codegen.Signal{Name: name, About: about, Truth: s.Type == expr.Boolean}
	}}
}

// rangesOf returns the ranges of a vehicle's states and commands, as texts.
func rangesOf(v *model.Vehicle) map[string]string {
	ranges := map[string]string{}
	add := func(name string, r model.Range) {
		if least, most := r.Bounds(); !math.IsInf(least, -1) || !math.IsInf(most, 1) {
			ranges[name] = ", " + r.String()
		}
	}
	for _, x := range v.States {
		add(x.Name, x.Range)
	}
	for _, x := range v.Commands {
		add(x.Name, x.Range)
	}
	return ranges
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
