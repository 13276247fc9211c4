package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/model"

	"github.com/spf13/cobra"
)

// outing is what a new mission does: it writes commands until a condition holds, then others until the horizon.
type outing struct{ write, until, then, horizon string }

// flights are proposals for the built-in vehicles.
var flights = map[string]outing{
	"circuit": {"V_cmd := 18 [m/s]; h_cmd := if(V ge 12 [m/s], 250 [m], 0 [m])", "h ge 240 [m]",
		"V_cmd := 18 [m/s]; h_cmd := 250 [m]", "300"},
	"copter": {"arm := true; wanted_mode := guided; target_h := 20 [m]", "h ge 19 [m]", "wanted_mode := rtl", "120"},
	"plane":  {"arm := true; wanted_mode := takeoff; target_h := 60 [m]", "h ge 50 [m]", "wanted_mode := rtl", "120"},
	"quad":   {"w_cmd := 2 [m/s]", "h ge 30 [m]", "w_cmd := 0 [m/s]", "60"},
	"solar":  {"h_cmd := 6500 [m]", "h ge 6480 [m]", "h_cmd := 6500 [m]", "2 [h]"},
}

func newCommand() *cobra.Command {
	var vehicle, out string
	var want outing
	c := &cobra.Command{
		Use: "new",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if name != filepath.Base(name) || !xmltree.IsName(name) {
				return &usageError{fmt.Sprintf("%q cannot be the name of a mission: use letters, digits, _ and -, a letter first",
					name)}
			}
			ask := asker{bufio.NewReader(cmd.InOrStdin()), cmd.ErrOrStderr(), vehicle == ""}
			vehicle, err := ask.about("Vehicle ("+strings.Join(vehicleNames(), ", ")+", or a file)", vehicle, "circuit")
			if err != nil {
				return err
			}
			v, err := findVehicle(vehicle, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if want, err = ask.flight(want, proposal(v)); err != nil {
				return err
			}
			return create(name, vehicle, out, want, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&vehicle, "vehicle", "", "the `vehicle`: a built-in one or a file of equations")
	c.Flags().StringVar(&out, "out", ".", "the `folder` of the two files")
	c.Flags().StringVar(&want.write, "write", "", "`assignments` to commands, as in \"h_cmd := 250 [m]\"")
	c.Flags().StringVar(&want.until, "until", "", "the `condition` that ends them, as in \"h ge 240 [m]\"")
	c.Flags().StringVar(&want.then, "then", "", "the `assignments` after that")
	c.Flags().StringVar(&want.horizon, "horizon", "", "the duration of the `flight`")
	return c
}

// proposal returns a flight of a vehicle: without one in the table, its first command keeps its default.
func proposal(v *model.Vehicle) outing {
	if f, ok := flights[v.Name]; ok || len(v.Commands) == 0 {
		return f
	}
	c := v.Commands[0]
	same := c.Name + " := " + initially(v, c)
	return outing{same, "t ge 30", same, "60"}
}

// initially returns the default of a command as in an expression.
func initially(v *model.Vehicle, c model.Command) string {
	switch values, typed := v.Typed[c.Name]; {
	case values != nil:
		return values[int(c.Default)]
	case typed:
		return strconv.FormatBool(c.Default != 0)
	}
	text := diag.Number(c.Default, -1)
	if c.Unit != "" && c.Unit != "1" {
		text += " [" + c.Unit + "]"
	}
	return text
}

// asker asks questions if it may.
type asker struct {
	in   *bufio.Reader
	out  io.Writer
	asks bool
}

// about returns what a flag gives, else the answer to a question, else the proposal.
func (a asker) about(question, given, proposed string) (string, error) {
	if given != "" || !a.asks {
		return cmp.Or(given, proposed), nil
	}
	fmt.Fprintf(a.out, "%s [%s]: ", question, proposed)
	line, err := a.in.ReadString('\n')
	if err != nil && strings.TrimSpace(line) == "" {
		fmt.Fprintln(a.out)
		return "", errors.New("the questions were not answered; give --vehicle and, if you wish, the other flags")
	}
	return cmp.Or(strings.TrimSpace(line), proposed), nil
}

func (a asker) flight(given, proposed outing) (f outing, err error) {
	for _, q := range []struct {
		question        string
		given, proposed string
		to              *string
	}{
		{"Write first", given.write, proposed.write, &f.write},
		{"until", given.until, proposed.until, &f.until},
		{"then write", given.then, cmp.Or(given.write, proposed.then), &f.then},
		{"Duration", given.horizon, proposed.horizon, &f.horizon},
	} {
		if *q.to, err = a.about(q.question, q.given, q.proposed); err != nil {
			return f, err
		}
	}
	return f, nil
}

// create writes the files of a mission.
func create(name, vehicle, out string, f outing, stdout, stderr io.Writer) error {
	planText := newPlan(name, f)
	if equations.IsFile(vehicle) {
		path, err := filepath.Rel(out, vehicle)
		if err != nil {
			path, err = filepath.Abs(vehicle)
		}
		if err != nil {
			return err
		}
		vehicle = filepath.ToSlash(path)
	}
	missionText := fmt.Sprintf("mission: %s\nplan: %s.xml\nvehicle: %s\nhorizon: %s\n", name, name, vehicle, f.horizon)
	return writeMission(filepath.Join(out, name), missionText, planText, defaulted, stdout, stderr)
}

// defaulted returns notes that accept the commands that no task writes.
func defaulted(m *mission.Mission) (notes string) {
	for _, command := range unwritten(m) {
		notes += fmt.Sprintf("# canopy: accept command %s: it keeps its default\n", command)
	}
	return notes
}

// writeMission checks a new mission, with its plan, and writes both: base.yaml, with the lines that more returns, and
// base.xml. It replaces no file.
func writeMission(
	base, missionText, planText string, more func(*mission.Mission) string, stdout, stderr io.Writer,
) error {
	missionFile, planFile := base+".yaml", base+".xml"
	m, list := mission.Read(filepath.ToSlash(missionFile), func(file string) ([]byte, error) {
		switch file {
		case filepath.ToSlash(missionFile):
			return []byte(missionText), nil
		case filepath.ToSlash(planFile):
			return []byte(planText), nil
		}
		return readFile(file)
	}, equations.Offers(), nil)
	if m != nil {
		_, graph := run.Graph(m)
		list = append(list, graph...)
	}
	if err := accepted(list, stderr); err != nil {
		return err
	}
	missionText += more(m)
	for _, file := range []string{missionFile, planFile} {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s exists already; choose another name or --out", file)
		}
	}
	for _, file := range []struct{ name, text string }{{planFile, planText}, {missionFile, missionText}} {
		if err := files.Save(file.name, []byte(file.text)); err != nil {
			return failed(err)
		}
	}
	shown := diag.Visible(missionFile)
	_, err := fmt.Fprintf(stdout, "%s\n%s\nNext:\n  canopy check %s\n  canopy run %s\n", shown, diag.Visible(planFile),
		shown, shown)
	return failed(err)
}

// unwritten returns the commands that no task of a mission writes.
func unwritten(m *mission.Mission) []string {
	var list []string
	for _, c := range m.Vehicle.Commands {
		writes := func(a plan.Assignment) bool { return a.Target == c.Name }
		if !slices.ContainsFunc(m.Plan.Leaves, func(l plan.Leaf) bool {
			return slices.ContainsFunc(l.Write, writes) || slices.ContainsFunc(l.Entry, writes)
		}) {
			list = append(list, c.Name)
		}
	}
	return list
}

// newPlan returns the plan of a flight.
func newPlan(name string, f outing) string {
	return xmltree.New("root", "BTCPP_format", "4", "main_tree_to_execute", name).With(
		xmltree.New("BehaviorTree", "ID", name).With(
			xmltree.New("Sequence", "name", name).With(
				xmltree.New("Action", "name", "go", "write", plan.Words(f.write), "done", plan.Words(f.until)),
				xmltree.New("Action", "name", "stay", "write", plan.Words(f.then))))).Document()
}
