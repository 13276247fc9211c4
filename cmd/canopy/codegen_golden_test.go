package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/codegen"
	"github.com/canopy-uav/canopy/document/mission"
	vehicle "github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// goldenRun records what a golden script flies: the signals of each instant, and the status changes.
type goldenRun struct {
	record.Nothing
	at      string
	m       *mission.Mission
	run     *run.Run
	inputs  []int // of the program in C, among the recorded signals
	steps   [][]float64
	changes []string
	failed  bool
}

func (f *goldenRun) Sample(t float64, values []float64) error {
	row := []float64{t}
	for _, i := range f.inputs {
		row = append(row, values[i])
	}
	f.steps = append(f.steps, row)
	return nil
}

func (f *goldenRun) Status(t float64, _ int, c bt.Change) error {
	f.changes = append(f.changes, fmt.Sprintf("%.7g %d: %d -> %d", t, c.Task, c.From, c.To))
	return nil
}

// TestGoldenMissionsInC: with the signals of the runs that the golden scripts of missions fly, the plans in C make the
// status changes of these runs, at the same instants and in the same order, if all tasks are judged at all times. A run
// that ends with an error, or that may end within an instant, is compared up to there.
func TestGoldenMissionsInC(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	dir, sources, header, programs, most := t.TempDir(), []string{}, "", []string{}, 1
	var all []*goldenRun
	datadriven.Walk(t, "../../run/simulated/testdata", func(t *testing.T, path string) {
		if folder := filepath.Base(filepath.Dir(path)); filepath.Ext(path) != ".txt" || folder != "testdata" && folder != "cart" {
			return
		}
		var f *goldenRun
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "plan":
				f = nil
				var set []string
				for _, a := range d.CmdArgs {
					set = append(set, a.Key+"="+strings.Join(a.Vals, ""))
				}
				body, yaml, _ := strings.Cut(d.Input+"\n", "---\n")
				m, _ := vehicle.Read(body, yaml, set...)
				if m == nil {
					break
				}
				name := fmt.Sprintf("g%d", len(all))
				list, err := codegen.C(name, name, m.Plan.Tree, m.Plan.Tree.Name, programOf(m))
				must(t, err)
				for _, file := range list {
					must(t, os.WriteFile(filepath.Join(dir, file.Name), []byte(file.Text), 0o600))
				}
				f = &goldenRun{at: d.Pos, m: m}
				f.run, err = simulated.New(m, run.Continuous{All: true}, math.Inf(1))
				must(t, err)
				names := m.Flown().Subject().Signals
				for _, place := range placesIn(list[len(list)-2].Text, "_IN_", m.Flown()) {
					i := slices.IndexFunc(f.run.Header().Signals, func(s record.Signal) bool { return s.Name == names[place] })
					if i < 0 {
						t.Fatalf("%s is not recorded", names[place])
					}
					f.inputs = append(f.inputs, i)
				}
				f.run.Attach(f)
				all = append(all, f)
				sources, programs = append(sources, name+".c"), append(programs, "&"+name+"_program")
				header += "#include \"" + name + ".h\"\n"
				p := m.Flown().Program
				most = max(most, m.Plan.Tree.Len(), len(p.Leaves), p.Layout.Signals, p.Captures, len(p.Indicators))
			case "fly":
				until := math.Inf(1)
				for _, a := range d.CmdArgs {
					if a.Key == "until" {
						until, _ = strconv.ParseFloat(a.Vals[0], 64)
					}
				}
				for more := f != nil; more && f.run.T() < until && !f.failed; {
					more, err = f.run.Step()
					f.failed = err != nil
				}
			}
			return d.Expected
		})
	})
	list := fmt.Sprintf("#define PROGRAMS %s\n#define MOST %d\n", strings.Join(programs, ", "), most)
	must(t, os.WriteFile(filepath.Join(dir, "missions.h"), []byte(header+list), 0o600))
	driver, err := filepath.Abs("../../codegen/testdata/programs.c")
	must(t, err)
	c := exec.Command(gcc, slices.Concat([]string{"-std=c99", "-O0", "-I."}, sources, []string{"canopy.c", "canopy_program.c", driver, "-lm", "-o", "program"})...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	changes := 0
	for i, f := range all {
		var in strings.Builder
		fmt.Fprintln(&in, "plan", i, len(f.inputs), bt.DefaultLimit)
		end := f.run.Summary()
		want := f.changes
		if end.Planned > 0 { // then it was halted, and flew on until its exit procedures were over
			want = want[:end.Planned]
		}
		for _, row := range f.steps {
			if end.Stopped == 0 || row[0] <= end.Stopped {
				fmt.Fprintln(&in, "step", sent(row))
			}
		}
		c := exec.Command(filepath.Join(dir, "program"))
		c.Stdin = strings.NewReader(in.String())
		out, err := c.Output()
		must(t, err)
		var got []string
		n := 0
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "step ") {
				n++
			} else if strings.Contains(line, " -> ") {
				got = append(got, fmt.Sprintf("%.7g %s", f.steps[n][0], strings.TrimSpace(line)))
			}
		}
		same := 0
		for same < min(len(got), len(want)) && got[same] == want[same] {
			same++
		}
		if changes += same; same < len(want) || same < len(got) && !f.failed && end.Planned == 0 {
			t.Errorf("%s, change %d:\n%s\nthe run:\n%s", f.at, same, strings.Join(got[max(0, same-3):min(len(got), same+4)], "\n"),
				strings.Join(want[max(0, same-3):min(len(want), same+4)], "\n"))
		}
	}
	if t.Log(len(all), "plans,", changes, "status changes"); len(all) < 60 {
		t.Error("these are too few")
	}
}
